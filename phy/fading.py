r"""Fading of unit mean power, independent across clients, as taps of a delay line.

The response of client i at frequency f and time t is

    h_i(f, t) = sum_p a_ip(t) exp(-j 2 pi f tau_p),     E |h_i|^2 = 1

with diffuse gains a_ip ~ CN(0, P_p) and, where there is a line of sight, a specular one of power
S on the first tap with a uniformly random phase.

At speed zero a channel is static over a round and drawn anew for the next one (block fading, from
the round's own ``rng``). A moving client's channel is one process over the whole run, a function
of (device_rng, client, time), with Clarke's spectrum: E[a(t) a*(t - u)] = P J0(2 pi f_D u), with
f_D = speed carrier_frequency / c (W. C. Jakes, Microwave Mobile Communications, 1974, ch. 1).
"""

from __future__ import annotations

import importlib.util
import json
from abc import ABC, abstractmethod
from dataclasses import dataclass
from functools import cached_property, lru_cache
from pathlib import Path
from typing import NamedTuple, Protocol, runtime_checkable

import numpy as np

from otafl._base.arrays import ComplexArray, Float32Array, FloatArray, IntArray, Rng
from otafl._base.decibels import from_db
from otafl._base.names import options
from otafl._base.validation import OptionError, assign, choice, number
from phy.phasors import phasors
from phy.randomness import complex_normal, device_key, device_stream

SPEED_OF_LIGHT = 299_792_458.0  # [m/s]
NUM_SINUSOIDS = 128
LONGEST_SPREAD = 0.01  # [s], a hundred times that of the largest valleys
LOS_ANGLE = np.pi / 4  # between a client's movement and its line of sight, as in Sionna's TDL


class Taps(NamedTuple):
    """Path gains of all clients at some instants.

    Attributes
    ----------
    gains : ndarray of complex64, shape [num_clients, num_times, num_paths]
    delays : ndarray of float, shape [num_paths] or [num_clients, num_paths]
        The same for all clients, or one row per client [s].
    """

    gains: ComplexArray
    delays: FloatArray

    def only(self, places: IntArray) -> Taps:
        """Return the taps of some of the clients, by their places among all."""
        delays = self.delays if self.delays.ndim == 1 else self.delays[places]
        return Taps(self.gains[places], delays)


class Law(NamedTuple):
    """Distribution of the response at one frequency: CN(sqrt(specular) e^{j phase}, 1 - specular).

    Attributes
    ----------
    specular : float
        Power of the line of sight, 0 for Rayleigh fading and 1 for a constant channel.
    """

    specular: float


@runtime_checkable
class Fading(Protocol):
    """A channel model. Subclass it, implement :meth:`draw`, and override what differs.

    The module docstring states what may depend on device, time and round.
    """

    @property
    def moving(self) -> bool:
        """Whether the taps change within a round."""
        return False

    @property
    def continuous(self) -> bool:
        """Whether the channel is one process over the whole run, from round to round."""
        return self.moving

    @property
    def doppler(self) -> float:
        """Largest Doppler shift [Hz]; zero if it is not known."""
        return 0.0

    @property
    def law(self) -> Law | None:
        """Distribution of one response, where it is known in closed form."""
        return None

    @property
    def delays(self) -> FloatArray | None:
        """[num_paths] path delays [s] if they are the same for every client and draw."""
        return None

    @abstractmethod
    def draw(self, clients: IntArray, times: FloatArray, rng: Rng, device_rng: Rng | None) -> Taps:
        """Draw the taps of a round. It is called once per realisation.

        Parameters
        ----------
        clients : ndarray of int, shape [m]
            Global indices of the clients.
        times : ndarray of float, shape [n]
            Instants, from the start of the run [s]; one instant if the channel does not move.
        rng : numpy.random.Generator
            Source of everything that is redrawn each round.
        device_rng : numpy.random.Generator or None
            Identifies the population and determines per-device quantities. None means new devices,
            drawn from ``rng``.

        Returns
        -------
        Taps
            Gains [m, n, num_paths] and delays.
        """
        ...


