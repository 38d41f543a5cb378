"""Run notebooks as a reader would, in a kernel of their own.

    python -m scenarios.notebooks.execute [--quick] [FILE ...]

runs them all, or those named, and writes the outputs into them. A notebook has a cell tagged
``parameters``; with ``--quick`` (fewer draws) nothing is written.
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
MOST_SECONDS = 600  # for a cell


def notebooks() -> list[Path]:
    return sorted(FOLDER.glob("*.ipynb"))


def execute(path: Path, working_directory: Path, **parameters: Any) -> nbformat.NotebookNode:
    """The notebook with its outputs; ``parameters`` replace those of its own."""
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
        timeout=MOST_SECONDS,
        kernel_name="python3",
        record_timing=False,
        resources={"metadata": {"path": str(working_directory)}},
    ).execute()
    return notebook


def main(arguments: Sequence[str] | None = None) -> None:
    parser = argparse.ArgumentParser(description="Run the notebooks.")
    parser.add_argument("files", nargs="*", type=Path)
    parser.add_argument("--quick", action="store_true", help="fewer draws, and write nothing")
    options = parser.parse_args(arguments)
    for path in options.files or notebooks():
        begin = time.perf_counter()
        done = execute(path, path.parent, **({"QUICK": True} if options.quick else {}))
        if not options.quick:
            # a kernel of another Python would only differ in its name
            done.metadata = {
                "kernelspec": {"display_name": "Python 3", "language": "python", "name": "python3"},
                "language_info": {"name": "python"},
            }
            nbformat.write(done, path)
        print(f"{path.name}: {time.perf_counter() - begin:.1f} s")


if __name__ == "__main__":
    main()
