"""Training is repeatable, the same together as alone, and records its metrics."""

from __future__ import annotations

import inspect

import numpy as np
import pytest
from threadpoolctl import threadpool_info, threadpool_limits

from fl import (
    Acpc,
    Cotaf,
    FedAvg,
    train,
    train_together,
)
from links import GaussianLink, IdealLink, OfdmLink
from tests.fl.runs import OPTIONS, check_same


def test_same_seed_same_result(problem):
    link = OfdmLink(entry_snr_db=10.0)
    one, same, other = (
        train(Acpc(), link, problem, rounds=5, **{**OPTIONS, "seed": seed}) for seed in (1, 1, 2)
    )
    check_same(one, same)
    assert (one.model != other.model).any()
    assert (one["steps"] != other["steps"]).any()


def test_together_equals_alone(problem):
    """Up to the rounding of larger matrix products."""
    runs = [
        (algorithm, link)
        for algorithm in (Acpc(beta="realised"), Cotaf(), FedAvg())
        for link in (GaussianLink(snr_db=10.0), IdealLink())
    ]
    together = train_together(runs, problem, rounds=5, **OPTIONS)
    for (algorithm, link), history in zip(runs, together, strict=True):
        check_same(train(algorithm, link, problem, rounds=5, **OPTIONS), history, rtol=1e-3)


def test_alone_and_together_take_the_same_options():
    alone, together = (
        {
            name: (option.default, option.annotation)
            for name, option in inspect.signature(function).parameters.items()
            if option.kind is option.KEYWORD_ONLY
        }
        for function in (train, train_together)
    )
    assert alone == together
    assert len(alone) == 13


def test_runs_are_paired(problem):
    """The same minibatches, local steps, channels and noise, whatever the SNR."""
    runs = [(Cotaf(), OfdmLink(entry_snr_db=snr)) for snr in (np.inf, 200.0, 30.0)]
    clean, almost, noisy = train_together(runs, problem, rounds=4, **OPTIONS)
    np.testing.assert_array_equal(clean["steps"], noisy["steps"])
    np.testing.assert_array_equal(clean["active_fraction"], noisy["active_fraction"])
    assert clean["train_loss"][0] == noisy["train_loss"][0]
    np.testing.assert_allclose(clean.model, almost.model, atol=1e-5)


def test_metrics_are_those_of_the_rounds(problem):
    link = OfdmLink(entry_snr_db=10.0)
    history = train(
        Cotaf(), link, problem, rounds=6, test_every=3, measure_gradient=True, **OPTIONS
    )
    tested = np.array([False, False, True, False, False, True])
    for name in ("test_accuracy", "test_loss", "squared_gradient_norm"):
        np.testing.assert_array_equal(np.isnan(history[name]), ~tested)
    assert history.final_accuracy(1) == history["test_accuracy"][-1]
    assert history.final_accuracy() == history["test_accuracy"][[2, 5]].mean()
    np.testing.assert_allclose(np.diff(history["airtime"]), history["airtime"][0])
    assert (np.diff(history["radiated_energy"], axis=0) > 0).all()
    assert (history["worst_symbol_energy"] <= history["energy"]).all()
    # some client is at its limit
    np.testing.assert_allclose(history["load"].max(axis=1), 1, rtol=1e-4)
    assert (history["rate"] == 0.5).all()
    assert f"Cotaf, 6 rounds, accuracy {history['test_accuracy'][-1]:.1%}, NMSE" in repr(history)
    assert repr(history).endswith("load up to 1, 0% scaled down)")
    with pytest.raises(KeyError, match="'accuracy': the metrics are rate"):
        history["accuracy"]


@pytest.mark.parametrize(
    ("rounds", "tested"), [(1, [1]), (3, [3]), (4, [3, 4]), (6, [3, 6]), (8, [3, 6, 8])]
)
def test_the_last_round_is_always_tested(rounds, tested, problem):
    seen = []
    history = train(
        Cotaf(), IdealLink(), problem, rounds=rounds, test_every=3, measure_gradient=True,
        on_round=lambda number, rows: seen.append(float(rows[0]["test_accuracy"])), **OPTIONS,
    )  # fmt: skip
    for name in ("test_accuracy", "test_loss", "squared_gradient_norm"):
        assert (1 + np.flatnonzero(~np.isnan(history[name]))).tolist() == tested
    np.testing.assert_array_equal(seen, history["test_accuracy"])


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"rounds": 0}, "rounds must be a whole number >= 1, got 0"),
        ({"rounds": 2.5}, "rounds must .* got 2.5"),
        ({"seed": -1}, "seed must be a whole number >= 0, got -1"),
        ({"round_period": np.nan}, "round_period must .* got nan"),
        ({"test_every": 0}, "test_every must .* got 0"),
    ],
)
def test_refused(options, message, problem):
    with pytest.raises(ValueError, match=message):
        train(Cotaf(), IdealLink(), problem, **{"rounds": 1, **options})


@pytest.mark.parametrize(
    ("name", "instead"),
    [
        ("lr", "write sgd=Sgd.rate=...."),
        ("learning_rate", "write sgd=Sgd.rate=...."),
        ("Batch_Size", "write sgd=Sgd.batch_size=...."),
        ("epochs", "write rounds=..."),
        ("local_steps", "write steps=..."),
        ("model", "write problem=Problem.model, data, shards."),
        ("sede", "did you mean 'seed'"),
        ("Rounds", "did you mean 'rounds'"),
    ],
)
def test_misspelt_options_are_named(name, instead, problem):
    for call in (train, train_together):
        with pytest.raises(TypeError, match=f"{call.__name__} has no option '{name}'; {instead}"):
            call(**{name: 3})


def test_a_problem_is_asked_for(data):
    with pytest.raises(ValueError, match="problem must be a Problem.model, data, shards., got"):
        train(Cotaf(), IdealLink(), data, rounds=1)


def test_training_takes_one_blas_thread(problem):
    """More threads are many times slower where processors are shared."""

    def threads():
        return {pool["num_threads"] for pool in threadpool_info() if pool["user_api"] == "blas"}

    seen = set()
    with threadpool_limits(2, "blas"):
        before = threads()
        train(
            Cotaf(),
            IdealLink(),
            problem,
            rounds=1,
            on_round=lambda number, rows: seen.update(threads()),
            **OPTIONS,
        )
        assert threads() == before
    assert seen == {1}
