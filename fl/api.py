"""What learning needs from outside: a link that adds up vectors, independent of radio.

Arrays are NumPy's. In the shapes below m clients take part in a round, each with a signal of d
entries, under C power constraints per client, and a transmission takes L OFDM symbols.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Protocol, TypeVar, runtime_checkable

import numpy as np
from numpy.typing import ArrayLike, NDArray

Rng = np.random.Generator
Opened_co = TypeVar("Opened_co", covariant=True)


@dataclass(frozen=True)
class Reception:
    """What the server has after a transmission.

    Parameters
    ----------
    total : ndarray, [d]
        The server's estimate of the sum of the signals, with the gain removed.
    energy : ndarray, [m, L]
        Energy that each client spent in each OFDM symbol; L = 1 on links without symbols.
    diagnostics : mapping of str to array
        Further values by name. Those with the name of a metric in :data:`fl.metrics.METRICS` are
        recorded; a link may report none. Every link of this package reports

        nmse : float
            Squared error over the squared norm of the true sum.
        snr_db, entry_snr_db : float
            SNR of the link by both definitions, in dB.
        active_fraction, silent : [m]
            Fraction of the spectrum that a client could use, and whether it could use none.
        airtime, pilot_airtime : float
            Time on the air and the part of it that pilots take, in seconds.
        radiated_energy : [m]
            Energy radiated by each client.

        Links over the air also report ``received_snr_db``, the energy of the sum at the antenna
        over that of the noise in dB, and links with OFDM the number of ``symbols``. For
        :meth:`fl.History.privacy` they report

        noise_std : float
            Standard deviation sigma_c of the receiver's white Gaussian noise in a real entry,
            before the gain is removed.
        largest_arrival : float
            Largest magnitude of an arrival factor; only by links on which it is known before the
            round and at most 1.

        and, for server optimisers, if the noise has the same level in all entries of ``total``,

        sum_noise_std : float
            Standard deviation of the noise in an entry of ``total``, times the gain.
    """

    total: NDArray
    energy: NDArray
    diagnostics: Mapping[str, NDArray]


@runtime_checkable
class Uplink(Protocol):
    """A link opened for one round: channels drawn, CSI estimated.

    An uplink may also have an attribute ``moving`` (bool): whether its channel changes with time.
    Training refuses a round that takes longer than ``round_period`` on such an uplink, because the
    channels of two rounds would overlap in time. Without the attribute the channel is
    assumed static.

    An uplink whose power control depends on the norms of the signals has a method
    ``prepared(signals)``. It returns the uplink with the control computed for those signals, for
    clients that then send less than they have reported, because they scale their signals down.

    Selection of clients by channel needs an attribute ``quality`` (array [m]), the mean power of
    each client's channel, path gain included, as far as it is known when the round begins, and a
    method ``only(places)``, which returns the uplink of some of the clients over the same channels.
    """

    @property
    def budget(self) -> NDArray:
        """[m, C], largest energy under each constraint: per OFDM symbol, or for the whole round."""

    def energy(self, signals: ArrayLike) -> NDArray:
        """Return the energy [m, C] that signals [m, d] would take at unit gain."""

    def load(self, signals: ArrayLike) -> NDArray:
        """Return the largest ratio [m] of energy to budget of each client at unit gain."""

    def max_gain(self, signals: ArrayLike) -> float:
        """Return the largest common gain within every budget; inf if no budget binds."""

    def send(
        self,
        signals: ArrayLike,
        gain: float,
        *,
        weights: ArrayLike | None = None,
        enforce: bool = True,
    ) -> Reception:
        """Send ``gain * signals`` and return the received sum with the gain removed.

        If you send again over the same uplink, the channels are the same and the noise is new.

        Parameters
        ----------
        signals : array_like, [m, d]
            One signal per client.
        gain : float
            Common gain of all clients.
        weights : array_like, [m], optional
            How much each client counts, for a server that corrects for clients it did not hear;
            equal by default. The signals carry their weights already and are not multiplied by
            these.
        enforce : bool
            Whether to raise if a budget is exceeded by more than 1e-5 relative.

        Raises
        ------
        ValueError
            If a budget is exceeded and ``enforce`` is True.
        """


@dataclass(frozen=True)
class Broadcast:
    """What the clients receive when the server broadcasts its model.

    Parameters
    ----------
    received : ndarray, [m, d]
        What each client received; it may be read-only.
    diagnostics : mapping of str to array
        Further values by name; a downlink may report none. Every downlink of this package reports

        downlink_nmse : float
            Squared error over the squared norm of what was sent, averaged over the clients; 0 if
            zeros were sent.
        downlink_airtime : float
            Time on the air, pilots included, in seconds.
    """

    received: NDArray
    diagnostics: Mapping[str, NDArray]


@runtime_checkable
class OpenedDownlink(Protocol):
    """A downlink opened for one round.

    It may also have an attribute ``moving`` (bool), as an :class:`Uplink` has.
    """

    def broadcast(self, vector: ArrayLike) -> Broadcast:
        """Send ``vector`` [d] to all clients.

        If you broadcast again over the same downlink, the channels are the same and the noise is
        new.
        """


class _Opens(Protocol[Opened_co]):
    """What up- and downlinks share."""

    def open(
        self,
        num_clients: int,
        length: int,
        rng: Rng,
        *,
        clients: ArrayLike | None = None,
        time: float = 0.0,
        device_rng: Rng | None = None,
    ) -> Opened_co:
        """Open the link for one round.

        Parameters
        ----------
        num_clients : int
            m, the number of clients that take part.
        length : int
            d, the number of entries of each signal.
        rng : numpy.random.Generator
            Source of everything that is redrawn each round.
        clients : array_like of int, [m], optional
            Global indices of the clients that take part; the first m by default.
        time : float
            Time since the start of the run, in seconds.
        device_rng : numpy.random.Generator, optional
            Identical in every round; determines per-device quantities. If omitted, new devices are
            drawn.

        Returns
        -------
        Uplink or OpenedDownlink
            The link with this round's channels.
        """


@runtime_checkable
class Link(_Opens[Uplink], Protocol):
    """A model of an uplink. It holds no state.

    What persists between rounds is a function of (device_rng, client, time), so a resumed run
    needs no memory of the link.
    """


@runtime_checkable
class Downlink(_Opens[OpenedDownlink], Protocol):
    """A model of a downlink, the mirror image of :class:`Link`. It holds no state.

    Clients train from what they received, and send updates, the differences to it, or whole models.
    Without a downlink the model reaches every client without error, as in the paper.
    """
