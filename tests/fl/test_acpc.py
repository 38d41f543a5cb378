"""ACPC-OTA-FL within its budgets: by hand, as in test_algorithms, and over fading links."""

from __future__ import annotations

import numpy as np
import pytest

from fl import (
    Acpc,
    Plan,
    Problem,
    RandomClients,
    Round,
    Sgd,
    partition_by_label,
    train,
)
from fl.streams import Purpose, stream
from links import FadingLink, GaussianLink, IdealLink, OfdmLink
from phy import NoFading, OfdmGrid, Rayleigh
from tests.fl.problems import blobs, run_parabolas
from tests.fl.runs import OPTIONS, check_same

QUIET = {"snr_db": np.inf}


@pytest.mark.parametrize(
    ("G", "options", "steps", "model", "scaled_down"),
    [
        # beta = 1 / (1/2 1/4 G); client 2 needs beta/2 Delta_2/tau_2 <= 1
        (6.5, {}, [1, 1], 0.125 + 0.75, [False, False]),  # 1.23 * 0.75 fits at once
        (5.0, {}, [1, 2], 0.125 + 0.5625, [False, False]),  # 1.6 * 0.75 no, 1.6 * 0.5625 yes
        (5.0, {"steps": "largest"}, [3, 3], 37 / 384 + 0.4375, [False, False]),
        (5.0, {"steps": "largest", "tau_max": 2}, [2, 2], 7 / 64 + 0.5625, [False, False]),
        (5.0, {"tau_max": [3, 1]}, [1, 1], 0.125 + 0.75 / 1.2, [False, True]),
        (5.0, {"tau_min": 3}, [3, 3], 37 / 384 + 0.4375, [False, False]),
        (2.0, {}, [1, 3], 0.125 + 0.25, [False, True]),  # 4 * 0.4375 does not fit: sends 1/4
        (2.0, {"steps": "largest"}, [3, 3], 37 / 384 + 0.25, [False, True]),
        (0.1, {}, [3, 3], 2 * 0.0125, [True, True]),  # beta = 80: both send 1/80
    ],
)
@pytest.mark.parametrize("link", [GaussianLink(**QUIET), FadingLink(**QUIET, fading=NoFading())])
def test_acpc_within_a_budget(link, G, options, steps, model, scaled_down):  # noqa: N803
    history = run_parabolas(Acpc(G=G, **options), link, steps=3)
    assert history["gain"][0] == pytest.approx(1 / (0.5 * 0.25 * G), rel=1e-5)
    assert history["steps"][0].tolist() == steps
    assert history["scaled_down"][0].tolist() == scaled_down
    assert history.model[0] == pytest.approx(model, rel=1e-5)
    assert (history["load"] <= 1 + 1e-5).all()
    np.testing.assert_allclose(history["load"][0][scaled_down], 1, rtol=1e-5)


def test_acpc_bound_takes_the_weakest_client():
    """beta = min_i sqrt(P_i) / (alpha_i eta G); P_i is the power that the path gain leaves."""
    powers, gains = np.array([4.0, 9.0]), np.array([1.0, 0.25])
    alpha = np.array([0.25, 0.75])
    link = GaussianLink(**QUIET, power=powers, path_gain=gains)
    history = run_parabolas(Acpc(G=8.0), link, samples=(1, 3))
    expected = np.min(np.sqrt(powers * gains) / alpha) / (0.25 * 8.0)
    assert history["gain"][0] == pytest.approx(expected, rel=1e-5)


def test_acpc_from_the_previous_round():
    """All steps and the largest gain at first; then beta from the last ||Delta_i|| / tau_i."""
    history = run_parabolas(Acpc(beta="previous"), GaussianLink(**QUIET), steps=2, rounds=2)
    assert history["steps"][0].tolist() == [2, 2]
    assert history["gain"][0] == pytest.approx(1 / (0.5 * 1.125), rel=1e-5)
    assert history["gain"][1] == pytest.approx(1 / (0.5 * 1.125), rel=1e-5)
    # from x_1 = 43/64 client 2 moves by 149/128 in its first step: 1.16 > 1.125 does not fit
    assert history["steps"][1].tolist() == [1, 2]
    # each by its own steps: 7/16 in two, 3/2 in one
    unequal = run_parabolas(Acpc(beta="previous"), GaussianLink(**QUIET), steps=[2, 1], rounds=2)
    assert unequal["gain"][1] == pytest.approx(1 / (0.5 * 1.5), rel=1e-5)


