"""Channels and CSI that are given instead of drawn, noise that is known beforehand, hardware."""

from __future__ import annotations

import numpy as np

from links import WaveformLink, realise
from phy import NoFading, OfdmGrid
from phy.csi import Csi
from phy.fading import Fading, Taps
from phy.randomness import complex_normal

TWO = OfdmGrid(fft_size=2, cp_length=0, guards=(0, 0), dc_null=False)  # two carriers: 4 entries
FULL = OfdmGrid(fft_size=64, cp_length=16, guards=(0, 0), dc_null=False)  # every carrier loaded
SYMBOLS = 10
SIGNALS = np.array([[1.0, 2.0, 3.0, 4.0], [10.0, 20.0, 30.0, 40.0]])


class FixedFading(Fading):
    """Path gains ``[num_clients, num_paths]`` and their delays [s]."""

    delays = None

    def __init__(self, gains, delays=(0.0,)):
        self.gains = np.asarray(gains, np.complex64)
        self.delays = np.asarray(delays, np.float64)

    def draw(self, clients, times, rng, device_rng):
        return Taps(self.gains[clients][:, None], self.delays)


class DistortedCsi(Csi):
    """What a function makes of the response, without saying so."""

    def __init__(self, distort):
        self.distort = distort

    def estimate(self, observed, rng):
        return self.distort(observed.response)

    def error_variance(self, grid, path_gain):
        return np.zeros((len(path_gain), grid.num_carriers))


def unit_noise(seed, entries):
    """What a link draws from that seed, in its order: real noise of unit variance."""
    pairs = complex_normal(np.random.default_rng(seed), (entries // 2,), std=np.sqrt(2))
    return pairs.view(np.float32)


def generators(rng, count):
    """One generator per realisation."""
    return [np.random.default_rng(seed) for seed in rng.integers(2**32, size=count)]


def relative(value, truth):
    """The largest error over the largest value."""
    return np.abs(value - truth).max() / np.abs(truth).max()


def sent_each(link, signals, gain, rng, **options):
    """Receptions of ``signals [n, m, d]``, each over an uplink of its own."""
    return realise(
        link,
        *signals.shape[1:],
        generators(rng, len(signals)),
        lambda uplink, n: uplink.send(signals[n], gain, **options),
    )


def through(rng, *, count=200, grid=FULL, **options):
    """Gaussian symbols of unit variance, sent and received: [count, SYMBOLS, carriers] each.

    The mean power of the samples is what the client is allowed.
    """
    length = 2 * grid.num_carriers * SYMBOLS
    plain = {
        "grid": grid,
        "fading": NoFading(),
        "truncation": 0.0,
        "snr_db": np.inf,
        "power": float(SYMBOLS * grid.num_carriers),
        "interleaver_seed": None,
    }
    link = WaveformLink(**plain | options)
    signals = rng.normal(scale=np.sqrt(0.5), size=(count, 1, length)).astype(np.float32)
    received = sent_each(link, signals, 1.0, rng, enforce=False).total
    shape = (count, SYMBOLS, grid.num_carriers)
    return signals.view(np.complex64).reshape(shape), received.view(np.complex64).reshape(shape)
