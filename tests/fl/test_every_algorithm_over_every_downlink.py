"""Every algorithm trains from what clients receive over every downlink."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pytest

from fl import Acpc, Broadcast, Cotaf, FedAvg, RandomClients, Sgd, train, train_together
from fl.constants import estimate_constants
from fl.quadratic import default_quadratic
from fl.theory import theorem2_of
from links import (
    GaussianDownlink,
    GaussianLink,
    IdealLink,
    OfdmDownlink,
    OfdmLink,
    QuantisedDownlink,
)
from phy import PilotCsi, Tdl
from tests.fl.runs import ALGORITHMS, OPTIONS, check_same

ALL = {**ALGORITHMS, "fedavg, updates": FedAvg(sends="updates")}
DOWNLINKS = {
    "gaussian": GaussianDownlink(),
    "one per device": GaussianDownlink(entry_snr_db=[30.0, 20.0, 10.0, np.inf]),
    "ofdm": OfdmDownlink(csi=PilotCsi(snr_db=20.0)),
    "ofdm, zero-forcing": OfdmDownlink(entry_snr_db=40.0, equaliser="zero-forcing"),
    "ofdm, moving": OfdmDownlink(fading=Tdl("A", speed=1.0)),
    "quantised": QuantisedDownlink(),
}


@pytest.mark.parametrize("downlink", DOWNLINKS)
@pytest.mark.parametrize("algorithm", ALL)
def test_three_rounds(algorithm, downlink, problem):
    link = OfdmLink(entry_snr_db=10.0)
    history = train(
        ALL[algorithm], link, problem, rounds=3, downlink=DOWNLINKS[downlink], **OPTIONS
    )
    assert history.diverged is None
    assert history.num_rounds == 3
    assert np.isfinite(history.model).all()
    assert history.model.dtype == np.float32
    nmse, airtime = history["downlink_nmse"], history["downlink_airtime"]
    assert nmse[0] == 0  # the first model is zero
    voted = algorithm.startswith("sign votes")  # all entries have the same magnitude after a vote
    exact = voted and downlink == "quantised"  # which is then the largest level
    assert (nmse[1] == 0) == exact
    assert nmse[2] > 0
    np.testing.assert_array_less(0, np.diff(airtime, prepend=0))
    assert np.isfinite(history["train_loss"]).all()


@pytest.mark.parametrize("downlink", DOWNLINKS)
@pytest.mark.parametrize("participants", [None, 2])
def test_resumed_run_is_identical(downlink, participants, problem, tmp_path):
    options = {**OPTIONS, "downlink": DOWNLINKS[downlink]}
    if participants:
        options["participation"] = RandomClients(participants)
    runs = [(Cotaf(), OfdmLink(entry_snr_db=10.0)), (FedAvg(), IdealLink())]
    whole = train_together(runs, problem, rounds=4, **options)
    file = tmp_path / "run.npz"
    train_together(runs, problem, rounds=2, checkpoint=file, **options)
    for one, other in zip(
        whole, train_together(runs, problem, rounds=4, checkpoint=file, **options), strict=True
    ):
        check_same(one, other)
        assert one["device"].shape == (4, participants or 4)
    other = {**options, "downlink": GaussianDownlink(snr_db=3.0)}
    with pytest.raises(ValueError, match="downlink was .* is now .*GaussianDownlink.*snr_db=3.0"):
        train_together(runs, problem, rounds=5, checkpoint=file, **other)


@pytest.mark.parametrize("algorithm", [Cotaf(), FedAvg(), FedAvg(sends="updates")], ids=repr)
def test_without_noise_it_is_as_without_a_downlink(algorithm, problem):
    """Up to rounding, since clients then have models of their own."""
    link = GaussianLink(snr_db=30.0)
    plain = train(algorithm, link, problem, rounds=4, **OPTIONS)
    for downlink in (
        GaussianDownlink(snr_db=np.inf),
        OfdmDownlink(snr_db=np.inf),
        QuantisedDownlink(bits=32),
    ):
        exact = train(algorithm, link, problem, rounds=4, downlink=downlink, **OPTIONS)
        np.testing.assert_allclose(exact.model, plain.model, atol=1e-5)
        np.testing.assert_array_equal(exact["steps"], plain["steps"])
        assert np.isnan(plain["downlink_nmse"]).all()
        assert (exact["downlink_nmse"] < 1e-12).all()


def test_runs_are_paired(problem):
    """The same noise reaches runs that differ in algorithm alone, scaled by the SNR."""
    seen = {}

    class Watching(Cotaf):
        def aggregate(self, current, plan, updates, steps):
            if current.number == 0:
                seen.setdefault(self.server_step, []).append(current.received - current.model)
            return super().aggregate(current, plan, updates, steps)

    quadratic = default_quadratic(clients=3, size=6)
    object.__setattr__(quadratic.model, "start", np.arange(6.0))
    for snr_db in (0.0, 20.0):
        runs = [(Watching(1.0), IdealLink()), (Watching(2.0), IdealLink())]
        downlink = GaussianDownlink(entry_snr_db=snr_db)
        train_together(runs, quadratic, rounds=1, downlink=downlink, sgd=Sgd(0.01, 10))
    np.testing.assert_array_equal(seen[1.0], seen[2.0])
    np.testing.assert_allclose(seen[1.0][0], 10 * seen[1.0][1], rtol=1e-4)


def test_snrs_belong_to_devices_that_take_part(problem):
    """Devices 0 and 1 receive without error."""
    downlink = GaussianDownlink(entry_snr_db=[np.inf, np.inf, 0.0, 0.0])
    history = train(
        Cotaf(), IdealLink(), problem, rounds=12, downlink=downlink,
        participation=RandomClients(2), **OPTIONS,
    )  # fmt: skip
    noisy = (history["device"] >= 2).any(axis=1)
    assert ((history["downlink_nmse"] > 0) == noisy)[1:].all()
    assert noisy[1:].any()


def test_a_round_includes_the_airtime_of_the_downlink(problem):
    """One symbol each way, 37.5 us: 52 entries on 400 carriers."""
    moving = {"fading": Tdl("A", speed=1.0)}
    cases = [
        (OfdmLink(**moving), OfdmDownlink()),
        (OfdmLink(), OfdmDownlink(**moving)),
        (OfdmLink(**moving), OfdmDownlink(**moving)),
    ]
    for link, downlink in cases:
        options = {**OPTIONS, "rounds": 2, "downlink": downlink}
        train(Cotaf(), link, problem, round_period=76e-6, **options)
        with pytest.raises(ValueError, match=r"^round_period must be at least 7\.5e-05 s"):
            train(Cotaf(), link, problem, round_period=74e-6, **options)
    options = {**OPTIONS, "rounds": 2, "downlink": OfdmDownlink()}
    train(Cotaf(), OfdmLink(), problem, round_period=1e-6, **options)  # nothing moves


@dataclass(frozen=True)
class Wrong:
    """A downlink of the user's that returns something else."""

    what: str

    def open(self, num_clients, length, rng, *, clients=None, time=0.0, device_rng=None):
        return 3 if self.what == "opened" else self

    def broadcast(self, vector):
        received = np.zeros((1 if self.what == "shape" else 4, len(vector)))
        return received if self.what == "broadcast" else Broadcast(received, {})