def test_acpc_where_no_budget_was_expected_to_bind():
    """No client was expected to move, but one does: the gain is the largest possible."""
    uplink = GaussianLink(**QUIET).open(2, 1, np.random.default_rng(1))
    steps = np.array([1, 1])
    current = Round(1, np.zeros(1), uplink, np.array([0.5, 0.5]), steps, 0.1)
    outcome = Acpc(beta="previous").aggregate(
        current, Plan(steps, gain=np.inf), np.array([[0.5], [2.0]]), steps
    )
    assert outcome.gain == pytest.approx(1, rel=1e-5)
    assert outcome.model[0] == pytest.approx(1.25)
    assert not outcome.scaled_down.any()


def test_acpc_measures_very_large_updates():
    """As large as links carry them."""
    uplink = IdealLink().open(1, 2, np.random.default_rng(1))
    steps = np.array([2])
    current = Round(0, np.zeros(2, np.float32), uplink, np.ones(1), steps, 0.1)
    updates = np.full((1, 2), 1e11, np.float32)
    state = Acpc().aggregate(current, Plan(steps), updates, steps).state
    assert state["step_norms"][0] == pytest.approx(np.sqrt(2) * 1e11 / 2, rel=1e-6)


def test_acpc_limits_that_change_with_the_round():
    """Power and local steps fall from round to round."""

    def link(number):
        return GaussianLink(**QUIET, power=4.0 / (1 + number))

    def steps(number, num_clients, rng):
        return np.full(num_clients, 3 - number)

    history = run_parabolas(Acpc(G=5.0), link, steps=steps, rounds=3)
    np.testing.assert_allclose(history["gain"] / 1.6, [2, 2**0.5, (4 / 3) ** 0.5], rtol=1e-5)
    assert (history["steps"].max(axis=1) <= [3, 2, 1]).all()


def test_acpc_more_power_means_no_more_steps():
    """With steps="smallest": documented as a departure from the paper's prose."""
    link = GaussianLink(**QUIET, power=[1.0, 1.0])
    strong = GaussianLink(**QUIET, power=[1.0, 2.0])
    taken = [
        run_parabolas(Acpc(G=5.0), each, steps=3)["steps"][0].tolist() for each in (link, strong)
    ]
    assert taken == [[1, 2], [1, 1]]


@pytest.mark.parametrize("budget", ["symbol", "round"])
def test_acpc_holds_every_symbol(budget, rng):
    """On a fading channel with few carriers: no symbol exceeds its budget, scaled down or not."""
    data = blobs(rng, features=60)
    problem = Problem(None, data, partition_by_label(data.y_train, 4, 2, rng))
    grid = OfdmGrid(fft_size=64, cp_length=16, guards=(6, 5))
    symbols = grid.num_symbols(4 * 61)
    assert symbols > 2
    link = OfdmLink(entry_snr_db=30, budget=budget, truncation=0.1, grid=grid)
    options = {"rounds": 5, "steps": 6, "sgd": Sgd(0.5, 10), "seed": int(rng.integers(1000))}
    scaled_down = 0
    for algorithm in (Acpc(G=0.2), Acpc(G=3.0, steps="largest"), Acpc(beta="previous")):
        history = train(algorithm, link, problem, **options)
        assert (history["load"] <= 1 + 1e-5).all()
        np.testing.assert_allclose(history["load"][history["scaled_down"]], 1, rtol=1e-4)
        scaled_down += history["scaled_down"].sum()
        assert (history["steps"] > 1).any()
        heard = history["energy"] > 0  # the whole band may be in a fade
        assert heard.mean() > 0.5
        share = history["worst_symbol_energy"][heard] / history["energy"][heard]
        assert (share < 1).all()
        assert (share > 1 / symbols).all()
        loads = history["energy"]
        if budget == "symbol":
            loads = symbols * history["worst_symbol_energy"]
        np.testing.assert_allclose(history["load"], loads, rtol=1e-6)
    assert scaled_down > 0


