r"""Fading, channel knowledge and power control, measured through whole links.

Conventions: h ~ CN(0, 1), complex noise of variance N0 = 2 sigma_c^2 per resource element, symbols
of unit variance, so that each of their two real entries has variance 1/2.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from links import FadingLink, GaussianLink, OfdmLink, WaveformLink, realise, theory
from links.uplink import Uplink
from phy import AgedCsi, NoFading, NoisyCsi, OfdmGrid, PerfectCsi, PilotCsi, Rayleigh, Rician, Tdl
from phy.packing import Packing
from scenarios.validation.claims import Claim, at_least, at_most, mean_is, share_is, value_is
from scenarios.validation.oracle import Chapter, generators, sums

ONE_ELEMENT = OfdmGrid(fft_size=1, cp_length=0, guards=(0, 0), dc_null=False)
ORACLES = Chapter()


def _symbols(rng: np.random.Generator, *shape: int) -> NDArray[np.float32]:
    """Draw symbols of unit variance as ``[..., 2 n]`` real entries."""
    return rng.normal(scale=np.sqrt(0.5), size=shape).astype(np.float32)


@ORACLES.law("packing", r"\lVert z \rVert^2 = \sum_n |z_{2n} + \mathrm{j} z_{2n+1}|^2")
def packing(rng: np.random.Generator) -> Iterator[Claim]:
    """Packing keeps the energy of a vector, and unpacking inverts it."""
    vectors = rng.standard_normal((20, 7850)).astype(np.float32)
    packed = Packing(OfdmGrid(), 7850)
    elements = packed.pack(vectors)
    energy = np.square(np.abs(elements, dtype=np.float64)).sum(axis=(1, 2))
    own = np.square(vectors, dtype=np.float64).sum(axis=1)
    yield at_most("energy of a packed vector, relative error", np.abs(energy / own - 1).max(), 1e-6)
    returned = np.abs(packed.unpack(elements) - vectors).max()
    yield at_most("packed and unpacked, largest error", returned, 0.0)


@ORACLES.law("noise", r"\sigma_c^2 = N_0/2 = P / \mathrm{SNR}")
def noise(rng: np.random.Generator) -> Iterator[Claim]:
    """Variance of the noise on a real entry."""
    for link in (
        GaussianLink(snr_db=10.0),
        OfdmLink(snr_db=10.0, fading=NoFading()),
        WaveformLink(snr_db=10.0, fading=NoFading()),
    ):
        received = link.open(1, 80_000, rng).send(np.zeros((1, 80_000)), 0.5).total
        what = f"{type(link).__name__}: noise on a real entry, 10 dB, gain 1/2"
        yield mean_is(what, np.square(received, dtype=np.float64), 0.1 / 0.25)


@ORACLES.law(
    "budgets",
    r"\beta^2 = \min_{i,l} \frac{P_i/L}{E_{i,l}}, \quad "
    r"E_{i,l} = \frac{1}{g_i} \sum_{n \in l} |s_i[n]|^2 \text{ with path gain } g_i",
)
def budgets(rng: np.random.Generator) -> Iterator[Claim]:
    """Largest gain within the budgets of a symbol or of the round, with unequal path gains."""
    symbols, power = 5, 3.0
    length = 800 * symbols
    votes = rng.choice([-1.0, 1.0], size=(2, length))
    link = OfdmLink(fading=NoFading(), truncation=0.0, power=power, interleaver_seed=None)
    gain = replace(link, path_gain=[1.0, 0.25]).open(2, length, rng).max_gain(votes)
    yield value_is("path gains 1 and 1/4: squared gain d/P", gain**2 * length / power, 0.25, 1e-4)
    first = np.where(np.arange(length) < 800, votes, 0.0)
    for budget, share in (("symbol", 1 / symbols), ("round", 1.0)):
        gain = replace(link, budget=budget).open(2, length, rng).max_gain(first)
        what = f"one full symbol of {symbols}, budget per {budget}: squared gain d/(P L)"
        yield value_is(what, gain**2 * 800 / power, share, 1e-4)


@ORACLES.law(
    "truncated inversion", r"P(\text{active}) = e^{-g}, \quad E[|h|^{-2}; |h|^2 > g] = E_1(g)"
)
def truncated_inversion(rng: np.random.Generator) -> Iterator[Claim]:
    """Activity and mean transmit energy of truncated channel inversion over Rayleigh fading."""
    unit = np.ones((1, 2), np.float32)  # one element of energy 2
    for fading in (Rayleigh(), Tdl("A")):
        for g in (0.05, 0.5):
            link = OfdmLink(fading=fading, truncation=g)
            rngs = generators(rng, 4000)
            cost = realise(link, 1, 2, rngs, lambda uplink, n: uplink.energy(unit)[0, 0] / 2)
            what = f"{type(fading).__name__}, g = {g:g}"
            yield share_is(f"{what}: share of active carriers", cost > 0, np.exp(-g))
            yield mean_is(f"{what}: mean cost of inversion", cost, theory.inversion_cost(g))


@ORACLES.law(
    "mean of truncated clients",
    r"\frac{1-p}{K} + \frac{N_0}{\rho K^2}, \quad "
    r"\frac{1-p}{pK} + \frac{N_0}{\rho K^2 p^2} \text{ unbiased}",
)
def truncated_mean(rng: np.random.Generator) -> Iterator[Claim]:
    """Mean squared error of the mean of clients that truncate."""
    clients, g, gain, realisations = 5, 0.3, 0.7, 6000
    signals = _symbols(rng, realisations, clients, 2)
    for correction in ("none", "expected"):
        link = OfdmLink(fading=Rayleigh(), truncation=g, snr_db=10.0, correction=correction)
        mean = sums(link, signals, gain, generators(rng, realisations)) / clients
        squared = np.square(mean - signals.mean(axis=1)).sum(axis=1)
        unbiased = correction == "expected"
        expected = theory.truncated_mean_mse(clients, g, 0.2, gain**2, unbiased)
        what = f"K = 5, g = 0.3, sum divided by {'K p' if unbiased else 'K'}: MSE of the mean"
        yield mean_is(what, squared, expected)


@ORACLES.law("weakest client", r"P(\mathrm{MSE} > x) = 1 - e^{-K N_0 / (P x)}")
def weakest_client(rng: np.random.Generator) -> Iterator[Claim]:
    """Distribution of the error when the weakest client determines the gain."""
    clients = 4
    link = OfdmLink(grid=ONE_ELEMENT, fading=Rayleigh(), truncation=0.0, snr_db=10.0)
    unit = np.full((clients, 2), np.sqrt(0.5), np.float32)
    rngs = generators(rng, 6000)
    mse = 0.2 / realise(link, clients, 2, rngs, lambda uplink, n: uplink.max_gain(unit)) ** 2
    median = theory.weakest_client_median(clients, 0.2, 1.0)
    yield share_is("K = 4: P(MSE > median of theory)", mse > median, 0.5)
    for factor in (5.0, 50.0):
        tail = theory.weakest_client_tail(factor * median, clients, 0.2, 1.0)
        yield share_is(f"K = 4: P(MSE > {factor:g} medians)", mse > factor * median, tail)


@ORACLES.law(
    "optimal power control",
    r"\eta^* = \min_k \left(\frac{N_0 + \sum_{i \le k} P_i |h_i|^2}"
    r"{\sum_{i \le k} \sqrt{P_i} |h_i|}\right)^2",
)
def optimal_control(rng: np.random.Generator) -> Iterator[Claim]:
    """Mean squared error of optimal power control, beside a search."""
    clients, realisations = 5, 8000
    powers = [0.5, 1.0, 2.0, 4.0, 8.0]
    link = FadingLink(fading=Rayleigh(), snr_db=0.0, power=powers, control="mmse")
    signals = _symbols(rng, realisations, clients, 2)

    def round_of(uplink: Uplink, number: int) -> tuple[NDArray, NDArray]:
        total = uplink.send(signals[number], 1.0, enforce=False).total
        return total, np.abs(uplink.medium.channel.response[:, 0, 0])

    received, strength = realise(link, clients, 2, generators(rng, realisations), round_of)
    squared = np.square(received - signals.sum(axis=1)).sum(axis=1)
    reach = np.sqrt(powers)[:, None] * strength.T
    expected = theory.mmse_control_mse(reach, noise=2.0)
    what = "K = 5, unequal powers: MSE of the sum over that of theory"
    yield mean_is(what, 1 + (squared - expected) / expected.mean(), 1.0)
    # the formula beside an independent search over the server's scale
    scale = np.geomspace(0.03, 30, 400)[:, None, None]
    misaligned = np.square(np.minimum(reach / scale, 1) - 1).sum(axis=1)
    searched = (misaligned + 2.0 / scale[:, 0] ** 2).min(axis=0)
    yield at_most("the same over the best of a search, largest", (expected / searched).max(), 1.0)
    yield at_least("and smallest", (expected / searched).min(), 0.999)


@ORACLES.law(
    "power control for unequal variances",
    r"\eta^* = \min_k \left(\frac{N_0 + \sum_{i \le k} v_i q_i^2}"
    r"{\sum_{i \le k} v_i q_i}\right)^2, \quad q_i = \sqrt{P_i / v_i}\, |h_i|",
)
def unequal_control(rng: np.random.Generator) -> Iterator[Claim]:
    """Mean squared error where clients report the norms of their signals."""
    realisations, variances = 4000, np.array([1.0, 0.5, 0.2, 0.05, 0.01])
    link = FadingLink(fading=Rayleigh(), snr_db=0.0, control="mmse", variances="reported")
    signs = rng.choice([-1.0, 1.0], size=(realisations, 5, 2))
    signals = signs * np.sqrt(variances / 2)[:, None]

    def round_of(uplink: Uplink, number: int) -> tuple[NDArray, NDArray]:
        total = uplink.send(signals[number], 1.0).total
        return total, np.abs(uplink.medium.channel.response[:, 0, 0])

    received, strength = realise(link, 5, 2, generators(rng, realisations), round_of)
    squared = np.square(received - signals.sum(axis=1)).sum(axis=1)
    reach = strength.T / np.sqrt(variances)[:, None]
    expected = theory.mmse_control_mse(reach, noise=2.0, variances=variances)
    what = "K = 5, variances 1 to 0.01: MSE of the sum over that of theory"
    yield mean_is(what, 1 + (squared - expected) / expected.mean(), 1.0)


@ORACLES.law(
    "sign votes",
    r"P = \sum_{a,b} \binom{n_+}{a} \binom{n_-}{b} p^{a+b} (1-p)^{n_+ + n_- - a - b}\,"
    r"Q\!\left((a - b) \sqrt{2 \rho / N_0}\right)",
)
def sign_votes(rng: np.random.Generator) -> Iterator[Claim]:
    """Share of majorities that arrive with the wrong sign."""
    for ayes, noes in ((3, 2), (5, 2)):
        votes = np.repeat([1.0, -1.0], [ayes, noes])[:, None] * np.ones(40_000)
        uplink = GaussianLink(snr_db=0.0).open(ayes + noes, 40_000, rng)
        wrong = uplink.send(votes, 0.5, enforce=False).total < 0
        expected = theory.vote_error_probability(ayes, noes, snr=0.25)
        yield share_is(f"{ayes} votes against {noes}, -6 dB per vote: wrong", wrong, expected)
    g, realisations = 0.5, 6000
    link = OfdmLink(grid=ONE_ELEMENT, fading=Rayleigh(), truncation=g, snr_db=0.0)
    signals = np.broadcast_to(np.array([[1.0], [1.0], [1.0], [-1.0]]), (realisations, 4, 2))
    wrong = sums(link, signals, 1.0, generators(rng, realisations))[:, 0] < 0
    expected = theory.vote_error_probability(3, 1, 1.0, np.exp(-g))
    yield share_is("3 votes against 1, 0 dB, truncated at g = 0.5: wrong", wrong, expected)


@ORACLES.law(
    "pilots",
    r"E|e|^2 = \frac{1}{n\,\mathrm{SNR}}, \quad \text{times } L/N \text{ if } L \text{ of } N"
    r"\text{ taps are kept}",
)
def pilots(rng: np.random.Generator) -> Iterator[Claim]:
    """Error of channel estimates from pilots."""
    for count in (1, 4):
        link = OfdmLink(csi=PilotCsi(snr_db=7.0, num_pilots=count))
        channel = link.open(40, 800, rng).medium.channel
        error = np.square(np.abs(channel.estimate - channel.response))
        yield mean_is(f"7 dB, n = {count}: error of the estimate", error, 10**-0.7 / count)
    # of the 400 dimensions of noise only those of the kept taps remain, the same on all carriers
    channel = OfdmLink(csi=PilotCsi(snr_db=7.0, num_taps=24)).open(400, 800, rng).medium.channel
    error = np.square(np.abs(channel.estimate - channel.response)).mean(axis=(1, 2))
    yield mean_is("7 dB, 24 of 400 taps kept: error of the estimate", error, 10**-0.7 * 24 / 400)


@ORACLES.law("ageing", r"E[h(t) h^*(t-\Delta)] = J_0(2 \pi f_D \Delta)")
def ageing(rng: np.random.Generator) -> Iterator[Claim]:
    """Correlation of a channel with its aged estimate, by Jakes' model."""
    fading, delay = Rayleigh(speed=30.0), 0.4e-3
    link = FadingLink(fading=fading, csi=AgedCsi(delay))

    def product(uplink: Uplink, number: int) -> float:
        channel = uplink.medium.channel
        return (channel.response * channel.estimate.conj())[0, 0, 0].real

    products = realise(link, 1, 2, generators(rng, 4000), product)
    expected = theory.jakes(fading.doppler, delay)
    yield mean_is("30 m/s, 0.4 ms: correlation with the old channel", products, expected)


