"""A study as a printed table, as JSON, or as a CSV or MATLAB file."""

from __future__ import annotations

import csv
import io
import json
import math
from collections import Counter
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from rich.console import Console, ConsoleOptions, Group, RenderableType, RenderResult
from rich.markup import escape
from rich.table import Table
from rich.text import Text

from otafl._base.decibels import to_db
from scenarios.config.labels import label_of
from scenarios.config.library import STUDY_FILE
from scenarios.report.tolerance import impairment_axis, tolerances
from scenarios.study.folder import Folder
from scenarios.study.points import Point, compare
from scenarios.study.results import VARIABLES, Results, open_study
from scenarios.study.writing import write_text, writing

if TYPE_CHECKING:
    from scenarios.report.linkcheck import LinkCheck

ROUNDING = 1e-9  # a participation bias below it is none
FILE_WIDTH = 120  # of a table that is not printed to a terminal


def rows(folder: str | Path) -> list[dict[str, Any]]:
    """Return one row of plain values per point of the sweep.

    The columns are the swept keys except the seed, then ``accuracy_percent`` and
    ``accuracy_std_percent``, ``final_accuracy_percent`` (the mean of the last rounds, in a study
    whose accuracy is the best of all), ``n`` (the number of runs averaged), ``diverged`` (the
    number of runs left out), ``loss_mean`` of the last test, ``participation_bias`` where there is
    any and, where there is one, ``paper_percent``.
    """
    points = Results.read(folder).points()
    best, biased = _by_best(points), _biased(points)
    return [_row(point, best, biased) for point in points]


def _by_best(points: Iterable[Point]) -> bool:
    """Return whether the accuracy is the best of all rounds rather than that of the last."""
    return any(point.finals != point.accuracies for point in points)


def _biased(points: Iterable[Point]) -> bool:
    """Return whether devices took part unequally."""
    return any(point.bias > ROUNDING for point in points)


def _row(point: Point, best: bool, biased: bool) -> dict[str, Any]:
    row: dict[str, Any] = {key: plain(label) for key, label in point.labels.items()}
    row |= {
        "accuracy_percent": plain(point.mean),
        "accuracy_std_percent": plain(point.std),
        **({"final_accuracy_percent": plain(point.final)} if best else {}),
        "n": point.runs,
        "diverged": point.diverged,
        "loss_mean": plain(point.loss),
        **({"participation_bias": plain(point.bias)} if biased else {}),
    }
    return row if point.paper is None else {**row, "paper_percent": point.paper}


def plain(value: Any) -> Any:
    """Return None for NaN and a string for infinity, which JSON lacks."""
    if isinstance(value, float) and not math.isfinite(value):
        return None if math.isnan(value) else str(value)
    return value


def as_json(folder: str | Path) -> str:
    """Return the table as a JSON list of objects."""
    return json.dumps(rows(folder), indent=2)


def write_csv(folder: str | Path, path: Path) -> None:
    """Write the table as a CSV file."""
    table = rows(folder)
    names = list({name: None for row in table for name in row})
    text = io.StringIO(newline="")
    writer = csv.DictWriter(text, names)
    writer.writeheader()
    writer.writerows(table)
    write_text(path, text.getvalue())


def write_mat(folder: str | Path, path: Path) -> None:
    """Write all metrics with their dimensions and coordinates as a MATLAB file."""
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
    """Return the table for a terminal, with tolerances and remarks below it."""
    results = Results.read(folder)
    points = results.points()
    accuracies = any(point.accuracies for point in points) or not any(p.losses for p in points)
    paper = any(point.paper is not None for point in points)
    names = [name for key, name in results.axis_names().items() if key != "seed"]
    best = _by_best(points)
    heads = ["accuracy [%]" if accuracies else VARIABLES["test_loss"].axis_label, "std", "n"]
    heads[:1] = ["best [%]", "final [%]"] if best else heads[:1]
    biased = _biased(points)
    heads += ["bias [%]"] * biased
    table = heading_table(results.title, names, heads + ["paper [%]", "deviation"] * paper)
    for point in points:
        value = f"{point.mean:.2f}" if accuracies else f"{point.loss:.4g}"
        cells = [value, *[f"{point.final:.2f}"] * best, f"{point.std:.2f}", str(point.runs)]
        cells += [f"{100 * point.bias:.1f}"] * biased
        if paper:
            there = point.paper if point.paper is not None else math.nan
            cells += [f"{there:.2f}", f"{point.deviation:+.2f}"]
        cells = ["-" if cell.strip("+") == "nan" else cell for cell in cells]
        table.add_row(*(escape(str(label)) for label in point.labels.values()), *cells)
    readings = (results.paper or {}).get("readings", ())
    remarks = _remarks(points, readings, *results.counts)
    return Group(table, *_tolerance_table(results), *remarks, *_code(results))


