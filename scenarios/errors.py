"""Errors that are the user's to resolve; the command line prints them without a traceback."""

from __future__ import annotations


class ScenarioError(ValueError):
    """A scenario or an argument that is not valid; the message says what it must be."""


class StudyError(Exception):
    """A study that cannot continue for a reason outside its scenario, such as a full disk."""
