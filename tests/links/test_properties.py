"""For any vectors, fading, CSI, truncation and powers (hypothesis)."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from links import (
    FadingLink,
    GaussianLink,
    IdealLink,
    OfdmLink,
    OrthogonalLink,
    WaveformLink,
    realise,
)
from phy import AgedCsi, NoFading, NoisyCsi, OfdmGrid, PerfectCsi, PilotCsi, Rayleigh, Rician, Tdl
from phy.impairments import (
    Adc,
    CarrierOffset,
    ClockOffset,
    IqImbalance,
    PhaseNoise,
    Rapp,
    SoftLimiter,
    TimingOffset,
)

SMALL = OfdmGrid(fft_size=16, cp_length=16, guards=(1, 1), dc_null=True, symbols_per_slot=2)
CLIENTS = 3

seeds = st.integers(0, 2**32 - 1)
fadings = st.sampled_from(
    [
        NoFading(),
        Rayleigh(),
        Rayleigh(speed=30.0),
        Rician(k_factor=2.0),
        Tdl("A"),
        Tdl("D", speed=30.0),
    ]
)
csis = st.sampled_from(
    [
        PerfectCsi(),
        NoisyCsi(0.1),
        NoisyCsi(10.0),
        PilotCsi(snr_db=0.0),
        PilotCsi(snr_db=10.0, num_taps=1),
        AgedCsi(1e-3),
    ]
)
positive = st.floats(1e-6, 1e6)
common = {
    "snr_db": st.floats(-40, 60),
    "power": positive | st.lists(positive, min_size=CLIENTS, max_size=CLIENTS),
    "path_gain": positive | st.lists(positive, min_size=CLIENTS, max_size=CLIENTS),
}
faded = {
    "fading": fadings,
    "csi": csis,
    "truncation": st.sampled_from([0.0, 1e-3, 0.1, 1.0, 100.0]),
    "correction": st.sampled_from(["none", "active", "expected"]),
    "control": st.sampled_from(["inversion", "mmse"]),
    "variances": st.sampled_from(["equal", "reported"]),
}
impairments = st.lists(
    st.sampled_from(
        [
            CarrierOffset(std=0.1),
            TimingOffset(std=2.0),
            PhaseNoise(1000.0),
            IqImbalance(gain_std_db=2.0),
            ClockOffset(std_ppm=100.0),
            Rapp(backoff_db=0.0),
            SoftLimiter(backoff_db=-10.0),
            Adc(bits=3),
        ]
    ),
    max_size=3,
    unique_by=type,
)
links = st.one_of(
    st.builds(
        WaveformLink,
        grid=st.sampled_from([SMALL, replace(SMALL, pilots=3, cp_length=3)]),
        budget=st.sampled_from(["symbol", "round"]),
        transmit=impairments,
        receive=impairments,
        window_advance=st.sampled_from([0, 2]),
        csi_through_faults=st.booleans(),
        **common,
        **faded,
    ),
    st.builds(GaussianLink, **common),
    st.builds(FadingLink, **common, **faded),
    st.builds(
        OfdmLink,
        grid=st.just(SMALL),
        budget=st.sampled_from(["symbol", "round"]),
        interleaver_seed=st.none() | st.integers(0, 3),
        **common,
        **faded,
    ),
)


@st.composite
def vectors(draw):
    """Anything from noise to a single entry, over many orders of magnitude."""
    length = draw(st.integers(1, 200))
    seed = draw(st.integers(0, 2**32 - 1))
    size = draw(st.sampled_from([1e-20, 1e-11, 1e-5, 1.0, 1e5, 1e8]))
    values = np.random.default_rng(seed).standard_normal((CLIENTS, length)) * size
    shape = draw(st.sampled_from(["dense", "sparse", "one silent", "burst"]))
    if shape == "sparse":
        values *= np.random.default_rng(seed + 1).random(values.shape) < 0.1
    elif shape == "one silent":
        values[draw(st.integers(0, CLIENTS - 1))] = 0
    elif shape == "burst":
        values[:, : length // 2] *= 1e-4
    return values.astype(np.float32)


def largest_gain(uplink, signals):
    """The largest gain; None where it would be too small, which must be true then."""
    try:
        return uplink.max_gain(signals)
    except ValueError as error:
        if "within the budgets at a gain of 1e-12 or more" not in str(error):
            raise
    assert uplink.load(signals).max() > 0.999e24
    return None


def test_no_budget_is_ever_exceeded_and_the_largest_gain_is_tight():
    accepted = 0

    @settings(max_examples=150)
    @given(link=links, signals=vectors(), seed=seeds)
    def check(link, signals, seed):
        nonlocal accepted
        uplink = link.open(CLIENTS, signals.shape[1], np.random.default_rng(seed))
        gain = largest_gain(uplink, signals)
        if gain is None:
            return
        received = uplink.send(signals, gain)  # always accepted
        assert np.isfinite(received.total).all()
        if np.isinf(gain):
            assert not uplink.energy(signals).any()
            return
        spent = received.energy
        if uplink.budget.shape[-1] == 1:
            spent = spent.sum(axis=-1, keepdims=True)
        used = spent / uplink.budget
        assert used.max() <= 1 + 1e-5
        powers = np.broadcast_to(np.asarray(link.power), (CLIENTS,))
        assert (received.energy.sum(axis=-1) <= powers * (1 + 1e-5)).all()
        if gain == 1e12:  # the largest there is
            return
        assert used.max() >= 1 - 1e-4
        with pytest.raises(ValueError, match="must keep its budget"):
            uplink.send(signals, gain * 1.0001)
        np.testing.assert_allclose(uplink.load(signals).max(), 1 / gain**2, rtol=1e-4)
        accepted += 1

    check()
    assert accepted >= 20


def test_a_client_that_scales_down_by_its_load_fits():
    accepted = 0

    @settings(max_examples=150)
    @given(link=links, signals=vectors(), seed=seeds)
    def check(link, signals, seed):
        nonlocal accepted
        uplink = link.open(CLIENTS, signals.shape[1], np.random.default_rng(seed))
        uplink = uplink.prepared(signals)  # reports come before anyone scales down
        gain = largest_gain(uplink, signals)
        if gain is None or 10 * gain > 1e12:
            return
        gain = 10 * gain
        with np.errstate(divide="ignore"):
            down = np.minimum(1, (1 - 1e-6) / (gain * np.sqrt(uplink.load(signals))))
        reduced = signals.astype(np.float64) * down[:, None]
        assert uplink.load(reduced).max() * gain**2 <= 1 + 1e-5
        uplink.send(reduced, gain)  # is accepted
        accepted += 1

    check()
    assert accepted >= 20


every_link = links | st.just(IdealLink()) | st.builds(OrthogonalLink, grid=st.just(SMALL), **common)


@given(link=every_link, signals=vectors(), seed=seeds)
def test_a_realisation_draws_the_same_alone_and_beside_others(link, signals, seed):
    def rngs(key):
        return [np.random.default_rng([seed, key, number]) for number in range(3)]

    length = signals.shape[1]
    batch = np.stack([signals, signals / 2, signals[::-1]])

    def measure(uplink, number):
        gain = min(largest_gain(uplink, batch[number]) or 1e-12, 1e12)
        return uplink.energy(batch[number]), gain, uplink.send(batch[number], gain, enforce=False)

    energy, gains, received = realise(link, CLIENTS, length, rngs(0), measure, device_rngs=rngs(1))
    for number in range(3):
        alone = link.open(CLIENTS, length, rngs(0)[number], device_rng=rngs(1)[number])
        np.testing.assert_array_equal(alone.energy(batch[number]), energy[number])
        single = alone.send(batch[number], gains[number], enforce=False)
        np.testing.assert_array_equal(received.total[number], single.total)
        assert received.diagnostics.keys() == single.diagnostics.keys()
        for name, value in single.diagnostics.items():
            np.testing.assert_array_equal(received.diagnostics[name][number], value, err_msg=name)
        np.testing.assert_array_equal(received.energy[number], single.energy)


@given(
    link=every_link,
    signals=vectors(),
    seed=seeds,
    bad=st.sampled_from([np.nan, np.inf, -np.inf]),
    data=st.data(),
)
def test_what_is_not_finite_is_refused_wherever_it_stands(link, signals, seed, bad, data):
    client = data.draw(st.integers(0, CLIENTS - 1))
    entry = data.draw(st.integers(0, signals.shape[1] - 1))
    uplink = link.open(CLIENTS, signals.shape[1], np.random.default_rng(seed))
    signals = signals.copy()
    signals[client, entry] = bad
    for call in (uplink.energy, uplink.load, uplink.max_gain, lambda s: uplink.send(s, 1e-12)):
        with pytest.raises(
            ValueError, match=rf"^signals\[{client}, {entry}\] must be finite, got -?(nan|inf)"
        ):
            call(signals)
