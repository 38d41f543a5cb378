"""What the page shows of a setting: one round over its link, and the curve of its error."""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray
from threadpoolctl import threadpool_limits

from figures.link_view import LENGTH, SIGNALS, LinkView, RadioView, look_at
from links.radio import noise_of
from otafl._base.decibels import to_db
from otafl.demo.curve import Curve, curve_of
from otafl.demo.setting import Setting

FULL_GAIN = 1 / float(np.sqrt(LENGTH))  # for entries of unit variance on channels of abs(h) = 1
KEPT = 16  # a class opens the same pages; a snapshot takes some megabytes


@dataclass(frozen=True, eq=False)
class Snapshot:
    """One round and its error.

    Attributes
    ----------
    setting : Setting
        What it is a snapshot of.
    view : LinkView
        The round.
    curve : Curve
        NMSE against SNR.
    """

    setting: Setting
    view: LinkView
    curve: Curve

    @property
    def radio(self) -> RadioView:
        """The round on the elements of the OFDM grid."""
        assert self.view.radio is not None  # all links of the page have a grid
        return self.view.radio

    @property
    def nmse(self) -> float:
        """NMSE of the sum in this round."""
        return self.view.nmse

    @property
    def expected_nmse(self) -> float:
        """Closed form of the mean NMSE without hardware faults; NaN if there is none."""
        curve = self.curve
        return float(np.interp(self.setting.entry_snr_db, curve.expected_snr_db, curve.expected))

    @property
    def noise_part(self) -> float:
        """The part of the mean NMSE that noise causes."""
        noise = noise_of(self.setting.link(), LENGTH).variance * LENGTH / self.view.gain**2
        return noise / float(np.square(np.abs(self.view.true_sum)).sum(dtype=np.float64))

    @property
    def active(self) -> float:
        """Fraction of carriers on which a client transmits, averaged over the clients."""
        return _active(self.view)

    @property
    def gain_db(self) -> float:
        """The common gain relative to that on channels with abs(h) = 1 [dB]."""
        return 2 * float(to_db(self.view.gain / FULL_GAIN))

    @property
    def airtime(self) -> float:
        """Time on the air [s]."""
        return float(self.view.reception.diagnostics["airtime"])

    @property
    def clip_rate(self) -> float:
        """Fraction of clipped samples of the client that clips most."""
        return float(np.max(self.view.reception.diagnostics.get("clip_rate", 0.0)))


def payload(setting: Setting) -> NDArray[np.float32]:
    """Draw the clients' vectors, [clients, LENGTH], with entries of unit variance."""
    rng, size = np.random.default_rng([setting.seed, SIGNALS]), (setting.clients, LENGTH)
    if setting.payload == "votes":
        return rng.choice(np.array([-1, 1], np.float32), size)
    return rng.standard_normal(size, dtype=np.float32)


@lru_cache(maxsize=KEPT)
def snapshot(setting: Setting) -> Snapshot:
    """Simulate a round and its curve; equal settings give equal snapshots."""
    signals = payload(setting)
    with threadpool_limits(1, "blas"):  # more threads are slower with matrices this small
        view = look_at(setting.link(), signals, seed=setting.seed)
        if _active(view) == 0:  # nobody transmits: any gain is within the budgets
            view = look_at(setting.link(), signals, seed=setting.seed, gain=FULL_GAIN)
        return Snapshot(setting, view, curve_of(setting, signals, view.gain))


def _active(view: LinkView) -> float:
    return float(view.reception.diagnostics["active_fraction"].mean())