@pytest.mark.parametrize("kind", [FadingLink, OfdmLink])
def test_acpc_scales_down_within_its_budgets_under_reported_variances(kind, rng):
    """A client that scales its signal down does not report again, or it would amplify it more."""
    link = kind(entry_snr_db=10.0, control="mmse", variances="reported", power=[0.5, 1.0, 2.0, 0.1])
    data = blobs(rng)
    shards = partition_by_label(data.y_train, 4, 2, rng)
    history = train(
        Acpc(G=0.1, tau_max=3), link, Problem(None, data, shards), rounds=5, sgd=Sgd(0.5, 10)
    )
    assert history.num_rounds == 5
    assert history["scaled_down"].any()
    assert (history["load"] <= 1 + 1e-5).all()
    assert (history["load"][history["scaled_down"]] > 0.999).all()


def test_acpc_leaves_silent_clients_out(rng):
    """A client that cannot send at all does not lower the gain of the others."""
    data = blobs(rng)
    problem = Problem(None, data, partition_by_label(data.y_train, 4, 4, rng))
    link = FadingLink(snr_db=20.0, fading=Rayleigh(), truncation=1.0)
    history = train(Acpc(G=0.5), link, problem, rounds=20, steps=3, sgd=Sgd(0.5, 10))
    silent = history["active_fraction"] == 0
    assert silent.any()
    assert not history["energy"][silent].any()
    assert not history["scaled_down"][silent].any()
    checked = 0
    for number, gain in enumerate(history["gain"]):
        if not silent[number].all():
            checked += 1
            # energy that an evenly spread unit vector costs each active client
            uplink = link.open(4, 52, stream(0, number, Purpose.LINK))
            cost = uplink.energy(np.full((4, 52), 1 / np.sqrt(52)))[~silent[number], 0]
            expected = 1 / (0.25 * 0.5 * 0.5 * np.sqrt(cost.max()))
            assert gain == pytest.approx(expected, rel=1e-5)
    assert checked >= 10


class Tracked(Acpc):
    """Records G as every round leaves it."""

    def aggregate(self, *arguments):
        outcome = super().aggregate(*arguments)
        SEEN.extend(outcome.state.get("G", np.empty(0)).ravel())
        return outcome


SEEN: list[float] = []


def tracked(link, problem, **options):
    """Return a run, and every G that one of its rounds left."""
    SEEN.clear()
    history = train(Tracked(), link, problem, **options)
    return history, np.array(SEEN)


def test_tracked_by_hand():
    """In two steps of rate 1/4, client 1 needs G = 0.21875 / 0.25, client 2 1.125 / 0.25.

    G_1 is their quantile at 0.91; from x_1 = 43/64 client 2 needs 149/32 for one step and 447/128
    for two. The next G is smaller by exp(-0.09), because everybody fits.
    """
    history = run_parabolas(Acpc(), GaussianLink(**QUIET), steps=2, rounds=3)
    assert history["steps"][0].tolist() == [2, 2]
    G = 0.875 + 0.91 * (4.5 - 0.875)  # noqa: N806
    expected = [1 / (0.5 * 1.125), 1 / (0.5 * 0.25 * G), 1 / (0.5 * 0.25 * G * 0.9139312)]
    np.testing.assert_allclose(history["gain"], expected, rtol=1e-5)
    assert history["steps"][1].tolist() == [1, 2]
    assert not history["scaled_down"].any()


def round_of(updates, G, steps=None, most=1, rule="smallest"):  # noqa: N803
    """Return G after a round with eta = 0.1 in which clients take ``steps`` of at most ``most``."""
    clients = len(updates)
    uplink = GaussianLink(**QUIET).open(clients, 1, np.random.default_rng(1))
    alpha, limits = np.full(clients, 1 / clients), np.full(clients, most)
    taken = np.ones(clients, np.int64) if steps is None else np.array(steps)
    acpc = Acpc(steps=rule)
    current = Round(5, np.zeros(1), uplink, alpha, limits, 0.1, {"G": np.asarray(G)})
    plan = acpc.plan(current)
    assert plan.gain == pytest.approx(clients / (0.1 * G), rel=1e-5)
    outcome = acpc.aggregate(current, plan, np.array(updates)[:, None], taken)
    return float(outcome.state["G"])