@ORACLES.law(
    "error of the sum",
    r"\sum_i f^2 (q_i - \mu_i^2) \lVert s_i \rVert^2 "
    r"+ \lVert \sum_i (f \mu_i - 1) s_i \rVert^2 + d f^2 \sigma_c^2 / \beta^2",
)
def expected_error(rng: np.random.Generator) -> Iterator[Claim]:
    """Mean squared error of the sum, over fadings and kinds of CSI."""
    gain, realisations = 2.0, 4000
    vectors = rng.standard_normal((4, 6)).astype(np.float32)
    signals = np.broadcast_to(vectors, (realisations, *vectors.shape))
    two_pilots, old = PilotCsi(snr_db=3.0, num_pilots=2), AgedCsi(0.4e-3)
    cases: list[tuple[str, Any, Any, float, str]] = [
        ("TDL-A, g = 0.2", Tdl("A"), PerfectCsi(), 0.2, "none"),
        ("TDL-A, g = 0.7, corrected by the active", Tdl("A"), PerfectCsi(), 0.7, "active"),
        ("Rician K = 3, g = 0.5", Rician(k_factor=3.0), PerfectCsi(), 0.5, "none"),
        ("TDL-B, g = 0.3, CSI error 0.3", Tdl("B"), NoisyCsi(0.3), 0.3, "none"),
        ("TDL-C, g = 0.3, two pilots at 3 dB", Tdl("C"), two_pilots, 0.3, "none"),
        ("TDL-A at 30 m/s, g = 0.3, CSI 0.4 ms old", Tdl("A", speed=30.0), old, 0.3, "none"),
    ]
    for what, fading, csi, truncation, correction in cases:
        link = OfdmLink(fading=fading, csi=csi, truncation=truncation, correction=correction)
        total = sums(link, signals, gain, generators(rng, realisations))
        squared = np.square(total - vectors.sum(axis=0), dtype=np.float64).sum(axis=1)
        expected = theory.expected_mse(link, vectors, gain)
        yield mean_is(f"{what}: MSE over that of theory", squared / expected, 1.0)
