"""Random projections of vectors to fewer entries, applied without storing a large matrix.

Both have E||A x||^2 = ||x||^2 over the draws of A, for every x. A is a function of its kind, shape
and seed alone, so clients and server need to share nothing else.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import Protocol

import numpy as np
from numpy.typing import NDArray
from scipy import fft

from fl.streams import Purpose, stream
from otafl._base.arrays import Float32Array, IntArray
from otafl._base.names import options
from otafl._base.validation import integer

MOST_AT_ONCE = 1 << 24
"""Entries of a block of a Gaussian matrix, 64 MiB; two blocks exist while the next is drawn."""


class Projection(Protocol):
    """A linear map A from d to n entries."""

    @property
    def rows(self) -> int:
        """n, the number of entries of a projection."""

    @property
    def size(self) -> int:
        """d, the number of entries of a vector."""

    def forward(self, vectors: NDArray) -> NDArray:
        """Return A x of vectors x [..., d], [..., n]."""

    def adjoint(self, vectors: NDArray) -> NDArray:
        """Return A^T y of vectors y [..., n], [..., d]."""


@options
@dataclass(frozen=True)
class GaussianProjection:
    """A matrix of independent normal entries of variance 1/n.

    Parameters
    ----------
    rows : int
        n, from 1 to d.
    size : int
        d.
    seed : int
        Seed >= 0 of the matrix; 0 by default.

    Notes
    -----
    The matrix is drawn in blocks of rows of at most 2^24 entries. A matrix of one block is drawn
    once; the blocks of a larger one are drawn anew for every product, which takes about 10 ns per
    entry.

    Examples
    --------
    >>> GaussianProjection(rows=2, size=5).forward(np.ones((3, 5))).shape
    (3, 2)
    """

    rows: int
    size: int
    seed: int = 0

    def __post_init__(self) -> None:
        _check(self.rows, self.size, self.seed)

    def forward(self, vectors: NDArray) -> NDArray:
        """Return A x of vectors x [..., d], [..., n]."""
        parts = [vectors @ block.T for _, block in self._blocks()]
        return np.concatenate(parts, axis=-1)

    def adjoint(self, vectors: NDArray) -> NDArray:
        """Return A^T y of vectors y [..., n], [..., d]."""
        total = np.zeros((*vectors.shape[:-1], self.size), vectors.dtype)
        for rows, block in self._blocks():
            total += vectors[..., rows] @ block
        return total

    def _blocks(self) -> Iterator[tuple[slice, Float32Array]]:
        """Yield the rows of each block, and the block."""
        height = max(1, MOST_AT_ONCE // self.size)
        if self.rows <= height:
            yield slice(None), self._only_block
            return
        for number, start in enumerate(range(0, self.rows, height)):
            stop = min(start + height, self.rows)
            yield slice(start, stop), self._block(number, stop - start)

    @cached_property
    def _only_block(self) -> Float32Array:
        return self._block(0, self.rows)

    def _block(self, number: int, height: int) -> Float32Array:
        rng = stream(self.seed, number, Purpose.PROJECTION)
        block = rng.standard_normal((height, self.size), np.float32)
        block *= np.float32(1 / math.sqrt(self.rows))
        return block


@options
@dataclass(frozen=True)
class DctProjection:
    """Random signs, a discrete cosine transform, and n of its d coefficients at random.

    Parameters
    ----------
    rows : int
        n, from 1 to d.
    size : int
        d.
    seed : int
        Seed >= 0 of signs and coefficients; 0 by default.

    Notes
    -----
    ::

        A = sqrt(d / n) R C D

    with a diagonal D of signs, C the orthonormal DCT-II, and R that keeps n different coefficients,
    chosen uniformly: A A^T = (d / n) I. It takes d log d operations and stores 2 d numbers at most.

    Examples
    --------
    >>> projection = DctProjection(rows=3, size=3)
    >>> projection.adjoint(projection.forward(np.array([1.0, 2.0, 3.0]))).round(6)
    array([1., 2., 3.])
    """

    rows: int
    size: int
    seed: int = 0

    def __post_init__(self) -> None:
        _check(self.rows, self.size, self.seed)

    def forward(self, vectors: NDArray) -> NDArray:
        """Return A x of vectors x [..., d], [..., n]."""
        signs, kept = self._drawn
        mixed = vectors * signs.astype(vectors.dtype)
        coefficients = fft.dct(mixed, norm="ortho", overwrite_x=True)
        return coefficients[..., kept] * self._scale(vectors)

    def adjoint(self, vectors: NDArray) -> NDArray:
        """Return A^T y of vectors y [..., n], [..., d]."""
        signs, kept = self._drawn
        coefficients = np.zeros((*vectors.shape[:-1], self.size), vectors.dtype)
        coefficients[..., kept] = vectors * self._scale(vectors)
        mixed = fft.idct(coefficients, norm="ortho", overwrite_x=True)
        return mixed * signs.astype(vectors.dtype)

    def _scale(self, vectors: NDArray) -> np.generic:
        return vectors.dtype.type(math.sqrt(self.size / self.rows))

    @cached_property
    def _drawn(self) -> tuple[Float32Array, IntArray]:
        """The signs [d] and the indices of the coefficients [n]."""
        rng = stream(self.seed, 0, Purpose.PROJECTION)
        signs = rng.choice(np.array([-1, 1], np.float32), self.size)
        return signs, np.sort(rng.permutation(self.size)[: self.rows])


PROJECTIONS: dict[str, type[GaussianProjection | DctProjection]] = {
    "dct": DctProjection,
    "gaussian": GaussianProjection,
}
"""The projections, by the names that options use."""


def _check(rows: int, size: int, seed: int) -> None:
    integer("size", size, least=1)
    integer("rows", rows, least=1, most=size)
    integer("seed", seed, least=0, most=2**63)
