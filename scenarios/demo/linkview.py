"""One round over the air, taken apart for the eye."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from links.ofdm import OfdmSlot
from links.theory import expected_mse
from links.waveform import WaveformSlot
from phy import OfdmGrid
from scenarios.demo.setting import Setting

GRID = OfdmGrid()
SYMBOLS = 6
LENGTH = 2 * GRID.num_carriers * SYMBOLS
SHOWN_CLIENTS = 4
SHOWN_ELEMENTS = 250  # more would only blacken the picture
SNRS_DB = np.arange(-40.0, 41.0, 10.0)
FINE_SNRS_DB = np.arange(-40.0, 41.0)
DRAWS = 40
DRAWS_WITH_FAULTS = 8  # samples take longer than carriers


@dataclass(frozen=True, eq=False)
class Curve:
    """NMSE against SNR at the gain of the round, over new draws of all that is drawn.

    With faults a draw that cannot afford this gain has a smaller one.

    entry_snr_db : [S]
    mean, error : [S], measured, and the standard error of that mean
    expected : at ``expected_snr_db``, by closed form, without hardware faults; NaN if there is none
    why_not : there is none
    """

    entry_snr_db: NDArray[np.float64]
    mean: NDArray[np.float64]
    error: NDArray[np.float64]
    expected_snr_db: NDArray[np.float64]
    expected: NDArray[np.float64]
    why_not: str


@dataclass(frozen=True, eq=False)
class LinkView:
    """What there is to see; ``shown`` are the first few clients.

    frequency : [carriers], of baseband [MHz]
    strength : [shown, carriers], |h|^2
    estimate : [shown, carriers], |h^|^2, what the clients take it for
    sent : [shown, n], elements as they leave a client, in units of the rms that the budget allows
    arrived : [shown, n], the same elements as they arrive, each client by itself and without noise
    true_sum, received_sum : [n], elements of the sum
    load : [clients, SYMBOLS], energy over budget
    nmse : of this round
    expected_nmse : on average over fading, by closed form without faults; NaN if there is none
    noise_part : of that, what noise makes on average
    active : share of carriers on which a client sends, mean over the clients
    gain_db : the common gain, relative to what a channel of |h| = 1 would allow
    airtime : [s]
    clip_rate : the largest of the clients'
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
    """[clients, LENGTH], entries of unit variance."""
    drawn = rng.standard_normal((setting.clients, LENGTH), dtype=np.float32)
    return np.sign(drawn) if setting.payload == "votes" else drawn


