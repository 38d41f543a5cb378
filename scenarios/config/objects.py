"""Objects where a scenario file has tables: a link, an algorithm, a fading, made in Python."""

from __future__ import annotations

import os
import sys
from collections.abc import Mapping
from dataclasses import fields, is_dataclass
from pathlib import Path
from typing import Any

from fl import LogisticRegression, Mlp
from otafl._base.validation import OptionError
from scenarios.config.algorithm import ALGORITHMS
from scenarios.config.catalogue import Catalogue
from scenarios.config.data import PARTITIONS, SOURCES
from scenarios.config.downlink import DOWNLINKS
from scenarios.config.link import CSIS, FADINGS, IMPAIRMENTS, LINKS
from scenarios.config.model import FROM_DATA, MODELS
from scenarios.config.participation import PARTICIPATIONS
from scenarios.config.parts import NONE, Part
from scenarios.config.tables import Chain, inner_table, snake_case
from scenarios.errors import ScenarioError

CATALOGUES = (
    ALGORITHMS,
    MODELS,
    LINKS,
    FADINGS,
    CSIS,
    IMPAIRMENTS,
    PARTITIONS,
    SOURCES,
    PARTICIPATIONS,
    DOWNLINKS,
)
"""Everything that a scenario can choose by name."""

_MODELS: dict[type, str] = {LogisticRegression: "logistic", Mlp: "mlp"}


def described(thing: Any, key: str = "a value in a scenario") -> Any:
    """Return an object as the table that describes it; plain values as they are.

    >>> from phy import Rician
    >>> described(Rician(k_factor=2.0))["kind"]
    'rician'

    Parameters
    ----------
    thing : object
        A plain value, an array, or an object of a dataclass of ours or of one in a file.
    key : str
        Where it stands in the scenario, for messages.

    Raises
    ------
    ScenarioError
        If it cannot be described.
    """
    if isinstance(thing, bool | int | float | str):
        return thing
    if thing is None:
        return NONE
    if hasattr(thing, "tolist"):
        return thing.tolist()
    if isinstance(thing, Mapping):
        return {name: described(each, f"{key}.{name}") for name, each in thing.items()}
    if isinstance(thing, list | tuple | range):
        return [described(each, f"{key}[{place}]") for place, each in enumerate(thing)]
    if isinstance(thing, type) or not is_dataclass(thing):
        must = "a plain value, a table, or an object of a dataclass such as OfdmLink()"
        raise ScenarioError(str(OptionError(key, must, thing)))
    cls = type(thing)
    name, chooser, config = _found(cls)
    table: dict[str, Any] = {chooser: name} if chooser else {}
    for field in fields(thing):
        if not field.init or (field.name in FROM_DATA and hasattr(cls, "gradient")):
            continue
        value, inside = getattr(thing, field.name), f"{key}.{field.name}"
        chain = None if config is None else inner_table(config, field.name)
        if isinstance(chain, Chain):
            table[field.name] = _chain(value, chain, inside)
        else:
            table[field.name] = described(value, inside)
    return table


def _found(cls: type) -> tuple[str, str, type[Part] | None]:
    """Return the name of a class, the key that chooses it, and its config if it is one of ours."""
    if cls in _MODELS:
        return _MODELS[cls], MODELS.chooser, None
    for catalogue in CATALOGUES:
        for name, config in catalogue.own.items():
            if getattr(config, "target", None) is cls:
                return name, catalogue.chooser, config
    for catalogue in CATALOGUES:
        if _fits(catalogue, cls):
            return reference_to(cls), catalogue.chooser, None
    return "", "", None  # a part of another one, such as OfdmGrid


def _fits(catalogue: Catalogue, cls: type) -> bool:
    try:
        catalogue.check(cls, cls.__name__)
    except OptionError:
        return False
    return cls.__module__.partition(".")[0] not in ("phy", "fl", "links")


def _chain(impairments: Any, chain: Chain, key: str) -> dict[str, Any]:
    """Return impairments as tables by name; a file has them in one order only."""
    known = {getattr(config, "target", None): name for name, config in chain.named.items()}
    tables, places = {}, []
    for each in impairments:
        cls = type(each)
        name = known.get(cls) or snake_case(cls.__name__)
        name = f"user_{name}" if name in chain.named and cls not in known else name
        tables[name] = described(each, f"{key}.{name}")
        places.append(chain.place(name, cls))
    names = [type(each).__name__ for each in impairments]
    if len(tables) < len(names):
        raise ScenarioError(str(OptionError(key, "objects of different classes", names)))
    if places != sorted(places):
        order = ", ".join(chain.named)
        must = f"in the order of a radio ({order}; your own next to the antenna, or by its before)"
        raise ScenarioError(str(OptionError(key, must, names)))
    return tables


def reference_to(cls: type) -> str:
    """Return the reference by which another process finds a user's class.

    Raises
    ------
    ScenarioError
        If the class is not in a file.
    """
    module = sys.modules.get(cls.__module__)
    file = getattr(module, "__file__", None)
    if "." in cls.__qualname__ or not isinstance(file, str) or not os.path.isfile(file):
        raise ScenarioError(
            f"{cls.__qualname__} must be defined at the top of a .py file, since other processes "
            "import it from there"
        )
    in_package = getattr(module, "__package__", "") and cls.__module__ != "__main__"
    installed = Path(file).is_relative_to(sys.prefix)
    if in_package or installed:
        return f"{cls.__module__}:{cls.__name__}"
    return f"{os.path.abspath(file)}:{cls.__name__}"
