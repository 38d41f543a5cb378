r"""Closed forms that the links are validated against.

Conventions: h ~ CN(0, 1), independent across clients; N0 = 2 sigma_c^2 is the complex noise
variance of a resource element.

A client's symbol arrives in the sum with a random factor c: 1 if all is well, 0 on a truncated
carrier, h / h^ with an estimate. With mean mu_i and second moment q_i of c_i, independent across
clients, a server that multiplies by f, and vectors s_i,

    E ||total - sum_i s_i||^2 = sum_i f^2 (q_i - mu_i^2) ||s_i||^2 + ||sum_i (f mu_i - 1) s_i||^2
                                + d f^2 sigma_c^2 / gain^2

for any vectors: the second term is why identical data fare worse than independent ones. An odd
vector's last entry is alone on its resource element, and there E (Re c)^2 stands for q.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.special import exp1, j0
from scipy.stats import binom

from fl.api import Link
from links.faded import FadedLink
from links.gaussian import GaussianLink
from links.ideal import IdealLink
from links.orthogonal import OrthogonalLink
from links.radio import RadioLink
from links.waveform import WaveformLink
from phy.checks import number, real_array
from phy.csi import PerfectCsi
from phy.digital import rounding_variance
from phy.fading import DelayLine, Law
from phy.power import active_probability, mmse_scale


class Arrival(NamedTuple):
    """Moments of the factor c that a client's symbol arrives with.

    mean : E[c]
    square : E |c|^2
    real_square : E (Re c)^2, which counts where only I is used
    """

    mean: NDArray[np.float64]
    square: NDArray[np.float64]
    real_square: NDArray[np.float64]


def inversion_cost(truncation: ArrayLike) -> NDArray[np.float64]:
    """E[1 / |h|^2 ; |h|^2 > truncation] = E1(truncation), Rayleigh; infinite without truncation.

    >>> print(f"{inversion_cost(0.1):.4f}")
    1.8229
    """
    return exp1(np.asarray(truncation, np.float64))


def exact_arrival(truncation: float, law: Law) -> Arrival:
    """With perfect CSI: 1 with the probability of being active, or else 0."""
    active = active_probability(truncation, law)
    return Arrival(active, active, active)


def estimated_arrival(
    truncation: float, error_variance: ArrayLike = 0.0, correlation: float = 1.0
) -> Arrival:
    r"""Rayleigh fading, inverted by h^ = h' + e with E[h h'*] = correlation, e ~ CN(0, v).

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
    """J0(2 pi f_D lag), the correlation of a moving channel with itself ``lag`` seconds ago."""
    return float(j0(2 * np.pi * doppler * lag))


def truncated_mean_mse(
    num_clients: int, truncation: float, noise: float, received_power: float, unbiased: bool = False
) -> float:
    """MSE of the mean of unit-variance symbols by truncated inversion, a resource element.

    noise : N0
    received_power : of each client
    unbiased : the server divides by P(active) too
    """
    active = float(np.exp(-truncation))
    if unbiased:
        return (1 - active) / (active * num_clients) + noise / (
            received_power * num_clients**2 * active**2
        )
    return (1 - active) / num_clients + noise / (received_power * num_clients**2)


def weakest_client_tail(
    mse: ArrayLike, num_clients: int, noise: float, power: float
) -> NDArray[np.float64]:
    """P(MSE of the sum > mse) under full inversion, limited by the weakest: 1 - exp(-K N0/(P x)).

    Its mean is infinite, so look at its median.
    """
    return -np.expm1(-num_clients * noise / (power * np.asarray(mse, np.float64)))


def weakest_client_median(num_clients: int, noise: float, power: float) -> float:
    """K N0 / (P ln 2)."""
    return num_clients * noise / (power * float(np.log(2)))


def mmse_control_mse(reach: ArrayLike, noise: float) -> NDArray[np.float64]:
    """Smallest MSE of the sum of unit-variance symbols for known channels (Cao et al.).

    reach : [num_clients, ...], sqrt(P_i) |h_i|
    noise : N0
    """
    reach = np.asarray(reach, np.float64)
    scale = np.sqrt(mmse_scale(reach, noise))
    arrival = np.minimum(reach / scale, 1)
    return np.square(arrival - 1).sum(axis=0) + noise / scale**2


