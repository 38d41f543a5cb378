"""Figures: what is drawn is what the study says."""

from __future__ import annotations

import re
import subprocess
import sys

import matplotlib.pyplot as plt
import numpy as np
import pytest
import xarray as xr
from scipy.stats import t as student

from figures import (
    accuracy_rounds,
    accuracy_sweep,
    airtime,
    fault,
    gallery,
    link_nmse,
    local_steps,
    panels,
    papr,
    style,
    symbol_energy,
    table1,
    theorem2,
    truncation,
)
from scenarios import load_scenario, run_study
from scenarios.linkcheck import check_links
from tests.scenarios import small


@pytest.fixture(scope="module")
def data_file(tmp_path_factory):
    return small.write_data(tmp_path_factory.mktemp("data") / "blobs.npz")


@pytest.fixture(autouse=True)
def look():
    style.apply()
    yield
    plt.close("all")


def study_of(content, folder):
    run_study(load_scenario(content), folder, progress=False)
    return gallery.for_figures(folder)


@pytest.fixture(scope="module")
def sweep(data_file, tmp_path_factory):
    """Algorithms, SNRs and truncations over OFDM, two seeds."""
    paper = {
        "source": "a paper",
        "keys": ["algorithm.name", "link.snr_db", "link.truncation"],
        "accuracy": [["acpc", 10.0, 0.1, 50.0], ["cotaf", 10.0, 0.1, 99.0]],
    }
    content = small.content(data_file, paper=paper)
    grid = {"fft_size": 8, "cp_length": 2, "guards": [1, 0]}
    content["link"] = {"kind": "ofdm", "grid": grid, "fading": {"kind": "rayleigh"}}
    content["sweep"] = {
        "algorithm.name": ["acpc", "cotaf"],
        "link.snr_db": [10.0, 20.0, 30.0],
        "link.truncation": [0.01, 0.1],
        "seed": [0, 1],
    }
    return study_of(content, tmp_path_factory.mktemp("sweep") / "study")


def line(axes, label):
    (found,) = [each for each in axes.lines if each.get_label() == label]
    return found.get_ydata()


def test_accuracy_rounds(sweep):
    figure = accuracy_rounds.draw(sweep)
    visible = [axes for axes in figure.axes if axes.get_visible()]
    assert len(visible) == 6
    run = sweep.sel(algorithm="cotaf", snr_db=20.0, truncation=0.1)["test_accuracy"]
    (axes,) = [each for each in visible if each.get_title() == "SNR 20 dB, $g$ = 0.1"]
    np.testing.assert_allclose(line(axes, "COTAF"), 100 * run.mean("seed"))
    _, half = panels.mean_and_confidence(100 * run)
    band = axes.collections[1].get_paths()[0].vertices[:, 1]
    assert band.max() == pytest.approx(np.minimum(100, 100 * run.mean("seed") + half).max())
    assert figure.axes[0].get_ylabel() == "test accuracy [%]"


def test_accuracy_against_snr(sweep):
    figure = accuracy_sweep.draw(sweep)
    assert accuracy_sweep.axis_of(sweep) == "snr_db"
    assert [axes.get_title() for axes in figure.axes] == ["$g$ = 0.01", "$g$ = 0.1"]
    assert figure.axes[0].get_xlabel() == "SNR [dB]"
    bars = figure.axes[1].containers[0]  # ACPC
    expected = 100 * sweep["accuracy"].sel(algorithm="acpc", truncation=0.1).mean("seed")
    np.testing.assert_allclose(bars.lines[0].get_ydata(), expected)
    _, half = panels.mean_and_confidence(
        100 * sweep["accuracy"].sel(algorithm="acpc", truncation=0.1)
    )
    tops = [segment[1, 1] for segment in bars.lines[2][0].get_segments()]
    np.testing.assert_allclose(tops, np.minimum(expected + half, 100))


def test_runs_that_diverged_are_in_no_curve(sweep):
    wild = sweep.copy()
    wild["diverged"] = wild["diverged"].copy()
    wild["diverged"].loc[{"seed": 1}] = 1.0
    axes = accuracy_rounds.draw(wild).axes[0]
    run = sweep["test_accuracy"].sel(algorithm="cotaf", snr_db=10.0, truncation=0.01, seed=0)
    np.testing.assert_allclose(line(axes, "COTAF"), 100 * run)


def test_bars_of_a_percentage_end_where_it_does():
    bars = panels.within_percent(np.array([90.0, 10.0, 50.0]), np.array([20.0, 30.0, np.nan]))
    np.testing.assert_array_equal(bars, [[20.0, 10.0, np.nan], [10.0, 30.0, np.nan]])


