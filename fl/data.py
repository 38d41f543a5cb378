"""Datasets: MNIST, bundled with the package; those of Keras by name; and files of your own."""

from __future__ import annotations

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

from otafl._base.lazy import tensorflow
from otafl._base.names import check_names, did_you_mean, options
from otafl._base.validation import OptionError, assign

MNIST = Path(__file__).parent / "datasets" / "mnist.npz"
MNIST_SHA256 = "06af5dfe73b70e3bc1c36439982b18a8d76803db9b544f6fdf838a37fbb01b64"
ARRAYS = ("x_train", "y_train", "x_test", "y_test")
IDX_NAMES = ("train-images", "train-labels", "t10k-images", "t10k-labels")
KERAS_NAMES = ("cifar10", "cifar100", "fashion_mnist")
IDX_TYPES = {0x08: ">u1", 0x09: ">i1", 0x0B: ">i2", 0x0C: ">i4", 0x0D: ">f4", 0x0E: ">f8"}


@options
@dataclass(frozen=True, eq=False)
class Dataset:
    """Labelled samples, divided into a training set and a test set.

    Parameters
    ----------
    x_train, x_test : array_like, [n, ...]
        Samples, of any real type; bytes (uint8) stand for brightness and are read as x / 255.
    y_train, y_test : array_like of int, [n]
        The class of each sample: 0, 1, 2, ...

    Raises
    ------
    ValueError
        If an array is empty, not finite or not numeric, or if the arrays do not fit together.

    Examples
    --------
    >>> Dataset(np.zeros((6, 3)), [0, 1, 2, 0, 1, 2], np.ones((2, 3)), [0, 1])
    Dataset(6 training and 2 test samples of shape (3,), 3 classes)
    """

    x_train: NDArray
    y_train: NDArray
    x_test: NDArray
    y_test: NDArray

    def __post_init__(self) -> None:
        for name in ARRAYS:
            array = np.asarray(getattr(self, name))
            if array.dtype.kind not in "fiu" or array.ndim == 0 or array.size == 0:
                must = "an array of numbers with at least one sample"
                raise OptionError(name, must, got=f"{array.dtype} of shape {array.shape}")
            if array.dtype.kind == "f" and not np.isfinite(array).all():
                wrong = array[~np.isfinite(array)][0]
                raise OptionError(name, "finite", got=f"an entry {wrong}")
            if name.startswith("y"):
                array = _whole_numbers(name, array)
            assign(self, **{name: array})
        for part in ("train", "test"):
            x, y = getattr(self, f"x_{part}"), getattr(self, f"y_{part}")
            if len(x) != len(y):
                raise ValueError(f"y_{part} must have {len(x)} labels, like x_{part}, got {len(y)}")
        given, fits = self.x_test.shape[1:], self.sample_shape
        if given != fits:
            raise ValueError(f"x_test must have samples of shape {fits}, like x_train, got {given}")

    def __repr__(self) -> str:
        sizes = f"{len(self.y_train)} training and {len(self.y_test)} test samples"
        return f"Dataset({sizes} of shape {self.sample_shape}, {self.num_classes} classes)"

    @property
    def num_classes(self) -> int:
        """One more than the largest label."""
        return int(max(self.y_train.max(), self.y_test.max())) + 1

    @property
    def sample_shape(self) -> tuple[int, ...]:
        """Shape of one sample."""
        return self.x_train.shape[1:]


