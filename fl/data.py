"""Datasets: MNIST, which comes with the package, Keras's by name, and those of your own."""

from __future__ import annotations

import difflib
import gzip
import hashlib
import io
import struct
import zipfile
import zlib
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from fl.quiet import tensorflow

MNIST = Path(__file__).parent / "datasets" / "mnist.npz"
MNIST_SHA256 = "06af5dfe73b70e3bc1c36439982b18a8d76803db9b544f6fdf838a37fbb01b64"
ARRAYS = ("x_train", "y_train", "x_test", "y_test")
IDX_NAMES = {
    "x_train": "train-images",
    "y_train": "train-labels",
    "x_test": "t10k-images",
    "y_test": "t10k-labels",
}
KERAS_NAMES = ("cifar10", "cifar100", "fashion_mnist")
IDX_TYPES = {0x08: ">u1", 0x09: ">i1", 0x0B: ">i2", 0x0C: ">i4", 0x0D: ">f4", 0x0E: ">f8"}


@dataclass(frozen=True, eq=False)
class Dataset:
    """Samples with labels, divided into those to train on and those to test on.

    x_train, x_test : [n, ...], numbers; bytes stand for brightness and are read as x / 255
    y_train, y_test : [n], whole numbers from 0: the class of each sample
    """

    x_train: NDArray
    y_train: NDArray
    x_test: NDArray
    y_test: NDArray

    def __post_init__(self) -> None:
        for name in ARRAYS:
            array = np.asarray(getattr(self, name))
            if array.dtype.kind not in "fiu" or array.ndim == 0 or array.size == 0:
                raise ValueError(
                    f"{name} of type {array.dtype} and shape {array.shape} is not allowed: give an "
                    "array of numbers with at least one sample"
                )
            if array.dtype.kind == "f" and not np.isfinite(array).all():
                raise ValueError(f"{name} has entries that are not finite")
            if name.startswith("y"):
                array = _whole_numbers(name, array)
            object.__setattr__(self, name, array)
        for part in ("train", "test"):
            x, y = getattr(self, f"x_{part}"), getattr(self, f"y_{part}")
            if len(x) != len(y):
                raise ValueError(f"x_{part} has {len(x)} samples, but y_{part} {len(y)} labels")
        if self.x_train.shape[1:] != self.x_test.shape[1:]:
            raise ValueError(
                f"samples have shape {self.x_train.shape[1:]} in x_train, but "
                f"{self.x_test.shape[1:]} in x_test"
            )

    def __repr__(self) -> str:
        sizes = f"{len(self.y_train)} to train on, {len(self.y_test)} to test on"
        return f"Dataset({sizes}, of shape {self.sample_shape}, {self.num_classes} classes)"

    @property
    def num_classes(self) -> int:
        return int(max(self.y_train.max(), self.y_test.max())) + 1

    @property
    def sample_shape(self) -> tuple[int, ...]:
        return self.x_train.shape[1:]


def load_dataset(name_or_path: str | Path) -> Dataset:
    """A dataset, by name or from files.

    ``"mnist"`` comes with the package. ``"quadratic"`` has the samples of the default problem of
    :mod:`fl.quadratic`, one label a client; :func:`fl.quadratic.default_quadratic` gives them with
    their model. A path may be an .npz with ``x_train``, ``y_train``, ``x_test`` and
    ``y_test``, or a folder with the four IDX files of MNIST and its like, plain or gzipped.
    ``"fashion_mnist"``, ``"cifar10"`` and ``"cifar100"`` are downloaded by Keras.

    Examples
    --------
    >>> load_dataset("mnist").x_train.shape
    (60000, 28, 28)
    """
    if name_or_path == "mnist":
        return _mnist()
    if name_or_path == "quadratic":
        from fl.quadratic import default_quadratic

        return default_quadratic().data
    path = Path(name_or_path)
    if path.is_dir():
        return _from_idx(path)
    if path.is_file() or path.suffix == ".npz":
        return _from_npz(path)
    return _from_keras(str(name_or_path))


@lru_cache(maxsize=1)
def _mnist() -> Dataset:
    advice = "install otafl again, or restore the file"
    try:
        content = MNIST.read_bytes()
    except OSError as error:
        raise FileNotFoundError(f"{MNIST} cannot be read ({error.strerror}): {advice}") from None
    if hashlib.sha256(content).hexdigest() != MNIST_SHA256:
        raise ValueError(f"{MNIST} is not the file that came with the package: {advice}")
    data = _unzipped(MNIST, content)
    for name in ARRAYS:  # all who ask share it
        getattr(data, name).flags.writeable = False
    return data


