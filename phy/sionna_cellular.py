"""Sionna's cellular models of 3GPP TR 38.901 with plain options: UMi, UMa and RMa.

Antennas are those of :mod:`phy.sionna_models`, and fading has unit mean power as it comes from
Sionna. (The tilted antennas of Sionna's own topologies lose half of it.) Path loss and shadow
fading are left out; :meth:`CellularModel.path_gains` has them.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from typing import Any, ClassVar

import numpy as np

from otafl._base import lazy
from otafl._base.arrays import FloatArray, IntArray, Rng
from otafl._base.names import options
from otafl._base.validation import assign, boolean, choice, integer, number, typed
from phy.fading import Taps
from phy.randomness import device_key, device_stream
from phy.sionna_fading import SionnaFading
from phy.sionna_models import SionnaModel, antenna

CLIENT_HEIGHT = 1.5  # [m]
GROUP = 16  # clients whose large-scale parameters Sionna draws at once


@dataclass(frozen=True, kw_only=True)
class CellularModel(SionnaModel):
    """A cell with clients at random places; subclasses say which, and with what defaults."""

    min_distance: float
    max_distance: float
    indoor_probability: float
    los: bool | None = None

    sionna_name: ClassVar[str]
    server_height: ClassVar[float]  # [m]

    def __post_init__(self) -> None:
        super().__post_init__()
        nearest = number("min_distance", self.min_distance, above=0)
        assign(
            self,
            min_distance=nearest,
            max_distance=number("max_distance", self.max_distance, least=nearest),
            indoor_probability=number(
                "indoor_probability", self.indoor_probability, least=0, most=1
            ),
        )
        if self.los is not None:
            assign(self, los=boolean("los", self.los))

    def model_options(self) -> dict[str, Any]:
        """Return options of this Sionna model that others lack."""
        return {}

    def draw(self, clients: IntArray, times: FloatArray, rng: Rng, device_rng: Rng | None) -> Taps:
        """Call the model once for each group of clients; see :meth:`phy.fading.Fading.draw`."""
        key = device_key(device_rng, rng)
        groups, place = np.unique(clients // GROUP, return_inverse=True)
        models = [SionnaFading(_dropped(self, key, int(group), lossy=False)) for group in groups]
        drawn = [each.draw(np.arange(GROUP), times, rng, device_rng) for each in models]
        gains, delays = (np.concatenate(each) for each in zip(*drawn, strict=True))
        rows = place * GROUP + clients % GROUP
        return Taps(gains[rows], delays[rows])

    def path_gains(self, num_clients: int, device_rng: Rng) -> tuple[float, ...]:
        """Return the path gains of a population's first clients at their places.

        They have the path loss, the penetration loss of those indoors and the shadow fading, which
        :meth:`draw` leaves out. Divided by their mean, they suit a link's ``path_gain``.

        Parameters
        ----------
        num_clients : int
            Number of clients.
        device_rng : numpy.random.Generator
            Identifies the population, as in :meth:`draw`. It is not advanced.
        """
        num_clients = integer("num_clients", num_clients, least=1)
        typed("device_rng", device_rng, Rng, "a numpy.random.Generator")
        key, gains = device_key(device_rng, device_rng), np.empty(0)
        for group in range(-(-num_clients // GROUP)):
            powers = []
            for lossy in (True, False):  # the same rays twice
                model = _dropped(self, key, group, lossy)
                lazy.sionna().config.seed = 0
                a = np.asarray(model(1, 1.0)[0], np.complex128)
                powers.append(np.square(np.abs(a)).reshape(GROUP, -1).sum(axis=1))
            gains = np.append(gains, powers[0] / powers[1])
        return tuple(gains[:num_clients].tolist())


@dataclass(frozen=True, kw_only=True)
class UrbanModel(CellularModel):
    """A cell whose buildings have more than one kind of walls."""

    o2i_model: str = "low"

    def __post_init__(self) -> None:
        super().__post_init__()
        choice("o2i_model", self.o2i_model, ("low", "high"))

    def model_options(self) -> dict[str, Any]:
        """Return options of this Sionna model that others lack."""
        return {"o2i_model": self.o2i_model}


@options
@dataclass(frozen=True, kw_only=True)
class SionnaUmi(UrbanModel):
    """Urban microcell, street canyon, of TR 38.901: a server at 10 m, below the rooftops.

    Clients are spread uniformly over the area around the server, between the two distances. Place,
    velocity, line of sight and large-scale parameters (delay and angular spreads, K factor) belong
    to a client and stay the same from round to round; clients move only within a round. The rays
    are new in every round. Delays may exceed the default prefix, which
    :class:`~links.WaveformLink` models.

    Parameters
    ----------
    carrier_frequency : float
        [Hz]
    min_speed : float
        Least speed of a client [m/s].
    max_speed : float or None
        Largest speed of a client [m/s]; speeds are uniform in between. Default: ``min_speed``.
    min_distance, max_distance : float
        Horizontal distance of clients from the server [m].
    indoor_probability : float
        Probability of a client to be indoors, where it has no line of sight.
    los : bool or None
        Whether clients outdoors have a line of sight. Default: at random, as TR 38.901 has it.
    o2i_model : {"low", "high"}
        Penetration loss of buildings, for :meth:`path_gains` only.
    """

    min_distance: float = 10.0
    max_distance: float = 100.0
    indoor_probability: float = 0.8

    sionna_name = "UMi"
    server_height = 10.0


@options
@dataclass(frozen=True, kw_only=True)
class SionnaUma(UrbanModel):
    """Urban macrocell of TR 38.901: a server at 25 m, above the rooftops.

    Clients are spread uniformly over the area around the server, between the two distances. Place,
    velocity, line of sight and large-scale parameters (delay and angular spreads, K factor) belong
    to a client and stay the same from round to round; clients move only within a round. The rays
    are new in every round. Delays may exceed the default prefix, which
    :class:`~links.WaveformLink` models.

    Parameters
    ----------
    carrier_frequency : float
        [Hz]
    min_speed : float
        Least speed of a client [m/s].
    max_speed : float or None
        Largest speed of a client [m/s]; speeds are uniform in between. Default: ``min_speed``.
    min_distance, max_distance : float
        Horizontal distance of clients from the server [m].
    indoor_probability : float
        Probability of a client to be indoors, where it has no line of sight.
    los : bool or None
        Whether clients outdoors have a line of sight. Default: at random, as TR 38.901 has it.
    o2i_model : {"low", "high"}
        Penetration loss of buildings, for :meth:`path_gains` only.
    """

    min_distance: float = 35.0
    max_distance: float = 250.0
    indoor_probability: float = 0.8

    sionna_name = "UMa"
    server_height = 25.0


@options
@dataclass(frozen=True, kw_only=True)
class SionnaRma(CellularModel):
    """Rural macrocell of TR 38.901: a server at 35 m.

    Clients are spread uniformly over the area around the server, between the two distances. Place,
    velocity, line of sight and large-scale parameters (delay and angular spreads, K factor) belong
    to a client and stay the same from round to round; clients move only within a round. The rays
    are new in every round. Delays may exceed the default prefix, which
    :class:`~links.WaveformLink` models.

    Parameters
    ----------
    carrier_frequency : float
        [Hz]
    min_speed : float
        Least speed of a client [m/s].
    max_speed : float or None
        Largest speed of a client [m/s]; speeds are uniform in between. Default: ``min_speed``.
    min_distance, max_distance : float
        Horizontal distance of clients from the server [m].
    indoor_probability : float
        Probability of a client to be indoors, where it has no line of sight.
    los : bool or None
        Whether clients outdoors have a line of sight. Default: at random, as TR 38.901 has it.
    """

    min_distance: float = 35.0
    max_distance: float = 2500.0
    indoor_probability: float = 0.5

    sionna_name = "RMa"
    server_height = 35.0


@lru_cache(maxsize=64)
def _dropped(cell: CellularModel, key: int, group: int, lossy: bool) -> Any:
    """Return the Sionna model of a group of clients, at places that population and index decide.

    Clients are in the batch axis, each alone in its cell, so that their large-scale parameters are
    independent. Sionna draws these and the lines of sight of a group at once, from one seed.
    """
    sionna, tf = lazy.sionna(), lazy.tensorflow()
    from sionna.phy.channel import tr38901

    ends = antenna(cell.carrier_frequency)
    model = getattr(tr38901, cell.sionna_name)(
        carrier_frequency=cell.carrier_frequency,
        ut_array=ends,
        bs_array=ends,
        direction="uplink",
        enable_pathloss=lossy,
        enable_shadow_fading=lossy,
        **cell.model_options(),
    )
    members = range(GROUP * group, GROUP * (group + 1))
    u = np.array([device_stream(key, client).random(5) for client in members]).T
    squares = cell.min_distance**2, cell.max_distance**2  # uniform over the area
    distance = np.sqrt(squares[0] + u[0] * (squares[1] - squares[0]))
    speed = cell.min_speed + u[1] * (cell.top_speed - cell.min_speed)
    places = _vectors(distance, 2 * np.pi * u[2], CLIENT_HEIGHT)
    velocities = _vectors(speed, 2 * np.pi * u[3], 0.0)
    seed = np.random.SeedSequence((key, group)).generate_state(1)[0]
    sionna.config.seed = int(seed >> 1)
    model.set_topology(
        ut_loc=tf.constant(places, tf.float32),
        bs_loc=tf.constant([[[0.0, 0.0, cell.server_height]]] * GROUP, tf.float32),
        ut_orientations=tf.zeros([GROUP, 1, 3]),
        bs_orientations=tf.zeros([GROUP, 1, 3]),
        ut_velocities=tf.constant(velocities, tf.float32),
        in_state=tf.constant(u[4][:, None] < cell.indoor_probability),
        los=cell.los,
    )
    return model


def _vectors(length: FloatArray, angle: FloatArray, height: float) -> FloatArray:
    """Return [n, 1, 3] vectors of this length in the plane."""
    parts = (length * np.cos(angle), length * np.sin(angle), np.full(len(length), height))
    return np.stack(parts, axis=-1)[:, None]
