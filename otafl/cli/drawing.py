"""Commands that draw: figures of studies, and pictures of a link."""

from __future__ import annotations

from argparse import Namespace
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from otafl._base.validation import OptionError
from scenarios.config.scenario import Scenario
from scenarios.errors import ScenarioError, user_errors

ROLES = ("x", "y", "hue", "col", "row", "kind")
"""Options that describe a figure of the user's choice."""


def draw_studies(options: Namespace, on_note: Callable[[str], object]) -> None:
    """Draw the figures that answer a study's question, or the one that the options describe."""
    _use_files()

    from figures import gallery, style

    given = {name: value for name in ROLES if (value := getattr(options, name)) is not None}
    if given and options.only:
        first = next(iter(given))
        raise ScenarioError(f"--only draws figures as they are: leave --{first} out")
    if options.only and len(options.studies) > 1:
        raise ScenarioError("--only draws figures of one study: name one directory")
    out = options.out or options.studies[0] / "figures"
    where = _together(options.where)
    with _named_options(), style.context(options.style):
        if given or len(options.studies) > 1:
            if "y" in given and len(given["y"]) == 1:
                given["y"] = given["y"][0]
            drawn = iter([gallery.draw_general(options.studies, on_note, where, **given)])
        else:
            drawn = gallery.draw_study(options.studies[0], options.only or (), where, on_note)
        for path in gallery.save(drawn, out, options.format):
            print(path)


def draw_link(
    scenario: Scenario, options: Namespace, out: Path, on_note: Callable[[str], object]
) -> None:
    """Draw pictures of one round over the first link of a scenario."""
    _use_files()

    import numpy as np

    from figures import gallery, link_pictures, style
    from figures.link_view import look_at

    cell = scenario.cells[0]
    with user_errors(cell.all_code()):
        problem, link = cell.problem(), cell.link.build()
        size = (problem.num_clients, problem.model.size)
        votes = np.random.default_rng(0).choice(np.array([-1, 1], np.float32), size)
        view = look_at(link, votes)
    place = ", ".join(f"{axis.key} = {axis.labels[0]}" for axis in scenario.sweep.axes)
    if place:
        on_note(f"the link at {place}; choose another with --set")
    with style.context(options.style):
        pictures = link_pictures.applicable(view)
        drawn = ((name, draw(view)) for name, draw in pictures.items())
        for path in gallery.save(drawn, out, options.format):
            print(path)


def _use_files() -> None:
    """Draw to files, with or without a display."""
    import matplotlib

    matplotlib.use("Agg")


def _together(pairs: list[tuple[str, Any]]) -> dict[str, list[Any]]:
    """Return the values of each key; one may be given several times."""
    where: dict[str, list[Any]] = {}
    for key, value in pairs:
        where.setdefault(key, []).extend(value if isinstance(value, list) else [value])
    return where


@contextmanager
def _named_options() -> Iterator[None]:
    """Name the option of the command line that an error is about."""
    try:
        yield
    except OptionError as error:
        option = error.name.partition(" ")[0] in (*ROLES, "where")
        raise ScenarioError(f"{'--' * option}{error.name} {error.explanation}") from None
