"""The digital alternative: rounding is its only error, time and energy its price."""

from __future__ import annotations

import numpy as np
import pytest

from links import OfdmLink, OrthogonalLink, theory
from phy import NoFading, OfdmGrid, Rayleigh
from tests.links.fixed import FixedFading
from tests.tolerance import check_mean


@pytest.mark.parametrize("bits", [1, 4, 10])
def test_error_is_that_of_the_rounding_at_any_snr(bits, rng):
    link = OrthogonalLink(bits=bits, snr_db=-10.0)
    vectors = rng.standard_normal((3, 40)).astype(np.float32)
    trials = 2000
    rngs = [np.random.default_rng(seed) for seed in rng.integers(2**32, size=trials)]
    slot = link.open(3, 40, rngs)
    signals = np.broadcast_to(vectors, (trials, 3, 40))
    received = slot.send(signals, np.inf)
    squared = np.square(received.total - vectors.sum(axis=0), dtype=np.float64).sum(axis=1)
    check_mean(squared, float(theory.expected_mse(link, vectors)))


def test_no_budget_binds(rng):
    slot = OrthogonalLink().open(3, 40, rng)
    signals = np.ones((3, 40))
    assert np.isinf(slot.max_gain(signals))
    assert np.isinf(slot.budget).all()
    assert not slot.load(signals).any()


def test_time_and_energy_by_hand(rng):
    """Two carriers, Es/N0 = 1 a carrier, no gap: one bit an element."""
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
        slot = link.open(clients, 7850, rng)
        return slot.send(np.ones((clients, 7850)), 1e-9).diagnostics["airtime"]

    digital = OrthogonalLink(entry_snr_db=20.0, fading=NoFading())
    assert airtime(digital, 40) == pytest.approx(4 * airtime(digital, 10))
    analog = OfdmLink(entry_snr_db=20.0, fading=NoFading())
    assert airtime(analog, 40) == airtime(analog, 10)


def test_without_noise_modulation_limits_the_rate(rng):
    slot = OrthogonalLink(snr_db=np.inf, max_efficiency=6.0).open(2, 100, rng)
    np.testing.assert_allclose(slot.efficiency, 6.0)


def test_the_rate_is_that_of_every_carrier_by_itself(rng):
    # paths half a period apart: one carrier dead, the other at |h|^2 = 4
    grid = OfdmGrid(fft_size=2, cp_length=2, guards=(0, 0), dc_null=False)
    fading = FixedFading([[1.0, 1.0]], delays=[0.0, 1 / 60e3])
    link = OrthogonalLink(grid=grid, fading=fading, entry_snr_db=0.0, gap_db=0.0)
    [[efficiency]] = link.open(1, 4, rng).efficiency
    assert efficiency == pytest.approx(np.log2(1 + 4) / 2, rel=1e-5)


def test_more_power_or_path_gain_is_faster(rng):
    options = {"fading": NoFading(), "entry_snr_db": 0.0, "gap_db": 0.0}
    equal = OrthogonalLink(power=[1.0, 3.0], **options).open(2, 800, rng)
    gains = OrthogonalLink(path_gain=[1.0, 3.0], **options).open(2, 800, rng)
    np.testing.assert_allclose(equal.efficiency[0], [1, 2], rtol=1e-6)
    np.testing.assert_allclose(gains.efficiency[0], [1, 2], rtol=1e-6)


def test_the_rate_is_ergodic_over_flat_fading(rng):
    """E[log2(1 + x)], x exponential with mean s: e^{1/s} E1(1/s) / ln 2."""
    from scipy.special import exp1

    slot = OrthogonalLink(fading=Rayleigh(), entry_snr_db=0.0, gap_db=0.0).open(4000, 800, rng)
    check_mean(slot.efficiency[0], np.e * exp1(1.0) / np.log(2))
