"""Accounting by hand, against dp-accounting, and over whole runs."""

from __future__ import annotations

import math

import numpy as np
import pytest
from dp_accounting import GaussianDpEvent
from dp_accounting.rdp import RdpAccountant
from hypothesis import given
from hypothesis import strategies as st
from scipy.special import log_ndtr, ndtr

from fl import (
    Acpc,
    Algorithm,
    ClippedFedAvg,
    Cotaf,
    Deadline,
    DivergenceWarning,
    FedAvg,
    FedNova,
    Outcome,
    RandomClients,
    Reception,
    Sgd,
    train,
    zcdp_epsilon,
)
from fl.privacy import gaussian_zcdp, round_zcdp
from links import FadingLink, GaussianLink, IdealLink, OfdmLink, OrthogonalLink, WaveformLink
from phy import NoisyCsi
from tests.fl.problems import run_parabolas
from tests.fl.runs import OPTIONS, check_same
from tests.fl.test_api import SignUplink
from tests.links.fixed import FixedFading

RHOS = st.floats(1e-6, 1e4)
DELTAS = st.floats(1e-10, 0.1)


def test_a_gaussian_mechanism_by_hand():
    """3^2 / (2 2^2); no sensitivity, no loss; no noise, no bound."""
    assert gaussian_zcdp(3.0, 2.0) == 1.125
    np.testing.assert_array_equal(gaussian_zcdp([0.0, 1.0, 0.0], [1.0, 0.0, 0.0]), [0, np.inf, 0])


@pytest.mark.parametrize(
    ("rho", "delta", "epsilon"),
    [
        # the optimal order alpha solves log(1/delta) = (alpha - 1)^2 rho + log alpha, and then
        # epsilon = (2 alpha - 1) rho + log(1 - 1/alpha)
        (10.0, math.exp(-10) / 2, 30 - math.log(2)),  # alpha = 2
        (0.25, math.exp(-1) / 3, 1.25 + math.log(2 / 3)),  # alpha = 3
        (0.1, math.exp(-10) / 11, 2.1 + math.log(10 / 11)),  # alpha = 11
        (4.0, math.exp(-1) / 1.5, 8 - math.log(3)),  # alpha = 3/2
        (1e-4, math.exp(-1) / 101, 0.0201 + math.log(100 / 101)),  # alpha = 101
    ],
)
def test_epsilon_where_the_optimal_order_is_known(rho, delta, epsilon):
    assert zcdp_epsilon(rho, delta) == pytest.approx(epsilon, rel=1e-10)


@given(RHOS, DELTAS, st.floats(1e-3, 1e5))
def test_no_order_gives_a_smaller_epsilon(rho, delta, excess):
    order = 1 + excess
    bound = order * rho + math.log1p(-1 / order) - math.log(delta * order) / excess
    assert zcdp_epsilon(rho, delta) <= max(bound, 0) * (1 + 1e-9) + 1e-12


@given(RHOS, DELTAS)
def test_epsilon_is_never_below_that_of_the_mechanism_itself(rho, delta):
    """Many Gaussian mechanisms together are one, whose delta(epsilon) is known in closed form."""
    epsilon, mu = float(zcdp_epsilon(rho, delta)), math.sqrt(2 * rho)
    exact = ndtr(mu / 2 - epsilon / mu) - math.exp(epsilon + log_ndtr(-mu / 2 - epsilon / mu))
    assert exact <= delta * (1 + 1e-9) + 1e-14


@pytest.mark.parametrize("delta", [1e-300, 1e-5, 0.5, 1 - 1e-12])
@pytest.mark.parametrize("rho", [1e-320, 1e-100, 1e-20, 1e20, 1e100, 1e300])
def test_extreme_losses(rho, delta):
    """rho <= epsilon <= rho + 2 sqrt(rho log(1/delta)) for large rho, nearly zero for small."""
    epsilon = float(zcdp_epsilon(rho, delta))
    if rho < 1:
        assert 0 <= epsilon < 1e-6
    else:
        assert rho * (1 - 1e-12) <= epsilon <= (rho + 2 * np.sqrt(rho * 700)) * (1 + 1e-12)


def test_epsilon_of_arrays():
    epsilons = zcdp_epsilon([[0.0, 0.5], [np.inf, np.nan]], 1e-5)
    np.testing.assert_allclose(epsilons, [[0, 4.7285], [np.inf, np.nan]], rtol=1e-4)


def test_refused():
    for delta in (0, 1, -0.1, 2, np.nan):
        with pytest.raises(ValueError, match="delta must be a"):
            zcdp_epsilon(1.0, delta)
    with pytest.raises(ValueError, match="rho must be >= 0, got -1"):
        zcdp_epsilon(-1, 0.1)