@pytest.mark.parametrize(
    ("updates", "factor"),
    [
        ([0.1, 0.19], 0.9139312),  # eta G = 0.2: both fit, exp(-0.09)
        ([0.1, 0.21], 1.5068178),  # one of two is scaled down, exp(0.41)
        ([0.3, 0.4], 2.4843225),  # exp(0.91)
        ([0.0, 0.21], 2.4843225),  # a client that sends nothing reports nothing
        ([0.0, 0.0], 1.0),
        ([0.1] * 9 + [1e6], 1.0100502),  # exp(0.01), however large the outlier
    ],
)
def test_tracked_g_follows_the_share_scaled_down(updates, factor):
    assert round_of(updates, 2.0) == pytest.approx(2.0 * factor, rel=1e-6)


@pytest.mark.parametrize(
    ("steps", "updates", "factor"),
    [
        ([3, 3], [0.1, 0.1], 0.9139312),  # 3 of 9 steps are few: exp(-0.09)
        ([3, 4], [0.1, 0.1], 1.0),  # one of two is slow: exp(0)
        ([4, 9], [0.1, 0.1], 1.6487213),  # both are: exp(0.5)
        ([4, 9], [0.1, 2.0], 1.6487213),  # one of them is scaled down, too
        ([4, 9], [2.0, 2.0], 2.4843225),  # both are: exp(0.91)
        ([4, 9, 9], [0.1, 0.0, 0.0], 1.6487213),  # who sends nothing does not count
    ],
)
def test_tracked_g_follows_the_share_of_slow_clients(steps, updates, factor):
    """eta G = 0.2 is the largest norm of an update per step."""
    assert round_of(np.multiply(updates, steps), 2.0, steps, most=9) == pytest.approx(2 * factor)


def test_with_the_largest_steps_nobody_is_slow():
    assert round_of([0.9, 0.9], 2.0, [9, 9], most=9, rule="largest") == pytest.approx(1.8278624)


def test_tracked_g_begins_with_few_steps():
    """Of at most 2 steps ceil(sqrt(2)) = 2, of 9 three; with tau_min = 4 four."""
    uplink = IdealLink().open(3, 1, np.random.default_rng(1))
    tight = GaussianLink(**QUIET).open(3, 1, np.random.default_rng(1))
    most = np.array([1, 2, 9])
    for opened, options, expected in (
        (tight, {}, [1, 2, 3]),
        (tight, {"tau_min": 4}, [1, 2, 4]),
        (tight, {"tau_max": 4}, [1, 2, 2]),
        (tight, {"G": 1.0}, [1, 2, 9]),
        (tight, {"beta": "realised"}, [1, 2, 9]),
        (uplink, {}, [1, 2, 9]),  # without budgets any G will do
    ):
        current = Round(0, np.zeros(1), opened, np.full(3, 1 / 3), most, 0.1)
        assert Acpc(**options).plan(current).steps.tolist() == expected


def test_tracked_g_recovers_from_an_outlier():
    """After a round in which all have gradients a million times as large, in eleven rounds."""
    G = [round_of([1e5] * 10, 2.0)]  # noqa: N806
    for _ in range(11):
        G.append(round_of([0.1] * 10, G[-1]))
    assert G[0] == pytest.approx(2.0 * 2.4843225)
    assert G[-2] > 2.0 > G[-1]


def test_tracked_g_is_the_same_on_links_without_fading(rng):
    data = blobs(rng)
    problem = Problem(None, data, partition_by_label(data.y_train, 4, 2, rng))
    flat = OfdmLink(**QUIET, fading=NoFading(), budget="round", interleaver_seed=None)
    options = {"rounds": 30, "steps": 4, "sgd": Sgd(0.5, 10)}
    one, expected = tracked(GaussianLink(**QUIET), problem, **options)
    other, found = tracked(flat, problem, **options)
    np.testing.assert_allclose(found, expected, rtol=1e-3)
    np.testing.assert_allclose(other["gain"], one["gain"], rtol=1e-3)
    assert len(np.unique(expected)) > 10


