"""Any Sionna channel model as fading: CDL, UMi, UMa, RMa, TDL, RayleighBlockFading, CIRs."""

from __future__ import annotations

import inspect
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import NDArray

from otafl._base import lazy
from otafl._base.arrays import FloatArray, IntArray, Rng
from otafl._base.names import options
from otafl._base.validation import OptionError, assign, number
from phy.fading import Fading, Taps

MOST_STEPS = 20_000  # a model holds them all at once
FINEST_STEP, COARSEST_STEP = 64, 4  # fractions of a slot that instants are rounded to


@options
@dataclass(frozen=True)
class SionnaFading(Fading):
    """Fading drawn by a Sionna ``ChannelModel`` with one antenna at either end.

    A model of one link (TDL, CDL, a CIRDataset of single links) is called with the clients in its
    batch axis. A model with several transmitters (RayleighBlockFading with num_tx, UMi, UMa or RMa
    with a topology and ``direction="uplink"``) has client i as its transmitter i.

    The model is seeded from the round's rng and called once per round, so channels are independent
    from round to round: a Sionna model keeps no state that could correlate them. A CIRDataset
    returns its responses in its own order, whatever the seed. In the cellular models (UMi, UMa,
    RMa), delays may exceed the default prefix.

    Parameters
    ----------
    model : sionna.phy.channel.ChannelModel
        As built by the user.
    mean_power : float
        Mean power of the model's response; it is divided out so that fading has unit mean power.
        Measured or ray-traced responses and models with path loss need it; path loss that differs
        between clients belongs in the link's ``path_gain``.

    Examples
    --------
    ::

        from sionna.phy.channel import RayleighBlockFading
        fading = SionnaFading(RayleighBlockFading(1, 1, num_tx=10, num_tx_ant=1))
    """

    model: Any
    mean_power: float = 1.0

    moving = True  # the model may move: it is asked for every slot
    continuous = False  # it is new in every round

    def __post_init__(self) -> None:
        if isinstance(self.model, type) or not callable(self.model):
            raise OptionError("model", "an instance of a Sionna channel model", self.model)
        assign(self, mean_power=number("mean_power", self.mean_power, above=0))

    def draw(self, clients: IntArray, times: FloatArray, rng: Rng, device_rng: Rng | None) -> Taps:
        """Call the model once; see :meth:`phy.fading.Fading.draw`."""
        steps, rate = _time_grid(times)
        lazy.sionna().config.seed = int(rng.integers(2**31))
        a, tau = self._call(len(clients), int(steps.max()) + 1, rate)
        gains, delays = _of_clients(a, tau, clients)
        if gains.shape[1] == 1:  # a model without time, such as a recorded snapshot
            gains = np.repeat(gains, len(times), axis=1)
        elif gains.shape[1] <= steps.max():
            raise ValueError(
                f"model must give one time step or {steps.max() + 1}, for the round and the age of "
                f"its CSI, got {gains.shape[1]}"
            )
        else:
            gains = gains[:, steps]
        if not np.isfinite(gains).all():
            raise ValueError("model must give finite path coefficients, got NaN or infinity")
        gains = gains / np.sqrt(self.mean_power)
        power = float(np.square(np.abs(gains)).sum(axis=-1).mean())
        if not 1e-6 < power < 1e6:
            raise ValueError(
                f"mean_power must be that of the model, {power * self.mean_power:.3g}, got "
                f"{self.mean_power:g}: give it, or build the model without path loss"
            )
        return Taps(gains.astype(np.complex64), delays)

    def _call(self, num_clients: int, num_steps: int, rate: float) -> tuple[NDArray, NDArray]:
        takes = inspect.signature(self.model.__call__).parameters
        if "batch_size" not in takes:  # a system-level model: its topology says how many
            a, tau = self.model(num_steps, rate)
        else:
            # a model of one link has no number of transmitters
            batch = 1 if getattr(self.model, "num_tx", 1) > 1 else num_clients
            a, tau = self.model(batch, num_steps, rate)
        return np.asarray(a), np.asarray(tau, np.float64)


def _of_clients(a: NDArray, tau: NDArray, clients: IntArray) -> tuple[NDArray, FloatArray]:
    """Return gains [num_clients, num_times, num_paths] and delays [num_clients, num_paths]."""
    batch, num_rx, num_rx_ant, num_tx, num_tx_ant, _, _ = a.shape
    if (num_rx, num_rx_ant, num_tx_ant) != (1, 1, 1):
        raise ValueError(
            "model must have one receiver and one antenna at either end (direction='uplink'), got "
            f"num_rx = {num_rx}, num_rx_ant = {num_rx_ant}, num_tx_ant = {num_tx_ant}"
        )
    if num_tx > 1:
        if clients.max() >= num_tx:
            raise ValueError(
                f"model must have a transmitter for client {clients.max()}, got {num_tx} of them"
            )
        a, tau = a[0, 0, 0, clients, 0], tau[0, 0, clients]
    else:
        if batch < len(clients):
            raise ValueError(
                f"model must give {len(clients)} links at a time, one per client, got {batch}: "
                "set its batch_size"
            )
        a, tau = a[: len(clients), 0, 0, 0, 0], tau[: len(clients), 0, 0]
    return np.swapaxes(a, 1, 2), tau


def _time_grid(times: FloatArray) -> tuple[IntArray, float]:
    """Return where ``times`` lie on a uniform grid from zero, and its sampling frequency [Hz]."""
    since = times - times.min()
    gaps = np.diff(np.unique(since))
    if not len(gaps):
        return np.zeros(len(times), np.int64), 1.0
    unit = abs(times[1] - times[0]) if len(times) > 2 else gaps[0]  # a slot, or the age of the CSI
    parts = [Fraction(t / unit).limit_denominator(FINEST_STEP).denominator for t in since]
    longest = since.max() / unit
    finest = min(int(np.lcm.reduce(parts)), FINEST_STEP, int((MOST_STEPS - 1) / longest))
    if finest < min(COARSEST_STEP, int(np.lcm.reduce(parts))):
        raise ValueError(
            f"the channel model must cover at most {MOST_STEPS} time steps from the age of the CSI "
            f"to the end of the block, got {longest:.0f} slots: give a shorter delay or vector"
        )
    steps = np.rint(since / unit * finest).astype(np.int64)
    return steps, finest / unit
