"""Small problems that several tests train on."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from fl import Dataset, QuadraticProblem, Sgd, quadratic_problem, train
from links import IdealLink


def two_parabolas(samples: tuple[int, int] = (1, 1)) -> QuadraticProblem:
    """F_1 = 1/2 (x - 1)^2 and F_2 = (x - 3)^2: H = 1, 2 and e = 1, 6."""
    problem = quadratic_problem([[[1.0]], [[2.0]]], [[1.0], [6.0]], samples=max(samples))
    kept = [shard[:count] for shard, count in zip(problem.shards, samples, strict=True)]
    return replace(problem, shards=kept)


def run_parabolas(algorithm, link=None, steps=(1, 2), samples=(1, 1), rounds=1, **options):
    """Train on the two parabolas, by default for one round without noise, at learning rate 1/4."""
    return train(
        algorithm,
        IdealLink() if link is None else link,
        two_parabolas(samples),
        steps=steps,
        rounds=rounds,
        **{"sgd": Sgd(0.25, None), **options},
    )


def random_quadratics(rng, clients=3, size=4):
    roots = rng.standard_normal((clients, size, size))
    hessians = roots @ roots.swapaxes(1, 2) / size + 0.5 * np.eye(size)
    return quadratic_problem(hessians, rng.standard_normal((clients, size)))


def blobs(rng: np.random.Generator, samples: int = 400, features: int = 12) -> Dataset:
    """Four classes about four centres, as bytes."""
    centres = rng.uniform(60, 200, (4, features))
    labels = np.arange(2 * samples) % 4
    values = centres[labels] + rng.normal(0, 20, (2 * samples, features))
    x = np.clip(values, 0, 255).astype(np.uint8)
    return Dataset(x[:samples], labels[:samples], x[samples:], labels[samples:])
