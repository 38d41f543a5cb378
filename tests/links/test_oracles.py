"""The radio against closed forms that it was not built from, through whole links."""

from __future__ import annotations

import numpy as np
import pytest

from links import FadingLink, OfdmLink, realise, theory
from phy import OfdmGrid, PilotCsi, Rayleigh, Tdl
from tests.links.fixed import generators, sent_each
from tests.tolerance import check_mean, check_proportion

ONE = OfdmGrid(fft_size=1, cp_length=0, guards=(0, 0), dc_null=False)  # one element per symbol


@pytest.mark.parametrize("truncation", [0.02, 0.1, 0.5])
@pytest.mark.parametrize("fading", [Rayleigh(), Tdl("A")], ids=str)
def test_oracle_1_truncated_inversion(truncation, fading, rng):
    """P(active) = exp(-g), E[1 / |h|^2 ; |h|^2 > g] = E1(g)."""
    link = OfdmLink(fading=fading, truncation=truncation)
    uplink = link.open(3000, 2, rng)
    signals = np.ones((3000, 2), np.float32)  # one element of energy 2 per client
    cost = uplink.energy(signals)[:, 0] / 2
    check_proportion(cost > 0, np.exp(-truncation))
    check_mean(cost, float(theory.inversion_cost(truncation)))
    report = uplink.send(signals, 1e-6).diagnostics
    check_mean(report["active_fraction"], np.exp(-truncation))


@pytest.mark.parametrize("unbiased", [False, True])
@pytest.mark.parametrize("clients", [1, 5])
@pytest.mark.parametrize("flat", [False, True])
def test_oracle_2_mean_of_truncated_clients(unbiased, clients, flat, rng):
    """(1-p)/K + N0/(rho K^2), or (1-p)/(pK) + N0/(rho K^2 p^2) with the mean made unbiased."""
    truncation, gain, count = 0.3, 0.7, 2500
    link = (FadingLink if flat else OfdmLink)(
        fading=Rayleigh(),
        truncation=truncation,
        snr_db=10.0,
        correction="expected" if unbiased else "none",
        **({} if flat else {"grid": ONE}),
    )
    noise = 2 * 0.1  # N0 = 2 sigma_c^2
    # complex unit variance: each real entry has variance 1/2; received power gain^2 per client
    signals = rng.normal(scale=np.sqrt(0.5), size=(count, clients, 2)).astype(np.float32)
    mean = sent_each(link, signals, gain, rng, enforce=False).total / clients
    squared = np.square(mean - signals.mean(axis=1)).sum(axis=1)
    expected = theory.truncated_mean_mse(clients, truncation, noise, gain**2, unbiased)
    check_mean(squared, expected)


def test_oracle_3_full_inversion_limited_by_the_weakest_client(rng):
    """P(MSE > x) = 1 - exp(-K N0 / (P x)); its median is K N0 / (P ln 2), its mean infinite."""
    clients, power = 4, 3.0
    link = OfdmLink(grid=ONE, fading=Rayleigh(), truncation=0.0, snr_db=10.0, power=power)
    unit = np.full((clients, 2), np.sqrt(0.5), np.float32)  # elements of unit energy

    def at_its_limit(uplink, n):
        gain = uplink.max_gain(unit)
        return gain, uplink.send(unit, gain).total

    gain, received = realise(link, clients, 2, generators(rng, 3000), at_its_limit)
    mse = 0.2 / gain**2  # N0 / gain^2
    median = theory.weakest_client_median(clients, 0.2, power)
    check_proportion(mse > median, 0.5)
    for factor in (0.3, 3.0, 20.0):
        tail = float(theory.weakest_client_tail(factor * median, clients, 0.2, power))
        check_proportion(mse > factor * median, tail)
    # the error of the sum is that noise: its distribution, given the gain
    scaled = np.square(received - unit.sum(axis=0)).sum(axis=1) / mse
    check_mean(scaled, 1.0)


@pytest.mark.parametrize("flat", [False, True])
def test_oracle_4_optimal_control(flat, rng):
    """Measured error of the sum of unit-variance symbols is that of Cao et al., draw by draw."""
    clients, count = 5, 3000
    powers = np.array([0.5, 1.0, 2.0, 4.0, 8.0])
    options = {} if flat else {"grid": ONE}
    link = (FadingLink if flat else OfdmLink)(
        fading=Rayleigh(), truncation=0.0, snr_db=0.0, power=powers, control="mmse", **options
    )
    signals = rng.normal(scale=np.sqrt(0.5), size=(count, clients, 2)).astype(np.float32)

    def measure(uplink, n):
        strength = np.abs(uplink.medium.channel.response[:, 0, 0])
        return uplink.send(signals[n], 1.0, enforce=False).total, strength

    received, strength = realise(link, clients, 2, generators(rng, count), measure)
    squared = np.square(received - signals.sum(axis=1)).sum(axis=1)
    expected = theory.mmse_control_mse(np.sqrt(powers)[:, None] * strength.T, noise=2.0)
    check_mean(squared - expected, 0.0)
    # and it is better than inversion at the same budgets
    inversion = FadingLink(fading=Rayleigh(), snr_db=0.0, power=powers)
    unit = np.full((clients, 2), np.sqrt(0.5), np.float32)
    gain = realise(
        inversion, clients, 2, generators(rng, 1000), lambda uplink, n: uplink.max_gain(unit)
    )
    assert np.median(expected) < np.median(2.0 / gain**2)


@pytest.mark.parametrize("num_pilots", [1, 4])
def test_oracle_6_pilots_through_the_link(num_pilots, rng):
    """The estimate that an uplink works with has error N0 / (P_pilot n)."""
    link = OfdmLink(csi=PilotCsi(snr_db=7.0, num_pilots=num_pilots))
    uplink = link.open(20, 800, rng)
    error = uplink.medium.channel.estimate - uplink.medium.channel.response
    check_mean(np.square(np.abs(error)), 10**-0.7 / num_pilots)
