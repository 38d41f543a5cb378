"""The figures that come with the project; tests/scenarios/test_bundled.py draws them all."""

from __future__ import annotations

import numpy as np

from figures.shipped import SHIPPED, answering, applicable
from tests.figures.drawn import drawn_lines


def test_a_study_gets_what_answers_its_question(sweep, faulty):
    assert answering(sweep) == ["table1", "accuracy_rounds"]
    assert "truncation" in applicable(sweep)
    assert answering(faulty) == ["impairment", "accuracy_rounds", "papr"]
    assert "symbol_energy" in applicable(faulty)
    budgets = sweep.drop_vars("published").rename(truncation="budget")
    assert "symbol_energy" in answering(budgets)


def test_the_cost_of_an_impairment(faulty):
    figure = SHIPPED["impairment"].draw(faulty, print)
    assert [axes.get_title() for axes in figure.axes[:2]] == ["ACPC-OTA-FL", "COTAF"]
    upper, lower = figure.axes[0], figure.axes[2]
    run = faulty.sel(algorithm="acpc", entry_snr_db=20.0)
    np.testing.assert_allclose(
        upper.containers[1].lines[0].get_ydata(), 100 * run["accuracy"].mean("seed"), rtol=1e-6
    )
    decibels = 10 * np.log10(run["nmse"].median("round")).mean("seed")
    np.testing.assert_allclose(lower.containers[1].lines[0].get_ydata(), decibels, rtol=1e-6)
    legend = figure.legends[0]
    assert legend.get_title().get_text() == "entry SNR [dB]"
    assert [text.get_text() for text in legend.get_texts()] == ["0", "20"]


def test_the_trade_off_of_truncation(sweep):
    notes = []
    figure = SHIPPED["truncation"].draw(sweep, notes.append)
    assert len(notes) == 1  # the SNR has no place in it
    active, error, accuracy = figure.axes
    run = sweep.sel(algorithm="cotaf", snr_db=10.0)
    drawn = [axes.containers[1].lines[0].get_ydata() for axes in (active, error, accuracy)]
    np.testing.assert_allclose(
        drawn[0], 100 * run["active_fraction"].mean(["round", "client", "seed"])
    )
    np.testing.assert_allclose(drawn[1], (10 * np.log10(run["nmse"].median("round"))).mean("seed"))
    np.testing.assert_allclose(drawn[2], 100 * run["accuracy"].mean("seed"))


def test_accuracy_over_the_rounds(sweep):
    figure = SHIPPED["accuracy_rounds"].draw(sweep, print)
    assert len(figure.axes) == 6
    run = sweep.sel(algorithm="cotaf", snr_db=20.0, truncation=0.1)["test_accuracy"]
    lines = drawn_lines(figure.axes[4])  # second row, second column
    assert any(np.allclose(each, 100 * run.mean("seed")) for each in lines)


def test_runs_that_diverged_are_in_no_curve(sweep):
    wild = sweep.copy()
    wild["diverged"] = wild["diverged"].copy()
    wild["diverged"].loc[{"seed": 1}] = 1.0
    axes = SHIPPED["accuracy_rounds"].draw(wild, print).axes[0]
    run = sweep["test_accuracy"].sel(algorithm="cotaf", snr_db=10.0, truncation=0.01, seed=0)
    assert any(np.allclose(each, 100 * run) for each in drawn_lines(axes))