FINE = 1 + np.geomspace(0.011, 1e4, 2000)  # orders


def accountant_epsilon(multiplier, rounds, delta, orders=None):
    accountant = RdpAccountant(orders)
    accountant.compose(GaussianDpEvent(multiplier), rounds)
    return accountant.get_epsilon(delta)


@pytest.mark.parametrize("multiplier", [1.0, 3.0, 10.0, 30.0])
@pytest.mark.parametrize("rounds", [1, 50, 300])
def test_agrees_with_dp_accounting(multiplier, rounds):
    """Whose default orders are few: where epsilon is very small or large it loses some percent."""
    expected = accountant_epsilon(multiplier, rounds, 1e-5)
    if not 0.2 < expected < 100:
        expected = accountant_epsilon(multiplier, rounds, 1e-5, FINE)
    rho = rounds * gaussian_zcdp(1.0, multiplier)
    assert zcdp_epsilon(rho, 1e-5) == pytest.approx(expected, rel=0.01)


def test_agrees_with_dp_accounting_at_fine_orders(rng):
    for _ in range(40):
        multiplier, rounds = 10 ** rng.uniform(-0.5, 2), int(rng.integers(1, 400))
        delta = 10 ** rng.uniform(-9, -2)
        rho = rounds * gaussian_zcdp(1.0, multiplier)
        expected = accountant_epsilon(multiplier, rounds, delta, FINE)
        assert zcdp_epsilon(rho, delta) == pytest.approx(expected, rel=0.001)


def test_the_loss_of_a_round_by_hand():
    """(2 3 1 / 4)^2 / 2; a round in which nobody is heard, or nobody sends, loses nothing."""
    assert round_zcdp(gain=2.0, sensitivity=3.0, largest_arrival=1.0, noise_std=4.0) == 1.125
    assert round_zcdp(np.inf, 3.0, largest_arrival=0.0, noise_std=4.0) == 0
    assert round_zcdp(0.0, 0.0, largest_arrival=np.nan, noise_std=np.nan) == 0
    assert np.isnan(round_zcdp(2.0, np.nan, 1.0, 4.0))


@pytest.mark.parametrize(
    ("samples", "power", "clip", "rho"),
    [
        # sigma_c = 1; beta = min_i sqrt(P_i) / (alpha_i C), and the largest part is max_i alpha_i C
        ((1, 1), 1.0, 1.0, 1 / 2),
        ((1, 1), 1.0, 0.01, 1 / 2),
        ((1, 1), 0.25, 1.0, 1 / 8),
        ((1, 3), 1.0, 2.0, 1 / 2),  # beta C = 4/3, times 3/4
        ((1, 3), (1.0, 4.0), 1.0, (8 / 3 * 3 / 4) ** 2 / 2),
        ((1, 3), (0.01, 4.0), 1.0, (0.4 * 3 / 4) ** 2 / 2),
    ],
)
def test_a_run_by_hand(samples, power, clip, rho):
    link = GaussianLink(snr_db=0.0, power=power)
    run = run_parabolas(ClippedFedAvg(clip=clip), link, samples=samples, rounds=4, steps=3)
    privacy = run.privacy(1e-5)
    np.testing.assert_allclose(privacy.rho, 4 * [rho], rtol=1e-5)
    np.testing.assert_allclose(run["zcdp"], rho * np.arange(1, 5), rtol=1e-5)
    expected = accountant_epsilon(1 / math.sqrt(2 * rho), 4, 1e-5, FINE)
    assert privacy.epsilon == pytest.approx(expected, rel=0.01)


def test_composition_over_a_run():
    """rho = 1/2 in each of 20 rounds is 10 in all, whose optimal order is 2 at this delta."""
    run = run_parabolas(ClippedFedAvg(), GaussianLink(snr_db=0.0), rounds=20)
    privacy = run.privacy(math.exp(-10) / 2)
    assert privacy.holds
    assert privacy.epsilon == pytest.approx(30 - math.log(2), rel=1e-5)
    after = privacy.epsilon_after
    assert after.shape == (20,)
    assert (np.diff(after) > 0).all()
    assert after[-1] == pytest.approx(privacy.epsilon, rel=1e-12)
    text = str(privacy)
    assert text.startswith("epsilon = 29.31 at delta = 2.27e-05 after 20 rounds (zCDP: rho = 10)")
    for word in ("Neighbouring", "Public", "Protected", "Trusted", "Not covered"):
        assert word in text


