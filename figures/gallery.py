"""All figures that a study has the numbers for, drawn from its directory."""

from __future__ import annotations

import io
import warnings
from collections.abc import Callable, Iterator
from pathlib import Path
from types import ModuleType

import matplotlib.pyplot as plt
import xarray as xr
from matplotlib.figure import Figure

from figures import (
    accuracy_categories,
    accuracy_rounds,
    accuracy_sweep,
    airtime,
    fault,
    link_nmse,
    local_steps,
    papr,
    style,
    symbol_energy,
    table1,
    theorem2,
    truncation,
)
from scenarios.folder import clear_errors, writing
from scenarios.library import StudyError
from scenarios.linkcheck import FILE, LinkCheck
from scenarios.results import Results
from scenarios.tolerance import fault_axis

FIGURES: tuple[ModuleType, ...] = (
    accuracy_rounds,
    accuracy_sweep,
    accuracy_categories,
    table1,
    truncation,
    fault,
    papr,
    airtime,
    symbol_energy,
    local_steps,
    theorem2,
)


def draw_all(
    folder: str | Path, out: str | Path, on_note: Callable[[str], object] = print
) -> Iterator[Path]:
    """Draw every figure that applies, as SVG and PNG, and name the files.

    on_note : called with what there is to know about them
    """
    folder, out = Path(folder), Path(out)
    style.apply()
    if (folder / FILE).is_file():
        yield from _save(link_nmse.draw(LinkCheck.load(folder)), out, "link_nmse")
        return
    study = for_figures(folder)
    done, total = int(study["finished"].sum()), study["finished"].size
    if not done:
        raise StudyError(f"{folder} has nothing to draw yet: 0 of {total} cells are done")
    if done < total:
        on_note(f"{folder} is not finished: {done} of {total} cells are drawn")
    applying = [module for module in FIGURES if module.applies(study)]
    if not applying:
        raise StudyError(f"{folder} has nothing to draw: all its runs diverged")
    for module in applying:
        name = module.__name__.rpartition(".")[2]
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", RuntimeWarning)  # means of cells that are missing
            figure = module.draw(study)
        yield from _save(figure, out, name)


def for_figures(folder: Path) -> xr.Dataset:
    """The study, with what figures ask beside its metrics."""
    results = Results.read(folder)
    study = results.dataset()
    study.attrs["algorithms"] = sorted({cell.algorithm.choice for cell in results.scenario.cells})
    study.attrs["points"] = results.points()
    fault = fault_axis(results.scenario)
    study.attrs["fault"] = "" if fault is None else results.axis_names()[fault.key]
    grid = getattr(results.scenario.cells[0].link, "grid", None)
    study.attrs["carriers"] = 0 if grid is None else len(grid.build().used_carriers)
    return study


def _save(figure: Figure, out: Path, name: str) -> Iterator[Path]:
    with clear_errors(out):
        out.mkdir(parents=True, exist_ok=True)
    for suffix in ("png", "svg"):
        path = out / f"{name}.{suffix}"
        date = {"Date": None} if suffix == "svg" else None
        memory = io.BytesIO()
        figure.savefig(memory, format=suffix, metadata=date)
        with writing(path) as file:
            file.write(memory.getbuffer())
        figure.set_layout_engine("none")  # laid out once is enough
        yield path
    plt.close(figure)
