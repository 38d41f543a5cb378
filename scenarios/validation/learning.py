"""What the paper proves about learning, measured in training runs."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from fl import Acpc, Cotaf, FedAvg, FedNova, Sgd, quadratic_problem, train, train_together
from fl.constants import estimate_constants
from fl.quadratic import default_quadratic
from fl.theory import example1_limit, theorem1_floor, theorem2_of
from links import GaussianLink, IdealLink
from links.radio import noise_of
from scenarios.validation.claims import Claim, at_least, at_most, mean_is
from scenarios.validation.oracle import Chapter

ORACLES = Chapter()


def _seeded(rng: np.random.Generator) -> dict[str, Any]:
    """Return the options of a training without progress, with a seed of its own."""
    return {"seed": int(rng.integers(2**32)), "progress": False}


@ORACLES.law("Theorem 1", r"d\,\frac{\eta^2 \sigma^2 + \sigma_c^2}{1 - (1 - \eta L)^2}")
def theorem1(rng: np.random.Generator) -> Iterator[Claim]:
    """Mean squared distance from the optimum that SGD with channel noise settles at."""
    size, smoothness, rate, batch = 40, 2.0, 0.2, 4
    hessians, linear = smoothness * np.eye(size)[None], np.zeros((1, size))
    problem = quadratic_problem(hessians, linear, samples=2000, noise_std=1.0, rng=rng)
    options: dict[str, Any] = {"sgd": Sgd(rate, batch), "steps": 1, "rounds": 4000}
    run = train(FedAvg(), GaussianLink(snr_db=20.0), problem, **options, **_seeded(rng))
    # (1 - eta L)^2 = 0.36 per round: after 20 rounds no correlation is left
    settled = (2 / smoothness * run["test_loss"])[50::20]
    floor = theorem1_floor(rate, smoothness, 1.0 / batch, 0.01, size)
    yield mean_is("d = 40, 20 dB: squared distance to the optimum", settled, floor)


@ORACLES.law("Example 1", r"\hat{x} = \left[\sum_i w_i K_i H_i\right]^{-1} \sum_i w_i K_i e_i")
def example1(rng: np.random.Generator) -> Iterator[Claim]:
    """Limits of averaging and of normalising by the steps on quadratics."""
    roots = rng.standard_normal((3, 4, 4))
    hessians = roots @ roots.swapaxes(1, 2) / 4 + 0.5 * np.eye(4)
    problem = quadratic_problem(hessians, rng.standard_normal((3, 4)))
    steps, rate, alpha = np.array([1, 3, 8]), 0.05, np.full(3, 1 / 3)
    options: dict[str, Any] = {"rounds": 1000, "test_every": 1000, "progress": False}
    for algorithm, weights in ((Cotaf(), alpha), (FedNova(), alpha / steps)):
        run = train(algorithm, IdealLink(), problem, steps=steps, sgd=Sgd(rate, None), **options)
        limit = example1_limit(hessians, problem.linear, weights, steps, rate)
        name = "averaging" if isinstance(algorithm, Cotaf) else "normalised by steps"
        away = np.linalg.norm(run.model - limit)
        yield at_most(f"{name}: distance from the limit of theory", away, 1e-7)
        if isinstance(algorithm, Cotaf):
            wrong = np.linalg.norm(run.model - problem.optimum(alpha))
            yield at_least("averaging: distance from the optimum", wrong, 1e-3)


@ORACLES.law(
    "Theorem 2",
    r"\frac{2 (F(x_0) - F^*)}{T \eta} + L \eta \sigma^2 \sum_i \alpha_i^2 "
    r"+ m L^2 \eta^2 G^2 \sum_i \alpha_i^2 \tau_i^2 + \frac{d L \sigma_c^2}{\eta \beta^2}",
)
def theorem2(rng: np.random.Generator) -> Iterator[Claim]:
    """Smallest squared gradient norm beside the bound."""
    problem, link = default_quadratic(), GaussianLink(snr_db=20.0)
    options: dict[str, Any] = {"rounds": 60, "sgd": Sgd(0.2, 10), "measure_gradient": True}
    run = train(Acpc(G=20.0), link, problem, **options, **_seeded(rng))
    constants = estimate_constants(run, problem)
    bound = theorem2_of(run, constants, noise_of(link, problem.model.size).variance)
    smallest = np.minimum.accumulate(run["squared_gradient_norm"])
    ratio = (smallest / bound.total).max()
    yield at_most("60 rounds: least squared gradient over the bound, largest", ratio, 1.0)


@ORACLES.law("ACPC-OTA-FL with equal steps", r"\text{is COTAF with a server step of } 1/\tau")
def equal_steps(rng: np.random.Generator) -> Iterator[Claim]:
    """ACPC-OTA-FL with equal steps equals COTAF with a server step of 1/tau."""
    problem, link, tau = default_quadratic(), GaussianLink(snr_db=20.0), 5
    runs = [(Acpc(beta="realised"), link), (Cotaf(server_step=1 / tau), link)]
    options: dict[str, Any] = {"steps": tau, "rounds": 20, "sgd": Sgd(0.1, 10)}
    acpc, cotaf = train_together(runs, problem, **options, **_seeded(rng))
    error = np.abs(acpc.model - cotaf.model).max() / np.abs(cotaf.model).max()
    yield at_most("20 rounds of 5 steps: largest relative difference", error, 1e-5)
