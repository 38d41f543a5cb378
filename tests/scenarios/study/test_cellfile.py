"""One finished cell in a file."""

from __future__ import annotations

import h5py
import numpy as np
import pytest
import xarray as xr

from fl.metrics import METRICS, WEIGHT
from scenarios.errors import StudyError
from scenarios.study.cellfile import FORMAT, CellFile, DamagedCellError
from tests.scenarios.study.cells import cell_of


@pytest.fixture
def path(tmp_path):
    return tmp_path / "cell.nc"


def some_cell(**changes):
    variables = {
        "nmse": (("round",), np.array([0.5, np.nan])),
        "steps": (("round", "client"), np.arange(400).reshape(2, 200)),
    }
    content = {
        "settings": {"link": {"kind": "ofdm", "snr_db": 10.0}, "seed": 3},
        "variables": variables,
        "diverged": "",
        "made_with": {"numpy": "2"},
    }
    return CellFile(**content | changes)


def test_it_is_read_as_written(path):
    cell = some_cell(diverged="in round 3")
    cell.write(path)
    again = CellFile.read(path)
    assert (again.settings, again.diverged, again.made_with, again.format) == (
        cell.settings, "in round 3", {"numpy": "2"}, FORMAT
    )  # fmt: skip
    for name, (dims, values) in cell.variables.items():
        assert again.variables[name][0] == dims
        assert again.variables[name][1].dtype == values.dtype
        np.testing.assert_array_equal(again.variables[name][1], values)


def test_it_is_a_netcdf_file(path):
    some_cell().write(path)
    with xr.open_dataset(path, engine="h5netcdf") as dataset:
        assert dict(dataset.sizes) == {"round": 2, "client": 200}
        assert dataset.attrs["format"] == str(FORMAT)


def test_dimensions_are_those_of_the_table_of_metrics(finished):
    cell = cell_of(finished, 0)
    assert {name: dims for name, (dims, _) in cell.variables.items()} == {
        WEIGHT.name: WEIGHT.dims,
        **{name: metric.dims for name, metric in METRICS.items()},
    }


@pytest.mark.parametrize(
    "attribute", ["settings", "diverged", "made_with", "digest", "code", "cell"]
)
def test_a_changed_attribute_is_detected(path, attribute):
    some_cell().write(path)
    with h5py.File(path, "r+") as file:
        file.attrs[attribute] = '{"a": 1}'
    with pytest.raises(DamagedCellError, match="has been changed since it was written"):
        CellFile.read(path)


def test_a_later_format_is_left_alone(finished, path):
    """It must not pass for damage, which would be recomputed and overwritten."""
    some_cell(format=FORMAT + 1).write(path)
    with pytest.raises(StudyError, match=rf"later version .*cell format {FORMAT + 1}.*upgrade"):
        CellFile.read(path)


def test_other_files_and_no_file(path):
    with pytest.raises(FileNotFoundError):
        CellFile.read(path)
    path.write_text("no HDF5")
    with pytest.raises(DamagedCellError, match="cannot be read"):
        CellFile.read(path)


def test_it_carries_the_digest_of_its_settings(finished, scenario):
    assert [cell_of(finished, n).name for n in (0, 5)] == [
        scenario.cells[n].digest() for n in (0, 5)
    ]


def test_accuracy_is_the_mean_of_the_tests_in_the_last_rounds():
    def accuracy(tests, last=3, **changes):
        variables = {"test_accuracy": (("round",), np.array(tests))}
        settings = {"training": {"final_rounds": last}}
        return some_cell(variables=variables, settings=settings, **changes).accuracy()

    assert accuracy([0.1, 0.2, np.nan, 0.4]) == pytest.approx(0.3)
    assert accuracy([0.1, 0.2], last=10) == pytest.approx(0.15)
    assert np.isnan(accuracy([0.1, np.nan], last=1))
    assert np.isnan(accuracy([0.5], diverged="in round 3"))


def test_best_and_final_accuracy_are_both_kept():
    def cell(tests, reading=None, **changes):
        variables = {"test_accuracy": (("round",), np.array(tests))}
        training = {"final_rounds": 2} | ({} if reading is None else {"accuracy": reading})
        return some_cell(variables=variables, settings={"training": training}, **changes)

    tests = [0.9, np.nan, 0.4, 0.6]
    for reading, expected in ((None, 0.5), ("final", 0.5), ("best", 0.9)):
        found = cell(tests, reading)
        assert found.accuracy() == pytest.approx(expected)
        assert found.final_accuracy() == pytest.approx(0.5)
        assert found.best_accuracy() == 0.9
    assert np.isnan(cell(tests, "best", diverged="in round 3").accuracy())
    assert np.isnan(cell([np.nan], "best").accuracy())


def test_participation_bias_is_that_of_the_history():
    """Shares 3/4, 1/4 and 0, which should be 1/2, 1/4 and 1/4; NaN in a file of before."""
    variables = {
        "weight": (("population",), np.array([0.5, 0.25, 0.25])),
        "device": (("round", "client"), np.array([[0, 1], [0, 1]])),
        "client_weight": (("round", "client"), np.array([[1.0, 0.5], [2.0, 0.5]])),
    }
    assert some_cell(variables=variables).participation_bias() == pytest.approx(0.25)
    del variables["device"]
    assert np.isnan(some_cell(variables=variables).participation_bias())
