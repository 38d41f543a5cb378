"""Run the notebooks, each in a fresh kernel, and store their outputs.

    python -m scenarios.notebooks.execute [--quick] [FILE ...]

runs all lessons and solutions, or the given files, and writes the outputs into them. Every notebook
has one cell tagged ``parameters``; ``--quick`` sets QUICK there (fewer draws) and writes nothing.
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import nbformat
from nbclient import NotebookClient

FOLDER = Path(__file__).parent
CELL_TIMEOUT = 600  # [s]


def notebooks() -> list[Path]:
    """Return the paths of the lessons, in order."""
    return sorted(FOLDER.glob("*.ipynb"))


def solutions() -> list[Path]:
    """Return the paths of the solutions to their exercises, in order."""
    return sorted((FOLDER / "solutions").glob("*.ipynb"))


def execute(path: Path, working_directory: Path, **parameters: Any) -> nbformat.NotebookNode:
    """Run a notebook and return it with its outputs.

    Parameters
    ----------
    path : Path
        The notebook, which is not changed.
    working_directory : Path
        Where its kernel runs.
    **parameters
        Values that replace those of its cell of parameters, such as ``QUICK=True``.

    Returns
    -------
    NotebookNode

    Raises
    ------
    CellExecutionError
        If a cell fails, or takes longer than ten minutes.
    """
    notebook = nbformat.read(path, as_version=4)
    (place,) = (
        place
        for place, cell in enumerate(notebook.cells)
        if "parameters" in cell.metadata.get("tags", ())
    )
    if parameters:
        lines = [f"{name} = {value!r}" for name, value in parameters.items()]
        notebook.cells.insert(place + 1, nbformat.v4.new_code_cell("\n".join(lines)))
    NotebookClient(
        notebook,
        timeout=CELL_TIMEOUT,
        kernel_name="python3",
        record_timing=False,
        resources={"metadata": {"path": str(working_directory)}},
    ).execute()
    return notebook


def main(arguments: Sequence[str] | None = None) -> None:
    """Run the command line."""
    parser = argparse.ArgumentParser(description="Run the notebooks and store their outputs.")
    parser.add_argument("files", nargs="*", type=Path, help="notebooks to run; all by default")
    parser.add_argument("--quick", action="store_true", help="use fewer draws and write nothing")
    options = parser.parse_args(arguments)
    for path in options.files or [*notebooks(), *solutions()]:
        begin = time.perf_counter()
        executed = execute(path, path.parent, **({"QUICK": True} if options.quick else {}))
        if not options.quick:
            # the same metadata whichever Python ran it
            executed.metadata = {
                "kernelspec": {"display_name": "Python 3", "language": "python", "name": "python3"},
                "language_info": {"name": "python"},
            }
            nbformat.write(executed, path)
        print(f"{path.parent.name}/{path.name}: {time.perf_counter() - begin:.1f} s")


if __name__ == "__main__":
    main()