@pytest.mark.parametrize(
    "link",
    [
        GaussianLink(snr_db=10.0),
        GaussianLink(snr_db=-1.0, power=[1.0, 2.0, 4.0, 0.5]),
        OfdmLink(entry_snr_db=10.0),
        FadingLink(snr_db=20.0, fading=Rayleigh(), truncation=1.0),
    ],
    ids=["equal", "unequal", "ofdm", "often silent"],
)
def test_tracked_scales_at_most_a_tenth_down(link, rng):
    """mean(s_t) <= 0.09 + ln(G_{T+1} / G_1) / T, with any data, seed and link."""
    data = blobs(rng)
    problem = Problem(None, data, partition_by_label(data.y_train, 4, 2, rng))
    options = {"steps": 3, "sgd": Sgd(0.5, 10), "test_every": 400, "seed": int(rng.integers(1000))}
    history, G = tracked(link, problem, rounds=400, **options)  # noqa: N806
    heard = (history["energy"] > 0).sum(axis=1)
    shares = history["scaled_down"].sum(axis=1)[heard > 0] / heard[heard > 0]
    growth = np.log(G[-1] / G[0])
    assert shares[1:].sum() <= 0.09 * len(shares[1:]) + growth + 1e-6
    assert history["scaled_down"].mean() <= 0.1
    assert (history["load"] <= 1 + 1e-5).all()


def test_tracked_where_no_budget_binds_is_any_g():
    check_same(run_parabolas(Acpc(), rounds=3), run_parabolas(Acpc(G=0.5), rounds=3))


def test_tracked_with_clients_that_change_can_be_resumed(rng, tmp_path):
    data = blobs(rng)
    problem = Problem(None, data, partition_by_label(data.y_train, 8, 2, rng))
    link = OfdmLink(entry_snr_db=10.0)
    options = {**OPTIONS, "participation": RandomClients(3)}
    whole, G = tracked(link, problem, rounds=40, **options)  # noqa: N806
    train(Tracked(), link, problem, rounds=7, checkpoint=tmp_path / "run.npz", **options)
    resumed = train(Tracked(), link, problem, rounds=40, checkpoint=tmp_path / "run.npz", **options)
    check_same(whole, resumed)
    assert len(np.unique(G)) > 30  # one number, whoever takes part


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: Acpc(beta="guess"), "beta must be one of 'bound', 'previous', 'realised', got 'g"),
        (lambda: Acpc(G=0), "G must be a finite number > 0, got 0"),
        (lambda: Acpc(G=np.inf), "G must be .*, got inf"),
        (lambda: Acpc(G="auto"), 'G must be a number > 0, or "tracked", got .auto'),
        (lambda: Acpc(steps="all"), "steps must be one of .*, got 'all'"),
        (lambda: Acpc(tau_min=0), "tau_min must be a whole number >= 1, got 0"),
        (lambda: Acpc(tau_min=3, tau_max=2), "tau_max must be at least 3, .* tau_min, got 2"),
        (lambda: Acpc(tau_max=[4, 0]), "tau_max must be .* one per client, got .4, 0."),
        (lambda: Acpc(tau_max=2.5), "tau_max must be a whole number >= 1, .*, got 2.5"),
        (lambda: run_parabolas(Acpc(tau_max=[1, 2, 3])), "tau_max .*2 devices, got .1, 2, 3."),
    ],
)
def test_refused(make, message):
    with pytest.raises(ValueError, match=message):
        make()


def test_misspelt_options_are_named():
    with pytest.raises(TypeError, match="Acpc has no option 'g'; did you mean 'G'?"):
        Acpc(g=1)


def test_norms_of_the_previous_round_are_found_by_device(rng):
    """beta = 1 / (alpha_i norm_i) at the largest of them; the largest norm for a newcomer."""
    state = {"clients": np.array([1, 4, 7]), "step_norms": np.array([3.0, 2.0, 1.0])}

    def gain(*clients):
        uplink = GaussianLink(snr_db=np.inf).open(len(clients), 4, rng)
        weights = np.full(len(clients), 0.1)
        current = Round(
            1, np.zeros(4), uplink, weights, np.ones(len(clients), int), 0.1, state,
            np.array(clients), population=9,
        )  # fmt: skip
        return Acpc(beta="previous").plan(current).gain

    assert gain(4, 7) == pytest.approx(1 / 0.2, rel=1e-5)
    assert gain(7) == pytest.approx(1 / 0.1, rel=1e-5)
    assert gain(2, 7) == pytest.approx(1 / 0.3, rel=1e-5)
