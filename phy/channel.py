"""One round's channels and the clients' estimates of them."""

from __future__ import annotations

import math
from functools import lru_cache
from typing import NamedTuple

import numpy as np

from otafl._base.arrays import ComplexArray, Float32Array, FloatArray, IntArray, Rng
from phy.csi import Csi, Observed
from phy.fading import Fading, Taps
from phy.grid import OfdmGrid

NOW = np.broadcast_to(0.0, 1)  # the one instant of a channel that does not move


class Channel(NamedTuple):
    """The clients' channels, constant within a slot.

    A static channel has one slot, however long the block.

    Attributes
    ----------
    response : ndarray of complex64, shape [num_clients, num_slots, num_carriers]
        Unit mean power.
    estimate : ndarray of complex64, same shape
        The clients' estimate of it; the same array object under perfect CSI.
    taps : Taps
        At the instants of ``response``.
    """

    response: ComplexArray
    estimate: ComplexArray
    taps: Taps

    def only(self, places: IntArray) -> Channel:
        """Return the channels of some of the clients, by their places among all."""
        response = self.response[places]
        perfect = self.estimate is self.response
        estimate = response if perfect else self.estimate[places]
        return Channel(response, estimate, self.taps.only(places))


def mean_power(response: ComplexArray, path_gain: FloatArray) -> FloatArray:
    """Return the mean of |h|^2 over slots and carriers [num_clients], path gain included."""
    return path_gain * np.square(np.abs(response), dtype=np.float64).mean(axis=(1, 2))


def steering(delays: FloatArray, grid: OfdmGrid) -> ComplexArray:
    """Return exp(-j 2 pi f tau): ``[..., num_paths]`` to ``[..., num_paths, num_carriers]``."""
    phases = -2 * np.pi * delays[..., None] * grid.frequencies
    return np.exp(1j * phases).astype(np.complex64)


def longest_delay(taps: Taps) -> float:
    """Return the largest delay of a path that carries power [s]; refuse negative delays.

    A path 60 dB below all of its client's paths together carries none: models with random paths
    have such stragglers, and pad with empty ones.
    """
    power = np.square(np.abs(taps.gains)).mean(axis=1)  # [num_clients, num_paths]
    used = power > 1e-6 * power.sum(axis=1, keepdims=True)
    delays = np.broadcast_to(taps.delays, used.shape)[used]
    if delays.size and delays.min() < 0:
        raise ValueError(f"path delays must be >= 0, got {delays.min():g} s")
    return float(delays.max(initial=0.0))


def refuse_longer_than_prefix(delay: float, grid: OfdmGrid) -> None:
    """Refuse a path that the cyclic prefix does not cover."""
    if delay > grid.cp_duration * (1 + 1e-9):
        needed = math.ceil(delay * grid.sampling_rate * (1 - 1e-9))
        remedy = f"give OfdmGrid(cp_length={needed}) or a smaller delay spread (in seconds), or use"
        if needed > grid.fft_size:
            remedy = "is the delay spread in seconds? If so, use"
        raise ValueError(
            f"fading must fit the cyclic prefix of {grid.cp_duration:.3g} s "
            f"(cp_length = {grid.cp_length}), got a path of {delay:.3g} s: {remedy} "
            "WaveformLink, which models a short prefix"
        )


def draw_channel(
    grid: OfdmGrid,
    fading: Fading,
    csi: Csi,
    *,
    clients: IntArray,
    path_gain: FloatArray,
    num_symbols: int,
    time: float,
    rng: Rng,
    device_rng: Rng | None,
) -> Channel:
    """Draw fading and CSI for a block of OFDM symbols that begins at ``time``.

    A moving channel is taken in the middle of each slot's data; CSI that does not age observes it
    at the same instant.

    Parameters
    ----------
    grid : OfdmGrid
        Carriers and slots.
    fading : Fading
        If its delays are known only when it is drawn, one longer than the prefix is refused here.
    csi : Csi
        How clients learn their channels.
    clients : ndarray of int, shape [num_clients]
        Global indices.
    path_gain : ndarray of float, shape [num_clients]
        Mean power of each channel.
    num_symbols : int
        OFDM symbols of data in the block.
    time : float
        Time since the start of the run [s].
    rng, device_rng : numpy.random.Generator
        See :meth:`phy.fading.Fading.draw`.
    """
    delays: tuple[float, ...] = ()
    instants = NOW
    if fading.moving:
        middles = grid.slot_middles(num_symbols, csi.pilots_per_slot) / grid.sampling_rate
        delays = tuple(delay for delay in csi.delays if delay > 0)
        instants = time + np.concatenate([middles - delay for delay in (0.0, *delays)])
    taps = fading.draw(clients, instants, rng, device_rng)
    if fading.delays is None:
        if grid.num_carriers > 1:
            refuse_longer_than_prefix(longest_delay(taps), grid)
        response = taps.gains @ steering(taps.delays, grid)
    else:
        response = times_real(taps.gains, _shared_steering(fading.delays.tobytes(), grid))
    now = response
    if fading.moving:
        now, *earlier = np.split(response, 1 + len(delays), axis=1)
        taps = Taps(taps.gains[:, : now.shape[1]], taps.delays)
        observed = observed_at(grid, path_gain, now, dict(zip(delays, earlier, strict=True)))
    else:
        observed = Observed(grid, path_gain, lambda delay: response)
    return Channel(now, csi.estimate(observed, rng), taps)


def observed_at(
    grid: OfdmGrid, path_gain: FloatArray, now: ComplexArray, earlier: dict[float, ComplexArray]
) -> Observed:
    """Return a moving channel that can be observed now and at the ``earlier`` delays [s]."""

    def response_before(delay: float) -> ComplexArray:
        if delay == 0:
            return now
        if delay not in earlier:
            raise ValueError(
                f"a Csi observes the channel {delay:g} s before it sends, but its delays name only "
                f"{', '.join(f'{each:g}' for each in (0.0, *earlier))}"
            )
        return earlier[delay]

    return Observed(grid, path_gain, response_before)


@lru_cache(maxsize=8)
def _shared_steering(delays: bytes, grid: OfdmGrid) -> Float32Array:
    return as_real(steering(np.frombuffer(delays), grid))


def as_real(matrix: ComplexArray) -> Float32Array:
    """Return a complex matrix as one of reals, for I and Q side by side.

    A small product of reals is twice as fast as a complex one.
    """
    real = np.empty((matrix.shape[0], 2, matrix.shape[1], 2), np.float32)
    real[:, 0, :, 0], real[:, 0, :, 1] = matrix.real, matrix.imag
    real[:, 1, :, 0], real[:, 1, :, 1] = -matrix.imag, matrix.real
    return real.reshape(2 * matrix.shape[0], -1)


def times_real(vectors: ComplexArray, matrix: Float32Array) -> ComplexArray:
    """Multiply ``vectors [..., n]`` by the matrix that :func:`as_real` made of ``[n, k]``."""
    parts = np.ascontiguousarray(vectors).view(np.float32).reshape(-1, len(matrix))
    return (parts @ matrix).view(np.complex64).reshape(*vectors.shape[:-1], -1)
