"""The time-domain OFDM uplink: samples through transmitters, multipath, clocks and a receiver.

pack -> inversion and budgets -> OFDM modulation -> transmit faults -> each client's multipath ->
superposition -> noise -> receive faults -> demodulation -> unpack

A slot is a burst of its own: clients and server agree on time and phase where it begins, and there
is silence before and after it. Within it faults grow.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, fields, is_dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from links.gridded import GridLink, GridSlot
from links.opening import BaseLink, Opening
from links.radio import received_snr_db
from phy.air import FastAir
from phy.checks import assign, instance_with, integer
from phy.grid import OfdmGrid
from phy.impairments import (
    CarrierOffset,
    ClipAndFilter,
    ClockOffset,
    Devices,
    Impairment,
    IqImbalance,
    TimingOffset,
)
from phy.packing import Packing
from phy.randomness import device_key
from phy.sionna_air import SionnaAir
from phy.time_channel import Look, TimeChannel, draw_time_channel, lags_of, refuse_too_fast
from phy.waveform import symbol_length
from phy.waveform_uplink import Hardware, WaveformUplink

SERVER = 1 << 62  # among the devices, a number that no client has
OF_DEVICES = (CarrierOffset, ClockOffset, IqImbalance, TimingOffset)
LARGEST = 1e15  # amplitude that float32 can square and add up


@dataclass(frozen=True, kw_only=True)
class WaveformLink(GridLink, BaseLink["WaveformSlot"]):
    """Over-the-air sums through sampled OFDM waveforms and the hardware of clients and server.

    Budgets and the energy of a reception are those of the resource elements before faults, without
    prefix and pilots. Clients look at a moving channel in the middle of each symbol's FFT, or if
    they spend pilots on it once a slot, in its middle. With pilots in the grid, the server turns
    each symbol back by the phase that it sees on them.

    snr_db, entry_snr_db, power, path_gain, reference_power : see :class:`links.radio.RadioLink`
    fading, csi, truncation, correction, control : see :class:`links.faded.FadedLink`; a channel may
        be longer than the prefix
    grid, budget, engine, interleaver_seed : see :class:`links.gridded.GridLink`
    transmit : faults of each client's transmitter, in their order
    receive : faults of the server's receiver, in their order
    window_advance : how much of the prefix the server's FFT takes in, so that it does not reach
        into the next symbol of clients that are early [samples]
    csi_through_faults : the clients' CSI is that of a pilot symbol that went through their and the
        server's hardware, once a round; else they know nothing of the faults

    Examples
    --------
    >>> from phy.impairments import Adc, CarrierOffset, Rapp
    >>> link = WaveformLink(
    ...     entry_snr_db=20,
    ...     transmit=(CarrierOffset(std=0.01), Rapp(backoff_db=8)),
    ...     receive=(Adc(bits=12),),
    ... )
    >>> rng = np.random.default_rng(1)
    >>> signals = rng.standard_normal((3, 100))
    >>> slot = link.open(num_clients=3, length=100, rng=rng)
    >>> reception = slot.send(signals, slot.max_gain(signals))
    >>> reception.total.shape, reception.diagnostics["clip_rate"].shape
    ((100,), (3,))
    """

    transmit: tuple[Impairment, ...] = ()
    receive: tuple[Impairment, ...] = ()
    window_advance: int = 0
    csi_through_faults: bool = False

    def __post_init__(self) -> None:
        super().__post_init__()
        advance = integer("window_advance", self.window_advance, least=0)
        if advance > self.grid.cp_length:
            raise ValueError(
                f"window_advance = {advance} is not allowed: give at most cp_length = "
                f"{self.grid.cp_length}"
            )
        if not isinstance(self.csi_through_faults, bool):
            raise ValueError(
                f"csi_through_faults = {self.csi_through_faults!r} is not allowed: give True or "
                "False"
            )
        assign(
            self,
            transmit=_checked("transmit", self.transmit, self.grid),
            receive=_checked("receive", self.receive, self.grid),
            window_advance=advance,
        )
        if any(isinstance(fault, ClipAndFilter) for fault in (*self.transmit[1:], *self.receive)):
            raise ValueError(
                "ClipAndFilter is done before a signal leaves digital baseband: put it first in "
                "transmit"
            )
        for fault in self.receive:
            _refuse_what_only_clients_have(fault)
        if self.fading.delays is not None:
            lags_of(np.asarray(self.fading.delays, np.float64), self.grid)
        refuse_too_fast(getattr(self.fading, "doppler", 0.0), self.grid)

    @property
    def channel_grid(self) -> OfdmGrid:
        return replace(self.grid, pilots=0) if self.grid.pilots else self.grid

    def _open(self, opening: Opening) -> WaveformSlot:
        for fault in self.transmit:
            _check_clients(fault, opening)
        return WaveformSlot(self, opening, self.packing(opening))


def _checked(field: str, faults: Any, grid: OfdmGrid) -> tuple[Impairment, ...]:
    if not isinstance(faults, Sequence) or isinstance(faults, str):
        raise ValueError(
            f"{field} = {faults!r} is not allowed: give a list of faults, such as (Rapp(),)"
        )
    for place, fault in enumerate(faults):
        instance_with(f"{field}[{place}]", fault, "apply", "CarrierOffset() or Rapp()")
        if isinstance(fault, OF_DEVICES) and type(fault) in map(type, faults[:place]):
            raise ValueError(
                f"{field} has {type(fault).__name__} twice, which would be the same for a device: "
                "give one with both together"
            )
        for part in (fault, getattr(fault, "sync", None)):
            check: Any = getattr(part, "check", None)
            if check is not None:
                check(grid)
    return tuple(faults)


def _refuse_what_only_clients_have(fault: Any) -> None:
    for option in fields(fault) if is_dataclass(fault) else ():
        value = getattr(fault, option.name)
        if isinstance(value, tuple):
            raise ValueError(
                f"receive: {type(fault).__name__}.{option.name} has {len(value)} values, one a "
                "client: give the server's"
            )
        if option.name in ("sync", "advance") and value is not None:
            raise ValueError(
                f"receive: {type(fault).__name__}.{option.name} is for clients, who follow the "
                "server: put it in transmit"
            )


def _check_clients(fault: Any, opening: Opening) -> None:
    for option in fields(fault) if is_dataclass(fault) else ():
        value, last = getattr(fault, option.name), int(opening.clients.max())
        if isinstance(value, tuple) and last >= len(value):
            raise ValueError(
                f"{type(fault).__name__}.{option.name} has {len(value)} values, one a client, but "
                f"client {last} takes part"
            )


class WaveformSlot(GridSlot):
    """One block of OFDM symbols, sent slot by slot.

    To be looked at: ``packing``, and of each trial ``channels`` and ``precodings``.
    """

    def __init__(self, link: WaveformLink, opening: Opening, packing: Packing) -> None:
        grid, path_gain = packing.grid, link.path_gains(opening)
        engine = SionnaAir if link.engine == "sionna" else FastAir
        self._uplink = WaveformUplink(
            grid,
            packing.num_symbols,
            engine(grid, np.sqrt(path_gain)),
            link.transmit,
            link.receive,
            link.window_advance,
        )
        # the mean sample power that clients are allowed
        self._rms = np.sqrt(link.powers(opening) / (packing.num_symbols * grid.fft_size))
        self.channels: list[TimeChannel] = []
        self._hardware: list[Hardware] = []
        look = Look(
            [symbols.stop - symbols.start for symbols in self._uplink.bursts],
            grid.cp_length - link.window_advance + (grid.fft_size - 1) / 2,
            link.csi.pilots_per_slot,
            link.csi.delay,
        )
        for rng, device_rng in zip(opening.rngs, opening.device_rngs, strict=True):
            channel = draw_time_channel(
                grid, link.fading, look, opening.clients, opening.time, rng, device_rng
            )
            key = device_key(device_rng, rng) if link.transmit or link.receive else 0
            hardware = Hardware(Devices(key, opening.clients.tolist()), Devices(key, [SERVER]))
            seen = channel.estimate
            if link.csi_through_faults:
                seen = seen * self._uplink.seen_through_faults(self._rms, channel, hardware, rng)
            estimate = link.csi.estimate(seen, link.channel_grid, path_gain, rng)
            self.channels.append(channel._replace(estimate=estimate))
            self._hardware.append(hardware)
        super().__init__(link, opening, packing, self.channels)
        self.link = link
        self._is_data = ~grid.is_pilot if grid.pilots else slice(None)
        self._amplitudes = [
            self._of_data(precoding.amplitude(channel))
            for precoding, channel in zip(self.precodings, self.channels, strict=True)
        ]

    def _of_data(self, values: NDArray) -> NDArray:
        """``[..., looks, used carriers]`` to ``[..., 1 or num_symbols, num_carriers]``."""
        if values.shape[-1] > 1:
            values = values[..., self._is_data]
        if values.shape[-2] == self.packing.num_symbols:
            return values
        return self.packing.per_symbol(values)

    def papr_db(self, signals: ArrayLike, gain: ArrayLike) -> NDArray[np.float64]:
        """Peak over mean power of every OFDM symbol, oversampled, as it leaves digital baseband.

        ``[..., m, d]`` to ``[..., m, num_symbols]``; NaN for an empty symbol.
        """
        gains = self._checked_gains(gain)
        waves, _, scales = self._moderated(self._superpose, self._checked_signals(signals))
        ratios = [
            self._uplink.papr(
                elements,
                self._rms_at(float(gains[trial] * scales[trial])),
                self.channels[trial],
            )
            for trial, elements in enumerate(waves)
        ]
        return self._opening.outward(10 * np.log10(ratios))

    def _rms_at(self, gain: float) -> NDArray[np.float64]:
        """[num_clients], of the power that clients are allowed, in units of the gain.

        In these the signals are of moderate size, so that float32 serves for any power.
        """
        return np.clip(self._rms / gain, 1 / LARGEST, LARGEST)

    def _superpose(self, trial: int, signals: NDArray) -> tuple[NDArray, NDArray]:
        """The clients' elements at unit gain: they add up in the air, when the gain is known."""
        elements = self.packing.pack(signals)
        elements *= self._amplitudes[trial]
        parts = elements.view(np.float32)
        return elements, np.einsum("mlk,mlk->ml", parts, parts)

    def _receive(
        self, trial: int, arrived: NDArray, gain: float, weights: NDArray[np.float64]
    ) -> tuple[NDArray, dict[str, Any]]:
        grid, opening = self.packing.grid, self._opening
        level, noise_std = gain, float(self._noise_std[trial])
        if math.isinf(gain):
            level, noise_std = 1.0, 0.0
        # signals are of moderate size in units of the gain; noise far above them sets others
        unit = max(1.0, noise_std / level / LARGEST)
        level *= unit
        noise_std /= level
        rms = self._rms_at(level)
        received, measured = self._uplink.carry(
            arrived if unit == 1 else (arrived / unit).astype(np.complex64),
            rms,
            self.channels[trial],
            self._hardware[trial],
            math.sqrt(2) * noise_std,  # N0 = 2 sigma_c^2
            opening.rngs[trial],
        )
        if unit > 1:
            received *= np.float32(unit)
        precoding = self.precodings[trial]
        if self.link.control == "mmse":
            received /= self._of_data(precoding.scale)
        factor = self.link.make_up(precoding.active, weights, self._chance)
        if factor is not None:
            received *= self._of_data(factor)

        without_prefix = grid.fft_size / symbol_length(grid)
        num_samples = self.packing.num_symbols * grid.fft_size
        report = {
            "received_snr_db": received_snr_db(
                measured.arrived, 1.0, opening.length * noise_std**2
            ),
            "radiated_energy": measured.energy * level**2,
            "average_power": measured.energy * without_prefix / (num_samples * rms**2),
            "peak_power": measured.peak / rms**2,
        }
        if self.link.transmit:
            report |= {"papr_db": 10 * np.log10(measured.papr), "clip_rate": measured.clipped}
        if self.link.receive:
            report["receiver_clip_rate"] = measured.server_clipped
        return self.packing.unpack(received), report
