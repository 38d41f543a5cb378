"""The figures of studies, as files."""

from __future__ import annotations

import shutil
import subprocess
import sys
from pathlib import Path

import matplotlib.pyplot as plt
import pytest

from figures import gallery, style
from otafl._base.validation import OptionError
from scenarios import load_scenario, run_study
from scenarios.errors import ScenarioError, StudyError
from tests.scenarios import small


@pytest.fixture(scope="module")
def folder(data_file, tmp_path_factory):
    place = tmp_path_factory.mktemp("gallery") / "study"
    run_study(load_scenario(small.content(data_file, rounds=2)), place, progress=False)
    return place


def test_the_same_study_gives_the_same_files(folder, tmp_path):
    files = []
    for name in ("one", "other"):
        drawn = gallery.draw_study(folder, ["accuracy"])
        paths = list(gallery.save(drawn, tmp_path / name, gallery.FORMATS))
        assert [path.name for path in paths] == [
            "accuracy.png", "accuracy.svg", "accuracy.pdf", "captions.md",
        ]  # fmt: skip
        files.append([path.read_bytes() for path in paths])
    assert files[0] == files[1]
    caption = (tmp_path / "one" / "captions.md").read_text()
    assert caption.startswith("**accuracy**. small: test accuracy [%] against learning rate")
    assert "test accuracy [%]" in (tmp_path / "one" / "accuracy.svg").read_text()
    assert not plt.get_fignums()


def test_figures_do_not_need_a_screen():
    code = "import figures.gallery, matplotlib; print(matplotlib.get_backend())"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip().lower() == "agg"


def test_a_note_says_what_else_there_is(folder):
    notes = []
    names = [name for name, _ in gallery.draw_study(folder, on_note=notes.append)]
    assert names == ["accuracy", "accuracy_rounds"]
    assert notes == ["also available with --only: local_steps"]


def test_part_of_a_study(folder):
    ((_, figure),) = gallery.draw_study(folder, ["accuracy_rounds"], {"training.rate": 0.5})
    assert len(figure.axes) == 1


def test_unknown_figures_are_refused(folder):
    with pytest.raises(OptionError, match="--only must be one of accuracy, .*did you mean"):
        list(gallery.draw_study(folder, ["acuracy"]))


def test_a_function_of_the_user_s(folder, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    Path("mine.py").write_text(
        "import matplotlib.pyplot as plt\n"
        "def spread(study):\n"
        "    figure, axes = plt.subplots()\n"
        "    axes.plot(study['accuracy'].values.ravel())\n"
        "    return figure\n"
        "def nothing(study): pass\n"
        "def wrong(study): study['colour']\n"
    )
    ((name, figure),) = gallery.draw_study(folder, ["mine.py:spread"])
    assert name == "mine_spread"
    assert len(figure.axes[0].lines[0].get_ydata()) == 8
    with pytest.raises(ScenarioError, match="mine.py:nothing must return a Matplotlib figure"):
        list(gallery.draw_study(folder, ["mine.py:nothing"]))
    with pytest.raises(ScenarioError, match="KeyError.*colour"):
        list(gallery.draw_study(folder, ["mine.py:wrong"]))
    with pytest.raises(ScenarioError, match="--only must be"):
        list(gallery.draw_study(folder, ["mine.py:other"]))


def test_a_study_without_cells_has_nothing_to_draw(folder, tmp_path):
    shutil.copytree(folder, tmp_path / "empty")
    for file in (tmp_path / "empty" / "cells").glob("*.nc"):
        file.unlink()
    with pytest.raises(StudyError, match="has nothing to draw yet: 0 of 8 cells are done"):
        list(gallery.draw_study(tmp_path / "empty"))


def test_captions_of_earlier_figures_stay(folder, tmp_path):
    for name in ("accuracy", "accuracy_rounds", "accuracy"):
        list(gallery.save(gallery.draw_study(folder, [name]), tmp_path, ["svg"]))
    lines = [line for line in (tmp_path / "captions.md").read_text().splitlines() if line]
    assert [line.partition(".")[0] for line in lines] == ["**accuracy**", "**accuracy_rounds**"]


def test_a_link_check_has_one_figure(tmp_path):
    (tmp_path / "link.nc").write_bytes(b"")
    with pytest.raises(ScenarioError, match="holds a link check, which has one figure only"):
        list(gallery.draw_study(tmp_path, ["accuracy"]))


def test_unfinished_studies_are_noted(folder, tmp_path):
    shutil.copytree(folder, tmp_path / "part")
    next((tmp_path / "part" / "cells").glob("*.nc")).unlink()
    notes = []
    list(gallery.draw_study(tmp_path / "part", on_note=notes.append))
    assert notes[0] == f"{tmp_path / 'part'} is not finished: 7 of 8 cells are drawn"


def test_names_of_figures_of_one_s_choice(folder):
    for options, expected in (
        ({"x": "round"}, "test_accuracy_over_round"),
        ({"x": "training.rate", "y": ["accuracy", "nmse"]}, "accuracy_nmse_over_training_rate"),
        ({"kind": "bar"}, "accuracy_over_training_rate_bar"),
        ({"kind": "heatmap", "hue": "nmse"}, "nmse_over_training_rate_and_algorithm"),
    ):
        name, figure = gallery.draw_general([folder], print, {}, **options)
        assert name == expected
        assert style.caption_of(figure)
