"""Estimates of the constants of Theorem 2."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from fl import (
    Acpc,
    LogisticRegression,
    Problem,
    Sgd,
    partition_by_label,
    quadratic_problem,
    train,
)
from fl.constants import estimate_constants
from links import GaussianLink, IdealLink
from tests.fl.problems import blobs


def test_gap_is_that_of_the_run():
    """F(x_0) with weight decay and unequal clients: alpha = 1/4, 3/4 and F = 2, 1 at x_0 = 3."""
    problem = quadratic_problem([[[1.0]], [[2.0]]], [[1.0], [4.0]], samples=3, start=[3.0])
    problem = replace(problem, shards=[problem.shards[0][:1], problem.shards[1]])
    history = train(
        Acpc(), IdealLink(), problem, rounds=2, steps=1,
        sgd=Sgd(0.1, None, weight_decay=0.5),
    )  # fmt: skip
    assert history.start.tolist() == [3.0]
    constants = estimate_constants(history, problem)
    assert constants.gap == pytest.approx(2 / 4 + 3 / 4 + 0.25 * 9)
    assert constants.smoothness == pytest.approx(2.5, rel=1e-6)
    assert constants.gradient_variance == 0
    above = estimate_constants(history, problem, lowest_loss=1.0)
    assert above.gap == pytest.approx(constants.gap - 1)


def test_constants_of_logistic_regression(rng):
    """At x = 0 the Hessian is (I - 11^T/C)/C (x) X^T X / n: its norm is that of X^T X / (n C)."""
    data = blobs(rng)
    shards = partition_by_label(data.y_train, 4, 4, rng)
    problem = Problem(LogisticRegression(12, 4), data, shards)
    history = train(
        Acpc(), GaussianLink(snr_db=20), problem, rounds=1, steps=1,
        sgd=Sgd(1e-9, 10, weight_decay=0.01),
    )  # fmt: skip
    constants = estimate_constants(history, problem)
    x = np.column_stack([data.x_train / 255, np.ones(len(data.x_train))])
    curvature = max(np.linalg.norm(x[s].T @ x[s] / len(s), 2) for s in shards) / 4
    assert constants.smoothness == pytest.approx(curvature + 0.01, rel=0.02)
    assert constants.gap == pytest.approx(np.log(4), rel=1e-4)
    assert constants.gradient_bound == history["largest_gradient"].max()
