"""Write the tables of Table I into README.md and docs/paper.md: ``make tables``.

The studies are run first where they are not finished: about an hour on two cores, which can be
interrupted and resumed. A table stands between ``<!-- table: STUDY, WHAT -->`` and
``<!-- end -->``.
"""

from __future__ import annotations

import argparse
import re
import subprocess
import sys
from collections.abc import Callable, Sequence
from pathlib import Path

import numpy as np

from scenarios import open_study
from scenarios.study.points import Point
from scenarios.study.results import Results

ROOT = Path(__file__).parent.parent
PAGES = (ROOT / "README.md", ROOT / "docs" / "paper.md")
LABELS, SNR = "data.labels_per_client", "link.snr_db"
MINUS = "\N{MINUS SIGN}"
NAMES = {"acpc": "ACPC-OTA-FL", "cotaf": "COTAF", "fedavg": "FedAvg"}
BLOCK = re.compile(r"(<!-- table: (.*?), (.*?) -->\n).*?(<!-- end -->)", re.DOTALL)

Cell = Callable[[Point], Sequence[str]]
"""What a table says of a point, in one or more columns."""


def main() -> None:
    """Run what is missing and write every table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--studies", type=Path, default=Path("out"), help="where studies are")
    studies = parser.parse_args().studies
    for page in PAGES:
        text = page.read_text(encoding="utf-8")
        for _, name, _, _ in set(BLOCK.findall(text)):
            command("run", name, "--out", studies / name)
        page.write_text(BLOCK.sub(lambda found: block(found, studies), text), encoding="utf-8")
        print(page)


def block(found: re.Match[str], studies: Path) -> str:
    """Return a table between its marks."""
    begin, name, what, end = found.groups()
    return f"{begin}\n{table(studies / name, what)}\n\n{end}"


def table(folder: Path, what: str) -> str:
    """Return a Markdown table with a row for each p and algorithm, and columns for each SNR."""
    points = Results.read(folder).points()
    cell, beside = cells(folder, what), ["paper"] * (what == "with paper")
    snrs = sorted({point.labels[SNR] for point in points})
    heads = [head for snr in snrs for head in [f"{snr:g} dB".replace("-", MINUS), *beside]]
    lines = [["p", "algorithm", *heads], ["---"] * (2 + len(heads))]
    rows: dict[tuple[str, str], list[str]] = {}
    for point in sorted(points, key=lambda point: point.labels[SNR]):
        rows.setdefault((str(point.labels[LABELS]), algorithm_of(point)), []).extend(cell(point))
    lines += [[*names, *values] for names, values in rows.items()]
    return "\n".join(f"| {' | '.join(line)} |" for line in lines)


def algorithm_of(point: Point) -> str:
    """Return the name of the algorithm or of the variant."""
    name = str(point.labels.get("variant", point.labels.get("algorithm.name")))
    return NAMES.get(name, name)


def cells(folder: Path, what: str) -> Cell:
    """Return what fills a table."""
    if what in ACCURACIES:
        return ACCURACIES[what]
    metric, style = METRICS[what]
    means = open_study(folder)[metric].mean(["seed", "round", "client"])

    def mean_of(point: Point) -> list[str]:
        names = {key.rpartition(".")[2]: label for key, label in point.labels.items()}
        if "name" in names:
            names["algorithm"] = names.pop("name")
        return [format(float(means.sel(names)), style)]

    return mean_of


def spread(values: Sequence[float]) -> str:
    """Return mean and standard deviation of runs."""
    return f"{np.mean(values):.1f} ± {np.std(values, ddof=1):.1f}"


ACCURACIES: dict[str, Cell] = {
    "with paper": lambda point: [spread(point.accuracies), f"{point.paper:.2f}"],
    "accuracy": lambda point: [spread(point.accuracies)],
    "last rounds": lambda point: [spread(point.finals)],
}
METRICS = {"load": ("load", ".3g"), "scaled down": ("scaled_down", ".0%")}
"""What a table can show, by the name it has in a page."""


def command(*arguments: object) -> None:
    """Call the command line, with its progress on the terminal."""
    done = subprocess.run([sys.executable, "-m", "otafl", *map(str, arguments)], check=False)
    if done.returncode:
        sys.exit(done.returncode)


if __name__ == "__main__":
    main()