def test_a_resumed_run(problem, tmp_path):
    given = (ClippedFedAvg(), GaussianLink(snr_db=0.0), problem)
    whole = train(*given, rounds=4, **OPTIONS)
    train(*given, rounds=2, checkpoint=tmp_path / "run.npz", **OPTIONS)
    resumed = train(*given, rounds=4, checkpoint=tmp_path / "run.npz", **OPTIONS)
    check_same(whole, resumed)
    assert resumed.privacy(1e-5).epsilon == whole.privacy(1e-5).epsilon
    np.testing.assert_allclose(whole["zcdp"], [0.5, 1.0, 1.5, 2.0], rtol=1e-5)


@pytest.mark.parametrize("replacement", [False, True])
def test_the_weights_of_those_selected_count(problem, replacement):
    """The largest weight of the round, not of the population."""
    participation = RandomClients(2, replacement=replacement)
    algorithm, link = ClippedFedAvg(clip=3.0), GaussianLink(snr_db=0.0, power=[1, 2, 3, 4])
    run = train(algorithm, link, problem, rounds=6, participation=participation, **OPTIONS)
    largest = np.nanmax(run["client_weight"], axis=1)
    np.testing.assert_allclose(run["sensitivity"], 3 * largest, rtol=1e-12)
    expected = (run["gain"] * 3 * largest) ** 2 / 2
    np.testing.assert_allclose(run.privacy(1e-5).rho, expected, rtol=1e-12)


def test_late_clients(problem):
    """Where everybody is late nothing is sent; otherwise those in time count for more."""
    link, algorithm = GaussianLink(snr_db=0.0), ClippedFedAvg()
    options = {"rounds": 3, "sgd": Sgd(0.5, 10)}
    never = train(algorithm, link, problem, steps=5, deadline=Deadline(1e-3, 1.0), **options)
    assert never["late"].all()
    assert never.privacy(1e-5).epsilon == 0
    deadline = Deadline(1.0, 1.0, spread=0.0)
    half = train(algorithm, link, problem, steps=[1, 1, 2, 2], deadline=deadline, **options)
    assert half["late"].tolist() == 3 * [[False, False, True, True]]
    np.testing.assert_allclose(half["sensitivity"], half["client_weight"].max(axis=1))
    np.testing.assert_allclose(half.privacy(1e-5).rho, 0.5, rtol=1e-5)


def test_a_round_in_which_every_channel_is_truncated(problem):
    run = train(ClippedFedAvg(), FadingLink(truncation=1e6), problem, rounds=2, **OPTIONS)
    assert run["largest_arrival"].tolist() == [0, 0]
    assert run.privacy(1e-5).epsilon == 0


def test_a_round_in_which_those_in_time_are_truncated():
    """|h|^2 = 0.01 and 1 at a threshold of 1/2: only client 2 could be heard, and it is late."""
    link = FadingLink(snr_db=0.0, truncation=0.5, fading=FixedFading([[0.1], [1.0]]))
    both = run_parabolas(ClippedFedAvg(), link)
    assert both.privacy(1e-5).rho == pytest.approx(1 / 2, rel=1e-5)
    slow = Deadline(0.1, 0.1, spread=0.0)
    run = run_parabolas(ClippedFedAvg(), link, deadline=slow)
    assert run["late"].tolist() == [[False, True]]
    assert run["largest_arrival"].tolist() == [0]
    assert run["zcdp"].tolist() == run.privacy(1e-5).rho.tolist() == [0]


@pytest.mark.parametrize(
    "link", [IdealLink(), GaussianLink(snr_db=np.inf), OfdmLink(snr_db=np.inf)], ids=repr
)
def test_without_noise_there_is_no_privacy(link, problem):
    run = train(ClippedFedAvg(), link, problem, rounds=2, **OPTIONS)
    privacy = run.privacy(1e-5)
    assert privacy.epsilon == np.inf
    assert privacy.rho.tolist() == run["zcdp"].tolist() == [np.inf, np.inf]
    assert str(privacy).startswith("epsilon = inf")


ITS_GAIN, ITS_NOISE, ITS_ARRIVAL = "its gain or its local", "no receiver noise", "arrival factor"