@check_names
def load_dataset(name_or_path: str | Path) -> Dataset:
    """Load a dataset by name or from files.

    Parameters
    ----------
    name_or_path : str or Path
        ``"mnist"``, which is bundled with the package; ``"fashion_mnist"``, ``"cifar10"`` or
        ``"cifar100"``, which Keras downloads; ``"quadratic"``, the samples of the default problem
        of :mod:`fl.quadratic`, one label per client (:func:`fl.quadratic.default_quadratic` has
        them with their model); an .npz file with ``x_train``, ``y_train``, ``x_test`` and
        ``y_test``; or a folder with four IDX files like those of MNIST, plain or gzipped.

    Returns
    -------
    Dataset
        The samples. That of ``"mnist"`` is shared and read-only.

    Raises
    ------
    ValueError
        If there is no such dataset, or if a file is damaged or incomplete.
    FileNotFoundError
        If a file is missing.
    RuntimeError
        If Keras cannot download the dataset.

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
        return _named(path, [_idx_array(_idx_file(path, name)) for name in IDX_NAMES])
    if path.is_file() or path.suffix == ".npz":
        return _from_npz(path)
    return _from_keras(str(name_or_path))


@lru_cache(maxsize=1)
def _mnist() -> Dataset:
    advice = "reinstall otafl, or restore the file"
    try:
        content = MNIST.read_bytes()
    except OSError as error:
        raise FileNotFoundError(f"{MNIST} cannot be read ({error.strerror}); {advice}") from None
    if hashlib.sha256(content).hexdigest() != MNIST_SHA256:
        raise ValueError(f"{MNIST} is not the file bundled with the package; {advice}")
    data = _unzipped(MNIST, content)
    for name in ARRAYS:  # all callers share it
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
        raise ValueError(f"{path} is not a dataset in .npz form, which is a zip archive")
    try:
        with np.load(io.BytesIO(content), allow_pickle=False) as arrays:
            missing = ", ".join(name for name in ARRAYS if name not in arrays)
            if missing:
                raise ValueError(f"it must have {', '.join(ARRAYS)}, but has no {missing}")
            loaded = [arrays[name] for name in ARRAYS]
    except (ValueError, TypeError, OSError, EOFError, zipfile.BadZipFile, zlib.error) as error:
        raise ValueError(f"{path} is not a dataset in .npz form: {error}") from None
    return _named(path, loaded)


def _idx_file(folder: Path, name: str) -> Path:
    """Return the path of ``train-images-idx3-ubyte`` or a variant of it, plain or .gz."""
    found = sorted(folder.glob(f"{name}[-.]idx?-*"))
    if not found:
        raise FileNotFoundError(
            f"{folder} has no file {name}-idx*-ubyte, plain or .gz; the four IDX files of a "
            f"dataset are {', '.join(f'{each}-idx*-ubyte' for each in IDX_NAMES)}"
        )
    return found[0]


def _idx_array(path: Path) -> NDArray:
    """Read an IDX file.

    The format is two zero bytes, a type and the number of axes; the lengths of the axes as
    big-endian uint32; the entries.
    """
    try:
        content = path.read_bytes()
        if path.suffix == ".gz":
            content = gzip.decompress(content)
    except (OSError, EOFError, zlib.error) as error:
        raise ValueError(f"{path} cannot be read ({error}); download it again") from None
    if len(content) < 4 or content[:2] != b"\0\0" or content[2] not in IDX_TYPES:
        raise ValueError(f"{path} is not an IDX file: it starts with {content[:4]!r}")
    dtype, axes = np.dtype(IDX_TYPES[content[2]]), content[3]
    start = 4 + 4 * axes
    shape = struct.unpack(f">{axes}I", content[4:start]) if len(content) >= start else (-1,)
    entries = content[start:]
    if len(entries) != np.prod(shape) * dtype.itemsize:
        raise ValueError(
            f"{path} is damaged: shape {shape} needs {np.prod(shape) * dtype.itemsize} bytes of "
            f"entries, got {len(entries)}; download it again"
        )
    return np.frombuffer(entries, dtype).reshape(shape).astype(dtype.newbyteorder("="))


def _from_keras(name: str) -> Dataset:
    if name not in KERAS_NAMES:
        known = ("mnist", "quadratic", *KERAS_NAMES)
        raise ValueError(
            f"dataset must be a file, a folder or one of {', '.join(known)}, got {name!r}"
            + did_you_mean(name, known)
        )
    datasets = tensorflow().keras.datasets
    try:
        (x_train, y_train), (x_test, y_test) = getattr(datasets, name).load_data()
    except Exception as error:  # whatever a failed download raises
        raise RuntimeError(
            f"Keras could not download the dataset {name!r} ({error}); connect to the network "
            "once, or use a folder with IDX files or an .npz file"
        ) from error
    return _named(name, [x_train, np.squeeze(y_train), x_test, np.squeeze(y_test)])


def _named(source: object, arrays: list[NDArray]) -> Dataset:
    try:
        return Dataset(*arrays)
    except ValueError as error:
        raise ValueError(f"{source}: {error}") from None


def _whole_numbers(name: str, labels: NDArray) -> NDArray[np.int64]:
    if labels.ndim != 1:
        got = f"shape {labels.shape} (use argmax(axis=1) of one-hot labels)"
        raise OptionError(name, "one class 0, 1, 2, ... per sample", got=got)
    whole = labels.astype(np.int64)
    strange = labels[(whole != labels) | (whole < 0)]
    if len(strange):
        raise OptionError(name, "classes 0, 1, 2, ...", got=f"the label {strange[0]}")
    return whole
