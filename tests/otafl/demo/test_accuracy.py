"""The plot of a training."""

from __future__ import annotations

from otafl.demo.accuracy import AccuracyPicture
from otafl.demo.scenario import ALGORITHMS


def test_accuracies_in_percent():
    picture = AccuracyPicture()
    assert picture.last == {}
    assert picture.rounds == 0
    for number, accuracy in ((1, 0.1), (2, 0.25)):
        picture.add(number, [accuracy] * len(ALGORITHMS))
    assert set(picture.last.values()) == {25.0}
    assert picture.rounds == 2
    picture.clear()
    assert picture.last == {}


def test_the_legend_waits_for_its_lines():
    picture = AccuracyPicture()
    (legend,) = picture.figure.legend
    assert not legend.visible
    picture.add(1, [0.1] * len(ALGORITHMS))
    assert legend.visible
    picture.clear()
    assert not legend.visible