@pytest.mark.parametrize(
    ("algorithm", "link", "reasons"),
    [
        (Cotaf(), GaussianLink(), [ITS_GAIN]),
        (FedAvg(), GaussianLink(), [ITS_GAIN]),
        (FedNova(), FadingLink(), [ITS_GAIN]),
        (Acpc(), GaussianLink(), [ITS_GAIN]),
        (Acpc(beta="realised"), OfdmLink(), [ITS_GAIN]),
        (Acpc(beta="previous"), GaussianLink(), [ITS_GAIN]),
        (ClippedFedAvg(), FadingLink(csi=NoisyCsi(0.01)), [ITS_ARRIVAL]),
        (ClippedFedAvg(), OfdmLink(csi=NoisyCsi(0.01)), [ITS_ARRIVAL]),
        (ClippedFedAvg(), FadingLink(control="mmse"), [ITS_ARRIVAL]),
        (ClippedFedAvg(), OfdmLink(control="mmse"), [ITS_ARRIVAL]),
        (ClippedFedAvg(), WaveformLink(), [ITS_ARRIVAL]),
        (ClippedFedAvg(), OrthogonalLink(), [ITS_NOISE, ITS_ARRIVAL]),
        (Cotaf(), OrthogonalLink(), [ITS_GAIN, ITS_NOISE, ITS_ARRIVAL]),
    ],
    ids=repr,
)
def test_where_nothing_is_claimed_it_says_why(algorithm, link, reasons, problem):
    run = train(algorithm, link, problem, rounds=2, **OPTIONS)
    privacy = run.privacy(1e-5)
    assert not privacy.holds
    assert np.isnan([privacy.epsilon, *privacy.rho, *privacy.epsilon_after, *run["zcdp"]]).all()
    assert len(privacy.reasons) == len(reasons)
    for why, expected in zip(privacy.reasons, reasons, strict=True):
        assert expected in why
    lines = str(privacy).splitlines()
    assert lines == ["No differential privacy is claimed:", *privacy.reasons]
    assert (type(algorithm).__name__ in lines[1]) == (reasons[0] == ITS_GAIN)


def test_a_single_round_without_a_bound_voids_the_run(problem):
    def link(t):
        return GaussianLink(snr_db=0.0) if t != 1 else OrthogonalLink()

    run = train(ClippedFedAvg(), link, problem, rounds=3, **OPTIONS)
    assert np.isnan(run["zcdp"]).tolist() == [False, True, True]
    assert not run.privacy(1e-5).holds


def test_a_run_that_diverged():
    with pytest.warns(DivergenceWarning):
        run = run_parabolas(
            ClippedFedAvg(), GaussianLink(snr_db=0.0), rounds=3, steps=200, sgd=Sgd(1e3, None)
        )
    privacy = run.privacy(1e-5)
    assert not privacy.holds
    assert "diverged" in privacy.reasons[-1]


def test_refused_before_anything_is_computed():
    run = run_parabolas(Cotaf(), GaussianLink())
    with pytest.raises(ValueError, match="delta must be a number between 0 and 1"):
        run.privacy(1.0)


class OwnLink:
    """A user's link: white noise of standard deviation 2 on the sum."""

    def open(self, num_clients, length, rng, *, clients=None, time=0.0, device_rng=None):
        uplink = OwnUplink(num_clients)
        uplink.rng = rng
        return uplink


class OwnUplink(SignUplink):
    def send(self, signals, gain, *, weights=None, enforce=True):
        total = np.sum(signals, axis=0) + 2 / gain * self.rng.standard_normal(signals.shape[1])
        known = {"noise_std": 2, "largest_arrival": 1}
        return Reception(total, gain**2 * self.energy(signals), known)


class Tanh(Algorithm):
    """A user's algorithm whose entries are at most 1 in magnitude, at a gain of 3."""

    def sensitivity(self, current):
        return float(current.weights.max() * np.sqrt(len(current.model)))

    def aggregate(self, current, plan, updates, steps):
        signals = current.weights[:, None] * np.tanh(updates)
        received = current.uplink.send(signals, 3.0, enforce=False)
        return Outcome(current.model + received.total, received, 3.0)


def test_user_defined_parts(problem):
    """rho = (3 max alpha sqrt(d))^2 / (2 2^2) over the user's link, at d entries."""
    for link, noise in ((OwnLink(), 2.0), (GaussianLink(snr_db=0.0), 1.0)):
        run = train(Tanh(), link, problem, rounds=2, **OPTIONS)
        expected = 9 * problem.weights.max() ** 2 * len(run.model) / (2 * noise**2)
        np.testing.assert_allclose(run.privacy(1e-5).rho, expected, rtol=1e-6)


@pytest.mark.parametrize("bound", [-1.0, np.nan, "1"])
def test_a_wrong_sensitivity_is_named(bound, problem):
    class Wrong(Tanh):
        def sensitivity(self, current):
            return bound

    with pytest.raises(ValueError, match="sensitivity must be a .*number >= 0, got"):
        train(Wrong(), GaussianLink(), problem, rounds=1, **OPTIONS)
