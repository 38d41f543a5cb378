"""What an impairment is, and what it may use while a slot passes through it."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any, Protocol, runtime_checkable

import numpy as np

from otafl._base.arrays import ComplexArray, Float32Array, FloatArray, Rng
from otafl._base.validation import OptionError, typed
from phy.grid import OfdmGrid
from phy.impairments.devices import Devices


@dataclass(frozen=True)
class SlotContext:
    """One slot's samples on their way through the hardware of some devices.

    Attributes
    ----------
    grid : OfdmGrid
        Numerology.
    num_symbols : int
        OFDM symbols of this slot.
    rms : ndarray of float, shape [num_devices]
        The amplitude that the hardware is set up for: at a client the root of its budgeted mean
        sample power, at the server that of what arrives in this slot.
    devices : Devices
        Whose hardware it is.
    rng : numpy.random.Generator
        Source of everything that is redrawn in every slot.
    response, estimate : ndarray of complex64, shape [num_devices, used carriers], or None
        The channels of this slot with their path gain, and the clients' estimates of them; None at
        the server.
    start : int
        Time of the first sample, counted from the beginning of the slot.
    clip_rates : list of ndarray of float, shape [num_devices]
        What amplifiers and converters report: the fraction of samples clipped.
    """

    grid: OfdmGrid
    num_symbols: int
    rms: FloatArray
    devices: Devices
    rng: Rng
    response: ComplexArray | None = None
    estimate: ComplexArray | None = None
    start: int = 0
    clip_rates: list[FloatArray] = field(default_factory=list)

    def report_clipping(self, amplitude: Float32Array, level: Float32Array) -> None:
        """Report how often ``amplitude [num_devices, n]`` exceeds ``level [num_devices, 1]``."""
        self.clip_rates.append(np.mean(amplitude > level, axis=-1))

    @property
    def largest_clip_rate(self) -> FloatArray:
        """[num_devices] the largest clip rate of any impairment; zero if none clips."""
        return np.max([np.zeros(len(self.devices)), *self.clip_rates], axis=0)


@runtime_checkable
class Impairment(Protocol):
    """What hardware does to a waveform. Subclass it and implement :meth:`apply`.

    The impairments of this package are frozen dataclasses whose options are in physical units.
    """

    @property
    def device_draws(self) -> tuple[str, ...]:
        """Purposes of the values it keeps for each device, drawn by :class:`Devices`.

        Two impairments on one side must not share a purpose: they would draw the same values.
        """
        return ()

    @property
    def digital(self) -> bool:
        """Whether it acts on symbols in digital baseband, through :meth:`shape`, before others."""
        return False

    def check(self, grid: OfdmGrid, side: str, num_devices: int | None = None) -> None:
        """Raise if this grid, side or number of devices is not supported.

        Called when a link is made, and again with ``num_devices``, the largest global index plus
        one, when a round is opened.

        Parameters
        ----------
        grid : OfdmGrid
            Numerology.
        side : {"transmit", "receive"}
            Whether it sits at the clients or at the server.
        num_devices : int or None
            How many devices it must know.
        """
        return

    def shape(self, grid: OfdmGrid, elements: ComplexArray, rms: FloatArray) -> ComplexArray:
        """Return ``[num_devices, num_symbols, used carriers]`` as they leave digital baseband."""
        return elements

    @abstractmethod
    def apply(self, samples: ComplexArray, slot: SlotContext) -> ComplexArray:
        """Return ``samples [num_devices, n]`` of a slot, at the grid's rate, as they leave."""
        ...


def checked_chain(side: str, chain: Any, grid: OfdmGrid) -> tuple[Impairment, ...]:
    """Validate the impairments of a link's ``side``, "transmit" or "receive"."""
    if not isinstance(chain, Sequence) or isinstance(chain, str):
        raise OptionError(side, "a sequence of impairments, such as (Rapp(),)", chain)
    drawn: set[str] = set()
    for place, impairment in enumerate(chain):
        name = f"{side}[{place}]"
        must = "an instance of a subclass of otafl.Impairment, such as Rapp()"
        typed(name, impairment, Impairment, must)
        if not drawn.isdisjoint(impairment.device_draws):
            raise OptionError(
                name,
                f"the only {type(impairment).__name__} of {side}, since a second one would draw "
                "the same values (combine both in one)",
                impairment,
            )
        drawn.update(impairment.device_draws)
        impairment.check(grid, side)
        if impairment.digital and place > 0:
            raise OptionError(
                name,
                f"anything but {type(impairment).__name__}, which must be first in transmit: it "
                "acts before a signal leaves digital baseband",
                impairment,
            )
    return tuple(chain)