def _from_npz(path: Path) -> Dataset:
    try:
        content = path.read_bytes()
    except OSError as error:
        raise FileNotFoundError(f"{path} cannot be read: {error.strerror}") from None
    return _unzipped(path, content)


def _unzipped(path: Path, content: bytes) -> Dataset:
    if not zipfile.is_zipfile(io.BytesIO(content)):
        raise ValueError(f"{path} is not a dataset in .npz form, which is a zip file")
    try:
        with np.load(io.BytesIO(content), allow_pickle=False) as arrays:
            missing = [name for name in ARRAYS if name not in arrays]
            if missing:
                raise ValueError(f"has no {', '.join(missing)}: it needs {', '.join(ARRAYS)}")
            loaded = [arrays[name] for name in ARRAYS]
    except (ValueError, TypeError, OSError, EOFError, zipfile.BadZipFile, zlib.error) as error:
        raise ValueError(f"{path} is not a dataset in .npz form: {error}") from None
    return _named(path, loaded)


def _from_idx(folder: Path) -> Dataset:
    return _named(folder, [_idx_array(_idx_file(folder, IDX_NAMES[name])) for name in ARRAYS])


def _idx_file(folder: Path, name: str) -> Path:
    """``train-images-idx3-ubyte`` and its spellings, or with .gz."""
    found = sorted(folder.glob(f"{name}[-.]idx?-*"))
    if not found:
        raise FileNotFoundError(
            f"{folder} has no file {name}-idx*-ubyte, plain or .gz: the four IDX files of a "
            f"dataset are {', '.join(f'{each}-idx*-ubyte' for each in IDX_NAMES.values())}"
        )
    return found[0]


def _idx_array(path: Path) -> NDArray:
    """Two zero bytes, a type, the number of axes; the axes as big-endian uint32; the entries."""
    try:
        content = path.read_bytes()
        if path.suffix == ".gz":
            content = gzip.decompress(content)
    except (OSError, EOFError, zlib.error) as error:
        raise ValueError(f"{path} cannot be read: {error}: get the file again") from None
    if len(content) < 4 or content[:2] != b"\0\0" or content[2] not in IDX_TYPES:
        raise ValueError(f"{path} is not an IDX file: it starts with {content[:4]!r}")
    dtype, axes = np.dtype(IDX_TYPES[content[2]]), content[3]
    start = 4 + 4 * axes
    shape = struct.unpack(f">{axes}I", content[4:start]) if len(content) >= start else (-1,)
    entries = content[start:]
    if len(entries) != np.prod(shape) * dtype.itemsize:
        raise ValueError(
            f"{path} is damaged: it has {len(entries)} bytes of entries where shape {shape} needs "
            f"{np.prod(shape) * dtype.itemsize}: get the file again"
        )
    return np.frombuffer(entries, dtype).reshape(shape).astype(dtype.newbyteorder("="))


def _from_keras(name: str) -> Dataset:
    if name not in KERAS_NAMES:
        known = ("mnist", "quadratic", *KERAS_NAMES)
        near = difflib.get_close_matches(name.lower(), known, n=1)
        hint = f": did you mean {near[0]!r}?" if near else ""
        raise ValueError(
            f"dataset {name!r} is not known: there is no such file or folder, nor is it one of "
            f"{', '.join(known)}{hint}"
        )
    datasets = tensorflow().keras.datasets
    try:
        (x_train, y_train), (x_test, y_test) = getattr(datasets, name).load_data()
    except Exception as error:  # whatever a failed download raises
        raise RuntimeError(
            f"Keras could not get the dataset {name!r} ({error}): connect to the network once, or "
            "give a folder with IDX files or an .npz"
        ) from error
    return _named(name, [x_train, np.squeeze(y_train), x_test, np.squeeze(y_test)])


def _named(source: object, arrays: list[NDArray]) -> Dataset:
    try:
        return Dataset(*arrays)
    except ValueError as error:
        raise ValueError(f"{source}: {error}") from None


def _whole_numbers(name: str, labels: NDArray) -> NDArray[np.int64]:
    if labels.ndim != 1:
        raise ValueError(
            f"{name} has shape {labels.shape}: give one class 0, 1, 2, ... for each sample (of "
            "one-hot labels, argmax(axis=1))"
        )
    whole = labels.astype(np.int64)
    strange = labels[(whole != labels) | (whole < 0)]
    if len(strange):
        raise ValueError(f"{name} has the label {strange[0]}: give classes 0, 1, 2, ...")
    return whole
