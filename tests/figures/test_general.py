"""A figure of any study."""

from __future__ import annotations

import numpy as np
import pytest

from figures import style
from figures.general import plot
from otafl._base.validation import OptionError
from scenarios.errors import StudyError
from tests.figures.layout import assert_printable


def texts(figure):
    return [axes.get_title() for axes in figure.axes]


def test_by_default_accuracy_against_snr_with_a_line_per_algorithm(sweep):
    figure = plot(sweep)
    assert texts(figure) == ["$g$ = 0.01", "$g$ = 0.1"]
    assert figure.get_supxlabel() == "SNR [dB]"
    assert figure.get_supylabel() == "test accuracy [%]"
    drawn = figure.axes[1].containers[0].lines[0].get_ydata()
    expected = 100 * sweep["accuracy"].sel(algorithm="acpc", truncation=0.1).mean("seed")
    np.testing.assert_allclose(drawn, expected)
    legend = [text.get_text() for text in figure.legends[0].get_texts()]
    assert legend == ["ACPC-OTA-FL", "COTAF"]
    assert style.caption_of(figure) == (
        "small: test accuracy [%] against SNR [dB]; mean and range over 2 seeds."
    )
    assert_printable(figure)


@pytest.mark.parametrize(
    "options",
    [
        {"x": "round"},
        {"x": "link.truncation", "hue": "link.snr_db"},
        {"y": "nmse", "row": "algorithm"},
        {"y": ["accuracy", "nmse", "active_fraction"], "where": {"truncation": 0.1}},
        {"y": ["accuracy", "nmse"], "col": "algorithm"},
        {"kind": "bar"},
        {"kind": "bar", "x": "algorithm"},
        {"kind": "box"},
        {"kind": "heatmap"},
        {"kind": "heatmap", "x": "snr_db", "y": "truncation", "hue": "nmse"},
        {"kind": "heatmap", "x": "round", "y": "snr_db", "where": {"truncation": 0.1}},
        {"kind": "line", "where": {"algorithm.name": "acpc", "link.truncation": 0.1}},
    ],
)
@pytest.mark.parametrize("look", style.STYLES)
def test_kinds_and_roles_in_both_styles(sweep, options, look):
    figure = plot(sweep, style=look, **options)
    assert figure.get_figwidth() in (style.COLUMN_WIDTH, style.PAGE_WIDTH) or look == "slides"
    assert_printable(figure)


def test_several_metrics_have_rows_of_their_own(sweep):
    figure = plot(sweep, x="snr_db", y=["accuracy", "nmse"], col="algorithm", hue="truncation")
    assert texts(figure) == ["ACPC-OTA-FL", "COTAF", "", ""]
    assert [axes.get_ylabel() for axes in figure.axes[::2]] == [
        "test accuracy [%]",
        "median NMSE [dB]",
    ]
    lower = figure.axes[3].containers[0].lines[0].get_ydata()
    run = sweep.sel(algorithm="cotaf", truncation=0.01)["nmse"]
    np.testing.assert_allclose(lower, (10 * np.log10(run.median("round"))).mean("seed"), rtol=1e-6)


def test_a_heat_map_has_one_scale_of_colours(sweep):
    figure = plot(sweep, kind="heatmap", x="snr_db", y="truncation")
    left, right, bar = figure.axes
    assert left.collections[0].get_clim() == right.collections[0].get_clim()
    assert bar.get_ylabel() == "test accuracy [%]"
    assert figure.get_supylabel() == "truncation threshold $g$"


def test_what_is_fixed_is_in_the_caption(sweep):
    figure = plot(sweep, where={"truncation": 0.1, "algorithm": "cotaf"})
    assert ", for COTAF, $g$ = 0.1;" in style.caption_of(figure)


