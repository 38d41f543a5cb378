"""The plots of the page show the quantities of a round."""

from __future__ import annotations

import numpy as np
import pytest

from otafl.demo.pictures import SHOWN_ELEMENTS, SYMBOLS, Pictures
from otafl.demo.setting import Setting
from otafl.demo.snapshot import snapshot


@pytest.fixture
def pictures():
    return Pictures()


def data(renderer):
    return renderer.data_source.data


def test_names_are_those_of_the_page(pictures):
    assert pictures.figures.keys() == {
        "channels", "sent", "arrived", "sum", "scatter", "energy", "error"
    }  # fmt: skip


def test_a_round(pictures):
    shown = snapshot(Setting(clients=5, truncation=0.1))
    pictures.show(shown)
    radio = shown.radio
    strength = 10 * np.log10(radio.strength[1])
    np.testing.assert_allclose(data(pictures._channels[1])["y"], strength)
    assert not any(dots.visible for dots in pictures._estimates)  # the channel is known
    assert pictures._threshold.location == pytest.approx(-10.0)
    assert len(pictures._bars.data["top"]) == shown.view.load.size == 5 * SYMBOLS
    assert data(pictures._now)["y"][0] == pytest.approx(10 * np.log10(shown.nmse))
    sent = radio.sent[0].ravel()[SHOWN_ELEMENTS]
    assert len(data(pictures._sent[0])["x"]) == len(SHOWN_ELEMENTS) - (sent == 0).sum()
    received = radio.received_sum.ravel()[SHOWN_ELEMENTS]
    np.testing.assert_array_equal(data(pictures._sum_received)["y"], received.imag)
    # the same entries, true and received
    true = radio.true_sum.ravel()[SHOWN_ELEMENTS]
    np.testing.assert_array_equal(data(pictures._pairs)["x"][: len(true)], true.real)


@pytest.mark.parametrize("clients", [1, 2, 3, 4, 20])
def test_clients_that_do_not_exist_are_in_no_picture_and_no_legend(clients, pictures):
    pictures.show(snapshot(Setting(clients=20, csi_error=0.1)))
    pictures.show(snapshot(Setting(clients=clients, csi_error=0.1, truncation=0.0)))
    exist = [number < clients for number in range(4)]
    for drawn in (
        pictures._channels,
        pictures._estimates,
        pictures._sent,
        pictures._arrived,
        pictures._client_entries,
    ):
        assert [each.visible for each in drawn] == exist
    assert not pictures._threshold.visible


def test_a_curve_without_closed_form_has_no_line(pictures):
    pictures.show(snapshot(Setting(fading="Rician, K = 4", csi_error=0.1)))
    assert not pictures._theory.visible
    assert not pictures._theory_entry.visible
    pictures.show(snapshot(Setting()))
    assert pictures._theory.visible
    assert pictures._theory_entry.visible