def test_axis_scales():
    for name, values, scale in (
        ("snr_db", [1, 10, 40], "linear"),
        ("truncation", [0.001, 1.0], "log"),
        ("variance", [0.0, 0.001, 1.0], "symlog"),
        ("x", [-1, 0.001, 1.0], "linear"),
        ("x", [1, 2, 3], "linear"),
    ):
        axes = plt.figure().subplots()
        accuracy_sweep.scale_axis(axes, name, np.array(values))
        assert axes.get_xscale() == scale


def test_no_two_of_many_lines_look_alike():
    for count in (3, 7, 20):
        looks = [style.look(None, place, count) for place in range(count)]
        assert len({(str(look["color"]), look["marker"]) for look in looks}) == count


def test_the_seed_of_which_most_is_done():
    done = xr.DataArray([[0.0, 1.0, 1.0], [1.0, 1.0, 1.0]], dims=["x", "seed"])
    study = xr.Dataset({"finished": done}, {"seed": [5, 6, 7]})
    assert int(panels.one_seed(study)["seed"]) == 6


def test_panels_that_find_no_room_are_counted():
    shape = (5, 6)
    study = xr.Dataset({"finished": (("a", "b"), np.ones(shape))}, {"a": range(5), "b": range(6)})
    figure, pairs = panels.panels(study)
    assert len(pairs) == panels.MOST_PANELS
    assert figure.get_suptitle() == "the first 20 of 30 panels"


def test_confidence_by_hand():
    values = xr.DataArray([[1.0, 2.0, 6.0], [3.0, np.nan, np.nan]], dims=["x", "seed"])
    mean, half = panels.mean_and_confidence(values)
    assert mean.tolist() == [3.0, 3.0]
    expected = student.ppf(0.975, 2) * np.sqrt(7.0) / np.sqrt(3)
    np.testing.assert_allclose(half, [expected, np.nan])


def test_table_beside_the_paper(sweep):
    figure = table1.draw(sweep)
    left, right = figure.axes
    deviations = [bar.get_width() for bar in right.patches]
    ours = 100 * sweep["accuracy"].sel(snr_db=10.0, truncation=0.1).mean("seed").values
    np.testing.assert_allclose(deviations, ours - [50.0, 99.0])
    labels = [text.get_text() for text in left.get_yticklabels()]
    assert labels == ["ACPC-OTA-FL, SNR 10 dB, $g$ = 0.1", "COTAF, SNR 10 dB, $g$ = 0.1"]


def test_truncation(sweep):
    figure = truncation.draw(sweep)
    assert len(figure.axes) == 9  # a row for every SNR
    assert [row.get_suptitle() for row in figure.subfigs] == [f"SNR {x} dB" for x in (10, 20, 30)]
    active, error, accuracy = figure.axes[3:6]
    run = sweep.sel(algorithm="cotaf", snr_db=20.0)
    drawn = [axes.containers[1].lines[0].get_ydata() for axes in (active, error, accuracy)]
    np.testing.assert_allclose(
        drawn[0], 100 * run["active_fraction"].mean(["round", "client", "seed"])
    )
    decibels = 10 * np.log10(run["nmse"].median("round"))
    np.testing.assert_allclose(drawn[1], decibels.mean("seed"))
    np.testing.assert_allclose(drawn[2], 100 * run["accuracy"].mean("seed"))


def test_symbol_energy(sweep):
    figure = symbol_energy.draw(sweep)
    load = sweep["symbol_load"].isel(seed=0).sel(algorithm="acpc", snr_db=10.0, truncation=0.01)
    (stairs,) = [each for each in figure.axes[0].patches if each.get_label() == "ACPC-OTA-FL"]
    np.testing.assert_allclose(stairs.get_data().values, load.mean("round"))
    assert float(load.max()) <= 1 + 1e-5  # the budget holds for every symbol
    assert figure.axes[0].lines[-1].get_ydata() == [1, 1]


def test_local_steps(sweep):
    figure = local_steps.draw(sweep)
    steps = sweep["steps"].isel(seed=0).sel(algorithm="acpc", snr_db=10.0, truncation=0.01)
    (mesh,) = figure.axes[0].collections
    np.testing.assert_array_equal(mesh.get_array(), steps.transpose("client", "round"))


def test_theorem2(tmp_path):
    content = {
        "data": {"partition": "quadratic"},
        "model": {"name": "quadratic"},
        "algorithm": {"name": "acpc"},
        "link": {"kind": "gaussian", "snr_db": 20.0},
        "training": {"rounds": 20, "rate": 0.2, "batch_size": 10, "measure_gradient": True},
        "sweep": {"algorithm.G": [1e-3, 20.0]},  # with the first, clients are scaled down
    }
    study = study_of(content, tmp_path / "study")
    figure = theorem2.draw(study)
    first, second = figure.axes
    assert [text.get_text() for text in first.texts] == ["does not apply"]
    assert not first.lines
    measured, total = line(second, "measured"), line(second, "bound, total")
    norms = study["squared_gradient_norm"].values[1]
    np.testing.assert_allclose(measured, np.minimum.accumulate(norms))
    assert (measured <= total).all()
    terms = [line(second, label) for label in theorem2.TERMS.values()]
    np.testing.assert_allclose(np.sum(terms, axis=0), total)


