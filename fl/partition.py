"""Who holds which samples. Every partition gives one array of indices a client, none twice."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import ArrayLike, NDArray

from fl.checks import Count, Positive, checked

Shards = Sequence[NDArray[np.int64]]

DIRICHLET_DRAWS = 1000


def partition_by_label(
    labels: ArrayLike, num_clients: int, labels_per_client: int, rng: np.random.Generator
) -> list[NDArray[np.int64]]:
    """p labels a client, as in the paper: with as many clients as labels, each label on p of them.

    All clients hold the same number of samples of each of their labels; what is left over is not
    used. p = 1 is the most uneven, p = number of labels the i.i.d. case. With other numbers of
    clients each label is on ``num_clients p / num_labels`` of them, rounded down or up.

    Examples
    --------
    >>> labels = np.repeat([0, 1, 2], 10)
    >>> shards = partition_by_label(labels, 3, 2, np.random.default_rng(1))
    >>> [np.bincount(labels[shard], minlength=3).tolist() for shard in shards]
    [[5, 0, 5], [5, 5, 0], [0, 5, 5]]
    """
    values, classes = _checked_labels(labels, num_clients, rng)
    checked("labels_per_client", labels_per_client, Count)
    if labels_per_client > len(classes):
        raise ValueError(
            f"labels_per_client = {labels_per_client} is not allowed: there are {len(classes)} "
            "labels"
        )
    if num_clients * labels_per_client < len(classes):
        raise ValueError(
            f"num_clients = {num_clients} with labels_per_client = {labels_per_client} is not "
            f"allowed: some of the {len(classes)} labels would be on no client"
        )
    # Windows of p labels on a circle, evenly spaced: that covers each label equally often.
    starts = np.arange(num_clients) * len(classes) // num_clients
    windows = (starts[:, None] + np.arange(labels_per_client)) % len(classes)
    held = rng.permutation(classes)[rng.permutation(windows)]
    holders = {label: int(np.sum(held == label)) for label in classes}
    counts = {label: int(np.sum(values == label)) for label in classes}
    scarce = min(classes, key=lambda label: counts[label] / holders[label])
    size = counts[scarce] // holders[scarce]
    if size == 0:
        raise ValueError(
            f"num_clients = {num_clients} with labels_per_client = {labels_per_client} is not "
            f"allowed: {holders[scarce]} clients would share the {counts[scarce]} samples of label "
            f"{scarce}"
        )
    stacks = {}
    for label in classes:
        samples = rng.permutation(np.flatnonzero(values == label))
        stacks[label] = iter(samples[: holders[label] * size].reshape(-1, size))
    return [np.sort(np.concatenate([next(stacks[label]) for label in mine])) for mine in held]


def partition_dirichlet(
    labels: ArrayLike, num_clients: int, concentration: float, rng: np.random.Generator
) -> list[NDArray[np.int64]]:
    """The samples of each label divided by shares drawn from Dirichlet(concentration, ...).

    Uneven in labels and in sizes, the more so the smaller the concentration; all samples are used.
    Drawn again until every client has a sample.

    T.-M. H. Hsu, H. Qi and M. Brown, "Measuring the effects of non-identical data distribution for
    federated visual classification", 2019; in the form of M. Yurochkin et al., "Bayesian
    nonparametric federated learning of neural networks", ICML 2019.
    """
    values, classes = _checked_labels(labels, num_clients, rng)
    checked("concentration", concentration, Positive)
    for _ in range(DIRICHLET_DRAWS):
        pieces: list[list[NDArray[np.int64]]] = [[] for _ in range(num_clients)]
        for label in classes:
            samples = rng.permutation(np.flatnonzero(values == label))
            shares = rng.dirichlet(np.full(num_clients, concentration))
            for client, piece in enumerate(_divide(samples, shares)):
                pieces[client].append(piece)
        shards = [np.sort(np.concatenate(piece)) for piece in pieces]
        if min(len(shard) for shard in shards) > 0:
            return shards
    raise ValueError(
        f"concentration = {concentration} left some of the {num_clients} clients without samples "
        f"in {DIRICHLET_DRAWS} draws: give a larger one, or fewer clients"
    )


def partition_unbalanced(
    labels: ArrayLike, shares: ArrayLike, rng: np.random.Generator
) -> list[NDArray[np.int64]]:
    """Samples at random, in amounts proportional to ``shares``, one a client; all are used.

    Examples
    --------
    >>> shards = partition_unbalanced(np.zeros(100), [1, 1, 3], np.random.default_rng(1))
    >>> [len(shard) for shard in shards]
    [20, 20, 60]
    """
    parts = np.asarray(shares, np.float64)
    if parts.ndim != 1 or not np.isfinite(parts).all() or (parts <= 0).any():
        raise ValueError(f"shares = {shares!r} are not allowed: give a number > 0 for each client")
    values, _ = _checked_labels(labels, len(parts), rng)
    shards = [np.sort(piece) for piece in _divide(rng.permutation(len(values)), parts)]
    if min(len(shard) for shard in shards) == 0:
        raise ValueError(f"shares = {shares!r} are not allowed: a client would have no sample")
    return shards


def weights_of(shards: Shards) -> NDArray[np.float64]:
    """alpha_i, each client's part of all samples in use."""
    sizes = np.array([len(shard) for shard in shards], np.float64)
    return sizes / sizes.sum()


def checked_shards(shards: Shards, samples: int) -> list[NDArray[np.int64]]:
    """One non-empty list of indices a client, none twice."""
    arrays = [np.asarray(shard) for shard in shards]
    for client, shard in enumerate(arrays):
        if shard.ndim != 1 or len(shard) == 0 or shard.dtype.kind not in "iu":
            raise ValueError(
                f"shards[{client}] of shape {shard.shape} and type {shard.dtype} is not allowed: "
                "give the indices of at least one sample"
            )
        if shard.min() < 0 or shard.max() >= samples:
            raise ValueError(f"shards[{client}] has indices beyond the {samples} samples")
    if not arrays:
        raise ValueError("shards are empty: give one list of indices a client")
    if np.bincount(np.concatenate(arrays)).max() > 1:
        raise ValueError("shards have a sample twice: give each to one client only")
    return [shard.astype(np.int64) for shard in arrays]


def _divide(samples: NDArray, shares: NDArray[np.float64]) -> list[NDArray[np.int64]]:
    ends = np.cumsum(shares) / np.sum(shares) * len(samples)
    return np.split(samples, np.rint(ends[:-1]).astype(int))


def _checked_labels(
    labels: ArrayLike, num_clients: int, rng: np.random.Generator
) -> tuple[NDArray, NDArray]:
    """The labels, and which there are."""
    if not isinstance(rng, np.random.Generator):
        raise ValueError(f"rng = {rng!r} is not allowed: give np.random.default_rng(seed)")
    values = np.asarray(labels)
    if values.ndim != 1 or len(values) == 0:
        raise ValueError(f"labels of shape {values.shape} are not allowed: give one a sample")
    checked("num_clients", num_clients, Count)
    if num_clients > len(values):
        raise ValueError(
            f"num_clients = {num_clients} is not allowed: there are {len(values)} samples"
        )
    return values, np.unique(values)
