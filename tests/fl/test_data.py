"""Datasets are read as they are in the files; damaged files are named."""

from __future__ import annotations

import gzip
import os
import struct
import subprocess
import sys

import numpy as np
import pytest

import fl.data
from fl import Dataset, load_dataset

SPELLINGS = {
    "x_train": ("train-images-idx3-ubyte", "train-images.idx3-ubyte"),
    "y_train": ("train-labels-idx1-ubyte", "train-labels.idx1-ubyte"),
    "x_test": ("t10k-images-idx3-ubyte", "t10k-images.idx3-ubyte"),
    "y_test": ("t10k-labels-idx1-ubyte", "t10k-labels.idx1-ubyte"),
}


@pytest.fixture
def small(rng):
    return {
        "x_train": rng.integers(0, 256, (20, 28, 28), dtype=np.uint8),
        "y_train": np.arange(20, dtype=np.uint8) % 10,
        "x_test": rng.integers(0, 256, (10, 28, 28), dtype=np.uint8),
        "y_test": np.arange(10, dtype=np.uint8),
    }


def idx_bytes(array: np.ndarray) -> bytes:
    header = struct.pack(f">BBBB{array.ndim}I", 0, 0, 0x08, array.ndim, *array.shape)
    return header + array.tobytes()


def check_equal(dataset, arrays):
    for name, array in arrays.items():
        np.testing.assert_array_equal(getattr(dataset, name), array)


def test_mnist_is_the_whole_set():
    mnist = load_dataset("mnist")
    assert mnist.x_train.shape == (60000, 28, 28)
    assert mnist.x_test.shape == (10000, 28, 28)
    assert mnist.x_train.dtype == np.uint8
    assert mnist.num_classes == 10
    # the numbers of each digit, as published
    assert np.bincount(mnist.y_train).tolist() == [
        5923, 6742, 5958, 6131, 5842, 5421, 5918, 6265, 5851, 5949,
    ]  # fmt: skip
    assert load_dataset("mnist") is mnist


@pytest.mark.parametrize("content", [None, b"", b"PK damaged"])
def test_damaged_mnist_is_named(content, tmp_path, monkeypatch):
    path = tmp_path / "mnist.npz"
    if content is not None:
        path.write_bytes(content)
    monkeypatch.setattr(fl.data, "MNIST", path)
    fl.data._mnist.cache_clear()
    with pytest.raises((ValueError, FileNotFoundError), match="mnist.npz.*reinstall otafl"):
        load_dataset("mnist")


def test_npz(small, tmp_path):
    np.savez_compressed(tmp_path / "own.npz", **small)
    check_equal(load_dataset(tmp_path / "own.npz"), small)
    check_equal(load_dataset(str(tmp_path / "own.npz")), small)


