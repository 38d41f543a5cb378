"""Momentum, Adam and Yogi at the server, by hand and around other algorithms."""

from __future__ import annotations

from dataclasses import dataclass
from math import sqrt

import numpy as np
import pytest

from fl import (
    Acpc,
    Algorithm,
    Cotaf,
    FedAdam,
    FedAvgM,
    FedYogi,
    Outcome,
    Reception,
    Scaffold,
    train,
)
from links import GaussianLink, IdealLink, OfdmLink, OrthogonalLink
from tests.fl.problems import run_parabolas
from tests.fl.runs import ALGORITHMS, OPTIONS, check_same


@dataclass(frozen=True)
class Given(Algorithm):
    """Moves the model by a given amount in each round."""

    changes: tuple = (0.5, -1.0, 0.25)
    step: float | None = 2.0
    gain: float = 4.0
    report: tuple = ()

    def aggregate(self, current, plan, updates, steps):
        nothing = Reception(np.zeros(1), np.zeros((2, 1)), dict(self.report))
        model = current.model + self.changes[current.number]
        return Outcome(model, nothing, self.gain, sum_factor=self.step)


def models(algorithm, rounds=3):
    return [run_parabolas(algorithm, rounds=count).model[0] for count in range(1, rounds + 1)]


def test_momentum_by_hand():
    """D = 1/2, -1, 1/4 and beta1 = 1/2: m = 1/4, -3/8, -1/16."""
    optimiser = FedAvgM(Given(), server_step=2.0, beta1=0.5)
    assert models(optimiser) == pytest.approx([0.5, -0.25, -0.375], rel=1e-12)


def test_adam_by_hand():
    """v = 1/16 at first; then 5/32, 37/64 and 41/128."""
    optimiser = FedAdam(Given(), server_step=2.0, beta1=0.5, beta2=0.5, epsilon=0.25)
    moves = [
        2 * 0.25 / (sqrt(0.15625) + 0.25),
        2 * -0.375 / (sqrt(0.578125) + 0.25),
        2 * -0.0625 / (sqrt(0.3203125) + 0.25),
    ]
    assert models(optimiser) == pytest.approx(np.cumsum(moves), rel=1e-12)


def test_yogi_by_hand():
    """v = 1/16 at first; D^2 = 1/4 and 1 are above it, and D^2 = 1/16 is below."""
    optimiser = FedYogi(Given(), server_step=2.0, beta1=0.5, beta2=0.5, epsilon=0.25)
    moves = [
        2 * 0.25 / (sqrt(0.1875) + 0.25),
        2 * -0.375 / (sqrt(0.6875) + 0.25),
        2 * -0.0625 / (sqrt(0.65625) + 0.25),
    ]
    assert models(optimiser) == pytest.approx(np.cumsum(moves), rel=1e-12)


@pytest.mark.parametrize(
    ("kind", "v"), [(FedAdam, (0.125, 0.0625)), (FedYogi, (0.15625, 0.15625))], ids=repr
)
def test_noise_is_removed_from_the_second_moment(kind, v):
    """s^2 = (2 0.5 / 4)^2 = 1/16: D^2 counts as 1/4 - 1/16 = 3/16, and then 1/64 as 0."""
    noisy = Given((0.5, 0.125), report=(("sum_noise_std", 0.5),))
    optimiser = kind(noisy, 1.0, beta1=0.0, beta2=0.5, epsilon=0.25, remove_noise=True)
    moves = [0.5 / (sqrt(v[0]) + 0.25), 0.125 / (sqrt(v[1]) + 0.25)]
    assert models(optimiser, 2) == pytest.approx(np.cumsum(moves), rel=1e-12)


def test_noise_that_is_removed_is_that_of_the_link(tmp_path, problem):
    """With beta2 = 0, v = max(D^2 - s^2, 0); D^2 itself is found without the option."""
    kept, sigma = {}, 10**-0.25  # sigma_c at a block SNR of 5 dB
    for remove_noise in (False, True):
        optimiser = FedAdam(Cotaf(server_step=0.5), beta2=0.0, remove_noise=remove_noise)
        file = tmp_path / f"{remove_noise}.npz"
        options = {**OPTIONS, "checkpoint": file}
        history = train(optimiser, GaussianLink(snr_db=5.0), problem, rounds=1, **options)
        with np.load(file) as saved:
            kept[remove_noise] = saved["0/state/v"]
    s = 0.5 * sigma / history["gain"][0]
    assert history["noise_std"][0] == pytest.approx(sigma)
    np.testing.assert_allclose(kept[True], np.maximum(kept[False] - s**2, 0), atol=1e-6 * s**2)
    assert 0 < (kept[True] == 0).mean() < 1


