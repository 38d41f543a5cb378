"""The protocols, implemented by user-defined links in plain NumPy."""

from __future__ import annotations

import numpy as np

from fl import Downlink, Link, Reception, Uplink
from links import FadingLink, GaussianLink, IdealLink, OfdmLink, OrthogonalLink, WaveformLink


class SignLink:
    """Majority vote: the sum of signs, without noise."""

    def open(self, num_clients, length, rng, *, clients=None, time=0.0, device_rng=None):
        return SignUplink(num_clients)


class SignUplink:
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
    uplink = link.open(2, 3, np.random.default_rng(1))
    gain = min(float(uplink.max_gain(signals)), 1.0)
    return uplink.send(signals, gain)


def test_a_user_defined_link_beside_the_others():
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


class Echo:
    """A downlink with one dead client."""

    def open(self, num_clients, length, rng, *, clients=None, time=0.0, device_rng=None):
        return EchoOpened(num_clients)


class EchoOpened:
    def __init__(self, num_clients):
        self.num_clients = num_clients

    def broadcast(self, vector):
        received = np.tile(np.asarray(vector), (self.num_clients, 1))
        received[0] = 0
        return received


def test_a_downlink_mirrors_the_uplink():
    assert isinstance(Echo(), Downlink)
    received = Echo().open(3, 2, np.random.default_rng(1)).broadcast([1.0, 2.0])
    assert received.tolist() == [[0, 0], [1, 2], [1, 2]]


def test_protocols_tell_links_from_others():
    assert isinstance(SignLink(), Link)
    assert isinstance(SignLink().open(2, 3, np.random.default_rng(1)), Uplink)
    assert not isinstance(Echo().open(2, 3, np.random.default_rng(1)), Uplink)
    assert not isinstance(3, Link)
