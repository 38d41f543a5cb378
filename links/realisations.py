"""Many realisations of one link, for link-level Monte Carlo."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from fl.api import Link, Reception
from otafl._base.arrays import Rng
from otafl._base.names import check_names
from otafl._base.validation import OptionError


@check_names
def realise(
    link: Link,
    num_clients: int,
    length: int,
    rngs: Sequence[Rng],
    measure: Callable[[Any, int], Any],
    *,
    device_rngs: Sequence[Rng] | None = None,
) -> Any:
    """Open a link once per generator, and stack what is measured of each uplink.

    Realisation n draws the same random numbers whether run alone or with others.

    Parameters
    ----------
    link : Link
        What to open.
    num_clients, length : int
        Clients that take part, and entries of each client's vector.
    rngs : sequence of numpy.random.Generator
        One generator per realisation.
    measure : callable
        Given an uplink and its number n, returns a :class:`~fl.api.Reception`, a number, an array,
        or a tuple of these.
    device_rngs : sequence of numpy.random.Generator, optional
        One generator per realisation, which determines per-device quantities.

    Returns
    -------
    Reception, ndarray or tuple
        What ``measure`` returned, with a leading axis of realisations.

    Examples
    --------
    >>> from links import GaussianLink
    >>> rngs = np.random.default_rng(1).spawn(500)
    >>> ones = np.ones((2, 10))
    >>> link = GaussianLink(snr_db=0)
    >>> received = realise(link, 2, 10, rngs, lambda uplink, n: uplink.send(ones, 0.3))
    >>> received.total.shape
    (500, 10)
    """
    if not isinstance(rngs, Sequence) or not rngs or len({id(each) for each in rngs}) != len(rngs):
        raise OptionError("rngs", "a list of different generators, one per realisation", rngs)
    if device_rngs is not None and len(device_rngs) != len(rngs):
        raise OptionError(
            "device_rngs", f"one generator for each of the {len(rngs)} realisations", device_rngs
        )
    devices = [None] * len(rngs) if device_rngs is None else device_rngs
    return stack(
        [
            measure(link.open(num_clients, length, rng, device_rng=device_rng), number)
            for number, (rng, device_rng) in enumerate(zip(rngs, devices, strict=True))
        ]
    )


def stack(results: Sequence[Any]) -> Any:
    """Stack receptions, numbers, arrays or tuples of them along a new leading axis."""
    first = results[0]
    if isinstance(first, Reception):
        return Reception(
            total=np.array([each.total for each in results]),
            energy=np.array([each.energy for each in results]),
            diagnostics={
                name: np.array([each.diagnostics[name] for each in results])
                for name in first.diagnostics
            },
        )
    if isinstance(first, tuple):
        return tuple(stack(each) for each in zip(*results, strict=True))
    return np.array(results)
