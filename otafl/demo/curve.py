"""NMSE against SNR over several realisations, beside its closed form."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from figures.link_view import DEVICES, DRAWS
from links import realise
from links.theory import expected_mse
from links.uplink import Uplink
from otafl._base.arrays import FloatArray
from otafl._base.decibels import amplitude_from_db, from_db
from otafl.demo.setting import Setting

SNRS_DB = np.arange(-40.0, 41.0, 10.0)
FINE_SNRS_DB = np.arange(-40.0, 41.0)
REALISATIONS = 40
REALISATIONS_WITH_FAULTS = 8  # samples take longer than carriers


@dataclass(frozen=True, eq=False)
class Curve:
    """NMSE against SNR at the gain of the round, over several realisations.

    With hardware faults, a realisation that cannot afford this gain has a smaller one.

    Attributes
    ----------
    entry_snr_db : ndarray of float, shape [S]
        Entry SNR [dB].
    mean, error : ndarray of float, shape [S]
        Mean of the measured NMSE, and the standard error of that mean.
    expected_snr_db, expected : ndarray of float, shape [R]
        Entry SNR [dB], and the closed form of the mean without hardware faults; NaN if there is
        none.
    why_not : str
        Why there is no closed form; empty if there is one.
    """

    entry_snr_db: FloatArray
    mean: FloatArray
    error: FloatArray
    expected_snr_db: FloatArray
    expected: FloatArray
    why_not: str


def curve_of(setting: Setting, signals: NDArray, gain: float) -> Curve:
    """Measure the NMSE of ``signals [m, d]`` at a gain, at every SNR of the curve."""
    count = REALISATIONS_WITH_FAULTS if setting.faults else REALISATIONS
    nmse = measure(setting, signals, gain, count)
    error = nmse.std(axis=0, ddof=1) / np.sqrt(count)
    expected, why_not = _expected(setting, signals, gain)
    return Curve(SNRS_DB, nmse.mean(axis=0), error, FINE_SNRS_DB, expected, why_not)


def measure(setting: Setting, signals: NDArray, gain: float, count: int) -> FloatArray:
    """Return the NMSE of each realisation at each SNR, [count, S].

    The receiver of the page's links is linear: the noise in the received sum is the difference of
    a round at 0 dB and the same round without noise. At another SNR it has another scale only:

        received(SNR) = clean + noise(0 dB) 10^(-SNR / 20)
    """
    clean = received(setting, signals, gain, np.inf, count)
    noise = received(setting, signals, gain, 0.0, count) - clean
    truth = signals.sum(axis=0, dtype=np.float64)
    lost = clean - truth
    scale = amplitude_from_db(-SNRS_DB)
    error = (
        np.square(lost).sum(axis=1)[:, None]
        + 2 * (lost * noise).sum(axis=1)[:, None] * scale
        + np.square(noise).sum(axis=1)[:, None] * scale**2
    )
    return error / np.square(truth).sum()


def received(
    setting: Setting, signals: NDArray, gain: float, entry_snr_db: float, count: int
) -> FloatArray:
    """Return the sum that the server receives in each realisation, [count, d].

    Equal settings give equal channels, devices and, apart from its scale, noise at every SNR.
    """

    def total(uplink: Uplink, number: int) -> NDArray:
        # The closed form holds for one gain, whatever energy that takes in a realisation;
        # amplifiers saturate, so with hardware faults every realisation stays within its budgets.
        affordable = min(gain, uplink.max_gain(signals)) if setting.faults else gain
        return uplink.send(signals, affordable, enforce=False).total.astype(np.float64)

    rngs, device_rngs = (
        [np.random.default_rng([setting.seed, number, purpose]) for number in range(count)]
        for purpose in (DRAWS, DEVICES)
    )
    link = setting.link(entry_snr_db=entry_snr_db)
    clients, length = signals.shape
    return np.asarray(realise(link, clients, length, rngs, total, device_rngs=device_rngs))


def _expected(setting: Setting, signals: NDArray, gain: float) -> tuple[FloatArray, str]:
    try:
        # the error is affine in the noise variance, so two points give the whole curve
        lost, at_0_db = (
            expected_mse(setting.faultless_link(entry_snr_db=snr_db), signals, gain)
            for snr_db in (np.inf, 0.0)
        )
    except ValueError as error:
        return np.full(len(FINE_SNRS_DB), np.nan), str(error)
    noise = from_db(-FINE_SNRS_DB)
    mse = lost + (at_0_db - lost) * noise if np.isfinite(lost) else np.full_like(noise, np.inf)
    return mse / np.square(signals.sum(axis=0), dtype=np.float64).sum(), ""
