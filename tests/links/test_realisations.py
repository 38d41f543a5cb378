"""Many realisations of one link: stacked, and each the same alone or beside others."""

from __future__ import annotations

import numpy as np
import pytest

from fl.api import Reception
from links import GaussianLink, IdealLink, OfdmLink, OrthogonalLink, WaveformLink, realise
from links.realisations import stack
from phy import Rayleigh
from tests.links.fixed import generators


def test_what_is_measured_is_stacked(rng):
    signals = np.ones((2, 30), np.float32)

    def measure(uplink, number):
        return number, uplink.max_gain(signals), uplink.budget, uplink.send(signals, 1e-3)

    numbers, gains, budgets, received = realise(OfdmLink(), 2, 30, generators(rng, 5), measure)
    np.testing.assert_array_equal(numbers, np.arange(5))
    assert (gains.shape, budgets.shape) == ((5,), (5, 2, 1))
    assert isinstance(received, Reception)
    assert received.total.shape == (5, 30)
    assert received.energy.shape == (5, 2, 1)
    assert received.diagnostics["nmse"].shape == (5,)
    assert received.diagnostics["active_fraction"].shape == (5, 2)


@pytest.mark.parametrize(
    "link",
    [
        GaussianLink(),
        OfdmLink(),
        OfdmLink(fading=Rayleigh(speed=3.0)),
        WaveformLink(),
        OrthogonalLink(),
    ],
    ids=str,
)
def test_a_realisation_draws_the_same_alone_or_beside_others(link):
    signals = np.random.default_rng(0).standard_normal((2, 50)).astype(np.float32)

    def totals(seeds):
        return realise(
            link,
            2,
            50,
            [np.random.default_rng(seed) for seed in seeds],
            lambda uplink, n: uplink.send(signals, 1e-3).total,
            device_rngs=[np.random.default_rng(seed + 100) for seed in seeds],
        )

    together = totals([1, 2, 3])
    np.testing.assert_array_equal(totals([2])[0], together[1])
    np.testing.assert_array_equal(totals([3, 1]), together[[2, 0]])
    assert (together[0] != together[1]).any()


def test_devices_may_be_given(rng):
    link = OfdmLink(fading=Rayleigh(speed=3.0))
    device = np.random.default_rng(5)

    def response(uplink, n):
        return uplink.medium.channel.response

    same = realise(link, 2, 9, generators(rng, 2), response, device_rngs=[device, device])
    np.testing.assert_array_equal(same[0], same[1])  # they are not advanced
    new = realise(link, 2, 9, generators(rng, 2), response)
    assert (new[0] != new[1]).all()


def test_every_realisation_needs_a_generator_of_its_own(rng):
    def nothing(uplink, n):
        return n

    message = "^rngs must be a list of different generators, one per realisation, got "
    for rngs in ([], [rng, rng]):
        with pytest.raises(ValueError, match=message):
            realise(IdealLink(), 2, 9, rngs, nothing)
    message = "^device_rngs must be one generator for each of the 2 realisations, got "
    with pytest.raises(ValueError, match=message):
        realise(IdealLink(), 2, 9, generators(rng, 2), nothing, device_rngs=[rng])


def test_stack_takes_numbers_arrays_tuples_and_receptions():
    np.testing.assert_array_equal(stack([1.5, 2.5]), [1.5, 2.5])
    one, other = stack([(1, np.zeros(3)), (2, np.ones(3))])
    np.testing.assert_array_equal(one, [1, 2])
    np.testing.assert_array_equal(other, [[0, 0, 0], [1, 1, 1]])
    each = Reception(np.zeros(2), np.ones((1, 1)), {"nmse": np.float64(3)})
    both = stack([each, each])
    assert (both.total.shape, both.energy.shape) == ((2, 2), (2, 1, 1))
    np.testing.assert_array_equal(both.diagnostics["nmse"], [3, 3])
