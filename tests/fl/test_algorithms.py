"""Algorithms by hand: two clients, two parabolas, one dimension.

F_1 = 1/2 (x - 1)^2 and F_2 = (x - 3)^2, from x_0 = 0 with rate 1/4. After 1, 2, 3 local steps the
updates are 1/4, 7/16, 37/64 for client 1, and 3/2, 9/4, 21/8 for client 2.
"""

from __future__ import annotations

import numpy as np
import pytest

from fl import (
    Acpc,
    Cotaf,
    Diminishing,
    FedAvg,
    FedNova,
    Plan,
    Round,
    Sgd,
    partition_by_label,
    train,
    train_together,
)
from fl.streams import Purpose, stream
from links import FadingLink, GaussianLink, IdealLink, OfdmLink
from phy import NoFading, OfdmGrid, Rayleigh
from tests.fl.problems import blobs, two_parabolas

QUIET = {"snr_db": np.inf}


def run(algorithm, link=None, steps=(1, 2), samples=(1, 1), rounds=1, **options):
    problem = two_parabolas(samples)
    return train(
        algorithm,
        IdealLink() if link is None else link,
        problem.data,
        problem.shards,
        model=problem.model,
        steps=steps,
        rounds=rounds,
        **{"sgd": Sgd(0.25, None), **options},
    )


@pytest.mark.parametrize(
    ("algorithm", "equal", "unequal"),
    [
        # sum_i alpha_i Delta_i with alpha = 1/2, 1/2 and 1/4, 3/4
        (FedAvg(), (0.25 + 2.25) / 2, (0.25 + 3 * 2.25) / 4),
        (Cotaf(), (0.25 + 2.25) / 2, (0.25 + 3 * 2.25) / 4),
        (Cotaf(server_step=0.5), (0.25 + 2.25) / 4, (0.25 + 3 * 2.25) / 8),
        # sum_i alpha_i Delta_i / tau_i
        (FedNova(tau_eff=1), (0.25 + 1.125) / 2, (0.25 + 3 * 1.125) / 4),
        (FedNova(), 1.5 * (0.25 + 1.125) / 2, 1.75 * (0.25 + 3 * 1.125) / 4),
        (Acpc(beta="realised"), (0.25 + 1.125) / 2, (0.25 + 3 * 1.125) / 4),
        (Acpc(beta="realised", tau_max=1), (0.25 + 1.5) / 2, (0.25 + 3 * 1.5) / 4),
        # without budgets everything fits at once
        (Acpc(), (0.25 + 1.5) / 2, (0.25 + 3 * 1.5) / 4),
        (Acpc(tau_min=2), (0.25 + 1.125) / 2, (0.25 + 3 * 1.125) / 4),
        (Acpc(steps="largest"), (0.25 + 1.125) / 2, (0.25 + 3 * 1.125) / 4),
    ],
    ids=repr,
)
def test_one_round_without_noise(algorithm, equal, unequal):
    assert run(algorithm).model[0] == pytest.approx(equal, rel=1e-12)
    assert run(algorithm, samples=(1, 3)).model[0] == pytest.approx(unequal, rel=1e-12)


def test_a_second_round():
    """From x_1 = 5/4: client 1 goes to 19/16; client 2 to 17/8 and 41/16."""
    x1 = 1.25
    expected = ((x1 - 0.25 * (x1 - 1)) + (3 + (x1 - 3) / 4)) / 2
    assert run(FedAvg(), rounds=2).model[0] == pytest.approx(expected, rel=1e-12)
    assert run(Cotaf(), rounds=2).model[0] == pytest.approx(expected, rel=1e-12)


