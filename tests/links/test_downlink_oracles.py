"""Cross-cutting: what downlink noise adds to the next model of quadratics, in closed form.

One gradient step of rate 1/2 over an exact uplink, with weights 1/4 and 3/4 and the Hessians

    H_1 = diag(1, 3),   H_2 = [[2, 1], [1, 4]],   sum_i alpha_i H_i = [[1.75, 0.75], [0.75, 3.75]]

so that tr(H_1^2) = 10, tr(H_2^2) = 22, tr((I - H_1/2)^2) = 1/2 and tr((I - H_2/2)^2) = 3/2. A run
has many copies of these two entries side by side, each with noise of its own.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
import pytest

from fl import Acpc, Broadcast, Cotaf, FedAvg, FedNova, Sgd, quadratic_problem, train
from fl.streams import Purpose, stream
from links import GaussianDownlink, IdealLink, OfdmDownlink, QuantisedDownlink
from phy import NoFading
from tests.tolerance import check_mean

H = [[[1.0, 0.0], [0.0, 3.0]], [[2.0, 1.0], [1.0, 4.0]]]
E = [[1.0, -2.0], [0.5, 3.0]]
ONE_STEP = {"rounds": 1, "steps": 1, "sgd": Sgd(0.5, None), "progress": False}
RUNS, COPIES = 60, 50


def weighted_quadratics(start, more=()):
    """Client 1 has one sample and client 2 has three: weights 1/4 and 3/4.

    Entries of ``more`` come last; there H_i = 1.
    """
    ones = np.eye(len(more))
    size = 2 * COPIES + len(more)
    hessians = np.zeros((2, size, size))
    for each, whole in zip(H, hessians, strict=True):
        whole[: 2 * COPIES, : 2 * COPIES] = np.kron(np.eye(COPIES), each)
        whole[2 * COPIES :, 2 * COPIES :] = ones
    linear = [[*np.tile(each, COPIES), *np.zeros(len(more))] for each in E]
    problem = quadratic_problem(hessians, linear, samples=3, start=[*np.tile(start, COPIES), *more])
    return replace(problem, shards=[problem.shards[0][:1], problem.shards[1]])


PROBLEM = weighted_quadratics([3.0, 4.0])


def squared_errors(algorithm, downlink, rng, problem=PROBLEM):
    """||x_1 - x_1 without noise||^2 of each copy in independent runs."""
    exact = train(algorithm, IdealLink(), problem, **ONE_STEP).model
    models = [
        train(algorithm, IdealLink(), problem, downlink=downlink, seed=seed, **ONE_STEP).model
        for seed in rng.integers(2**32, size=RUNS).tolist()
    ]
    errors = (np.array(models) - exact)[:, : 2 * COPIES].reshape(RUNS, COPIES, 2)
    return np.square(errors).sum(axis=2)


# ||x||^2 = 50 25, sigma^2 = 0.01 and P = 50 4: s^2 = 0.01 25 / 4 = 1/16 per entry
ZERO_FORCING = {"equaliser": "zero-forcing", "fading": NoFading()}
INDEPENDENT = {
    "gaussian": GaussianDownlink(snr_db=20.0, power=200.0),
    "ofdm": OfdmDownlink(snr_db=20.0, power=200.0, **ZERO_FORCING),
}


@pytest.mark.parametrize("downlink", INDEPENDENT)
def test_independent_noise_under_differences(downlink, rng):
    """eta^2 sum_i alpha_i^2 tr(H_i^2) s^2 = 1/4 (10/16 + 9 22/16) / 16 = 3.25 / 16."""
    check_mean(squared_errors(Cotaf(), INDEPENDENT[downlink], rng), 0.203125)


@pytest.mark.parametrize("downlink", INDEPENDENT)
def test_independent_noise_under_whole_models(downlink, rng):
    """sum_i alpha_i^2 tr((I - eta H_i)^2) s^2 = (1/32 + 27/32) / 16 = 0.875 / 16."""
    check_mean(squared_errors(FedAvg(), INDEPENDENT[downlink], rng), 0.0546875)


@dataclass(frozen=True)
class SameNoise:
    """Noise of standard deviation 1/4 on every entry, the same for all clients."""

    def open(self, num_clients, length, rng, *, clients=None, time=0.0, device_rng=None):
        @dataclass(frozen=True)
        class Opened:
            def broadcast(self, vector):
                received = vector + 0.25 * rng.standard_normal(length)
                return Broadcast(np.tile(received, (num_clients, 1)), {})

        return Opened()


def test_common_noise_under_differences(rng):
    """eta^2 tr((sum_i alpha_i H_i)^2) s^2 = 18.25 / 4 / 16."""
    check_mean(squared_errors(Cotaf(), SameNoise(), rng), 0.28515625)


def test_common_noise_under_whole_models(rng):
    """tr((I - eta sum_i alpha_i H_i)^2) s^2 = 1.0625 / 16."""
    check_mean(squared_errors(FedAvg(), SameNoise(), rng), 0.06640625)


@pytest.mark.parametrize(
    ("algorithm", "expected"), [(Cotaf(), 4.5625), (FedAvg(), 1.0625)], ids=repr
)
def test_the_quantised_downlink_has_common_noise(algorithm, expected, rng):
    """Two bits from -3 to 3: 0 and 2 lie half-way between levels, s^2 = 2^2/4 = 1; 3 is exact.

    The last entry, which scales the quantiser, has a Hessian of its own.
    """
    problem = weighted_quadratics([0.0, 2.0], more=[3.0])
    errors = squared_errors(algorithm, QuantisedDownlink(bits=2), rng, problem)
    check_mean(errors, expected)


def test_every_algorithm_adds_differences_to_the_servers_own_model():
    """After one step each, all weighted sums of differences are the same one, worked out here."""
    downlink = GaussianDownlink(snr_db=20.0)
    start, alpha = PROBLEM.model.start, np.array([0.25, 0.75])
    options = {**ONE_STEP, "downlink": downlink, "seed": 5}
    whole = train(FedAvg(), IdealLink(), PROBLEM, **options).model
    opened = downlink.open(2, 2 * COPIES, stream(5, 0, Purpose.DOWNLINK))
    received = opened.broadcast(start).received
    curved = np.einsum("ijk,ick->icj", H, received.reshape(2, COPIES, 2))
    gradients = (curved - np.array(E)[:, None]).reshape(2, -1)
    for algorithm in (Cotaf(), Acpc(), FedNova(), FedAvg(sends="updates")):
        model = train(algorithm, IdealLink(), PROBLEM, **options).model
        np.testing.assert_allclose(model, start - 0.5 * alpha @ gradients, rtol=1e-6)
    np.testing.assert_allclose(whole, alpha @ (received - 0.5 * gradients), rtol=1e-6)
