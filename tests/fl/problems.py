"""Small problems that several tests train on."""

from __future__ import annotations

import numpy as np

from fl import Dataset, QuadraticProblem, quadratic_problem


def two_parabolas(samples: tuple[int, int] = (1, 1)) -> QuadraticProblem:
    """F_1 = 1/2 (x - 1)^2 and F_2 = (x - 3)^2 - 9 + 9: H = 1, 2 and e = 1, 6."""
    problem = quadratic_problem([[[1.0]], [[2.0]]], [[1.0], [6.0]], samples=max(samples))
    kept = [shard[:count] for shard, count in zip(problem.shards, samples, strict=True)]
    return QuadraticProblem(problem.model, problem.linear, problem.data, kept)


def blobs(rng: np.random.Generator, samples: int = 400, features: int = 12) -> Dataset:
    """Four classes about four centres, as bytes."""
    centres = rng.uniform(60, 200, (4, features))
    labels = np.arange(2 * samples) % 4
    values = centres[labels] + rng.normal(0, 20, (2 * samples, features))
    x = np.clip(values, 0, 255).astype(np.uint8)
    return Dataset(x[:samples], labels[:samples], x[samples:], labels[samples:])