def test_airtime(data_file, tmp_path):
    content = small.content(data_file, algorithm={"name": "cotaf"})
    content["link"] = {"entry_snr_db": 10.0, "fading": {"kind": "rayleigh"}}
    content["sweep"] = {"link.kind": ["ofdm", "orthogonal"], "data.clients": [2, 4]}
    study = study_of(content, tmp_path / "study")
    left, right = airtime.draw(study).axes
    run = study.sel(link="orthogonal", clients=4)
    np.testing.assert_allclose(left.lines[3].get_xdata(), run["airtime"])
    np.testing.assert_allclose(right.lines[3].get_xdata(), run["radiated_energy"].sum("client"))
    assert right.get_xlabel() == "energy of all clients [J]"


def test_link_nmse(data_file):
    content = small.content(data_file, algorithm={"name": "cotaf"}, sweep={})
    check = check_links(load_scenario(content), trials=3)
    (axes,) = link_nmse.draw(check).axes
    np.testing.assert_allclose(axes.lines[-4].get_ydata(), 10 * np.log10(check.expected[0]))


def test_the_same_study_gives_the_same_file(sweep, tmp_path):
    files = []
    for name in ("one", "other"):
        list(gallery._save(accuracy_sweep.draw(sweep), tmp_path / name, "figure"))
        files.append((tmp_path / name / "figure.svg").read_text())
    assert files[0] == files[1]
    assert "test accuracy [%]" in re.sub(r"<!--.*?-->", "", files[0])


def test_figures_do_not_need_a_screen():
    code = "import figures.gallery, matplotlib; print(matplotlib.get_backend())"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip().lower() == "agg"


@pytest.fixture(scope="module")
def faulty(data_file, tmp_path_factory):
    """A limiter's backoff, two algorithms, two SNRs, two seeds."""
    content = small.content(data_file)
    content["link"] = {
        "kind": "waveform",
        "grid": {"fft_size": 16, "cp_length": 2, "guards": [1, 0]},
        "fading": {"kind": "rayleigh"},
    }
    content["sweep"] = {
        "algorithm.name": ["acpc", "cotaf"],
        "link.entry_snr_db": [0.0, 20.0],
        "link.transmit.soft_limiter.backoff_db": [40.0, 0.0, -40.0],
        "seed": [0, 1],
    }
    return study_of(content, tmp_path_factory.mktemp("faulty") / "study")


def test_fault(faulty, sweep):
    assert not fault.applies(sweep)
    assert fault.applies(faulty)
    figure = fault.draw(faulty)
    upper, lower = figure.axes[0], figure.axes[2]
    assert [axes.get_title() for axes in figure.axes[:2]] == ["ACPC-OTA-FL", "COTAF"]
    run = faulty.sel(algorithm="acpc", entry_snr_db=20.0).sortby("soft_limiter_backoff_db")
    np.testing.assert_allclose(
        _drawn(upper)[1], 100 * run["accuracy"].mean("seed").values, rtol=1e-6
    )
    decibels = 10 * np.log10(run["nmse"].median("round")).mean("seed")
    np.testing.assert_allclose(_drawn(lower)[1], decibels.values, rtol=1e-6)
    assert [text.get_text() for text in figure.legends[0].get_texts()] == ["0", "20"]


def _drawn(axes):
    return [each.get_ydata() for each in axes.lines]


def test_papr(faulty, sweep):
    assert not papr.applies(sweep)
    assert papr.applies(faulty)
    (axes,) = papr.draw(faulty).axes
    values = faulty["papr_db"].sel(algorithm="cotaf", soft_limiter_backoff_db=40.0).values
    (measured,) = [each for each in axes.lines if each.get_label() == "COTAF"]
    np.testing.assert_allclose(measured.get_xdata().max(), np.nanmax(values))
    at = np.searchsorted(measured.get_xdata(), 6.0)
    assert measured.get_ydata()[at] == pytest.approx(np.mean(values[~np.isnan(values)] >= 6.0))


def test_names_of_hardware_have_places_too(data_file, tmp_path):
    content = small.content(data_file, rounds=2)
    content["link"] = {
        "kind": "waveform",
        "grid": {"fft_size": 16, "guards": [1, 0], "cp_length": 2},
    }
    content["link"]["fading"] = {"kind": "none"}
    hardware = {"clean": {}, "cheap_one": {"soft_limiter": {"backoff_db": 0.0}}}
    content["sweep"] = {"algorithm.name": ["acpc", "cotaf"], "link.transmit": hardware}
    figure = fault.draw(study_of(content, tmp_path / "study"))
    ticks = [label.get_text() for label in figure.axes[2].get_xticklabels()]
    assert ticks == ["clean", "cheap one"]
    assert not figure.legends
