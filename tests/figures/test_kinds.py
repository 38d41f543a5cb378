"""How panels are drawn."""

from __future__ import annotations

import matplotlib.pyplot as plt
import numpy as np
import pytest
import xarray as xr
from matplotlib.colors import to_hex

from figures import kinds, style
from figures.roles import Roles
from tests.figures.drawn import study_of
from tests.scenarios import small

ROLES = Roles("snr_db", ("accuracy",), "algorithm", None, None)


@pytest.fixture(scope="module")
def named(data_file, tmp_path_factory):
    content = small.content(data_file, rounds=3)
    content["sweep"] = {
        "algorithm.name": ["acpc", "cotaf"],
        "seed": [0, 1],
        "link.power": {"equal": 1.0, "one strong": [4.0, 1.0, 1.0, 1.0], "weak": 0.1},
    }
    return study_of(content, tmp_path_factory.mktemp("named") / "study")


@pytest.fixture
def panel(sweep):
    return sweep.sel(truncation=0.1)


def test_lines_with_bars_from_the_lowest_to_the_highest_seed(panel):
    axes = plt.figure().subplots()
    kinds.draw_lines(axes, panel, 100 * panel["accuracy"], ROLES, few=True)
    accuracy = 100 * panel["accuracy"].sel(algorithm="acpc")
    drawn = axes.containers[0]
    np.testing.assert_allclose(drawn.lines[0].get_ydata(), accuracy.mean("seed"))
    segments = np.array(drawn.lines[2][0].get_segments())[..., 1]
    np.testing.assert_allclose(segments[:, 0], accuracy.min("seed"))
    np.testing.assert_allclose(segments[:, 1], accuracy.max("seed"))
    assert [each.get_label() for each in axes.containers] == ["ACPC-OTA-FL", "COTAF"]


def test_bands_over_rounds(panel):
    axes = plt.figure().subplots()
    run = panel.sel(snr_db=20.0)
    roles = Roles("round", ("test_accuracy",), "algorithm", None, None)
    kinds.draw_lines(axes, run, 100 * run["test_accuracy"], roles, few=True)
    each = 100 * run["test_accuracy"].sel(algorithm="cotaf")
    (drawn,) = [line for line in axes.lines if line.get_label() == "COTAF"]
    np.testing.assert_allclose(drawn.get_ydata(), each.mean("seed"))
    band = axes.collections[1].get_paths()[0].vertices[:, 1]
    assert band.max() == pytest.approx(float(each.max()))
    assert band.min() == pytest.approx(float(each.min()))


def test_names_are_on_the_vertical_axis(named):
    axes = plt.figure().subplots()
    roles = Roles("power", ("accuracy",), "algorithm", None, None)
    kinds.draw_lines(axes, named, 100 * named["accuracy"], roles, few=True)
    assert [text.get_text() for text in axes.get_yticklabels()] == ["equal", "one strong", "weak"]
    for container, algorithm in zip(axes.containers, ("acpc", "cotaf"), strict=True):
        mean = 100 * named["accuracy"].sel(algorithm=algorithm).mean("seed")
        np.testing.assert_allclose(container.lines[0].get_xdata(), mean)


@pytest.mark.parametrize("x", ["snr_db", "power"])
def test_bars_are_as_long_as_the_means(x, panel, named):
    study = panel if x == "snr_db" else named
    axes = plt.figure().subplots()
    roles = Roles(x, ("accuracy",), "algorithm", None, None)
    kinds.draw_bars(axes, study, 100 * study["accuracy"], roles, few=True)
    mean = 100 * study["accuracy"].mean("seed").transpose("algorithm", x).values
    long = [bar.get_height() if x == "snr_db" else bar.get_width() for bar in axes.patches]
    np.testing.assert_allclose([each for each in long if each > 1], mean.ravel())


def test_boxes_reach_from_the_lowest_to_the_highest_seed(panel):
    axes = plt.figure().subplots()
    kinds.draw_boxes(axes, panel, 100 * panel["accuracy"], ROLES, few=True)
    accuracy = 100 * panel["accuracy"].sel(algorithm="acpc", snr_db=10.0)
    ends = [line.get_ydata() for line in axes.lines[:2]]
    assert min(map(min, ends)) == pytest.approx(float(accuracy.min()))
    assert max(map(max, ends)) == pytest.approx(float(accuracy.max()))


def test_the_cells_of_a_heat_map_are_the_means(sweep):
    axes = plt.figure().subplots()
    run = sweep.sel(algorithm="acpc")
    roles = Roles("snr_db", ("accuracy",), "truncation", None, None)
    mean = 100 * run["accuracy"].mean("seed").transpose("truncation", "snr_db")
    mesh = kinds.draw_heatmap(axes, run, mean, roles)
    np.testing.assert_allclose(mesh.get_array(), mean)
    assert [text.get_text() for text in axes.get_xticklabels()] == ["10", "20", "30"]
    assert [text.get_text() for text in axes.get_yticklabels()] == ["0.01", "0.1"]
    kinds.write_cells(axes, mesh)
    written = {text.get_position(): text.get_text() for text in axes.texts}
    assert written[0.5, 1.5] == f"{mean.values[1, 0]:.0f}"
    assert written[2.5, 0.5] == f"{mean.values[0, 2]:.0f}"


def test_numbers_have_the_colours_of_a_scale_and_algorithms_their_own(sweep):
    drawn = list(kinds.looks(sweep, "snr_db"))
    assert [label for label, _, _ in drawn] == ["10", "20", "30"]
    assert drawn[0][1]["color"] == style.shade(0, 3)
    colours = [to_hex(look["color"]).upper() for _, look, _ in kinds.looks(sweep, "algorithm")]
    assert colours == [style.BLUE, style.RED]
    assert list(kinds.looks(sweep, None)) == [("", style.look(None), {})]


@pytest.fixture
def uneven():
    """Three seeds whose mean is not in the middle of their range."""
    values = np.array([[[10.0, 20.0, 60.0], [30.0, 40.0, 80.0]]])
    dims = ("algorithm", "snr_db", "seed")
    coordinates = {"algorithm": ["acpc"], "snr_db": [0.0, 10.0]}
    return xr.Dataset({"accuracy": (dims, values)}, coordinates)


@pytest.mark.parametrize("kind", ["line", "bar"])
def test_error_bars_reach_from_the_lowest_to_the_highest_seed(uneven, kind):
    axes = plt.figure().subplots()
    kinds.KINDS[kind](axes, uneven, uneven["accuracy"], ROLES, True)
    (bars,) = [each for each in axes.collections if hasattr(each, "get_segments")]
    ends = np.array(bars.get_segments())[..., 1]
    np.testing.assert_allclose(ends, [[10, 60], [30, 80]])


def test_whiskers_reach_the_farthest_seeds(uneven):
    axes = plt.figure().subplots()
    kinds.draw_boxes(axes, uneven, uneven["accuracy"], ROLES, few=True)
    ends = {float(value) for line in axes.lines for value in line.get_ydata()}
    assert ends >= {10.0, 60.0, 30.0, 80.0}


def test_many_lines_have_different_colours():
    names = ["acpc", "cotaf", *(f"mine{number}.py:Own" for number in range(8))]
    study = xr.Dataset(coords={"algorithm": names})
    colours = [str(look["color"]) for _, look, _ in kinds.looks(study, "algorithm")]
    assert len(set(colours)) == 10