@dataclass(frozen=True)
class Profile:
    """Delays [s] and diffuse powers [num_paths] of a delay line; specular power of path 0."""

    delays: FloatArray
    diffuse: FloatArray
    specular: float


@dataclass(frozen=True, kw_only=True)
class DelayLine(ABC):
    """A tapped delay line; subclasses give its ``profile``.

    Parameters
    ----------
    speed : float
        Speed of each client [m/s]. At zero the channel is static over a round and new in each one.
    carrier_frequency : float
        [Hz]
    """

    speed: float = 0.0
    carrier_frequency: float = 3.5e9

    def __post_init__(self) -> None:
        assign(
            self,
            speed=number("speed", self.speed, least=0),
            carrier_frequency=number("carrier_frequency", self.carrier_frequency, above=0),
        )

    @property
    @abstractmethod
    def profile(self) -> Profile:
        """Delays and mean powers."""

    @cached_property
    def doppler(self) -> float:
        """Largest Doppler shift f_D [Hz]."""
        return self.speed * self.carrier_frequency / SPEED_OF_LIGHT

    @cached_property
    def moving(self) -> bool:
        """Whether the taps change within a round."""
        return self.doppler > 0

    @property
    def continuous(self) -> bool:
        """Whether the channel is one process over the whole run."""
        return self.moving

    @property
    def law(self) -> Law:
        """Distribution of one response."""
        return Law(self.profile.specular)

    @cached_property
    def delays(self) -> FloatArray:
        """[num_paths] path delays [s]."""
        return self.profile.delays

    @cached_property
    def _amplitudes(self) -> Float32Array:
        """Standard deviation of the real part of each path's diffuse gain."""
        return np.sqrt(self.profile.diffuse / 2).astype(np.float32)

    def draw(self, clients: IntArray, times: FloatArray, rng: Rng, device_rng: Rng | None) -> Taps:
        """Draw the taps of a round; see :meth:`Fading.draw`."""
        if self.moving:
            return Taps(self._moving(clients, times, device_key(device_rng, rng)), self.delays)
        specular = self.profile.specular
        shape = (len(clients), 1, 2 * len(self._amplitudes))
        gains = rng.standard_normal(shape, dtype=np.float32).view(np.complex64)
        gains *= self._amplitudes
        if specular > 0:
            phases = 2 * np.pi * rng.random((len(clients), 1))
            gains[:, :, 0] += np.sqrt(specular) * np.exp(1j * phases)
        if len(times) > 1:
            gains = np.repeat(gains, len(times), axis=1)
        return Taps(gains, self.delays)

    def _moving(self, clients: IntArray, times: FloatArray, key: int) -> ComplexArray:
        """Return Clarke's process: sinusoids of stratified random angle and Gaussian amplitude.

        Averaged over devices its autocorrelation is exactly J0, for any number of sinusoids.
        Gaussian amplitudes make the gain at any instant exactly CN(0, P), which equal ones
        (Sionna's, and the usual choice) do not. The price: the power of one path of one device,
        averaged over a long run, deviates from P by 1 / sqrt(NUM_SINUSOIDS), 9 %.
        """
        num_paths = len(self.delays)
        gains = np.empty((len(clients), len(times), num_paths), np.complex64)
        strata = np.arange(NUM_SINUSOIDS)
        for i, client in enumerate(clients):
            stream = device_stream(key, int(client))
            amplitudes = complex_normal(stream, (num_paths, NUM_SINUSOIDS))
            angles = 2 * np.pi / NUM_SINUSOIDS * (strata + stream.random((num_paths, 1)))
            los_turn = stream.random()
            waves = phasors(self.doppler * np.multiply.outer(times, np.cos(angles)))
            gains[i] = np.einsum("tpn,pn->tp", waves, amplitudes)
            gains[i] *= self._amplitudes * np.float32((2 / NUM_SINUSOIDS) ** 0.5)
            if self.profile.specular > 0:
                turns = self.doppler * np.cos(LOS_ANGLE) * times + los_turn
                gains[i, :, 0] += np.sqrt(self.profile.specular) * phasors(turns)
        return gains


