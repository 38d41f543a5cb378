"""The radio against closed forms that it was not built from, through whole links."""

from __future__ import annotations

import numpy as np
import pytest

from links import FadingLink, OfdmLink, theory
from phy import AgedCsi, NoFading, NoisyCsi, OfdmGrid, PilotCsi, Rayleigh, Rician, Tdl
from tests.tolerance import check_mean, check_proportion

ONE = OfdmGrid(fft_size=1, cp_length=0, guards=(0, 0), dc_null=False)  # one element a symbol


def seeds_of(rng, count):
    return [np.random.default_rng(seed) for seed in rng.integers(2**32, size=count)]


@pytest.mark.parametrize("truncation", [0.02, 0.1, 0.5])
@pytest.mark.parametrize("fading", [Rayleigh(), Tdl("A")], ids=str)
def test_oracle_1_truncated_inversion(truncation, fading, rng):
    """P(active) = exp(-g), E[1 / |h|^2 ; |h|^2 > g] = E1(g)."""
    link = OfdmLink(grid=OfdmGrid(), fading=fading, truncation=truncation)
    slots = link.open(1, 2, seeds_of(rng, 3000))
    signals = np.ones((3000, 1, 2), np.float32)  # one element of energy 2
    cost = slots.energy(signals)[:, 0, 0] / 2
    check_proportion(cost > 0, np.exp(-truncation))
    check_mean(cost, float(theory.inversion_cost(truncation)))
    report = slots.send(signals, 1e-6).diagnostics
    check_mean(report["active_fraction"][:, 0], np.exp(-truncation))


@pytest.mark.parametrize("unbiased", [False, True])
@pytest.mark.parametrize("clients", [1, 5])
@pytest.mark.parametrize("flat", [False, True])
def test_oracle_2_mean_of_truncated_clients(unbiased, clients, flat, rng):
    """(1-p)/K + N0/(rho K^2), or (1-p)/(pK) + N0/(rho K^2 p^2) with the mean made unbiased."""
    truncation, gain, trials = 0.3, 0.7, 4000
    link = (FadingLink if flat else OfdmLink)(
        fading=Rayleigh(),
        truncation=truncation,
        snr_db=10.0,
        correction="expected" if unbiased else "none",
    )
    noise = 2 * 0.1  # N0 = 2 sigma_c^2
    # complex unit variance: each real entry has variance 1/2; received power gain^2 a client
    signals = rng.normal(scale=np.sqrt(0.5), size=(trials, clients, 2)).astype(np.float32)
    slot = link.open(clients, 2, seeds_of(rng, trials))
    mean = slot.send(signals, gain, enforce=False).total / clients
    squared = np.square(mean - signals.mean(axis=1)).sum(axis=1)
    expected = theory.truncated_mean_mse(clients, truncation, noise, gain**2, unbiased)
    check_mean(squared, expected)


def test_oracle_3_full_inversion_limited_by_the_weakest_client(rng):
    """P(MSE > x) = 1 - exp(-K N0 / (P x)); its median is K N0 / (P ln 2), its mean infinite."""
    clients, trials, power = 4, 4000, 3.0
    link = OfdmLink(grid=ONE, fading=Rayleigh(), truncation=0.0, snr_db=10.0, power=power)
    slot = link.open(clients, 2, seeds_of(rng, trials))
    unit = np.full((trials, clients, 2), np.sqrt(0.5), np.float32)  # elements of unit energy
    gain = slot.max_gain(unit)
    mse = 0.2 / gain**2  # N0 / gain^2
    median = theory.weakest_client_median(clients, 0.2, power)
    check_proportion(mse > median, 0.5)
    for factor in (0.3, 3.0, 20.0):
        tail = float(theory.weakest_client_tail(factor * median, clients, 0.2, power))
        check_proportion(mse > factor * median, tail)
    # the error of the sum is that noise: its distribution, given the gain
    received = slot.send(unit, gain).total
    scaled = np.square(received - unit.sum(axis=1)).sum(axis=1) / mse
    check_mean(scaled, 1.0)


@pytest.mark.parametrize("flat", [False, True])
def test_oracle_4_optimal_control(flat, rng):
    """Measured error of the sum of unit-variance symbols is that of Cao et al., drawn by drawn."""
    clients, trials = 5, 6000
    powers = np.array([0.5, 1.0, 2.0, 4.0, 8.0])
    options = {} if flat else {"grid": ONE}
    link = (FadingLink if flat else OfdmLink)(
        fading=Rayleigh(), truncation=0.0, snr_db=0.0, power=powers, control="mmse", **options
    )
    slot = link.open(clients, 2, seeds_of(rng, trials))
    signals = rng.normal(scale=np.sqrt(0.5), size=(trials, clients, 2)).astype(np.float32)
    received = slot.send(signals, 1.0, enforce=False).total
    squared = np.square(received - signals.sum(axis=1)).sum(axis=1)

    strength = np.array([np.abs(channel.response[:, 0, 0]) for channel in slot.channels]).T
    expected = theory.mmse_control_mse(np.sqrt(powers)[:, None] * strength, noise=2.0)
    check_mean(squared - expected, 0.0)
    # and it is better than inversion at the same budgets
    inversion = FadingLink(fading=Rayleigh(), snr_db=0.0, power=powers)
    unit = np.full((trials, clients, 2), np.sqrt(0.5), np.float32)
    gain = inversion.open(clients, 2, seeds_of(rng, trials)).max_gain(unit)
    assert np.median(expected) < np.median(2.0 / gain**2)


