r"""Closed forms that the links are validated against.

Conventions: h ~ CN(0, 1), independent across clients; N0 = 2 sigma_c^2 is the complex noise
variance of a resource element.

A client's symbol enters the sum with a random arrival factor c: 1 if perfect, 0 on a truncated
carrier, h / h^ with an estimate. With mean mu_i and second moment q_i of c_i, independent across
clients, a server that multiplies by f, and vectors s_i,

    E ||total - sum_i s_i||^2 = sum_i f^2 (q_i - mu_i^2) ||s_i||^2 + ||sum_i (f mu_i - 1) s_i||^2
                                + d f^2 sigma_c^2 / gain^2

for any vectors: the second term is why identical data fare worse than independent ones. An odd
vector's last entry is alone on its resource element, and there E (Re c)^2 replaces q.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike
from scipy.special import exp1, j0, ndtr
from scipy.stats import binom

from fl.api import Link
from links.fading import FadingLink
from links.gaussian import GaussianLink
from links.ideal import IdealLink
from links.ofdm import OfdmLink
from links.orthogonal import OrthogonalLink
from links.radio import noise_of
from links.waveform import WaveformLink
from otafl._base.arrays import FloatArray
from otafl._base.validation import OptionError, integer, number, real_array
from phy.csi import PerfectCsi
from phy.digital import rounding_variance
from phy.fading import Law
from phy.power import active_probability, mmse_scale
from phy.time_channel import lags_of

FadedLink = FadingLink | OfdmLink | WaveformLink
"""A link through fading."""


class Arrival(NamedTuple):
    """Moments of the arrival factor c.

    Attributes
    ----------
    mean : ndarray of float
        E[c].
    square : ndarray of float
        E |c|^2.
    real_square : ndarray of float
        E (Re c)^2, which counts where only I is used.
    """

    mean: FloatArray
    square: FloatArray
    real_square: FloatArray


def inversion_cost(truncation: ArrayLike) -> FloatArray:
    """Return E[1 / |h|^2 ; |h|^2 > truncation] = E1(truncation), Rayleigh; inf without truncation.

    >>> print(f"{inversion_cost(0.1):.4f}")
    1.8229
    """
    return exp1(np.asarray(truncation, np.float64))


def exact_arrival(truncation: float, law: Law) -> Arrival:
    """Return the arrival with perfect CSI: 1 with the probability of being active, otherwise 0."""
    active = active_probability(truncation, law)
    return Arrival(active, active, active)


def estimated_arrival(
    truncation: float, error_variance: ArrayLike = 0.0, correlation: float = 1.0
) -> Arrival:
    r"""Return the arrival of Rayleigh fading inverted by h^ = h' + e.

    E[h h'*] = correlation, e ~ CN(0, v).

    Notes
    -----
    h^ has variance V = 1 + v, and given it h ~ CN(a h^, 1 - correlation^2 / V), a = correlation/V.
    With p = exp(-truncation / V): E[c] = a p and
    E |c|^2 = a^2 p + (1 - correlation^2 / V) E1(truncation / V) / V, the latter in equal parts
    real and imaginary.
    """
    variance = 1 + np.asarray(error_variance, np.float64)
    share = correlation / variance
    unknown = np.maximum(1 - correlation**2 / variance, 0)
    active = np.exp(-truncation / variance)
    with np.errstate(invalid="ignore"):
        spread = unknown * exp1(truncation / variance) / variance
    known = share**2 * active
    spread = np.where(unknown > 0, spread, 0.0)
    return Arrival(share * active, known + spread, known + spread / 2)


def jakes(doppler: float, lag: float) -> float:
    """Return J0(2 pi f_D lag), a moving channel's correlation with itself ``lag`` seconds ago."""
    return float(j0(2 * np.pi * doppler * lag))


def truncated_mean_mse(
    num_clients: int, truncation: float, noise: float, received_power: float, unbiased: bool = False
) -> float:
    """Return the MSE per resource element of the mean of unit-variance symbols, truncated.

    Parameters
    ----------
    num_clients : int
        K.
    truncation : float
        Threshold on |h|^2.
    noise : float
        N0.
    received_power : float
        Received power of each client.
    unbiased : bool
        Whether the server divides by P(active) too.
    """
    active = float(np.exp(-truncation))
    divisor = num_clients * (active if unbiased else 1)
    return (1 - active) / divisor + noise / (received_power * divisor**2)


def weakest_client_tail(mse: ArrayLike, num_clients: int, noise: float, power: float) -> FloatArray:
    """Return P(MSE of the sum > mse) under full inversion, limited by the weakest client.

    1 - exp(-K N0 / (P x)). The mean is infinite; look at the median.
    """
    return -np.expm1(-num_clients * noise / (power * np.asarray(mse, np.float64)))


def weakest_client_median(num_clients: int, noise: float, power: float) -> float:
    """Return the median of that MSE, K N0 / (P ln 2)."""
    return num_clients * noise / (power * float(np.log(2)))


def mmse_control_mse(
    reach: ArrayLike, noise: float, variances: ArrayLike | None = None
) -> FloatArray:
    """Return the smallest MSE of the sum of independent symbols for known channels (Cao et al.).

    Parameters
    ----------
    reach : array_like, shape [num_clients, ...]
        sqrt(P_i / v_i) |h_i|.
    noise : float
        N0.
    variances : array_like, shape [num_clients], optional
        v_i, the variances of the clients' symbols; 1 by default.

    Notes
    -----
    sum_i v_i (min(q_i / sqrt(eta), 1) - 1)^2 + N0 / eta, with q = reach and eta by
    :func:`phy.power.mmse_scale`.

    Examples
    --------
    >>> print(f"{mmse_control_mse([1.0, 2.0], 0.5, [1.0, 0.25]):.4f}")
    0.3333
    """
    reach = np.asarray(reach, np.float64)
    known = None if variances is None else np.asarray(variances, np.float64)
    scale = np.sqrt(mmse_scale(reach, noise, known))
    missing = np.square(np.minimum(reach / scale, 1) - 1)
    if known is not None:
        return np.tensordot(known, missing, 1) + noise / scale**2
    return missing.sum(axis=0) + noise / scale**2


def vote_error_probability(
    votes_for: int, votes_against: int, snr: float, active_probability: float = 1.0
) -> float:
    """Return the probability that the sum of sign votes arrives with the wrong sign.

    The votes of all clients on an entry, +1 or -1, arrive with equal power.

    Parameters
    ----------
    votes_for, votes_against : int
        How many clients vote with the majority, and how many against it.
    snr : float
        Received power of one vote on a real entry over the variance of the noise there,
        rho / sigma_c^2. The ratio is the same for a resource element, rho / N0.
    active_probability : float
        Probability p that a client sends on a carrier, independent between clients; 1 (default)
        without truncation, exp(-truncation) over Rayleigh fading. Where no client sends, the sign
        is a coin toss: this holds unless the link has correction "active", which sets it to zero.

    Returns
    -------
    float

    Raises
    ------
    ValueError
        If there is no majority, or a number is out of its range.

    Notes
    -----
    G. Zhu et al., "One-bit over-the-air aggregation for communication-efficient federated edge
    learning", IEEE Trans. Wireless Commun. 2021: for a given number of clients that send,
    Q(S sqrt(rho / sigma_c^2)) with S the difference of the votes that arrive. The votes that arrive
    on either side are binomial::

        P = sum_ab Bin(a; votes_for, p) Bin(b; votes_against, p) Q((a - b) sqrt(rho / sigma_c^2))

    Examples
    --------
    >>> print(f"{vote_error_probability(2, 1, snr=1.0):.4f}")  # Q(1)
    0.1587
    """
    votes_against = integer("votes_against", votes_against, least=0)
    votes_for = integer("votes_for", votes_for, least=votes_against + 1)
    active = number("active_probability", active_probability, least=0, most=1)
    supporters, opponents = np.arange(votes_for + 1), np.arange(votes_against + 1)
    wrong = ndtr((opponents - supporters[:, None]) * np.sqrt(number("snr", snr, least=0)))
    chances = binom.pmf(supporters, votes_for, active)
    return float(chances @ wrong @ binom.pmf(opponents, votes_against, active))


def expected_mse(link: Link, signals: ArrayLike, gain: float = 1.0) -> float:
    """Return E ||total - sum_i signals_i||^2 when ``signals`` are sent at a given ``gain``.

    The average is over fading, estimates and noise. The gain must not depend on them: one that
    budgets set has no closed form.

    Parameters
    ----------
    link : Link
        One of this package. A WaveformLink must have no impairments, must not move within a slot
        and must have a prefix that covers its channel; links under MMSE control have no closed
        form.
    signals : array_like, shape [m, d]
        The clients' vectors.
    gain : float
        Common to all clients.

    Raises
    ------
    ValueError
        Where there is no closed form.

    Examples
    --------
    >>> expected_mse(GaussianLink(snr_db=0), np.ones((3, 10)), gain=2.0)
    2.5
    """
    vectors = real_array("signals", signals).astype(np.float64)
    if vectors.ndim != 2 or not np.isfinite(vectors).all():
        raise OptionError("signals", "[m, d] and finite", got=f"shape {vectors.shape}")
    gain = number("gain", gain, above=0, infinite=True)
    if isinstance(link, IdealLink):
        return 0.0
    if isinstance(link, OrthogonalLink):
        return float(sum(rounding_variance(vector, link.bits) for vector in vectors))
    if not isinstance(link, GaussianLink | FadedLink):
        raise ValueError(f"there is no closed form for {type(link).__name__}")
    length = vectors.shape[1]
    noise = length * noise_of(link, length).variance / gain**2
    if isinstance(link, GaussianLink):
        return noise
    if isinstance(link, WaveformLink):
        _refuse_what_samples_show(link)
    if link.control != "inversion":
        raise ValueError("control = 'mmse' has a closed form only for given channels")
    if link.correction == "active":
        return _corrected_by_the_active(link, vectors, noise)
    return _inverted(link, vectors, noise)


def _refuse_what_samples_show(link: WaveformLink) -> None:
    """Reject links with impairments, movement or a short prefix, which have no closed form."""
    if link.transmit or link.receive:
        raise ValueError("a link with impairments has no closed form: see phy.impairments.theory")
    if link.fading.moving:
        raise ValueError(
            "a WaveformLink whose channel moves within a slot has no closed form: OfdmLink has one"
        )
    if link.fading.delays is None:
        raise ValueError(f"the delays of {type(link.fading).__name__} are not known beforehand")
    lags, prefix = lags_of(link.fading.delays, link.grid), link.grid.cp_length
    if lags.num_taps - 1 > prefix - link.window_advance:
        raise ValueError(
            f"a channel of {lags.num_taps} taps, pulses included, is longer than what the prefix "
            f"of {prefix} samples leaves with window_advance = {link.window_advance}: interference "
            "between symbols has no closed form"
        )


def _inverted(link: FadedLink, vectors: FloatArray, noise: float) -> float:
    """Return the formula at the top of this module."""
    mean, square, real_square = _arrival_of(link, len(vectors))
    factor = 1.0
    if link.correction == "expected":
        assert link.fading.law is not None
        errors = _error_variances(link, len(vectors))
        factor = 1 / float(active_probability(link.truncation, link.fading.law, errors).mean())
    lost = (factor * mean - 1)[:, None] * vectors
    num_pairs, odd = divmod(vectors.shape[1], 2)
    spread = np.zeros(len(vectors))
    if num_pairs:
        spread += (square - mean**2) * np.square(vectors[:, : 2 * num_pairs]).sum(axis=1)
    if odd:
        spread += (real_square - mean**2) * np.square(vectors[:, -1])
    return float(factor**2 * (spread.sum() + noise) + np.square(lost.sum(axis=0)).sum())


def _error_variances(link: FadedLink, num_clients: int) -> FloatArray:
    """Return the variance of the CSI error, [num_clients, num_carriers]."""
    path_gain = np.asarray(link.path_gain, np.float64)
    if path_gain.ndim and len(path_gain) != num_clients:
        raise OptionError(
            "path_gain",
            f"a scalar or one value for each of the {num_clients} clients",
            got=f"{len(path_gain)} values",
        )
    path_gain = np.broadcast_to(path_gain, (num_clients,))
    grid = link.channel_grid if isinstance(link, FadingLink) else link.grid.without_pilots
    return link.csi.error_variance(grid, path_gain)


def _arrival_of(link: FadedLink, num_clients: int) -> Arrival:
    """Return the moments, [num_clients] each; averaged where carriers have different errors."""
    law = link.fading.law
    if law is None:
        raise ValueError(f"the distribution of {type(link.fading).__name__} is not known")
    if isinstance(link.csi, PerfectCsi):
        arrival = exact_arrival(link.truncation, law)
        return Arrival(*(np.full(num_clients, moment) for moment in arrival))
    if law.specular > 0:
        raise ValueError("an estimate of a channel with a line of sight has no closed form")
    if not link.csi.additive:
        raise ValueError(
            f"{link.csi!r} has an error that depends on the channel, which has no closed form here"
        )
    if len(link.csi.delays) > 1:
        raise ValueError(
            f"{link.csi!r} observes the channel several times: there is no closed form"
        )
    correlation = jakes(link.fading.doppler, link.csi.delays[0])
    errors = _error_variances(link, num_clients)
    arrival = estimated_arrival(link.truncation, errors, correlation)
    return Arrival(*(moment.mean(axis=1) for moment in arrival))


def _corrected_by_the_active(link: FadedLink, vectors: FloatArray, noise: float) -> float:
    """Return the error where K of m clients are active and the server scales their sum by m / K.

    The active clients are a sample without replacement.
    """
    law = link.fading.law
    if law is None or not isinstance(link.csi, PerfectCsi):
        raise ValueError("correction = 'active' has a closed form for perfect CSI only")
    num_clients = len(vectors)
    active = float(active_probability(link.truncation, law))
    counts = np.arange(1, num_clients + 1)
    chance = binom.pmf(counts, num_clients, active)
    nobody = (1 - active) ** num_clients * np.square(vectors.sum(axis=0)).sum()
    deviation = np.square(vectors - vectors.mean(axis=0)).sum() / max(num_clients - 1, 1)
    sampling = (chance * num_clients * (num_clients - counts) / counts).sum() * deviation
    return float(nobody + sampling + (chance * (num_clients / counts) ** 2).sum() * noise)
