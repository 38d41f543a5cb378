"""One or several studies as one dataset."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

import xarray as xr

from figures.quantities import key_of
from figures.roles import select, sweep_dims
from otafl._base.validation import OptionError
from scenarios.config.keys import flat
from scenarios.config.library import parse_toml
from scenarios.study.results import INNER, NOT_APPLICABLE, open_study

Study = str | Path | xr.Dataset
"""The directory of a study, or what :func:`scenarios.open_study` returns."""


def read(
    studies: Study | Sequence[Study] | Mapping[str, Study],
    where: Mapping[str, Any] | None = None,
    on_note: Callable[[str], object] = print,
) -> xr.Dataset:
    """Return the dataset of a study, or of several with a dimension ``study``.

    Parameters
    ----------
    studies : str, path, Dataset, or a sequence or mapping of these
        Several are named by their directories, by their titles, or by the keys of the mapping.
    where : mapping, optional
        Only these values of swept keys; a study that does not sweep a key is left as it is.
    on_note : callable
        Called with a remark on each study that is not finished.
    """
    several: dict[str, xr.Dataset]
    if isinstance(studies, Study) or not isinstance(studies, Sequence | Mapping):
        several = {str(studies): _read(studies)}
    elif not studies:
        raise OptionError("study", "at least one study", studies)
    elif isinstance(studies, Mapping):
        several = {str(name): _read(each) for name, each in studies.items()}
    else:
        several = _named([(each, _read(each)) for each in studies])
    several = _selected(several, {} if where is None else where)
    for name, study in several.items():
        done, total = int(study["finished"].sum()), study["finished"].size
        if done < total:
            title = name if len(name) < 80 else study.attrs.get("title", "the study")
            on_note(f"{title} is not finished: {done} of {total} cells are drawn")
    return next(iter(several.values())) if len(several) == 1 else _without_constants(_join(several))


def _selected(several: Mapping[str, xr.Dataset], where: Any) -> dict[str, xr.Dataset]:
    """Select values in every study that sweeps their key."""
    if not isinstance(where, Mapping):
        raise OptionError("where", "a mapping from keys to values", where)
    parts = dict(several)
    for name, wanted in where.items():
        sweeping = [each for each, study in parts.items() if _sweeps(study, name)]
        for each in sweeping or parts:  # where none does, the first says so
            parts[each] = select(parts[each], {name: wanted})
    return parts


def _sweeps(study: xr.Dataset, name: str) -> bool:
    return any(name in (dim, key_of(study, str(dim))) for dim in study["finished"].dims)


def _read(study: Any) -> xr.Dataset:
    if isinstance(study, str | Path):
        return open_study(study)
    if not isinstance(study, xr.Dataset) or "finished" not in study:
        raise OptionError("study", "the directory of a study or its dataset", type(study).__name__)
    return study


def _named(studies: list[tuple[Study, xr.Dataset]]) -> dict[str, xr.Dataset]:
    """Return studies by the shortest ends of their paths that differ, or by their titles."""
    paths = [
        (dataset.attrs.get("title", "study"),)
        if isinstance(study, xr.Dataset)
        else Path(study).resolve().parts
        for study, dataset in studies
    ]
    for length in range(1, max(map(len, paths), default=0) + 1):
        names = ["/".join(path[-length:]) for path in paths]
        if len(set(names)) == len(names):
            return dict(zip(names, (dataset for _, dataset in studies), strict=True))
    must = "different studies; in Python, a mapping can give names to equal ones"
    raise OptionError("study", must, got="the same one twice")


def _join(studies: Mapping[str, xr.Dataset]) -> xr.Dataset:
    """Return studies side by side; what one of them does not sweep has the value it has there."""
    keys: dict[str, str] = {}
    for study in studies.values():
        keys |= {str(dim): key_of(study, str(dim)) for dim in study["finished"].dims}
    wide = [_with_dims(study, keys) for study in studies.values()]
    for dim in keys:
        if len({each[dim].dtype.kind in "fiu" for each in wide}) > 1:  # numbers beside names
            wide = [each.assign_coords({dim: each[dim].astype(str)}) for each in wide]
    attributes = [{dim: each[dim].attrs for dim in keys} for each in wide]
    joined = xr.concat(
        wide, xr.Variable("study", list(studies)), join="outer", combine_attrs="drop",
        data_vars="all", coords="minimal",
    )  # fmt: skip
    for dim in keys:
        joined[dim].attrs = next(each[dim] for each in attributes if each[dim])
    joined["study"].attrs = {"key": "study", "long_name": "study"}
    for name in joined.data_vars:
        joined[name].attrs = next(each[name].attrs for each in wide if name in each)
    joined["finished"] = joined["finished"].fillna(0)
    joined["diverged"] = joined["diverged"].fillna(0)
    joined.attrs["title"] = " and ".join(studies)
    return joined


def _without_constants(study: xr.Dataset) -> xr.Dataset:
    """Drop keys that have one value in each of several studies: they come with the study."""
    for dim in [dim for dim in sweep_dims(study) if dim != "study"]:
        others = [each for each in study["finished"].dims if each not in ("study", dim)]
        values = (study["finished"].sum(others) > 0).sum(dim)
        if study.sizes[dim] > 1 and int(values.max()) == 1:
            study = study.max(dim, keep_attrs=True)
    return study


def _with_dims(study: xr.Dataset, keys: Mapping[str, str]) -> xr.Dataset:
    settings = flat(parse_toml(study.attrs["scenario"])) if "scenario" in study.attrs else {}
    inner = {dim: range(study.sizes[dim]) for dim in INNER if dim in study.dims and dim != "round"}
    study = study.assign_coords(inner)
    for dim, key in keys.items():
        if dim not in study.dims:
            value = 0 if dim == "seed" else settings.get(key, NOT_APPLICABLE)
            study = study.expand_dims({dim: [value]})
            study[dim].attrs = {"key": key}
    return study.transpose(*keys, ...)
