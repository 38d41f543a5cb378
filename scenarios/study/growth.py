"""A study grows: the cells that it has, and those that a scenario adds.

The scenario of a grown study sweeps the values of both. Its cells must be the ones that each has by
itself: what would change the meaning of a cell is refused with the difference.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any

from scenarios.config.cell import Cell
from scenarios.config.keys import flat
from scenarios.config.scenario import Scenario, batched, choices_in
from scenarios.config.sweep import Plain, Sweep
from scenarios.errors import ScenarioError
from scenarios.study.index import Index, Place

ROUNDS = "training.rounds"


@dataclass(frozen=True)
class StudyPlan:
    """A study with the cells of a scenario added to it.

    Attributes
    ----------
    scenario : Scenario
        Sweeps the values of both.
    index : Index
        Its cells in batches: those of the study as they were, then the new ones.
    asked : frozenset of str
        Digests of the cells of the scenario that was added.
    shorter : mapping of str to str
        Where there are to be more rounds: what the digests of the cells were before.
    """

    scenario: Scenario
    index: Index
    asked: frozenset[str]
    shorter: Mapping[str, str] = field(default_factory=dict)

    @cached_property
    def cells(self) -> dict[str, Cell]:
        """The cells of the study by digest."""
        numbers = {place: number for number, place in enumerate(self.scenario.sweep.places)}
        digests = self.index.digests.items()
        return {digest: self.scenario.cells[numbers[place]] for place, digest in digests}

    def code_of(self, digests: Iterable[str]) -> dict[str, str]:
        """Return the SHA-256 of the user's files behind some cells, by name."""
        cells = [self.cells[digest] for digest in digests]
        return {name: sha for cell in cells for name, sha in cell.all_code().items()}

    @cached_property
    def labels(self) -> dict[str, str]:
        """Where in the sweep each cell is, in words, by digest."""
        keys = [axis.key for axis in self.index.sweep.axes]
        return {
            digest: ", ".join(f"{key} = {label}" for key, label in zip(keys, place, strict=True))
            for place, digest in self.index.digests.items()
        }


def new_study(scenario: Scenario) -> StudyPlan:
    """Return a new study."""
    digests = [cell.digest() for cell in scenario.cells]
    batches = tuple(
        tuple((digests[number], scenario.sweep.places[number]) for number in batch)
        for batch in scenario.batches
    )
    return StudyPlan(scenario, _index(scenario, batches), frozenset(digests))


def extended(old: Scenario, index: Index, new: Scenario) -> StudyPlan:
    """Return a study with the cells of another scenario added.

    Parameters
    ----------
    old : Scenario
        That of the study.
    index : Index
        The cells of the study.
    new : Scenario
        What is asked for: longer or other lists of values, or more rounds.

    Raises
    ------
    ScenarioError
        If the two differ in more than what they sweep.
    """
    both = _union(old, new)
    shorter = _shorter(old, new)
    places = _places(both.cells)
    earlier = places if shorter is None else _places([_with(c, shorter) for c in both.cells])
    batches = _known(index, old)
    moved, asked = {}, []
    try:
        for digest, place in (pair for batch in batches for pair in batch):
            moved[digest, place] = _same(both, earlier.get(digest, ()), index.sweep, place)
        for cell, place in zip(new.cells, new.sweep.places, strict=True):
            asked.append(_same(both, places.get(cell.digest(), ()), new.sweep, place))
    except LookupError:
        raise ScenarioError(difference(old, new)) from None
    digests = [cell.digest() for cell in both.cells]
    kept = tuple(
        tuple((digests[moved[pair]], both.sweep.places[moved[pair]]) for pair in batch)
        for batch in batches
    )
    known = {place for batch in kept for _, place in batch}
    fresh = sorted(n for n in asked if both.sweep.places[n] not in known)
    added = tuple(
        tuple((digests[number], both.sweep.places[number]) for number in batch)
        for batch in batched(both.cells, fresh)
    )
    before = {digests[number]: pair[0] for pair, number in moved.items()}
    changed = {digest: old for digest, old in before.items() if digest != old}
    together = moved.values() if changed else ()  # more rounds are run for all cells
    added_digests = frozenset(digests[number] for number in (*asked, *together))
    index = replace(_index(both, kept + added), keep_checkpoints=index.keep_checkpoints)
    return StudyPlan(both, index, added_digests, changed)


def _index(scenario: Scenario, batches: Any) -> Index:
    paper = None if scenario.paper is None else scenario.paper.settings()
    return Index(scenario.title, scenario.sweep, paper, batches)


