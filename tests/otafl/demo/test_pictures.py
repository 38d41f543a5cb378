"""The plots of the page show the quantities of a round."""

from __future__ import annotations

import numpy as np
import pytest

from otafl.demo.linkview import SYMBOLS, look_at
from otafl.demo.pictures import AccuracyPicture, Pictures
from otafl.demo.setting import Setting
from otafl.demo.training import ALGORITHMS


@pytest.fixture
def pictures():
    return Pictures()


def test_names_are_those_of_the_page(pictures):
    assert pictures.figures.keys() == {
        "channels", "sent", "arrived", "sum", "scatter", "energy", "error"
    }  # fmt: skip


def test_a_round(pictures):
    setting = Setting(clients=5, truncation=0.1)
    view = look_at(setting)
    pictures.show(setting, view)
    np.testing.assert_allclose(pictures._channels[1][0].data["y"], 10 * np.log10(view.strength[1]))
    assert len(pictures._channels[1][1].data["y"]) == 0  # the channel is known
    assert pictures._threshold.location == pytest.approx(-10.0)
    assert len(pictures._bars.data["top"]) == 5 * SYMBOLS
    assert pictures._now.data["y"][0] == pytest.approx(10 * np.log10(view.nmse))
    silent = (view.sent[0] == 0).sum()
    assert len(pictures._sent_points[0].data["x"]) == view.sent.shape[1] - silent


def test_estimates_are_shown_where_they_differ_and_missing_clients_are_not(pictures):
    setting = Setting(clients=2, csi_error=0.1, truncation=0.0)
    pictures.show(setting, look_at(setting))
    assert len(pictures._channels[1][1].data["y"]) > 0
    assert len(pictures._channels[2][0].data["y"]) == 0
    assert not pictures._threshold.visible


def test_accuracies_in_percent():
    picture = AccuracyPicture()
    assert picture.last == {}
    for number, accuracy in ((1, 0.1), (2, 0.25)):
        picture.add(number, [accuracy] * len(ALGORITHMS))
    assert set(picture.last.values()) == {25.0}
    picture.clear()
    assert picture.last == {}
