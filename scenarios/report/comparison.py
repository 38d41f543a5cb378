"""Studies side by side: the same points, and paired differences over the seeds.

Runs of one seed see the same data, minibatches and, where the links draw the same, channels. Their
difference varies less than either, so it is the differences that are averaged.
"""

from __future__ import annotations

import json
import math
import os
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from rich.markup import escape
from scipy.stats import t as student

from scenarios.config.keys import flat
from scenarios.config.sweep import Plain
from scenarios.errors import ScenarioError
from scenarios.report.tables import console, heading_table, plain
from scenarios.study.cellfile import CellFile
from scenarios.study.results import Results, applies

CONFIDENCE = 0.95
SEED = "seed"

Place = tuple[tuple[str, Plain], ...]
Values = dict[Place, dict[Plain, float]]
"""What is compared, by place in the sweep and by seed."""


class Measure(NamedTuple):
    """What is compared: accuracies or, in studies without classes, losses.

    Attributes
    ----------
    of : callable
        Its value for a finished cell; NaN if it has none.
    unit, suffix : str
        For headings of tables, and for names in JSON.
    digits : str
        How it is printed.
    """

    of: Callable[[CellFile], float]
    unit: str
    suffix: str
    digits: str


def _loss(cell: CellFile) -> float:
    last = [] if cell.diverged else cell.last("test_loss")
    return last[0] if last else math.nan


ACCURACY = Measure(lambda cell: 100 * cell.accuracy(), " [%]", "_percent", ".2f")
LOSS = Measure(_loss, ", test loss", "_loss", ".4g")


@dataclass(frozen=True)
class Difference:
    """How a point of the second study differs from the same point of the first.

    Attributes
    ----------
    place : tuple of (str, object)
        Its labels by key, without the seed.
    first, second : float
        Mean accuracies in percent, or mean losses, over the seeds that both have.
    mean : float
        Mean of second minus first.
    half : float
        Half the width of its 95 % confidence interval, Student's t over the seeds; NaN for one.
    pairs : int
        Number of seeds.
    """

    place: Place
    first: float
    second: float
    mean: float
    half: float
    pairs: int


def differences(first: str | Path, second: str | Path) -> list[Difference]:
    """Compare two studies point by point, over the seeds that both have.

    Raises
    ------
    ScenarioError
        If they have no point in common.
    """
    _, (one, other) = _values([first, second])
    for study, values in ((first, one), (second, other)):
        if not values:
            raise ScenarioError(f"{study} has no finished runs to compare")
    found = []
    for place, ours in one.items():
        seeds = [seed for seed in ours if seed in other.get(place, {})]
        if not seeds:
            continue
        here = np.array([ours[seed] for seed in seeds])
        there = np.array([other[place][seed] for seed in seeds])
        apart = there - here
        half = math.nan
        if len(apart) > 1:
            factor = student.ppf((1 + CONFIDENCE) / 2, len(apart) - 1)
            half = float(factor * apart.std(ddof=1) / math.sqrt(len(apart)))
        means = float(here.mean()), float(there.mean()), float(apart.mean())
        found.append(Difference(place, *means, half, len(apart)))
    if not found:
        raise ScenarioError(
            f"{first} and {second} have no point in common: they must share swept values and seeds"
        )
    return found


def _values(studies: Sequence[str | Path]) -> tuple[Measure, list[Values]]:
    """Return what is compared, and its values in several studies."""
    results = [Results.read(study) for study in studies]
    keys = {axis.key: None for each in results for axis in each.sweep.axes if axis.key != SEED}
    cells = [cell for each in results for cell in each.cells if cell is not None]
    measure = LOSS if all(math.isnan(ACCURACY.of(cell)) for cell in cells) else ACCURACY
    return measure, [_values_of(each, list(keys), measure) for each in results]


def _values_of(results: Results, keys: list[str], measure: Measure) -> Values:
    found: Values = {}
    for number, cell in enumerate(results.cells):
        value = math.nan if cell is None else measure.of(cell)
        if cell is None or math.isnan(value):
            continue
        place, seed = _place(cell, results.sweep.labels_of(number), keys)
        found.setdefault(place, {})[seed] = value
    return found


def _place(cell: CellFile, labels: dict[str, Plain], keys: list[str]) -> tuple[Place, Plain]:
    """Return where a cell is: its labels, or its settings where another study sweeps the key.

    A key that the cell does not have, such as an option of another algorithm, does not count.
    """
    known = {**flat(cell.settings), **{k: v for k, v in labels.items() if applies(k, cell)}}
    place = tuple((key, known[key]) for key in keys if isinstance(known.get(key), Plain))
    return place, known[SEED]


