"""Decibels, in literal numbers."""

from __future__ import annotations

import numpy as np
import pytest

from otafl._base.decibels import amplitude_from_db, from_db, to_db


def test_powers():
    np.testing.assert_allclose(from_db(np.array([0, 3, 10, -20])), [1, 1.99526231, 10, 0.01])
    assert from_db(-np.inf) == 0


def test_amplitudes():
    np.testing.assert_allclose(
        amplitude_from_db(np.array([0, 6, 20, -20])), [1, 1.99526231, 10, 0.1]
    )


def test_levels():
    np.testing.assert_allclose(to_db(np.array([1, 2, 1000])), [0, 3.01029996, 30])
    assert to_db(0.0) == -np.inf
    assert float(to_db(from_db(-7.3))) == pytest.approx(-7.3)
