"""Which client holds which samples.

Every partition returns one array of indices per client; no sample is on two clients.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import ArrayLike, NDArray

from fl.api import Rng
from fl.population import Population
from otafl._base.names import check_names
from otafl._base.validation import OptionError, integer, number

Shards = Sequence[NDArray[np.int64]]
"""Indices of the samples of each client."""

DIRICHLET_DRAWS = 1000


@check_names
def partition_by_label(
    labels: ArrayLike, num_clients: int, labels_per_client: int, rng: Rng
) -> list[NDArray[np.int64]]:
    """Give each client samples of p labels, as in the paper.

    All clients hold the same number of samples of each of their labels; samples left over are not
    used. p = 1 is the most uneven partition and p = number of labels the i.i.d. case.

    Parameters
    ----------
    labels : array_like, [n]
        Label of each sample.
    num_clients : int
        m, the number of clients.
    labels_per_client : int
        p. With as many clients as labels, each label is on p clients; otherwise on
        ``num_clients p / num_labels`` of them, rounded down or up.
    rng : numpy.random.Generator
        Source of the draws.

    Returns
    -------
    list of ndarray of int64
        Sorted indices of the samples of each client.

    Raises
    ------
    ValueError
        If there are too few labels, samples or clients for such a partition.

    Examples
    --------
    >>> labels = np.repeat([0, 1, 2], 10)
    >>> shards = partition_by_label(labels, 3, 2, np.random.default_rng(1))
    >>> [np.bincount(labels[shard], minlength=3).tolist() for shard in shards]
    [[5, 0, 5], [5, 5, 0], [0, 5, 5]]
    """
    values, classes = _checked_labels(labels, num_clients, rng)
    integer("labels_per_client", labels_per_client, least=1)
    if labels_per_client > len(classes):
        must = f"at most {len(classes)}, the number of labels"
        raise OptionError("labels_per_client", must, labels_per_client)
    if num_clients * labels_per_client < len(classes):
        must = f"at least {len(classes)}, so that each label is on some client"
        raise OptionError("num_clients * labels_per_client", must, num_clients * labels_per_client)
    # Windows of p labels on a circle, evenly spaced: that covers each label equally often.
    starts = np.arange(num_clients) * len(classes) // num_clients
    windows = (starts[:, None] + np.arange(labels_per_client)) % len(classes)
    held = rng.permutation(classes)[rng.permutation(windows)]
    holders = {label: int(np.sum(held == label)) for label in classes}
    counts = {label: int(np.sum(values == label)) for label in classes}
    scarce = min(classes, key=lambda label: counts[label] / holders[label])
    few, many = counts[scarce], holders[scarce]
    size = few // many
    if size == 0:
        hint = f": {many} clients would share the {few} samples of label {scarce}"
        raise OptionError("num_clients * labels_per_client", "smaller", windows.size, hint)
    stacks = {}
    for label in classes:
        samples = rng.permutation(np.flatnonzero(values == label))
        stacks[label] = iter(samples[: holders[label] * size].reshape(-1, size))
    return [np.sort(np.concatenate([next(stacks[label]) for label in mine])) for mine in held]


@check_names
def partition_dirichlet(
    labels: ArrayLike, num_clients: int, concentration: float, rng: Rng
) -> list[NDArray[np.int64]]:
    """Divide the samples of each label by shares drawn from Dirichlet(concentration, ...).

    The partition is uneven in labels and in sizes, the more so the smaller the concentration. All
    samples are used. It is drawn again until every client has a sample.

    Parameters
    ----------
    labels : array_like, [n]
        Label of each sample.
    num_clients : int
        m, the number of clients.
    concentration : float
        Parameter > 0 of the symmetric Dirichlet distribution.
    rng : numpy.random.Generator
        Source of the draws.

    Returns
    -------
    list of ndarray of int64
        Sorted indices of the samples of each client.

    Raises
    ------
    ValueError
        If some client is left without samples in 1000 draws.

    Notes
    -----
    T.-M. H. Hsu, H. Qi and M. Brown, "Measuring the effects of non-identical data distribution for
    federated visual classification", 2019; in the form of M. Yurochkin et al., "Bayesian
    nonparametric federated learning of neural networks", ICML 2019.

    Examples
    --------
    >>> shards = partition_dirichlet(np.arange(60) % 3, 4, 10.0, np.random.default_rng(1))
    >>> sum(len(shard) for shard in shards)
    60
    """
    values, classes = _checked_labels(labels, num_clients, rng)
    number("concentration", concentration, above=0)
    for _ in range(DIRICHLET_DRAWS):
        divided = []
        for label in classes:
            samples = rng.permutation(np.flatnonzero(values == label))
            divided.append(_divide(samples, rng.dirichlet(np.full(num_clients, concentration))))
        shards = [np.sort(np.concatenate(pieces)) for pieces in zip(*divided, strict=True)]
        if min(len(shard) for shard in shards) > 0:
            return shards
    hint = f": some of the {num_clients} clients had no samples in each of {DIRICHLET_DRAWS} draws"
    raise OptionError("concentration", "larger, or num_clients smaller", concentration, hint)


@check_names
def partition_unbalanced(labels: ArrayLike, shares: ArrayLike, rng: Rng) -> list[NDArray[np.int64]]:
    """Divide the samples at random, in amounts proportional to ``shares``; all are used.

    Parameters
    ----------
    labels : array_like, [n]
        Label of each sample; only their number matters.
    shares : array_like, [m]
        One number > 0 per client.
    rng : numpy.random.Generator
        Source of the draws.

    Returns
    -------
    list of ndarray of int64
        Sorted indices of the samples of each client.

    Raises
    ------
    ValueError
        If a client would have no sample.

    Examples
    --------
    >>> shards = partition_unbalanced(np.zeros(100), [1, 1, 3], np.random.default_rng(1))
    >>> [len(shard) for shard in shards]
    [20, 20, 60]
    """
    parts = np.asarray(shares, np.float64)
    if parts.ndim != 1 or not parts.size or not np.isfinite(parts).all() or (parts <= 0).any():
        raise OptionError("shares", "one finite number > 0 per client", shares)
    values, _ = _checked_labels(labels, len(parts), rng)
    shards = [np.sort(piece) for piece in _divide(rng.permutation(len(values)), parts)]
    if min(len(shard) for shard in shards) == 0:
        must = f"large enough to give every client one of the {len(values)} samples"
        raise OptionError("shares", must, shares)
    return shards


def client_weights(shards: Shards) -> NDArray[np.float64]:
    """Return alpha_i [m], each client's share of all samples in use."""
    if isinstance(shards, Population):
        return shards.weights
    sizes = np.array([len(shard) for shard in shards], np.float64)
    return sizes / sizes.sum()


