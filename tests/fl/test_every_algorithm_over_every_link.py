"""Every algorithm trains over every link."""

from __future__ import annotations

import numpy as np
import pytest

from fl import (
    train,
)
from links import FadingLink, GaussianLink, IdealLink, OfdmLink, OrthogonalLink, WaveformLink
from phy import PilotCsi, Tdl
from phy.impairments import Adc, CarrierOffset, PhaseNoise, Rapp
from tests.fl.runs import ALGORITHMS, OPTIONS

LINKS = {
    "ideal": IdealLink(),
    "gaussian": GaussianLink(snr_db=10.0),
    "no noise": GaussianLink(snr_db=np.inf),
    "fading": FadingLink(snr_db=10.0, truncation=0.3),
    "ofdm": OfdmLink(entry_snr_db=10.0, csi=PilotCsi(snr_db=20.0, num_pilots=2)),
    "ofdm, mmse": OfdmLink(entry_snr_db=10.0, control="mmse"),
    "ofdm, reported": OfdmLink(entry_snr_db=10.0, control="mmse", variances="reported"),
    "ofdm, moving": OfdmLink(entry_snr_db=10.0, fading=Tdl("A", speed=1.0), correction="active"),
    "waveform": WaveformLink(
        entry_snr_db=10.0,
        transmit=(Rapp(6.0), CarrierOffset(std=0.01), PhaseNoise(10.0)),
        receive=(Adc(10),),
    ),
    "ofdm, sionna": OfdmLink(entry_snr_db=10.0, engine="sionna"),
    "orthogonal": OrthogonalLink(snr_db=10.0),
}


EVERY_CLIENT = (
    "steps",
    "scaled_down",
    "energy",
    "worst_symbol_energy",
    "load",
    "active_fraction",
    "radiated_energy",
    "clip_rate",
    "papr_db",
    "largest_gradient",
    "device",
    "client_weight",
    "late",
    "clipped",
)


EVERY_ROUND = (
    "test_accuracy",
    "test_loss",
    "train_loss",
    "squared_gradient_norm",
    "rate",
    "gain",
    "nmse",
    "noise_std",
    "received_snr_db",
    "vote_error_rate",
    "airtime",
    "downlink_nmse",
    "downlink_airtime",
    "sensitivity",
    "zcdp",
    "noise_std",
    "largest_arrival",
)


@pytest.mark.parametrize("link", LINKS)
@pytest.mark.parametrize("algorithm", ALGORITHMS)
def test_every_algorithm_over_every_link(algorithm, link, problem):
    history = train(ALGORITHMS[algorithm], LINKS[link], problem, rounds=3, **OPTIONS)
    assert history.diverged is None
    assert history.num_rounds == 3
    assert np.isfinite(history.model).all()
    assert set(history.metrics) == {*EVERY_CLIENT, *EVERY_ROUND, "symbol_load"}
    for name in EVERY_CLIENT:
        assert history[name].shape == (3, 4), name
    for name in EVERY_ROUND:
        assert history[name].shape == (3,), name
    for name in ("test_accuracy", "test_loss", "train_loss", "nmse", "airtime", "energy"):
        assert np.isfinite(history[name]).all(), name
    if algorithm != "fedavg":
        assert (history["load"] <= 1 + 1e-5).all()
    assert np.isnan(history["vote_error_rate"]).all() == (not algorithm.startswith("sign votes"))
    over_the_air = link not in ("ideal", "orthogonal")
    assert np.isnan(history["received_snr_db"]).all() == (not over_the_air)
