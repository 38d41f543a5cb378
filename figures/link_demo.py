"""Print and draw one round over every link.

python -m figures.link_demo
"""

from __future__ import annotations

from pathlib import Path

import matplotlib.pyplot as plt
import numpy as np
from matplotlib.axes import Axes
from numpy.typing import NDArray
from rich.console import Console
from rich.markup import escape
from rich.table import Table

from figures import style
from scenarios import link_demo as demo


def decibels(ratio: float | None) -> str:
    if ratio is None:
        return "-"
    return f"{round(10 * np.log10(ratio), 1) + 0.0:.1f}" if ratio > 0 else "-inf"


def table(title: str, rows: list[demo.Row]) -> Table:
    result = Table(title=title, title_justify="left")
    result.add_column("link")
    for column in ("NMSE [dB]", "expected [dB]", "airtime [ms]", "energy [P]"):
        result.add_column(escape(column), justify="right")
    for row in rows:
        result.add_row(
            row.name,
            decibels(row.nmse),
            decibels(row.expected_nmse),
            f"{row.airtime * 1e3:.3g}",
            f"{row.energy:.3g}",
        )
    return result


def draw_channels(axes: Axes) -> None:
    slot = demo.ofdm_slot()
    carriers = slot.packing.grid.carriers
    for client, color in enumerate((style.BLUE, style.ORANGE, style.GREEN)):
        strength = np.square(np.abs(slot.channels[0].response[client, 0]))
        axes.plot(carriers, 10 * np.log10(strength), color=color, label=f"client {client}")
    threshold = 10 * np.log10(slot.link.truncation)
    axes.axhline(threshold, color=style.BLACK, linestyle=":", label="truncation")
    axes.set(
        title="(a) Channels of three clients",
        xlabel="carrier",
        ylabel=r"$|h|^2$ [dB]",
        ylim=(-20, 16),
    )
    axes.legend(ncols=2, loc="upper center")


def draw_energy(axes: Axes, signals: NDArray[np.float32]) -> None:
    for seed, color, label in (
        (None, style.RED, "in order"),
        (0, style.BLUE, "interleaved"),
    ):
        slot = demo.ofdm_slot(seed)
        sent = slot.send(signals, slot.max_gain(signals))
        share = sent.energy.max(axis=0) / slot.budget[0]
        symbols = np.arange(1, len(share) + 1)
        axes.step(symbols, share, where="mid", color=color, label=label)
    axes.axhline(1, color=style.BLACK, linestyle=":", label="budget")
    axes.set(
        title="(b) Busiest client of each symbol",
        xlabel="OFDM symbol",
        ylabel="share of its budget",
        ylim=(0, 1.5),
    )
    axes.legend(ncols=2, loc="upper center")


def draw_sums(axes: Axes, signals: NDArray[np.float32]) -> None:
    truth = signals.sum(axis=0)
    slot = demo.ofdm_slot()
    received = slot.send(signals, slot.max_gain(signals)).total
    limit = 1.05 * np.abs(truth).max()
    axes.plot(truth, received, ".", color=style.BLUE, markersize=1.2, alpha=0.5, rasterized=True)
    axes.plot([-limit, limit], [-limit, limit], color=style.BLACK, linestyle=":")
    axes.set(
        title=f"(c) The sum at {demo.ENTRY_SNR_DB:g} dB an entry",
        xlabel="true",
        ylabel="received",
        xlim=(-limit, limit),
        ylim=(-limit, limit),
    )


def draw(signals: NDArray[np.float32], folder: Path) -> list[Path]:
    style.apply()
    figure, (first, second, third) = plt.subplots(1, 3, figsize=(2 * style.COLUMN_WIDTH + 0.2, 2.3))
    draw_channels(first)
    draw_energy(second, signals)
    draw_sums(third, signals)
    folder.mkdir(parents=True, exist_ok=True)
    paths = [folder / f"link_demo.{suffix}" for suffix in ("png", "svg")]
    for path in paths:
        figure.savefig(path)
    plt.close(figure)
    return paths


def main() -> None:
    console = Console()
    signals = demo.model_updates(np.random.default_rng(demo.SEED))
    console.print(
        f"{demo.CLIENTS} clients send {demo.LENGTH} entries each; the server wants their sum."
    )
    console.print(
        table(
            f"Entry SNR {demo.ENTRY_SNR_DB:g} dB: the power of an entry over its noise",
            demo.compare(signals, entry_snr_db=demo.ENTRY_SNR_DB),
        )
    )
    console.print(
        table(
            f"Block SNR {demo.BLOCK_SNR_DB:g} dB, the paper's: "
            "a round's power over an entry's noise",
            demo.compare(signals, snr_db=demo.BLOCK_SNR_DB),
        )
    )
    console.print(
        "expected: the mean over fading and noise at the gain of this round, by links.theory; "
        "energy: of all clients, in units of one client's power of a round."
    )
    for path in draw(signals, Path("out")):
        console.print(f"drawn: {path}")


if __name__ == "__main__":
    main()
