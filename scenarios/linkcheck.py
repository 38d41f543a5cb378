"""A scenario's links without learning: the error of their sums against SNR, beside closed forms.

Every client sends a vector whose energy lies mostly in a tenth of its entries, as that of model
updates does. The links carry them twice:

- at one given gain, at which the strongest vector takes its whole budget on a channel of gain 1:
  the mean squared error then has a closed form (:func:`links.theory.expected_mse`);
- at the largest gain that the budgets allow, which hangs on the weakest channel: of this there is
  no closed form in general, and its mean need not exist, so the median is given.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from fl.api import Link
from links.theory import expected_mse
from scenarios.batch import check
from scenarios.cellfile import CellFile, DamagedCellError
from scenarios.folder import clear_errors
from scenarios.library import STUDY_FILE, ScenarioError, StudyError
from scenarios.parts import Mirror
from scenarios.provenance import made_with
from scenarios.scenario import Scenario

ENTRY_SNRS_DB = tuple(float(snr) for snr in range(-10, 45, 5))
SNR_KEYS = ("snr_db", "entry_snr_db")
TRIALS_AT_ONCE = 20


@dataclass(frozen=True, eq=False)
class LinkCheck:
    """NMSE of each link at each SNR.

    title : of the scenario
    links : names of the links, by what the sweep varies
    entry_snr_db : [S], the SNR of an entry [dB]
    mean, error : [n, S], of the NMSE at the given gain, and the standard error of that mean
    expected : [n, S], what it should be; NaN where there is no closed form
    median : [n, S], of the NMSE at the largest gain
    """

    title: str
    links: list[str]
    entry_snr_db: NDArray[np.float64]
    mean: NDArray[np.float64]
    error: NDArray[np.float64]
    expected: NDArray[np.float64]
    median: NDArray[np.float64]

    def save(self, folder: Path) -> None:
        dims = ("link", "snr")
        arrays = {name: getattr(self, name) for name in ("mean", "error", "expected", "median")}
        cell = CellFile(
            {"title": self.title, "links": self.links},
            {name: (dims, values) for name, values in arrays.items()}
            | {"entry_snr_db": (("snr",), self.entry_snr_db)},
            "",
            made_with(),
        )
        if (folder / STUDY_FILE).exists():
            raise ScenarioError(f"{folder} has a study: give another directory")
        with clear_errors(folder):
            folder.mkdir(parents=True, exist_ok=True)
            cell.write(folder / FILE)

    @classmethod
    def load(cls, folder: Path) -> LinkCheck:
        try:
            cell = CellFile.read(folder / FILE)
        except DamagedCellError as error:
            raise StudyError(f"{error}: measure it again") from None
        arrays = {name: values for name, (_, values) in cell.variables.items()}
        return cls(cell.settings["title"], cell.settings["links"], **arrays)


FILE = "link.nc"


def check_links(
    scenario: Scenario,
    trials: int = 200,
    seed: int = 0,
    on_link: Callable[[str, int, int], None] | None = None,
) -> LinkCheck:
    """Every different link of the scenario, over ``trials`` draws of fading and noise.

    on_link : called before each link with its name, its number and how many there are
    """
    if trials < 2:
        raise ScenarioError(f"trials = {trials} is not allowed: give at least 2")
    check(scenario)
    variants = _variants(scenario)
    results = []
    for place, (name, (link, clients, length)) in enumerate(variants.items()):
        if on_link is not None:
            on_link(name, place, len(variants))
        signals = model_updates(clients, length, np.random.default_rng(seed))
        points = [
            _measured(_at(link, snr), signals, trials, [seed, place, number])
            for number, snr in enumerate(ENTRY_SNRS_DB)
        ]
        results.append(points)
    mean, error, expected, median = np.moveaxis(np.array(results), -1, 0)
    snrs = np.array(ENTRY_SNRS_DB)
    return LinkCheck(scenario.title, list(variants), snrs, mean, error, expected, median)


def model_updates(clients: int, length: int, rng: np.random.Generator) -> NDArray[np.float32]:
    """Vectors like model updates: three quarters of their energy in a tenth of the entries."""
    envelope = 0.3 + 2.7 * np.exp(-np.square(np.linspace(-3, 12, length)))
    return (envelope * rng.standard_normal((clients, length))).astype(np.float32)


def _variants(scenario: Scenario) -> dict[str, tuple[Mirror, int, int]]:
    """The links that differ in more than SNR, with the clients and entries that they carry."""
    found: dict[str, tuple[Mirror, int, int]] = {}
    names: dict[str, str] = {}
    for number, cell in enumerate(scenario.cells):
        link = cell.link.model_copy(update=dict.fromkeys(_snr_keys(cell.link)))
        identity = repr((link, cell.data, cell.model))
        if identity in names:
            continue
        labels = [
            f"{axis.name} {label}"
            for axis, label in zip(scenario.axes, scenario.labels_of(number).values(), strict=True)
            if axis.key.split(".")[0] in ("link", "data", "model")
            and axis.key not in ("link.snr_db", "link.entry_snr_db")
        ]
        model, _, shards = cell.problem()
        size = (len(shards), model.size)
        if any((link, *size) == other for other in found.values()):
            continue
        names[identity] = ", ".join(labels) or link.choice
        found[names[identity]] = (link, *size)
    return found


def _snr_keys(link: Mirror) -> list[str]:
    return [key for key in SNR_KEYS if key in type(link).model_fields]


def _at(link: Mirror, entry_snr_db: float) -> Link:
    keys = _snr_keys(link)
    update = {"entry_snr_db": entry_snr_db} if keys else {}
    return link.model_copy(update=update).build()


def _measured(
    link: Link, signals: NDArray[np.float32], trials: int, seed: list[int]
) -> tuple[float, float, float, float]:
    """Mean, its standard error, what is expected, and the median."""
    given = _given_gain(link, signals)
    at_given, at_largest = [], []
    for start in range(0, trials, TRIALS_AT_ONCE):
        numbers = range(start, min(start + TRIALS_AT_ONCE, trials))
        rngs = [np.random.default_rng([*seed, number]) for number in numbers]
        batch = np.broadcast_to(signals, (len(rngs), *signals.shape))
        slot = link.open(len(signals), signals.shape[1], rngs)
        at_given.append(slot.send(batch, given, enforce=False).diagnostics["nmse"])
        largest = slot.max_gain(batch)
        at_largest.append(slot.send(batch, largest).diagnostics["nmse"])
    nmse = np.concatenate(at_given)
    power = float(np.square(signals.sum(axis=0, dtype=np.float64)).sum())
    try:
        expected = float(expected_mse(link, signals, given)) / power
    except ValueError:
        expected = math.nan
    error = float(nmse.std(ddof=1) / math.sqrt(len(nmse)))
    return float(nmse.mean()), error, expected, float(np.median(np.concatenate(at_largest)))


def _given_gain(link: Link, signals: NDArray[np.float32]) -> float:
    energy = np.square(signals, dtype=np.float64).sum(axis=1)
    power = np.asarray(getattr(link, "power", 1.0)) * np.asarray(getattr(link, "path_gain", 1.0))
    return float(np.sqrt(np.min(power / energy)))
