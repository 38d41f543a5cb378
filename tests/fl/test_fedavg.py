"""FedAvg, beyond what test_algorithms checks by hand."""

from __future__ import annotations

import numpy as np
import pytest

from fl import (
    FedAvg,
    Participation,
    Selection,
    Sgd,
    train,
)
from links import GaussianLink, IdealLink
from tests.fl.problems import run_parabolas, two_parabolas

QUIET = {"snr_db": np.inf}


def test_fedavg_records_what_it_would_have_needed():
    """No gain and no limit: alpha_i^2 ||x_i||^2, above the budget of 1."""
    history = run_parabolas(FedAvg(), GaussianLink(**QUIET), steps=2)
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
            problem,
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


def test_updates_by_hand():
    """Updates 1/4 and 9/4 at weights 1/2: their sum has norm 5/4, the gain is (5/4)^(-1/2)."""
    history = run_parabolas(FedAvg(sends="updates"), GaussianLink(**QUIET))
    assert history["gain"][0] == pytest.approx(1.25**-0.5)
    np.testing.assert_allclose(history["energy"][0], [0.125**2 / 1.25, 1.125**2 / 1.25])
    np.testing.assert_allclose(history.model, [1.25], rtol=1e-6)


def test_both_readings_are_the_same_without_noise():
    models = [
        run_parabolas(FedAvg(sends=sends), IdealLink(), rounds=5).model
        for sends in ("models", "updates")
    ]
    np.testing.assert_allclose(*models, rtol=1e-6)
    assert models[0][0] != 0


def test_noise_of_updates_follows_their_norm(rng):
    """w / beta: variance 0.01 * 5/4, where whole models have 0.01."""
    results = [
        train(
            FedAvg(sends="updates"),
            GaussianLink(snr_db=20.0),
            two_parabolas(),
            sgd=Sgd(0.25, None),
            steps=[1, 2],
            rounds=1,
            seed=seed,
        ).model[0]
        for seed in range(400)
    ]
    noise = np.array(results) - 1.25
    assert abs(noise.mean()) < 5 * np.sqrt(0.0125 / 400)
    assert abs(noise.var() / 0.0125 - 1) < 5 * np.sqrt(2 / 400)


class First(Participation):
    """Device 0 alone, with twice the weight it should have."""

    def size(self, population):
        return 1

    def select(self, context):
        return Selection(np.array([0]), np.array([2.0]))


def test_whole_models_keep_their_size_where_weights_do_not_add_up_to_one():
    """x_1 = 2 * (1/4); x_2 = x_1 + 2 * (1 - x_1) / 4 = 3/4, and not 2 (x_1 + (1 - x_1) / 4)."""
    for sends in ("models", "updates"):
        options = {"participation": First(), "steps": 1}
        one = run_parabolas(FedAvg(sends=sends), IdealLink(), rounds=1, **options)
        two = run_parabolas(FedAvg(sends=sends), IdealLink(), rounds=2, **options)
        np.testing.assert_allclose([one.model[0], two.model[0]], [0.5, 0.75], rtol=1e-6)


def test_refused():
    with pytest.raises(ValueError, match="sends must be one of 'models', 'updates'"):
        FedAvg(sends="gradients")
