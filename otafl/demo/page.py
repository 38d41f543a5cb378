"""The page of one visitor: controls, pictures of one round, and training on demand."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

from bokeh.document import Document
from bokeh.models import Button, ColumnDataSource, CustomJS, Div, Select
from jinja2 import Environment, FileSystemLoader
from tornado.ioloop import IOLoop

from otafl.demo import words
from otafl.demo.accuracy import AccuracyPicture
from otafl.demo.address import query_of, setting_of
from otafl.demo.controls import STRETCH, Controls
from otafl.demo.pictures import Pictures
from otafl.demo.presets import PRESETS, preset_of
from otafl.demo.scenario import as_python, as_toml
from otafl.demo.setting import RANGES, Setting
from otafl.demo.snapshot import Snapshot, snapshot
from otafl.demo.trainer import MOST_WAITING, QueueFullError, Trainer, Training

DELAY = 30  # milliseconds in which a slider may move further
FOLDER = Path(__file__).parent
OWN = "own settings"
SMALL = {"margin": 0, "stylesheets": [".bk-btn { padding: 2px; }"]}
TEXT = (FOLDER / "text.css").read_text(encoding="utf-8")


class Page:
    """The page of one visitor.

    Parameters
    ----------
    document : Document
        What the browser shows; the address of its request may hold settings.
    trainer : Trainer
        Trains for all pages.
    """

    def __init__(self, document: Document, trainer: Trainer) -> None:
        self._document, self._trainer = document, trainer
        self._loop, self._context = IOLoop.current(), document.session_context
        self._waiting = False
        self._training: Training | None = None
        request = getattr(self._context, "request", None)
        arguments = {} if request is None else request.arguments
        setting, messages = setting_of(arguments)
        self._controls = Controls(setting)
        self._preset = Select(title="", options=[*PRESETS, OWN], **STRETCH)
        self._reset = Button(label="Reset", **STRETCH)
        self._again = Button(label="Draw another round", **STRETCH)
        self._train = Button(label="Train", button_type="primary", **{**STRETCH, **SMALL})
        self._numbers, self._story, self._progress, self._notice = (
            Div(stylesheets=[TEXT], **STRETCH) for _ in range(4)
        )
        self._progress.text = words.invitation()
        self._notice.update(text=words.notice(messages), visible=bool(messages))
        self._pictures, self._accuracy = Pictures(), AccuracyPicture()
        self._code = ColumnDataSource({"address": [], "python": [], "toml": []})
        self._copy = {language: self._copy_button(language) for language in ("Python", "TOML")}
        self._connect()
        self._show(snapshot(setting))
        self._place()

    def _copy_button(self, language: str) -> Button:
        made = Button(label=f"Copy as {language}", **STRETCH)
        script = f"window.otafl.copy(code.data.{language.lower()}[0], button)"
        made.js_on_click(CustomJS(args={"code": self._code, "button": made}, code=script))
        return made

    def _connect(self) -> None:
        """Connect events with what they cause."""
        for control in self._controls.widgets.values():
            control.on_change("value", lambda name, old, new: self._soon())
        self._preset.on_change("value", lambda name, old, new: self._choose(new))
        self._reset.on_click(lambda: self._controls.set(Setting()))
        self._again.on_click(self._another_round)
        self._train.on_click(self._train_or_stop)
        script = "window.otafl.setAddress(code.data.address[0])"
        self._code.js_on_change("data", CustomJS(args={"code": self._code}, code=script))
        self._document.on_session_destroyed(lambda context: self._close())

    def _place(self) -> None:
        roots: dict[str, Any] = {
            **self._controls.widgets,
            "preset": self._preset,
            "reset": self._reset,
            "again": self._again,
            "copy_python": self._copy["Python"],
            "copy_toml": self._copy["TOML"],
            "train": self._train,
            "numbers": self._numbers,
            "story": self._story,
            "notice": self._notice,
            "progress": self._progress,
            "accuracy": self._accuracy.figure,
            **self._pictures.figures,
        }
        with self._document.models.freeze():  # collect the models once, not after every root
            for name, root in roots.items():
                root.name = name
                self._document.add_root(root)
        self._document.title = "otafl: over-the-air computation"
        templates = Environment(loader=FileSystemLoader(FOLDER), autoescape=False)
        self._document.template = templates.get_template("page.html")

    def _soon(self) -> None:
        """Update once after a burst of slider events."""
        if not self._waiting:
            self._waiting = True
            self._document.add_timeout_callback(self._update, DELAY)

    @property
    def _watched(self) -> bool:
        """Whether a browser listens; a tab may close right after its slider has moved."""
        session = self._session
        return session is None or session.connection_count > 0

    @property
    def _session(self) -> Any:
        """The session of the server, None without one."""
        return getattr(self._context, "session", None)

    def _update(self) -> None:
        self._waiting = False
        if self._watched:
            self._show(snapshot(self._controls.setting))

    def _show(self, shown: Snapshot) -> None:
        setting = shown.setting
        self._pictures.show(shown)
        self._numbers.text = words.numbers(shown)
        self._story.text = words.story(shown)
        self._preset.value = preset_of(self._controls.setting) or OWN
        self._code.data = {
            "address": [query_of(setting)],
            "python": [as_python(shown)],
            "toml": [as_toml(setting)],
        }

    def _choose(self, name: str) -> None:
        """Apply a preset, unless the page is a round of it already."""
        if name in PRESETS and preset_of(self._controls.setting) != name:
            self._notice.visible = False
            self._controls.set(PRESETS[name].setting)

    def _another_round(self) -> None:
        setting = self._controls.setting
        last = int(RANGES["seed"].end)
        self._controls.set(replace(setting, seed=(setting.seed + 1) % (last + 1)))

    def _train_or_stop(self) -> None:
        if self._training is not None:
            self._trainer.stop(self._training)
            return
        setting = self._controls.setting
        self._training = Training(
            setting,
            on_place=lambda ahead: self._later(partial(self._show_place, ahead)),
            on_round=self._on_round,
            on_end=lambda problem: self._later(partial(self._end_training, setting, problem)),
        )
        self._accuracy.clear()
        try:
            self._trainer.submit(self._training)
        except QueueFullError:
            self._training = None
            self._progress.text = words.refused(MOST_WAITING)
        else:
            self._train.update(label="Stop", button_type="warning")

    def _on_round(self, number: int, accuracies: list[float]) -> None:
        if self._watched:  # a page without a browser is left alone, so that it can expire
            self._later(partial(self._show_round, number, accuracies))

    def _later(self, work: Callable[[], None]) -> None:
        """Change the page from another thread."""
        self._loop.add_callback(self._next, work)

    def _next(self, work: Callable[[], None]) -> None:
        """Change the page, in the thread of the server, which is the one that closes pages."""
        if self._session is None or not self._session.destroyed:
            self._document.add_next_tick_callback(work)

    def _close(self) -> None:
        if self._training is not None:
            self._trainer.stop(self._training)

    def _show_place(self, ahead: int) -> None:
        self._progress.text = words.waiting(ahead)

    def _show_round(self, number: int, accuracies: list[float]) -> None:
        self._accuracy.add(number, accuracies)
        self._progress.text = words.training(number)

    def _end_training(self, setting: Setting, problem: str | None) -> None:
        self._training = None
        self._train.update(label="Train again", button_type="primary")
        found, number = self._accuracy.last, self._accuracy.rounds
        self._progress.text = words.trained(setting, number, found, problem)
