"""Studies side by side, and paired differences."""

from __future__ import annotations

import json
import math

import numpy as np
import pytest

from otafl.cli import main
from scenarios import ScenarioError, load_scenario
from scenarios.report.comparison import Difference, differences, left_out, other_settings
from scenarios.study.cellfile import CellFile
from tests.scenarios import small
from tests.scenarios.study.cells import cell_of, start_study

T_2 = 4.302653  # Student's t with 2 degrees of freedom exceeds this with a chance of 2.5 %
T_1 = 12.706205  # and with 1


def study(folder, accuracy, sweep, diverged=(), **tables):
    """Write a study whose cells have given accuracies in percent, in the order of the sweep.

    None is a cell that is not finished.
    """
    content = {
        "algorithm": {"name": "cotaf"},
        "link": {"kind": "gaussian", "snr_db": 10.0},
        "training": {"rounds": 2, "final_rounds": 2},
        "sweep": sweep,
        **tables,
    }
    scenario = load_scenario(content)
    kept = start_study(scenario, folder)
    assert len(scenario.cells) == len(accuracy)
    for number, (cell, percent) in enumerate(zip(scenario.cells, accuracy, strict=True)):
        if percent is None:
            continue
        tests = np.array([percent - 1, percent + 1]) / 100  # the mean of the last two rounds
        file = CellFile(
            cell.settings(),
            {"test_accuracy": (("round",), tests)},
            "it diverged" if number in diverged else "",
            {},
            {},
            cell.digest(),
        )
        kept.write_cell(cell.digest(), file.to_bytes())
    return folder


@pytest.fixture
def otafl(tmp_path, monkeypatch, capsys):
    """Call the command line in this process; return the exit code and what is printed."""
    monkeypatch.chdir(tmp_path)

    def call(*arguments):
        code = main(arguments)
        return code, *capsys.readouterr()

    return call


def cells_in(line):
    return [cell.strip() for cell in line.strip("│┃").replace("┃", "│").split("│")]


SNRS = {"link.snr_db": [0.0, 10.0], "seed": [0, 1, 2]}


@pytest.fixture
def two(tmp_path):
    """Differences of 1, 3 and 2 points at 0 dB, and of -1, -1 and -1 at 10 dB."""
    first = study(tmp_path / "first", [70, 72, 77, 80, 81, 82], SNRS)
    second = study(tmp_path / "second", [71, 75, 79, 79, 80, 81], SNRS, link={"kind": "fading"})
    return first, second


def test_differences_are_paired_over_the_seeds(two):
    low, high = differences(*two)
    assert low.place == (("link.snr_db", 0.0),)
    assert (low.first, low.second) == (pytest.approx(73.0), pytest.approx(75.0))
    assert low.mean == pytest.approx(2.0)
    assert low.half == pytest.approx(T_2 * 1 / math.sqrt(3), rel=1e-6)  # 2.484138
    assert low.pairs == 3
    assert high.place == (("link.snr_db", 10.0),)
    assert (high.mean, high.half) == (pytest.approx(-1.0), pytest.approx(0.0, abs=1e-12))


def test_a_study_does_not_differ_from_itself(two):
    for each in differences(two[0], two[0]):
        assert (each.mean, each.half, each.pairs) == (0.0, 0.0, 3)


def test_the_other_way_round_the_sign_changes(two):
    forth, back = differences(*two), differences(two[1], two[0])
    for one, other in zip(forth, back, strict=True):
        assert other == Difference(one.place, one.second, one.first, -one.mean, one.half, one.pairs)


def test_only_points_and_seeds_that_both_have_are_compared(tmp_path):
    first = study(tmp_path / "a", [70, 72, 50, 80, 81, 60], SNRS)
    sweep = {"seed": [0, 1, 7], "link.snr_db": [20.0, 0.0]}  # in another order, too
    second = study(tmp_path / "b", [90, 73, 91, 77, 92, 78], sweep)
    (only,) = differences(first, second)
    assert only.place == (("link.snr_db", 0.0),)
    assert (only.first, only.second) == (pytest.approx(71.0), pytest.approx(75.0))  # seeds 0 and 1
    assert only.mean == pytest.approx(4.0)  # of 3 and 5
    assert only.half == pytest.approx(T_1 * math.sqrt(2) / math.sqrt(2), rel=1e-6)
    assert only.pairs == 2


def test_runs_that_diverged_or_are_not_finished_have_no_pair(tmp_path):
    sweep = {"seed": [0, 1, 2, 3]}
    first = study(tmp_path / "a", [70, 72, None, 75], sweep)
    second = study(tmp_path / "b", [71, 73, 74, 10], sweep, diverged=[3])
    (only,) = differences(first, second)
    assert (only.place, only.pairs) == ((), 2)
    assert only.mean == pytest.approx(1.0)