def check_shards(shards: Shards, samples: int) -> Shards:
    """Return the shards as arrays: non-empty, within ``samples``, and disjoint.

    Those of a :class:`fl.Population` are drawn when they are used.

    Raises
    ------
    ValueError
        If they are not.
    """
    if isinstance(shards, Population):
        if len(shards.labels) != samples:
            must = f"a Population of the {samples} training samples"
            raise OptionError("shards", must, got=f"one of {len(shards.labels)}")
        return shards
    arrays = [np.asarray(shard) for shard in shards]
    for client, shard in enumerate(arrays):
        if shard.ndim != 1 or len(shard) == 0 or shard.dtype.kind not in "iu":
            must = "a list of indices of at least one sample"
            got = f"{shard.dtype} of shape {shard.shape}"
            raise OptionError(f"shards[{client}]", must, got=got)
        if shard.min() < 0 or shard.max() >= samples:
            wrong = shard[(shard < 0) | (shard >= samples)][0]
            must = f"indices from 0 to {samples - 1}, the last of {samples} samples"
            raise OptionError(f"shards[{client}]", must, int(wrong))
    if not arrays:
        raise OptionError("shards", "one list of indices per client", shards)
    counts = np.bincount(np.concatenate(arrays))
    if counts.max() > 1:
        got = f"sample {counts.argmax()} more than once"
        raise OptionError("shards", "disjoint", got=got)
    return [shard.astype(np.int64) for shard in arrays]


def _divide(samples: NDArray, shares: NDArray[np.float64]) -> list[NDArray[np.int64]]:
    ends = np.cumsum(shares) / np.sum(shares) * len(samples)
    return np.split(samples, np.rint(ends[:-1]).astype(int))


def _checked_labels(labels: ArrayLike, num_clients: int, rng: Rng) -> tuple[NDArray, NDArray]:
    """Return the labels, and the distinct ones."""
    if not isinstance(rng, np.random.Generator):
        raise OptionError("rng", "a generator such as np.random.default_rng(seed)", rng)
    values = np.asarray(labels)
    if values.ndim != 1 or len(values) == 0:
        raise OptionError("labels", "one label per sample", values.shape, " as their shape")
    integer("num_clients", num_clients, least=1)
    if num_clients > len(values):
        must = f"at most {len(values)}, the number of samples"
        raise OptionError("num_clients", must, num_clients)
    return values, np.unique(values)
