"""The page: sliders on the left, plots of one round, and training on demand."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

from bokeh.document import Document
from bokeh.models import Button, Div, InputWidget, Select, Slider
from jinja2 import Template

from otafl.demo import words
from otafl.demo.linkview import look_at
from otafl.demo.pictures import AccuracyPicture, Pictures
from otafl.demo.setting import FADINGS, IDEAL_BACKOFF_DB, Setting
from otafl.demo.training import ROUNDS, Training

DELAY = 30  # milliseconds in which a slider may move further
FOLDER = Path(__file__).parent
STRETCH: dict[str, Any] = {"sizing_mode": "stretch_width"}


def controls() -> dict[str, InputWidget]:
    """Return one control per option of a setting, at its default."""
    first = Setting()

    def slider(name: str, title: str, start: float, end: float, step: float, **look: Any) -> Slider:
        limits = {"start": start, "end": end, "step": step, "value": getattr(first, name)}
        return Slider(name=name, title=title, show_value=True, **STRETCH, **limits, **look)

    def select(name: str, title: str, options: list[str]) -> Select:
        value = getattr(first, name)
        return Select(name=name, title=title, options=options, value=value, **STRETCH)

    made = (
        slider("clients", "Clients", 1, 20, 1),
        select("payload", "What they send", ["votes", "Gaussian"]),
        slider("entry_snr_db", "Entry SNR [dB]", -40, 40, 1),
        select("fading", "Fading", list(FADINGS)),
        slider("csi_error", "CSI error", 0, 0.5, 0.005, format="0.000"),
        slider("truncation", "Truncation", 0, 1, 0.01, format="0.00"),
        slider("carrier_offset", "Carrier offset [spacings]", 0, 0.05, 0.001, format="0.000"),
        slider("backoff_db", "Amplifier backoff [dB]", -6, IDEAL_BACKOFF_DB, 1),
    )
    return {control.name: control for control in made}


class Page:
    """The page of one visitor."""

    def __init__(self, document: Document) -> None:
        self._document = document
        self._controls = controls()
        self._seed = 0
        self._waiting = False
        self._training: Training | None = None
        self._again = Button(label="Draw another round", **STRETCH)
        self._train = Button(label="Train", button_type="primary", **STRETCH)
        self._numbers = Div(stylesheets=[words.CARDS], **STRETCH)
        self._story = Div(stylesheets=[words.STORY], **STRETCH)
        self._progress = Div(stylesheets=[words.STORY], text=words.invitation(), **STRETCH)
        self._pictures, self._accuracy = Pictures(), AccuracyPicture()

        for control in self._controls.values():
            control.on_change("value", lambda name, old, new: self._soon())
        self._again.on_click(self._another_round)
        self._train.on_click(self._train_or_stop)
        self._closed = False
        document.on_session_destroyed(lambda context: self._close())
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
        """Update once after a burst of slider events."""
        if not self._waiting:
            self._waiting = True
            self._document.add_timeout_callback(self._update, DELAY)

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
        """Run something in the page's own thread, unless the page is closed."""
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
