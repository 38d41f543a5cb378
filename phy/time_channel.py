r"""Multipath in discrete time: each path puts a band-limited pulse on the taps around its delay.

    h[b, l] = sum_p a_p(b) k(l - f_s tau_p)

with k the windowed sinc of :mod:`phy.interpolation`; a delay of whole samples needs one tap. The
power of a path is accurate to 1 % on every carrier below 0.39 of the sampling rate (all used
carriers of the default grid), and to 3 % below 0.45. Carriers nearer to the Nyquist frequency lose
power where delays are fractional: a pulse of finite length cannot pass them and stop their aliases
at the same time.

A client's CSI is the response of these taps, which differs slightly from that of the
continuous paths.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from functools import lru_cache
from typing import NamedTuple

import numpy as np

from otafl._base.arrays import ComplexArray, Float32Array, FloatArray, IntArray, Rng
from phy.channel import as_real, longest_delay, observed_at, times_real
from phy.convolution import Pieces, between_knots
from phy.csi import Csi, Observed
from phy.fading import Fading, Taps
from phy.grid import OfdmGrid
from phy.interpolation import windowed_sinc

REACH = 14  # samples that a pulse extends to either side
KAISER_BETA = 4.3  # the widest band within 1 and 3 % of power at this reach
SPILL = REACH - 1  # taps before the first path and after the last
FASTEST = 0.5  # radians of Doppler between two knots


class Lags(NamedTuple):
    """The taps go from lag ``first``, zero or before, to ``last``."""

    first: int
    last: int

    @property
    def num_taps(self) -> int:
        """Number of taps."""
        return self.last - self.first + 1

    def spare(self, prefix: int) -> int:
        """Return how early the FFT window may start: the part of the prefix not used by the paths.

        It needs no more than what the pulses spill ahead of time zero [samples].
        """
        last_path = self.last + self.first  # pulses spill as far behind the last path
        return min(max(prefix - last_path, 0), -self.first)


def lags_of(delays: FloatArray, grid: OfdmGrid) -> Lags:
    """Return the lags of paths with these delays [s]."""
    places = delays * grid.sampling_rate
    last = _last_sample(float(delays.max()), grid)
    if np.abs(places - np.rint(places)).max() < 1e-6:
        return Lags(0, last)
    return Lags(-SPILL, last + SPILL)


def _last_sample(delay: float, grid: OfdmGrid) -> int:
    if delay * grid.subcarrier_spacing > 1:
        raise ValueError(
            f"fading must be shorter than an OFDM symbol of {1 / grid.subcarrier_spacing:.3g} s, "
            f"got a path of {delay:.3g} s: give a smaller delay spread (in seconds) or a smaller "
            "subcarrier_spacing"
        )
    return math.ceil(delay * grid.sampling_rate - 1e-6)


def refuse_too_fast(doppler: float, grid: OfdmGrid) -> None:
    """Refuse movement that cubics between the knots do not follow to 60 dB."""
    spacing = Pieces(grid, 1, 1, moving=True).knot_spacing / grid.sampling_rate
    if 2 * np.pi * doppler * spacing > FASTEST:
        most = FASTEST / (2 * np.pi * spacing)
        raise ValueError(
            f"the Doppler shift must be at most {most:.4g} Hz for symbols of "
            f"{grid.symbol_duration:.3g} s, got {doppler:.4g} Hz: give a smaller speed, or a "
            "larger subcarrier_spacing"
        )


class TimeChannel(NamedTuple):
    """The clients' channels in samples.

    Attributes
    ----------
    response : ndarray of complex64, shape [num_clients, 1 or num_slots, used carriers]
        Response of the discrete taps in the middle of each slot's data, unit mean power; a static
        channel has one slot, however long the block.
    estimate : ndarray of complex64, same shape
        The clients' estimate of it; the same array object under perfect CSI.
    gains : sequence of ndarray of complex64, shape [num_clients, knots, paths]
        Path gains at the knots of each slot.
    delays : ndarray of float
        As in :class:`~phy.fading.Taps`.
    lags : Lags
        Lags of the taps.
    """

    response: ComplexArray
    estimate: ComplexArray
    gains: Sequence[ComplexArray]
    delays: FloatArray
    lags: Lags

    @property
    def moving(self) -> bool:
        """Whether the taps change within a slot."""
        return self.gains[0].shape[1] > 1

    def only(self, places: IntArray) -> TimeChannel:
        """Return the channels of some of the clients, by their places among all."""
        response = self.response[places]
        perfect = self.estimate is self.response
        estimate = response if perfect else self.estimate[places]
        gains = [each[places] for each in self.gains]
        delays = self.delays if self.delays.ndim == 1 else self.delays[places]
        return TimeChannel(response, estimate, gains, delays, self.lags)

    def spectra(self, slot: int, grid: OfdmGrid, fft_size: int) -> ComplexArray:
        """Return the spectra of the taps at the knots of a slot, [num_clients, knots, fft_size].

        Taps are counted from the first.
        """
        return _mixed(self.gains[slot], self.delays, self.lags, grid, fft_size)

    def taps(self, slot: int, grid: OfdmGrid) -> ComplexArray:
        """Return the taps themselves at the knots of a slot, [num_clients, knots, taps]."""
        return (self.gains[slot] @ _pulses(self.delays, self.lags, grid)).astype(np.complex64)

    def of_slot(self, values: ComplexArray, slot: int) -> ComplexArray:
        """Return the part of ``response`` or ``estimate`` that belongs to a slot."""
        return values[:, slot if values.shape[1] > 1 else 0]


def draw_time_channel(
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
) -> tuple[TimeChannel, Observed]:
    """Draw the fading of a block that begins at ``time``, and what clients can observe of it.

    A moving channel is observed in the middle of each slot's data, as in
    :func:`phy.channel.draw_channel`, whose parameters these are. The estimate is left to the
    caller: pilots may pass through hardware first.

    Returns
    -------
    TimeChannel
        With the response in place of the estimate.
    Observed
        What :meth:`phy.csi.Csi.estimate` takes.
    """
    known = None if fading.delays is None else lags_of(fading.delays, grid)
    slots = grid.slots(num_symbols)
    if not fading.moving:
        taps = fading.draw(clients, np.array([time]), rng, device_rng)
        lags = known or _drawn_lags(taps, grid)
        response = _mixed(taps.gains, taps.delays, lags, grid, None)
        channel = TimeChannel(response, response, [taps.gains] * len(slots), taps.delays, lags)
        return channel, Observed(grid.without_pilots, path_gain, lambda delay: response)

    most = known or Lags(-SPILL, grid.fft_size + SPILL)
    lengths = [(slot.stop - slot.start) * grid.symbol_length for slot in slots]
    pieces = [Pieces(grid, length, most.num_taps, moving=True) for length in lengths]
    starts = grid.slot_starts(len(slots), csi.pilots_per_slot)
    middles = grid.slot_middles(num_symbols, csi.pilots_per_slot)
    delays = tuple(delay for delay in csi.delays if delay > 0)
    instants = [start + most.first + each.knots for start, each in zip(starts, pieces, strict=True)]
    ends = np.cumsum([len(each) for each in instants])
    instants += [middles - delay * grid.sampling_rate for delay in delays]
    when = time + np.concatenate(instants) / grid.sampling_rate
    taps = fading.draw(clients, when, rng, device_rng)
    lags = known or _drawn_lags(taps, grid)
    *gains, seen = np.split(taps.gains, ends, axis=1)
    now = [
        between_knots(each, np.array([middle - start - most.first]), piece.knot_spacing)
        for each, middle, start, piece in zip(gains, middles, starts, pieces, strict=True)
    ]
    response = _mixed(np.concatenate(now, axis=1), taps.delays, lags, grid, None)
    looks = np.split(seen, len(delays), axis=1) if delays else []
    earlier = {
        delay: _mixed(look, taps.delays, lags, grid, None)
        for delay, look in zip(delays, looks, strict=True)
    }
    channel = TimeChannel(response, response, gains, taps.delays, lags)
    return channel, observed_at(grid.without_pilots, path_gain, response, earlier)


def _drawn_lags(taps: Taps, grid: OfdmGrid) -> Lags:
    """Return the lags of paths that are known only now: they begin as early as they may."""
    return Lags(-SPILL, _last_sample(longest_delay(taps), grid) + SPILL)


def _pulses(delays: FloatArray, lags: Lags, grid: OfdmGrid) -> FloatArray:
    """Return what each path puts on each tap: ``[..., paths]`` to ``[..., paths, taps]``."""
    offsets = np.arange(lags.first, lags.last + 1) - delays[..., None] * grid.sampling_rate
    return windowed_sinc(offsets, REACH, KAISER_BETA)


def _mixed(
    gains: ComplexArray, delays: FloatArray, lags: Lags, grid: OfdmGrid, fft_size: int | None
) -> ComplexArray:
    """Return the response of path gains, on the used carriers or in the bins of an FFT."""
    if delays.ndim == 1:
        return times_real(gains, _shared_response(delays.tobytes(), lags, grid, fft_size))
    return gains @ _response(delays, lags, grid, fft_size)


def _response(delays: FloatArray, lags: Lags, grid: OfdmGrid, fft_size: int | None) -> ComplexArray:
    """Return the response of each path at unit gain, ``[..., paths, carriers or bins]``."""
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
) -> Float32Array:
    return as_real(_response(np.frombuffer(delays), lags, grid, fft_size))
