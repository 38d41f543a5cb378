"""How soon the page of ``otafl demo`` answers a slider.

    python -m tests.bench.demo_page

First what the server computes for one answer; then the time from a moved slider to the numbers in
20 open pages, two of them in Chromium if it is installed, with and without trainings.
"""

from __future__ import annotations

import asyncio
import itertools
import statistics

import numpy as np
from threadpoolctl import threadpool_limits

from otafl.demo.curve import SNRS_DB, measure, received
from otafl.demo.setting import Setting
from otafl.demo.snapshot import payload, snapshot
from tests.bench.timing import best_times
from tests.system.test_browser import CHROMIUM, DRIVER, chromium, inside, load
from tests.system.visitors import Visitor, served

FAULTS = {"csi_error": 0.05, "carrier_offset": 0.01, "backoff_db": 6.0}
PAGES, MOVES = 20, 6
ERRORS = itertools.cycle(0.005 * step for step in range(1, 100))  # a slider must move to answer


def answers() -> None:
    """Time the snapshots of some settings."""
    settings = {
        "5 clients": Setting(clients=5),
        "20 clients": Setting(clients=20),
        "20 clients, amplifier": Setting(clients=20, backoff_db=6.0),
        "5 clients, all faults": Setting(clients=5, **FAULTS),
        "20 clients, all faults": Setting(clients=20, **FAULTS),
    }

    def answer(setting: Setting) -> None:
        snapshot.cache_clear()
        snapshot(setting)

    times = best_times({name: lambda s=each: answer(s) for name, each in settings.items()})
    print("One answer of the demo's page, computed")
    for name, seconds in times.items():
        print(f"  {name:24s} {seconds * 1e3:7.0f} ms")


def curves() -> None:
    """Compare a curve of scaled noise with sends at every SNR."""
    setting = Setting(clients=20, backoff_db=6.0)
    signals, gain = payload(setting), snapshot(setting).view.gain

    def directly() -> None:
        for snr_db in SNRS_DB:
            received(setting, signals, gain, snr_db, 8)

    works = {
        "scaled noise": lambda: measure(setting, signals, gain, 8),
        "sends at every SNR": directly,
    }
    with threadpool_limits(1, "blas"):
        times = best_times(works)
    print("Its curve, 20 clients with an amplifier")
    for name, seconds in times.items():
        print(f"  {name:24s} {seconds * 1e3:7.0f} ms")
    print(f"  {'ratio':24s} {times['sends at every SNR'] / times['scaled noise']:7.1f}")


async def latencies(visitors: list[Visitor], rng: np.random.Generator) -> list[float]:
    """Move one slider after another, as a class does, about 25 times a second in all."""

    async def play(visitor: Visitor, wait_first: float) -> list[float]:
        await asyncio.sleep(wait_first)
        found = []
        for _ in range(MOVES):
            found.append(await visitor.move("csi_error", next(ERRORS)))
            await asyncio.sleep(rng.uniform(0.4, 1.2))
        return found

    starts = rng.uniform(0, 1, len(visitors))
    played = await asyncio.gather(*map(play, visitors, starts))
    return [seconds for each in played for seconds in each]


def report(name: str, seconds: list[float]) -> None:
    """Print the median and the 95th percentile."""
    worst = statistics.quantiles(seconds, n=20)[-1]
    print(f"  {name:24s} {statistics.median(seconds) * 1e3:7.0f} ms, 95 % {worst * 1e3:.0f} ms")


async def lesson(address: str, browsers: list) -> None:
    """Measure a class without and with trainings; the browsers ask for them, and others too."""
    rng = np.random.default_rng(0)
    alone = await Visitor.open(address, "?clients=20&backoff_db=6")
    moves = [await alone.move("csi_error", next(ERRORS)) for _ in range(20)]
    report("20 clients, amplifier", moves)
    await alone.close()
    visitors = [await Visitor.open(address) for _ in range(PAGES - len(browsers))]
    report("no training", await latencies(visitors, rng))
    for browser in browsers:
        browser.execute_script("arguments[0].click()", inside(browser, "train", "button"))
    for visitor in visitors[:4]:
        await visitor.click("train")
    await visitors[0].until("progress", lambda text: "ahead" in text or "Round" in text)
    report("trainings all the time", await latencies(visitors[4:], rng))
    for visitor in visitors:
        await visitor.close()


def whole_class() -> None:
    """Time the sliders of a class on one server."""
    count = 2 if CHROMIUM and DRIVER else 0
    browsers = [chromium() for _ in range(count)]
    try:
        with served() as address:
            for browser in browsers:
                load(browser, address)
            print(f"{PAGES} open pages, {count} of them in Chromium, from slider to numbers")
            asyncio.run(lesson(address, browsers))
    finally:
        for browser in browsers:
            browser.quit()


def main() -> None:
    """Print all measurements."""
    answers()
    curves()
    whole_class()


if __name__ == "__main__":
    main()
