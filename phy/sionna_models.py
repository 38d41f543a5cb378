"""Sionna's models of one link with plain options: the tapped and clustered delay lines.

At either end is one upright, vertically polarised, omnidirectional antenna, which receives the full
power of every ray. So fading has unit mean power as it comes from Sionna, and is not scaled: the
powers of a model's paths and of its line of sight add up to one. TensorFlow is imported when a
channel is first drawn.
"""

from __future__ import annotations

from abc import abstractmethod
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

from otafl._base import lazy
from otafl._base.arrays import FloatArray, IntArray, Rng
from otafl._base.names import options
from otafl._base.validation import OptionError, assign, choice, number
from phy.fading import SPEED_OF_LIGHT, Fading, Taps, checked_delay_spread
from phy.sionna_fading import SionnaFading

DELAY_SPREAD = 100e-9  # [s]
OWN_DELAY_SPREADS = {"A30": 30e-9, "B100": 100e-9, "C300": 300e-9}  # [s], of these TDL models


@dataclass(frozen=True, kw_only=True)
class SionnaModel(Fading):
    """A Sionna model built from plain options; subclasses draw from it."""

    carrier_frequency: float = 3.5e9
    min_speed: float = 0.0
    max_speed: float | None = None

    continuous = False  # it is new in every round

    def __post_init__(self) -> None:
        assign(
            self,
            carrier_frequency=number("carrier_frequency", self.carrier_frequency, above=0),
            min_speed=number("min_speed", self.min_speed, least=0),
        )
        if self.max_speed is not None:
            assign(self, max_speed=number("max_speed", self.max_speed, least=self.min_speed))

    @property
    def top_speed(self) -> float:
        """Largest speed of a client [m/s]."""
        return self.min_speed if self.max_speed is None else self.max_speed

    @property
    def doppler(self) -> float:
        """Largest Doppler shift [Hz]."""
        return self.top_speed * self.carrier_frequency / SPEED_OF_LIGHT

    @property
    def moving(self) -> bool:
        """Whether the taps change within a round."""
        return self.doppler > 0


@dataclass(frozen=True, kw_only=True)
class SingleLink(SionnaModel):
    """A model of one link, called with the clients in its batch axis."""

    @abstractmethod
    def build(self) -> Any:
        """Return the Sionna model."""

    def draw(self, clients: IntArray, times: FloatArray, rng: Rng, device_rng: Rng | None) -> Taps:
        """Call the model once; see :meth:`phy.fading.Fading.draw`."""
        return _built(self).draw(clients, times, rng, device_rng)


@lru_cache(maxsize=16)
def _built(fading: SingleLink) -> SionnaFading:
    return SionnaFading(fading.build())


@options
@dataclass(frozen=True)
class SionnaTdl(SingleLink):
    """Sionna's tapped delay lines; :class:`~phy.Tdl` has models A to E at less cost.

    Channels are new in every round, and so are the clients' speeds.

    Parameters
    ----------
    model : {"A", "B", "C", "D", "E", "A30", "B100", "C300"}
        D and E have a line of sight. The last three are the simplified profiles of TS 38.141-1.
    delay_spread : float or None
        Rms delay spread [s]. Default: 100 ns; A30, B100 and C300 have the one in their name.
    carrier_frequency : float
        [Hz]
    min_speed : float
        Least speed of a client [m/s].
    max_speed : float or None
        Largest speed of a client [m/s]; speeds are uniform in between. Default: ``min_speed``.
    """

    model: str = "A"
    delay_spread: float | None = None

    def __post_init__(self) -> None:
        super().__post_init__()
        choice("model", self.model, ("A", "B", "C", "D", "E", *OWN_DELAY_SPREADS))
        if self.delay_spread is None:
            return
        assign(self, delay_spread=checked_delay_spread(self.delay_spread))
        own = OWN_DELAY_SPREADS.get(self.model, self.delay_spread)
        if self.delay_spread != own:
            must = f"None or {own:g} for model {self.model!r}"
            raise OptionError("delay_spread", must, self.delay_spread)

    def build(self) -> Any:
        """Return the Sionna model."""
        lazy.sionna()
        from sionna.phy.channel.tr38901 import TDL

        spread = OWN_DELAY_SPREADS.get(self.model, DELAY_SPREAD)
        return TDL(
            self.model,
            spread if self.delay_spread is None else self.delay_spread,
            self.carrier_frequency,
            min_speed=self.min_speed,
            max_speed=self.top_speed,
        )


@options
@dataclass(frozen=True)
class SionnaCdl(SingleLink):
    """Sionna's clustered delay lines, TR 38.901, tables 7.7.1-1 to 7.7.1-5.

    Channels are new in every round, and so are the clients' speeds and directions.

    Parameters
    ----------
    model : {"A", "B", "C", "D", "E"}
        D and E have a line of sight.
    delay_spread : float
        Rms delay spread [s].
    carrier_frequency : float
        [Hz]
    min_speed : float
        Least speed of a client [m/s].
    max_speed : float or None
        Largest speed of a client [m/s]; speeds are uniform in between. Default: ``min_speed``.
    """

    model: str = "A"
    delay_spread: float = DELAY_SPREAD

    def __post_init__(self) -> None:
        super().__post_init__()
        choice("model", self.model, ("A", "B", "C", "D", "E"))
        assign(self, delay_spread=checked_delay_spread(self.delay_spread))

    def build(self) -> Any:
        """Return the Sionna model."""
        lazy.sionna()
        from sionna.phy.channel.tr38901 import CDL

        ends = antenna(self.carrier_frequency)
        return CDL(
            self.model,
            self.delay_spread,
            self.carrier_frequency,
            ut_array=ends,
            bs_array=ends,
            direction="uplink",
            min_speed=self.min_speed,
            max_speed=self.top_speed,
        )


def antenna(carrier_frequency: float) -> Any:
    """Return Sionna's array of one upright antenna."""
    from sionna.phy.channel.tr38901 import PanelArray

    return PanelArray(
        num_rows_per_panel=1,
        num_cols_per_panel=1,
        polarization="single",
        polarization_type="V",
        antenna_pattern="omni",
        carrier_frequency=carrier_frequency,
    )
