"""What helps against impairments."""

from __future__ import annotations

import numpy as np
import pytest

from links import OfdmLink, WaveformLink, realise
from phy import NoFading, OfdmGrid, PerfectCsi, PilotCsi, Rayleigh, Rician, Tdl
from phy.impairments import (
    Adc,
    CarrierOffset,
    CarrierSync,
    IqImbalance,
    PhaseNoise,
    SoftLimiter,
    TimingAdvance,
    TimingOffset,
)
from tests.links.fixed import generators
from tests.tolerance import check_mean

GRID = OfdmGrid(fft_size=64, cp_length=16, guards=(5, 4))


def nmse(rng, clients=4, length=1080, count=20, **options):
    link = WaveformLink(**{"grid": GRID, "fading": NoFading(), "snr_db": np.inf, **options})
    signals = rng.standard_normal((count, clients, length)).astype(np.float32)

    def measure(uplink, n):
        return uplink.send(signals[n], uplink.max_gain(signals[n])).diagnostics["nmse"]

    return realise(link, clients, length, generators(rng, count), measure).mean()


@pytest.mark.parametrize("snr_db", [10.0, 20.0, 30.0])
def test_carrier_sync_leaves_the_variance_of_moose(snr_db, rng):
    """1 / (4 pi^2 n snr), with n used carriers of unit energy; coarse errors leave no trace."""
    offset = rng.uniform(-3.4, 3.4, size=4000)
    ones = np.ones((4000, 54), np.complex64)
    found = CarrierSync(snr_db).estimate(offset, GRID, ones, rng)
    expected = 1 / (4 * np.pi**2 * 54 * 10 ** (snr_db / 10))
    squared = np.square(found - offset)
    # to first order in the noise: the products of two noises add N / (2 n snr)
    assert squared.mean() == pytest.approx(expected, rel=0.12 + 1.5 / 10 ** (snr_db / 10))
    check_mean(found - offset, 0.0)


def test_carrier_sync_without_noise_is_exact(rng):
    offset = np.array([-3.4, -0.5, 0.0, 0.51, 2.0])
    response = rng.standard_normal((5, 54)) + 1j * rng.standard_normal((5, 54))
    found = CarrierSync(np.inf).estimate(offset, GRID, response.astype(np.complex64), rng)
    np.testing.assert_allclose(found, offset, atol=1e-4)


def test_carrier_sync_saves_a_round(rng):
    crystal = {"std": 4.0, "unit": "ppm"}
    small = OfdmGrid(fft_size=64, cp_length=16, guards=(5, 4), subcarrier_spacing=120e3)
    impairment = CarrierOffset(**crystal)
    spoilt = nmse(rng, grid=small, transmit=(impairment,))
    saved = nmse(rng, grid=small, transmit=(CarrierOffset(**crystal, sync=CarrierSync(40.0)),))
    assert saved < 0.02 * spoilt


@pytest.mark.parametrize("resolution", [0.25, 1.0, 4.0])
def test_timing_advance_leaves_half_a_step(resolution, rng):
    offset = rng.uniform(-20, 20, size=300)
    response = rng.standard_normal((300, 54)) + 1j * rng.standard_normal((300, 54))
    response = response.astype(np.complex64)
    told = TimingAdvance(resolution, snr_db=40.0).command(offset, GRID, response, response, rng)
    np.testing.assert_allclose(told / resolution, np.rint(told / resolution))
    assert np.abs(offset - told).max() <= resolution / 2 + 1 / 16 + 0.05


def test_timing_is_found_as_well_as_noise_allows(rng):
    """The Cramer-Rao bound, 1 / (2 snr sum_k (2 pi k / N)^2), and an eighth of a sample's grid."""
    offset = rng.uniform(-5, 5, size=4000)
    ones = np.ones((4000, 54), np.complex64)
    told = TimingAdvance(resolution=1 / 8, snr_db=0.0).command(offset, GRID, ones, ones, rng)
    bound = 1 / (2 * np.square(2 * np.pi * GRID.carriers / 64).sum())
    assert np.square(told - offset).mean() == pytest.approx(bound + 1 / (12 * 64), rel=0.15)


def test_timing_advance_saves_a_round(rng):
    spoilt = nmse(rng, transmit=(TimingOffset(std=4.0),), window_advance=4)
    advance = TimingAdvance(resolution=0.25, snr_db=30.0)
    saved = nmse(rng, transmit=(TimingOffset(std=4.0, advance=advance),), window_advance=4)
    assert saved < 0.05 * spoilt


@pytest.mark.parametrize("impairment", [CarrierOffset(0.02), PhaseNoise(200.0)], ids=str)
def test_embedded_pilots_undo_the_servers_phase(impairment, rng):
    """The server's oscillator turns all clients alike: what is left is the interference."""
    spoilt = nmse(rng, receive=(impairment,))
    with_pilots = OfdmGrid(fft_size=64, cp_length=16, guards=(5, 4), pilots=6)
    saved = nmse(rng, grid=with_pilots, receive=(impairment,))
    assert saved < 0.1 * spoilt


def test_embedded_pilots_follow_moving_clients(rng):
    """Their phases are undone slot by slot, as those of the data are."""
    options = {"fading": Rician(k_factor=50.0, speed=30.0), "truncation": 0.0, "length": 7000}
    assert nmse(rng, grid=OfdmGrid(symbols_per_slot=1), **options) < 0.005
    assert nmse(rng, grid=OfdmGrid(symbols_per_slot=1, pilots=8), **options) < 0.005


