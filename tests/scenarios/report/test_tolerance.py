"""How much of a fault is too much, from numbers that are made up."""

from __future__ import annotations

import numpy as np
import pytest

from scenarios import load_scenario, run_study
from scenarios.report.tolerance import Tolerance, impairment_axis, tolerances
from scenarios.study.cellfile import CellFile
from scenarios.study.results import Results
from tests.scenarios import small

VALUES = (0.0, 10.0, 100.0, 1000.0)
KEY = "link.transmit.phase_noise.linewidth"


def study(algorithms=("acpc", "cotaf"), values=VALUES, **sweep):
    return load_scenario(
        {
            "algorithm": {"G": 1.0},
            "link": {"kind": "waveform"},
            "training": {"rounds": 2},
            "sweep": {
                "algorithm.name": list(algorithms),
                KEY: list(values),
                "seed": [0, 1],
                **sweep,
            },
        }
    )


def results_of(scenario, accuracies, errors):
    """Each cell with what is given for (algorithm, value), a little more for the second seed; a run
    that diverged where an accuracy is None.
    """
    cells = []
    for number in range(len(scenario.cells)):
        labels = scenario.sweep.labels_of(number)
        place = labels["algorithm.name"], labels[KEY]
        given, nmse = accuracies[place], errors[place]
        accuracy = (given or 0.0) / 100 + 0.01 * labels["seed"]
        variables = {
            "test_accuracy": (("round",), np.full(2, accuracy)),
            "test_loss": (("round",), np.zeros(2)),
            "nmse": (("round",), np.array([nmse, nmse])),
        }
        settings = {**scenario.cells[number].settings(), "training": {"final_rounds": 10}}
        cells.append(CellFile(settings, variables, "lost" if given is None else "", {}))
    return Results(scenario.title, scenario.sweep, cells, None, "", (len(cells), len(cells)))


def test_the_largest_value_within_a_point_and_all_before_it():
    scenario = study()
    accuracies = dict.fromkeys([("acpc", v) for v in VALUES], 90.0)
    accuracies |= {("acpc", 100.0): 88.5, ("acpc", 1000.0): 89.9}  # by chance
    accuracies |= {("cotaf", v): a for v, a in zip(VALUES, (80, 81, 79.5, 79.1), strict=True)}
    errors = dict.fromkeys(accuracies, 0.1)
    errors |= {("acpc", 100.0): 0.19, ("acpc", 1000.0): 0.21}
    found = tolerances(results_of(scenario, accuracies, errors))
    assert found == [
        Tolerance({"algorithm.name": "acpc"}, pytest.approx(90.5), 10.0, 100.0, 1000.0),
        Tolerance({"algorithm.name": "cotaf"}, pytest.approx(80.5), 1000.0, None, None),
    ]


def test_a_run_that_diverges_is_too_much():
    accuracies = {("acpc", v): a for v, a in zip(VALUES, (90, 90, 90, None), strict=True)}
    (found,) = tolerances(
        results_of(study(algorithms=("acpc",)), accuracies, dict.fromkeys(accuracies, 0.1))
    )
    assert (found.tolerated, found.too_much) == (100.0, 1000.0)
    accuracies[("acpc", 0.0)] = None  # nothing to compare with
    results = results_of(study(algorithms=("acpc",)), accuracies, dict.fromkeys(accuracies, 0.1))
    assert tolerances(results) == []


def test_a_study_without_a_fault_has_no_tolerance():
    assert impairment_axis(load_scenario("quickstart").sweep) is None
    assert impairment_axis(study(values=(0.0,)).sweep) is None
    two = study(**{"link.transmit.rapp.backoff_db": [8.0, 4.0]})
    assert impairment_axis(two.sweep) is None
    assert impairment_axis(load_scenario("mobility").sweep).key == "link.fading.speed"


def test_show_says_it(tmp_path):
    data = small.write_data(tmp_path / "blobs.npz")
    content = small.content(data, rounds=3)
    content["link"] = {
        "kind": "waveform",
        "grid": {"fft_size": 16, "guards": [1, 0], "cp_length": 2},
    }
    content["link"]["fading"] = {"kind": "none"}
    content["sweep"] = {"algorithm.name": ["acpc", "cotaf"], "link.receive.adc.bits": [14, 1]}
    run_study(load_scenario(content), tmp_path / "study", progress=False)
    shown = small.otafl("show", "study", cwd=tmp_path)
    assert shown.returncode == 0
    assert "tolerable converter resolution" in shown.stdout
    assert len(tolerances(Results.read(tmp_path / "study"))) == 2
