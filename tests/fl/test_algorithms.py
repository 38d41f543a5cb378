"""All algorithms on the same problem, by hand: two clients, two parabolas, one dimension.

F_1 = 1/2 (x - 1)^2 and F_2 = (x - 3)^2, from x_0 = 0 with learning rate 1/4. After 1, 2, 3 local
steps the updates are 1/4, 7/16, 37/64 for client 1, and 3/2, 9/4, 21/8 for client 2.
"""

from __future__ import annotations

import numpy as np
import pytest

from fl import (
    Acpc,
    ClippedFedAvg,
    Cotaf,
    Diminishing,
    FedAvg,
    FedNova,
    Problem,
    Sgd,
    partition_by_label,
    train_together,
)
from links import FadingLink, GaussianLink, OfdmLink
from tests.fl.problems import blobs, run_parabolas

QUIET = {"snr_db": np.inf}


@pytest.mark.parametrize(
    ("algorithm", "equal", "unequal"),
    [
        # sum_i alpha_i Delta_i with alpha = 1/2, 1/2 and 1/4, 3/4
        (FedAvg(), (0.25 + 2.25) / 2, (0.25 + 3 * 2.25) / 4),
        (Cotaf(), (0.25 + 2.25) / 2, (0.25 + 3 * 2.25) / 4),
        (ClippedFedAvg(clip=3.0), (0.25 + 2.25) / 2, (0.25 + 3 * 2.25) / 4),
        (ClippedFedAvg(clip=2.0), (0.25 + 2) / 2, (0.25 + 3 * 2) / 4),
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
    assert run_parabolas(algorithm).model[0] == pytest.approx(equal, rel=1e-12)
    assert run_parabolas(algorithm, samples=(1, 3)).model[0] == pytest.approx(unequal, rel=1e-12)


def test_a_second_round():
    """From x_1 = 5/4: client 1 goes to 19/16; client 2 to 17/8 and 41/16."""
    x1 = 1.25
    expected = ((x1 - 0.25 * (x1 - 1)) + (3 + (x1 - 3) / 4)) / 2
    assert run_parabolas(FedAvg(), rounds=2).model[0] == pytest.approx(expected, rel=1e-12)
    assert run_parabolas(Cotaf(), rounds=2).model[0] == pytest.approx(expected, rel=1e-12)


def test_a_diminishing_learning_rate():
    """eta = 1/4, 1/8: x_1 = eta 7/2, x_2 = x_1 - eta (3/2 x_1 - 7/2); ACPC's bound follows it."""
    falling = Sgd(Diminishing(0.25, rounds=1, power=1), None)
    history = run_parabolas(FedAvg(), steps=1, rounds=2, sgd=falling)
    assert history["rate"].tolist() == [0.25, 0.125]
    x1 = 0.25 * 3.5
    assert history.model[0] == pytest.approx(x1 - 0.125 * (1.5 * x1 - 3.5), rel=1e-12)
    acpc = run_parabolas(Acpc(G=8.0), GaussianLink(**QUIET), steps=1, rounds=2, sgd=falling)
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
def test_server_corrects_for_silent_clients_by_weight(algorithm, moves):
    """Where one client is silent, the update of the other counts in full, whatever its alpha."""
    link = FadingLink(**QUIET, truncation=0.7, correction="active")
    seen = set()
    for seed in range(40):
        history = run_parabolas(algorithm, link, samples=(1, 3), seed=seed)
        active = history["active_fraction"][0] > 0
        if active.sum() == 1:
            heard = int(np.argmax(active))
            assert history.model[0] == pytest.approx(moves[heard], rel=1e-5)
            seen.add(heard)
    assert seen == {0, 1}


@pytest.mark.parametrize("link", [GaussianLink(snr_db=0.0), OfdmLink(entry_snr_db=10.0)])
def test_acpc_is_cotaf_with_a_server_step(link, rng):
    """With equal steps, weights and powers, and the realised beta."""
    data = blobs(rng)
    shards = partition_by_label(data.y_train, 4, 2, rng)
    tau = 7
    acpc, cotaf = train_together(
        [(Acpc(beta="realised"), link), (Cotaf(server_step=1 / tau), link)],
        Problem(None, data, shards),
        rounds=10,
        steps=tau,
        sgd=Sgd(0.5, 20),
    )
    np.testing.assert_allclose(acpc["gain"], tau * cotaf["gain"], rtol=1e-5)
    scale = np.abs(cotaf.model).max()
    np.testing.assert_allclose(acpc.model, cotaf.model, atol=1e-5 * scale)
