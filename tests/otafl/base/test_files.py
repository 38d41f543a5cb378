"""Files are written completely or not at all."""

from __future__ import annotations

import pytest

from otafl._base.files import PART, data_sha256, file_sha256, replacing


def test_a_file_replaces_another(tmp_path):
    path = tmp_path / "file"
    path.write_bytes(b"old")
    with replacing(path) as file:
        file.write(b"new")
        assert path.read_bytes() == b"old"
        assert [each.name.endswith(PART) for each in tmp_path.iterdir()].count(True) == 1
    assert path.read_bytes() == b"new"
    assert list(tmp_path.iterdir()) == [path]


def test_a_failure_leaves_the_old_file_and_nothing_else(tmp_path):
    path = tmp_path / "file"
    path.write_bytes(b"old")

    def fail():
        with replacing(path) as file:
            file.write(b"ne")
            raise RuntimeError("half way")

    with pytest.raises(RuntimeError, match="half way"):
        fail()
    assert path.read_bytes() == b"old"
    assert list(tmp_path.iterdir()) == [path]


def test_a_directory_that_is_not_there(tmp_path):
    with pytest.raises(FileNotFoundError), replacing(tmp_path / "nowhere" / "file"):
        pass


def test_digests_of_a_file(tmp_path):
    """SHA-256 of "abc", from FIPS 180-2, appendix B.1."""
    expected = "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"
    path = tmp_path / "file"
    path.write_bytes(b"abc")
    assert file_sha256(path) == data_sha256(path) == expected
    path.write_bytes(b"abcd")
    assert file_sha256(path) == data_sha256(path) != expected
