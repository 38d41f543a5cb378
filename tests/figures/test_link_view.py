"""What the pictures of a link show is what the link did."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

import otafl
from figures.link_view import as_elements, look_at
from otafl._base.validation import OptionError

GRID = otafl.OfdmGrid(fft_size=64, cp_length=16, guards=(4, 3))
FLAT = otafl.OfdmLink(entry_snr_db=20, grid=GRID, fading=otafl.Rayleigh(), truncation=0.0)
LINKS = {
    "ofdm": FLAT,
    "active": replace(FLAT, truncation=0.5, correction="active"),
    "pilots": replace(FLAT, grid=replace(GRID, pilots=4)),
    "mmse": replace(FLAT, control="mmse"),
    "reported": replace(FLAT, control="mmse", variances="reported"),
    "round": replace(FLAT, budget="round"),
    "unequal": replace(FLAT, power=(1.0, 2.0, 4.0), path_gain=(1.0, 0.5, 0.1)),
    "waveform": otafl.WaveformLink(
        entry_snr_db=20, grid=GRID, fading=otafl.Rayleigh(), transmit=[otafl.Rapp(backoff_db=6.0)]
    ),
    "samples": otafl.WaveformLink(
        entry_snr_db=20, grid=replace(GRID, pilots=4), fading=otafl.Rayleigh(), truncation=0.2
    ),
    "moving": otafl.OfdmLink(grid=GRID, fading=otafl.Tdl("A", speed=30.0)),
}


@pytest.fixture
def signals(rng):
    return rng.standard_normal((3, 601)).astype(np.float32)


@pytest.fixture(params=LINKS)
def link(request):
    return LINKS[request.param]


def test_the_view_is_one_round(link, signals):
    view = look_at(link, signals, seed=3)
    assert view.nmse == pytest.approx(float(view.reception.diagnostics["nmse"]), rel=1e-4)
    np.testing.assert_allclose(view.true_sum, as_elements(signals.sum(axis=0)), atol=1e-5)
    np.testing.assert_array_equal(view.received_sum, as_elements(view.reception.total))
    assert view.load.max() <= (1.0 + 1e-5 if link.budget == "symbol" else np.inf)
    again = look_at(link, signals, seed=3)
    np.testing.assert_array_equal(view.received_sum, again.received_sum)
    assert look_at(link, signals, seed=4).nmse != view.nmse


def test_what_clients_send_has_the_energy_of_the_budget_s_share(link, signals):
    """In units of the allowed rms: the mean power over a block is the mean load."""
    view = look_at(link, signals, seed=3)
    power = np.square(np.abs(np.nan_to_num(view.radio.sent)), dtype=float).mean(axis=(1, 2))
    np.testing.assert_allclose(power, view.load.mean(axis=1), rtol=1e-4)


@pytest.mark.parametrize("name", ["ofdm", "pilots", "unequal", "round", "reported"])
def test_samples_have_the_energy_of_the_elements(name, signals):
    """Without hardware; the prefix repeats part of a symbol, so its body is compared."""
    signals *= np.float32([[1.0], [0.5], [0.2]])
    view = look_at(LINKS[name], signals)
    grid = view.radio.grid
    symbols = view.radio.samples.reshape(3, -1, grid.symbol_length)[..., grid.cp_length :]
    power = np.square(np.abs(symbols), dtype=float).mean(axis=(1, 2))
    np.testing.assert_allclose(power, view.load.mean(axis=1), rtol=1e-4)


def test_amplifiers_act_on_the_samples_alone(signals):
    saturated = replace(LINKS["waveform"], transmit=[otafl.SoftLimiter(backoff_db=0.0)])
    view = look_at(saturated, signals)
    assert np.abs(view.radio.samples).max() == pytest.approx(1.0, rel=1e-4)  # 0 dB: the rms itself
    clean = look_at(replace(saturated, transmit=()), signals)
    assert np.abs(clean.radio.samples).max() > 1.5
    np.testing.assert_allclose(view.radio.sent, clean.radio.sent, rtol=1e-5)


@pytest.mark.parametrize("name", ["ofdm", "mmse", "waveform", "samples", "moving", "unequal"])
def test_what_arrives_of_each_client_adds_up_to_the_sum(name, signals):
    """Without noise, and with the amplifier far from saturation."""
    link = replace(LINKS[name], snr_db=200.0, entry_snr_db=None)
    if name == "waveform":
        link = replace(link, transmit=[otafl.Rapp(backoff_db=60.0)])
    view = look_at(link, signals, seed=3, shown=3)
    total = view.radio.arrived.sum(axis=0)
    np.testing.assert_allclose(total, view.radio.received_sum, atol=2e-3)


def test_perfect_clients_arrive_where_they_should(signals):
    radio = look_at(FLAT, signals).radio
    np.testing.assert_allclose(radio.arrived, radio.symbols, atol=1e-5)
    np.testing.assert_allclose(radio.evm, 0, atol=1e-5)


def test_padding_is_not_a_number(signals):
    radio = look_at(FLAT, signals).radio
    assert radio.true_sum.shape == (6, 56)  # 301 elements of 56 carriers
    assert np.isfinite(radio.true_sum).sum() == 301
    assert (np.isnan(radio.sent) == np.isnan(radio.true_sum)).all()


def test_silent_carriers_have_an_evm_of_one(rng):
    """Votes: every element has the same power."""
    link = replace(FLAT, fading=otafl.Tdl("A", delay_spread=300e-9), truncation=0.5)
    votes = rng.choice(np.array([-1, 1], np.float32), (4, 112 * 5))
    radio = look_at(link, votes, seed=1).radio
    silent = radio.strength <= 0.5
    assert 0.05 < silent.mean() < 0.95
    np.testing.assert_allclose(radio.evm[silent], 1, atol=1e-5)
    np.testing.assert_allclose(radio.evm[~silent], 0, atol=1e-4)


def test_the_nmse_of_carriers_averages_to_that_of_the_round(rng):
    signals = rng.standard_normal((3, 112 * 4)).astype(np.float32)  # no padding
    view = look_at(FLAT, signals)
    assert view.radio.carrier_nmse.mean() == pytest.approx(view.nmse, rel=1e-4)


def test_the_evm_of_a_client_is_relative_to_its_own_signals(rng):
    """A client a hundred times as loud does not change the EVM of another."""
    link = replace(FLAT, csi=otafl.NoisyCsi(0.05))
    signals = rng.standard_normal((2, 560)).astype(np.float32)
    loud = signals * np.array([[1.0], [100.0]], np.float32)
    one, other = (look_at(link, each, seed=2).radio.evm for each in (signals, loud))
    np.testing.assert_allclose(one[0], other[0], rtol=1e-3)


def test_papr_of_a_single_carrier_is_one():
    """A constant envelope: 0 dB."""
    one = np.zeros((1, 112), np.float32)
    one[0, 0] = 1.0
    view = look_at(replace(FLAT, interleaver_seed=None), one)
    np.testing.assert_allclose(view.radio.papr_db, 0, atol=1e-5)


@pytest.mark.parametrize(
    "link",
    [otafl.IdealLink(), otafl.GaussianLink(), otafl.FadingLink(), otafl.OrthogonalLink()],
    ids=lambda link: type(link).__name__,
)
def test_links_without_a_grid_show_the_sum(link, signals):
    view = look_at(link, signals)
    assert view.radio is None
    assert view.nmse == pytest.approx(float(view.reception.diagnostics["nmse"]), rel=1e-4)


def test_votes_by_default():
    view = look_at(FLAT, num_clients=2)
    assert set(np.unique(view.radio.symbols[np.isfinite(view.radio.symbols)].real)) == {-1.0, 1.0}
    assert view.load.shape[0] == 2


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"signals": np.ones(4)}, "signals must be of shape"),
        ({"num_clients": 0}, "num_clients must be"),
        ({"shown": 0}, "shown must be"),
    ],
)
def test_bad_input_is_refused(options, message):
    with pytest.raises(OptionError, match=message):
        look_at(FLAT, **options)
