"""Draw the figures of studies from their directories, and save them with their captions."""

from __future__ import annotations

import io
import re
from collections.abc import Iterator, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Any

import matplotlib.pyplot as plt
import numpy as np
import xarray as xr
from matplotlib.figure import Figure

from figures import general, link_nmse, style
from figures.roles import select
from figures.several import read
from figures.shipped import SHIPPED, Note, answering, applicable
from otafl._base.names import did_you_mean
from otafl._base.validation import OptionError
from phy import OfdmGrid
from scenarios.config.code import Code, is_reference
from scenarios.errors import ScenarioError, StudyError, user_errors
from scenarios.report.linkcheck import FILE, LinkCheck
from scenarios.report.tolerance import impairment_axis
from scenarios.study.results import Results
from scenarios.study.writing import one_line_errors, write_text, writing

FORMATS = ("png", "svg", "pdf")
CAPTIONS = "captions.md"
"""The file beside the figures that has their captions."""


def draw_study(
    folder: str | Path,
    only: Sequence[str] = (),
    where: Mapping[str, Any] | None = None,
    on_note: Note = print,
) -> Iterator[tuple[str, Figure]]:
    """Draw the figures that answer a study's question, or those that are asked for.

    Parameters
    ----------
    folder : str or path
        A study, or the results of a link check.
    only : sequence of str
        Names of figures, or functions of the user's as ``"file.py:function"``, which are called
        with the dataset and return a Matplotlib figure.
    where : mapping, optional
        Draw only these values of swept keys.
    on_note : callable
        Called with remarks for the user.

    Yields
    ------
    name : str
    figure : Figure
    """
    folder = Path(folder)
    if (folder / FILE).is_file():
        if only or where:
            raise ScenarioError(f"{folder} holds a link check, which has one figure only")
        yield "link_nmse", link_nmse.draw(LinkCheck.load(folder))
        return
    study = select(read_for_figures(folder), where or {})
    done, total = int(study["finished"].sum()), study["finished"].size
    if not done:
        raise StudyError(f"{folder} has nothing to draw yet: 0 of {total} cells are done")
    if done < total:
        on_note(f"{folder} is not finished: {done} of {total} cells are drawn")
    names = list(only) or answering(study)
    if not names:
        raise StudyError(f"{folder} has nothing to draw: all runs diverged")
    possible = applicable(study)
    for name in names:
        if is_reference(name):
            yield _name_of(name), _draw_users(name, study)
            continue
        if name not in possible:
            raise OptionError(
                "--only",
                f"one of {', '.join(possible)}, which the study has data for, or file.py:function",
                name,
                did_you_mean(name, possible),
            )
        yield name, SHIPPED[name].draw(study, partial(_note_on, name, on_note))
    further = [name for name in possible if name not in names]
    if further and not only:
        on_note(f"also available with --only: {', '.join(further)}")


def draw_general(
    folders: Sequence[Path], on_note: Note, where: Mapping[str, Any], **options: Any
) -> tuple[str, Figure]:
    """Return a figure as :func:`figures.general.plot` draws it, and a name for its file."""
    study = read(folders[0] if len(folders) == 1 else list(folders), where, on_note)
    roles, kind = general.roles_of(study, **options), options.get("kind", "line")
    name = f"{'_'.join(roles.metrics)}_over_{roles.x}"
    if kind != "line":
        name += f"_and_{roles.hue}" if kind == "heatmap" else f"_{kind}"
    return name.replace(".", "_"), general.draw(study, roles, kind, on_note)


def read_for_figures(folder: Path) -> xr.Dataset:
    """Read a study, with what figures need beside its metrics."""
    results = Results.read(folder)
    study = results.dataset()
    settings = [cell.settings for cell in results.cells if cell is not None]
    study.attrs["algorithms"] = sorted({each["algorithm"]["name"] for each in settings})
    axis = impairment_axis(results.sweep)
    study.attrs["impairment"] = "" if axis is None else results.axis_names()[axis.key]
    grids = [OfdmGrid(**each["link"]["grid"]) for each in settings if "grid" in each["link"]]
    study.attrs["carriers"] = len(grids[0].used_carriers) if grids else 0
    if results.paper is not None:
        published = np.full(results.sweep.shape, np.nan)
        for number, each in enumerate(results.published()):
            published.flat[number] = np.nan if each is None else each
        study["published"] = (tuple(results.axis_names().values()), published)
        if "seed" in study.dims:
            study["published"] = study["published"].mean("seed")
    return study


def save(
    drawn: Iterator[tuple[str, Figure]], out: Path, formats: Sequence[str] = ("png", "svg")
) -> Iterator[Path]:
    """Save figures and their captions.

    Yields
    ------
    Path
        Each file as it is written.
    """
    for name, figure in drawn:
        with one_line_errors(out):
            out.mkdir(parents=True, exist_ok=True)
        caption = style.caption_of(figure)
        for suffix in formats:
            path = out / f"{name}.{suffix}"
            memory = io.BytesIO()
            figure.savefig(memory, format=suffix, metadata=_metadata(suffix, caption))
            with writing(path) as file:
                file.write(memory.getbuffer())
            figure.set_layout_engine("none")  # one layout is enough
            yield path
        plt.close(figure)
        if caption:
            _add_caption(out / CAPTIONS, name, caption)
    if (out / CAPTIONS).is_file():
        yield out / CAPTIONS


def _add_caption(path: Path, name: str, caption: str) -> None:
    """Write a caption beside those of other figures; one of the same name is replaced."""
    text = path.read_text(encoding="utf-8") if path.is_file() else ""
    captions = dict(re.findall(r"^\*\*(.+?)\*\*\. (.+)$", text, re.MULTILINE))
    captions[name] = caption
    write_text(path, "\n".join(f"**{each}**. {words}\n" for each, words in captions.items()))


def _note_on(name: str, on_note: Note, text: str) -> None:
    on_note(f"{name}: {text}")


def _metadata(suffix: str, caption: str) -> dict[str, str | None]:
    """Return the caption as metadata; no dates, so that the same study gives the same file."""
    if suffix == "svg":
        return {"Date": None, "Description": caption}
    if suffix == "pdf":
        return {"CreationDate": None, "Subject": caption}
    return {"Description": caption}


def _name_of(reference: str) -> str:
    """Return the name of the file that a function of the user's is drawn to."""
    where, _, name = reference.rpartition(":")
    return f"{Path(where).stem if where.endswith('.py') else where}_{name}"


def _draw_users(reference: str, study: xr.Dataset) -> Figure:
    """Draw a figure by a function of the user's."""
    try:
        function = Code(Path.cwd()).load(reference).target
    except OptionError as error:
        raise ScenarioError(f"--only {error.explanation}") from None
    file = Path(reference.rpartition(":")[0]).name
    with user_errors([file], where=reference):
        figure = function(study)
    if not isinstance(figure, Figure):
        must = f"{reference} must return a Matplotlib figure, got {type(figure).__name__}"
        raise ScenarioError(must)
    return figure