def test_npz_errors(small, tmp_path):
    with pytest.raises(FileNotFoundError, match="nothing.npz"):
        load_dataset(tmp_path / "nothing.npz")
    np.savez(tmp_path / "half.npz", x_train=small["x_train"])
    with pytest.raises(ValueError, match="half.npz.*but has no y_train, x_test, y_test"):
        load_dataset(tmp_path / "half.npz")
    np.savez(tmp_path / "whole.npz", **small)
    whole = (tmp_path / "whole.npz").read_bytes()
    for cut in (0, 10, len(whole) // 2, len(whole) - 10):
        (tmp_path / "cut.npz").write_bytes(whole[:cut])
        with pytest.raises(ValueError, match="cut.npz"):
            load_dataset(tmp_path / "cut.npz")
    np.savez(tmp_path / "objects.npz", **{**small, "y_train": np.array([{}] * 20)})
    with pytest.raises(ValueError, match="objects.npz.*pickle"):
        load_dataset(tmp_path / "objects.npz")


@pytest.mark.parametrize("spelling", [0, 1])
@pytest.mark.parametrize("zipped", [False, True])
def test_idx_folder(small, tmp_path, spelling, zipped):
    for name, array in small.items():
        content = idx_bytes(array)
        path = tmp_path / (SPELLINGS[name][spelling] + ".gz" * zipped)
        path.write_bytes(gzip.compress(content) if zipped else content)
    check_equal(load_dataset(tmp_path), small)


@pytest.mark.parametrize(
    ("kind", "dtype"), [(0x09, ">i1"), (0x0B, ">i2"), (0x0C, ">i4"), (0x0D, ">f4"), (0x0E, ">f8")]
)
def test_idx_types(small, tmp_path, kind, dtype):
    for name, array in small.items():
        (tmp_path / SPELLINGS[name][0]).write_bytes(idx_bytes(array))
    typed = (small["x_train"] // 2).astype(dtype)
    header = struct.pack(">BBBB3I", 0, 0, kind, 3, *typed.shape)
    (tmp_path / SPELLINGS["x_train"][0]).write_bytes(header + typed.tobytes())
    np.testing.assert_array_equal(load_dataset(tmp_path).x_train, small["x_train"] // 2)


def test_idx_errors(small, tmp_path):
    for name, array in small.items():
        (tmp_path / SPELLINGS[name][0]).write_bytes(idx_bytes(array))
    images = tmp_path / SPELLINGS["x_train"][0]
    whole = images.read_bytes()
    for content in (whole[:-1], whole + b"0", whole[:9], b"\0\0\x08\x03"):
        images.write_bytes(content)
        with pytest.raises(ValueError, match="train-images-idx3-ubyte is damaged"):
            load_dataset(tmp_path)
    for content in (b"", b"<html>"):
        images.write_bytes(content)
        with pytest.raises(ValueError, match="train-images-idx3-ubyte is not an IDX file"):
            load_dataset(tmp_path)
    images.unlink()
    with pytest.raises(FileNotFoundError, match="no file train-images-idx"):
        load_dataset(tmp_path)
    (tmp_path / "train-images-idx3-ubyte.gz").write_bytes(gzip.compress(whole)[:50])
    with pytest.raises(ValueError, match="train-images-idx3-ubyte.gz cannot be read"):
        load_dataset(tmp_path)


def test_keras_dataset_by_name(small, tmp_path):
    """The real loader of Keras, with files that are already in its cache."""
    folder = tmp_path / "datasets" / "fashion-mnist"
    folder.mkdir(parents=True)
    for name, array in small.items():
        (folder / f"{SPELLINGS[name][0]}.gz").write_bytes(gzip.compress(idx_bytes(array)))
    np.savez(tmp_path / "small.npz", **small)
    script = (
        "import sys, numpy as np; from fl import load_dataset\n"
        "data, truth = load_dataset('fashion_mnist'), np.load(sys.argv[1])\n"
        "assert all((getattr(data, name) == truth[name]).all() for name in truth)"
    )
    environment = {**os.environ, "KERAS_HOME": str(tmp_path)}
    subprocess.run(
        [sys.executable, "-c", script, str(tmp_path / "small.npz")], check=True, env=environment
    )


def test_keras_errors(monkeypatch):
    from tensorflow import keras

    def unreachable():
        raise OSError("URL fetch failure")

    with pytest.raises(
        ValueError, match="dataset must be .* got 'fashion_minst'; did you mean 'fashion_m"
    ):
        load_dataset("fashion_minst")
    with pytest.raises(ValueError, match="did you mean 'mnist'"):
        load_dataset("MNIST")
    monkeypatch.setattr(keras.datasets.cifar10, "load_data", unreachable)
    with pytest.raises(RuntimeError, match="'cifar10' .URL fetch failure.*network"):
        load_dataset("cifar10")


def test_quadratic():
    data = load_dataset("quadratic")
    assert data.num_classes == 10
    assert data.sample_shape == (20,)


@pytest.mark.parametrize(
    ("changed", "message"),
    [
        ({"x_train": np.full((20, 3), np.nan)}, "x_train must be finite, got an entry nan"),
        ({"x_train": np.zeros((0, 3))}, "x_train must be .*, got float64 of shape .0, 3."),
        ({"x_train": np.array(["a"] * 20)}, "x_train must be .*, got <U1"),
        ({"y_train": np.full(20, 0.5)}, "y_train must be classes 0, 1, 2, .*, got the label 0.5"),
        ({"y_train": np.full(20, -1)}, "y_train must be classes .*, got the label -1"),
        (
            {"y_train": np.zeros((20, 1), int)},
            "y_train must be one class .* per sample, got shape .20, 1.",
        ),
        ({"y_train": np.zeros(19, int)}, "y_train must have 20 labels, like x_train, got 19"),
        (
            {"x_test": np.zeros((10, 4))},
            "x_test must have samples of shape .3,., like x_train, got .4,.",
        ),
    ],
)
def test_refused_arrays(changed, message):
    arrays = {
        "x_train": np.zeros((20, 3)),
        "y_train": np.zeros(20, int),
        "x_test": np.zeros((10, 3)),
        "y_test": np.zeros(10, int),
    }
    Dataset(**arrays)
    with pytest.raises(ValueError, match=message):
        Dataset(**{**arrays, **changed})
