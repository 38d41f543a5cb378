"""The digital alternative: rounding is its only error, time and energy its price."""

from __future__ import annotations

import numpy as np
import pytest

from links import OfdmLink, OrthogonalLink, theory
from phy import NoFading, OfdmGrid, Rayleigh, Tdl
from tests.links.fixed import FixedFading
from tests.tolerance import check_mean


@pytest.mark.parametrize("bits", [1, 4, 10])
def test_error_is_that_of_the_rounding_at_any_snr(bits, rng):
    link = OrthogonalLink(bits=bits, snr_db=-10.0)
    vectors = rng.standard_normal((3, 40)).astype(np.float32)
    uplink = link.open(3, 40, rng)  # whose channel does not matter
    totals = np.array([uplink.send(vectors, np.inf).total for _ in range(2000)])
    squared = np.square(totals - vectors.sum(axis=0), dtype=np.float64).sum(axis=1)
    check_mean(squared, theory.expected_mse(link, vectors))


def test_no_budget_binds(rng):
    uplink = OrthogonalLink().open(3, 40, rng)
    signals = np.ones((3, 40))
    assert np.isinf(uplink.max_gain(signals))
    assert np.isinf(uplink.budget).all()
    assert not uplink.load(signals).any()


def test_time_and_energy_by_hand(rng):
    """Two carriers, Es/N0 = 1 on each, no gap: one bit per element."""
    grid = OfdmGrid(fft_size=2, cp_length=1, guards=(0, 0), dc_null=False)
    # 8 entries are 2 analog symbols of 4 elements in all: Es = P/4; entry_snr_db: N0 = 2P/d = P/4
    link = OrthogonalLink(
        grid=grid, fading=NoFading(), entry_snr_db=0.0, bits=4, gap_db=0.0, power=1.0
    )
    received = link.open(3, 8, rng).send(np.ones((3, 8)), 1.0)
    symbols = (4 * 8 + 32) / 2
    assert received.diagnostics["symbols"] == 3 * symbols
    assert received.diagnostics["airtime"] == pytest.approx(3 * symbols * grid.symbol_duration)
    np.testing.assert_allclose(received.energy, np.full((3, 1), symbols / 2))
    np.testing.assert_allclose(received.diagnostics["radiated_energy"], symbols / 2 * 1.5)


def test_airtime_grows_with_clients_where_over_the_air_does_not(rng):
    def airtime(link, clients):
        uplink = link.open(clients, 7850, rng)
        return uplink.send(np.ones((clients, 7850)), 1e-9).diagnostics["airtime"]

    digital = OrthogonalLink(entry_snr_db=20.0, fading=NoFading())
    assert airtime(digital, 40) == pytest.approx(4 * airtime(digital, 10))
    analog = OfdmLink(entry_snr_db=20.0, fading=NoFading())
    assert airtime(analog, 40) == airtime(analog, 10)


def test_without_noise_modulation_limits_the_rate(rng):
    uplink = OrthogonalLink(snr_db=np.inf, max_efficiency=6.0).open(2, 100, rng)
    np.testing.assert_allclose(uplink.medium.efficiency, 6.0)


def test_the_rate_is_that_of_every_carrier_by_itself(rng):
    # paths half a period apart: one carrier dead, the other at |h|^2 = 4
    grid = OfdmGrid(fft_size=2, cp_length=2, guards=(0, 0), dc_null=False)
    fading = FixedFading([[1.0, 1.0]], delays=[0.0, 1 / 60e3])
    link = OrthogonalLink(grid=grid, fading=fading, entry_snr_db=0.0, gap_db=0.0)
    [efficiency] = link.open(1, 4, rng).medium.efficiency
    assert efficiency == pytest.approx(np.log2(1 + 4) / 2, rel=1e-5)


def test_more_power_or_path_gain_is_faster(rng):
    options = {"fading": NoFading(), "entry_snr_db": 0.0, "gap_db": 0.0}
    equal = OrthogonalLink(power=[1.0, 3.0], **options).open(2, 800, rng)
    gains = OrthogonalLink(path_gain=[1.0, 3.0], **options).open(2, 800, rng)
    np.testing.assert_allclose(equal.medium.efficiency, [1, 2], rtol=1e-6)
    np.testing.assert_allclose(gains.medium.efficiency, [1, 2], rtol=1e-6)


def test_the_rate_is_ergodic_over_flat_fading(rng):
    """E[log2(1 + x)], x exponential with mean s: e^{1/s} E1(1/s) / ln 2."""
    from scipy.special import exp1

    uplink = OrthogonalLink(fading=Rayleigh(), entry_snr_db=0.0, gap_db=0.0).open(4000, 800, rng)
    check_mean(uplink.medium.efficiency, np.e * exp1(1.0) / np.log(2))