def test_several_studies_are_lines(sweep):
    figure = plot({"one": sweep, "other": sweep}, x="round", where={"truncation": 0.1})
    legend = [text.get_text() for text in figure.legends[0].get_texts()]
    assert legend == ["one", "other"]
    assert_printable(figure)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"kind": "pie"}, "kind must be one of 'line', 'bar', 'box', 'heatmap', got 'pie'"),
        ({"kind": "bar", "y": "nmse"}, "kind must be line or box for nmse"),
        ({"kind": "box", "x": "round"}, "kind must be line where x is round"),
        ({"kind": "heatmap", "hue": "acuracy"}, "hue must be a metric of the study"),
        ({"kind": "heatmap", "y": "round"}, "y must be a key that the study sweeps"),
        ({"kind": "heatmap", "x": "snr_db", "y": "snr_db"}, "y must be another key than x"),
        ({"y": 3}, "y must be one to six metrics, got 3"),
        ({"x": "link.sn_db"}, "did you mean 'link.snr_db'"),
        ({"y": "acuracy"}, "did you mean 'accuracy'"),
        ({"y": []}, "y must be one to six metrics"),
        ({"kind": "heatmap", "y": ["a", "b"]}, "y must be one key"),
        ({"where": {"link.snr_db": 11}}, "where link.snr_db must be one of 10.0, 20.0, 30.0"),
        ({"style": "poster"}, "style must be one of 'paper', 'slides'"),
        ({"y": ["accuracy", "nmse"], "row": "snr_db"}, "row must be left out"),
    ],
)
def test_bad_options_are_refused(sweep, options, message):
    with pytest.raises(OptionError, match=message):
        plot(sweep, **options)


def test_a_metric_without_values_is_refused(sweep):
    with pytest.raises(StudyError, match="no finished run has a value of papr_db to draw"):
        plot(sweep, y="papr_db")


def test_what_is_left_out_is_a_warning(sweep):
    many = sweep.reindex(truncation=np.linspace(0.01, 0.1, 9), method="nearest")
    with pytest.warns(UserWarning, match="6 of 9 values of truncation threshold are drawn"):
        plot(many)
    notes = []
    plot(many, on_note=notes.append)
    assert len(notes) == 1


def test_the_user_s_own_settings_are_left_alone(sweep):
    import matplotlib.pyplot as plt

    before = dict(plt.rcParams)
    plot(sweep, style="slides")
    assert dict(plt.rcParams) == before


def test_a_heat_map_has_every_row_and_finite_colours(sweep):
    many = sweep.reindex(snr_db=np.linspace(10, 30, 12), method="nearest")
    silent = many.copy()
    silent["nmse"] = many["nmse"].where(many["snr_db"] > 11, 0.0)
    notes = []
    where = {"truncation": 0.1}
    figure = plot(silent, kind="heatmap", x="algorithm", y="snr_db", hue="nmse", where=where,
                  on_note=notes.append)  # fmt: skip
    mesh = figure.axes[0].collections[0]
    assert mesh.get_array().shape == (12, 2)
    values = silent["nmse"].sel(truncation=0.1).median("round")
    means = (10 * np.log10(values.where(values > 0))).mean("seed")
    np.testing.assert_allclose(mesh.get_clim(), [means.min(), means.max()], rtol=1e-6)
    assert notes == ["NMSE of exactly 0 has no value in dB and is left out"]


def test_values_over_many_decades_have_a_logarithmic_axis(sweep):
    wild = sweep.copy()
    wild["train_loss"] = sweep["train_loss"] * 10.0 ** (sweep["snr_db"] / 4)
    assert plot(wild, y="train_loss").axes[0].get_yscale() == "log"
    assert plot(sweep, y="train_loss").axes[0].get_yscale() == "linear"


def test_decibels_are_not_spread_over_a_logarithmic_axis(sweep):
    figure = plot(sweep, x="link.snr_db", y="nmse")
    assert figure.axes[0].get_xscale() == "linear"
    assert ", averaged in dB" in style.caption_of(figure)


def test_long_names_are_shortened(sweep):
    names = [
        "a variant whose name is a whole sentence, with a comma",
        "another one of those names " * 3,
    ]
    study = sweep.rename(algorithm="variant").assign_coords(variant=names)
    for options in ({}, {"x": "variant"}, {"x": "snr_db", "col": "variant"}):
        assert_printable(plot(study, **options))
