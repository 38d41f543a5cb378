"""Batches: cells hold the runs that their settings describe."""

from __future__ import annotations

import numpy as np
import pytest

from scenarios import ScenarioError, load_scenario, run_study
from tests.scenarios import small
from tests.scenarios.study.cells import cell_of, cells_of


def test_a_study_keeps_what_train_gives(finished, scenario):
    """Each cell is the run that the settings in it describe."""
    from fl import train

    for number in (0, 5):
        cell = scenario.cells[number]
        history = train(
            cell.algorithm.build(),
            cell.link.build(),
            cell.problem(),
            seed=cell.seed,
            progress=False,
            **cell.training.options(),
        )
        kept = cell_of(finished, number)
        assert kept.settings == cell.settings()
        for name, values in history.metrics.items():
            np.testing.assert_allclose(kept.variables[name][1], values, rtol=2e-5, err_msg=name)


def test_the_bound_that_is_kept_is_theorem_2(tmp_path):
    """Channel term L d sigma_c^2 / (eta beta^2), sigma_c^2 = P / SNR; 1/beta^2 over the rounds."""
    content = {
        "data": {"partition": "quadratic", "clients": 4, "size": 6},
        "model": {"name": "quadratic"},
        "algorithm": {"name": "acpc", "G": 20.0},
        "link": {"kind": "gaussian", "snr_db": 13.0},
        "training": {"rounds": 5, "rate": 0.2, "batch_size": 10, "measure_gradient": True},
    }
    folder = run_study(load_scenario(content), tmp_path / "study", progress=False)
    kept = {name: values for name, (_, values) in cells_of(folder)[0].variables.items()}
    smoothness, variance = 1.0, 10**-1.3  # the largest eigenvalue of default_quadratic
    mean_inverse = np.cumsum(kept["gain"] ** -2.0) / np.arange(1, 6)
    expected = smoothness * 6 * variance * mean_inverse / 0.2
    np.testing.assert_allclose(kept["bound_channel_noise"], expected, rtol=1e-3)
    assert {name for name in kept if name.startswith("bound_")} == {
        "bound_optimisation", "bound_statistical", "bound_local_update", "bound_channel_noise"
    }  # fmt: skip


def test_what_only_shows_with_the_data_is_refused_before_any_work(data_file, tmp_path):
    for change, message in (
        ({"data.labels_per_client": 5}, "data.labels_per_client must be at most 4, .* got 5"),
        ({"link.power": [1.0, 2.0]}, "power .*4"),
        ({"training.steps": [1, 2]}, "training.steps .* one for each of the 4 devices"),
        ({"data.name": "nowhere.npz"}, "nowhere.npz cannot be read"),
        (
            {"sweep.algorithm.tau_max": {"a": [1, 2]}},
            "algorithm.tau_max must be .* for each of the 4 devices",
        ),
    ):
        scenario = load_scenario(small.content(data_file), change)
        with pytest.raises(ScenarioError, match=message):
            run_study(scenario, tmp_path / "study", progress=False)
    assert not (tmp_path / "study").exists()
    with pytest.raises(ScenarioError, match="workers must be a whole number >= 1, got 0"):
        run_study(scenario, tmp_path / "study", workers=0)


def test_a_run_that_diverges_is_kept_as_such(data_file, tmp_path):
    wild = small.content(data_file, algorithm={"name": "fedavg"}, sweep={"seed": [0, 1]})
    wild["training"] |= {"rate": 1e12, "weight_decay": 1e3}
    folder = run_study(load_scenario(wild), tmp_path / "study", progress=False)
    for cell in cells_of(folder):
        assert "diverged in round 0" in cell.diverged
    before = [path.read_bytes() for path in sorted(folder.glob("cells/*"))]
    run_study(load_scenario(wild), folder, progress=False)
    assert [path.read_bytes() for path in sorted(folder.glob("cells/*"))] == before
