"""FedAvg, beyond what test_algorithms checks by hand."""

from __future__ import annotations

import numpy as np

from fl import (
    FedAvg,
    Sgd,
    train,
)
from links import GaussianLink
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
