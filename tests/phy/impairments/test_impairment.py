"""The protocol of impairments, the slot they see, and chains of them."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pytest

from phy import OfdmGrid
from phy.impairments import (
    Adc,
    CarrierOffset,
    CarrierSync,
    ClipAndFilter,
    ClockOffset,
    Impairment,
    IqImbalance,
    PhaseNoise,
    Rapp,
    SoftLimiter,
    TimingAdvance,
    TimingOffset,
)
from phy.impairments.impairment import checked_chain
from tests.phy.impairments.context import GRID, check_message, slot_of


@dataclass(frozen=True)
class Doubler(Impairment):
    """As little as a user has to write."""

    def apply(self, samples, slot):
        return 2 * samples


def test_a_users_impairment_needs_one_method():
    mine = Doubler()
    assert isinstance(mine, Impairment)
    assert (mine.device_draws, mine.digital) == ((), False)
    mine.check(GRID, "transmit", 3)
    elements = np.ones((1, 1, 52), np.complex64)
    assert mine.shape(GRID, elements, np.ones(1)) is elements
    # nothing is drawn for devices, so several may follow each other
    assert checked_chain("transmit", [mine, mine], GRID) == (mine, mine)


def test_every_impairment_is_one():
    every = [
        Adc(),
        CarrierOffset(),
        ClipAndFilter(),
        ClockOffset(),
        IqImbalance(),
        PhaseNoise(),
        Rapp(),
        SoftLimiter(),
        TimingOffset(),
    ]
    assert all(isinstance(each, Impairment) for each in every)
    draws = [draw for each in every for draw in each.device_draws]
    assert len(set(draws)) == len(draws) == 5
    order = [every[2], *every[:2], *every[3:]]  # clipping on purpose first
    assert checked_chain("transmit", order, GRID) == tuple(order)


@pytest.mark.parametrize(
    ("side", "chain", "names"),
    [
        ("transmit", Rapp(), ["transmit must be a sequence of impairments", "got Rapp("]),
        ("transmit", "rapp", ["transmit must be a sequence of impairments", "got 'rapp'"]),
        (
            "transmit",
            ["rapp"],
            [
                "transmit[0] must be an instance of a subclass",
                "Rapp()",
                "got 'rapp'",
            ],
        ),
        (
            "transmit",
            [Rapp],
            [
                "transmit[0] must be an instance of a subclass",
                "<class",
            ],
        ),
        (
            "receive",
            [Adc(), None],
            [
                "receive[1] must be an instance of a subclass",
                "got None",
            ],
        ),
        (
            "transmit",
            [CarrierOffset(20.0, unit="ppm")],
            ["CarrierOffset must be at most 0.5", "2.33 spacings", "sync"],
        ),
        ("transmit", [TimingOffset(600)], ["at most 512 samples", "reach 600", "neighbour"]),
        (
            "transmit",
            [TimingOffset(std=70.0, advance=TimingAdvance())],
            ["reach 280", "at most 256", "the range of advance"],
        ),
        (
            "transmit",
            [CarrierOffset(0.1), CarrierOffset(0.2)],
            ["transmit[1] must be the only CarrierOffset of transmit", "got CarrierOffset"],
        ),
        (
            "transmit",
            [Rapp(), ClipAndFilter()],
            ["transmit[1] must be anything but ClipAndFilter", "first in transmit"],
        ),
        ("receive", [ClipAndFilter()], ["ClipAndFilter must be first in transmit"]),
        (
            "receive",
            [CarrierOffset([0.1, 0.2])],
            ["receive: CarrierOffset.offset must be", "the server's"],
        ),
        ("receive", [CarrierOffset(0.1, sync=CarrierSync())], ["CarrierOffset.sync", "transmit"]),
        ("receive", [TimingOffset(1, advance=TimingAdvance())], ["advance", "transmit"]),
    ],
)
def test_chains_that_make_no_sense_are_refused(side, chain, names):
    check_message(lambda: checked_chain(side, chain, OfdmGrid()), names)


def test_a_grid_without_room_for_a_preamble_is_refused():
    grid = OfdmGrid(fft_size=63, guards=(0, 0), dc_null=False, cp_length=8)
    check_message(
        lambda: checked_chain("transmit", [CarrierOffset(sync=CarrierSync())], grid),
        ["fft_size = 63", "divisible by 8"],
    )


def test_a_slot_remembers_its_largest_clip_rate(rng):
    slot = slot_of(rng, devices=2)
    np.testing.assert_array_equal(slot.largest_clip_rate, [0, 0])
    amplitude = np.array([[0.5, 2.0, 3.0, 1.0], [5.0, 0.0, 0.0, 0.0]], np.float32)
    slot.report_clipping(amplitude, np.ones((2, 1), np.float32))  # 1.0 is not beyond 1.0
    slot.report_clipping(amplitude, np.full((2, 1), 2.5, np.float32))
    np.testing.assert_array_equal(slot.clip_rates, [[0.5, 0.25], [0.25, 0.25]])
    np.testing.assert_array_equal(slot.largest_clip_rate, [0.5, 0.25])
    slot.report_clipping(amplitude, np.zeros((2, 1), np.float32))
    np.testing.assert_array_equal(slot.largest_clip_rate, [1.0, 0.25])
    assert slot_of(rng).clip_rates == []  # a list of its own
