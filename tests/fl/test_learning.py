"""Accuracy and loss on MNIST (cross-cutting)."""

from __future__ import annotations

import numpy as np
import pytest

from fl import (
    Cotaf,
    FedAvg,
    LogisticRegression,
    Problem,
    Sgd,
    load_dataset,
    partition_by_label,
    train,
    train_together,
)
from links import GaussianLink, IdealLink, OfdmLink
from phy import NoFading


@pytest.fixture(scope="module")
def mnist():
    return load_dataset("mnist")


def test_logistic_regression_reaches_92_percent(mnist):
    """Without noise, on i.i.d. data: the best that the model can do."""
    shards = partition_by_label(mnist.y_train, 10, 10, np.random.default_rng(0))
    history = train(
        FedAvg(),
        IdealLink(),
        Problem(LogisticRegression(784, 10), mnist, shards),
        rounds=60,
        steps=50,
        sgd=Sgd(0.3, 50),
        test_every=5,
    )
    assert history.final_accuracy() >= 0.92
    assert history["train_loss"][-10:].mean() < 0.29


def test_ofdm_without_fading_learns_like_the_gaussian_channel(mnist, rng):
    """With a budget for the whole round both add noise of the same variance."""
    shards = partition_by_label(mnist.y_train, 10, 2, np.random.default_rng(0))
    ofdm = OfdmLink(snr_db=10.0, fading=NoFading(), budget="round")
    losses, gains, errors = [], [], []
    for _ in range(6):
        runs = [(Cotaf(), GaussianLink(snr_db=10.0)), (Cotaf(), ofdm)]
        pair = train_together(
            runs,
            Problem(LogisticRegression(784, 10), mnist, shards),
            rounds=15,
            steps=5,
            sgd=Sgd(0.1, 50),
            test_every=15,
            seed=int(rng.integers(2**32)),
        )
        losses.append([history["test_loss"][-1] for history in pair])
        gains.append([history["gain"][0] for history in pair])
        errors.append([history["nmse"][0] for history in pair])
    np.testing.assert_allclose(*np.transpose(gains), rtol=1e-4)  # the same energy, the same limit
    # of the same sums, each the mean of d squared normals
    spread = np.sqrt(2 * 2 / (7850 * len(errors)))
    assert abs(np.mean(np.log(errors), axis=0) @ [1, -1]) < 5 * spread
    difference = np.subtract(*np.transpose(losses))
    assert abs(difference.mean()) < 5 * difference.std(ddof=1) / np.sqrt(len(difference))
    assert np.std(losses) > 0  # noise did come in
