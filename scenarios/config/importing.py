"""Import the files that users bring, with the modules beside them.

A file is imported from its source, under a name that no import statement could mean. What it
imports from its own folder comes from there, unless a module of otafl or of the standard library
has the name.
"""

from __future__ import annotations

import ast
import contextlib
import importlib
import importlib.util
import os
import re
import sys
from collections.abc import Iterator
from contextvars import ContextVar
from importlib.machinery import ModuleSpec, PathFinder, SourceFileLoader
from pathlib import Path
from types import CodeType, ModuleType
from typing import Any

from otafl._base.files import file_sha256
from otafl._base.lazy import tensorflow
from otafl._base.validation import OptionError
from scenarios.errors import explain

OURS = ("otafl", "phy", "fl", "links", "scenarios", "figures")
"""Packages that a user's file imports as ours, whatever else is in its folder."""

_importing: ContextVar[str] = ContextVar("importing", default="")
_loaded: dict[Path, tuple[dict[Path, str], ModuleType]] = {}


def refuse_while_importing(function: str) -> None:
    """Refuse to run a study that a user's file starts while it is imported for its classes."""
    if _importing.get():
        raise RuntimeError(
            f"{_importing.get()} calls {function} when it is imported: move the class to a file of "
            f'its own, or put the call under if __name__ == "__main__"'
        )


def import_file(path: Path, reference: str) -> ModuleType:
    """Return the module of a file; import it again if it or one of its own modules has changed."""
    if not path.is_file():
        raise OptionError("", "the name of an existing file", reference, f": there is no {path}")
    if path in _loaded:
        hashes, module = _loaded[path]
        if all(each.is_file() and file_sha256(each) == sha for each, sha in hashes.items()):
            return module
    _forget_modules_of_users()
    name = f"{path.stem}.py"  # no name that an import statement could mean
    spec = importlib.util.spec_from_file_location(name, path, loader=_Loader(name, str(path)))
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[name] = module  # dataclasses look their module up
    with _own_modules_first(path.parent), _one_line(path, reference):
        own = own_files(path)
        hashes = {each: file_sha256(each) for each in own.values()}
        if any(_uses_tensorflow(each) for each in own.values()):
            tensorflow()  # imported here, it says nothing
        spec.loader.exec_module(module)
    _loaded[path] = (hashes, module)
    return module


def import_module(name: str, reference: str) -> ModuleType:
    """Return an installed module."""
    try:
        found = importlib.util.find_spec(name)
    except (ImportError, ValueError, AttributeError):
        found = None
    if found is None:
        must = "the name of a file.py or of an installed module, and a class in it"
        raise OptionError("", must, reference, f": there is no module {name!r}")
    if _beside_the_script(found):
        must = "the name of an installed module, or of a file.py"
        hint = f": {name} is found only beside this script, not by other processes"
        raise OptionError("", must, reference, hint)
    with _one_line(Path(found.origin or name), reference):
        return importlib.import_module(name)


def _beside_the_script(spec: ModuleSpec) -> bool:
    """Return whether a module is found only because Python puts the script's folder first."""
    file = getattr(sys.modules.get("__main__"), "__file__", None)
    script = Path(file).resolve().parent if file else Path.cwd()
    top = Path(spec.origin or ".").resolve()
    given = os.environ.get("PYTHONPATH", "").split(os.pathsep)
    known = [Path(each).resolve() for each in given if each]
    ours = Path(__file__).parents[2]
    shared = [Path(sys.prefix), Path(sys.base_prefix), *known, ours]
    return top.is_relative_to(script) and not any(top.is_relative_to(each) for each in shared)


class _Loader(SourceFileLoader):
    """Loads a module from its source, never from bytecode that may be older."""

    def get_code(self, fullname: str) -> CodeType:
        """Compile the source."""
        path = self.get_filename(fullname)
        return self.source_to_code(self.get_data(path), path)


