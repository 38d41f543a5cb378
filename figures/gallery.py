"""Draw all figures that apply to a study, from its directory."""

from __future__ import annotations

import io
import warnings
from collections.abc import Callable, Iterator
from importlib import import_module
from pathlib import Path

import matplotlib.pyplot as plt
import xarray as xr
from matplotlib.figure import Figure

from figures import link_nmse, style
from phy import OfdmGrid
from scenarios.errors import StudyError
from scenarios.report.linkcheck import FILE, LinkCheck
from scenarios.report.tolerance import impairment_axis
from scenarios.study.results import Results
from scenarios.study.writing import one_line_errors, writing

FIGURES = (
    *("accuracy_rounds", "accuracy_sweep", "accuracy_categories", "table1", "truncation"),
    *("impairment", "papr", "airtime", "symbol_energy", "local_steps", "theorem2"),
)
"""The figures of studies, in order: the names of their modules and files."""


def draw_all(
    folder: str | Path, out: str | Path, on_note: Callable[[str], object] = print
) -> Iterator[Path]:
    """Draw every figure that applies, as PNG and SVG.

    Parameters
    ----------
    folder : str or path
        A study, or the results of a link check.
    out : str or path
        Directory of the figures.
    on_note : callable
        Called with remarks for the user.

    Yields
    ------
    Path
        Each file as it is written.

    Raises
    ------
    StudyError
        If there is nothing to draw.
    """
    folder, out = Path(folder), Path(out)
    style.apply()
    if (folder / FILE).is_file():
        yield from _save(link_nmse.draw(LinkCheck.load(folder)), out, "link_nmse")
        return
    study = read_for_figures(folder)
    done, total = int(study["finished"].sum()), study["finished"].size
    if not done:
        raise StudyError(f"{folder} has nothing to draw yet: 0 of {total} cells are done")
    if done < total:
        on_note(f"{folder} is not finished: {done} of {total} cells are drawn")
    modules = {name: import_module(f"figures.{name}") for name in FIGURES}
    applying = {name: module for name, module in modules.items() if module.applies(study)}
    if not applying:
        raise StudyError(f"{folder} has nothing to draw: all runs diverged")
    for name, module in applying.items():
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", RuntimeWarning)  # means over missing cells
            figure = module.draw(study)
        yield from _save(figure, out, name)


def read_for_figures(folder: Path) -> xr.Dataset:
    """Read a study, with what figures need beside its metrics as attributes."""
    results = Results.read(folder)
    study = results.dataset()
    settings = [cell.settings for cell in results.cells if cell is not None]
    study.attrs["algorithms"] = sorted({each["algorithm"]["name"] for each in settings})
    study.attrs["points"] = results.points()
    axis = impairment_axis(results.sweep)
    study.attrs["impairment"] = "" if axis is None else results.axis_names()[axis.key]
    grids = [OfdmGrid(**each["link"]["grid"]) for each in settings if "grid" in each["link"]]
    study.attrs["carriers"] = len(grids[0].used_carriers) if grids else 0
    return study


def _save(figure: Figure, out: Path, name: str) -> Iterator[Path]:
    with one_line_errors(out):
        out.mkdir(parents=True, exist_ok=True)
    for suffix in ("png", "svg"):
        path = out / f"{name}.{suffix}"
        date = {"Date": None} if suffix == "svg" else None
        memory = io.BytesIO()
        figure.savefig(memory, format=suffix, metadata=date)
        with writing(path) as file:
            file.write(memory.getbuffer())
        figure.set_layout_engine("none")  # one layout is enough
        yield path
    plt.close(figure)