def other_settings(first: str | Path, second: str | Path) -> list[str]:
    """Return what else differs between two studies, beside what either sweeps, one per line."""
    results = [Results.read(study) for study in (first, second)]
    swept = [axis.key for each in results for axis in each.sweep.axes]
    seen: list[dict[str, set[str]]] = [{}, {}]
    for found, each in zip(seen, results, strict=True):
        for cell in filter(None, each.cells):
            for key, value in flat(cell.settings).items():
                found.setdefault(key, set()).add(str(value))
    return [
        f"{key}: {', '.join(sorted(seen[0][key]))} and {', '.join(sorted(seen[1][key]))}"
        for key in seen[0].keys() & seen[1].keys()
        if seen[0][key] != seen[1][key]
        and not any(f"{key}.".startswith(f"{each}.") for each in [*swept, SEED])
        and not any(
            each.endswith((".name", ".kind")) and key.startswith(each.rpartition(".")[0])
            for each in swept
        )
    ]


def print_comparison(first: Path, second: Path, as_json: bool) -> None:
    """Print the differences between two studies."""
    found, (measure, _) = differences(first, second), _values([first, second])
    if as_json:
        print(json.dumps([_row(each, measure.suffix) for each in found], indent=2))
        return
    names, form = _names([first, second]), measure.digits
    heads = [*(name + measure.unit for name in names), "difference", "95 % interval", "seeds"]
    keys = list({key: None for each in found for key, _ in each.place})
    table = heading_table(f"{names[1]} minus {names[0]}", keys, heads)
    for each in found:
        interval = "-" if math.isnan(each.half) else f"± {each.half:{form}}"
        means = [f"{each.first:{form}}", f"{each.second:{form}}", f"{each.mean:+{form}}"]
        labels = [escape(str(dict(each.place).get(key, "-"))) for key in keys]
        table.add_row(*labels, *means, interval, str(each.pairs))
    screen = console()
    different = sorted(other_settings(first, second))
    if different:
        screen.print("the studies also differ in:", *(f"  {each}" for each in different), sep="\n")
    screen.print(table)
    for remark in left_out(first, second):
        screen.print(remark)


def left_out(first: str | Path, second: str | Path) -> list[str]:
    """Say what a comparison leaves out: points of one study only, and runs that diverged."""
    _, (one, other) = _values([first, second])
    alone = len(one.keys() ^ other.keys())
    remarks = [f"{alone} points are in only one of the studies"] * bool(alone)
    for study in (first, second):
        cells = filter(None, Results.read(study).cells)
        diverged = sum(bool(cell.diverged) for cell in cells)
        remarks += [f"{diverged} runs of {study} diverged and are left out"] * bool(diverged)
    return remarks


def _row(each: Difference, suffix: str) -> dict[str, Any]:
    return {
        **{key: plain(label) for key, label in each.place},
        f"first{suffix}": each.first,
        f"second{suffix}": each.second,
        f"difference{suffix}": each.mean,
        f"half_interval{suffix}": None if math.isnan(each.half) else each.half,
        "seeds": each.pairs,
    }


def print_side_by_side(studies: Sequence[Path], as_json: bool) -> None:
    """Print the mean accuracies of several studies, one column each."""
    measure, values = _values(studies)
    places = list({place: None for each in values for place in each})
    means = {p: [_mean(each.get(p, {})) for each in values] for p in places}
    names = _names(studies)
    if as_json:
        rows = [
            {
                **{key: plain(label) for key, label in place},
                **{n + measure.suffix: v for n, v in zip(names, means[place], strict=True)},
            }
            for place in places
        ]
        print(json.dumps(rows, indent=2))
        return
    if not places:
        raise ScenarioError("the studies have no finished runs to compare")
    keys = list({key: None for place in places for key, _ in place})
    table = heading_table("side by side", keys, [name + measure.unit for name in names])
    for place in places:
        labels = [escape(str(dict(place).get(key, "-"))) for key in keys]
        shown = ("-" if v is None else f"{v:{measure.digits}}" for v in means[place])
        table.add_row(*labels, *shown)
    console().print(table)


def _mean(by_seed: dict[Plain, float]) -> float | None:
    return float(np.mean(list(by_seed.values()))) if by_seed else None


def _names(studies: Sequence[Path]) -> list[str]:
    """Return names that tell directories apart: their last part, or all of it."""
    short = [os.path.basename(os.path.abspath(study)) for study in studies]
    names = short if len(set(short)) == len(short) else [str(study) for study in studies]
    return [f"{n} ({i + 1})" if names.count(n) > 1 else n for i, n in enumerate(names)]