class _Finder:
    """Finds modules in a folder, whatever else is installed."""

    def __init__(self, folder: Path) -> None:
        self._folder = str(folder)

    def find_spec(self, name: str, path: Any = None, target: Any = None) -> ModuleSpec | None:
        """Return how to import a module of the folder."""
        if path is None and not _may_be_own(name):
            return None
        inside = path is not None and all(each.startswith(self._folder) for each in path)
        spec = PathFinder.find_spec(name, [self._folder] if path is None else path)
        if spec is None or (path is not None and not inside):
            return None
        if isinstance(spec.loader, SourceFileLoader):
            spec.loader = _Loader(spec.name, str(spec.origin))
        return spec


def _may_be_own(name: str) -> bool:
    """Return whether a name can be that of a user's module: not ours or the standard library's."""
    return name not in OURS and name not in sys.stdlib_module_names


@contextlib.contextmanager
def _own_modules_first(folder: Path) -> Iterator[None]:
    """Let modules in ``folder`` be imported ahead of installed ones, as in a script.

    Afterwards they come last, for imports inside functions.
    """
    for package in OURS:
        importlib.import_module(package)
    finder = _Finder(folder)
    sys.meta_path.insert(0, finder)
    try:
        yield
    finally:
        sys.meta_path.remove(finder)
        if str(folder) not in sys.path:
            sys.path.append(str(folder))


@contextlib.contextmanager
def _one_line(path: Path, reference: str) -> Iterator[None]:
    """Turn whatever goes wrong while a file is imported into one line that says where."""
    token = _importing.set(path.name)
    try:
        yield
    except (Exception, SystemExit) as error:
        must = "a class that can be imported"
        raise OptionError("", must, reference, f": {explain(error, _names_of(path))}") from error
    finally:
        _importing.reset(token)


def _names_of(path: Path) -> list[str]:
    """Return the names of all files in the folder of a file that is being imported."""
    return [each.name for each in path.parent.glob("*.py")]


def own_files(path: Path) -> dict[str, Path]:
    """Return a file and the modules that it imports from its own folder, and these in turn.

    They are found in the source, so that imports inside functions count as well.
    """
    files: dict[str, Path] = {}
    waiting = [path]
    while waiting:
        each = waiting.pop()
        name = each.relative_to(path.parent).as_posix()
        if name not in files:
            files[name] = each
            waiting += _imported(each, path.parent)
    return dict(sorted(files.items()))


def _imported(path: Path, folder: Path) -> Iterator[Path]:
    """Yield the files in ``folder`` that a file imports; of a package, all of them."""
    for node in ast.walk(ast.parse(path.read_bytes(), str(path))):
        names = [alias.name for alias in node.names] if isinstance(node, ast.Import) else []
        if isinstance(node, ast.ImportFrom) and node.module and not node.level:
            names = [node.module]
        for top in filter(_may_be_own, {name.partition(".")[0] for name in names}):
            if (folder / top).is_dir():
                yield from (folder / top).rglob("*.py")
            elif (folder / f"{top}.py").is_file():
                yield folder / f"{top}.py"


def _uses_tensorflow(path: Path) -> bool:
    """Return whether a file imports TensorFlow or Keras, from its source."""
    return bool(re.search(rb"^\s*(import|from)\s+(tensorflow|keras)\b", path.read_bytes(), re.M))


def package_files(module: ModuleType) -> dict[str, Path]:
    """Return the files of the package that a module belongs to, or its own.

    Folders without an ``__init__.py``, which several packages may share, do not count.
    """
    names = module.__name__.split(".")
    above = [".".join(names[: depth + 1]) for depth in range(len(names))]
    top = next(sys.modules[name] for name in above if sys.modules[name].__file__)
    file = Path(top.__file__ or "")
    files = file.parent.rglob("*.py") if hasattr(top, "__path__") else [file]
    root = file.parent.parent if hasattr(top, "__path__") else file.parent
    return {each.relative_to(root).as_posix(): each for each in sorted(files)}


def _forget_modules_of_users() -> None:
    """Drop modules that earlier files imported from their folders: others may have their names."""
    known = {file for path, (hashes, _) in _loaded.items() for file in hashes if file != path}
    for name, module in list(sys.modules.items()):
        file = getattr(module, "__file__", None)
        if isinstance(file, str) and Path(file) in known:
            del sys.modules[name]
