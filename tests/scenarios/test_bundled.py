"""Cross-cutting: every bundled scenario for two rounds, from run to every figure it has."""

from __future__ import annotations

import json

import pytest

from figures import gallery, style
from figures.shipped import SHIPPED, answering, applicable
from scenarios.config.library import bundled, read_toml
from tests.figures.layout import assert_printable
from tests.scenarios import small

SNR = "link.entry_snr_db"


@pytest.mark.parametrize("name", bundled())
def test_two_rounds(name, tmp_path):
    options = ["--rounds", 2, "--seeds", 1, "--out", "study"]
    sweep = read_toml(bundled()[name])["sweep"]
    if name.startswith("table1-"):  # the layout of all panels is that of table1
        options += ["--set", "sweep.data.labels_per_client=[1, 10]"]
    if SNR in sweep:  # six of them would take long
        options += ["--set", f"sweep.{SNR}=[-18.949, 20.0]"]
    run = small.otafl("run", name, *options, cwd=tmp_path)
    assert run.returncode == 0, run.stderr
    rows = json.loads(small.otafl("show", "study", "--json", cwd=tmp_path).stdout)
    assert all(row["diverged"] == 0 for row in rows)
    if name == "table1":
        assert len(rows) == 48  # 36 points, 12 of them in two readings
        assert all(row["paper_percent"] > 40 for row in rows)
    if name != "theorem2":  # which has no classes
        assert all(row["n"] == 1 and 5 < row["accuracy_percent"] < 100 for row in rows)
    study = gallery.read_for_figures(tmp_path / "study")
    if SNR in sweep:
        study = study.reindex(entry_snr_db=sweep[SNR], method="nearest")
    check_figures(study)


def check_figures(study):
    """Draw every figure as it would be printed, and those that answer the question for slides."""
    notes = []
    names = answering(study)
    assert 1 <= len(names) <= 4
    for look, chosen in (("paper", applicable(study)), ("slides", names)):
        with style.context(look):
            for name in chosen:
                figure = SHIPPED[name].draw(study, notes.append)
                panels = [axes for axes in figure.axes if axes.get_label() != "<colorbar>"]
                assert len(panels) <= 6
                assert style.caption_of(figure).endswith(".")
                assert_printable(figure)
    assert all("--where" in note for note in notes)
