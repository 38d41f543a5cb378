"""Files of impulse responses: every format gives the same recording, and bad ones say why."""

from __future__ import annotations

import hashlib
import os
import re

import h5py
import numpy as np
import pytest
from scipy.io import savemat

from phy.cir_file import read_recording, verified_digest

# two clients, two snapshots, two paths: powers 1 and 9 + 16 = 25, so 13; and 4 and 0, so 2
A = np.array([[[0.6, 0.8j], [3.0, 4j]], [[0.0, 2.0], [0.0, 0.0]]])
TAU = np.array([[0.0, 2e-7], [1e-7, 3e-7]])


def read(file):
    return read_recording(str(file), verified_digest(str(file), ""))


def write_npz(file, **arrays):
    np.savez(file, **arrays)


def write_hdf5(file, **arrays):
    with h5py.File(file, "w") as stored:
        for name, array in arrays.items():
            stored[name] = array


def write_mat(file, **arrays):
    savemat(file, {name: squeezed(array) for name, array in arrays.items()})


def write_mat_7_3(file, **arrays):
    """As MATLAB does: axes in reverse order, complex numbers as pairs, a block of its own ahead."""
    with h5py.File(file, "w", userblock_size=512) as stored:
        for name, array in arrays.items():
            matrix = squeezed(np.atleast_2d(array)).T
            if np.iscomplexobj(matrix):
                pairs = np.empty(matrix.shape, [("real", "f8"), ("imag", "f8")])
                pairs["real"], pairs["imag"] = matrix.real, matrix.imag
                matrix = pairs
            stored[name] = matrix
    with open(file, "r+b") as block:
        block.write(b"MATLAB 7.3 MAT-file")


def squeezed(array):
    """MATLAB keeps two axes at least, and no last one of length one beyond them."""
    array = np.asarray(array)
    while array.ndim > 2 and array.shape[-1] == 1:
        array = array[..., 0]
    return array


FORMATS = {
    "cir.npz": write_npz,
    "cir.h5": write_hdf5,
    "cir.HDF5": write_hdf5,
    "cir.mat": write_mat,
    "new.mat": write_mat_7_3,
}
formats = pytest.mark.parametrize(("name", "write"), FORMATS.items(), ids=FORMATS)


@formats
def test_every_format_gives_the_same_recording(name, write, tmp_path):
    write(tmp_path / name, a=A, tau=TAU, interval=2e-3)
    recording = read(tmp_path / name)
    assert recording.path_gain == pytest.approx((13.0, 2.0))
    assert recording.interval == pytest.approx(2e-3)
    expected = A / np.sqrt([13.0, 2.0])[:, None, None]
    np.testing.assert_allclose(recording.gains, expected, rtol=1e-6)
    assert recording.gains.dtype == np.complex64
    # the first path of client 1 is absent, so its delay is of no consequence
    shown = [[[0.0, 2e-7]] * 2, [[0.0, 3e-7]] * 2]
    np.testing.assert_array_equal(recording.delays, shown)
    assert recording.shared_delays is None


@formats
def test_delays_of_every_snapshot(name, write, tmp_path, rng):
    a = rng.standard_normal((3, 4, 5)) + 1j * rng.standard_normal((3, 4, 5))
    tau = rng.uniform(0, 1e-6, (3, 4, 5))
    write(tmp_path / name, a=a, tau=tau)
    recording = read(tmp_path / name)
    np.testing.assert_array_equal(recording.delays, tau)
    assert recording.interval is None
    power = np.square(np.abs(recording.gains)).sum(axis=2).mean(axis=1)
    np.testing.assert_allclose(power, 1, rtol=1e-6)


@formats
@pytest.mark.parametrize("shape", [(3, 4, 1), (3, 1)], ids=["by snapshot", "by client"])
def test_a_single_path(name, write, shape, tmp_path, rng):
    """Its axis is dropped by MATLAB, in whose files ``a`` is [clients, snapshots]."""
    a = np.exp(2j * np.pi * rng.random((3, 4, 1)))
    tau = rng.uniform(0, 1e-6, shape)
    write(tmp_path / name, a=a, tau=tau)
    recording = read(tmp_path / name)
    np.testing.assert_allclose(recording.gains, a, rtol=1e-6)
    np.testing.assert_array_equal(recording.delays, np.broadcast_to(tau.reshape(3, -1, 1), a.shape))


@formats
def test_a_single_snapshot_and_client(name, write, tmp_path):
    write(tmp_path / name, a=np.ones((1, 1, 2)), tau=np.array([[0.0, 1e-7]]))
    recording = read(tmp_path / name)
    np.testing.assert_allclose(recording.gains, np.full((1, 1, 2), np.sqrt(0.5)), rtol=1e-6)
    np.testing.assert_array_equal(recording.shared_delays, [0.0, 1e-7])


def test_shared_delays(tmp_path):
    np.savez(tmp_path / "cir.npz", a=np.ones((2, 3, 2)), tau=np.tile([0.0, 1e-7], (2, 3, 1)))
    np.testing.assert_array_equal(read(tmp_path / "cir.npz").shared_delays, [0.0, 1e-7])


