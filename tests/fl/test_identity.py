"""Descriptions tell one run from another, and are the same in every process."""

from __future__ import annotations

import subprocess
import sys
from dataclasses import dataclass, field
from functools import partial

import numpy as np
import pytest

from fl import Acpc, quadratic_problem
from fl.identity import description
from links import GaussianLink, OfdmLink
from phy import SionnaFading


class Own:
    def __init__(self, step, helper=None):
        self.step, self.helper = step, helper


def falling(power):
    return lambda number: GaussianLink(power=power / (1 + number))


def cir(seed):
    raise RuntimeError(seed)


def hessians(last):
    return quadratic_problem(np.array([np.eye(40), last * np.eye(40)]), np.zeros((2, 40))).model


@pytest.mark.parametrize(
    ("one", "other"),
    [
        (Acpc(G=0.5), Acpc(G=0.6)),
        (Own(1.0), Own(2.0)),
        (falling(1.0), falling(2.0)),
        (lambda number: number + 1, lambda number: number + 2),
        (partial(max, 1), partial(max, 2)),
        (hessians(1.0), hessians(2.0)),
        (GaussianLink(power=[1.0, 2.0]), GaussianLink(power=[2.0, 1.0])),
        (
            OfdmLink(snr_db=10.0, fading=SionnaFading(cir, 1.0)),
            OfdmLink(snr_db=20.0, fading=SionnaFading(cir, 1.0)),
        ),
        ({"a": 1}, {"a": 2}),
    ],
)
def test_different_objects_have_different_descriptions(one, other):
    assert description(one) != description(other)
    assert description([one]) != description([other])


def test_equal_objects_have_equal_descriptions():
    assert description(0.5) == description(np.float64(0.5))
    assert description((1, 2)) == description([1, 2])
    assert description(falling(1.0)) == description(falling(1.0))
    assert description(Own(1.0, object())) == description(Own(1.0, object()))
    assert " at 0x" not in description([Own(1.0, object()), falling(1.0), {1: lambda: 0}])


def test_the_same_in_every_process():
    code = (
        "from tests.fl.test_identity import *; "
        "things = [Own(1.0, object()), falling(2.0), hessians(2.0), Acpc(), partial(max, 1)]; "
        "print(description(things))"
    )
    texts = {
        subprocess.run([sys.executable, "-c", code], capture_output=True, check=True).stdout
        for _ in range(2)
    }
    assert len(texts) == 1


def test_fields_that_are_not_compared_do_not_count():
    @dataclass(frozen=True)
    class Recording:
        sha256: str
        file: str = field(compare=False)

    assert description(Recording("ab", "/here/a")) == description(Recording("ab", "/there/b"))
    assert description(Recording("ab", "/a")) != description(Recording("cd", "/a"))
