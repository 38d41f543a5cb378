"""One round over the air, as the quantities that the page shows."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from links import realise
from links.radio import noise_of
from links.theory import expected_mse
from links.uplink import Uplink
from otafl.demo.setting import Setting
from phy import OfdmGrid

GRID = OfdmGrid()
SYMBOLS = 6
LENGTH = 2 * GRID.num_carriers * SYMBOLS
SHOWN_CLIENTS = 4
SHOWN_ELEMENTS = 250  # more would only fill the plot
SNRS_DB = np.arange(-40.0, 41.0, 10.0)
FINE_SNRS_DB = np.arange(-40.0, 41.0)
DRAWS = 40
DRAWS_WITH_FAULTS = 8  # samples take longer than carriers


@dataclass(frozen=True, eq=False)
class Curve:
    """NMSE against SNR at the gain of the round, over several realisations.

    With hardware faults, a realisation that cannot afford this gain has a smaller one.

    Attributes
    ----------
    entry_snr_db : [S], float
        Entry SNR [dB].
    mean, error : [S], float
        Mean of the measured NMSE, and the standard error of that mean.
    expected_snr_db, expected : [R], float
        Entry SNR [dB], and the closed form of the mean without hardware faults; NaN if there is
        none.
    why_not : str
        Why there is no closed form; empty if there is one.
    """

    entry_snr_db: NDArray[np.float64]
    mean: NDArray[np.float64]
    error: NDArray[np.float64]
    expected_snr_db: NDArray[np.float64]
    expected: NDArray[np.float64]
    why_not: str


@dataclass(frozen=True, eq=False)
class LinkView:
    """The quantities of a round; ``shown`` counts the first few clients.

    Attributes
    ----------
    frequency : [carriers], float
        Baseband frequency [MHz].
    strength, estimate : [shown, carriers], float
        abs(h)^2 of the channels, and of the clients' channel estimates.
    sent : [shown, n], complex
        Elements as a client transmits them, relative to the rms that the budget allows.
    arrived : [shown, n], complex
        The same elements as they arrive, each client on its own and without noise.
    true_sum, received_sum : [n], complex
        Elements of the sum.
    load : [clients, SYMBOLS], float
        Energy divided by budget.
    nmse, expected_nmse : float
        NMSE of this round, and the closed form of its mean over fading without hardware faults;
        NaN if there is none.
    noise_part : float
        The part of the mean NMSE that noise causes.
    active : float
        Fraction of carriers on which a client transmits, averaged over the clients.
    gain_db : float
        The common gain relative to that on channels with abs(h) = 1 [dB].
    airtime : float
        Time on the air [s].
    clip_rate : float
        Fraction of clipped samples of the client that clips most.
    curve : Curve
        NMSE against SNR.
    """

    frequency: NDArray[np.float64]
    strength: NDArray[np.float64]
    estimate: NDArray[np.float64]
    sent: NDArray[np.complex64]
    arrived: NDArray[np.complex64]
    true_sum: NDArray[np.complex64]
    received_sum: NDArray[np.complex64]
    load: NDArray[np.float64]
    nmse: float
    expected_nmse: float
    noise_part: float
    active: float
    gain_db: float
    airtime: float
    clip_rate: float
    curve: Curve


def payload_of(setting: Setting, rng: np.random.Generator) -> NDArray[np.float32]:
    """Draw the clients' vectors, [clients, LENGTH], with entries of unit variance."""
    drawn = rng.standard_normal((setting.clients, LENGTH), dtype=np.float32)
    return np.sign(drawn) if setting.payload == "votes" else drawn


