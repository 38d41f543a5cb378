"""A claim: what was measured, what theory predicts, and how far the two may be apart.

The tolerance of a statistic is five standard errors, so a true claim fails for one seed in two
million.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import SupportsFloat

import numpy as np
from numpy.typing import ArrayLike

SIGMAS = 5.0


@dataclass(frozen=True)
class Claim:
    """The claim that ``measured`` equals ``expected`` to within ``tolerance``, or respects a limit.

    Attributes
    ----------
    what : str
        What is claimed, in words.
    measured, expected : float
    tolerance : float
        Largest allowed difference.
    relation : str
        "=", or "<=" or ">=" for a limit, which has no tolerance.
    """

    what: str
    measured: float
    expected: float
    tolerance: float = 0.0
    relation: str = "="

    @property
    def holds(self) -> bool:
        """Whether the claim holds; never for NaN."""
        if self.relation == "<=":
            return self.measured <= self.expected
        if self.relation == ">=":
            return self.measured >= self.expected
        return abs(self.measured - self.expected) <= self.tolerance

    @property
    def expectation(self) -> str:
        """The expected value with its tolerance, for printing.

        >>> value_is("pi", 3.14, np.pi, tolerance=0.01).expectation
        '3.142 ± 0.01'
        >>> at_most("error", 1e-7, 1e-4).expectation
        '≤ 0.0001'
        """
        if self.relation == "=":
            return f"{self.expected:.4g} ± {self.tolerance:.2g}"
        return f"{'≤' if self.relation == '<=' else '≥'} {self.expected:.4g}"


def mean_is(what: str, samples: ArrayLike, expected: SupportsFloat) -> Claim:
    """Claim that the mean of independent ``samples`` is ``expected``."""
    values = np.asarray(samples, np.float64)
    error = values.std(ddof=1) / np.sqrt(values.size)
    return Claim(what, float(values.mean()), float(expected), float(SIGMAS * error))


def share_is(what: str, hits: ArrayLike, probability: SupportsFloat) -> Claim:
    """Claim that the fraction of independent ``hits`` is ``probability``."""
    values, chance = np.asarray(hits, bool), float(probability)
    error = np.sqrt(chance * (1 - chance) / values.size)
    return Claim(what, float(values.mean()), chance, float(SIGMAS * error))


def value_is(
    what: str, measured: SupportsFloat, expected: SupportsFloat, tolerance: float
) -> Claim:
    """Claim that ``measured`` is ``expected`` to within ``tolerance``."""
    return Claim(what, float(measured), float(expected), float(tolerance))


def at_most(what: str, measured: SupportsFloat, limit: SupportsFloat) -> Claim:
    """Claim that ``measured`` is at most ``limit``."""
    return Claim(what, float(measured), float(limit), relation="<=")


def at_least(what: str, measured: SupportsFloat, limit: SupportsFloat) -> Claim:
    """Claim that ``measured`` is at least ``limit``."""
    return Claim(what, float(measured), float(limit), relation=">=")


def verify(*claims: Claim) -> None:
    """Print claims, and raise an AssertionError if one of them does not hold.

    >>> verify(value_is("pi", 3.14, np.pi, tolerance=0.01))
    claim    measured    expected
    pi           3.14    3.142 ± 0.01    holds
    """
    if not claims:
        raise ValueError("verify must be given at least one claim")
    width = max(len("claim"), *(len(claim.what) for claim in claims))
    print(f"{'claim':{width}s}    measured    expected")
    for claim in claims:
        verdict = "holds" if claim.holds else "FAILS"
        print(f"{claim.what:{width}s} {claim.measured:11.4g}    {claim.expectation}    {verdict}")
    failed = broken(claims)
    if failed:
        raise AssertionError(
            "; ".join(
                f"{each.what}: {each.measured:.6g} is not {each.expectation}" for each in failed
            )
        )


def broken(claims: Iterable[Claim]) -> list[Claim]:
    """Return the claims that do not hold."""
    return [claim for claim in claims if not claim.holds]
