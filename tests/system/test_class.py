"""The demo page with a whole class on it: many sessions, one queue of trainings."""

from __future__ import annotations

import asyncio
import re

import pytest

from tests.bench import demo_page
from tests.system.visitors import Visitor, served

pytestmark = pytest.mark.system

CLASS = 20
SLOW = "?clients=20&backoff_db=6&carrier_offset=0.01"  # a training outlasts the lesson
WAITING = 12  # trainings that the queue holds


def begun(text):
    """Whether a training that was in the queue is no longer there."""
    return "ahead" not in text


def test_a_class_trains_and_moves_sliders(tmp_path):
    """Twenty sessions: one trains, some wait, one finds the queue full, all sliders answer."""

    async def lesson(address):
        visitors = [await Visitor.open(address, SLOW) for _ in range(CLASS)]
        runs, *others = visitors
        await runs.click("train")
        await runs.until("progress", lambda text: "Round" in text)
        for ahead, each in enumerate(others[:WAITING], start=1):
            await each.click("train")
            await each.until("progress", re.compile(f"<p>{ahead} trainings? ahead").match)
        await others[WAITING].click("train")
        await others[WAITING].until("progress", lambda text: "Please try again" in text)

        await others[0].click("train")  # it waits, and stops waiting
        await others[0].until("progress", lambda text: "Three algorithms" in text)
        await others[1].until("progress", lambda text: "1 training ahead" in text)
        await runs.click("train")  # it runs, and stops
        await runs.until("progress", lambda text: "Stopped after round" in text)
        await others[1].until("progress", begun)
        moves = [each.move("clients", 2 + number % 15) for number, each in enumerate(visitors)]
        assert len(await asyncio.gather(*moves)) == CLASS
        await others[1].close()  # a closed tab makes room for the next
        await others[2].until("progress", begun)
        for each in (runs, others[0], *others[2:]):
            await each.close()

    with (
        open(tmp_path / "stderr", "w+") as stderr,
        served(stderr=stderr) as address,
    ):
        asyncio.run(lesson(address))
    said = (tmp_path / "stderr").read_text()
    assert said == "", said


def test_the_benchmark_of_a_class(monkeypatch, capsys):
    monkeypatch.setattr(demo_page, "MOVES", 2)
    demo_page.whole_class()
    printed = capsys.readouterr().out
    assert "no training" in printed
    assert "trainings all the time" in printed


def test_few_clients_and_closed_tabs_print_nothing(tmp_path):
    """A tab that closes right after its slider has moved gets no answer."""

    async def visit(address):
        for clients in (1, 2, 3):
            visitor = await Visitor.open(address, f"?clients={clients}&csi_error=0.1")
            await visitor.move("truncation", 0.0)
            await visitor.set("clients", 4 - clients)
            await visitor.close()
        await asyncio.sleep(1)  # in which the server would answer

    with open(tmp_path / "stderr", "w+") as stderr, served(stderr=stderr) as address:
        asyncio.run(visit(address))
    assert (tmp_path / "stderr").read_text() == ""
