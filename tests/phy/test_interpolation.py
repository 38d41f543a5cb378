"""The windowed sinc against its formula, and cubics against polynomials."""

from __future__ import annotations

import math

import numpy as np
import pytest

from phy.interpolation import cubics, windowed_sinc


def i0_series(x):
    """I0(x) = sum_k (x^2 / 4)^k / k!^2"""
    return sum((x * x / 4) ** k / math.factorial(k) ** 2 for k in range(40))


@pytest.mark.parametrize(("reach", "beta"), [(14, 4.3), (16, 8.0), (3, 0.0)])
def test_windowed_sinc_is_its_formula(reach, beta):
    offsets = np.linspace(-reach + 0.01, reach - 0.01, 57)
    expected = [
        math.sin(math.pi * t)
        / (math.pi * t)
        * i0_series(beta * math.sqrt(1 - (t / reach) ** 2))
        / i0_series(beta)
        for t in offsets
        if t != 0
    ]
    found = windowed_sinc(offsets[offsets != 0], reach, beta)
    np.testing.assert_allclose(found, expected, rtol=1e-9, atol=1e-15)


def test_windowed_sinc_is_one_at_zero_zero_at_whole_samples_and_ends_at_its_reach():
    whole = windowed_sinc(np.arange(-20.0, 21.0), 14, 4.3)
    np.testing.assert_allclose(whole, np.arange(-20, 21) == 0, atol=1e-15)
    assert not windowed_sinc(np.array([-14.0, 14.0, 14.5, -100.3]), 14, 4.3).any()
    assert windowed_sinc(np.array([13.5]), 14, 4.3)[0] != 0
    half = windowed_sinc(np.array([-0.5, 0.5]), 14, 4.3)
    assert half[0] == half[1]


def test_cubics_are_one_at_their_own_knot():
    np.testing.assert_allclose(cubics(np.arange(4.0)), np.eye(4), atol=1e-15)


def test_cubics_reproduce_every_polynomial_of_third_degree():
    at = np.linspace(-0.5, 3.5, 17).reshape(1, 17)
    weights = cubics(at)
    assert weights.shape == (4, 1, 17)
    knots = np.arange(4.0)
    for power in range(4):
        np.testing.assert_allclose(
            np.tensordot(knots**power, weights, axes=1), at**power, atol=1e-12
        )
    # by hand, half way between the middle knots
    np.testing.assert_allclose(cubics(np.array([1.5]))[:, 0], [-1 / 16, 9 / 16, 9 / 16, -1 / 16])
