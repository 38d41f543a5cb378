"""Labels, units and symbols of keys that sweeps vary, for datasets, tables and figures."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Label:
    """How a key is presented.

    Attributes
    ----------
    text : str
        A few words for axes and headings, without the unit.
    unit : str
        Empty for dimensionless keys.
    symbol : str
        LaTeX, for places with little room.
    """

    text: str
    unit: str = ""
    symbol: str = ""


LABELS = {
    "snr_db": Label("SNR", "dB"),
    "entry_snr_db": Label("entry SNR", "dB"),
    "csi_snr_db": Label("pilot SNR", "dB"),
    "csi_variance": Label("error variance of the channel estimate", symbol=r"$\sigma_e^2$"),
    "csi_delay": Label("age of the channel estimate", "s"),
    "fading_speed": Label("speed", "m/s"),
    "fading_k_factor": Label("Rician K factor", symbol="$K$"),
    "fading_delay_spread": Label("delay spread", "s"),
    "carrier_offset_std": Label("carrier offset, std", "spacings"),
    "timing_offset_std": Label("timing offset, std", "samples"),
    "phase_noise_linewidth": Label("linewidth", "Hz"),
    "rapp_backoff_db": Label("amplifier backoff", "dB"),
    "soft_limiter_backoff_db": Label("limiter backoff", "dB"),
    "adc_bits": Label("converter resolution", "bits"),
    "grid_symbols_per_slot": Label("OFDM symbols between synchronisations"),
    "transmit": Label("client hardware"),
    "receive": Label("server hardware"),
    "truncation": Label(r"truncation threshold $g$ on $|h|^2$", symbol="$g$"),
    "labels_per_client": Label("labels per client $p$", symbol="$p$"),
    "concentration": Label("Dirichlet concentration"),
    "interleaver_seed": Label("interleaver"),
    "algorithm": Label("algorithm"),
    "variant": Label("variant"),
    "link": Label("link"),
    "clients": Label("clients"),
    "rate": Label("learning rate"),
    "seed": Label("seed"),
}
"""By the name of the axis (:attr:`scenarios.config.sweep.Axis.name`)."""


def label_of(name: str) -> Label:
    """Return the label of an axis; its name in words if it has none of its own.

    >>> label_of("fading_speed").unit, label_of("server_step").text
    ('m/s', 'server step')
    """
    return LABELS.get(name) or Label(name.replace("_", " "))
