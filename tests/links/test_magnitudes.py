"""Signals and gains from 1e-12 to 1e12: exact inside, refused beyond, never silently wrong."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from links import FadingLink, GaussianLink, IdealLink, OfdmLink, OrthogonalLink, WaveformLink
from phy import NoisyCsi, OfdmGrid, Tdl
from phy.impairments import (
    Adc,
    CarrierOffset,
    ClipAndFilter,
    ClockOffset,
    IqImbalance,
    PhaseNoise,
    Rapp,
    SoftLimiter,
    TimingOffset,
)

HARDWARE = {
    "transmit": (
        ClipAndFilter(backoff_db=6),
        IqImbalance(gain_std_db=0.3),
        PhaseNoise(300),
        CarrierOffset(std=0.01),
        ClockOffset(std_ppm=20),
        TimingOffset(std=1.5),
        SoftLimiter(backoff_db=9),
        Rapp(backoff_db=7),
    ),
    "receive": (IqImbalance(gain_db=0.2), Adc(bits=8)),
    "window_advance": 4,
}
POWER = 1e4  # so that the largest signals have a gain of 1e-12 or more
LINKS = {
    "ideal": IdealLink(),
    "gaussian": GaussianLink(power=POWER),
    "fading": FadingLink(power=POWER, truncation=0.1),
    "orthogonal": OrthogonalLink(power=POWER),
    "ofdm": OfdmLink(power=POWER),
    "ofdm, mmse": OfdmLink(power=POWER, control="mmse"),
    "ofdm, mmse, reported": OfdmLink(power=POWER, control="mmse", variances="reported"),
    "ofdm, noisy": OfdmLink(power=POWER, csi=NoisyCsi(0.1), correction="active"),
    "ofdm, moving": OfdmLink(power=POWER, fading=Tdl("A", speed=10.0)),
    "ofdm, sionna": OfdmLink(power=POWER, engine="sionna"),
    "waveform": WaveformLink(power=POWER),
    "waveform, mmse": WaveformLink(power=POWER, control="mmse"),
    "waveform, moving": WaveformLink(power=POWER, fading=Tdl("A", speed=10.0)),
    "waveform, pilots": WaveformLink(power=POWER, grid=OfdmGrid(pilots=8)),
    "waveform, hardware": WaveformLink(power=POWER, **HARDWARE),
    "waveform, all": WaveformLink(
        power=POWER, grid=OfdmGrid(pilots=8), csi_through_faults=True, **HARDWARE
    ),
    "waveform, sionna": WaveformLink(power=POWER, engine="sionna"),
}
EXACT = [name for name in LINKS if name not in {"ideal", "orthogonal"}]
# MMSE control sends in proportion to the power, so that its gain does not depend on it
LIMITED = [name for name in EXACT if "mmse" not in name]


def vectors(size=1.0, length=100):
    """Of the same shape at any size, whose largest entry it is."""
    values = np.random.default_rng(5).standard_normal((3, length))
    return values / np.abs(values).max() * size


def a_round(link, signals):
    """The largest gain, and what is received at it, or with a gain of one if no budget binds."""
    uplink = link.open(3, signals.shape[1], np.random.default_rng(7))
    gain = uplink.max_gain(signals)
    return gain, uplink.send(signals, 1.0 if np.isinf(gain) else gain)


@pytest.mark.parametrize("name", LINKS)
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_results_scale_with_the_signals(name, dtype):
    """The same relative result, gain, energy and reports at any size within the range."""
    gain, reference = a_round(LINKS[name], vectors())
    compared = 0
    for size in (1e-11, 1e-10, 1e-7, 1e7, 1e10, 1e11):
        scaled, received = a_round(LINKS[name], vectors(size).astype(dtype))
        if np.isfinite(gain):
            if gain / size > 1e12:
                continue  # the next test
            assert scaled * size == pytest.approx(gain, rel=1e-5)
        peak = np.abs(reference.total).max()
        np.testing.assert_allclose(received.total / size, reference.total, atol=2e-5 * peak)
        np.testing.assert_allclose(received.energy, reference.energy, rtol=1e-4, atol=1e-9)
        for key, value in reference.diagnostics.items():
            np.testing.assert_allclose(
                received.diagnostics[key], value, rtol=2e-3, atol=1e-6, err_msg=f"{key} at {size:g}"
            )
        compared += 1
    assert compared >= 5


@pytest.mark.parametrize("name", LIMITED)
def test_the_largest_gain_there_is_leaves_a_part_of_the_budget(name):
    """1e12, with which small signals on generous budgets are sent within them."""
    link = replace(LINKS[name], power=1e12, reference_power=1e10)
    gain, received = a_round(link, vectors(1e-11))
    assert gain == 1e12
    assert received.energy.max() < 1e12
    assert np.isfinite(received.total).all()


@pytest.mark.parametrize("name", LINKS)
def test_signals_beyond_the_range(name, rng):
    link = LINKS[name]
    if hasattr(link, "truncation"):  # an entry that is not sent at all may be of any size
        link = replace(link, truncation=0.0)
    uplink = link.open(2, 5, rng)
    state = rng.bit_generator.state
    for size in (1.1e12, 1e19, 1e25, 1e60, 1e300):
        large = np.ones((2, 5))
        large[1, 3] = size
        for call in (uplink.energy, uplink.load, uplink.max_gain, lambda s: uplink.send(s, 1e-12)):
            message = r"^signals must be at most 1e\+12 in magnitude, .*, got "
            with pytest.raises(ValueError, match=message):
                call(large)
    for bad in (np.nan, np.inf, -np.inf):
        wrong = np.ones((2, 5))
        wrong[1, 3] = bad
        with pytest.raises(ValueError, match=rf"^signals\[1, 3\] must be finite, got {bad}"):
            uplink.send(wrong, 1e-9)
    assert rng.bit_generator.state == state


@pytest.mark.parametrize("name", LIMITED)
@pytest.mark.parametrize("size", [1e-30, 1e-70, 0.0])
def test_signals_that_vanish_count_as_zero(name, size, rng):
    uplink = LINKS[name].open(2, 5, rng)
    vanishing = np.full((2, 5), size)
    assert uplink.max_gain(vanishing) == np.inf
    assert not uplink.load(vanishing).any()
    received = uplink.send(vanishing, np.inf)
    if name not in {"waveform, pilots", "waveform, all"}:  # whose pilots leak into the data
        assert not received.total.any()
    assert not received.energy.any()


@pytest.mark.parametrize("name", EXACT)
def test_small_entries_beside_a_large_one_are_kept(name, rng):
    """Only signals that are small throughout count as zero."""
    signals = np.full((2, 5), 1e-20)
    signals[0, 0] = 1.0
    link = LINKS[name] if name == "gaussian" else replace(LINKS[name], truncation=0.0)
    uplink = link.open(2, 5, rng)
    energy = uplink.energy(signals).sum(axis=1)
    assert energy[0] > 0
    received = uplink.send(signals, 1e-6)
    np.testing.assert_allclose(received.energy.sum(axis=1)[0], energy[0] * 1e-12, rtol=1e-5)


@pytest.mark.parametrize("name", LIMITED)
def test_a_gain_that_would_be_too_small_is_refused_by_max_gain(name, rng):
    """Rather than returned to a send that does not take it."""
    options = {} if name == "gaussian" else {"truncation": 0.0}
    uplink = replace(LINKS[name], power=1e-12, **options).open(2, 50, rng)
    message = (
        "^signals must be within the budgets at a gain of 1e-12 or more, got a largest gain of "
    )
    with pytest.raises(ValueError, match=message):
        uplink.max_gain(np.full((2, 50), 1e11))
    assert uplink.load(np.full((2, 50), 1e11)).max() > 1e30  # which is still known


def checked(link, size, power, path_gain):
    """Whether a round with these extremes was accepted; if so, it must be right."""
    link = replace(link, power=power, path_gain=path_gain, snr_db=np.inf)
    signals = vectors(size, length=60)
    uplink = link.open(3, 60, np.random.default_rng(7))
    try:
        gain = uplink.max_gain(signals)
    except ValueError as error:
        why = str(error)
        if "within the budgets at a gain of 1e-12" not in why and "float32" not in why:
            raise
        return False
    assert np.isfinite(gain)  # something is sent, so a budget binds
    received = uplink.send(signals, gain)
    truth = signals.sum(axis=0)
    assert np.abs(received.total - truth).max() < 1e-4 * np.abs(truth).max()
    assert received.diagnostics["nmse"] < 1e-8
    load = received.energy.max() / power
    assert load <= 1 + 1e-5
    assert load > 1 - 1e-4 or gain == 1e12
    radiated = received.diagnostics["radiated_energy"]
    np.testing.assert_allclose(radiated, received.energy.sum(axis=1) * 1.125, rtol=0.5)
    return True


@pytest.mark.parametrize("link", [OfdmLink, WaveformLink])
@pytest.mark.parametrize("control", ["inversion", "mmse", "mmse, reported"])
@pytest.mark.parametrize("path_gain", [1e-12, 1.0, 1e6])
def test_extremes_of_everything_together_are_right_or_refused(link, control, path_gain):
    if control == "mmse, reported":
        chosen = link(control="mmse", variances="reported", truncation=0.0)
    else:
        chosen = link(control=control, truncation=0.0)
    accepted = [
        checked(chosen, size, power, path_gain)
        for size in (1e-12, 1e-11, 1e-7, 1.0, 1e7, 1e11, 1e12)
        for power in (1e-12, 1e-7, 1.0, 1e7, 1e12)
    ]
    assert sum(accepted) >= 20
    assert len(accepted) == 35


@pytest.mark.parametrize("name", EXACT)
def test_the_smallest_gain_and_the_smallest_signals(name, rng):
    """A round of noise alone, but one with finite numbers."""
    for size in (1e-12, 1.0):
        received = LINKS[name].open(3, 100, rng).send(vectors(size), 1e-12)
        assert np.isfinite(received.total).all()
        assert received.diagnostics["nmse"] > 1e20


@pytest.mark.parametrize("link", [OfdmLink, WaveformLink])
def test_energy_that_float32_cannot_tell_from_zero_is_refused(link, rng):
    """Or budgets would be lost: 500 elements of 1e-12 / 500 times 1e-24 each."""
    uplink = link(control="mmse", power=1e-12, snr_db=np.inf).open(2, 1000, rng)
    with pytest.raises(ValueError, match="^signals must be larger: .* less energy than float32"):
        uplink.max_gain(np.full((2, 1000), 1e-12))
    assert np.isfinite(uplink.max_gain(np.full((2, 1000), 1e-9)))
