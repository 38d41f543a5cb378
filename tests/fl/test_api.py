"""The protocol as a user of NumPy meets it: a link of one's own."""

from __future__ import annotations

import numpy as np

from fl import Link, Reception
from links import FadingLink, GaussianLink, IdealLink, OfdmLink, OrthogonalLink, WaveformLink


class SignLink:
    """Majority vote: the sum of signs, without noise."""

    def open(self, num_clients, length, rng, *, clients=None, time=0.0, device_rng=None):
        return SignSlot(num_clients)


class SignSlot:
    def __init__(self, num_clients):
        self.budget = np.full((num_clients, 1), np.inf)

    def energy(self, signals):
        return np.square(signals).sum(axis=-1, keepdims=True)

    def load(self, signals):
        return np.zeros(len(signals))

    def max_gain(self, signals):
        return np.inf

    def send(self, signals, gain, *, weights=None, enforce=True):
        return Reception(np.sign(signals).sum(axis=0), np.zeros((len(signals), 1)), {})


def run(link: Link) -> Reception:
    signals = np.array([[1.0, -2.0, 3.0], [4.0, 5.0, -6.0]])
    slot = link.open(2, 3, np.random.default_rng(1))
    gain = min(float(slot.max_gain(signals)), 1.0)
    return slot.send(signals, gain)


def test_a_link_of_ones_own_serves_beside_the_others():
    np.testing.assert_array_equal(run(SignLink()).total, [2, 0, 0])
    for link in (
        IdealLink(),
        GaussianLink(),
        FadingLink(),
        OfdmLink(),
        WaveformLink(),
        OrthogonalLink(),
    ):
        reception = run(link)
        assert reception.total.shape == (3,)
        assert {"nmse", "airtime", "radiated_energy"} <= set(reception.diagnostics)
        assert np.shape(reception.diagnostics["radiated_energy"]) == (2,)
