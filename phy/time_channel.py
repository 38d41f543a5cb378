r"""Multipath in discrete time, as Sionna's cir_to_time_channel defines it.

    h[b, l] = sum_p a_p(b) sinc(l - f_s tau_p)

The band-limited pulse of a path is cut ``SPILL`` samples either side of it; paths that all fall on
samples need none. What a client knows is the response of these very taps: the cut makes it differ
from that of the paths by some per cent.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from functools import lru_cache
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from phy.channel import as_real, longest_delay, times_real
from phy.convolution import Pieces, between_knots
from phy.fading import Fading, Taps
from phy.grid import OfdmGrid
from phy.waveform import symbol_length

SPILL = 6  # samples, as in Sionna
FASTEST = 0.5  # radians of Doppler between two knots


class Lags(NamedTuple):
    """The taps go from lag ``first``, zero or before, to ``last``."""

    first: int
    last: int

    @property
    def num_taps(self) -> int:
        return self.last - self.first + 1


def lags_of(delays: NDArray[np.float64], grid: OfdmGrid) -> Lags:
    """For paths with those delays [s]."""
    places = delays * grid.sampling_rate
    last = _last_sample(float(delays.max()), grid)
    if np.abs(places - np.rint(places)).max() < 1e-6:
        return Lags(0, last)
    return Lags(-SPILL, last + SPILL)


def _last_sample(delay: float, grid: OfdmGrid) -> int:
    if delay * grid.subcarrier_spacing > 1:
        raise ValueError(
            f"fading has a path of {delay:.3g} s, longer than an OFDM symbol of "
            f"{1 / grid.subcarrier_spacing:.3g} s: give a smaller delay spread (in seconds) or "
            "a smaller subcarrier_spacing"
        )
    return math.ceil(delay * grid.sampling_rate - 1e-6)


def refuse_too_fast(doppler: float, grid: OfdmGrid) -> None:
    """Refuse movement that cubics between the knots do not follow to 60 dB."""
    spacing = Pieces(grid, 1, 1, moving=True).knot_spacing / grid.sampling_rate
    if 2 * np.pi * doppler * spacing > FASTEST:
        most = FASTEST / (2 * np.pi * spacing)
        raise ValueError(
            f"fading has a Doppler shift of {doppler:.4g} Hz, of which a symbol of "
            f"{grid.symbol_duration:.3g} s sees too much: give a speed for at most {most:.4g} Hz, "
            "or a larger subcarrier_spacing"
        )


class TimeChannel(NamedTuple):
    """The clients' channels in one trial.

    response : [num_clients, looks, used carriers], of the discrete taps at the instants that
        clients look at, unit mean power; one look if nothing moves
    estimate : the same as the clients know it; the very same array if they know it perfectly
    gains : of each burst, the path gains at its knots, [num_clients, knots, paths]
    delays : as :class:`~phy.fading.Taps` has them
    lags : of the taps
    """

    response: NDArray[np.complex64]
    estimate: NDArray[np.complex64]
    gains: Sequence[NDArray[np.complex64]]
    delays: NDArray[np.float64]
    lags: Lags

    def spectra(self, burst: int, grid: OfdmGrid, fft_size: int) -> NDArray[np.complex64]:
        """[num_clients, knots, fft_size], of the taps counted from the first."""
        return _mixed(self.gains[burst], self.delays, self.lags, grid, fft_size)


class Look(NamedTuple):
    """When clients look at a channel that moves.

    symbols : the number of OFDM symbols of each burst
    window : the middle of a symbol's FFT, counted from when its prefix begins to arrive [samples]
    pilots_per_slot : those who spend pilots look once a slot, in the middle of its data; who
        spends none knows the channel in the middle of every symbol's FFT
    delay : how long before they send [s]
    """

    symbols: Sequence[int]
    window: float
    pilots_per_slot: int
    delay: float

    def places(self, burst: int, grid: OfdmGrid) -> NDArray[np.floating]:
        """[samples], counted from when the first lag of a burst's first sample arrives."""
        length, count = symbol_length(grid), self.symbols[burst]
        if self.pilots_per_slot:
            return np.array([count * length / 2])
        return np.arange(count) * float(length) + self.window

    def starts(self, grid: OfdmGrid) -> NDArray[np.floating]:
        """Of the bursts [samples]: a slot's pilots come before its data."""
        length, pilots = symbol_length(grid), self.pilots_per_slot
        period = (grid.symbols_per_slot + pilots) * length
        return np.arange(len(self.symbols)) * float(period) + pilots * length


