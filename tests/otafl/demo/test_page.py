"""The page without a browser."""

from __future__ import annotations

from types import SimpleNamespace

import pytest
from bokeh.document import Document

from otafl.demo import page as module
from otafl.demo.page import OWN, Page
from otafl.demo.presets import PRESETS
from otafl.demo.setting import Setting
from otafl.demo.trainer import QueueFullError


class StandIn:
    """Keeps what it is asked for."""

    def __init__(self):
        self.submitted, self.stopped, self.full = [], [], False

    def submit(self, training):
        if self.full:
            raise QueueFullError
        self.submitted.append(training)

    def stop(self, training):
        self.stopped.append(training)


def opened(arguments=None, connections=1):
    """A page, with a document that runs callbacks at once."""
    document, trainer = Document(), StandIn()
    if arguments is not None:
        session = SimpleNamespace(connection_count=connections, destroyed=False)
        request = SimpleNamespace(arguments=arguments)
        document._session_context = lambda: SimpleNamespace(request=request, session=session)
    document.add_timeout_callback = lambda work, delay: work()
    document.add_next_tick_callback = lambda work: work()
    page = Page(document, trainer)
    page._loop = SimpleNamespace(add_callback=lambda call, work: call(work))
    return page, document, trainer


def named(document, name):
    return document.get_model_by_name(name)


def test_the_address_sets_the_controls_and_is_told_what_was_wrong():
    page, document, _ = opened({"clients": [b"3"], "seed": [b"8"], "fading": [b"fog"]})
    assert page._controls.setting == Setting(clients=3, seed=8)
    assert "fading must be one of" in named(document, "notice").text
    assert named(document, "notice").visible
    assert not opened()[1].get_model_by_name("notice").visible


def test_a_moved_control_changes_address_code_and_preset():
    page, document, _ = opened()
    assert named(document, "preset").value == "Counting votes"
    named(document, "clients").value = 3
    code = page._code.data
    assert "clients=3" in code["address"][0]
    assert "(3, 4800)" in code["python"][0]
    assert "clients = 3" in code["toml"][0]
    assert named(document, "preset").value == OWN
    named(document, "reset")._trigger_event(click(named(document, "reset")))
    assert page._controls.setting == Setting()
    assert named(document, "preset").value == "Counting votes"


def click(button):
    from bokeh.events import ButtonClick

    return ButtonClick(button)


@pytest.mark.parametrize("name", PRESETS)
def test_a_preset_moves_the_controls_and_stays_chosen(name):
    page, document, _ = opened()
    named(document, "preset").value = name
    assert page._controls.setting == PRESETS[name].setting
    assert named(document, "preset").value == name
    assert name in named(document, "story").text


def test_another_round_has_another_seed():
    page, document, _ = opened({"seed": [b"999999"]})
    named(document, "again")._trigger_event(click(named(document, "again")))
    assert page._controls.setting.seed == 0


def test_nothing_is_computed_or_sent_for_a_page_that_nobody_watches(monkeypatch):
    page, document, _ = opened({}, connections=0)
    monkeypatch.setattr(module, "snapshot", None)
    text = named(document, "numbers").text
    named(document, "clients").value = 3
    assert named(document, "numbers").text == text
    assert not page._waiting


def test_a_training_from_the_queue_to_its_end():
    page, document, trainer = opened()
    button, progress = named(document, "train"), named(document, "progress")
    page._train_or_stop()
    (training,) = trainer.submitted
    assert training.setting == Setting()
    assert button.label == "Stop"
    training.on_place(2)
    assert "2 trainings ahead of yours" in progress.text
    training.on_round(1, [0.5, 0.4, 0.3])
    assert "Round 1 of" in progress.text
    page._train_or_stop()
    assert trainer.stopped == [training]
    training.on_end(None)
    assert button.label == "Train again"
    assert "Stopped after round 1" in progress.text


def test_a_full_queue_is_told_politely():
    page, document, trainer = opened()
    trainer.full = True
    page._train_or_stop()
    assert "Please try again" in named(document, "progress").text
    assert named(document, "train").label == "Train"


def test_a_page_that_is_closed_leaves_the_queue_and_hears_no_more():
    page, document, trainer = opened({})
    page._train_or_stop()
    (training,) = trainer.submitted
    page._session.destroyed = True
    text = named(document, "progress").text
    training.on_round(1, [0.5, 0.4, 0.3])  # the page is gone before it leaves the queue
    assert named(document, "progress").text == text
    page._close()
    assert trainer.stopped == [training]
