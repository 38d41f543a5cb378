"""Files as a researcher would write them, for tests of user-defined parts."""

from __future__ import annotations

VOTE = '''
"""Votes over the air."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import otafl
from helper import sign


@dataclass(frozen=True)
class Vote(otafl.Algorithm):
    """Clients send signs, the server moves by the sign of their sum."""

    server_step: float = 0.02

    def aggregate(self, current, plan, updates, steps):
        votes = current.weights[:, None] * sign(updates)
        gain = current.uplink.max_gain(votes)
        received = current.uplink.send(votes, gain, weights=current.weights)
        model = current.model + self.server_step * np.sign(received.total)
        return otafl.Outcome(model.astype(np.float32), received, gain)
'''
HELPER = """
import numpy as np


def sign(updates):
    return np.sign(updates)
"""
PARTS = '''
from dataclasses import dataclass, field

import numpy as np
import otafl


@dataclass(frozen=True)
class TwoPaths(otafl.Fading):
    echo_power: float = 0.3
    echo_delay: float = 500e-9

    @property
    def delays(self):
        return np.array([0.0, self.echo_delay])

    def draw(self, clients, times, rng, device_rng):
        powers = np.array([1 - self.echo_power, self.echo_power])
        parts = rng.standard_normal((2, len(clients), 1, 2))
        gains = np.sqrt(powers / 2) * (parts[0] + 1j * parts[1])
        gains = np.repeat(gains, len(times), axis=1)
        return otafl.Taps(gains.astype(np.complex64), self.delays)


@dataclass(frozen=True)
class Coarse(otafl.Csi):
    bits: int = 4
    additive = False

    def estimate(self, observed, rng):
        step = 2 * np.pi / 2**self.bits
        phase = step * np.round(np.angle(observed.response) / step)
        return (np.abs(observed.response) * np.exp(1j * phase)).astype(np.complex64)

    def error_variance(self, grid, path_gain):
        return np.zeros((len(path_gain), grid.num_carriers))


@dataclass(frozen=True)
class Leakage(otafl.Impairment):
    std: float = 0.01
    before = "rapp"

    @property
    def device_draws(self):
        return ("Leakage",)

    def apply(self, samples, slot):
        level = slot.devices.values("Leakage", 0.0, self.std) * slot.rms
        return samples + level[:, None].astype(np.float32)


@dataclass(frozen=True)
class Sum:
    """An exact sum, over a fading that it ignores."""

    power: float = 1.0
    fading: otafl.Fading = field(default_factory=otafl.Rayleigh)

    def open(self, num_clients, length, rng, *, clients=None, time=0.0, device_rng=None):
        return otafl.IdealLink().open(num_clients, length, rng)


@dataclass(frozen=True)
class Ridge(otafl.LogisticRegression):
    """Logistic regression that starts elsewhere."""

    start: float = 0.0

    def initial(self, rng):
        return np.full(self.size, self.start, np.float32)


@dataclass(frozen=True)
class Blobs:
    """Classes around random centres."""

    classes: int = 4
    spread: float = 0.5

    def load(self):
        rng = np.random.default_rng(0)
        centres = rng.standard_normal((self.classes, 6))
        y = np.arange(400) % self.classes
        x = centres[y] + self.spread * rng.standard_normal((400, 6))
        return otafl.Dataset(x[:300], y[:300], x[300:], y[300:])


@dataclass(frozen=True)
class Halves:
    """The samples in as many runs as there are clients."""

    clients: int = 2

    def shards(self, data, rng):
        return np.array_split(np.arange(len(data.y_train)), self.clients)
'''


def write_all(folder):
    """Write every file."""
    (folder / "vote.py").write_bytes(VOTE.replace("\n", "\r\n").encode())  # as on Windows
    (folder / "helper.py").write_text(HELPER)
    (folder / "parts.py").write_text(PARTS)
    return folder


def content(**tables):
    """Return a scenario in which every part is the user's."""
    base = {
        "title": "mine",
        "data": {"name": "parts.py:Blobs", "spread": 0.4, "partition": "parts.py:Halves"},
        "model": {"name": "parts.py:Ridge", "start": 0.1},
        "algorithm": {"name": "vote.py:Vote", "server_step": 0.01},
        "link": {
            "kind": "waveform",
            "entry_snr_db": 20.0,
            "fading": {"kind": "parts.py:TwoPaths", "echo_power": 0.2},
            "csi": {"kind": "aged", "delay": 0.0, "of": {"kind": "parts.py:Coarse", "bits": 5}},
            "transmit": {"rapp": {}, "leakage": {"kind": "parts.py:Leakage", "std": 0.2}},
        },
        "training": {"rounds": 2, "batch_size": 10, "steps": 2},
    }
    return {**base, **tables}