@pytest.mark.parametrize(
    ("what", "message"),
    [
        ("opened", "^the result of Wrong.open must be a downlink with a method broadcast, got 3"),
        ("broadcast", "^the result of Wrong's broadcast must be a Broadcast"),
        ("shape", r"^what clients receive over Wrong must be of shape \(4, 52\), got \(1, 52\)"),
    ],
)
def test_a_wrong_downlink_is_named(what, message, problem):
    with pytest.raises(ValueError, match=message):
        train(Cotaf(), IdealLink(), problem, rounds=1, downlink=Wrong(what), **OPTIONS)


def test_a_users_downlink_may_report_nothing_and_be_of_any_precision(problem):
    history = train(Cotaf(), IdealLink(), problem, rounds=2, downlink=Wrong(""), **OPTIONS)
    assert history.model.dtype == np.float32
    assert np.isnan(history["downlink_nmse"]).all()


def test_theorem_2_does_not_apply():
    quadratic = default_quadratic()
    run = train(
        Acpc(G=20.0), GaussianLink(snr_db=20.0), quadratic, rounds=3, sgd=Sgd(0.2, 10),
        measure_gradient=True, downlink=GaussianDownlink(),
    )  # fmt: skip
    constants = estimate_constants(run, quadratic)
    with pytest.raises(ValueError, match="clients trained from models received with errors"):
        theorem2_of(run, constants, 0.01)
