"""The radio against closed forms that it was not built from, through whole links."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from links import FadingLink, GaussianLink, OfdmLink, realise, theory
from phy import OfdmGrid, PilotCsi, Rayleigh, Tdl
from phy.power import mmse_scale
from tests.links.fixed import FixedFading, generators, sent_each
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


VARIANCES = np.array([1.0, 0.5, 0.2, 0.05, 0.01])


def quadrature(rng, count, variances):
    """Symbols whose variances are exactly those: every entry is +-sqrt(v / 2)."""
    signs = rng.choice(np.array([-1, 1], np.float32), size=(count, len(variances), 2))
    return signs * np.sqrt(variances / 2)[:, None].astype(np.float32)


@pytest.mark.parametrize("flat", [False, True])
def test_oracle_21_optimal_control_of_unequal_variances(flat, rng):
    """Measured error of the sum is that of the formula, draw by draw, and below oracle 4's."""
    count, powers = 1500, np.array([0.5, 1.0, 2.0, 4.0, 8.0])
    options = {} if flat else {"grid": ONE}
    link = (FadingLink if flat else OfdmLink)(
        fading=Rayleigh(), snr_db=0.0, power=powers, control="mmse", **options
    )
    signals = quadrature(rng, count, VARIANCES)
    seeds = rng.integers(2**32, size=count)
    truth, results = signals.sum(axis=1), {}
    for variances in ("equal", "reported"):
        received, strength = realise(
            replace(link, variances=variances),
            5,
            2,
            [np.random.default_rng(seed) for seed in seeds],
            lambda uplink, n: (
                uplink.send(signals[n], 1.0).total,
                np.abs(uplink.medium.channel.response[:, 0, 0]),
            ),
        )
        results[variances] = np.square(received - truth).sum(axis=1)
    reach = np.sqrt(powers)[:, None] * strength.T
    expected = theory.mmse_control_mse(reach / np.sqrt(VARIANCES)[:, None], 2.0, VARIANCES)
    check_mean(results["reported"] - expected, 0.0)
    # the rule of equal variances, with the variances that there are
    scale = np.sqrt(mmse_scale(reach, 2.0))
    missing = np.square(np.minimum(reach / scale, 1) - 1)
    taken_for_equal = VARIANCES @ missing + 2.0 / scale**2
    check_mean(results["equal"] - taken_for_equal, 0.0)
    assert (expected <= taken_for_equal * (1 + 1e-9)).all()
    assert expected.mean() < 0.9 * taken_for_equal.mean()


@pytest.mark.parametrize("flat", [False, True])
def test_oracle_21_in_numbers(flat, rng):
    """N0 = 1/2, |h| = 1, P = 1, variances 1 and 1/4: the error is 1/3.

    Taken for equal, both arrive with factor 0.8 and scale 1.25: 1.25 * 0.2^2 + 0.5 / 1.25^2.
    """
    count, options = 2000, {} if flat else {"grid": ONE}
    link = (FadingLink if flat else OfdmLink)(
        fading=FixedFading([[1.0], [1j]]), snr_db=10 * np.log10(4), control="mmse", **options
    )
    signals = quadrature(rng, count, np.array([1.0, 0.25]))
    for variances, error in (("reported", 1 / 3), ("equal", 0.37)):
        sent = sent_each(replace(link, variances=variances), signals, 1.0, rng)
        check_mean(np.square(sent.total - signals.sum(axis=1)).sum(axis=1), error)
        np.testing.assert_allclose(sent.energy[:, 0, 0], 1.0, rtol=1e-5)
        second = 0.25 if variances == "equal" else 2.25 / 4
        np.testing.assert_allclose(sent.energy[:, 1, 0], second, rtol=1e-5)


def votes_of(number_for, number_against, length):
    """The winning sign alternates between entries."""
    winner = np.where(np.arange(length) % 3 == 0, -1.0, 1.0).astype(np.float32)
    return np.repeat(np.array([[1], [-1]]), [number_for, number_against], axis=0) * winner


@pytest.mark.parametrize(
    "link",
    [
        GaussianLink(snr_db=0.0),
        FadingLink(snr_db=0.0, fading=Rayleigh()),
        OfdmLink(snr_db=0.0, truncation=0.0),
    ],
    ids=lambda link: type(link).__name__,
)
@pytest.mark.parametrize(
    ("votes", "wrong"),
    [((1, 0), 0.30853754), ((3, 2), 0.30853754), ((4, 1), 0.06680720), ((5, 0), 0.00620967)],
)
def test_oracle_16_votes_by_sign(link, votes, wrong, rng):
    """Q(|S| sqrt(2 rho / N0)) with rho = 1/4 per real entry and N0 = 2: Q(|S| / 2)."""
    signals = votes_of(*votes, 40_000)
    received = link.open(len(signals), 40_000, rng).send(signals, 0.5, enforce=False).total
    check_proportion(np.sign(received) != np.sign(signals.sum(axis=0)), wrong)


@pytest.mark.parametrize("flat", [False, True])
@pytest.mark.parametrize(
    ("votes", "truncation", "gain", "wrong"),
    [
        ((3, 1), 0.5, 1.0, 0.19495923),
        ((3, 1), 0.5, 2.0, 0.14204632),
        ((2, 0), 0.2, 1.0, 0.07877142),
        ((5, 0), 0.5, 0.5, 0.09234222),
    ],
)
def test_oracle_16_with_truncation(flat, votes, truncation, gain, wrong, rng):
    """Those who are active on either side are binomial; the numbers are sums over all subsets."""
    options = {"fading": Rayleigh(), "truncation": truncation, "snr_db": 0.0}
    link = FadingLink(**options) if flat else OfdmLink(grid=ONE, **options)
    signals = np.broadcast_to(votes_of(*votes, 2), (3000, sum(votes), 2))
    received = sent_each(link, signals, gain, rng, enforce=False).total[:, 1]
    check_proportion(received < 0, wrong)
    known = theory.vote_error_probability(*votes, gain**2, float(np.exp(-truncation)))
    assert known == pytest.approx(wrong, abs=1e-7)


def test_oracle_16_a_tie_is_a_coin_toss(rng):
    uplink = GaussianLink(snr_db=0.0).open(4, 40_000, rng)
    received = uplink.send(votes_of(2, 2, 40_000), 5.0, enforce=False).total
    check_proportion(received > 0, 0.5)


@pytest.mark.parametrize("num_pilots", [1, 4])
def test_oracle_6_pilots_through_the_link(num_pilots, rng):
    """The estimate that an uplink works with has error N0 / (P_pilot n)."""
    link = OfdmLink(csi=PilotCsi(snr_db=7.0, num_pilots=num_pilots))
    uplink = link.open(20, 800, rng)
    error = uplink.medium.channel.estimate - uplink.medium.channel.response
    check_mean(np.square(np.abs(error)), 10**-0.7 / num_pilots)
