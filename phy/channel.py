"""One round's channels: what the air does, and what the clients believe it does."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from functools import lru_cache
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from phy.csi import Csi
from phy.fading import Fading, Taps
from phy.grid import OfdmGrid

NOW = np.broadcast_to(0.0, 1)  # the one instant of a channel that does not move


class Channel(NamedTuple):
    """The clients' channels in one trial, constant within a slot.

    response : [num_clients, num_slots, num_carriers], complex64, unit mean power
    estimate : the same as the clients know it; the very same array if they know it perfectly
    taps : at the instants of ``response``

    A static channel has one slot, however long the block.
    """

    response: NDArray[np.complex64]
    estimate: NDArray[np.complex64]
    taps: Taps


def steering(delays: NDArray[np.float64], grid: OfdmGrid) -> NDArray[np.complex64]:
    """exp(-j 2 pi f tau): ``delays [..., num_paths]`` to ``[..., num_paths, num_carriers]``."""
    phases = -2 * np.pi * delays[..., None] * grid.frequencies
    return np.exp(1j * phases).astype(np.complex64)


def longest_delay(taps: Taps) -> float:
    """The largest delay of a path that carries power [s]; negative delays are refused.

    A path 60 dB below all of its client's together carries none: models with random paths have
    such stragglers, and fill up with empty ones.
    """
    power = np.square(np.abs(taps.gains)).mean(axis=1)  # [num_clients, num_paths]
    used = power > 1e-6 * power.sum(axis=1, keepdims=True)
    delays = np.broadcast_to(taps.delays, used.shape)[used]
    if delays.size and delays.min() < 0:
        raise ValueError(f"path delay = {delays.min():g} s is not allowed: give delays >= 0")
    return float(delays.max(initial=0.0))


def refuse_longer_than_prefix(delay: float, grid: OfdmGrid) -> None:
    if delay > grid.cp_duration * (1 + 1e-9):
        needed = math.ceil(delay * grid.sampling_rate * (1 - 1e-9))
        raise ValueError(
            f"fading has a path of {delay:.3g} s, longer than the cyclic prefix of "
            f"{grid.cp_duration:.3g} s (cp_length = {grid.cp_length}): give "
            f"OfdmGrid(cp_length={needed}) or a smaller delay spread (in seconds); what a short "
            "prefix does is for WaveformLink to model"
        )


def draw_channels(
    grid: OfdmGrid,
    fading: Fading,
    csi: Csi,
    *,
    clients: NDArray[np.int64],
    path_gain: NDArray[np.float64],
    num_slots: int,
    time: float,
    rngs: list[np.random.Generator],
    device_rngs: Sequence[np.random.Generator | None],
) -> list[Channel]:
    """Draw each trial's fading and CSI for a block that begins at ``time`` [s].

    A moving channel is sampled mid-slot, and so is what the clients see of it, unless aged. One
    whose delays are known only when drawn is refused here if it is longer than the prefix.
    """
    instants, aged = NOW, False
    if fading.moving:
        pilots = csi.pilots_per_slot * grid.symbol_duration
        instants = time + (np.arange(num_slots) + 0.5) * np.float64(grid.slot_duration + pilots)
        aged = csi.delay > 0
        if aged:
            instants = np.concatenate([instants, instants - csi.delay])
    drawn = [
        fading.draw(clients, instants, rng, device_rng)
        for rng, device_rng in zip(rngs, device_rngs, strict=True)
    ]
    if fading.delays is None and grid.num_carriers > 1:
        refuse_longer_than_prefix(max(longest_delay(taps) for taps in drawn), grid)
    channels = []
    for taps, response, rng in zip(drawn, _responses(drawn, fading, grid), rngs, strict=True):
        now = seen = response
        if aged:
            now, seen = response[:, :num_slots], response[:, num_slots:]
            taps = Taps(taps.gains[:, :num_slots], taps.delays)  # noqa: PLW2901
        channels.append(Channel(now, csi.estimate(seen, grid, path_gain, rng), taps))
    return channels


def _responses(
    drawn: list[Taps], fading: Fading, grid: OfdmGrid
) -> Iterable[NDArray[np.complex64]]:
    """Of each trial, [num_clients, num_times, num_carriers]."""
    if fading.delays is None:
        return [taps.gains @ steering(taps.delays, grid) for taps in drawn]
    # all trials in one matrix, so that it is one product
    gains = np.array([taps.gains for taps in drawn]) if len(drawn) > 1 else drawn[0].gains[None]
    return times_real(
        gains, _shared_steering(np.asarray(fading.delays, np.float64).tobytes(), grid)
    )


@lru_cache(maxsize=8)
def _shared_steering(delays: bytes, grid: OfdmGrid) -> NDArray[np.float32]:
    return as_real(steering(np.frombuffer(delays), grid))


def as_real(matrix: NDArray[np.complex64]) -> NDArray[np.float32]:
    """For I and Q side by side: a small product of reals is twice as fast as a complex one."""
    real = np.empty((matrix.shape[0], 2, matrix.shape[1], 2), np.float32)
    real[:, 0, :, 0], real[:, 0, :, 1] = matrix.real, matrix.imag
    real[:, 1, :, 0], real[:, 1, :, 1] = -matrix.imag, matrix.real
    return real.reshape(2 * matrix.shape[0], -1)


def times_real(
    vectors: NDArray[np.complex64], matrix: NDArray[np.float32]
) -> NDArray[np.complex64]:
    """``vectors [..., n]`` by a matrix that :func:`as_real` made of one of ``[n, k]``."""
    parts = np.ascontiguousarray(vectors).view(np.float32).reshape(-1, len(matrix))
    return (parts @ matrix).view(np.complex64).reshape(*vectors.shape[:-1], -1)
