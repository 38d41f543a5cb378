"""A problem is validated when it is constructed."""

from __future__ import annotations

import numpy as np
import pytest

from fl import Classifier, Cotaf, LogisticRegression, Mlp, Problem, train
from links import IdealLink


@pytest.mark.parametrize(
    ("shards", "message"),
    [
        ([], "shards must be one list of indices per client, got .."),
        ([[0, 1], []], "shards.1. must be .* at least one sample, got float64 of shape .0,."),
        ([[0, 400]], "shards.0. must be indices from 0 to 399, the last of 400 samples, got 400"),
        ([[0, -1]], "shards.0. must be indices .*, got -1"),
        ([[0, 1], [1, 2]], "shards must be disjoint, got sample 1 more than once"),
        ([[0.5]], "shards.0. must be .*, got float64 of shape .1,."),
    ],
)
def test_refused_shards(shards, message, data):
    with pytest.raises(ValueError, match=message):
        Problem(LogisticRegression(12, 4), data, [np.array(shard) for shard in shards])


def test_no_model_means_logistic_regression(data, shards):
    problem = Problem(None, data, shards)
    assert problem.model == LogisticRegression(12, 4)
    assert problem.num_clients == 4
    np.testing.assert_allclose(problem.weights, 0.25)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"data": "mnist"}, "data must be a Dataset, such as load_dataset returns, got 'mnist'"),
        ({"model": Mlp}, "model must be a model, such as Mlp.784, 10. .*, got <class .*Mlp.>"),
        ({"model": 3}, "model must be a model, such as .*, got 3"),
        ({"model": LogisticRegression(12, 3)}, "each of the 4 classes .*, which has 3"),
        ({"shards": []}, "shards must be one list of indices per client"),
    ],
)
def test_refused_parts(change, message, data, shards):
    with pytest.raises(ValueError, match=message):
        Problem(**{"model": None, "data": data, "shards": shards, **change})


class HalfModel(LogisticRegression):
    def initial(self, rng):
        return np.zeros(self.size, np.float16)


def test_initial_model_is_checked(data, shards, rng):
    assert not Problem(None, data, shards).initial_model(rng).any()
    with pytest.raises(ValueError, match="float32 or float64 of shape .52,., got float16"):
        Problem(HalfModel(12, 4), data, shards).initial_model(rng)


class TwoScores(Classifier):
    """A classifier without num_classes."""

    size = 2

    def initial(self, rng):
        return np.zeros(2)

    def features(self, x):
        return np.asarray(x, float)

    def gradient(self, params, x, y):
        return np.zeros_like(params)

    def scores(self, params, x):
        return np.zeros((*params.shape[:2], 2, x.shape[1]))


def test_scores_are_counted_when_training_begins(data, shards):
    problem = Problem(TwoScores(), data, shards)
    with pytest.raises(ValueError, match="each of the 4 classes .*, which has 2"):
        train(Cotaf(), IdealLink(), problem, rounds=1)


def test_misspelt_options_are_named(data, shards):
    with pytest.raises(TypeError, match="Problem has no option 'shard'; did you mean 'shards'"):
        Problem(model=None, data=data, shard=shards)
