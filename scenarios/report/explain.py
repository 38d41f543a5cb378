"""One round of a scenario in numbers, in every definition that the literature uses.

The numbers are those of the first cell. Energies, the received SNR and the NMSE are measured in one
round in which the clients send vectors with the envelope of a model update
(:func:`scenarios.report.linkcheck.model_updates`) at the largest gain within their budgets.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import Any

import numpy as np
from rich.markup import escape

from fl.streams import Purpose, stream
from links.radio import noise_of
from otafl._base.decibels import to_db
from scenarios.config.cell import Cell
from scenarios.config.scenario import Scenario
from scenarios.config.sweep import VARIANT
from scenarios.errors import user_errors
from scenarios.report.linkcheck import model_updates
from scenarios.report.tables import console, heading_table
from scenarios.study.batch import check
from scenarios.study.growth import new_study

ONE_IN = 1000  # symbols exceed the PAPR that is shown
Line = tuple[str, str, str]
"""What it is, its value with the unit, and its definition."""


def print_explanation(scenario: Scenario) -> None:
    """Print the numbers of one round, and what is swept."""
    study = new_study(scenario)
    check((cell, study.labels[digest]) for digest, cell in study.cells.items())
    screen = console()
    table = heading_table(scenario.title, ["", "value", "definition"], [])
    with user_errors(scenario.cells[0].all_code()):
        for line in explained(scenario.cells[0]):
            table.add_row(*map(escape, line))
    screen.print(table)
    screen.print(
        "Gain, energies, received SNR and NMSE are those of one round in which clients send random "
        "vectors with three quarters of their energy in a tenth of the entries, like updates."
    )
    if not scenario.sweep.axes:
        return
    swept = heading_table(
        f"swept: {scenario.sweep.size} cells; the numbers above are those of the first",
        ["key", "values"],
        [],
    )
    for axis in scenario.sweep.axes:
        text = ", ".join(str(label) for label in axis.labels)
        if axis.key == VARIANT:
            text += f" (setting {', '.join(sorted(axis.keys))})"
        swept.add_row(escape(axis.key), escape(text))
    screen.print(swept)


def explained(cell: Cell) -> Iterator[Line]:
    """Yield the numbers of one round of a cell."""
    problem = cell.problem()
    link, algorithm = cell.link.build(), cell.algorithm.build()
    clients, size = problem.num_clients, problem.model.size
    entries = algorithm.num_entries(size)
    yield "clients m", str(clients), "clients that take part in a round"
    yield "entries d", str(entries), f"real numbers that each sends, for {size} parameters"
    signals = model_updates(clients, entries, np.random.default_rng(cell.seed))
    uplink = link.open(clients, entries, stream(cell.seed, 0, Purpose.LINK))
    gain = uplink.max_gain(signals)
    if not math.isfinite(gain):
        gain = 1.0
    received = uplink.send(signals, gain)
    yield from _noise(link, entries)
    yield from _power(uplink, received, gain)
    recorded = getattr(getattr(link, "fading", None), "path_gain", None)
    if recorded is not None:
        text = "mean power of the recorded channels, which was divided out"
        yield "recorded power", _span(recorded), text
        relative = [round(float(each), 4) for each in np.array(recorded) / np.mean(recorded)]
        text = "that power relative to its mean: link.path_gain, if clients are to differ by it"
        yield "path gain", str(relative[:clients]), text
    yield from _time(received.diagnostics, cell)
    yield from _envelope(cell.link)
    yield from _downlink(cell, clients, size)


def _noise(link: Any, entries: int) -> Iterator[Line]:
    try:
        noise = noise_of(link, entries)
    except (ValueError, AttributeError, TypeError):  # a link without noise, or of the user's own
        return
    report = {name: float(value) for name, value in noise.report.items()}
    yield "block SNR", _db(report["snr_db"]), "P / sigma_c^2, the paper's SNR"
    entry = "P / (d sigma_c^2), the Es/N0 of a resource element"
    yield "entry SNR", _db(report["entry_snr_db"]), entry
    yield "noise sigma_c^2", f"{noise.variance:.4g}", "variance of the noise of a real entry"
    yield "noise N0", f"{2 * noise.variance:.4g}", "variance of a complex resource element"


def _power(uplink: Any, received: Any, gain: float) -> Iterator[Line]:
    budget, diagnostics = np.asarray(uplink.budget, float), received.diagnostics
    whole = budget.sum(axis=1)
    yield "power P", _span(whole), "largest energy of a client in a round"
    if budget.shape[1] > 1:
        yield "power per symbol", _span(budget[:, 0]), "P / L, the limit in each OFDM symbol"
    yield "gain beta", f"{gain:.4g}", "largest common gain within all budgets"
    yield "energy", _span(received.energy.sum(axis=1)), "spent by a client at that gain"
    if "radiated_energy" in diagnostics:
        text = "the same with prefix and pilots, after impairments"
        yield "radiated energy", _span(np.asarray(diagnostics["radiated_energy"])), text
    if "active_fraction" in diagnostics:
        text = "part of the spectrum on which a client sends"
        yield "active fraction", _span(np.asarray(diagnostics["active_fraction"])), text
    if "received_snr_db" in diagnostics:
        text = "energy of the sum over that of the noise, at the antenna"
        yield "received SNR", _db(float(diagnostics["received_snr_db"])), text
    if "nmse" in diagnostics:
        text = "squared error of the received sum over the squared sum"
        yield "NMSE", _db(float(to_db(diagnostics["nmse"]))), text


def _time(diagnostics: Any, cell: Cell) -> Iterator[Line]:
    if "symbols" in diagnostics:
        yield (
            "OFDM symbols L",
            str(int(diagnostics["symbols"])),
            "that carry the entries of a round",
        )
    if "airtime" in diagnostics:
        airtime, pilots = (
            float(diagnostics["airtime"]),
            float(diagnostics.get("pilot_airtime", 0.0)),
        )
        yield "airtime", _seconds(airtime), "of a round"
        yield "pilots", _seconds(pilots), "part of the airtime that pilots take"
        total = airtime * cell.training.rounds
        yield "airtime of a run", _seconds(total), f"{cell.training.rounds} rounds"


def _envelope(link: Any) -> Iterator[Line]:
    grid = getattr(link, "grid", None)
    if grid is None or link.choice == "orthogonal":
        return
    carriers = len(grid.build().used_carriers)
    # 1 - (1 - e^-z)^N = 1/ONE_IN, at the Nyquist rate
    level = -math.log1p(-((1 - 1 / ONE_IN) ** (1 / carriers)))
    text = f"exceeded by one OFDM symbol in {ONE_IN}: 1 - (1 - exp(-z))^N, N = {carriers} carriers"
    yield "PAPR", _db(float(to_db(level))), text
    for name, part in getattr(getattr(link, "transmit", None), "parts", ()):
        if name == "clip_and_filter":
            text = "what clip-and-filter limits the envelope to, relative to the mean power"
            yield "PAPR target", _db(part.backoff_db), text


def _downlink(cell: Cell, clients: int, size: int) -> Iterator[Line]:
    downlink = cell.downlink.build()
    if downlink is None:
        return
    opened = downlink.open(clients, size, stream(cell.seed, 0, Purpose.DOWNLINK))
    model = model_updates(1, size, np.random.default_rng(cell.seed))[0]
    diagnostics = opened.broadcast(model).diagnostics
    for line in _noise(downlink, size):
        if line[0].endswith("SNR"):
            yield f"downlink {line[0]}", *line[1:]
    if "downlink_nmse" in diagnostics:
        text = "squared error of what clients receive over the squared model"
        yield "downlink NMSE", _db(float(to_db(diagnostics["downlink_nmse"]))), text
    if "downlink_airtime" in diagnostics:
        airtime = float(diagnostics["downlink_airtime"])
        yield "downlink airtime", _seconds(airtime), "of a round, pilots included"


def _seconds(time: float) -> str:
    return f"{time:.4g} s" if time >= 1 else f"{1e3 * time:.4g} ms"


def _span(values: Any) -> str:
    low, high = float(np.min(values)), float(np.max(values))
    return f"{low:.4g}" if math.isclose(low, high, rel_tol=1e-6) else f"{low:.4g} to {high:.4g}"


def _db(level: float) -> str:
    return f"{level:.2f} dB" if math.isfinite(level) else f"{level} dB"