@pytest.mark.parametrize("num_pilots", [1, 4])
def test_oracle_6_pilots_through_the_link(num_pilots, rng):
    """The estimate that a slot works with has error N0 / (P_pilot n)."""
    link = OfdmLink(csi=PilotCsi(snr_db=7.0, num_pilots=num_pilots))
    slot = link.open(20, 800, rng)
    error = slot.channels[0].estimate - slot.channels[0].response
    check_mean(np.square(np.abs(error)), 10**-0.7 / num_pilots)


CLOSED_FORMS = [
    OfdmLink(fading=Tdl("A"), truncation=0.2),
    OfdmLink(fading=Tdl("A"), truncation=0.2, correction="expected"),
    OfdmLink(fading=Tdl("A"), truncation=0.7, correction="active"),
    OfdmLink(fading=Rician(k_factor=3.0), truncation=0.5),
    OfdmLink(fading=Rician(k_factor=3.0), truncation=0.5, correction="expected"),
    OfdmLink(fading=Tdl("D"), truncation=0.7, correction="active"),
    OfdmLink(fading=Rayleigh(), csi=NoisyCsi(0.3), truncation=0.3),
    OfdmLink(fading=Tdl("B"), csi=NoisyCsi(0.3), truncation=0.3, correction="expected"),
    OfdmLink(fading=Tdl("C"), csi=PilotCsi(snr_db=3.0, num_pilots=2), truncation=0.3),
    OfdmLink(
        fading=Tdl("C"),
        csi=PilotCsi(snr_db=3.0),
        truncation=0.3,
        path_gain=[1.0, 0.5, 2.0, 1.0],
    ),
    OfdmLink(fading=Tdl("A", speed=30.0), csi=AgedCsi(0.4e-3), truncation=0.3),
    OfdmLink(fading=Rayleigh(speed=30.0), csi=AgedCsi(0.4e-3, of=NoisyCsi(0.1)), truncation=0.3),
    OfdmLink(fading=NoFading(), truncation=0.0),
    FadingLink(fading=Rayleigh(), truncation=0.2),
    FadingLink(fading=Rayleigh(), csi=NoisyCsi(0.3), truncation=0.3, correction="expected"),
    FadingLink(fading=Rayleigh(), truncation=0.7, correction="active"),
]


@pytest.mark.parametrize("link", CLOSED_FORMS, ids=str)
@pytest.mark.parametrize(("identical", "length"), [(False, 6), (True, 6), (True, 1)])
def test_expected_error_for_given_vectors(link, identical, length, rng):
    """links.theory.expected_mse, for independent and for identical data."""
    trials, clients, gain = 3000, 4, 2.0
    vectors = rng.standard_normal((clients, length)).astype(np.float32)
    if identical:
        vectors[:] = vectors[0]
    signals = np.broadcast_to(vectors, (trials, clients, length)).copy()
    slot = link.open(clients, length, seeds_of(rng, trials))
    sent = slot.send(signals, gain, enforce=False)
    squared = np.square(sent.total - vectors.sum(axis=0), dtype=np.float64).sum(axis=1)
    expected = float(theory.expected_mse(link, vectors, gain))
    check_mean(squared, expected)
    truth = np.square(vectors.sum(axis=0), dtype=np.float64).sum()
    np.testing.assert_allclose(sent.diagnostics["nmse"], squared / truth, rtol=1e-3)


def test_no_closed_form_is_said_so():
    vectors = np.ones((2, 4))
    for signals, gain, message in (
        (np.ones(4), 1.0, r"shape \(4,\)"),
        (np.full((2, 4), np.nan), 1.0, "finite"),
        (vectors, 0.0, r"gain = 0\.0"),
    ):
        with pytest.raises(ValueError, match=message):
            theory.expected_mse(OfdmLink(), signals, gain)
    for link, message in (
        (OfdmLink(csi=PilotCsi(), path_gain=[1.0, 2.0, 3.0]), "path_gain has 3 values"),
        (OfdmLink(csi=PilotCsi(num_taps=8)), "num_taps cuts"),
        (OfdmLink(control="mmse"), "given channels"),
        (OfdmLink(fading=Rician(), csi=NoisyCsi(0.1)), "line of sight"),
        (OfdmLink(csi=NoisyCsi(0.1), correction="active"), "perfect CSI"),
        ("no link", "no closed form for str"),
    ):
        with pytest.raises(ValueError, match=message):
            theory.expected_mse(link, vectors)


def test_inverting_a_wrong_estimate_without_truncation_has_no_finite_mean():
    link = OfdmLink(fading=Rayleigh(), csi=NoisyCsi(0.1), truncation=0.0)
    assert np.isinf(theory.expected_mse(link, np.ones((2, 4))))
