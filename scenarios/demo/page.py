"""The page: sliders on the left, one round taken apart in pictures, and a training on demand."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

from bokeh.document import Document
from bokeh.models import Button, Div, InputWidget, Select, Slider
from jinja2 import Template

from scenarios.demo import words
from scenarios.demo.linkview import look_at
from scenarios.demo.pictures import AccuracyPicture, Pictures
from scenarios.demo.setting import FADINGS, IDEAL_BACKOFF_DB, Setting
from scenarios.demo.training import ROUNDS, Training

PATIENCE = 30  # milliseconds in which more of a slider's movement may come
FOLDER = Path(__file__).parent


def controls() -> dict[str, InputWidget]:
    """One for each choice of a setting, where it stands at first."""
    first = Setting()
    slider = partial(Slider, show_value=True, sizing_mode="stretch_width")
    select = partial(Select, sizing_mode="stretch_width")
    return {
        "clients": slider(start=1, end=20, step=1, value=first.clients, title="Clients"),
        "payload": select(
            options=["votes", "Gaussian"], value=first.payload, title="What they send"
        ),
        "entry_snr_db": slider(
            start=-40, end=40, step=1, value=first.entry_snr_db, title="SNR of an entry [dB]"
        ),
        "fading": select(options=list(FADINGS), value=first.fading, title="Fading"),
        "csi_error": slider(
            start=0, end=0.5, step=0.005, value=first.csi_error, format="0.000", title="CSI error"
        ),
        "truncation": slider(
            start=0, end=1, step=0.01, value=first.truncation, format="0.00", title="Truncation"
        ),
        "carrier_offset": slider(
            start=0,
            end=0.05,
            step=0.001,
            value=first.carrier_offset,
            format="0.000",
            title="Carrier offset [spacings]",
        ),
        "backoff_db": slider(
            start=-6,
            end=IDEAL_BACKOFF_DB,
            step=1,
            value=first.backoff_db,
            title="Amplifier backoff [dB]",
        ),
    }


class Page:
    """What one visitor sees."""

    def __init__(self, document: Document) -> None:
        self._document = document
        self._controls = controls()
        self._seed = 0
        self._waiting = False
        self._training: Training | None = None
        self._again = Button(label="Draw another round", sizing_mode="stretch_width")
        self._train = Button(
            label="Train", button_type="primary", sizing_mode="stretch_width", name="train"
        )
        self._numbers = Div(sizing_mode="stretch_width", stylesheets=[words.CARDS])
        self._story = Div(sizing_mode="stretch_width", stylesheets=[words.STORY])
        self._progress = Div(sizing_mode="stretch_width", stylesheets=[words.STORY])
        self._pictures, self._accuracy = Pictures(), AccuracyPicture()

        for control in self._controls.values():
            control.on_change("value", lambda name, old, new: self._soon())
        self._again.on_click(self._another_round)
        self._train.on_click(self._train_or_stop)
        self._closed = False
        document.on_session_destroyed(lambda context: self._close())
        self._progress.text = words.invitation()
        self._update()
        self._place()

    def _place(self) -> None:
        roots: dict[str, Any] = {
            **self._controls,
            "again": self._again,
            "train": self._train,
            "numbers": self._numbers,
            "story": self._story,
            "progress": self._progress,
            "accuracy": self._accuracy.figure,
            **self._pictures.figures,
        }
        for name, root in roots.items():
            root.name = name
            self._document.add_root(root)
        self._document.title = "otafl: over-the-air computation"
        self._document.template = Template((FOLDER / "page.html").read_text(encoding="utf-8"))

    @property
    def _setting(self) -> Setting:
        return Setting(**{name: control.value for name, control in self._controls.items()})

    def _soon(self) -> None:
        """A slider on its way says so many times; the picture follows the last."""
        if not self._waiting:
            self._waiting = True
            self._document.add_timeout_callback(self._update, PATIENCE)

    def _update(self) -> None:
        self._waiting = False
        setting = self._setting
        view = look_at(setting, self._seed)
        self._pictures.show(setting, view)
        self._numbers.text = words.numbers(view)
        self._story.text = words.story(setting, view)

    def _another_round(self) -> None:
        self._seed += 1
        self._soon()

    def _train_or_stop(self) -> None:
        if self._training is not None:
            self._stop()
            return
        setting = self._setting
        self._accuracy.clear()
        self._train.update(label="Stop", button_type="warning")
        self._progress.text = words.training(0, ROUNDS)
        self._training = Training(
            setting,
            self._seed,
            on_round=lambda *found: self._later(partial(self._show_round, *found)),
            on_end=lambda problem: self._later(partial(self._end_training, setting, problem)),
        )
        self._training.begin()

    def _later(self, work: Callable[[], None]) -> None:
        """The thread may not touch the page; and one that is closed has no later."""
        if not self._closed:
            self._document.add_next_tick_callback(work)

    def _close(self) -> None:
        self._closed = True
        self._stop()

    def _stop(self) -> None:
        if self._training is not None:
            self._training.stop()

    def _show_round(self, number: int, accuracies: list[float]) -> None:
        self._accuracy.add(number, accuracies)
        self._progress.text = words.training(number, ROUNDS)

    def _end_training(self, setting: Setting, problem: str | None) -> None:
        self._training = None
        self._train.update(label="Train again", button_type="primary")
        self._progress.text = words.trained(setting, self._accuracy.last, problem)
