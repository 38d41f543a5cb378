"""One round over a link, as the quantities that its pictures show."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from fl.api import Link, Reception
from links.uplink import Uplink
from otafl._base.arrays import ComplexArray, FloatArray
from otafl._base.names import check_names
from otafl._base.validation import OptionError, integer, real_array
from phy import OfdmGrid
from phy.waveform import modulate, papr

SHOWN_CLIENTS = 4
LENGTH = 4800  # entries: six OFDM symbols of the default grid
SIGNALS, DRAWS, DEVICES, SAMPLES = range(4)  # purposes of random numbers


@dataclass(frozen=True, eq=False)
class RadioView:
    """A round on the resource elements of an OFDM grid; ``shown`` counts the first few clients.

    Elements that hold padding are NaN.

    Attributes
    ----------
    grid : OfdmGrid
        Numerology.
    strength, estimate : ndarray of float, shape [shown, num_carriers]
        abs(h)^2 of the channels, without path gain, and of the clients' channel estimates; in the
        first slot.
    threshold : float
        The truncation threshold on the estimate.
    symbols : ndarray of complex, shape [shown, num_symbols, num_carriers]
        What each client wants to add to the sum.
    sent : ndarray of complex, shape [m, num_symbols, num_carriers]
        The elements as all m clients transmit them, before hardware impairments; 1 is the rms that
        the budget allows.
    arrived : ndarray of complex, shape [shown, num_symbols, num_carriers]
        The elements as they arrive, each client on its own, without noise and before the server
        corrects for silent clients.
    true_sum, received_sum : ndarray of complex, shape [num_symbols, num_carriers]
        The sum that the server should receive, and what it makes of the one that it does.
    hardware : callable or None
        Returns the samples that leave the clients' antennas, given elements as in ``sent``; None
        for links without hardware.
    """

    grid: OfdmGrid
    strength: FloatArray
    estimate: FloatArray
    threshold: float
    symbols: ComplexArray
    sent: ComplexArray
    arrived: ComplexArray
    true_sum: ComplexArray
    received_sum: ComplexArray
    hardware: Callable[[ComplexArray], ComplexArray] | None

    @cached_property
    def samples(self) -> ComplexArray:
        """[m, n] samples that leave the antennas, prefix included; 1 is the rms allowed."""
        if self.hardware is None:
            samples = modulate(self.grid, self._on_used_carriers)
        else:
            samples = self.hardware(np.nan_to_num(self.sent))
        # the N samples of a symbol share the energy of its elements
        return samples * np.float32(np.sqrt(self.grid.fft_size / self.grid.num_carriers))

    @cached_property
    def papr_db(self) -> FloatArray:
        """[m, num_symbols] PAPR of the symbols in digital baseband, oversampled, no pilots [dB]."""
        return 10 * np.log10(papr(self.grid, self._on_used_carriers))

    @cached_property
    def evm(self) -> FloatArray:
        """[shown, num_carriers] rms error of a client's elements over the rms of all of them.

        A client on its own and without noise: what CSI, truncation and hardware do to it. On a
        carrier on which the client is silent it is 1 if all elements have equal power.
        """
        error = np.square(np.abs(self.arrived - self.symbols), dtype=float)
        power = np.square(np.abs(self.symbols), dtype=float)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", RuntimeWarning)  # a carrier with padding only
            mean = np.nanmean(power, axis=(1, 2))[:, None]
            return np.sqrt(np.nanmean(error, axis=1) / mean)

    @cached_property
    def carrier_nmse(self) -> FloatArray:
        """[num_carriers] squared error of the sum over its mean power, noise included."""
        error = np.square(np.abs(self.received_sum - self.true_sum), dtype=float)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", RuntimeWarning)
            return np.nanmean(error, axis=0) / np.nanmean(np.square(np.abs(self.true_sum)))

    @cached_property
    def _on_used_carriers(self) -> ComplexArray:
        """The elements of ``sent`` with zeros where pilots are."""
        grid = self.grid
        elements = np.zeros((*self.sent.shape[:2], len(grid.used_carriers)), np.complex64)
        elements[..., ~grid.is_pilot] = np.nan_to_num(self.sent)
        return elements


@dataclass(frozen=True, eq=False)
class LinkView:
    """One round over a link.

    Attributes
    ----------
    name : str
        Class of the link.
    gain : float
        Common gain of all signals.
    true_sum, received_sum : ndarray of complex, shape [n]
        Entries 2n and 2n + 1 of the sum on I and Q, in the order of the entries.
    load : ndarray of float, shape [m, L]
        Energy of each client in each OFDM symbol over its budget there, or over an equal share of
        its budget for the round; zero where there is no budget.
    reception : Reception
        What the server received, with the diagnostics of the link.
    radio : RadioView or None
        The round on the elements of an OFDM grid, for links that have one.
    """

    name: str
    gain: float
    true_sum: ComplexArray
    received_sum: ComplexArray
    load: FloatArray
    reception: Reception
    radio: RadioView | None

    @property
    def nmse(self) -> float:
        """NMSE of the sum in this round."""
        truth, error = self.true_sum, self.received_sum - self.true_sum
        power, errors = (float(np.square(np.abs(each)).sum(dtype=float)) for each in (truth, error))
        return errors / power if power else float("inf" if errors else 0)


@check_names
def look_at(
    link: Link,
    signals: ArrayLike | None = None,
    *,
    num_clients: int = 5,
    gain: float | None = None,
    seed: int = 0,
    shown: int = SHOWN_CLIENTS,
) -> LinkView:
    """Send one round over a link and keep what its pictures show.

    Parameters
    ----------
    link : Link
        Any link; links on an OFDM grid have more to show.
    signals : array_like, shape [m, d], optional
        The clients' vectors. By default 4800 votes of +1 or -1 per client, whose elements form a
        constellation of four points.
    num_clients : int
        Number of clients, if ``signals`` is not given.
    gain : float, optional
        Common gain; the largest within every budget by default, or 1 if none binds.
    seed : int
        Equal seeds give equal fading, devices and noise.
    shown : int
        Of how many clients the elements are kept.

    Returns
    -------
    LinkView

    Examples
    --------
    >>> import otafl
    >>> view = look_at(otafl.OfdmLink(entry_snr_db=20), num_clients=3)
    >>> view.radio.sent.shape, view.load.shape
    ((3, 6, 400), (3, 6))
    """
    integer("shown", shown, least=1)
    if signals is None:
        size = (integer("num_clients", num_clients, least=1), LENGTH)
        vectors = _rng(seed, SIGNALS).choice(np.array([-1, 1], np.float32), size)
    else:
        vectors = real_array("signals", signals)
        if vectors.ndim != 2 or not vectors.size:
            raise OptionError("signals", "of shape [m, d]", got=f"shape {vectors.shape}")
    uplink = _open(link, vectors, seed)
    if gain is None:
        largest = uplink.max_gain(vectors)
        gain = float(largest) if np.isfinite(largest) else 1.0
    reception = uplink.send(vectors, gain, enforce=False)
    radio = None
    if hasattr(getattr(uplink, "medium", None), "packing"):
        used = uplink.prepared(vectors)
        radio = _radio_view(link, used, vectors, gain, reception, seed, min(shown, len(vectors)))
    return LinkView(
        name=type(link).__name__,
        gain=gain,
        true_sum=as_elements(vectors.sum(axis=0, dtype=np.float64)),
        received_sum=as_elements(reception.total),
        load=_load(uplink.budget, reception.energy),
        reception=reception,
        radio=radio,
    )


def as_elements(vector: NDArray) -> ComplexArray:
    """Return ``[..., d]`` real as ``[..., ceil(d / 2)]``: entries 2n and 2n + 1 are I and Q."""
    *leading, length = vector.shape
    padded = np.zeros((*leading, length + length % 2), np.float32)
    padded[..., :length] = vector
    return padded.view(np.complex64)


def _rng(seed: int, purpose: int) -> np.random.Generator:
    return np.random.default_rng([seed, purpose])


def _open(link: Link, vectors: NDArray, seed: int) -> Any:
    draws, devices = _rng(seed, DRAWS), _rng(seed, DEVICES)
    return link.open(len(vectors), vectors.shape[1], draws, device_rng=devices)


def _load(budget: FloatArray, energy: FloatArray) -> FloatArray:
    shares = 1 if budget.shape[1] == energy.shape[1] else energy.shape[1] / budget.shape[1]
    return np.asarray(energy / (budget / shares), float)


def _radio_view(
    link: Any,
    uplink: Uplink,
    vectors: NDArray,
    gain: float,
    reception: Reception,
    seed: int,
    shown: int,
) -> RadioView:
    medium = uplink.medium
    packing, channel = medium.packing, medium.channel
    grid: OfdmGrid = packing.grid
    filled = np.ones(packing.num_elements // packing.grain, bool)
    filled[packing.empty] = False
    filled = np.repeat(filled, packing.grain).reshape(packing.num_symbols, -1)

    def masked(elements: ComplexArray) -> ComplexArray:
        return np.where(filled, elements, np.complex64(np.nan))

    def placed(values: NDArray) -> ComplexArray:
        return masked(packing.pack(values))

    def on_data(values: NDArray) -> NDArray:
        """Return ``[m, slots, used carriers]`` on the data carriers."""
        used = len(grid.used_carriers)
        has_pilots = grid.pilots and values.shape[-1] == used
        return values[..., ~grid.is_pilot] if has_pilots else values

    def power(values: NDArray) -> FloatArray:
        first = np.square(np.abs(on_data(values)[:shown, 0]), dtype=float)
        return np.broadcast_to(first, (shown, grid.num_carriers))

    # energies are those of elements; a budget for the round is shared by its symbols
    budget = uplink.budget.sum(axis=1)
    allowed = np.sqrt(np.where(np.isfinite(budget), budget, 1.0) / packing.num_elements)
    scale = (gain / allowed)[:, None, None].astype(np.float32)
    amplitude = on_data(medium.precoding.amplitude(channel.estimate))
    symbols = placed(vectors)
    hardware = None
    if hasattr(medium, "samples"):

        def hardware(sent: ComplexArray) -> ComplexArray:
            samples = medium.samples.transmitted(sent / scale, gain, channel, _rng(seed, SAMPLES))
            return samples * scale[..., 0]

    return RadioView(
        grid=grid,
        strength=power(channel.response),
        estimate=power(channel.estimate),
        threshold=float(link.truncation) if link.control == "inversion" else 0.0,
        symbols=symbols[:shown],
        sent=symbols * packing.per_symbol(amplitude) * scale,
        arrived=masked(np.stack([*_arrived(medium, vectors, gain, seed, shown)])),
        true_sum=placed(vectors.sum(axis=0, dtype=np.float64)),
        received_sum=placed(reception.total),
        hardware=hardware,
    )


def _arrived(
    medium: Any, vectors: NDArray, gain: float, seed: int, shown: int
) -> Iterator[ComplexArray]:
    """Yield what arrives of each client on its own, without noise."""
    for client in range(shown):
        alone = np.zeros_like(vectors)
        alone[client] = vectors[client]
        arrived, _ = medium.superpose(alone)
        if hasattr(medium, "samples"):  # these are what clients send
            arrived, _ = medium.carried(arrived, gain, 0.0, _rng(seed, SAMPLES))
        yield arrived
