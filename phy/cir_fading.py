"""Recorded and ray-traced channels: impulse responses from a file, replayed as fading."""

from __future__ import annotations

import os
from dataclasses import dataclass, field

import numpy as np

from otafl._base.arrays import FloatArray, IntArray, Rng
from otafl._base.names import options
from otafl._base.validation import OptionError, assign, choice, number, typed
from phy.cir_file import READERS, Recording, read_recording, verified_digest
from phy.fading import Fading, Taps

ROUNDING = 1e-9  # of an interval: an instant so close to the next snapshot belongs to it


@options
@dataclass(frozen=True)
class CirFading(Fading):
    """Channel impulse responses from a file: measured, ray-traced, or made by another simulator.

    The file has these arrays, and is read once:

    - ``a [clients, snapshots, paths]``, complex gains, 0 where a path is absent;
    - ``tau [clients, snapshots, paths]`` or ``[clients, paths]``, delays [s];
    - ``interval``, the time between snapshots [s], optional.

    With a single path both arrays may lack the last axis, which MATLAB drops. Each client's gains
    are divided by the root of their mean power over all snapshots; ``path_gain`` has these powers.

    Parameters
    ----------
    file : str
        An .npz, HDF5 (.h5 or .hdf5) or MATLAB file (.mat, version 5 or later). It is kept as an
        absolute path.
    snapshots : {"time", "drawn"}
        "time" replays the recording: the channel at time t, from the start of the run, is snapshot
        floor(t / interval), and the first one before the start. A round after the end of the
        recording is refused. "drawn" takes a snapshot at random for each client in each round,
        uniformly and independently.
    interval : float or None
        Time between snapshots [s]. Default: that of the file.
    sha256 : str
        Digest of the file, filled in automatically: a file that has changed is refused.

    Attributes
    ----------
    path_gain : tuple of float
        Mean power of each client's recorded channel, which a link takes as its ``path_gain``.
        Divide it by its mean for an SNR that refers to the average client.

    Notes
    -----
    Delays count from the server's symbol timing, so subtract the propagation delay that timing
    advance would remove: what is left must fit the cyclic prefix of :class:`~links.OfdmLink`.

    The channel is held from one snapshot to the next. :class:`~links.WaveformLink` interpolates it
    between its own instants, a few per slot, so a change takes effect gradually there.

    Examples
    --------
    >>> import tempfile
    >>> file = tempfile.mkdtemp() + "/two-paths.npz"
    >>> a = np.array([[[0.8, 0.6j], [0.8, -0.6j]]])  # one client, two snapshots, two paths
    >>> np.savez(file, a=3 * a, tau=[[0.0, 200e-9]], interval=1e-3)
    >>> fading = CirFading(file)
    >>> print(f"{fading.path_gain[0]:.3f}")
    9.000
    >>> taps = fading.draw(np.arange(1), np.array([0.0, 1.2e-3]), np.random.default_rng(), None)
    >>> taps.gains.shape, taps.delays
    ((1, 2, 2), array([0.e+00, 2.e-07]))
    """

    file: str = field(compare=False)  # sha256 tells recordings apart
    snapshots: str = "time"
    interval: float | None = None
    sha256: str = ""

    def __post_init__(self) -> None:
        typed("file", self.file, str | os.PathLike, "the path of a file")
        typed("sha256", self.sha256, str, "a string")
        file = os.path.abspath(self.file)
        if os.path.splitext(file)[1].lower() not in READERS:
            raise OptionError("file", f"the path of a file in {', '.join(READERS)}", self.file)
        choice("snapshots", self.snapshots, ("time", "drawn"))
        if self.interval is not None:
            assign(self, interval=number("interval", self.interval, above=0))
        assign(self, file=file)
        assign(self, sha256=verified_digest(file, self.sha256))
        if self._recording.interval is None and self.interval is None and self.moving:
            raise OptionError("interval", f"given, because {file} has none", None)

    @property
    def moving(self) -> bool:
        """Whether the taps change within a round."""
        return self.snapshots == "time"

    @property
    def delays(self) -> FloatArray | None:
        """[num_paths] path delays [s] if they are the same for all clients and snapshots."""
        return self._recording.shared_delays

    @property
    def path_gain(self) -> tuple[float, ...]:
        """Mean power of each client's recorded channel."""
        return self._recording.path_gain

    @property
    def _recording(self) -> Recording:
        return read_recording(self.file, self.sha256)

    def draw(self, clients: IntArray, times: FloatArray, rng: Rng, device_rng: Rng | None) -> Taps:
        """Return the recorded taps; see :meth:`phy.fading.Fading.draw`.

        Taps have the same delays at all instants. Where recorded delays change between instants,
        the paths of all of them stand side by side, with zero gains at the other instants.
        """
        gains, delays, shared, *_ = self._recording
        num_clients, num_snapshots, _ = gains.shape
        if clients.max() >= num_clients:
            raise ValueError(
                f"{self.file} must have a channel for client {clients.max()}, got {num_clients} "
                "clients"
            )
        if not self.moving:
            chosen = rng.integers(num_snapshots, size=len(clients))
            static = np.repeat(gains[clients, chosen, None], len(times), axis=1)
            return Taps(static, delays[clients, chosen] if shared is None else shared)
        instants = self._snapshots_at(times)
        moving = gains[clients[:, None], instants]  # [num_clients, num_times, num_paths]
        if shared is not None:
            return Taps(moving, shared)
        needed, place = np.unique(instants, return_inverse=True)
        sets, which = np.unique(delays[clients[:, None], needed], axis=1, return_inverse=True)
        apart = np.zeros((*moving.shape[:2], *sets.shape[1:]), np.complex64)
        apart[:, np.arange(len(times)), which.reshape(-1)[place]] = moving
        return Taps(apart.reshape(*moving.shape[:2], -1), sets.reshape(len(clients), -1))

    def _snapshots_at(self, times: FloatArray) -> IntArray:
        """Return the index of the snapshot at each instant."""
        num_snapshots = self._recording.gains.shape[1]
        interval = self.interval or self._recording.interval
        assert interval is not None
        indices = np.floor(times / interval + ROUNDING)
        if indices.max() >= num_snapshots:
            raise ValueError(
                f"{self.file} must last until {times.max():.6g} s, got {num_snapshots} snapshots "
                f"of {interval:.6g} s, {num_snapshots * interval:.6g} s in all: give a longer "
                "recording, fewer rounds or a shorter round_period, or snapshots = 'drawn'"
            )
        return np.maximum(indices, 0).astype(np.int64)
