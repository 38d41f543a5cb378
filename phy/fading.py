r"""Fading of unit mean power, independent across clients, as taps of a delay line.

The response of client i at frequency f and time t is

    h_i(f, t) = sum_p a_ip(t) exp(-j 2 pi f tau_p),     E |h_i|^2 = 1

with diffuse gains a_ip ~ CN(0, P_p) and, where there is a line of sight, a specular one of power
S on the first tap with a uniformly random phase.

At speed zero a channel is static over a round and drawn anew for the next one (block fading, from
the round's own ``rng``). A moving client's channel is one process over the whole run, a function
of (device_rng, client, time), with Clarke's spectrum: E[a(t) a*(t - u)] = P J0(2 pi f_D u), with
f_D = speed carrier_frequency / c (W. C. Jakes, Microwave Mobile Communications, 1974).
"""

from __future__ import annotations

import importlib.util
import json
from abc import ABC, abstractmethod
from dataclasses import dataclass
from functools import cached_property, lru_cache
from pathlib import Path
from typing import NamedTuple, Protocol

import numpy as np
from numpy.typing import NDArray

from phy.checks import assign, choice, number
from phy.phasors import phasors
from phy.randomness import complex_normal, device_key, device_stream

SPEED_OF_LIGHT = 299_792_458.0  # [m/s]
NUM_SINUSOIDS = 128
LOS_ANGLE = np.pi / 4  # between a client's movement and its line of sight, as in Sionna's TDL


class Taps(NamedTuple):
    """Path gains of all clients at some instants.

    gains : [num_clients, num_times, num_paths], complex64
    delays : [num_paths], the same for all, or [num_clients, num_paths], [s]
    """

    gains: NDArray[np.complex64]
    delays: NDArray[np.float64]


class Law(NamedTuple):
    """The law of the response at one frequency: CN(sqrt(specular) e^{j phase}, 1 - specular)."""

    specular: float


class Fading(Protocol):
    """What a channel model must offer. See the module's text for what may depend on what."""

    @property
    def moving(self) -> bool:
        """Whether the taps change within a round."""

    @property
    def law(self) -> Law | None:
        """The law of one response, where it is known in closed form."""

    @property
    def delays(self) -> NDArray[np.float64] | None:
        """[num_paths] path delays [s] if they are the same for every client and draw."""

    def draw(
        self,
        clients: NDArray[np.int64],
        times: NDArray[np.float64],
        rng: np.random.Generator,
        device_rng: np.random.Generator | None,
    ) -> Taps:
        """The taps of ``clients`` (global indices) at ``times`` [s].

        Without ``device_rng`` the devices are new, from ``rng``.
        """


@dataclass(frozen=True)
class Profile:
    """Mean powers of a delay line: diffuse ones [num_paths], and the specular one of path 0."""

    delays: NDArray[np.float64]
    diffuse: NDArray[np.float64]
    specular: float


@dataclass(frozen=True, kw_only=True)
class DelayLine(ABC):
    """A tapped delay line; who inherits says which ``profile`` it has.

    speed : of each client [m/s]; zero is static over a round and new in each round
    carrier_frequency : [Hz]
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
        return self.doppler > 0

    @property
    def law(self) -> Law:
        return Law(self.profile.specular)

    @property
    def delays(self) -> NDArray[np.float64]:
        return self.profile.delays

    @cached_property
    def _amplitudes(self) -> NDArray[np.float32]:
        """Standard deviations of the real and of the imaginary part of each path."""
        return np.sqrt(self.profile.diffuse / 2).astype(np.float32)

    def draw(
        self,
        clients: NDArray[np.int64],
        times: NDArray[np.float64],
        rng: np.random.Generator,
        device_rng: np.random.Generator | None,
    ) -> Taps:
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

    def _moving(
        self, clients: NDArray[np.int64], times: NDArray[np.float64], key: int
    ) -> NDArray[np.complex64]:
        """Clarke's model as sinusoids of stratified random arrival angle and Gaussian amplitude.

        Averaged over devices the autocorrelation is J0 to the letter, for any number of sinusoids;
        Gaussian amplitudes make the gain at any instant exactly CN(0, P), which equal ones
        (Sionna's, and the usual) do not. In return the power of one path of one device, averaged
        over a long run, strays from P by 1 / sqrt(NUM_SINUSOIDS), 9 %.
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


@dataclass(frozen=True)
class NoFading:
    """A wire: h = 1."""

    moving = False
    law = Law(specular=1.0)
    delays = np.broadcast_to(0.0, 1)

    def draw(
        self,
        clients: NDArray[np.int64],
        times: NDArray[np.float64],
        rng: np.random.Generator,
        device_rng: np.random.Generator | None,
    ) -> Taps:
        return Taps(np.ones((len(clients), len(times), 1), np.complex64), self.delays)


@dataclass(frozen=True, kw_only=True)
class Rayleigh(DelayLine):
    """Flat Rayleigh fading: one gain h ~ CN(0, 1) for all carriers."""

    @cached_property
    def profile(self) -> Profile:
        return Profile(np.zeros(1), np.ones(1), 0.0)


@dataclass(frozen=True)
class Rician(DelayLine):
    """Flat Rician fading.

    k_factor : power of the line of sight over that of everything else, linear
    """

    k_factor: float = 4.0

    def __post_init__(self) -> None:
        super().__post_init__()
        assign(self, k_factor=number("k_factor", self.k_factor, least=0))

    @cached_property
    def profile(self) -> Profile:
        share = self.k_factor / (1 + self.k_factor)
        return Profile(np.zeros(1), np.array([1 - share]), share)


@dataclass(frozen=True)
class Tdl(DelayLine):
    """A tapped delay line of 3GPP TR 38.901, table 7.7.2; D and E have a line of sight.

    model : "A", "B", "C", "D" or "E"
    delay_spread : rms, by which the normalised profile is scaled [s]
    """

    model: str = "A"
    delay_spread: float = 100e-9

    def __post_init__(self) -> None:
        super().__post_init__()
        assign(
            self,
            model=choice("model", self.model, ("A", "B", "C", "D", "E")),
            delay_spread=number("delay_spread", self.delay_spread, least=0),
        )

    @cached_property
    def profile(self) -> Profile:
        delays, diffuse, specular = _tdl_table(self.model)
        return Profile(self.delay_spread * delays, diffuse, specular)


@lru_cache
def _tdl_table(model: str) -> tuple[NDArray[np.float64], NDArray[np.float64], float]:
    """Normalised delays, diffuse powers and specular power, read from the files Sionna ships.

    They are found without importing Sionna, and so without waiting for TensorFlow.
    """
    spec = importlib.util.find_spec("sionna")
    if spec is None or not spec.submodule_search_locations:
        raise ModuleNotFoundError("Tdl needs Sionna: pip install 'sionna-no-rt>=1.2.2,<2'")
    root = Path(spec.submodule_search_locations[0])
    table = json.loads((root / f"phy/channel/tr38901/models/TDL-{model}.json").read_text())
    delays = np.array(table["delays"], float)
    powers = 10 ** (np.array(table["powers"], float) / 10)
    powers /= powers.sum()
    for shared in (delays, powers):
        shared.setflags(write=False)
    if table["los"]:  # the first row is the specular part of the first path, the second its rest
        return delays[1:], powers[1:], float(powers[0])
    return delays, powers, 0.0
