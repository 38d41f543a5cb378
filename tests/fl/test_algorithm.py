"""Rounds, plans and what an algorithm may leave out."""

from __future__ import annotations

from dataclasses import replace
from typing import ClassVar

import numpy as np
import pytest

from fl import Algorithm, Cotaf, Outcome, Plan, Round, train
from fl.algorithm import prepared
from links import FadingLink, IdealLink
from tests.fl.runs import OPTIONS
from tests.links.fixed import FixedFading


@pytest.mark.parametrize("steps", [[0, 1], [1.5, 2.0], 3])
def test_refused_plans(steps):
    with pytest.raises(ValueError, match="steps must be a whole number >= 1 per client, got"):
        Plan(steps)


def test_refused_additions_to_gradients():
    with pytest.raises(ValueError, match="proximal must be a finite number >= 0, got -1"):
        Plan([1, 2], proximal=-1)
    with pytest.raises(ValueError, match=r"drift must be of shape \[m, d\] with m = 2, got shape"):
        Plan([1, 2], drift=np.zeros((3, 4)))


def test_plans_take_lists():
    assert Plan([1, 2], drift=[[1, 2], [3, 4]]).drift.dtype == np.float64
    assert Plan([1, 2]).steps.shape == (2,)


def test_all_clients_take_part_by_default():
    uplink = IdealLink().open(3, 2, np.random.default_rng(1))
    current = Round(0, np.zeros(2), uplink, np.full(3, 1 / 3), np.array([1, 2, 3]), 0.1)
    assert current.clients.tolist() == [0, 1, 2]
    assert not current.state
    assert not current.device_state
    assert Cotaf().plan(current).steps.tolist() == [1, 2, 3]


def test_uplinks_are_prepared_for_signals_if_they_can_be(rng):
    """Also behind a selection, in which client 1 of 3 is silent."""
    link = FadingLink(fading=FixedFading([[1.0], [1.0], [0.1]]), control="mmse", snr_db=0.0)
    everyone = replace(link, variances="reported").open(3, 2, rng)
    chosen = everyone.only(np.array([0, 2]))
    whole, half = np.ones((2, 2)), np.array([[1.0, 1.0], [0.5, 0.5]])
    energy = chosen.energy(whole)
    np.testing.assert_allclose(chosen.energy(half), energy, rtol=1e-6)
    np.testing.assert_allclose(prepared(chosen, whole).energy(half), energy * [[1], [0.25]], 1e-6)
    plain = object()
    assert prepared(plain, whole) is plain


class Halves(Algorithm):
    """Sends every other entry, and leaves the others of the model alone."""

    lengths: ClassVar[list] = []

    def num_entries(self, size):
        return size // 2

    def aggregate(self, current, plan, updates, steps):
        signals = current.weights[:, None].astype(updates.dtype) * updates[:, 1::2]
        self.lengths.append(signals.shape[1])
        received = current.uplink.send(signals, 1.0)
        model = current.model.copy()
        model[1::2] += received.total
        return Outcome(model, received, 1.0)


class Lengths:
    """A link that records the length with which it is opened."""

    opened: ClassVar[list] = []

    def open(self, num_clients, length, rng, **options):
        self.opened.append(length)
        return IdealLink().open(num_clients, length, rng, **options)


def test_an_algorithm_says_how_many_entries_it_sends(problem):
    """52 parameters in 26 entries: half of the model is trained as Cotaf does, half stays."""
    history = train(Halves(), Lengths(), problem, rounds=1, **OPTIONS)
    whole = train(Cotaf(), IdealLink(), problem, rounds=1, **OPTIONS)
    assert Halves.lengths == Lengths.opened == [26]
    np.testing.assert_allclose(history.model[1::2], whole.model[1::2], rtol=1e-6)
    assert not history.model[::2].any()
    assert whole.model[::2].any()


@pytest.mark.parametrize("kind", [Round, Plan, Outcome])
def test_misspelt_fields_are_named(kind):
    with pytest.raises(TypeError, match=f"{kind.__name__} has no option 'stat'"):
        kind(stat={})
