"""The state of a run in a file: arrays in .npz form, written whole or not at all."""

from __future__ import annotations

import io
import json
import zipfile
import zlib
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from fl.files import replacing

SETTINGS = "settings"


class CheckpointError(ValueError):
    """A file from which this run cannot go on."""


def save(path: Path, settings: Mapping[str, str], arrays: Mapping[str, NDArray]) -> None:
    """Replace the file at ``path``; at any moment it holds the old state or the new."""
    everything: dict[str, Any] = {SETTINGS: np.array(json.dumps(dict(settings))), **arrays}
    memory = io.BytesIO()  # a zip file that breaks off would complain for itself
    np.savez(memory, **everything)
    try:
        with replacing(path) as file:
            file.write(memory.getbuffer())
    except OSError as error:
        raise OSError(f"checkpoint {path} cannot be written: {error.strerror}") from error


def load(path: Path, settings: Mapping[str, str]) -> dict[str, NDArray]:
    """The arrays that were saved; refuses those of a run with other settings."""
    try:
        with np.load(path, allow_pickle=False) as file:
            arrays = {name: file[name] for name in file.files}
        found = json.loads(str(arrays.pop(SETTINGS)))
    except KeyError:
        raise CheckpointError(f"{path} is not a checkpoint: give another file") from None
    except (ValueError, OSError, EOFError, zipfile.BadZipFile, zlib.error) as error:
        raise CheckpointError(
            f"checkpoint {path} cannot be read ({error}): give another file, or remove it to "
            "begin anew"
        ) from None
    wrong = [name for name in settings if found.get(name) != settings[name]]
    if wrong:
        differences = "; ".join(
            f"{name} was {found.get(name)}, is now {settings[name]}" for name in wrong
        )
        raise CheckpointError(
            f"checkpoint {path} is of another run: {differences}: give another file, or remove it"
        )
    return arrays