class TitledTable(Table):
    """A table whose title stands above it in full, however narrow the table is."""

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        """Yield the title, then the table."""
        yield Text(self.heading, style="italic")
        yield from super().__rich_console__(console, options)

    heading: str = ""


def heading_table(title: str, names: Iterable[str], numbers: Iterable[str]) -> Table:
    """Return a table with the headings of columns of names, then of numbers."""
    table = TitledTable()
    table.heading = title
    for head in names:
        table.add_column(escape(head), overflow="fold")
    for head in numbers:
        table.add_column(escape(head), justify="right")
    return table


def _tolerance_table(results: Results) -> list[RenderableType]:
    """Return the table of tolerances, if the study sweeps an impairment."""
    axis, found = impairment_axis(results.sweep), tolerances(results)
    if axis is None or not found:
        return []
    names = results.axis_names()
    table = heading_table(
        f"tolerable {label_of(axis.name).text} (at most one point of accuracy lost)",
        (names[key] for key in found[0].place),
        (f"accuracy [%] at {axis.labels[0]}", "tolerated", "too much", "dominates from"),
    )
    for each in found:
        ends = [each.tolerated, each.too_much, each.dominates]
        cells = ["-" if value is None else str(value) for value in ends]
        places = [str(label) for label in each.place.values()]
        table.add_row(*map(escape, [*places, f"{each.accuracy:.2f}", *cells]))
    return [table]


def _remarks(points: list[Point], readings: Sequence[str], done: int, cells: int) -> list[str]:
    remarks = []
    for compared in compare(points, readings):
        farthest = compared.farthest
        place = ", ".join(f"{label}" for label in farthest.labels.values())
        remarks.append(
            f"with {escape(compared.reading)}: "
            * bool(compared.reading)
            + f"mean absolute deviation from the paper {compared.deviation:.2f} points, median "
            f"{compared.median:.2f}, largest {abs(farthest.deviation):.2f} ({escape(place)}); "
            f"{compared.agreeing} of {compared.orderings} orderings of algorithms as in the paper"
        )
    if done < cells:
        remarks.append(f"not finished: {done} of {cells} cells are done")
    diverged = sum(point.diverged for point in points)
    if diverged:
        runs = "1 run" if diverged == 1 else f"{diverged} runs"
        remarks.append(f"{runs} diverged and {'is' if diverged == 1 else 'are'} not in the mean")
    return remarks


def _code(results: Results) -> list[str]:
    """Return which versions of the user's files the cells were computed with."""
    counts = Counter(
        pair for cell in results.cells if cell is not None for pair in cell.code.items()
    )
    names = Counter(name for name, _ in counts)
    return [
        f"code: {escape(name)}, sha256 {sha}" + (f" ({count} cells)" if names[name] > 1 else "")
        for (name, sha), count in counts.items()
    ]


def studies_in(folder: Path) -> list[Path]:
    """Return the directories in ``folder`` that hold a study."""
    if not folder.is_dir():
        return []
    return sorted(path.parent for path in folder.glob(f"*/{STUDY_FILE}"))


def print_studies(folder: Path) -> None:
    """Print which studies a directory contains, and how far each is."""
    table = heading_table(f"studies in {folder}", ["directory", "title"], ["cells done", "of"])
    for path in studies_in(folder):
        study = Folder(path)
        index = study.index()
        digests = set(index.digests.values())
        done = sum(study.cell_file(digest).is_file() for digest in digests)
        table.add_row(escape(path.name), escape(index.title), str(done), str(index.size))
    console().print(table)


def print_table(folder: str | Path) -> None:
    """Print the table of a study."""
    console().print(table_of(folder))


def console() -> Console:
    """Return a console as wide as the terminal, or wide enough where there is none."""
    own = Console(highlight=False)
    return own if own.is_terminal else Console(highlight=False, width=FILE_WIDTH)


def print_link_check(check: LinkCheck) -> None:
    """Print one table per link."""
    screen = console()
    heads = ("entry SNR", "NMSE at a given gain", "closed form", "difference", "at largest gain")
    units = ("dB", "dB", "dB", "std. errors", "median, dB")
    columns = [f"{head}\n[{unit}]" for head, unit in zip(heads, units, strict=True)]
    for place, name in enumerate(check.links):
        table = heading_table(name, (), columns)
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
    return "-" if math.isnan(ratio) else f"{to_db(ratio):.2f}"
