"""Algorithms and options that several tests use, and when two runs are the same."""

from __future__ import annotations

import numpy as np

from fl import (
    Acpc,
    Adsgd,
    ClippedFedAvg,
    Cotaf,
    FedAdam,
    FedAvg,
    FedAvgM,
    FedNova,
    FedProx,
    FedYogi,
    Scaffold,
    Sgd,
    SignVote,
    UniformSteps,
)

ALGORITHMS = {
    "acpc": Acpc(),
    "acpc, largest": Acpc(steps="largest", tau_max=4),
    "acpc, previous": Acpc(beta="previous"),
    "acpc, realised": Acpc(beta="realised"),
    "clipped": ClippedFedAvg(),
    "adsgd": Adsgd(k=0.2),
    "adsgd, gaussian": Adsgd(entries=30, k=5, projection="gaussian"),
    "cotaf": Cotaf(),
    "fedavg": FedAvg(),
    "fednova": FedNova(),
    "sign votes": SignVote(),
    "sign votes, error feedback": SignVote(error_feedback=True),
    "cotaf, expected": Cotaf(precoding="expected"),
    "fedprox": FedProx(mu=0.1),
    "fedavgm": FedAvgM(FedNova()),
    "fedadam": FedAdam(Acpc(beta="previous")),
    "fedyogi": FedYogi(Cotaf(precoding="expected")),
    "scaffold": Scaffold(),
}
OPTIONS = {"steps": UniformSteps(1, 6), "sgd": Sgd(0.5, 10), "seed": 3}


def check_same(one, other, rtol=0.0):
    assert one.metrics.keys() == other.metrics.keys()
    for name in one.metrics:
        np.testing.assert_allclose(one[name], other[name], rtol=rtol, err_msg=name)
    np.testing.assert_allclose(one.model, other.model, rtol=rtol, atol=rtol)
    assert one.diverged == other.diverged
