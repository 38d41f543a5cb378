"""The presets show what their sentences say."""

from __future__ import annotations

from dataclasses import replace
from urllib.parse import parse_qsl

import numpy as np
import pytest

from otafl.demo.address import query_of, setting_of
from otafl.demo.presets import PRESETS, preset_of
from otafl.demo.scenario import MODEL_SIZE
from otafl.demo.setting import Setting
from otafl.demo.snapshot import snapshot
from otafl.demo.words import block_snr_db


def shown(name):
    return snapshot(PRESETS[name].setting)


def test_the_page_begins_with_the_first():
    assert next(iter(PRESETS.values())).setting == Setting()


@pytest.mark.parametrize("name", PRESETS)
def test_controls_can_be_set_to_it(name):
    setting, sentence = PRESETS[name]
    arguments = {key: [value.encode()] for key, value in parse_qsl(query_of(setting))}
    assert setting_of(arguments) == (setting, [])
    assert sentence.endswith(".")


def test_another_round_is_of_the_same_preset():
    assert preset_of(replace(PRESETS["Noise only"].setting, seed=9)) == "Noise only"
    assert preset_of(Setting(clients=19)) == ""


def test_noise_only():
    view = shown("Noise only")
    assert view.noise_part / view.nmse == pytest.approx(1, abs=0.15)
    np.testing.assert_allclose(view.curve.mean, view.curve.expected[::10], rtol=0.1)


def test_the_weakest_client_sets_the_gain():
    view = shown("The weakest client")
    loads = view.view.load.max(axis=1)
    assert (loads > 0.9).sum() == 1
    assert view.gain_db < -6


@pytest.mark.parametrize(
    "name",
    ["Silent clients", "Wrong estimates", "Drifting oscillators", "Saturating amplifiers"],
)
def test_an_error_that_no_snr_removes(name):
    view = shown(name)
    assert view.noise_part < 0.05 * view.nmse
    assert view.curve.mean[-1] > 0.8 * view.curve.mean[-2]


def test_silent_clients_and_saturated_amplifiers():
    assert shown("Silent clients").active < 0.8
    assert shown("Saturating amplifiers").clip_rate > 0.1
    arrived = shown("Saturating amplifiers").radio.arrived
    assert np.abs(arrived).mean() < np.sqrt(2)  # it shrinks


def test_points_rotate_further_in_every_symbol():
    radio = shown("Drifting oscillators").radio
    turn = np.abs(np.angle((radio.arrived * radio.symbols.conj()).sum(axis=2)))  # [shown, symbols]
    assert (np.diff(turn, axis=1) > 0).all()


def test_the_training_in_noise():
    view = shown("Training in noise")
    assert view.nmse > 100
    assert block_snr_db(view.setting.entry_snr_db, MODEL_SIZE) == pytest.approx(10, abs=0.1)