def _union(old: Scenario, new: Scenario) -> Scenario:
    """Return the scenario that sweeps the values of both, with the tables of both."""
    axes = {axis.key: axis for axis in (*old.sweep.axes, *new.sweep.axes)}
    sweep = {}
    for key in axes:
        contents = [_content(each, key) for each in (old, new)]
        if None in contents or len({isinstance(each, dict) for each in contents}) > 1:
            raise ScenarioError(difference(old, new))
        one, other = contents
        sweep[key] = {**one, **other} if isinstance(one, dict) else list(dict.fromkeys(one + other))
    content = _merged(old.resolved(), new.resolved())
    content |= {"title": new.title, "sweep": sweep}
    content.pop("paper", None)
    if new.paper is not None:
        content["paper"] = new.paper.settings()
    used = choices_in([cell.settings() for cell in (*old.cells, *new.cells)])
    try:
        return Scenario.read(content, used, new.code)
    except ScenarioError:
        raise ScenarioError(difference(old, new)) from None


def _content(scenario: Scenario, key: str) -> Any:
    """Return what a scenario has on an axis; its one value where it does not sweep the key."""
    for axis in scenario.sweep.axes:
        if axis.key == key:
            return axis.content
    settings = [flat(cell.settings()) for cell in scenario.cells]
    values = {repr(each[key]): each[key] for each in settings if key in each}
    (value,) = values.values() if len(values) == 1 else (None,)
    return [value] if isinstance(value, Plain) else None


def _merged(one: Mapping[str, Any], other: Mapping[str, Any]) -> dict[str, Any]:
    """Return tables with the keys of both; the other's values where both have one."""
    merged = dict(one)
    for key, value in other.items():
        nested = isinstance(value, Mapping) and isinstance(merged.get(key), Mapping)
        merged[key] = _merged(merged[key], value) if nested else value
    return merged


def _shorter(old: Scenario, new: Scenario) -> int | None:
    """Return the number of rounds of a study that is to have more; None if that is the same."""
    if any(axis.sets(ROUNDS) for axis in (*old.sweep.axes, *new.sweep.axes)):
        return None
    before, after = (each.cells[0].training.rounds for each in (old, new))
    return before if before < after else None


def _with(cell: Cell, rounds: int) -> Cell:
    training = cell.training.model_copy(update={"rounds": rounds})
    return cell.model_copy(update={"training": training})


def _places(cells: Any) -> dict[str, list[int]]:
    """Return the numbers of the cells by digest; labels may differ where settings do not."""
    found: dict[str, list[int]] = {}
    for number, cell in enumerate(cells):
        found.setdefault(cell.digest(), []).append(number)
    return found


def _known(index: Index, old: Scenario) -> list[tuple[tuple[str, Place], ...]]:
    """Return the batches of a study, without cells that its scenario does not have.

    The index is written before the scenario. A process that was killed in between has not run any
    of the cells that it was adding. :meth:`Folder.with_cells_of` refuses other differences.
    """
    known = {cell.digest() for cell in old.cells}
    kept = (tuple(pair for pair in batch if pair[0] in known) for batch in index.batches)
    return [batch for batch in kept if batch]


def _same(both: Scenario, numbers: Any, sweep: Sweep, place: Place) -> int:
    """Return which of the cells has the labels ``place`` of another sweep.

    Raises
    ------
    LookupError
        If none has.
    """
    expected = dict(zip((axis.key for axis in sweep.axes), place, strict=True))
    for number in numbers:
        labels = both.sweep.labels_of(number)
        if all(label == expected.get(key, label) for key, label in labels.items()):
            return number
    raise LookupError(place)


def difference(old: Scenario, new: Scenario) -> str:
    """Return which keys differ between two scenarios, one per line."""
    there, here = _numerical(old), _numerical(new)
    keys = [key for key in {**there, **here} if there.get(key) != here.get(key)]
    lists = [key for key in keys if isinstance(there.get(key), list) and key.startswith("sweep.")]
    one_sided = [key for key in keys if key not in there or key not in here]
    for less in (lists, one_sided):  # a list may change, and a choice bring its options
        if set(keys) > set(less):
            keys = [key for key in keys if key not in less]
    return "\n".join(
        f"  {key}: there {there.get(key, 'not given')}, here {here.get(key, 'not given')}"
        for key in keys
    )


def _numerical(scenario: Scenario) -> dict[str, Any]:
    """Return the keys that affect the numbers."""
    content = scenario.resolved()
    return flat({name: content[name] for name in content if name not in ("title", "paper")})