@options
@dataclass(frozen=True)
class NoFading(Fading):
    """No fading: h = 1."""

    law = Law(specular=1.0)
    delays = np.broadcast_to(0.0, 1)

    def draw(self, clients: IntArray, times: FloatArray, rng: Rng, device_rng: Rng | None) -> Taps:
        """Return ones."""
        return Taps(np.ones((len(clients), len(times), 1), np.complex64), self.delays)


@options
@dataclass(frozen=True, kw_only=True)
class Rayleigh(DelayLine):
    """Flat Rayleigh fading: one gain h ~ CN(0, 1) for all carriers.

    Parameters
    ----------
    speed : float
        Speed of each client [m/s]. At zero the channel is static over a round and new in each one.
    carrier_frequency : float
        [Hz]
    """

    @cached_property
    def profile(self) -> Profile:
        """Delays and mean powers."""
        return Profile(np.zeros(1), np.ones(1), 0.0)


@options
@dataclass(frozen=True)
class Rician(DelayLine):
    """Flat Rician fading.

    Parameters
    ----------
    k_factor : float
        Power of the line of sight over the power of everything else, linear.
    speed : float
        Speed of each client [m/s]. At zero the channel is static over a round and new in each one.
    carrier_frequency : float
        [Hz]
    """

    k_factor: float = 4.0

    def __post_init__(self) -> None:
        super().__post_init__()
        assign(self, k_factor=number("k_factor", self.k_factor, least=0))

    @cached_property
    def profile(self) -> Profile:
        """Delays and mean powers."""
        share = self.k_factor / (1 + self.k_factor)
        return Profile(np.zeros(1), np.array([1 - share]), share)


def checked_delay_spread(value: float) -> float:
    """Return a delay spread [s]; refuse one that must be meant in nanoseconds."""
    spread = number("delay_spread", value, least=0)
    if spread > LONGEST_SPREAD:
        hint = f"; did you mean {value:g}e-9?"
        raise OptionError("delay_spread", f"in seconds, at most {LONGEST_SPREAD:g}", value, hint)
    return spread


@options
@dataclass(frozen=True)
class Tdl(DelayLine):
    """A tapped delay line of 3GPP TR 38.901, tables 7.7.2-1 to 7.7.2-5.

    Parameters
    ----------
    model : {"A", "B", "C", "D", "E"}
        D and E have a line of sight.
    delay_spread : float
        Rms delay spread, by which the normalised profile is scaled [s].
    speed : float
        Speed of each client [m/s]. At zero the channel is static over a round and new in each one.
    carrier_frequency : float
        [Hz]
    """

    model: str = "A"
    delay_spread: float = 100e-9

    def __post_init__(self) -> None:
        super().__post_init__()
        assign(
            self,
            model=choice("model", self.model, ("A", "B", "C", "D", "E")),
            delay_spread=checked_delay_spread(self.delay_spread),
        )

    @cached_property
    def profile(self) -> Profile:
        """Delays and mean powers."""
        delays, diffuse, specular = _tdl_table(self.model)
        return Profile(self.delay_spread * delays, diffuse, specular)


@lru_cache
def _tdl_table(model: str) -> tuple[FloatArray, FloatArray, float]:
    """Return normalised delays, diffuse powers and specular power from the files Sionna ships."""
    spec = importlib.util.find_spec("sionna")  # without waiting for TensorFlow
    if spec is None or not spec.submodule_search_locations:
        raise ModuleNotFoundError("Tdl needs Sionna: pip install 'sionna-no-rt>=1.2.2,<2'")
    root = Path(spec.submodule_search_locations[0])
    table = json.loads((root / f"phy/channel/tr38901/models/TDL-{model}.json").read_text())
    delays = np.array(table["delays"], float)
    powers = from_db(np.array(table["powers"], float))
    powers /= powers.sum()
    for shared in (delays, powers):
        shared.setflags(write=False)
    if table["los"]:  # the first row is the specular part of the first path, the second its rest
        return delays[1:], powers[1:], float(powers[0])
    return delays, powers, 0.0