def test_absent_paths_may_have_any_delay(tmp_path):
    """Sionna RT writes -1."""
    tau = np.array([[[0.0, -1.0], [0.0, 1e-7]], [[np.nan, 1e-7], [0.0, np.inf]]])
    np.savez(tmp_path / "cir.npz", a=np.where((tau >= 0) & (tau < 1), 1.0, 0.0), tau=tau)
    expected = [[[0.0, 0.0], [0.0, 1e-7]], [[0.0, 1e-7], [0.0, 0.0]]]
    np.testing.assert_array_equal(read(tmp_path / "cir.npz").delays, expected)


def test_the_digest_is_that_of_sha256sum_and_of_the_file_as_it_is(tmp_path):
    file = tmp_path / "cir.npz"
    np.savez(file, a=A, tau=TAU)
    before = verified_digest(str(file), "")
    assert before == hashlib.sha256(file.read_bytes()).hexdigest()
    np.savez(file, a=2 * A, tau=TAU)
    os.utime(file, ns=(1, 1))
    after = verified_digest(str(file), "")
    message = re.escape(f"{file} has changed: its sha256 was {before}, and is now {after}")
    with pytest.raises(ValueError, match=message):
        read_recording(str(file), before)


def test_a_file_is_read_once(tmp_path, monkeypatch):
    np.savez(tmp_path / "cir.npz", a=A, tau=TAU)
    first = read(tmp_path / "cir.npz")
    monkeypatch.setattr(np, "load", None)
    assert read(tmp_path / "cir.npz") is first
    with pytest.raises(ValueError, match="read-only"):
        first.gains[0] = 0


GOOD = {"a": A, "tau": TAU}


@pytest.mark.parametrize(
    ("arrays", "message"),
    [
        ({"tau": TAU}, "must have the arrays 'a' and 'tau', got no 'a'"),
        ({"a": A}, "must have the arrays 'a' and 'tau', got no 'tau'"),
        ({**GOOD, "a": A[0, 0]}, r"a in .* the shape \[clients, snapshots, paths\], got \[2\]"),
        ({**GOOD, "a": A[:, :0]}, r"a in .* the shape .*, got \[2, 0, 2\]"),
        (
            {**GOOD, "tau": TAU[:1]},
            r"tau in .* the shape of a, \[2, 2, 2\], or \[clients, paths\], \[2, 2\], got \[1, 2\]",
        ),
        ({**GOOD, "a": np.array([["x"]])}, "a in .* must be complex numbers, got an array of <U1"),
        ({**GOOD, "tau": 1j * TAU}, "tau in .* must be real numbers, got an array of complex128"),
        ({**GOOD, "tau": -TAU}, r"tau in .* must be delays >= 0 in seconds, got -3e-07"),
        ({**GOOD, "a": A * np.nan}, r"a in .* must be finite, got \(?nan.* at \[0, 0, 0\]"),
        ({**GOOD, "tau": TAU + np.inf}, r"tau in .* must be finite, got inf at \[0, 0\]"),
        (
            {**GOOD, "a": A * [[[1]], [[0]]]},
            "a in .* must have a finite mean power > 0 for every client, got 0 for client 1",
        ),
        ({**GOOD, "a": A * 1e200}, "a finite mean power > 0 .*, got inf for client 0"),
        ({**GOOD, "interval": 0.0}, r"interval in .* must be a finite number > 0, got .*0\.0"),
        ({**GOOD, "interval": [1.0, 2.0]}, r"interval in .* must be a finite number > 0, got"),
    ],
)
def test_bad_arrays_are_refused_by_name(arrays, message, tmp_path):
    np.savez(tmp_path / "cir.npz", **arrays)
    with pytest.raises(ValueError, match=message) as refused:
        read(tmp_path / "cir.npz")
    assert str(tmp_path / "cir.npz") in str(refused.value)


@formats
@pytest.mark.parametrize("damage", ["empty", "truncated", "foreign"])
def test_unreadable_files_are_refused_in_one_line(name, write, damage, tmp_path):
    file = tmp_path / name
    write(file, a=np.tile(A, (1, 500, 1)), tau=TAU)
    content = {"empty": b"", "truncated": file.read_bytes()[:2000], "foreign": b"no array\n" * 99}
    file.write_bytes(content[damage])
    message = f"must be a valid {file.suffix} file, got one that cannot be read: ."
    with pytest.raises(ValueError, match=message) as refused:
        read(file)
    assert "\n" not in str(refused.value)


def test_pickled_objects_are_refused(tmp_path):
    np.savez(tmp_path / "cir.npz", a=np.array([print], object), tau=TAU)
    with pytest.raises(ValueError, match="cannot be read: Object arrays cannot be loaded when"):
        read(tmp_path / "cir.npz")


def test_a_group_is_not_an_array(tmp_path):
    with h5py.File(tmp_path / "cir.h5", "w") as stored:
        stored.create_group("a")
        stored["tau"] = TAU
    with pytest.raises(ValueError, match="must have the arrays 'a' and 'tau', got no 'a'"):
        read(tmp_path / "cir.h5")


def test_a_file_that_does_not_exist(tmp_path):
    with pytest.raises(ValueError, match="file must be an existing file, got '.*none.npz'"):
        verified_digest(str(tmp_path / "none.npz"), "")
