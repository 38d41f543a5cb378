"""Errors that are the user's to resolve; the command line prints them without a traceback."""

from __future__ import annotations

import contextlib
import os
import traceback
from collections.abc import Iterable, Iterator


class ScenarioError(ValueError):
    """A scenario or an argument that is not valid; the message says what it must be."""


class StudyError(Exception):
    """A study that cannot continue for a reason outside its scenario, such as a full disk."""


def explain(error: BaseException, names: Iterable[str]) -> str:
    """Return an error in one line, with the line of the user's code where it happened.

    Parameters
    ----------
    error : BaseException
        What was raised.
    names : iterable of str
        Names of the user's files.
    """
    text = " ".join(str(error).split())
    said = f"{type(error).__name__}: {text}" if text else type(error).__name__
    if isinstance(error, SyntaxError) and error.filename:
        where = f"{os.path.basename(error.filename)}, line {error.lineno}"
        return f"{type(error).__name__}: {error.msg} ({where})"
    own = {os.path.basename(name) for name in names}
    frames = traceback.extract_tb(error.__traceback__)
    for frame in reversed(frames):
        name = os.path.basename(frame.filename)
        if name in own:
            where = f"{name}, line {frame.lineno}"
            inside = "" if frame.name == "<module>" else f", in {frame.name}"
            return f"{said} ({where}{inside})"
    return text or said


@contextlib.contextmanager
def user_errors(code: Iterable[str], where: str = "") -> Iterator[None]:
    """Turn whatever goes wrong in a user's code into a :class:`ScenarioError` of one line.

    Without user code, only errors that a scenario can cause are turned into one.

    Parameters
    ----------
    code : iterable of str
        Names of the user's files.
    where : str
        Where in the sweep, for the message.
    """
    names = list(code)
    try:
        yield
    except ScenarioError:
        raise
    except (Exception, SystemExit) as error:
        expected = (ValueError, OSError, RuntimeError, MemoryError, OverflowError)
        if not isinstance(error, expected) and not names:
            raise
        text = explain(error, names)
        raise ScenarioError(text + (f" (at {where})" if where else "")) from error