def test_of_one_seed_there_is_no_interval(tmp_path):
    first, second = (study(tmp_path / name, [70 + i], {"seed": [0]}) for i, name in enumerate("ab"))
    (only,) = differences(first, second)
    assert only.mean == pytest.approx(1.0)
    assert math.isnan(only.half)


def test_a_key_that_only_one_of_them_sweeps_is_compared_where_the_other_stands(tmp_path):
    """The first is at 10 dB throughout."""
    first = study(tmp_path / "a", [70, 72], {"seed": [0, 1]})
    second = study(tmp_path / "b", [60, 61, 75, 76], {"link.snr_db": [0.0, 10.0], "seed": [0, 1]})
    for one, other, sign in ((first, second, 1), (second, first, -1)):
        (only,) = differences(one, other)
        assert only.place == (("link.snr_db", 10.0),)
        assert only.mean == pytest.approx(sign * 4.5)


def test_a_seed_that_is_not_swept_is_a_seed(tmp_path):
    first = study(tmp_path / "a", [70], {}, seed=3)
    second = study(tmp_path / "b", [71, 75], {"seed": [2, 3]})
    (only,) = differences(first, second)
    assert (only.mean, only.pairs) == (pytest.approx(5.0), 1)


def test_whole_numbers_and_floats_are_one_place(tmp_path):
    first = study(tmp_path / "a", [70], {"link.snr_db": [5]})
    second = study(tmp_path / "b", [71], {"link.snr_db": [5.0]})
    assert len(differences(first, second)) == 1


def test_variants_are_compared_by_their_names(tmp_path):
    variants = {"weak": {"link.power": 1.0}, "strong": {"link.power": 4.0}}
    first = study(tmp_path / "a", [70, 80], {"variant": variants})
    renamed = {"weak": {"link.power": 0.5}, "other": {"link.power": 4.0}}
    second = study(tmp_path / "b", [60, 80], {"variant": renamed})
    (only,) = differences(first, second)
    assert (only.place, only.mean) == ((("variant", "weak"),), pytest.approx(-10.0))


@pytest.mark.parametrize(
    "sweep",
    [{"link.snr_db": [30.0], "seed": [0]}, {"link.snr_db": [10.0], "seed": [9]}],
)
def test_nothing_in_common_is_refused(sweep, tmp_path):
    first = study(tmp_path / "a", [70] * 6, SNRS)
    second = study(tmp_path / "b", [70], sweep)
    with pytest.raises(ScenarioError, match="a and .*/b have no point in common: they must share"):
        differences(first, second)


def test_compare_prints_a_row_per_point(two, tmp_path):
    done = small.otafl("compare", "first", "second", cwd=tmp_path)
    assert (done.returncode, done.stderr) == (0, "")
    lines = done.stdout.splitlines()
    head = lines.index("second minus first")
    assert lines[:head] == ["the studies also differ in:", "  link.kind: gaussian and fading"]
    assert cells_in(lines[head + 2]) == [
        "link.snr_db", "first [%]", "second [%]", "difference", "95 % interval", "seeds"
    ]  # fmt: skip
    rows = [cells_in(line) for line in lines if "│" in line]
    assert rows == [
        ["0.0", "73.00", "75.00", "+2.00", "± 2.48", "3"],
        ["10.0", "81.00", "80.00", "-1.00", "± 0.00", "3"],
    ]


def test_compare_prints_json(two, otafl):
    code, out, _ = otafl("compare", "first", "second", "--json")
    assert code == 0
    low, high = json.loads(out)
    assert low == {
        "link.snr_db": 0.0,
        "first_percent": pytest.approx(73.0),
        "second_percent": pytest.approx(75.0),
        "difference_percent": pytest.approx(2.0),
        "half_interval_percent": pytest.approx(2.484138, abs=1e-5),
        "seeds": 3,
    }
    assert high["difference_percent"] == pytest.approx(-1.0)


def test_show_puts_several_studies_side_by_side(two, otafl, tmp_path):
    """With the mean over the seeds that each has, and a dash where it has none."""
    study(tmp_path / "third", [50, 60], {"link.snr_db": [10.0, 30.0], "seed": [5]})
    code, out, errors = otafl("show", "first", "second", "third")
    assert (code, errors) == (0, "")
    rows = [cells_in(line) for line in out.splitlines() if "│" in line]
    assert rows == [
        ["0.0", "73.00", "75.00", "-"],
        ["10.0", "81.00", "80.00", "50.00"],
        ["30.0", "-", "-", "60.00"],
    ]
    _, out, _ = otafl("show", "second", "third", "--json")
    assert json.loads(out) == [
        {"link.snr_db": 0.0, "second_percent": pytest.approx(75.0), "third_percent": None},
        {
            "link.snr_db": 10.0,
            "second_percent": pytest.approx(80.0),
            "third_percent": pytest.approx(50.0),
        },
        {"link.snr_db": 30.0, "second_percent": None, "third_percent": pytest.approx(60.0)},
    ]


