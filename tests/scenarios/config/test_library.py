"""The bundled scenarios."""

from __future__ import annotations

from scenarios.config.library import bundled, read_toml


def test_bundled_files_begin_with_what_they_show():
    for path in bundled().values():
        lines = path.read_text().splitlines()
        comment = [line for line in lines[: lines.index("")] if line.startswith("#")]
        assert len(comment) >= 3, path
        assert any("expect" in line for line in comment), path
        assert read_toml(path)["title"]
