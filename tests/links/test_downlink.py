"""What all downlinks share: what they take, what they refuse, and what they report."""

from __future__ import annotations

import pickle
from dataclasses import replace

import numpy as np
import pytest

from fl import Broadcast, Downlink, FedAvg, Sgd, quadratic_problem, train
from fl.api import OpenedDownlink
from links import GaussianDownlink, IdealLink, OfdmDownlink, QuantisedDownlink
from phy import PilotCsi, Tdl

EVERY = [
    GaussianDownlink(),
    OfdmDownlink(),
    OfdmDownlink(equaliser="zero-forcing", csi=PilotCsi()),
    OfdmDownlink(fading=Tdl("A", speed=3.0)),
    QuantisedDownlink(),
]
NAMES = [f"{number} {type(link).__name__}" for number, link in enumerate(EVERY)]


@pytest.fixture(params=EVERY, ids=NAMES)
def downlink(request):
    return request.param


def test_protocol(downlink, rng):
    opened = downlink.open(3, 50, rng)
    assert isinstance(downlink, Downlink)
    assert isinstance(opened, OpenedDownlink)
    broadcast = opened.broadcast(rng.standard_normal(50))
    assert isinstance(broadcast, Broadcast)
    assert set(broadcast.diagnostics) == {"downlink_nmse", "downlink_airtime"}
    assert broadcast.diagnostics["downlink_airtime"] > 0


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("scale", [0.0, 1e-30, 1e-6, 1.0, 1e11])
def test_models_of_any_size(downlink, dtype, scale, rng):
    """Zeros arrive as zeros; the relative error does not depend on the size."""
    x = (scale * rng.standard_normal(300)).astype(dtype)
    with np.errstate(all="raise", under="ignore"):
        broadcast = downlink.open(3, 300, rng).broadcast(x)
    assert broadcast.received.shape == (3, 300)
    assert broadcast.received.dtype == dtype
    assert np.isfinite(broadcast.received).all()
    nmse = broadcast.diagnostics["downlink_nmse"]
    if scale == 0:
        assert not broadcast.received.any()
        assert nmse == 0
    else:
        errors = np.square(broadcast.received.astype(float) - x).sum(axis=1) / (x @ x.astype(float))
        assert nmse == pytest.approx(errors.mean(), rel=1e-3, abs=1e-12)


@pytest.mark.parametrize(
    ("vector", "message"),
    [
        ([1.0, np.nan, 3.0], r"^vector\[1\] must be finite, got nan"),
        ([1.0, 2.0, -np.inf], r"^vector\[2\] must be finite, got -inf"),
        ([1.0, 2.0, 1e13], r"^vector must be at most 1e\+12 in magnitude, got 1000"),
        ([1.0, 2.0], r"^vector must be of shape \(3,\), got shape \(2,\)"),
        ([[1.0, 2.0, 3.0]], r"^vector must be of shape \(3,\), got shape \(1, 3\)"),
        (["a", "b", "c"], "^vector must be real numbers"),
        ([1j, 0, 0], "^vector must be real numbers"),
    ],
)
def test_refused(downlink, vector, message, rng):
    opened = downlink.open(2, 3, rng)
    before = rng.bit_generator.state
    with pytest.raises(ValueError, match=message):
        opened.broadcast(vector)
    assert rng.bit_generator.state == before


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"num_clients": 0}, "^num_clients must be a whole number >= 1, got 0"),
        ({"length": 0}, "^length must be a whole number >= 1, got 0"),
        ({"clients": [1, 1]}, "^clients must be 2 different indices >= 0"),
        ({"rng": 3}, "^rng must be a numpy.random.Generator, got 3"),
        ({"device_rng": 3}, "^device_rng must be a numpy.random.Generator or None, got 3"),
        ({"time": np.nan}, "^time must be a finite number, got nan"),
    ],
)
def test_opening_is_validated(downlink, arguments, message, rng):
    with pytest.raises(ValueError, match=message):
        downlink.open(**{"num_clients": 2, "length": 5, "rng": rng, **arguments})


def test_the_same_seed_is_the_same_broadcast_and_another_is_new(downlink, rng):
    x = rng.standard_normal(200)

    def sent(seed):
        opened = downlink.open(3, 200, np.random.default_rng(seed))
        return opened.broadcast(x).received, opened.broadcast(x).received

    (one, again), (same, _) = sent(4), sent(4)
    np.testing.assert_array_equal(one, same)
    assert (one != again).any()


def test_a_mistake_is_answered_with_the_nearest_option():
    with pytest.raises(TypeError, match="^OfdmDownlink has no option 'equalizer'; did you"):
        OfdmDownlink(equalizer="lmmse")


def test_a_downlink_is_pickled_as_it_is(downlink):
    again = pickle.loads(pickle.dumps(downlink))
    assert again == downlink
    quieter = replace(again, snr_db=30.0)  # a default does not stand in the way
    assert (quieter.snr_db, quieter.entry_snr_db) == (30.0, None)


@pytest.mark.filterwarnings("error", "ignore::fl.DivergenceWarning")
@pytest.mark.parametrize(
    ("kind", "options"),
    [(GaussianDownlink, {}), (OfdmDownlink, {"equaliser": "zero-forcing"}), (OfdmDownlink, {})],
)
def test_noise_beyond_any_number_stops_a_run(kind, options):
    """LMMSE hears nothing, and takes the model for zero."""
    downlink = kind(snr_db=-200.0, power=1e-12, reference_power=1e12, **options)
    problem = quadratic_problem(np.ones((2, 1, 1)), [[1.0], [3.0]], start=[1e10])
    training = {"sgd": Sgd(0.1, None), "progress": False, "rounds": 5}
    hears_nothing = kind is OfdmDownlink and not options
    for sends in ("models", "updates"):
        history = train(FedAvg(sends=sends), IdealLink(), problem, downlink=downlink, **training)
        if hears_nothing:
            assert history.diverged is None
            np.testing.assert_allclose(history["downlink_nmse"], 1, rtol=1e-5)
        else:
            assert "the run diverged in round 0" in history.diverged


def test_the_devices_generator_is_not_advanced(downlink, rng):
    device = np.random.default_rng(7)
    before = device.bit_generator.state
    downlink.open(3, 50, rng, device_rng=device, time=2.0).broadcast(np.ones(50))
    assert device.bit_generator.state == before