def look_at(setting: Setting, seed: int = 0) -> LinkView:
    """Simulate a round; equal seeds give equal fading, devices and noise."""
    signals = payload_of(setting, _rng(seed, 0))
    link = setting.link()
    uplink = link.open(setting.clients, LENGTH, _rng(seed, 1), device_rng=_rng(seed, 2))
    full_gain = 1 / np.sqrt(LENGTH)  # for entries of unit variance on a channel with |h| = 1
    gain = uplink.max_gain(signals)
    if np.isinf(gain):  # nobody transmits, and the server receives noise only
        gain = float(full_gain)
    received = uplink.send(signals, gain)
    truth = signals.sum(axis=0)

    shown = slice(0, min(SHOWN_CLIENTS, setting.clients))
    channel, grid = uplink.medium.channel, link.grid
    strength, estimate = (
        np.broadcast_to(np.square(np.abs(each[shown, 0])), (shown.stop, grid.num_carriers))
        for each in (channel.response, channel.estimate)
    )
    some = _rng(seed, 3).permutation(LENGTH // 2)[:SHOWN_ELEMENTS]
    noise = noise_of(link, LENGTH).variance * LENGTH / gain**2
    curve = _curve(setting, signals, gain, seed)
    return LinkView(
        frequency=grid.frequencies / 1e6,
        strength=strength,
        estimate=estimate,
        sent=_sent(uplink, signals[shown], shown)[:, some] * np.float32(gain / full_gain / 2**0.5),
        arrived=_arrived(setting, signals, gain, seed, shown)[:, some],
        true_sum=_elements(truth)[some],
        received_sum=_elements(received.total)[some],
        load=received.energy / uplink.budget,
        nmse=float(received.diagnostics["nmse"]),
        expected_nmse=float(np.interp(setting.entry_snr_db, curve.expected_snr_db, curve.expected)),
        noise_part=noise / float(np.square(truth, dtype=np.float64).sum()),
        active=float(received.diagnostics["active_fraction"].mean()),
        gain_db=float(20 * np.log10(gain / full_gain)),
        airtime=float(received.diagnostics["airtime"]),
        clip_rate=float(np.max(received.diagnostics.get("clip_rate", 0.0))),
        curve=curve,
    )


def _rng(*seed: int) -> np.random.Generator:
    return np.random.default_rng(seed)


def _realised(
    setting: Setting,
    snr_db: float,
    seeds: Sequence[tuple[int, ...]],
    use: Callable[[Uplink, int], NDArray],
) -> NDArray:
    """Realise the link at another SNR, once for each seed; see :func:`links.realise`."""
    link = setting.link(entry_snr_db=snr_db)
    rngs, device_rngs = ([_rng(*seed, purpose) for seed in seeds] for purpose in (1, 2))
    return realise(link, setting.clients, LENGTH, rngs, use, device_rngs=device_rngs)


def _elements(vector: NDArray) -> NDArray[np.complex64]:
    """Return elements: entries 2n and 2n+1 are I and Q of element n."""
    return np.ascontiguousarray(vector, np.float32).view(np.complex64)


def _sent(uplink: Uplink, signals: NDArray, shown: slice) -> NDArray[np.complex64]:
    """Return [shown, elements] at unit gain before hardware faults, in the order of the entries."""
    medium = uplink.medium
    packing = medium.packing
    amplitude = medium.precoding.amplitude(medium.channel.estimate)[shown]
    return _elements(packing.unpack(packing.pack(signals) * packing.per_symbol(amplitude)))


def _arrived(
    setting: Setting, signals: NDArray, gain: float, seed: int, shown: slice
) -> NDArray[np.complex64]:
    """Return [shown, elements] of the same round without noise, all other clients silent."""

    def alone(uplink: Uplink, client: int) -> NDArray:
        mask = np.arange(len(signals)) == client
        return uplink.send(signals * mask[:, None], gain).total

    return _elements(_realised(setting, np.inf, [(seed,)] * shown.stop, alone))


def _curve(setting: Setting, signals: NDArray, gain: float, seed: int) -> Curve:
    draws = DRAWS_WITH_FAULTS if setting.faults else DRAWS

    def nmse_of(uplink: Uplink, draw: int) -> NDArray:
        # The closed form holds for one gain, whatever energy that takes in a realisation;
        # amplifiers saturate, so with hardware faults every realisation stays within its budgets.
        affordable = min(gain, uplink.max_gain(signals)) if setting.faults else gain
        return uplink.send(signals, affordable, enforce=False).diagnostics["nmse"]

    seeds = [(seed, draw) for draw in range(draws)]
    nmse = np.array([_realised(setting, snr_db, seeds, nmse_of) for snr_db in SNRS_DB])
    error = nmse.std(axis=1, ddof=1) / np.sqrt(draws)
    expected, why_not = _expected(setting, signals, gain)
    return Curve(SNRS_DB, nmse.mean(axis=1), error, FINE_SNRS_DB, expected, why_not)


def _expected(setting: Setting, signals: NDArray, gain: float) -> tuple[NDArray[np.float64], str]:
    try:
        # the error is affine in the noise variance, so two points give the whole curve
        lost, at_0_db = (
            expected_mse(setting.faultless_link(entry_snr_db=snr_db), signals, gain)
            for snr_db in (np.inf, 0.0)
        )
    except ValueError as error:
        return np.full(len(FINE_SNRS_DB), np.nan), str(error)
    noise = 10 ** (-FINE_SNRS_DB / 10)
    mse = lost + (at_0_db - lost) * noise if np.isfinite(lost) else np.full_like(noise, np.inf)
    return mse / np.square(signals.sum(axis=0), dtype=np.float64).sum(), ""