def draw_time_channel(
    grid: OfdmGrid,
    fading: Fading,
    look: Look,
    clients: NDArray[np.int64],
    time: float,
    rng: np.random.Generator,
    device_rng: np.random.Generator | None,
) -> TimeChannel:
    """One trial's fading for a block that begins at ``time`` [s], and what clients look at.

    ``estimate`` is what a look without error shows.
    """
    known = None if fading.delays is None else lags_of(np.asarray(fading.delays), grid)
    if not fading.moving:
        taps = fading.draw(clients, np.array([time]), rng, device_rng)
        lags = known or _drawn_lags(taps, grid)
        response = _mixed(taps.gains, taps.delays, lags, grid, None)
        return TimeChannel(response, response, [taps.gains] * len(look.symbols), taps.delays, lags)

    most = known or Lags(-SPILL, grid.fft_size + SPILL)
    length = symbol_length(grid)
    pieces = [Pieces(grid, count * length, most.num_taps, moving=True) for count in look.symbols]
    starts = look.starts(grid)
    places = [look.places(burst, grid) for burst in range(len(pieces))]
    instants = [start + most.first + each.knots for start, each in zip(starts, pieces, strict=True)]
    ends = np.cumsum([len(each) for each in instants])
    if look.delay > 0:
        before = look.delay * grid.sampling_rate
        instants += [
            start + most.first + at - before for start, at in zip(starts, places, strict=True)
        ]
    when = time + np.concatenate(instants) / grid.sampling_rate
    taps = fading.draw(clients, when, rng, device_rng)
    lags = known or _drawn_lags(taps, grid)
    *gains, seen = np.split(taps.gains, ends, axis=1)
    now = [
        between_knots(each, at, piece.knot_spacing)
        for each, at, piece in zip(gains, places, pieces, strict=True)
    ]
    response = _mixed(np.concatenate(now, axis=1), taps.delays, lags, grid, None)
    looked_at = _mixed(seen, taps.delays, lags, grid, None) if look.delay > 0 else response
    return TimeChannel(response, looked_at, gains, taps.delays, lags)


def _drawn_lags(taps: Taps, grid: OfdmGrid) -> Lags:
    """Of paths that are known only now: they begin as far before zero as they may."""
    return Lags(-SPILL, _last_sample(longest_delay(taps), grid) + SPILL)


def _pulses(delays: NDArray[np.float64], lags: Lags, grid: OfdmGrid) -> NDArray[np.float64]:
    """What each path puts on each tap: ``[..., paths]`` to ``[..., paths, taps]``."""
    taps = np.arange(lags.first, lags.last + 1)
    return np.sinc(taps - delays[..., None] * grid.sampling_rate)


def _mixed(
    gains: NDArray[np.complex64],
    delays: NDArray[np.float64],
    lags: Lags,
    grid: OfdmGrid,
    fft_size: int | None,
) -> NDArray[np.complex64]:
    """Path gains to the response of their taps, on the used carriers or in an FFT's bins."""
    if delays.ndim == 1:
        return times_real(gains, _shared_response(delays.tobytes(), lags, grid, fft_size))
    return gains @ _response(delays, lags, grid, fft_size)


def _response(
    delays: NDArray[np.float64], lags: Lags, grid: OfdmGrid, fft_size: int | None
) -> NDArray[np.complex64]:
    """Of each path at unit gain, ``[..., paths]`` to ``[..., paths, carriers or bins]``."""
    if fft_size is None:
        turns = np.multiply.outer(np.arange(lags.first, lags.last + 1), grid.used_carriers)
        turns = turns / grid.fft_size
    else:
        turns = np.multiply.outer(np.arange(lags.num_taps), np.arange(fft_size)) / fft_size
    waves = np.exp(-2j * np.pi * turns)
    return (_pulses(delays, lags, grid) @ waves).astype(np.complex64)


@lru_cache(maxsize=16)
def _shared_response(
    delays: bytes, lags: Lags, grid: OfdmGrid, fft_size: int | None
) -> NDArray[np.float32]:
    return as_real(_response(np.frombuffer(delays), lags, grid, fft_size))
