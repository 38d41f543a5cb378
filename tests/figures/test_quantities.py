"""Metrics and keys as the axes of figures show them."""

from __future__ import annotations

import numpy as np
import pytest
import xarray as xr

from figures import quantities as q
from fl.metrics import METRICS
from otafl._base.validation import OptionError
from scenarios.study.results import VARIABLES


def test_what_stands_for_all_rounds_and_clients_by_hand():
    study = xr.Dataset(
        {
            "finished": (("x",), [1.0]),
            "diverged": (("x",), [0.0]),
            "nmse": (("x", "round"), [[1.0, 100.0, 10.0]]),
            "load": (("x", "round", "client"), [[[0.1, 0.2], [0.9, 0.3], [0.2, 0.2]]]),
            "radiated_energy": (("x", "round", "client"), [[[1.0, 2.0], [3.0, 5.0], [4.0, 7.0]]]),
            "active_fraction": (("x", "round", "client"), [[[0.5, 1.0], [0.5, 1.0], [0.5, 1.0]]]),
            "test_accuracy": (("x", "round"), [[0.2, 0.5, np.nan]]),
        }
    )
    values = {name: q.metric_values(study, name).item() for name in study if name in METRICS}
    assert values == pytest.approx(
        {
            "nmse": 10.0,  # the median in decibels
            "load": 0.9,
            "radiated_energy": 11.0,
            "active_fraction": 75.0,
            "test_accuracy": 50.0,  # the last test
        }
    )
    over = q.metric_values(study, "nmse", keep=("round",))
    np.testing.assert_allclose(over, [[0.0, 20.0, 10.0]])


def test_runs_that_diverged_are_left_out(sweep):
    wild = sweep.copy()
    wild["diverged"] = xr.ones_like(sweep["diverged"])
    for name in ("test_accuracy", "train_loss", "nmse"):
        assert np.isnan(q.metric_values(wild, name)).all(), name
    assert (q.metric_values(wild, "diverged") == 1).all()


def test_missing_runs_have_no_sum():
    study = xr.Dataset(
        {
            "finished": (("x",), [1.0, 0.0]),
            "diverged": (("x",), [0.0, 0.0]),
            "radiated_energy": (("x", "round", "client"), [[[1.0, 2.0]], [[np.nan, np.nan]]]),
        }
    )
    np.testing.assert_array_equal(q.metric_values(study, "radiated_energy"), [3.0, np.nan])


def test_an_error_of_zero_has_no_decibels():
    study = xr.Dataset(
        {
            "finished": (("x",), [1.0, 1.0]),
            "diverged": (("x",), [0.0, 0.0]),
            "nmse": (("x", "round"), [[0.0], [0.1]]),
        }
    )
    np.testing.assert_allclose(q.metric_values(study, "nmse"), [np.nan, -10.0])


def test_infinite_values_are_names(sweep):
    study = sweep.assign_coords(snr_db=[10.0, 20.0, np.inf])
    assert q.is_numeric(sweep, "snr_db")
    assert not q.is_numeric(study, "snr_db")
    assert q.value_label(study, "snr_db", np.inf) == r"SNR = $\infty$ dB"


def test_yes_and_no_have_a_key(sweep):
    study = sweep.rename(algorithm="csi_through_faults")
    study["csi_through_faults"].attrs = {}
    assert q.value_label(study, "csi_through_faults", "True") == "CSI through hardware: yes"
    assert q.value_label(study, "csi_through_faults", "False", alone=True) == "no"


def test_long_names_lose_their_middle(sweep):
    assert len(q.value_label(sweep, "algorithm", "a very long name " * 5)) <= 32


def test_every_metric_can_be_drawn(sweep):
    for name in (each for each in sweep.data_vars if each in METRICS):
        assert set(q.metric_values(sweep, name).dims) == set(sweep["finished"].dims), name


@pytest.mark.parametrize(
    ("name", "over_rounds", "label"),
    [
        ("airtime", True, "time on the air [s]"),
        ("test_accuracy", False, "test accuracy [%]"),
        ("nmse", True, "median NMSE [dB]"),
        ("nmse", False, "NMSE [dB]"),
        ("steps", True, "mean local steps"),
        ("load", True, "largest load of all clients"),
        ("load", False, "largest load of all clients"),
        ("clip_rate", True, "mean largest clipped samples of all clients [%]"),
        ("radiated_energy", True, "radiated energy, all clients"),
    ],
)
def test_labels_come_from_the_table_of_metrics(name, over_rounds, label):
    assert q.metric_label(VARIABLES[name], over_rounds) == label


def test_values_have_symbols_and_units(sweep):
    assert q.value_label(sweep, "snr_db", 10.0) == "SNR = 10 dB"
    assert q.value_label(sweep, "snr_db", np.float64(-1)) == "SNR = \N{MINUS SIGN}1 dB"
    assert q.value_label(sweep, "truncation", 0.1) == "$g$ = 0.1"
    assert q.value_label(sweep, "truncation", 0.1, alone=True) == "0.1"
    assert q.value_label(sweep, "algorithm", "acpc") == "ACPC-OTA-FL"
    assert q.value_label(sweep, "algorithm", "fedadam") == "FedAdam"
    assert q.label_of_dim(sweep, "round").axis == "round"


def test_names_stand_alone_unless_they_need_a_word(sweep):
    study = sweep.rename(algorithm="budget").assign_coords(budget=["round", "symbol"])
    assert q.value_label(study, "budget", "round") == "limit per round"
    assert q.value_label(study, "budget", "round", alone=True) == "round"


def test_a_key_is_found_by_its_name_or_its_short_name(sweep):
    dims = ["snr_db", "truncation"]
    assert q.find_dim(sweep, "x", "snr_db", dims) == "snr_db"
    assert q.find_dim(sweep, "x", "link.snr_db", dims) == "snr_db"
    with pytest.raises(OptionError) as caught:
        q.find_dim(sweep, "x", "link.snr", dims)
    assert str(caught.value) == (
        "x must be a key that the study sweeps (link.snr_db, link.truncation), got 'link.snr'; "
        "did you mean 'link.snr_db'?"
    )


def test_seeds_have_no_role(sweep):
    with pytest.raises(OptionError, match="hue must be a key other than seed"):
        q.find_dim(sweep, "hue", "seed", ["snr_db"])


def test_a_metric_that_is_none_is_refused(sweep):
    with pytest.raises(OptionError, match="did you mean 'accuracy'"):
        q.metric_of(sweep, "acuracy")
