"""A scenario's links without learning: the error of their sums against SNR, and closed forms.

Every client sends a vector with most of its energy in a tenth of its entries, like a model update.
Each link carries the vectors twice:

- at a given gain, at which the strongest vector uses its whole budget on a channel of gain 1: the
  mean squared error then has a closed form (:func:`links.theory.expected_mse`);
- at the largest gain within the budgets, which the weakest channel determines: in general there is
  no closed form, and the mean need not exist, so the median is reported.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from fl.api import Link, Uplink
from links import realise
from links.theory import expected_mse
from otafl._base.validation import OptionError, integer
from scenarios.config.library import STUDY_FILE
from scenarios.config.link import SNRS
from scenarios.config.parts import Mirror
from scenarios.config.scenario import Scenario
from scenarios.errors import ScenarioError, StudyError
from scenarios.study.batch import check
from scenarios.study.cellfile import CellFile, DamagedCellError, Variables
from scenarios.study.growth import new_study
from scenarios.study.provenance import versions
from scenarios.study.writing import one_line_errors

FILE = "link.nc"
ENTRY_SNRS_DB = tuple(float(snr) for snr in range(-10, 45, 5))


@dataclass(frozen=True, eq=False)
class LinkCheck:
    """NMSE of n links at S SNRs.

    Attributes
    ----------
    title : str
        Title of the scenario.
    links : list of str
        Names of the links, by what the sweep varies.
    entry_snr_db : [S], float
        Entry SNR [dB].
    mean, error : [n, S], float
        Mean NMSE at the given gain, and the standard error of that mean.
    expected : [n, S], float
        Closed form of the mean; NaN where there is none.
    median : [n, S], float
        Median NMSE at the largest gain.
    """

    title: str
    links: list[str]
    entry_snr_db: NDArray[np.float64]
    mean: NDArray[np.float64]
    error: NDArray[np.float64]
    expected: NDArray[np.float64]
    median: NDArray[np.float64]

    def save(self, folder: Path) -> None:
        """Write the file of the check into a directory that holds no study."""
        names = ("mean", "error", "expected", "median")
        variables: Variables = {name: (("link", "snr"), getattr(self, name)) for name in names}
        variables["entry_snr_db"] = (("snr",), self.entry_snr_db)
        settings = {"title": self.title, "links": self.links}
        cell = CellFile(settings, variables, "", versions())
        if (folder / STUDY_FILE).exists():
            raise ScenarioError(f"{folder} holds a study: choose another directory")
        with one_line_errors(folder):
            folder.mkdir(parents=True, exist_ok=True)
            cell.write(folder / FILE)

    @classmethod
    def load(cls, folder: Path) -> LinkCheck:
        """Read the file of a check."""
        try:
            cell = CellFile.read(folder / FILE)
        except DamagedCellError as error:
            raise StudyError(f"{error}: run otafl link again") from None
        arrays = {name: values for name, (_, values) in cell.variables.items()}
        return cls(cell.settings["title"], cell.settings["links"], **arrays)


def check_links(
    scenario: Scenario,
    realisations: int = 200,
    seed: int = 0,
    on_link: Callable[[str, int, int], object] | None = None,
) -> LinkCheck:
    """Measure every distinct link of a scenario.

    Parameters
    ----------
    scenario : Scenario
    realisations : int
        Draws of channels and noise, at least 2.
    seed : int
        Seed of all random numbers.
    on_link : callable, optional
        Called before each link with its name, its index and the number of links.
    """
    try:
        integer("realisations", realisations, least=2)
    except OptionError as wrong:
        raise ScenarioError(str(wrong)) from None
    study = new_study(scenario)
    check((cell, study.labels[digest]) for digest, cell in study.cells.items())
    variants = _variants(scenario)
    results = []
    for place, (name, (link, clients, length)) in enumerate(variants.items()):
        if on_link is not None:
            on_link(name, place, len(variants))
        signals = model_updates(clients, length, np.random.default_rng(seed))
        points = [
            _measured(_at(link, snr), signals, realisations, [seed, place, number])
            for number, snr in enumerate(ENTRY_SNRS_DB)
        ]
        results.append(points)
    mean, error, expected, median = np.moveaxis(np.array(results), -1, 0)
    snrs = np.array(ENTRY_SNRS_DB)
    return LinkCheck(scenario.title, list(variants), snrs, mean, error, expected, median)


def model_updates(clients: int, length: int, rng: np.random.Generator) -> NDArray[np.float32]:
    """Draw vectors with three quarters of their energy in a tenth of the entries."""
    envelope = 0.3 + 2.7 * np.exp(-np.square(np.linspace(-3, 12, length)))
    return (envelope * rng.standard_normal((clients, length))).astype(np.float32)


def _variants(scenario: Scenario) -> dict[str, tuple[Mirror, int, int]]:
    """Return the links that differ in more than SNR, with their numbers of clients and entries."""
    found: dict[str, tuple[Mirror, int, int]] = {}
    seen = set()
    for number, cell in enumerate(scenario.cells):
        link = cell.link.model_copy(update=dict.fromkeys(_snr_keys(cell.link)))
        identity = repr((link, cell.data, cell.model))
        if identity in seen:
            continue
        labels = [
            f"{axis.name} {label}"
            for axis, label in zip(scenario.sweep.axes, scenario.sweep.places[number], strict=True)
            if axis.key.split(".")[0] in ("link", "data", "model")
            and axis.key not in [f"link.{snr}" for snr in SNRS]
        ]
        problem = cell.problem()
        size = (problem.num_clients, problem.model.size)
        if any((link, *size) == other for other in found.values()):
            continue
        seen.add(identity)
        found[", ".join(labels) or link.choice] = (link, *size)
    return found


def _snr_keys(link: Mirror) -> list[str]:
    return [key for key in SNRS if key in type(link).model_fields]


def _at(link: Mirror, entry_snr_db: float) -> Link:
    update = {"entry_snr_db": entry_snr_db} if _snr_keys(link) else {}
    return link.model_copy(update=update).build()


def _measured(
    link: Link, signals: NDArray[np.float32], realisations: int, seed: list[int]
) -> tuple[float, float, float, float]:
    """Return the mean, its standard error, the closed form and the median."""
    given = _given_gain(link, signals)

    def both(uplink: Uplink, number: int) -> tuple[NDArray, NDArray]:
        at_given = uplink.send(signals, given, enforce=False)
        at_largest = uplink.send(signals, uplink.max_gain(signals))
        return at_given.diagnostics["nmse"], at_largest.diagnostics["nmse"]

    rngs = [np.random.default_rng([*seed, number]) for number in range(realisations)]
    nmse, at_largest = realise(link, len(signals), signals.shape[1], rngs, both)
    power = float(np.square(signals.sum(axis=0, dtype=np.float64)).sum())
    try:
        expected = expected_mse(link, signals, given) / power
    except ValueError:
        expected = math.nan
    error = float(nmse.std(ddof=1) / math.sqrt(len(nmse)))
    return float(nmse.mean()), error, expected, float(np.median(at_largest))


def _given_gain(link: Link, signals: NDArray[np.float32]) -> float:
    energy = np.square(signals, dtype=np.float64).sum(axis=1)
    power = np.asarray(getattr(link, "power", 1.0)) * np.asarray(getattr(link, "path_gain", 1.0))
    return float(np.sqrt(np.min(power / energy)))
