"""The figures that come with the project, and which of them answer the question of a study."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import xarray as xr
from matplotlib.figure import Figure

from figures import (
    accuracy_airtime,
    airtime,
    general,
    local_steps,
    papr,
    symbol_energy,
    table1,
    theorem2,
)
from figures.quantities import ROUND
from figures.roles import MOST_LINES, NAMED, assign, default_x, swept, without_surplus

Note = Callable[[str], object]


@dataclass(frozen=True)
class Shipped:
    """One figure.

    Attributes
    ----------
    applies : callable
        Whether a study has the data for it.
    draw : callable
        Draws it; called with the study, and with what to do with remarks.
    """

    applies: Callable[[xr.Dataset], bool]
    draw: Callable[[xr.Dataset, Note], Figure]


def learnt(study: xr.Dataset) -> bool:
    """Return whether any run has an accuracy."""
    return bool(study["accuracy"].notnull().any())


def _draw_accuracy(study: xr.Dataset, on_note: Note) -> Figure:
    """Draw accuracy; more names than lines can tell apart stand on an axis of their own."""
    crowd = next(
        (dim for dim in swept(study) if dim in NAMED and study.sizes[dim] > MOST_LINES), None
    )
    if crowd is not None:
        roles = assign(study, crowd, ["accuracy"], default_x(study), None, None)
        return general.draw(study, roles, on_note=on_note)
    study = without_surplus(study, default_x(study), 3, on_note)
    roles = assign(study, None, ["accuracy"], None, None, None)
    return general.draw(study, roles, on_note=on_note)


def _draw_rounds(study: xr.Dataset, on_note: Note) -> Figure:
    study = without_surplus(study, ROUND, 3, on_note)
    roles = assign(study, ROUND, ["test_accuracy"], None, None, None)
    return general.draw(study, roles, on_note=on_note)


def _draw_impairment(study: xr.Dataset, on_note: Note) -> Figure:
    """Draw accuracy above NMSE, with a column per algorithm and a line per SNR.

    Where the lines of the lower row meet, the impairment and not the noise causes the error.
    """
    x = study.attrs["impairment"]
    study = without_surplus(study, x, 2, on_note)
    col = next((dim for dim in NAMED if dim in swept(study)), None)
    roles = assign(study, x, ["accuracy", "nmse"], None, col, None)
    return general.draw(study, roles, on_note=on_note)


def _draw_truncation(study: xr.Dataset, on_note: Note) -> Figure:
    """Draw the trade-off: a client that skips weak carriers lets all others use more gain."""
    study = without_surplus(study, "truncation", 1, on_note)
    metrics = ["active_fraction", "nmse", "accuracy"]
    roles = assign(study, "truncation", metrics, None, None, None)
    return general.draw(study, roles, on_note=on_note)


def _impaired(study: xr.Dataset) -> bool:
    return study.attrs["impairment"] in swept(study) and learnt(study) and "nmse" in study


def _truncated(study: xr.Dataset) -> bool:
    return "truncation" in swept(study) and learnt(study) and "active_fraction" in study


SHIPPED: dict[str, Shipped] = {
    "theorem2": Shipped(theorem2.applies, theorem2.draw),
    "table1": Shipped(table1.applies, table1.draw),
    "impairment": Shipped(_impaired, _draw_impairment),
    "truncation": Shipped(_truncated, _draw_truncation),
    "airtime": Shipped(airtime.applies, airtime.draw),
    "accuracy_airtime": Shipped(accuracy_airtime.applies, accuracy_airtime.draw),
    "accuracy": Shipped(lambda study: learnt(study) and default_x(study) != ROUND, _draw_accuracy),
    "accuracy_rounds": Shipped(learnt, _draw_rounds),
    "symbol_energy": Shipped(symbol_energy.applies, symbol_energy.draw),
    "papr": Shipped(papr.applies, papr.draw),
    "local_steps": Shipped(local_steps.applies, local_steps.draw),
}
"""All of them, by the names of their files; the first that applies is a study's main figure."""


def applicable(study: xr.Dataset) -> list[str]:
    """Return the figures that a study has the data for, its main figure first."""
    return [name for name, figure in SHIPPED.items() if figure.applies(study)]


def answering(study: xr.Dataset) -> list[str]:
    """Return the few that answer a study's question.

    The main figure and, unless it shows the rounds itself, the accuracy over them; the accuracy
    after all rounds where the main figure shows it over the airtime; the energy of symbols where
    power limits or interleavers are compared, the PAPR where amplifiers are, and local steps where
    nothing but the algorithm varies.
    """
    dims, impairment = swept(study), study.attrs["impairment"]
    main, *others = applicable(study) or [""]
    wanted = {
        "accuracy_rounds": main not in ("airtime", "theorem2"),
        "accuracy": main == "accuracy_airtime",
        "symbol_energy": bool({"budget", "interleaver_seed"} & set(dims)),
        "papr": impairment.endswith("backoff_db"),
        "local_steps": set(dims) <= set(NAMED),
    }
    return [main, *(name for name in others if wanted.get(name))] if main else []
