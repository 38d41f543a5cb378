"""A study as a table, as JSON, CSV or MATLAB file."""

from __future__ import annotations

import csv
import io
import json
import math
from pathlib import Path
from typing import TYPE_CHECKING, Any

from rich.console import Console, Group, RenderableType
from rich.markup import escape
from rich.table import Table

from scenarios.folder import writing
from scenarios.results import Point, Results, comparison, open_study
from scenarios.tolerance import fault_axis, tolerances

if TYPE_CHECKING:
    from scenarios.linkcheck import LinkCheck

FILE_WIDTH = 120  # of a table that goes to a file


def rows(folder: str | Path) -> list[dict[str, Any]]:
    """One for each point of the sweep, with plain values; accuracies in percent.

    Every swept key but the seed, then ``accuracy_mean``, ``accuracy_std``, ``n`` (the runs that
    these are of), ``diverged`` (those that are not among them), ``loss_mean`` of the last test and,
    where there is one, ``paper``.
    """
    return [_row(point) for point in Results.read(folder).points()]


def _row(point: Point) -> dict[str, Any]:
    row: dict[str, Any] = {key: _plain(label) for key, label in point.labels.items()}
    row |= {
        "accuracy_mean": _plain(point.mean),
        "accuracy_std": _plain(point.std),
        "n": len(point.accuracies or point.losses),
        "diverged": point.diverged,
        "loss_mean": _plain(_mean(point.losses)),
    }
    return row if point.paper is None else {**row, "paper": point.paper}


def _plain(value: Any) -> Any:
    """JSON has no word for NaN and infinity."""
    if isinstance(value, float) and not math.isfinite(value):
        return None if math.isnan(value) else str(value)
    return value


def as_json(folder: str | Path) -> str:
    return json.dumps(rows(folder), indent=2)


def write_csv(folder: str | Path, path: Path) -> None:
    table = rows(folder)
    names = list({name: None for row in table for name in row})
    text = io.StringIO(newline="")
    writer = csv.DictWriter(text, names)
    writer.writeheader()
    writer.writerows(table)
    with writing(path) as file:
        file.write(text.getvalue().encode())


def write_mat(folder: str | Path, path: Path) -> None:
    """Every metric, each with a list of its dimensions, and the coordinates."""
    from scipy.io import savemat

    study = open_study(folder)
    content: dict[str, Any] = {"title": study.attrs["title"], "scenario": study.attrs["scenario"]}
    content["coordinates"] = {_matlab(name): study[name].values for name in study.coords}
    content["dimensions"] = {_matlab(name): list(study[name].dims) for name in study.data_vars}
    content["metrics"] = {_matlab(name): study[name].values for name in study.data_vars}
    memory = io.BytesIO()
    savemat(memory, content, long_field_names=True)
    with writing(path) as file:
        file.write(memory.getbuffer())


def _matlab(name: Any) -> str:
    return str(name).replace(".", "_")


def table_of(folder: str | Path) -> RenderableType:
    """For people."""
    results = Results.read(folder)
    study, points = results.scenario, results.points()
    accuracies = any(point.accuracies for point in points) or not any(p.losses for p in points)
    paper = any(point.paper is not None for point in points)
    table = Table(title=escape(study.title), title_justify="left")
    for key, name in results.axis_names().items():
        if key != "seed":
            table.add_column(escape(name))
    heads = ["accuracy [%]" if accuracies else "test loss", "std", "n"]
    heads += ["paper [%]", "deviation"] if paper else []
    for head in heads:
        table.add_column(escape(head), justify="right")
    for point in points:
        value = f"{point.mean:.2f}" if accuracies else f"{_mean(point.losses):.4g}"
        cells = [value, f"{point.std:.2f}", str(len(point.accuracies or point.losses))]
        if paper:
            there = point.paper if point.paper is not None else math.nan
            cells += [f"{there:.2f}", f"{point.mean - there:+.2f}"]
        cells = ["-" if cell.strip("+") == "nan" else cell for cell in cells]
        table.add_row(*(escape(str(label)) for label in point.labels.values()), *cells)
    return Group(table, *_tolerance_table(results), *_remarks(points, len(study.cells)))


def _tolerance_table(results: Results) -> list[RenderableType]:
    """What the study's fault costs."""
    found = tolerances(results)
    if not found:
        return []
    axis = fault_axis(results.scenario)
    assert axis is not None
    names = results.axis_names()
    table = Table(
        title=f"{escape(names[axis.key])} that costs no more than a point",
        title_justify="left",
    )
    for key in found[0].place:
        table.add_column(escape(names[key]))
    for head in (f"accuracy [%] at {axis.labels[0]}", "takes", "too much", "larger error from"):
        table.add_column(escape(head), justify="right")
    for each in found:
        ends = [each.takes, each.too_much, each.dominates]
        cells = ["-" if value is None else str(value) for value in ends]
        places = [str(label) for label in each.place.values()]
        table.add_row(*map(escape, [*places, f"{each.accuracy:.2f}", *cells]))
    return [table]


def _remarks(points: list[Point], cells: int) -> list[str]:
    remarks = []
    compared = comparison(points)
    if compared is not None:
        deviation, farthest, agree, total = compared
        place = ", ".join(f"{label}" for label in farthest.labels.values())
        remarks.append(
            f"mean absolute deviation from the paper {deviation:.2f} points, largest "
            f"{abs(farthest.mean - (farthest.paper or 0)):.2f} ({escape(place)}); "
            f"{agree} of {total} orderings of algorithms as in the paper"
        )
    done = sum(point.finished for point in points)
    if done < cells:
        remarks.append(f"not finished: {done} of {cells} cells are done")
    diverged = sum(point.diverged for point in points)
    if diverged:
        remarks.append(f"{diverged} runs diverged and are not in the mean")
    return remarks


def _mean(values: tuple[float, ...]) -> float:
    return sum(values) / len(values) if values else math.nan


def print_table(folder: str | Path) -> None:
    console().print(table_of(folder))


def console() -> Console:
    """As wide as the terminal, and wide enough where there is none."""
    own = Console(highlight=False)
    return own if own.is_terminal else Console(highlight=False, width=FILE_WIDTH)


def print_link_check(check: LinkCheck) -> None:
    screen = console()
    for place, name in enumerate(check.links):
        table = Table(title=escape(name), title_justify="left")
        heads = [
            "entry SNR",
            "NMSE at a given gain",
            "closed form",
            "difference",
            "at largest gain",
        ]
        for head, unit in zip(heads, ("dB", "dB", "dB", "std. errors", "median, dB"), strict=True):
            table.add_column(f"{head}\n{escape(f'[{unit}]')}", justify="right")
        for number, snr in enumerate(check.entry_snr_db):
            mean, error = check.mean[place, number], check.error[place, number]
            expected = check.expected[place, number]
            apart = (mean - expected) / error if error > 0 else math.nan
            table.add_row(
                f"{snr:g}",
                _decibels(mean),
                _decibels(expected),
                f"{apart:+.1f}" if math.isfinite(apart) else "-",
                _decibels(check.median[place, number]),
            )
        screen.print(table)


def _decibels(ratio: float) -> str:
    if math.isnan(ratio):
        return "-"
    return (
        f"{10 * math.log10(ratio):.2f}"
        if 0 < ratio < math.inf
        else ("-inf" if not ratio else "inf")
    )
