"""The validation report: every oracle with its claims."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import NamedTuple

import numpy as np
from rich.markup import escape
from rich.table import Table

from scenarios.report.tables import console
from scenarios.validation import engines, hardware, learning, radio
from scenarios.validation.claims import Claim, broken
from scenarios.validation.oracle import Oracle

CHAPTERS = {
    "The radio": radio.ORACLES,
    "Hardware impairments": hardware.ORACLES,
    "The learning": learning.ORACLES,
    "Engines and rungs": engines.ORACLES,
}


class Finding(NamedTuple):
    """An oracle and its measured claims."""

    chapter: str
    oracle: Oracle
    claims: Sequence[Claim]


def measure(seed: int, on_oracle: Callable[[str], object] = lambda name: None) -> Iterator[Finding]:
    """Measure all oracles, each with its own random numbers.

    Parameters
    ----------
    seed : int
        Seed of all random numbers.
    on_oracle : callable
        Called with the name of each oracle before it is measured.
    """
    every = [(chapter, oracle) for chapter, oracles in CHAPTERS.items() for oracle in oracles]
    for number, (chapter, oracle) in enumerate(every):
        on_oracle(oracle.name)
        claims = oracle.measure(np.random.default_rng([seed, number]))
        yield Finding(chapter, oracle, list(claims))


def verdict(findings: Sequence[Finding]) -> str:
    """Return how many claims hold."""
    claims = [claim for finding in findings for claim in finding.claims]
    return f"{len(claims) - len(broken(claims))} of {len(claims)} claims hold"


def holds(findings: Sequence[Finding]) -> bool:
    """Return whether all claims hold."""
    return not any(broken(finding.claims) for finding in findings)


def print_table(findings: Sequence[Finding]) -> None:
    """Print all claims."""
    table = Table(title="Measured against theory")
    for heading in ("oracle", "what", "measured", "expected", ""):
        table.add_column(heading, justify="right" if heading == "measured" else "left")
    for finding in findings:
        for place, claim in enumerate(finding.claims):
            table.add_row(
                finding.oracle.name if place == 0 else "",
                escape(claim.what),
                f"{claim.measured:.4g}",
                claim.expectation,
                "holds" if claim.holds else "[bold red]FAILS[/]",
                end_section=place == len(finding.claims) - 1,
            )
    console().print(table)


def as_markdown(findings: Sequence[Finding]) -> str:
    """Return the tables for the documentation, by chapter."""
    lines: list[str] = []
    for chapter in CHAPTERS:
        lines += [f"## {chapter}", ""]
        for _, oracle, claims in (each for each in findings if each.chapter == chapter):
            heading = oracle.name[0].upper() + oracle.name[1:]
            lines += [f"### {heading}", "", f"$${oracle.law}$$", ""]
            lines += ["| what | measured | expected | |", "|---|---|---|---|"]
            lines += [_row(claim) for claim in claims] + [""]
    return "\n".join(lines)


def _row(claim: Claim) -> str:
    what = claim.what.replace("|", r"\|")
    result = "holds" if claim.holds else "**fails**"
    return f"| {what} | {claim.measured:.4g} | {claim.expectation} | {result} |"