def test_a_rate_that_falls():
    """eta = 1/4, 1/8: x_1 = eta 7/2, x_2 = x_1 - eta (3/2 x_1 - 7/2); ACPC's bound follows it."""
    falling = Sgd(Diminishing(0.25, rounds=1, power=1), None)
    history = run(FedAvg(), steps=1, rounds=2, sgd=falling)
    assert history["rate"].tolist() == [0.25, 0.125]
    x1 = 0.25 * 3.5
    assert history.model[0] == pytest.approx(x1 - 0.125 * (1.5 * x1 - 3.5), rel=1e-12)
    acpc = run(Acpc(G=8.0), GaussianLink(**QUIET), steps=1, rounds=2, sgd=falling)
    np.testing.assert_allclose(acpc["gain"], [1 / (0.5 * 0.25 * 8), 1 / (0.5 * 0.125 * 8)], 1e-5)


@pytest.mark.parametrize(
    ("algorithm", "moves"),
    [
        (Cotaf(), (0.25, 2.25)),
        (FedAvg(), (0.25, 2.25)),
        (FedNova(tau_eff=1), (0.25, 1.125)),
        (Acpc(beta="realised"), (0.25, 1.125)),
    ],
    ids=repr,
)
def test_server_makes_up_for_the_silent_by_their_weight(algorithm, moves):
    """Where one client is silent the other's update counts in full, whatever its alpha."""
    link = FadingLink(**QUIET, truncation=0.7, correction="active")
    seen = set()
    for seed in range(40):
        history = run(algorithm, link, samples=(1, 3), seed=seed)
        active = history["active_fraction"][0] > 0
        if active.sum() == 1:
            heard = int(np.argmax(active))
            assert history.model[0] == pytest.approx(moves[heard], rel=1e-5)
            seen.add(heard)
    assert seen == {0, 1}


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
    history = run(Acpc(G=G, **options), link, steps=3)
    assert history["gain"][0] == pytest.approx(1 / (0.5 * 0.25 * G), rel=1e-5)
    assert history["steps"][0].tolist() == steps
    assert history["scaled_down"][0].tolist() == scaled_down
    assert history.model[0] == pytest.approx(model, rel=1e-5)
    assert (history["load"] <= 1 + 1e-5).all()
    np.testing.assert_allclose(history["load"][0][scaled_down], 1, rtol=1e-5)


def test_acpc_bound_takes_the_weakest_client():
    """beta = min_i sqrt(P_i) / (alpha_i eta G); channels count by what they cost."""
    powers, gains = np.array([4.0, 9.0]), np.array([1.0, 0.25])
    alpha = np.array([0.25, 0.75])
    link = GaussianLink(**QUIET, power=powers, path_gain=gains)
    history = run(Acpc(G=8.0), link, samples=(1, 3))
    expected = np.min(np.sqrt(powers * gains) / alpha) / (0.25 * 8.0)
    assert history["gain"][0] == pytest.approx(expected, rel=1e-5)


def test_acpc_from_the_previous_round():
    """First all steps with the largest gain; then beta by the last ||Delta_i|| / tau_i."""
    history = run(Acpc(beta="previous"), GaussianLink(**QUIET), steps=2, rounds=2)
    assert history["steps"][0].tolist() == [2, 2]
    assert history["gain"][0] == pytest.approx(1 / (0.5 * 1.125), rel=1e-5)
    assert history["gain"][1] == pytest.approx(1 / (0.5 * 1.125), rel=1e-5)
    # from x_1 = 43/64 client 2 moves by 149/128 in its first step: 1.16 > 1.125 does not fit
    assert history["steps"][1].tolist() == [1, 2]
    # each by its own steps: 7/16 in two, 3/2 in one
    unequal = run(Acpc(beta="previous"), GaussianLink(**QUIET), steps=[2, 1], rounds=2)
    assert unequal["gain"][1] == pytest.approx(1 / (0.5 * 1.5), rel=1e-5)


def test_acpc_without_a_foreseen_limit():
    """A round in which nobody was to move, but somebody does: the gain is the largest possible."""
    slot = GaussianLink(**QUIET).open(2, 1, np.random.default_rng(1))
    steps = np.array([1, 1])
    round = Round(1, np.zeros(1), slot, np.array([0.5, 0.5]), steps, 0.1)
    outcome = Acpc(beta="previous").aggregate(
        round, Plan(steps, gain=np.inf), np.array([[0.5], [2.0]]), steps
    )
    assert outcome.gain == pytest.approx(1, rel=1e-5)
    assert outcome.model[0] == pytest.approx(1.25)
    assert not outcome.scaled_down.any()


