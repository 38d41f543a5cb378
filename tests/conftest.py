"""Shared by all tests.

Statistical tests draw a new seed in every run, print it, and must pass for any: their tolerance is
five standard deviations of what they measure. OTAFL_TEST_SEED repeats a run.
"""

from __future__ import annotations

import os
import secrets

import numpy as np
import pytest
from hypothesis import settings

settings.register_profile("otafl", deadline=None, max_examples=60)
settings.load_profile("otafl")


@pytest.fixture
def rng() -> np.random.Generator:
    seed = int(os.environ.get("OTAFL_TEST_SEED", secrets.randbits(32)))
    print(f"OTAFL_TEST_SEED={seed}")
    return np.random.default_rng(seed)