def expected_mse(link: Link, signals: ArrayLike, gain: float = 1.0) -> NDArray[np.float64]:
    """E ||total - sum_i signals_i||^2 when ``signals [m, d]`` are sent at a given ``gain``.

    The average is over fading, estimates and noise. The gain must not depend on them: one that
    budgets set has no closed form. One value for each SNR of the link.

    >>> float(expected_mse(GaussianLink(snr_db=0), np.ones((3, 10)), gain=2.0))
    2.5
    """
    vectors = real_array("signals", signals).astype(np.float64)
    if vectors.ndim != 2 or not np.isfinite(vectors).all():
        raise ValueError(f"signals of shape {vectors.shape} must be [m, d] and finite")
    gain = number("gain", gain, above=0, infinite=True)
    if isinstance(link, IdealLink):
        return np.zeros(())
    if not isinstance(link, RadioLink):
        raise ValueError(f"there is no closed form for {type(link).__name__}")
    length = vectors.shape[1]
    noise = length * link.noise(length).variance / gain**2
    if isinstance(link, GaussianLink):
        return noise
    if isinstance(link, OrthogonalLink):
        return np.full_like(noise, sum(rounding_variance(v, link.bits) for v in vectors))
    if not isinstance(link, FadedLink):
        raise ValueError(f"there is no closed form for {type(link).__name__}")
    if isinstance(link, WaveformLink) and (link.transmit or link.receive):
        raise ValueError("a link with faults has no closed form: see phy.impairments.theory")
    if link.control != "inversion":
        raise ValueError("control = 'mmse' has a closed form only for given channels")
    if link.correction == "active":
        return _corrected_by_the_active(link, vectors, noise)
    return _inverted(link, vectors, noise)


def _inverted(
    link: FadedLink, vectors: NDArray[np.float64], noise: NDArray[np.float64]
) -> NDArray[np.float64]:
    """The formula at the top of this module."""
    mean, square, real_square = _arrival_of(link, len(vectors))
    factor = 1.0
    if link.correction == "expected":
        factor = 1 / _expected_share(link, len(vectors))
    lost = (factor * mean - 1)[:, None] * vectors
    num_pairs, odd = divmod(vectors.shape[1], 2)
    spread = np.zeros(len(vectors))
    if num_pairs:
        spread += (square - mean**2) * np.square(vectors[:, : 2 * num_pairs]).sum(axis=1)
    if odd:
        spread += (real_square - mean**2) * np.square(vectors[:, -1])
    return factor**2 * (spread.sum() + noise) + np.square(lost.sum(axis=0)).sum()


def _error_variances(link: FadedLink, num_clients: int) -> NDArray[np.float64]:
    """[num_clients, num_carriers]"""
    path_gain = np.asarray(link.path_gain, np.float64)
    if path_gain.ndim and len(path_gain) != num_clients:
        raise ValueError(f"path_gain has {len(path_gain)} values, signals {num_clients} clients")
    path_gain = np.broadcast_to(path_gain, (num_clients,))
    return link.csi.error_variance(link.channel_grid, path_gain)


def _expected_share(link: FadedLink, num_clients: int) -> float:
    assert link.fading.law is not None
    errors = _error_variances(link, num_clients)
    return float(active_probability(link.truncation, link.fading.law, errors).mean())


def _arrival_of(link: FadedLink, num_clients: int) -> Arrival:
    """[num_clients] each; where the error differs between carriers, their average."""
    law = link.fading.law
    if law is None:
        raise ValueError(f"the law of {type(link.fading).__name__} is not known")
    if isinstance(link.csi, PerfectCsi):
        arrival = exact_arrival(link.truncation, law)
        return Arrival(*(np.full(num_clients, moment) for moment in arrival))
    if law.specular > 0:
        raise ValueError("an estimate of a channel with a line of sight has no closed form")
    correlation = 1.0
    if isinstance(link.fading, DelayLine):
        correlation = jakes(link.fading.doppler, link.csi.delay)
    if getattr(getattr(link.csi, "of", link.csi), "num_taps", None) is not None:
        raise ValueError("num_taps cuts the channel, an error that has no closed form here")
    errors = _error_variances(link, num_clients)
    arrival = estimated_arrival(link.truncation, errors, correlation)
    return Arrival(*(moment.mean(axis=1) for moment in arrival))


def _corrected_by_the_active(
    link: FadedLink, vectors: NDArray[np.float64], noise: NDArray[np.float64]
) -> NDArray[np.float64]:
    """K of m clients are active, a sample without replacement that the server scales by m / K."""
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
    return nobody + sampling + (chance * (num_clients / counts) ** 2).sum() * noise