def test_acpc_measures_very_large_updates():
    """Whose squares are beyond float32."""
    slot = IdealLink().open(1, 2, np.random.default_rng(1))
    steps = np.array([2])
    round = Round(0, np.zeros(2, np.float32), slot, np.ones(1), steps, 0.1)
    updates = np.full((1, 2), 1e25, np.float32)
    memory = Acpc().aggregate(round, Plan(steps), updates, steps).memory
    assert memory["step_norms"][0] == pytest.approx(np.sqrt(2) * 1e25 / 2, rel=1e-6)


def test_acpc_limits_that_change_with_the_round():
    """Power falls from round to round; so does what a client can do."""

    def link(number):
        return GaussianLink(**QUIET, power=4.0 / (1 + number))

    def steps(number, num_clients, rng):
        return np.full(num_clients, 3 - number)

    history = run(Acpc(G=5.0), link, steps=steps, rounds=3)
    np.testing.assert_allclose(history["gain"] / 1.6, [2, 2**0.5, (4 / 3) ** 0.5], rtol=1e-5)
    assert (history["steps"].max(axis=1) <= [3, 2, 1]).all()


def test_acpc_more_power_means_no_more_steps():
    """By the smallest number of steps; documented as a departure from the paper's prose."""
    link = GaussianLink(**QUIET, power=[1.0, 1.0])
    strong = GaussianLink(**QUIET, power=[1.0, 2.0])
    problem = [run(Acpc(G=5.0), each, steps=3)["steps"][0].tolist() for each in (link, strong)]
    assert problem == [[1, 2], [1, 1]]


@pytest.mark.parametrize("budget", ["symbol", "round"])
def test_acpc_holds_every_symbol(budget, rng):
    """On a fading channel with few carriers: no symbol above its budget, whoever is scaled down."""
    data = blobs(rng, features=60)
    shards = partition_by_label(data.y_train, 4, 2, rng)
    grid = OfdmGrid(fft_size=64, cp_length=16, guards=(6, 5))
    symbols = grid.num_symbols(4 * 61)
    assert symbols > 2
    link = OfdmLink(entry_snr_db=30, budget=budget, truncation=0.1, grid=grid)
    options = {"rounds": 5, "steps": 6, "sgd": Sgd(0.5, 10), "seed": int(rng.integers(1000))}
    for algorithm in (Acpc(G=0.2), Acpc(G=3.0, steps="largest"), Acpc(beta="previous")):
        history = train(algorithm, link, data, shards, **options)
        assert (history["load"] <= 1 + 1e-5).all()
        np.testing.assert_allclose(history["load"][history["scaled_down"]], 1, rtol=1e-4)
        assert (history["steps"] > 1).any()
        heard = history["energy"] > 0  # the whole band may be in a fade
        share = history["worst_symbol_energy"][heard] / history["energy"][heard]
        assert (share < 1).all()
        assert (share > 1 / symbols).all()
        loads = history["energy"]
        if budget == "symbol":
            loads = symbols * history["worst_symbol_energy"]
        np.testing.assert_allclose(history["load"], loads, rtol=1e-6)


def test_acpc_leaves_silent_clients_out(rng):
    """Who cannot send at all does not lower the gain of the others."""
    data = blobs(rng)
    shards = partition_by_label(data.y_train, 4, 4, rng)
    link = FadingLink(snr_db=20.0, fading=Rayleigh(), truncation=1.0)
    history = train(Acpc(), link, data, shards, rounds=20, steps=3, sgd=Sgd(0.5, 10))
    silent = history["active_fraction"] == 0
    assert silent.any()
    assert not history["energy"][silent].any()
    assert not history["scaled_down"][silent].any()
    for number, gain in enumerate(history["gain"]):
        if not silent[number].all():
            # what a unit of energy, spread evenly, costs each of those who can send
            slot = link.open(4, 52, stream(0, number, Purpose.LINK))
            cost = slot.energy(np.full((4, 52), 1 / np.sqrt(52)))[~silent[number], 0]
            expected = 1 / (0.25 * 0.5 * 0.5 * np.sqrt(cost.max()))
            assert gain == pytest.approx(expected, rel=1e-5)