def look_at(setting: Setting, seed: int = 0) -> LinkView:
    """A round with these settings; the same seed meets the same fading, devices and noise."""
    signals = payload_of(setting, np.random.default_rng([seed, 0]))
    link = setting.link()
    slot = link.open(setting.clients, LENGTH, _round_rng(seed), device_rng=_device_rng(seed))
    full_gain = 1 / np.sqrt(LENGTH)  # of entries of unit variance on a channel of |h| = 1
    gain = float(slot.max_gain(signals))
    if np.isinf(gain):  # nobody sends, and the server hears noise alone
        gain = float(full_gain)
    received = slot.send(signals, gain)
    truth = signals.sum(axis=0)

    shown = slice(0, min(SHOWN_CLIENTS, setting.clients))
    channel, grid = slot.channels[0], slot.packing.grid
    strength, estimate = (
        np.broadcast_to(np.square(np.abs(each[shown, 0])), (shown.stop, grid.num_carriers))
        for each in (channel.response, channel.estimate)
    )
    some = np.random.default_rng([seed, 3]).permutation(LENGTH // 2)[:SHOWN_ELEMENTS]
    noise = float(link.noise(LENGTH).variance) * LENGTH / gain**2
    curve = _curve(setting, signals, gain, seed)
    return LinkView(
        frequency=grid.frequencies / 1e6,
        strength=strength,
        estimate=estimate,
        sent=_sent(slot, signals[shown], shown)[:, some] * np.float32(gain / full_gain / 2**0.5),
        arrived=_arrived(setting, signals, gain, seed, shown)[:, some],
        true_sum=_elements(truth)[some],
        received_sum=_elements(received.total)[some],
        load=np.asarray(received.energy / slot.budget),
        nmse=float(received.diagnostics["nmse"]),
        expected_nmse=float(np.interp(setting.entry_snr_db, curve.expected_snr_db, curve.expected)),
        noise_part=noise / float(np.square(truth, dtype=np.float64).sum()),
        active=float(received.diagnostics["active_fraction"].mean()),
        gain_db=float(20 * np.log10(gain / full_gain)),
        airtime=float(received.diagnostics["airtime"]),
        clip_rate=float(np.max(received.diagnostics.get("clip_rate", 0.0))),
        curve=curve,
    )


def _round_rng(*seed: int) -> np.random.Generator:
    return np.random.default_rng([*seed, 1])


def _device_rng(*seed: int) -> np.random.Generator:
    return np.random.default_rng([*seed, 2])


def _elements(vector: NDArray) -> NDArray[np.complex64]:
    """Entries 2n and 2n+1 are I and Q of element n."""
    return np.ascontiguousarray(vector, np.float32).view(np.complex64)


def _sent(slot: OfdmSlot | WaveformSlot, signals: NDArray, shown: slice) -> NDArray[np.complex64]:
    """[shown, elements] at unit gain, in the order of the entries; no fault has touched them."""
    packing = slot.packing
    amplitude = slot.precodings[0].amplitude(slot.channels[0])[shown]
    return _elements(packing.unpack(packing.pack(signals) * packing.per_symbol(amplitude)))


def _arrived(
    setting: Setting, signals: NDArray, gain: float, seed: int, shown: slice
) -> NDArray[np.complex64]:
    """[shown, elements]: the same round without noise, with all other clients silent."""
    link = setting.link(entry_snr_db=np.inf)
    alone = np.zeros((shown.stop, *signals.shape), np.float32)
    for client in range(shown.stop):
        alone[client, client] = signals[client]
    slot = link.open(
        setting.clients,
        LENGTH,
        [_round_rng(seed) for _ in alone],
        device_rng=[_device_rng(seed) for _ in alone],
    )
    return _elements(slot.send(alone, gain).total)


def _curve(setting: Setting, signals: NDArray, gain: float, seed: int) -> Curve:
    draws = DRAWS_WITH_FAULTS if setting.faults else DRAWS
    link = setting.link(entry_snr_db=np.repeat(SNRS_DB, draws))
    seeds = [(seed, draw) for _ in SNRS_DB for draw in range(draws)]
    rngs, devices = ([make(*each) for each in seeds] for make in (_round_rng, _device_rng))
    slot = link.open(setting.clients, LENGTH, rngs, device_rng=devices)
    everywhere = np.broadcast_to(signals, (len(seeds), *signals.shape))
    # Other fadings cost other energies. The closed form is for one gain, whatever it costs; but
    # amplifiers saturate, so with them every draw keeps its budgets.
    gains = np.minimum(gain, slot.max_gain(everywhere)) if setting.faults else gain
    sent = slot.send(everywhere, gains, enforce=False)
    nmse = sent.diagnostics["nmse"].reshape(len(SNRS_DB), draws)
    error = nmse.std(axis=1, ddof=1) / np.sqrt(draws)
    expected, why_not = _expected(setting, signals, gain)
    return Curve(SNRS_DB, nmse.mean(axis=1), error, FINE_SNRS_DB, expected, why_not)


def _expected(setting: Setting, signals: NDArray, gain: float) -> tuple[NDArray[np.float64], str]:
    try:
        mse = expected_mse(setting.faultless_link(entry_snr_db=FINE_SNRS_DB), signals, gain)
    except ValueError as error:
        return np.full(len(FINE_SNRS_DB), np.nan), str(error)
    return mse / np.square(signals.sum(axis=0), dtype=np.float64).sum(), ""