def test_pilots_take_the_place_of_data(rng):
    grid = OfdmGrid(pilots=8)
    assert grid.num_carriers == 392
    assert grid.num_symbols(7850) == 11
    assert grid.is_pilot.sum() == 8
    np.testing.assert_array_equal(
        np.sort(np.concatenate([grid.carriers, grid.used_carriers[grid.is_pilot]])),
        grid.used_carriers,
    )
    signals = rng.standard_normal((3, 7850)).astype(np.float32)
    for engine in ("fast", "sionna"):
        link = OfdmLink(grid=grid, snr_db=np.inf, truncation=0.0, engine=engine)
        uplink = link.open(3, 7850, rng)
        assert uplink.send(signals, uplink.max_gain(signals)).diagnostics["nmse"] < 1e-9
    with pytest.raises(
        ValueError,
        match="^pilots must be fewer than .* no carrier is left for data, got 400",
    ):
        OfdmGrid(pilots=400)


@pytest.mark.parametrize("fading", [NoFading(), Tdl("A", delay_spread=30e-9)], ids=str)
def test_csi_through_the_hardware_sees_what_stays_put(fading, rng):
    """A late slot and an IQ gain are part of the channel then."""
    options = {
        "grid": OfdmGrid(),
        "fading": fading,
        "truncation": 0.0,
        "transmit": (TimingOffset([0, 3, 5, -2]),),
        "window_advance": 4,
        "length": 4000,
    }
    spoilt = nmse(rng, **options)
    saved = nmse(rng, csi_through_faults=True, **options)
    assert spoilt > 0.3
    assert saved < 1e-3 * spoilt


@pytest.mark.parametrize("csi", [PerfectCsi(), PilotCsi(snr_db=np.inf)], ids=str)
def test_movement_is_not_taken_for_hardware(csi, rng):
    """Through impairments that do nothing, moving clients see what they see without them."""
    seed = int(rng.integers(2**32))
    options = {
        "fading": Rayleigh(speed=60.0),
        "csi": csi,
        "path_gain": (0.1, 2.0, 7.0),
        "transmit": (IqImbalance(),),
    }
    plain, through = (
        WaveformLink(csi_through_faults=each, **options).open(
            3, 14_000, np.random.default_rng(seed), device_rng=np.random.default_rng(seed)
        )
        for each in (False, True)
    )
    np.testing.assert_allclose(
        through.medium.channel.estimate, plain.medium.channel.estimate, rtol=1e-3, atol=1e-3
    )


def test_csi_through_an_amplifier_is_at_the_budgeted_power(rng):
    """The gain of a limiter that cuts a constant envelope: QPSK pilots are hardly that, so by
    the same symbol through the same limiter."""
    from phy.csi import qpsk_pilots
    from phy.waveform import demodulate, modulate

    grid = OfdmGrid(fft_size=64, cp_length=16, guards=(0, 0), dc_null=False)
    link = WaveformLink(
        grid=grid, fading=NoFading(), transmit=(SoftLimiter(0.0),), csi_through_faults=True
    )
    uplink = link.open(1, 1280, rng)
    samples = modulate(grid, qpsk_pilots(1, 64)[None])  # of unit mean power
    limited = samples / np.maximum(np.abs(samples), 1)
    expected = demodulate(grid, limited.astype(np.complex64), 0, 1) / qpsk_pilots(1, 64)
    np.testing.assert_allclose(uplink.medium.channel.estimate, expected, atol=1e-4)


def test_preambles_come_through_the_path_gain(rng):
    """A far client hears the preamble worse."""
    errors = [
        nmse(
            rng,
            clients=1,
            path_gain=gain,
            transmit=(CarrierOffset(0.3, sync=CarrierSync(snr_db=20.0)),),
        )
        for gain in (1.0, 0.01)
    ]
    assert errors[1] > 10 * errors[0]


def test_timing_advance_goes_by_what_clients_know_of_the_channel(rng):
    """An estimate that is late by three samples takes three samples off what is told."""
    offset = np.full(50, 5.0)
    response = np.ones((50, 54), np.complex64)
    ramp = np.exp(-2j * np.pi * 3 * GRID.carriers / 64).astype(np.complex64)
    told = TimingAdvance(1.0, np.inf).command(offset, GRID, response, response * ramp, rng)
    np.testing.assert_allclose(told, 2.0)


def test_csi_without_impairments_is_the_same_through_them(rng):
    seed = int(rng.integers(2**32))
    options = {"fading": Tdl("A"), "receive": (Adc(bits=24, backoff_db=30.0),)}
    assert isinstance(WaveformLink(**options).csi, PerfectCsi)
    plain, through = (
        WaveformLink(csi_through_faults=each, **options).open(3, 900, np.random.default_rng(seed))
        for each in (False, True)
    )
    np.testing.assert_allclose(
        through.medium.channel.estimate, plain.medium.channel.estimate, atol=1e-3
    )


def test_clients_know_nothing_of_impairments_unless_told(rng):
    link = WaveformLink(grid=GRID, fading=NoFading(), transmit=(IqImbalance(1.0, 5.0),))
    uplink = link.open(2, 100, rng)
    np.testing.assert_array_equal(uplink.medium.channel.estimate, uplink.medium.channel.response)


def test_a_carrier_offset_costs_less_if_clients_synchronise_more_often(rng):
    """Over a long block the common phase runs away, which limits how long a block may be."""
    errors = [
        nmse(
            rng,
            grid=OfdmGrid(fft_size=64, cp_length=16, guards=(5, 4), symbols_per_slot=symbols),
            transmit=(CarrierOffset([0.01, -0.01, 0.005, -0.005]),),
        )
        for symbols in (1, 2, 5, 10)
    ]
    assert errors == sorted(errors)
    assert errors[-1] > 30 * errors[0]
