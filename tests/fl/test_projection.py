"""Random projections: shapes, adjoints, scale and determinism."""

from __future__ import annotations

import tracemalloc

import numpy as np
import pytest

from fl import projection
from fl.projection import DctProjection, GaussianProjection
from fl.streams import Purpose, stream

BOTH = pytest.mark.parametrize("kind", [GaussianProjection, DctProjection])


@BOTH
@pytest.mark.parametrize(("rows", "size"), [(1, 1), (1, 7), (30, 100), (100, 100)])
def test_adjoint(kind, rows, size, rng):
    """<A x, y> = <x, A^T y>, for one vector and for several."""
    A = kind(rows, size, seed=int(rng.integers(2**62)))  # noqa: N806
    x, y = rng.standard_normal((3, size)), rng.standard_normal((3, rows))
    forward, adjoint = A.forward(x), A.adjoint(y)
    assert forward.shape == (3, rows)
    assert adjoint.shape == (3, size)
    np.testing.assert_allclose((forward * y).sum(), (x * adjoint).sum(), rtol=1e-10, atol=1e-10)
    np.testing.assert_allclose(A.forward(x[0]), forward[0], rtol=1e-10, atol=1e-12)
    np.testing.assert_allclose(A.adjoint(y[0]), adjoint[0], rtol=1e-10, atol=1e-12)


@BOTH
def test_linear(kind, rng):
    A = kind(20, 50)  # noqa: N806
    one, other = rng.standard_normal((2, 50))
    together = A.forward(2 * one - 3 * other)
    np.testing.assert_allclose(together, 2 * A.forward(one) - 3 * A.forward(other), atol=1e-12)


@BOTH
def test_keeps_the_norm_on_average(kind, rng):
    """E||A x||^2 = ||x||^2, even of a vector with a single entry.

    For Gaussian entries ||A x||^2 / ||x||^2 is chi-squared over n, of variance 2/n = 0.1. For the
    DCT of one entry a coefficient's square is at most 2/d, so that the ratio is between 0 and 2:
    its variance is at most 1.
    """
    x = np.zeros(40)
    x[int(rng.integers(40))] = 3.0
    ratios = [
        np.square(kind(20, 40, seed=int(rng.integers(2**62))).forward(x)).sum() / 9
        for _ in range(2000)
    ]
    spread = np.sqrt(0.1) if kind is GaussianProjection else np.std(ratios)
    assert spread <= 1
    assert abs(np.mean(ratios) - 1) < 5 * spread / np.sqrt(2000)


def test_gaussian_entries(rng):
    """Independent N(0, 1/n): variance 1/50 and kurtosis 3 of 50,000 entries, columns apart."""
    A = GaussianProjection(50, 1000, seed=int(rng.integers(2**62)))  # noqa: N806
    matrix = A.forward(np.eye(1000)).T
    assert matrix.shape == (50, 1000)
    assert abs(matrix.mean()) < 5 * np.sqrt(1 / 50 / 50_000)
    assert abs(50 * matrix.var() - 1) < 5 * np.sqrt(2 / 50_000)
    assert abs(2500 * np.mean(matrix**4) - 3) < 5 * np.sqrt(96 / 50_000)
    assert abs(50 * np.mean(matrix[:, 1:] * matrix[:, :-1])) < 5 / np.sqrt(50 * 999)


def test_dct_rows_are_orthogonal():
    """A A^T = (d / n) I with d / n = 4."""
    A = DctProjection(10, 40, seed=7)  # noqa: N806
    matrix = A.forward(np.eye(40)).T
    np.testing.assert_allclose(matrix @ matrix.T, 4 * np.eye(10), atol=1e-12)


def test_dct_of_all_coefficients_is_orthogonal(rng):
    A = DctProjection(9, 9, seed=3)  # noqa: N806
    x = rng.standard_normal(9)
    np.testing.assert_allclose(A.adjoint(A.forward(x)), x, atol=1e-12)


def test_dct_by_hand():
    """d = 2: coefficients (a + b) / sqrt(2) and (a - b) / sqrt(2) of the entries with signs."""
    for seed in range(8):
        matrix = DctProjection(2, 2, seed=seed).forward(np.eye(2)).T
        np.testing.assert_allclose(np.abs(matrix), np.full((2, 2), np.sqrt(0.5)), atol=1e-12)
        assert np.prod(np.sign(matrix)) == -1


@BOTH
def test_a_function_of_the_seed(kind, rng):
    x = rng.standard_normal(30)
    assert (kind(10, 30, seed=4).forward(x) == kind(10, 30, seed=4).forward(x)).all()
    assert (kind(10, 30, seed=4).forward(x) != kind(10, 30, seed=5).forward(x)).any()


def test_blocks_differ_from_the_draws_of_a_run_and_of_a_population(monkeypatch, rng):
    """Streams of the same seed and number are others, those of a population's devices too."""
    monkeypatch.setattr(projection, "MOST_AT_ONCE", 1000)
    for seed in (0, int(rng.integers(2**62))):
        blocks = GaussianProjection(2, 1000, seed=seed).forward(np.eye(1000)).T * np.sqrt(2)
        for number, block in enumerate(blocks.astype(np.float32)):
            others = [
                np.random.Generator(np.random.Philox(key=[seed, number])),
                *(stream(seed, number, each) for each in Purpose if each != Purpose.PROJECTION),
                np.random.Generator(np.random.Philox(np.random.SeedSequence(seed))),
            ]
            for other in others:
                drawn = other.standard_normal(1000, np.float32)
                assert abs(block @ drawn) < 6 * np.sqrt(1000)


@BOTH
def test_precision(kind):
    A = kind(10, 30)  # noqa: N806
    for dtype in (np.float32, np.float64):
        assert A.forward(np.ones(30, dtype)).dtype == dtype
        assert A.adjoint(np.ones((2, 10), dtype)).dtype == dtype


def test_blocks_of_a_gaussian_matrix(monkeypatch, rng):
    """In blocks of 3 rows, 10 = 3 + 3 + 3 + 1: still a matrix, and its adjoint."""
    monkeypatch.setattr(projection, "MOST_AT_ONCE", 3 * 12)
    A = GaussianProjection(10, 12, seed=int(rng.integers(2**62)))  # noqa: N806
    matrix = A.forward(np.eye(12)).T
    assert matrix.shape == (10, 12)
    assert len(np.unique(matrix)) > 110  # no block is a copy of another
    np.testing.assert_allclose(A.adjoint(np.eye(10)), matrix, rtol=1e-6)
    monkeypatch.setattr(projection, "MOST_AT_ONCE", 3)  # less than a row
    assert GaussianProjection(10, 12).forward(np.eye(12)).shape == (12, 10)


def test_memory_of_a_gaussian_matrix(monkeypatch):
    """A matrix of 20 million entries, 80 MB, in blocks of 4 MB takes less than 20 MB at a time."""
    monkeypatch.setattr(projection, "MOST_AT_ONCE", 1_000_000)
    A = GaussianProjection(200, 100_000)  # noqa: N806
    tracemalloc.start()
    A.adjoint(A.forward(np.ones(100_000, np.float32)))
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 20e6


@BOTH
def test_refused(kind):
    with pytest.raises(ValueError, match="rows must be a whole number from 1 to 5, got 6"):
        kind(6, 5)
    with pytest.raises(ValueError, match="rows must be a whole number from 1 to 5, got 0"):
        kind(0, 5)
    with pytest.raises(ValueError, match="seed must be a whole number from 0"):
        kind(2, 5, seed=-1)