def test_studies_of_one_name_are_told_apart_by_their_whole_paths(otafl, tmp_path):
    study(tmp_path / "a" / "study", [70], {})
    study(tmp_path / "b" / "study", [71], {})
    _, out, _ = otafl("show", "a/study", "b/study", "--json")
    (row,) = json.loads(out)
    assert row == {"a/study_percent": pytest.approx(70.0), "b/study_percent": pytest.approx(71.0)}


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["compare", "first", "nowhere"], "otafl: nowhere is not a study: there is no such dir"),
        (["show", "first", "nowhere"], "otafl: nowhere is not a study: there is no such directory"),
        (["show", "first", "second", "--csv", "x"], "otafl: --csv and --mat take one study"),
    ],
)
def test_what_cannot_be_compared_is_said_in_a_line(arguments, message, two, otafl):
    code, out, errors = otafl(*arguments)
    assert (code, out) == (2, "")
    assert errors.startswith(message)
    assert len(errors.splitlines()) == 1


def test_an_option_that_does_not_apply_does_not_keep_points_apart(tmp_path):
    """COTAF has no G: its points are the same whether a study sweeps G or not."""
    sweep = {"algorithm.name": ["acpc", "cotaf"], "algorithm.G": [0.5, 1.0]}
    first = study(tmp_path / "a", [70, 71, 80, 80], sweep, algorithm={})
    other = {"algorithm.name": ["acpc", "cotaf"]}
    second = study(tmp_path / "b", [72, 81], other, algorithm={"G": 1.0})
    found = {dict(each.place)["algorithm.name"]: each.mean for each in differences(first, second)}
    assert found == {"acpc": pytest.approx(1.0), "cotaf": pytest.approx(1.0)}


def test_settings_that_differ_besides_what_is_swept(tmp_path):
    first = study(tmp_path / "a", [70] * 6, SNRS)
    second = study(tmp_path / "b", [70] * 6, SNRS, training={"rounds": 4, "final_rounds": 2})
    assert other_settings(first, second) == ["training.rounds: 2 and 4"]
    assert other_settings(first, first) == []


def test_numbers_stand_under_their_headings_where_a_key_does_not_apply(tmp_path):
    sweep = {"algorithm.name": ["acpc", "cotaf"], "algorithm.G": [0.5, 1.0]}
    study(tmp_path / "a", [70, 71, 80, 80], sweep, algorithm={})
    study(tmp_path / "b", [71, 73, 83, 83], sweep, algorithm={})
    done = small.otafl("compare", "a", "b", cwd=tmp_path)
    rows = [cells_in(line) for line in done.stdout.splitlines() if "│" in line]
    assert rows == [
        ["acpc", "0.5", "70.00", "71.00", "+1.00", "-", "1"],
        ["acpc", "1.0", "71.00", "73.00", "+2.00", "-", "1"],
        ["cotaf", "-", "80.00", "83.00", "+3.00", "-", "1"],
    ]


def test_what_is_left_out_is_said(tmp_path):
    first = study(tmp_path / "a", [70] * 6, SNRS, diverged=(0,))
    second = study(tmp_path / "b", [70], {"link.snr_db": [10.0], "seed": [0]})
    remarks = left_out(first, second)
    assert remarks == [
        "1 points are in only one of the studies",
        f"1 runs of {first} diverged and are left out",
    ]


def test_studies_without_classes_are_compared_by_their_losses(tmp_path):
    from scenarios import run_study

    content = {
        "data": {"partition": "quadratic", "clients": 3, "size": 4},
        "model": {"name": "quadratic"},
        "algorithm": {"name": "cotaf"},
        "link": {"kind": "ideal"},
        "training": {"rounds": 2, "rate": 0.1, "batch_size": "none"},
    }
    one = run_study(content, tmp_path / "a", progress=False)
    other = run_study({**content, "algorithm": {"name": "fedavg"}}, tmp_path / "b", progress=False)
    (found,) = differences(one, other)
    losses = [cell_of(folder, 0).last("test_loss")[0] for folder in (one, other)]
    assert (found.first, found.second) == tuple(losses)
    shown = small.otafl("compare", "a", "b", cwd=tmp_path)
    assert "a, test loss" in shown.stdout
