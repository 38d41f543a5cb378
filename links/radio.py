"""Power and noise, defined once for every link.

Block SNR, the paper's: snr_db = reference_power / sigma_c^2, with sigma_c^2 the noise variance of
a real entry. Entry SNR: entry_snr_db = reference_power / (d sigma_c^2), the Es/N0 of a resource
element when the block's power is spread over its d entries. Complex noise of a resource element
has variance N0 = 2 sigma_c^2. Changing a client's power changes no noise.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from links.opening import Opening
from phy.checks import Scalars, assign, number, numbers_each

DEFAULT_SNR_DB = 10.0
WEAKEST, STRONGEST = 1e-30, 1e30  # powers that float32 can work with


class Noise(NamedTuple):
    """How loud the noise is.

    snr_db, entry_snr_db : by both definitions
    variance : sigma_c^2 of a real entry
    """

    snr_db: NDArray[np.float64]
    entry_snr_db: NDArray[np.float64]
    variance: NDArray[np.float64]

    @property
    def std(self) -> NDArray[np.float64]:
        return np.sqrt(self.variance)

    @property
    def report(self) -> dict[str, NDArray[np.float64]]:
        return {"snr_db": self.snr_db, "entry_snr_db": self.entry_snr_db}


@dataclass(frozen=True, kw_only=True)
class RadioLink:
    """What every link with a transmitter takes.

    snr_db : block SNR [dB], one or one a trial; inf is no noise; 10 dB if no SNR is given
    entry_snr_db : SNR of a single entry [dB], instead of ``snr_db``
    power : limit on the energy of a round, one or one a client (by global index)
    path_gain : mean power of the channel, one or one a client (by global index)
    reference_power : the power that the SNR speaks of
    """

    snr_db: Scalars | None = None
    entry_snr_db: Scalars | None = None
    power: Scalars = 1.0
    path_gain: Scalars = 1.0
    reference_power: float = 1.0

    def __post_init__(self) -> None:
        if self.snr_db is not None and self.entry_snr_db is not None:
            raise ValueError(
                f"snr_db = {self.snr_db!r} and entry_snr_db = {self.entry_snr_db!r}: give only one"
            )
        for name in ("snr_db", "entry_snr_db"):
            if getattr(self, name) is not None:
                checked = numbers_each(name, getattr(self, name), least=-200, infinite=True)
                assign(self, **{name: checked})
        assign(
            self,
            power=numbers_each("power", self.power, least=WEAKEST, most=STRONGEST),
            path_gain=numbers_each("path_gain", self.path_gain, least=WEAKEST, most=STRONGEST),
            reference_power=number(
                "reference_power", self.reference_power, least=WEAKEST, most=STRONGEST
            ),
        )

    def noise(self, length: int) -> Noise:
        """For vectors of ``length`` entries; scalars, or one value a trial as the SNR was given."""
        spread = 10 * math.log10(length)
        if self.entry_snr_db is None:
            given = DEFAULT_SNR_DB if self.snr_db is None else self.snr_db
            block = np.asarray(given, np.float64)
            entry = block - spread
        else:
            entry = np.asarray(self.entry_snr_db, np.float64)
            block = entry + spread
        return Noise(block, entry, self.reference_power * 10 ** (-block / 10))

    def noise_of(self, opening: Opening) -> Noise:
        """One value a trial."""
        noise = self.noise(opening.length)
        given, trials = noise.snr_db.shape, opening.num_trials
        if given and (not opening.batched or given != (trials,)):
            field = "snr_db" if self.entry_snr_db is None else "entry_snr_db"
            have = f"there are {trials} trials" if opening.batched else "there is no trial axis"
            raise ValueError(f"{field} has {given[0]} values, one a trial, but {have}")
        return Noise(*(np.full(trials, level) for level in noise))

    def powers(self, opening: Opening) -> NDArray[np.float64]:
        """[num_clients] limits of those who take part."""
        return _each_client("power", self.power, opening)

    def path_gains(self, opening: Opening) -> NDArray[np.float64]:
        """[num_clients] of those who take part."""
        return _each_client("path_gain", self.path_gain, opening)


def _each_client(field: str, value: Scalars, opening: Opening) -> NDArray[np.float64]:
    values = np.asarray(value, np.float64)
    if values.ndim == 0:
        return np.full(opening.num_clients, float(values))
    if opening.everyone and len(values) != opening.num_clients:
        raise ValueError(
            f"{field} has {len(values)} values, one a client, but {opening.num_clients} take part: "
            "give as many, or say which clients do"
        )
    if opening.clients.max() >= len(values):
        raise ValueError(
            f"{field} has {len(values)} values, one a client, but client "
            f"{opening.clients.max()} takes part"
        )
    return values[opening.clients]


def received_snr_db(signal: float, gain: float, noise: float) -> float:
    """Energy ``gain^2 signal`` over that of the noise [dB], whichever of them is zero."""
    if signal == 0:
        return -math.inf
    if noise == 0 or math.isinf(gain):
        return math.inf
    return 10 * math.log10(signal / noise) + 20 * math.log10(gain)
