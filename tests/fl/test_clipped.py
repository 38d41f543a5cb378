"""Clipped averaging: by hand, and what one client can change whatever its data."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from fl import ClippedFedAvg, Round, train
from links import FadingLink, GaussianLink, IdealLink, OfdmLink, WaveformLink
from phy import OfdmGrid, Rayleigh
from tests.fl.runs import OPTIONS
from tests.tolerance import check_mean

GRID = OfdmGrid(fft_size=8, cp_length=2, guards=(1, 0))  # 6 carriers: 24 entries in 2 symbols
SIZE, WEIGHTS = 24, np.array([0.5, 0.2, 0.3])
NOISY = {  # links for which privacy is claimed, with sigma_c = 2
    "gaussian": GaussianLink(snr_db=0.0, reference_power=4.0),
    "fading": FadingLink(snr_db=0.0, reference_power=4.0, truncation=0.3),
    "ofdm": OfdmLink(snr_db=0.0, reference_power=4.0, grid=GRID, truncation=0.3),
    "ofdm, sionna": OfdmLink(snr_db=0.0, reference_power=4.0, truncation=0.3, engine="sionna"),
}
QUIET = {
    "ideal": IdealLink(),
    "gaussian": GaussianLink(snr_db=np.inf, power=[1.0, 2.0, 0.5]),
    "fading": FadingLink(snr_db=np.inf, truncation=0.3),
    "ofdm": OfdmLink(snr_db=np.inf, grid=GRID, fading=Rayleigh(), interleaver_seed=None),
    "ofdm, round budget": OfdmLink(snr_db=np.inf, grid=GRID, budget="round"),
    "ofdm, moving": OfdmLink(snr_db=np.inf, grid=GRID, fading=Rayleigh(speed=3.0)),
}


def round_over(link, seed, weights=WEIGHTS, size=SIZE, model=None):
    uplink = link.open(len(weights), size, np.random.default_rng(seed))
    model = np.zeros(size) if model is None else model
    return Round(0, model, uplink, weights, np.ones(len(weights), np.int64), rate=0.1)


def outcome_of(algorithm, current, updates):
    plan = algorithm.plan(current)
    return algorithm.aggregate(current, plan, updates, plan.steps)


def test_a_round_by_hand():
    """(3, 4) is clipped to the norm 2, (0.3, 0.4) is not; beta = min_i sqrt(P_i) / (alpha_i C)."""
    link = GaussianLink(snr_db=np.inf, power=[1.0, 0.81])
    current = round_over(link, 1, np.array([0.25, 0.75]), 2, model=np.array([10.0, 20.0]))
    algorithm = ClippedFedAvg(clip=2.0, server_step=4.0)
    outcome = outcome_of(algorithm, current, np.array([[3.0, 4.0], [0.3, 0.4]]))
    total = [0.25 * 1.2 + 0.75 * 0.3, 0.25 * 1.6 + 0.75 * 0.4]
    np.testing.assert_allclose(outcome.reception.total, total, rtol=1e-6)
    np.testing.assert_allclose(outcome.model, [10 + 4 * total[0], 20 + 4 * total[1]], rtol=1e-6)
    assert outcome.gain == pytest.approx(min(1 / (0.25 * 2), 0.9 / (0.75 * 2)), rel=1e-5)
    assert outcome.reception.diagnostics["clipped"].tolist() == [True, False]
    assert outcome.scaled_down.tolist() == [False, False]
    np.testing.assert_allclose(
        outcome.reception.energy[:, 0], [(0.6 * 0.5) ** 2, (0.6 * 0.375) ** 2], rtol=1e-5
    )
    assert algorithm.sensitivity(current) == 1.5


def test_at_the_clipping_norm_the_tightest_budget_is_used_up():
    link = GaussianLink(snr_db=np.inf, power=[1.0, 0.81])
    current = round_over(link, 1, np.array([0.25, 0.75]), 2)
    outcome = outcome_of(ClippedFedAvg(), current, np.array([[30.0, 40.0], [-0.6, 0.8]]))
    np.testing.assert_allclose(outcome.reception.energy[1, 0], 0.81, rtol=1e-5)
    assert not outcome.scaled_down.any()


VALUES = st.just(0.0) | st.floats(1e-3, 1e6)  # links refuse energies below the range of float32


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("name", QUIET)
@given(seed=st.integers(0, 2**32 - 1), peak=VALUES, spread=VALUES, client=st.integers(0, 2))
def test_no_client_changes_more_than_its_share(name, dtype, seed, peak, spread, client):
    """With and without its update, whatever it is, the gain is the same and the sum nearly so."""
    rng, algorithm = np.random.default_rng(seed), ClippedFedAvg(clip=0.7)
    updates = rng.standard_normal((3, SIZE))
    updates[client] *= spread
    updates[client, rng.integers(SIZE)] += peak
    updates = updates.astype(dtype)
    without = updates.copy()
    without[client] = 0
    one, other = (
        outcome_of(algorithm, round_over(QUIET[name], seed, model=np.zeros(SIZE, dtype)), each)
        for each in (updates, without)
    )
    assert one.gain == other.gain
    change = (one.reception.total - other.reception.total).astype(np.float64)
    assert np.linalg.norm(change) <= 0.7 * WEIGHTS[client] * (1 + 1e-5) + 1e-6
    if np.isfinite(one.gain):
        uplink = round_over(QUIET[name], seed).uplink
        energy = one.reception.energy
        if uplink.budget.shape[1] == 1:
            energy = energy.sum(axis=1, keepdims=True)
        assert (energy <= uplink.budget * (1 + 1e-5)).all()


@pytest.mark.parametrize("name", ["gaussian", "fading"])
def test_nobody_is_scaled_down_where_the_channel_is_flat(name, rng):
    current = round_over(QUIET[name], int(rng.integers(2**32)))
    outcome = outcome_of(ClippedFedAvg(), current, 100 * rng.standard_normal((3, SIZE)))
    assert not outcome.scaled_down.any()


def test_a_signal_in_one_symbol_is_scaled_down(rng):
    """An even vector has half its energy in each of two symbols; this has all of it in one."""
    link = OfdmLink(
        snr_db=np.inf, grid=GRID, fading=Rayleigh(), truncation=0, interleaver_seed=None
    )
    current = round_over(link, int(rng.integers(2**32)))
    updates = np.zeros((3, SIZE))
    updates[0, 0] = 5.0  # clipped to 1
    outcome = outcome_of(ClippedFedAvg(), current, updates)
    load = float(current.uplink.load(0.5 * updates / 5)[0]) * outcome.gain**2
    assert outcome.scaled_down.tolist() == [load > 1, False, False]
    expected = 0.5 / np.sqrt(max(load, 1))
    np.testing.assert_allclose(outcome.reception.total[0], expected, rtol=1e-4)


@pytest.mark.parametrize("name", NOISY)
def test_the_noise_has_the_level_that_privacy_relies_on(name, rng):
    """Standard deviation sigma_c / beta in every entry, whether a client sends or not."""
    size, seed = 4001, int(rng.integers(2**32))
    quiet = replace(NOISY[name], snr_db=np.inf)
    zeros, algorithm, noise = np.zeros(size, np.float32), ClippedFedAvg(), []
    for updates in (rng.standard_normal((3, size)).astype(np.float32), np.zeros((3, size))):
        received, exact = (
            outcome_of(algorithm, round_over(link, seed, WEIGHTS, size, zeros), updates)
            for link in (NOISY[name], quiet)
        )
        diagnostics = received.reception.diagnostics
        assert diagnostics["noise_std"] == pytest.approx(2.0, rel=1e-12)
        if diagnostics["largest_arrival"] == 0:  # every client is silent, and nothing is sent
            assert not received.reception.total.any()
            return
        assert diagnostics["largest_arrival"] == 1
        assert received.gain == exact.gain
        noise.append((received.reception.total - exact.reception.total) * received.gain)
        check_mean(noise[-1], 0.0)
        check_mean(np.square(noise[-1]), 4.0)
        check_mean(noise[-1][:-1] * noise[-1][1:], 0.0)
    np.testing.assert_allclose(*noise, atol=1e-3)  # the same, so independent of what is sent


def test_a_run_records_who_was_clipped(problem):
    tight = train(ClippedFedAvg(1e-3), OfdmLink(), problem, rounds=2, **OPTIONS)
    assert tight["clipped"].all()
    loose = train(ClippedFedAvg(1e3), WaveformLink(), problem, rounds=2, **OPTIONS)
    assert not loose["clipped"].any()
    assert loose["sensitivity"].tolist() == pytest.approx(2 * [1e3 * problem.weights.max()])


def test_refused():
    with pytest.raises(ValueError, match="clip must be a finite number > 0, got 0"):
        ClippedFedAvg(clip=0)
    with pytest.raises(ValueError, match="server_step must be a finite number > 0, got -1"):
        ClippedFedAvg(server_step=-1)
