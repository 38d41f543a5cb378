"""The parts of one kind that a scenario can name: our own, those of installed packages, and users'.

An installed package offers a part through an entry point, in the group of its kind::

    [project.entry-points."otafl.algorithm"]
    vote = "their_package:MajorityVote"
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterable
from dataclasses import fields, is_dataclass
from functools import cached_property
from importlib.metadata import EntryPoint, entry_points
from typing import Any

from otafl._base.names import did_you_mean
from otafl._base.validation import OptionError
from scenarios.config.code import Code, UserClass, is_reference
from scenarios.config.options import hints_of, refuse_option
from scenarios.config.parts import Mirror, Part, mirror
from scenarios.config.tables import nested

Config = Callable[[UserClass, str], type[Part]]


class Catalogue:
    """Parts of one kind, by name.

    Parameters
    ----------
    kind : str
        What they are: "algorithm", "fading". Entry points are in the group ``otafl.KIND``.
    chooser : str
        The key that names one.
    must : type, optional
        The class that a user's class must inherit from.
    methods : iterable of str
        Names that a user's class must have, where it need not inherit.
    config : callable, optional
        Makes the config of a user's class from what it is and its name; a mirror by default.
    """

    def __init__(
        self,
        kind: str,
        chooser: str,
        must: type | None = None,
        methods: Iterable[str] = (),
        config: Config | None = None,
    ) -> None:
        self.kind, self.chooser = kind, chooser
        self._must, self._methods = must, tuple(methods)
        self._config = config or self._mirrored
        self.own: dict[str, type[Part]] = {}
        self._found: dict[tuple[str, tuple[tuple[str, str], ...]], type[Part]] = {}

    def add(self, name: str, target: type, **types: Any) -> None:
        """Add a dataclass of ours; ``types`` are those of :func:`mirror`."""
        self.own[name] = mirror(target, self.chooser, name, **types)

    def add_config(self, config: type[Part]) -> None:
        """Add a config of ours."""
        self.own[config.choice] = config

    @cached_property
    def offered(self) -> dict[str, list[EntryPoint]]:
        """Entry points of installed packages by name; ours cannot be replaced."""
        found: dict[str, list[EntryPoint]] = {}
        for each in entry_points(group=f"otafl.{self.kind}"):
            if each.name not in self.own:
                found.setdefault(each.name, []).append(each)
        return found

    @property
    def names(self) -> list[str]:
        """All names, ours first."""
        return [*self.own, *self.offered]

    def is_users(self, name: Any) -> bool:
        """Return whether a name is that of a user's class or of an installed package's part."""
        return is_reference(name) or (isinstance(name, str) and name in self.offered)

    def find(self, name: Any, code: Code) -> type[Part]:
        """Return the config that a name or a reference means.

        Raises
        ------
        OptionError
            If there is none, or if the user's class is not what it must be.
        """
        if isinstance(name, str) and name in self.own:
            return self.own[name]
        try:
            return self._found_elsewhere(name, code)
        except OptionError as error:
            error.name = self.chooser
            raise

    def _found_elsewhere(self, name: Any, code: Code) -> type[Part]:
        if is_reference(name):
            return self._of_user(code.load(name), name)
        if isinstance(name, str) and name in self.offered:
            several = self.offered[name]
            if len(several) > 1:
                ways = " or ".join(repr(each.value) for each in several)
                must = f"{ways}: more than one installed package offers this name"
                raise OptionError("", must, name)
            return self._of_user(code.load(several[0].value), name)
        names = ", ".join(repr(each) for each in self.names)
        hint = did_you_mean(name, self.names) or ' (a class of yours is named "file.py:Class")'
        raise OptionError("", f"one of {names}", name, hint)

    def _of_user(self, user: UserClass, name: str) -> type[Part]:
        self.check(user.target, name)
        self._check_options(user.target, name)
        key = name, tuple(user.sha256.items())
        known = self._found.get(key)
        if known is None or getattr(known, "target", None) is not user.target:
            self._found[key] = self._config(user, name)
        return self._found[key]

    def _mirrored(self, user: UserClass, name: str) -> type[Part]:
        types = nested(user.target, user.sha256)
        return mirror(user.target, self.chooser, name, code=user.sha256, **types)

    def of_file(self, target: type) -> type[Part]:
        """Return the config of a class in a user's file, which another class there refers to."""
        return self._of_user(UserClass(target, {}), f"{target.__module__}:{target.__name__}")

    def check(self, target: Any, name: str) -> None:
        """Refuse a class that is not what this kind of part must be."""
        if not isinstance(target, type):
            raise OptionError("", "the name of a class", name, f", which is {target!r}")
        base = self._must
        if base is not None and base not in target.__mro__:
            raise OptionError("", f"a subclass of otafl.{base.__name__}", name)
        missing = [each for each in self._methods if not hasattr(target, each)]
        missing = [each for each in missing if each not in getattr(target, "__annotations__", ())]
        missing += sorted(getattr(target, "__abstractmethods__", ()))
        if missing:
            raise OptionError("", f"a class that has {', '.join(missing)}", name)
        own = vars(target)
        hints = [h for h in own.get("__annotations__", {}).values() if "ClassVar" not in str(h)]
        forgotten = hints and "__dataclass_fields__" not in own
        if forgotten or (not is_dataclass(target) and _options(target)):
            must = "a dataclass, whose fields are its options"
            raise OptionError("", must, name, ": add @dataclass(frozen=True)")

    def _check_options(self, target: type, name: str) -> None:
        """Refuse a class with a field that cannot be an option."""
        hints = hints_of(target)
        for field in fields(target) if is_dataclass(target) else ():
            why = refuse_option(field, hints.get(field.name), self._reserved) if field.init else ""
            if why:
                raise OptionError("", "a class whose fields can be options", name, f": {why}")

    def _reserved(self, option: str) -> bool:
        return option == self.chooser or hasattr(Mirror, option)


def _options(target: type) -> list[str]:
    """Return what the constructor of a class takes."""
    try:
        parameters = inspect.signature(target).parameters
    except ValueError:  # a class of an extension module
        return []
    any_number = (inspect.Parameter.VAR_POSITIONAL, inspect.Parameter.VAR_KEYWORD)
    return [name for name, each in parameters.items() if each.kind not in any_number]