@pytest.mark.parametrize("link", [GaussianLink(snr_db=0.0), OfdmLink(entry_snr_db=10.0)])
def test_acpc_is_cotaf_with_a_server_step(link, rng):
    """With equal steps, weights and powers and the realised beta."""
    data = blobs(rng)
    shards = partition_by_label(data.y_train, 4, 2, rng)
    tau = 7
    acpc, cotaf = train_together(
        [(Acpc(beta="realised"), link), (Cotaf(server_step=1 / tau), link)],
        data,
        shards,
        rounds=10,
        steps=tau,
        sgd=Sgd(0.5, 20),
    )
    np.testing.assert_allclose(acpc["gain"], tau * cotaf["gain"], rtol=1e-5)
    scale = np.abs(cotaf.model).max()
    np.testing.assert_allclose(acpc.model, cotaf.model, atol=1e-5 * scale)


def test_cotaf_gain_is_that_of_the_paper(rng):
    """p_t = P / max ||Delta_i||^2, and the server divides by m sqrt(p_t)."""
    history = run(Cotaf(), GaussianLink(**QUIET, power=1.0))
    assert history["gain"][0] == pytest.approx(2 * np.sqrt(1 / 2.25**2), rel=1e-5)


def test_fedavg_records_what_it_would_have_needed():
    """No gain and no limit: alpha_i^2 ||x_i||^2, above the budget of 1."""
    history = run(FedAvg(), GaussianLink(**QUIET), steps=2)
    assert history["gain"][0] == 1
    np.testing.assert_allclose(history["energy"][0], [(0.4375 / 2) ** 2, (2.25 / 2) ** 2])
    np.testing.assert_allclose(history["load"][0], history["energy"][0])
    assert history["load"].max() > 1


def test_fedavg_noise_is_that_of_the_link(rng):
    """x_{t+1} = sum_i alpha_i x_i + w, w not divided by the number of clients."""
    problem = two_parabolas()
    results = [
        train(
            FedAvg(),
            GaussianLink(snr_db=20.0),
            problem.data,
            problem.shards,
            model=problem.model,
            sgd=Sgd(0.25, None),
            steps=[1, 2],
            rounds=1,
            seed=seed,
        ).model[0]
        for seed in range(400)
    ]
    noise = np.array(results) - 1.25
    assert abs(noise.mean()) < 5 * 0.1 / np.sqrt(400)
    assert abs(noise.var() / 0.01 - 1) < 5 * np.sqrt(2 / 400)


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: Acpc(beta="guess"), "beta = 'guess' is not allowed"),
        (lambda: Acpc(G=0), "G = 0 is not allowed"),
        (lambda: Acpc(G=np.inf), "G = inf"),
        (lambda: Acpc(steps="all"), "steps = 'all'"),
        (lambda: Acpc(tau_min=0), "tau_min = 0"),
        (lambda: Acpc(tau_min=3, tau_max=2), "tau_max = 2 is not allowed: tau_min is 3"),
        (lambda: Acpc(tau_max=[4, 0]), "tau_max = .4, 0."),
        (lambda: Cotaf(server_step=-1), "server_step = -1"),
        (lambda: FedNova(tau_eff=0), "tau_eff = 0"),
        (lambda: run(Acpc(tau_max=[1, 2, 3])), "tau_max = .1, 2, 3..*2 clients"),
        (lambda: run(Cotaf(), steps=0), "steps = array.0. in round 0"),
        (lambda: run(Cotaf(), steps=[1, 2, 3]), "2 clients"),
        (lambda: run(Cotaf(), steps=1.5), "steps = array.1.5."),
    ],
)
def test_refused(make, message):
    with pytest.raises(ValueError, match=message):
        make()
