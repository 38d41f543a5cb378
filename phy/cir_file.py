"""Files of channel impulse responses, recorded or ray-traced.

A file has the paths of each client at regular instants, the snapshots, in these arrays:

    a         [clients, snapshots, paths], complex; 0 where a path is absent
    tau       [clients, snapshots, paths] or [clients, paths], delays [s]
    interval  time between snapshots [s], a scalar; optional

MATLAB drops a last axis of length one, so with a single path both arrays may lack it.
"""

from __future__ import annotations

import math
import zipfile
from collections.abc import Callable
from functools import lru_cache
from pathlib import Path
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from otafl._base.arrays import ComplexArray, FloatArray
from otafl._base.files import data_sha256
from otafl._base.validation import OptionError, number

ARRAYS = ("a", "tau", "interval")


class Recording(NamedTuple):
    """The content of a file.

    Attributes
    ----------
    gains : ndarray of complex64, shape [clients, snapshots, paths]
        Unit mean power for each client.
    delays : ndarray of float, same shape
        [s]; 0 where a path is absent.
    shared_delays : ndarray of float, shape [paths], or None
        The delays if they are the same for all clients and snapshots.
    path_gain : tuple of float
        Mean power of each client's channel before it was divided out.
    interval : float or None
        Time between snapshots [s].
    """

    gains: ComplexArray
    delays: FloatArray
    shared_delays: FloatArray | None
    path_gain: tuple[float, ...]
    interval: float | None


def verified_digest(file: str, sha256: str) -> str:
    """Return the SHA-256 of a file; refuse one that is not ``sha256``, unless that is empty."""
    path = Path(file)
    if not path.is_file():
        raise OptionError("file", "an existing file", got=repr(file))
    found = data_sha256(path)
    if sha256 not in ("", found):
        raise ValueError(f"{file} has changed: its sha256 was {sha256}, and is now {found}")
    return found


@lru_cache(maxsize=4)
def read_recording(file: str, sha256: str) -> Recording:
    """Read a file, validate what is in it, and divide each client's mean power out.

    Parameters
    ----------
    file : str
        Its name ends in one of ``READERS``.
    sha256 : str
        Its digest.
    """
    verified_digest(file, sha256)
    a, tau, interval = _arrays(Path(file))
    absent = a == 0 if tau.ndim == 3 else (a == 0).all(axis=1)
    tau = np.where(absent, 0.0, tau)  # ray tracers write -1 or NaN there
    for name, array in (("a", a), ("tau", tau)):
        if not np.isfinite(array).all():
            place = np.argwhere(~np.isfinite(array))[0].tolist()
            raise ValueError(
                f"{name} in {file} must be finite, got {array[tuple(place)]} at {place}"
            )
    if tau.min() < 0:
        raise ValueError(f"tau in {file} must be delays >= 0 in seconds, got {tau.min():g}")
    with np.errstate(over="ignore", under="ignore"):
        power = np.square(np.abs(a)).sum(axis=2).mean(axis=1)
    for client, each in enumerate(power):
        if not 0 < each < math.inf:
            raise ValueError(
                f"a in {file} must have a finite mean power > 0 for every client, got {each:g} for "
                f"client {client}"
            )
    gains = (a / np.sqrt(power)[:, None, None]).astype(np.complex64)
    first = tau.reshape(-1, tau.shape[-1])[0].copy()
    for array in (gains, tau, first):
        array.setflags(write=False)  # every round shares them
    return Recording(
        gains=gains,
        delays=np.broadcast_to(tau if tau.ndim == 3 else tau[:, None], a.shape),
        shared_delays=first if (tau == first).all() else None,
        path_gain=tuple(power.tolist()),
        interval=interval,
    )


def _arrays(path: Path) -> tuple[NDArray[np.complex128], FloatArray, float | None]:
    """Return ``a`` with three axes, ``tau`` with two or three, and ``interval``."""
    try:
        found = READERS[path.suffix.lower()](path)
    except Exception as error:  # a truncated or foreign file makes a reader raise anything
        reason = " ".join(str(error).split())
        raise ValueError(
            f"{path} must be a valid {path.suffix} file, got one that cannot be read: {reason}"
        ) from error
    for name, kinds, must in (("a", "cfiu", "complex"), ("tau", "fiu", "real")):
        if name not in found:
            raise ValueError(f"{path} must have the arrays 'a' and 'tau', got no {name!r}")
        if found[name].dtype.kind not in kinds:
            raise ValueError(
                f"{name} in {path} must be {must} numbers, got an array of {found[name].dtype}"
            )
    a, tau = found["a"].astype(np.complex128), found["tau"].astype(np.float64)
    if a.ndim == 2 and path.suffix.lower() == ".mat":  # MATLAB drops a last axis of length one
        a = a[..., None]
    if a.ndim != 3 or a.size == 0:
        raise ValueError(
            f"a in {path} must have the shape [clients, snapshots, paths], got {list(a.shape)}"
        )
    if a.shape == (*tau.shape, 1):
        tau = tau[..., None]
    per_client = (a.shape[0], a.shape[2])
    if tau.shape not in (a.shape, per_client):
        raise ValueError(
            f"tau in {path} must have the shape of a, {list(a.shape)}, or [clients, paths], "
            f"{list(per_client)}, got {list(tau.shape)}"
        )
    interval = found.get("interval")
    if interval is None:
        return a, tau, None
    value = interval.reshape(-1)[0] if interval.size == 1 else interval
    return a, tau, number(f"interval in {path}", value, above=0)


def _read_npz(path: Path) -> dict[str, NDArray]:
    if not zipfile.is_zipfile(path):
        raise ValueError("it is not a complete zip archive")
    with np.load(path, allow_pickle=False) as stored:
        return {name: stored[name] for name in ARRAYS if name in stored}


def _read_hdf5(path: Path) -> dict[str, NDArray]:
    import h5py

    found = {}
    with h5py.File(path, "r") as stored:
        for name in ARRAYS:
            if isinstance(stored.get(name), h5py.Dataset):
                array = np.asarray(stored[name][()])
                if array.dtype.names == ("real", "imag"):  # MATLAB's complex numbers
                    array = array["real"] + 1j * array["imag"]
                found[name] = array
    return found


def _read_mat(path: Path) -> dict[str, NDArray]:
    import h5py
    from scipy.io import loadmat

    if h5py.is_hdf5(path):  # version 7.3, which has its axes in reverse order
        return {name: array.T for name, array in _read_hdf5(path).items()}
    stored = loadmat(path, variable_names=ARRAYS)
    return {name: np.asarray(stored[name]) for name in ARRAYS if name in stored}


READERS: dict[str, Callable[[Path], dict[str, NDArray]]] = {
    ".npz": _read_npz,
    ".h5": _read_hdf5,
    ".hdf5": _read_hdf5,
    ".mat": _read_mat,
}
"""How a file is read, by the end of its name."""
