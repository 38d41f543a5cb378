"""What may stand in a table of a scenario, and the config that it is read into.

An option that is an object itself is a table in a scenario: of one kind (:class:`One`), of a kind
that the table chooses by its key ``kind`` or ``name`` (:class:`Choice`), or of several tables, one
per object (:class:`Chain`). Each reads a table with the help of a reader, which collects what is
wrong, and turns objects into configs.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import fields, is_dataclass
from typing import TYPE_CHECKING, Any

from otafl._base.names import did_you_mean
from otafl._base.validation import OptionError
from scenarios.config.options import hints_of, is_class, is_union, without_none
from scenarios.config.parts import FAILED, NONE, TABLES, Mirror, Part, Row, field_type, mirror

if TYPE_CHECKING:
    from scenarios.config.catalogue import Catalogue
    from scenarios.config.reading import Reader


class One:
    """A table of one kind.

    Parameters
    ----------
    kind : type of Part
        Its config.
    value : callable, optional
        Validates plain values, where they may stand instead of the table.
    """

    def __init__(self, kind: type[Part], value: Callable[[str, Any], Any] | None = None) -> None:
        self._kind, self._value = kind, value

    @property
    def kinds(self) -> list[type[Part]]:
        """The configs that the table may be read into."""
        return [self._kind]

    def accept(self, given: Any) -> Any:
        """Return a plain value, or refuse it."""
        if self._value is None:
            raise OptionError("", "a table", given)
        return self._value("", given)

    def read(self, given: Any, path: str, reader: Reader) -> Any:
        """Return the config of a table; a plain value is returned as it is."""
        return reader.part(self._kind, given, path) if isinstance(given, Mapping) else given

    def mirrored(self, thing: Any) -> Any:
        """Return the config of an object."""
        config = self._kind
        if not isinstance(thing, getattr(config, "target", ())):
            return thing
        return _mirrored(config, thing)


class OneOf:
    """A table of one of several kinds, distinguished by its keys.

    Parameters
    ----------
    kinds : list of type of Part
        The configs.
    value : callable
        Validates plain values, which may stand instead of the table.
    """

    def __init__(self, kinds: list[type[Part]], value: Callable[[str, Any], Any]) -> None:
        self.kinds, self._value = kinds, value

    def accept(self, given: Any) -> Any:
        """Return a plain value, or refuse it."""
        return self._value("", given)

    def read(self, given: Any, path: str, reader: Reader) -> Any:
        """Return the config of a table; a plain value is returned as it is."""
        if not isinstance(given, Mapping):
            return given
        shared = [sum(key in kind.model_fields for key in given) for kind in self.kinds]
        return reader.part(self.kinds[shared.index(max(shared))], given, path)

    def mirrored(self, thing: Any) -> Any:
        """Return the config of an object."""
        for kind in self.kinds:
            if isinstance(thing, getattr(kind, "target", ())):
                return _mirrored(kind, thing)
        return thing


def optional(kind: type[Part]) -> Any:
    """Return the type of a field that is a table or "none"."""
    return field_type(One(kind), none=True)


def nested(target: type, code: Mapping[str, str]) -> dict[str, Any]:
    """Return the types of the options of a user's class that are dataclasses of the user's own."""
    found = {}
    for name, hint in hints_of(target).items():
        (kind, *others) = without_none(hint)
        if is_class(kind) and is_dataclass(kind) and kind not in TABLES and not others:
            config = mirror(kind, code=code, **nested(kind, code))
            found[name] = field_type(One(config), none=is_union(hint))
    return found


class Choice:
    """A table that says by a key which of several objects it describes.

    Parameters
    ----------
    catalogue : Catalogue
        The parts to choose from.
    prepare : callable, optional
        Applied to a table before it is read.
    refine : callable, optional
        Returns the config from the one that was chosen, the table and the code of the scenario.
    """

    def __init__(
        self,
        catalogue: Catalogue,
        prepare: Callable[[Any], Any] | None = None,
        refine: Callable[..., type[Part]] | None = None,
    ) -> None:
        self.catalogue = catalogue
        self._prepare, self._refine = prepare, refine

    @property
    def kinds(self) -> list[type[Part]]:
        """The configs of our own parts."""
        return list(self.catalogue.own.values())

    def accept(self, given: Any) -> Any:
        """Refuse a plain value."""
        own, chooser = self.catalogue.own, self.catalogue.chooser
        name = given if isinstance(given, str) and given in own else next(iter(own))
        raise OptionError("", f'a table such as {{ {chooser} = "{name}" }}', given)

    def read(self, given: Any, path: str, reader: Reader) -> Any:
        """Return the config of a table."""
        if not isinstance(given, Mapping):
            return given
        table = self._prepare(given) if self._prepare else given
        chooser = self.catalogue.chooser
        if table.get(chooser) is None:
            names = ", ".join(repr(each) for each in self.catalogue.names)
            return reader.fail(f"{path}.{chooser} must be given: one of {names}")
        try:
            kind = self._kind(table, reader)
        except OptionError as error:
            return reader.fail(f"{path}.{error.name} {error.explanation}")
        return reader.part(kind, table, path, self.rivals(path, table, reader), self.kinds)

    def _kind(self, table: Mapping[str, Any], reader: Reader) -> type[Part]:
        kind = self.catalogue.find(table[self.catalogue.chooser], reader.code)
        return self._refine(kind, table, reader.code) if self._refine else kind

    def rivals(self, path: str, table: Mapping[str, Any], reader: Reader) -> list[type[Part]]:
        """Return the configs that other cells of the scenario read this table into."""
        found = []
        for name in sorted(reader.used.get(path, ())):
            try:
                found.append(self._kind({**table, self.catalogue.chooser: name}, reader))
            except OptionError:
                continue  # said where that cell is read
        return found

    def mirrored(self, thing: Any) -> Part:
        """Return the config of an object of ours, or of the user's file that has it as default."""
        cls = type(thing)
        for config in self.kinds:
            if getattr(config, "target", None) is cls:
                return _mirrored(config, thing)
        if not cls.__module__.endswith(".py"):
            raise OptionError("", "an object of otafl or of the same file", thing)
        return _mirrored(self.catalogue.of_file(cls), thing)


