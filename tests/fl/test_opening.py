"""The beginning of a round: candidates are measured, and those chosen use the same channels."""

from __future__ import annotations

import numpy as np
import pytest

from fl import (
    BestChannels,
    Cotaf,
    Deadline,
    Participation,
    ProportionalFair,
    RandomClients,
    Selection,
    Sgd,
    train,
)
from links import IdealLink, OfdmLink, OrthogonalLink
from phy import Rayleigh
from tests.fl.runs import ALGORITHMS, OPTIONS
from tests.fl.test_every_algorithm_over_every_link import LINKS

ARRAYS = ("energy", "load", "steps", "active_fraction", "radiated_energy", "largest_gradient")


class Logged:
    """A link that records for whom it is opened, and what the uplinks are asked for."""

    def __init__(self, link):
        self.link, self.opened, self.qualities = link, [], []

    def open(self, num_clients, length, rng, **options):
        self.opened.append(options.get("clients"))
        uplink = self.link.open(num_clients, length, rng, **options)
        self.qualities.append(uplink.quality)
        return uplink


def test_the_chosen_are_the_strongest_of_the_candidates(problem):
    """The channel that was measured is the one that is used: load does not exceed the budget."""
    link = Logged(OfdmLink(entry_snr_db=10.0, fading=Rayleigh(), path_gain=[1.0, 2.0, 3.0, 4.0]))
    history = train(Cotaf(), link, problem, participation=BestChannels(2, 3), rounds=6, **OPTIONS)
    assert len(link.opened) == 6  # once per round
    for devices, quality, candidates in zip(
        history["device"], link.qualities, link.opened, strict=True
    ):
        strongest = candidates[np.argsort(quality)[-2:]]
        assert sorted(strongest) == devices.tolist()
    np.testing.assert_allclose(history["load"].max(axis=1), 1, atol=1e-5)
    for name in ARRAYS:
        assert history[name].shape == (6, 2), name


def test_everyone_is_opened_without_indices(problem):
    """As before there was participation, so that links of that time still serve."""
    link = Logged(IdealLink())
    train(Cotaf(), link, problem, rounds=1, **OPTIONS)
    assert link.opened == [None]
    train(Cotaf(), link, problem, rounds=1, participation=RandomClients(2), **OPTIONS)
    assert len(link.opened[1]) == 2


def test_candidates_that_are_not_chosen_take_no_airtime(problem):
    """On the orthogonal link two of four take turns."""
    chosen = train(
        Cotaf(), OrthogonalLink(snr_db=np.inf), problem, rounds=1,
        participation=BestChannels(2, 4), **OPTIONS,
    )  # fmt: skip
    everyone = train(Cotaf(), OrthogonalLink(snr_db=np.inf), problem, rounds=1, **OPTIONS)
    assert everyone["airtime"][0] > 0
    np.testing.assert_allclose(chosen["airtime"], everyone["airtime"] / 2)


@pytest.mark.parametrize(("seconds", "steps"), [(0.3, [1, 2, 3, 3]), (1.0, [1, 2, 5, 9])])
def test_a_deadline_only_shortens_what_a_client_can_do(seconds, steps, problem):
    """Devices take 0.1 s for a step: time for 3, or for 10, of which none takes more than 9."""
    history = train(
        Cotaf(), IdealLink(), problem, rounds=1, steps=[1, 2, 5, 9], sgd=Sgd(0.5, 10),
        deadline=Deadline(seconds, 0.1, spread=0.0, late="send"),
    )  # fmt: skip
    assert history["steps"].tolist() == [steps]
    assert not history["late"].any()


class Greedy(Participation):
    """Asks twice, which one round does not allow."""

    def size(self, population):
        return 1

    def select(self, context):
        context.quality(np.arange(2))
        context.quality(np.arange(2))


class Elsewhere(Participation):
    """Chooses a device that was not a candidate."""

    def size(self, population):
        return 1

    def select(self, context):
        context.quality(np.arange(2))
        return Selection(np.array([3]), np.ones(1))


def test_a_selection_measures_once_and_chooses_among_candidates(problem):
    with pytest.raises(ValueError, match="may measure channels only once per round"):
        train(Cotaf(), IdealLink(), problem, rounds=1, participation=Greedy())
    with pytest.raises(ValueError, match="among the candidates .*0, 1.*, got .3."):
        train(Cotaf(), IdealLink(), problem, rounds=1, participation=Elsewhere())


@pytest.mark.parametrize("link", LINKS)
def test_some_of_the_devices_over_every_link(link, problem):
    history = train(
        ALGORITHMS["acpc, previous"], LINKS[link], problem, rounds=3,
        participation=RandomClients(2), **OPTIONS,
    )  # fmt: skip
    check_partial(history, 2)


@pytest.mark.parametrize("link", [each for each in LINKS if each != "ofdm, sionna"])
def test_the_best_channels_over_every_link(link, problem):
    history = train(
        Cotaf(), LINKS[link], problem, rounds=3, participation=BestChannels(2, 3), **OPTIONS
    )
    check_partial(history, 2)


@pytest.mark.parametrize(
    "selection",
    [
        RandomClients(2),
        RandomClients(2, replacement=True, probability="size"),
        BestChannels(2, 4),
        ProportionalFair(2, 3),
    ],
)
@pytest.mark.parametrize("control", ["inversion", "mmse"])
def test_every_selection_over_ofdm(selection, control, problem):
    link = OfdmLink(entry_snr_db=10.0, control=control, path_gain=[1.0, 2.0, 3.0, 4.0])
    history = train(Cotaf(), link, problem, rounds=3, participation=selection, **OPTIONS)
    check_partial(history, 2)


def check_partial(history, most):
    assert history.diverged is None
    assert history.num_rounds == 3
    assert np.isfinite(history.model).all()
    clients = history["device"].shape[1]
    assert 1 <= clients <= most
    for name in ARRAYS:
        assert history[name].shape == (3, clients), name
    assert (history["load"][~np.isnan(history["load"])] <= 1 + 1e-5).all()
    assert history.weights.shape == (4,)