@pytest.mark.parametrize(
    ("length", "bits", "payload", "symbols"),
    [
        (1, 8, 40, 1),
        (396, 8, 3200, 1),  # exactly 400 carriers of 8 bits
        (397, 8, 3208, 2),
        (796, 8, 6400, 2),
        (797, 8, 6408, 3),
        (7850, 8, 62_832, 20),
        (7850, 1, 7882, 3),
        (7850, 32, 251_232, 79),
    ],
)
def test_whole_numbers_of_symbols_in_numbers(length, bits, payload, symbols, rng):
    """Eight bits on each of the default grid's 400 carriers, 3200 per symbol; 32 bits of scale."""
    assert payload == bits * length + 32
    assert symbols == -(-payload // 3200)
    link = OrthogonalLink(fading=NoFading(), snr_db=np.inf, bits=bits, power=1.0)
    uplink = link.open(2, length, rng)
    np.testing.assert_array_equal(uplink.medium.efficiency, [8.0, 8.0])
    np.testing.assert_array_equal(uplink.medium.symbols, [symbols, symbols])
    received = uplink.send(np.ones((2, length)), 1.0)
    assert received.diagnostics["symbols"] == 2 * symbols
    assert received.diagnostics["airtime"] == pytest.approx(2 * symbols * 37.5e-6)
    analog = -(-length // 800)  # symbols of the analog block, which share the power
    np.testing.assert_allclose(received.energy, np.full((2, 1), symbols / analog))


def test_carriers_and_efficiency_in_numbers(rng):
    """Ten carriers at 2 bits: 20 bits per symbol, pilots left out."""
    grid = OfdmGrid(fft_size=16, cp_length=4, guards=(2, 1), dc_null=True, pilots=2)
    assert grid.num_carriers == 10
    # d = 20 is one analog symbol: Es = P/10 per element; N0 = 2 P/(d snr) = P/10 at 0 dB
    options = {"grid": grid, "fading": NoFading(), "entry_snr_db": 0.0, "gap_db": 0.0, "bits": 4}
    link = OrthogonalLink(power=3.0, **options)  # SNR 3: log2(1 + 3) = 2 bits
    uplink = link.open(1, 20, rng)
    np.testing.assert_allclose(uplink.medium.efficiency, [2.0], rtol=1e-6)
    received = uplink.send(np.ones((1, 20)), 1.0)
    assert uplink.medium.symbols == [6]  # 112 bits
    np.testing.assert_allclose(received.energy, [[6 * 3.0]])
    # with 2 pilots beside 10 elements of data, and a prefix of 4 beside 16 samples
    np.testing.assert_allclose(received.diagnostics["radiated_energy"], [18 * 1.2 * 1.25])
    with_gap = OrthogonalLink(power=3.0, **options | {"gap_db": 10 * np.log10(3)})
    np.testing.assert_allclose(with_gap.open(1, 20, rng).medium.efficiency, [1.0], rtol=1e-6)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"bits": 0}, "^bits must be a whole number from 1 to 32, got 0"),
        ({"bits": 33}, "^bits must be a whole number from 1 to 32, got 33"),
        ({"bits": 2.5}, r"^bits must be a whole number from 1 to 32, got 2\.5"),
        ({"gap_db": -1.0}, r"^gap_db must be a finite number >= 0, got -1\.0"),
        ({"max_efficiency": 0.0}, r"^max_efficiency must be a finite number > 0, got 0\.0"),
        (
            {"fading": Rayleigh},
            "^fading must be an instance of .* such as .*, got <class",
        ),
        (
            {"fading": None},
            "^fading must be an instance of .* such as .*, got None",
        ),
        ({"grid": 512}, "^grid must be an OfdmGrid, got 512"),
        (
            {"fading": Tdl("C", delay_spread=1e-6)},
            r"^fading must fit the cyclic prefix .* got a path of 8\.65e-06 s",
        ),
    ],
)
def test_options(options, message):
    with pytest.raises(ValueError, match=message):
        OrthogonalLink(**options)


def test_a_misspelt_option_is_answered_with_the_nearest():
    with pytest.raises(TypeError, match="^OrthogonalLink has no option 'Bits'; did you mean 'bits"):
        OrthogonalLink(Bits=3)


def test_a_moving_channel_is_one_process_over_the_run(rng):
    """So training can refuse a round that lasts into the next."""
    assert OrthogonalLink(fading=Tdl("A", speed=30.0)).open(2, 10, rng).moving
    assert not OrthogonalLink(fading=Tdl("A")).open(2, 10, rng).moving
