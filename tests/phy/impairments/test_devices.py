"""What belongs to a device: drawn once, from a stream of its own."""

from __future__ import annotations

import numpy as np
import pytest

from phy.impairments import (
    CarrierOffset,
    ClockOffset,
    Devices,
    IqImbalance,
    SlotContext,
    TimingOffset,
)
from phy.impairments.devices import check_per_device
from phy.randomness import device_stream
from tests.phy.impairments.context import GRID, check_message
from tests.tolerance import check_mean

# of a standard normal truncated at four: 1 - 2 x 4 phi(4), normalisation apart
VARIANCE = 1 - 8 * np.exp(-8) / np.sqrt(2 * np.pi)


def test_a_device_draws_from_a_stream_of_its_own(rng):
    """Apart from other impairments, other devices, and the fading of the same device."""
    key = int(rng.integers(2**62))
    devices = Devices(key, range(2000))
    offsets, gains = devices.normals("offset"), devices.normals("gain")
    check_mean(offsets, 0.0)
    check_mean(offsets * gains, 0.0)
    check_mean(np.square(offsets), VARIANCE)
    assert np.abs(offsets).max() <= 4
    np.testing.assert_array_equal(Devices(key, [3]).normals("offset"), offsets[3:4])
    assert Devices(key + 1, [3]).normals("offset") != offsets[3]
    fading = [device_stream(key, client).random() for client in range(2000)]
    assert abs(np.corrcoef(fading, offsets)[0, 1]) < 5 / np.sqrt(2000)


def test_values_are_mean_and_draw_by_global_index():
    devices = Devices(5, [4, 1])
    assert len(devices) == 2
    np.testing.assert_array_equal(devices.values("x", 3.0, 0.0), [3, 3])
    np.testing.assert_array_equal(devices.values("x", (0.0, 10, 20, 30, 40), 0.0), [40, 10])
    drawn = devices.normals("x")
    np.testing.assert_allclose(devices.values("x", 3.0, 2.0, scale=10), 10 * (3 + 2 * drawn))
    np.testing.assert_array_equal(devices.normals("x"), drawn)
    assert (devices.normals("y") != drawn).all()


def test_a_list_must_reach_all_clients_and_is_not_for_the_server():
    check_per_device("CarrierOffset.offset", 0.1, "receive", 3)
    check_per_device("CarrierOffset.offset", (0.1, 0.2), "transmit", None)
    check_per_device("CarrierOffset.offset", (0.1, 0.2), "transmit", 2)
    check_message(
        lambda: check_per_device("CarrierOffset.offset", (0.1, 0.2), "transmit", 3),
        [
            "CarrierOffset.offset must be a scalar or one value per client: client 2 takes part, "
            "got 2 values"
        ],
    )
    check_message(
        lambda: check_per_device("CarrierOffset.offset", (0.1, 0.2), "receive", None),
        ["receive: CarrierOffset.offset must be a scalar, the server's own, got (0.1, 0.2)"],
    )


def _phase_per_turn(out, turns):
    return np.angle(out) / (2 * np.pi * turns)


@pytest.mark.parametrize(
    ("impairment", "found", "mean", "deviation"),
    [
        # what each does to a tone of a quarter of a turn per sample, at sample 40
        (CarrierOffset(0.2, 0.05), lambda y: _phase_per_turn(y, 40 / 64), 0.2, 0.05),
        (TimingOffset(-0.3, 0.1), lambda y: _phase_per_turn(y, -0.25), -0.3, 0.1),
        (ClockOffset(300.0, 100.0), lambda y: 1e6 * _phase_per_turn(y, 0.25 * 40), 300.0, 100.0),
        (
            IqImbalance(gain_db=0.5, gain_std_db=0.2),
            lambda y: 20 * np.log10(np.abs(2 * y - 1)),
            0.5,
            0.2,
        ),
        (
            IqImbalance(phase_deg=3.0, phase_std_deg=1.0),
            lambda y: np.rad2deg(np.angle(2 * y - 1)),
            3.0,
            1.0,
        ),
    ],
    ids=["carrier", "timing", "clock", "IQ gain", "IQ phase"],
)
def test_devices_spread_as_asked(impairment, found, mean, deviation, rng):
    """The mean and the standard deviation of what was drawn, from what it does to a tone."""
    devices, n = 3000, np.arange(80)
    tone = np.exp(0.5j * np.pi * n).astype(np.complex64)
    population = Devices(int(rng.integers(2**62)), range(devices))
    slot = SlotContext(GRID, 1, np.ones(devices), population, rng)
    out = impairment.apply(np.tile(tone, (devices, 1)), slot)
    if isinstance(impairment, IqImbalance):
        # the part at the tone's own frequency is (1 + g e^{j phi}) / 2
        values = found((out * tone.conj())[:, :64].mean(axis=1))
    else:
        values = found(out[:, 40] * tone[40].conj())
    check_mean(values, mean)
    check_mean(np.square(values - mean), deviation**2 * VARIANCE)
