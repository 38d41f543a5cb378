"""Code that users bring: classes named by ``"file.py:Class"`` or ``"package.module:Class"``.

A file is imported together with the modules that it imports from its own folder. The SHA-256 of
all of them is kept with every result that they produced.
"""

from __future__ import annotations

import os
import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, NamedTuple

from otafl._base.files import file_sha256
from otafl._base.names import did_you_mean
from otafl._base.validation import OptionError
from scenarios.config.importing import import_file, import_module, own_files, package_files

_REFERENCE = re.compile(r"(?P<where>[^:]+):(?P<name>[^\W\d]\w*)")


def is_reference(name: Any) -> bool:
    """Return whether a name refers to a user's class.

    >>> is_reference("mine.py:Vote"), is_reference("acpc"), is_reference("C:/data/mine.npz")
    (True, False, False)
    """
    return isinstance(name, str) and _REFERENCE.fullmatch(name) is not None


class UserClass(NamedTuple):
    """A user's class, and what it comes from.

    Attributes
    ----------
    target : type
        The class.
    sha256 : dict of str to str
        SHA-256 of its own file and of the modules that this imports from its own folder, by their
        path relative to that folder.
    """

    target: Any
    sha256: dict[str, str]


@dataclass(frozen=True)
class Code:
    """Where the references of a scenario lead.

    Attributes
    ----------
    folder : Path
        The folder that files are relative to.
    files : dict of str to Path
        Files that references have named so far, by their bare names.
    sources : dict of str to Path
        All files that have been imported so far, by their path relative to their own folder.
    classes : dict of str to UserClass
        What references have named so far; each is imported once.
    """

    folder: Path
    files: dict[str, Path] = field(default_factory=dict)
    sources: dict[str, Path] = field(default_factory=dict)
    classes: dict[str, UserClass] = field(default_factory=dict)

    def bare(self, reference: str) -> str:
        """Return a reference with the bare name of its file, and remember where the file is.

        So a study does not depend on the place of a file, and finds its copy of it.
        """
        where, _, name = reference.rpartition(":")
        if not where.endswith(".py") or where in self.files:
            return reference
        path = self._path(where)
        known = self.files.setdefault(path.name, path)
        if known != path:
            raise OptionError(
                "",
                "a file with a name of its own",
                reference,
                f": {known} has the same name; rename one of them",
            )
        return f"{path.name}:{name}"

    def _remember(self, files: Mapping[str, Path], reference: str) -> None:
        for name, path in files.items():
            known = self.sources.setdefault(name, path)
            if known != path and file_sha256(known) != file_sha256(path):
                must = "a file whose modules have names of their own"
                hint = f": {known} and {path} have the same name; rename one of them"
                raise OptionError("", must, reference, hint)

    def _path(self, where: str) -> Path:
        """Return the file in the folder or, where it has none, in the current directory."""
        where = os.path.expanduser(where)
        beside, here = (Path(os.path.abspath(folder / where)) for folder in (self.folder, Path()))
        return here if here.is_file() and not beside.is_file() else beside

    def load(self, reference: str) -> UserClass:
        """Import the class that a reference names.

        Raises
        ------
        OptionError
            If there is no such file, module or class, or if it cannot be imported.
        """
        if reference not in self.classes:
            self.classes[reference] = self._imported(reference)
        return self.classes[reference]

    def _imported(self, reference: str) -> UserClass:
        where, _, name = reference.rpartition(":")
        if where.endswith(".py"):
            path = self.files.get(where) or self._path(where)
            module = import_file(path, reference)
            files = own_files(path)
            self._remember(files, reference)
        else:
            module = import_module(where, reference)
            files = package_files(module)
        target = getattr(module, name, None)
        if target is None:
            classes = [each for each, value in vars(module).items() if isinstance(value, type)]
            raise OptionError(
                "", f"the name of a class in {where}", reference, did_you_mean(name, classes)
            )
        return UserClass(target, {name: file_sha256(path) for name, path in files.items()})