def test_step_that_noise_takes_is_passed_on():
    """The noise in FedAvgM's own change is eta_s (1 - beta1) times that of its aggregation."""
    inside = FedAvgM(Given((1.0,), report=(("sum_noise_std", 0.5),)), server_step=3.0, beta1=0.75)
    optimiser = FedAdam(inside, 1.0, beta1=0.0, beta2=0.0, epsilon=0.25, remove_noise=True)
    s = 3 * 0.25 * 2 * 0.5 / 4
    assert models(optimiser, 1)[0] == pytest.approx(0.75 / (sqrt(0.75**2 - s**2) + 0.25))


def test_without_noise_none_is_removed():
    """Over the exact sum s = 0, and D^2 remains."""
    plain, removed = (
        run_parabolas(FedAdam(remove_noise=remove), IdealLink(), rounds=3)
        for remove in (False, True)
    )
    check_same(plain, removed)


def test_unknown_noise_is_refused():
    for link in (OrthogonalLink(), OfdmLink(correction="active")):
        with pytest.raises(ValueError, match="remove_noise must be False over a link whose noise"):
            run_parabolas(FedAdam(remove_noise=True), link)
    unknown = Given(step=None, report=(("sum_noise_std", 0.5),))
    with pytest.raises(ValueError, match="remove_noise must be False with an aggregation that"):
        run_parabolas(FedYogi(unknown, remove_noise=True), IdealLink())


@pytest.mark.parametrize("name", ALGORITHMS)
def test_momentum_without_memory_is_its_aggregation(name, problem):
    aggregation, link = ALGORITHMS[name], OfdmLink(entry_snr_db=10.0)
    alone = train(aggregation, link, problem, rounds=3, **OPTIONS)
    wrapped = train(FedAvgM(aggregation, beta1=0.0), link, problem, rounds=3, **OPTIONS)
    check_same(alone, wrapped, rtol=1e-5)


def test_the_change_is_that_of_the_aggregation():
    """sum_i alpha_i Delta_i = 5/4 with COTAF, sum_i alpha_i Delta_i / tau_i = 11/16 with ACPC."""
    for aggregation, change in ((Cotaf(), 5 / 4), (Acpc(beta="realised"), 11 / 16)):
        history = run_parabolas(FedAvgM(aggregation, server_step=2.0, beta1=0.5))
        assert history.model[0] == pytest.approx(change, rel=1e-12)


def test_what_the_aggregation_reports_is_kept(problem):
    """Clients that scale down, entries, state per device and the aggregation's own state."""
    link = GaussianLink(snr_db=10.0)
    alone = train(Acpc(G=0.05), link, problem, rounds=1, **OPTIONS)
    wrapped = train(FedAdam(Acpc(G=0.05)), link, problem, rounds=1, **OPTIONS)
    assert alone["scaled_down"].any()
    np.testing.assert_array_equal(alone["scaled_down"], wrapped["scaled_down"])
    twice = train(FedYogi(Scaffold()), link, problem, rounds=3, **OPTIONS)
    assert twice["airtime"][0] == pytest.approx(2 * alone["airtime"][0])
    assert FedAdam(Scaffold()).num_entries(7) == 14


def test_adam_reaches_the_minimum():
    """Of F_1 + F_2, at 7/3: one local step each has no drift."""
    optimiser = FedAdam(Cotaf(), server_step=0.1, epsilon=0.1)
    history = run_parabolas(optimiser, steps=1, rounds=400)
    assert history.model[0] == pytest.approx(7 / 3, abs=1e-4)


@pytest.mark.parametrize("kind", [FedAvgM, FedAdam, FedYogi])
def test_refused(kind):
    with pytest.raises(ValueError, match="server_step must be a finite number > 0, got 0"):
        kind(server_step=0)
    with pytest.raises(ValueError, match="beta1 must be a number >= 0 and < 1, got 1"):
        kind(beta1=1)
    with pytest.raises(ValueError, match="aggregation must be an algorithm"):
        kind(aggregation="cotaf")
    if kind is not FedAvgM:
        with pytest.raises(ValueError, match="beta2 must be a number >= 0 and < 1, got 1"):
            kind(beta2=1)
        with pytest.raises(ValueError, match="epsilon must be a finite number > 0, got 0"):
            kind(epsilon=0)
        with pytest.raises(ValueError, match="remove_noise must be True or False, got 'yes'"):
            kind(remove_noise="yes")