class Chain:
    """Tables of several objects, each under its own name, in the order of the names.

    A user-defined object is a table of any other name with the key ``kind``.

    Parameters
    ----------
    catalogue : Catalogue
        Where user-defined objects are looked up.
    last : bool
        Whether user-defined objects come after all others, or before them. One with an attribute
        ``before``, the name of another, comes right before that.
    **kinds
        The configs by name, in order.
    """

    def __init__(self, catalogue: Catalogue, *, last: bool, **kinds: type[Part]) -> None:
        self.catalogue, self._last, self._kinds = catalogue, last, kinds

    @property
    def kinds(self) -> list[type[Part]]:
        """The configs of our own objects."""
        return []

    @property
    def named(self) -> Mapping[str, type[Part]]:
        """The configs of our own objects by name."""
        return self._kinds

    def accept(self, given: Any) -> Any:
        """Refuse a plain value."""
        raise OptionError("", "a table", given)

    def read(self, given: Any, path: str, reader: Reader) -> Any:
        """Return the configs of all tables, in order."""
        if not isinstance(given, Mapping):
            return given
        parts = {}
        for name, table in given.items():
            key = f"{path}.{name}"
            if isinstance(table, str) and table == NONE:
                continue
            try:
                kind = self._kind(name, table, reader)
            except OptionError as error:
                parts[name] = reader.fail(f"{key}.{error.name} {error.explanation}")
                continue
            if kind is None:
                known = list(self._kinds)
                hint = did_you_mean(name, known) or f"; the keys are {', '.join(known)}"
                parts[name] = reader.fail(f"{key} is not a key{hint}")
            elif not isinstance(table, Mapping):
                parts[name] = reader.fail(str(OptionError(key, "a table", table)))
            else:
                parts[name] = reader.part(kind, table, key)
        if FAILED in parts.values():
            return FAILED
        return Row(
            parts=tuple(sorted(parts.items(), key=lambda pair: self.place(pair[0], pair[1].target)))
        )

    def _kind(self, name: str, table: Any, reader: Reader) -> type[Part] | None:
        if name in self._kinds:
            return self._kinds[name]
        given = table.get("kind") if isinstance(table, Mapping) else None
        if given is None:
            return None
        if not self.catalogue.is_users(given):
            must = 'the name of a user-defined class, as in "file.py:Class"'
            raise OptionError("kind", must, given)
        kind = self.catalogue.find(given, reader.code)
        self.place(name, getattr(kind, "target", None))  # or say what is wrong with it
        return kind

    def place(self, name: str, target: Any) -> tuple[float, ...]:
        """Return where an object comes in the order, as a key to sort by."""
        order = {each: float(place) for place, each in enumerate(self._kinds)}
        if name in order:
            return (order[name], 1.0)
        before = getattr(target, "before", None)
        if before is not None:
            if not isinstance(before, str) or before not in order:
                must = f"a class whose attribute before is one of {', '.join(order)}"
                raise OptionError("kind", must, before)
            return (order[before], 0.0)
        return (float(len(order)) if self._last else -1.0, 0.0)

    def mirrored(self, thing: Any) -> Row:
        """Return the configs of a tuple of objects of ours."""
        names = {getattr(config, "target", None): name for name, config in self._kinds.items()}
        pairs = [(names[type(each)], each) for each in thing]
        return Row(parts=tuple((name, _mirrored(self._kinds[name], each)) for name, each in pairs))


def _mirrored(config: type[Part], thing: Any) -> Any:
    """Return the config, a mirror, that builds ``thing``."""
    assert issubclass(config, Mirror)
    options = {}
    for field in fields(thing):
        table = inner_table(config, field.name)
        value = getattr(thing, field.name)
        options[field.name] = value if table is None else table.mirrored(value)
    return config(**options)


def inner_table(part: type[Part], name: str) -> One | OneOf | Choice | Chain | None:
    """Return what may stand in the table ``name`` of a config, if that is one."""
    field = part.model_fields.get(name)
    metadata = [] if field is None else field.metadata
    return next((each for each in metadata if isinstance(each, One | OneOf | Choice | Chain)), None)


def snake_case(name: str) -> str:
    """Return a class name as a key.

    >>> snake_case("IqImbalance"), snake_case("HPA")
    ('iq_imbalance', 'hpa')
    """
    return re.sub(r"(?<=[a-z0-9])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])", "_", name).lower()
