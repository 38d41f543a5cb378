"""Analog broadcast over Gaussian channels, by hand."""

from __future__ import annotations

import numpy as np
import pytest

from links import GaussianDownlink
from phy.randomness import complex_normal
from tests.tolerance import check_mean


def test_a_broadcast_by_hand():
    """||x|| = 5 and P = 4: the gain is 0.4; sigma^2 = 1 at 0 dB, 0.01 at 20 dB."""
    downlink = GaussianDownlink(snr_db=[0.0, 20.0], power=4.0, bandwidth=1e3)
    opened = downlink.open(2, 2, np.random.default_rng(5))
    broadcast = opened.broadcast([3.0, 4.0])
    unit = complex_normal(np.random.default_rng(5), (2, 1), np.sqrt(2)).view(np.float32)
    expected = [3.0, 4.0] + np.array([[2.5], [0.25]]) * unit
    np.testing.assert_allclose(broadcast.received, expected, rtol=1e-6)
    errors = np.square(broadcast.received - [3.0, 4.0]).sum(axis=1)
    assert broadcast.diagnostics["downlink_nmse"] == pytest.approx(errors.mean() / 25)
    assert broadcast.diagnostics["downlink_airtime"] == pytest.approx(1 / 1e3)
    assert not opened.moving


def test_snrs_belong_to_devices():
    downlink = GaussianDownlink(entry_snr_db=[np.inf, 10.0, np.inf, 10.0])
    x = np.arange(6.0)
    received = (
        downlink.open(3, 6, np.random.default_rng(1), clients=[0, 1, 2]).broadcast(x).received
    )
    assert (received == x).all(axis=1).tolist() == [True, False, True]
    with pytest.raises(ValueError, match=r"^entry_snr_db must .*: client 4 takes part, got 4 val"):
        downlink.open(1, 6, np.random.default_rng(1), clients=[4])
    with pytest.raises(ValueError, match=r"^entry_snr_db must .* each of the 3 clients"):
        downlink.open(3, 6, np.random.default_rng(1))


@pytest.mark.parametrize(
    ("options", "nmse"),
    [
        ({"snr_db": 10.0}, 2.0),  # 20 entries: d sigma^2 / P = 20 / 10
        ({"snr_db": 10.0, "power": 4.0}, 0.5),
        ({"snr_db": 10.0, "reference_power": 2.0}, 4.0),
        ({"entry_snr_db": 10.0}, 0.1),
        ({}, 0.01),
    ],
)
def test_nmse_is_the_noise_over_the_power_whatever_the_model(options, nmse, rng):
    opened = GaussianDownlink(**options).open(400, 20, rng)
    for scale in (1e-6, 1e6):
        x = scale * rng.standard_normal(20).astype(np.float32)
        received = opened.broadcast(x).received
        assert received.dtype == np.float32
        errors = np.square((received - x) / np.linalg.norm(x), dtype=np.float64).sum(axis=1)
        check_mean(errors, nmse)


def test_noise_is_independent_between_clients_and_broadcasts(rng):
    opened = GaussianDownlink(entry_snr_db=0.0).open(2, 4000, rng)
    x = np.ones(4000)
    (one, two), (again, _) = ((opened.broadcast(x).received - x) for _ in "ab")
    for first, second in ((one, two), (one, again), (one[::2], one[1::2])):
        check_mean(first * second, 0.0)


def test_without_noise_the_model_is_exact(rng):
    x = rng.standard_normal(11)
    broadcast = GaussianDownlink(snr_db=np.inf).open(3, 11, rng).broadcast(x)
    np.testing.assert_array_equal(broadcast.received, np.tile(x, (3, 1)))
    assert broadcast.diagnostics["downlink_nmse"] == 0


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"snr_db": 1.0, "entry_snr_db": 2.0}, "^only one of snr_db and entry_snr_db"),
        ({"snr_db": None, "entry_snr_db": None}, "^snr_db must be .*, got None"),
        ({"snr_db": [1.0, np.nan]}, r"^snr_db\[1\] must be a finite number .*, got nan"),
        ({"entry_snr_db": -300}, "^entry_snr_db must be a finite number >= -200, or inf, got -300"),
        ({"power": [1.0, 2.0]}, r"^power must be a finite number .*, got \[1\.0, 2\.0\]"),
        ({"power": 0.0}, r"^power must be .* >= 1e-12 and <= 1e\+12, got 0\.0"),
        ({"reference_power": 0.0}, r"^reference_power must be .*, got 0\.0"),
        ({"bandwidth": 0.0}, r"^bandwidth must be a finite number > 0, got 0\.0"),
    ],
)
def test_options(options, message):
    with pytest.raises(ValueError, match=message):
        GaussianDownlink(**options)
