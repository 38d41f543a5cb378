"""The README's code runs as it stands, block after block."""

from __future__ import annotations

import re
from pathlib import Path

from scenarios import load_scenario
from scenarios.library import shipped

README = Path(__file__).parent.parent / "README.md"


def test_code_blocks_run(capsys, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    blocks = re.findall(r"```python\n(.*?)```", README.read_text(), re.DOTALL)
    assert len(blocks) >= 2
    names: dict[str, object] = {}
    for block in blocks:
        exec(compile(block, str(README), "exec"), names)  # our own text
    assert "NMSE" in capsys.readouterr().out


def test_its_scenario_is_one(tmp_path):
    (block,) = re.findall(r"```toml\n(.*?)```", README.read_text(), re.DOTALL)
    (tmp_path / "readme.toml").write_text(block)
    assert len(load_scenario(tmp_path / "readme.toml").cells) == 2 * 3 * 3 * 2


def test_it_names_every_scenario_and_no_other():
    table = README.read_text().partition("| scenario |")[2].partition("\n\n")[0]
    named = re.findall(
        r"`([a-z0-9-]+)`", "".join(row.split("|")[1] for row in table.splitlines()[2:])
    )
    assert sorted(named) == sorted(shipped())


def test_its_pictures_are_there():
    for path in re.findall(r"!\[.*?\]\((.*?)\)", README.read_text()):
        assert (README.parent / path).is_file(), path
