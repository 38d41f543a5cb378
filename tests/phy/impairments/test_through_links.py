"""Cross-cutting: impairments as a WaveformLink's user meets them."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
import pytest

from links import WaveformLink
from phy import NoFading, OfdmGrid, Tdl
from phy.impairments import (
    Adc,
    CarrierOffset,
    CarrierSync,
    ClipAndFilter,
    ClockOffset,
    Impairment,
    IqImbalance,
    Rapp,
    SoftLimiter,
    TimingAdvance,
    TimingOffset,
)
from tests.phy.impairments.context import GRID, check_message


@pytest.mark.parametrize(
    ("options", "names"),
    [
        ({"transmit": Rapp()}, ["transmit must be a sequence of impairments", "got Rapp"]),
        ({"transmit": ["rapp"]}, ["transmit[0] must be", "Rapp()", "got 'rapp'"]),
        ({"transmit": [Rapp]}, ["transmit[0] must be"]),
        ({"transmit": [CarrierOffset(20.0, unit="ppm")]}, ["2.33 spacings", "sync"]),
        ({"transmit": [TimingOffset(600)]}, ["reach 600", "at most 512", "neighbour"]),
        (
            {"transmit": [TimingOffset(std=70.0, advance=TimingAdvance())]},
            ["reach 280", "at most 256", "the range of advance"],
        ),
        (
            {"transmit": [CarrierOffset(0.1), CarrierOffset(0.2)]},
            ["the only CarrierOffset of transmit"],
        ),
        (
            {"fading": Tdl(model="A", speed=2000.0)},
            ["Doppler shift must be at most 4244 Hz", "got 2.335e+04 Hz"],
        ),
        ({"transmit": [Rapp(), ClipAndFilter()]}, ["ClipAndFilter", "first in transmit"]),
        ({"receive": [ClipAndFilter()]}, ["ClipAndFilter"]),
        ({"receive": [CarrierOffset([0.1, 0.2])]}, ["CarrierOffset.offset", "the server's"]),
        ({"receive": [CarrierOffset(0.1, sync=CarrierSync())]}, ["sync", "transmit"]),
        ({"receive": [TimingOffset(1, advance=TimingAdvance())]}, ["advance", "transmit"]),
        ({"window_advance": 65}, ["window_advance must be at most cp_length = 64, got 65"]),
        ({"window_advance": -1}, ["window_advance must be a whole number >= 0, got -1"]),
        (
            {
                "grid": OfdmGrid(fft_size=63, guards=(0, 0), dc_null=False, cp_length=8),
                "transmit": [CarrierOffset(sync=CarrierSync())],
            },
            ["fft_size = 63", "divisible by 8"],
        ),
    ],
)
def test_links_refuse_what_does_not_fit_them(options, names):
    check_message(lambda: WaveformLink(**options), names)


def test_csi_through_hardware_is_asked_for_by_true_or_false():
    # by position in the class: its name may change
    name = next(
        each for each in WaveformLink.__dataclass_fields__ if each.startswith("csi_through")
    )
    check_message(lambda: WaveformLink(**{name: 1}), [f"{name} must be True or False, got 1"])


def test_a_list_of_offsets_must_reach_all_clients(rng):
    link = WaveformLink(grid=GRID, fading=NoFading(), transmit=(CarrierOffset([0.1, 0.2]),))
    check_message(
        lambda: link.open(3, 10, rng), ["one value per client: client 2 takes part, got 2 values"]
    )


@dataclass(frozen=True)
class Mine(Impairment):
    """An impairment as a user may write one: NumPy makes complex128 of it."""

    cut: int = 0

    def apply(self, samples, slot):
        return (samples * np.exp(0.1j))[:, self.cut :]


def test_an_impairment_of_ones_own(rng):
    signals = rng.standard_normal((2, 500)).astype(np.float32)
    link = WaveformLink(grid=GRID, fading=NoFading(), snr_db=np.inf, interleaver_seed=None)
    alone = replace(link, receive=(Mine(),)).open(2, 500, rng).send(signals, 1e-3).total
    expected = (signals.sum(axis=0).view(np.complex64) * np.exp(0.1j)).astype(np.complex64)
    np.testing.assert_allclose(alone, expected.view(np.float32), atol=1e-4)
    before = replace(link, receive=(Mine(), Adc(20))).open(2, 500, rng).send(signals, 1e-3).total
    np.testing.assert_allclose(before, alone, atol=1e-3)
    with pytest.raises(ValueError, match=r"Mine.apply must return as many samples.*got \(2, "):
        replace(link, transmit=(Mine(cut=1),)).open(2, 500, rng).send(signals, 1e-3)


@pytest.mark.parametrize("impairment", [SoftLimiter(), Rapp(), Adc(), IqImbalance(1.0)], ids=str)
def test_a_server_that_hears_nothing(impairment, rng):
    link = WaveformLink(grid=GRID, truncation=1e6, snr_db=np.inf, receive=(impairment,))
    received = link.open(2, 50, rng).send(np.ones((2, 50)), 1.0)
    np.testing.assert_array_equal(received.total, 0)


def test_identical_offsets_at_both_ends_are_told_apart_by_their_sign(rng):
    """At the server an offset is that which signals seem to have, from the slot's beginning on."""
    signals = rng.standard_normal((2, 500)).astype(np.float32)
    for one, other in (
        (CarrierOffset(0.03), CarrierOffset(-0.03)),
        (ClockOffset(100.0), ClockOffset(-100.0)),
    ):
        link = WaveformLink(
            grid=GRID,
            fading=NoFading(),
            snr_db=np.inf,
            window_advance=8,
            transmit=(one,),
            receive=(other,),
        )
        assert link.open(2, 500, rng).send(signals, 1e-3).diagnostics["nmse"] < 1e-5
