"""Files replace others when they are complete."""

from __future__ import annotations

import pytest

from scenarios.errors import ScenarioError, StudyError
from scenarios.study.writing import write_text, writing


def test_text(tmp_path):
    write_text(tmp_path / "file", "old")
    write_text(tmp_path / "file", "ü")
    assert (tmp_path / "file").read_bytes() == "ü".encode()
    assert len(list(tmp_path.iterdir())) == 1


def test_errors_name_the_path(tmp_path):
    with pytest.raises(ScenarioError, match="cannot be written: it is a directory"):
        write_text(tmp_path, "")
    with pytest.raises(StudyError, match="nowhere/file cannot be written: No such file or direc"):
        write_text(tmp_path / "nowhere" / "file", "")


def test_a_failure_leaves_the_old_file(tmp_path):
    def fail():
        with writing(tmp_path / "file") as file:
            file.write(b"ne")
            raise OSError(28, "No space left on device")

    write_text(tmp_path / "file", "old")
    with pytest.raises(StudyError, match="cannot be written: No space left on device"):
        fail()
    assert [path.read_text() for path in tmp_path.iterdir()] == ["old"]
