"""Settings to begin with, each with a sentence of what it shows."""

from __future__ import annotations

from dataclasses import replace
from typing import NamedTuple

from otafl.demo.setting import Setting


class Preset(NamedTuple):
    """A setting worth looking at, and why."""

    setting: Setting
    sentence: str


PRESETS = {
    "Counting votes": Preset(
        Setting(),
        "Five clients vote on every entry; the position of a received point counts their votes.",
    ),
    "Noise only": Preset(
        Setting(fading="none", truncation=0.0, entry_snr_db=3.0),
        "Without fading nothing but noise moves the points, and measurement and theory coincide.",
    ),
    "The weakest client": Preset(
        Setting(clients=10, fading="Rayleigh, flat", truncation=0.0, seed=1),
        "Without truncation, the client with the weakest channel sets the gain of all, and the "
        "others hold back.",
    ),
    "Silent clients": Preset(
        Setting(clients=10, fading="TDL-C, 300 ns", truncation=0.4, entry_snr_db=30.0),
        "A high truncation threshold saves power, but clients that stay silent leave gaps in the "
        "sum that no SNR fills.",
    ),
    "Wrong estimates": Preset(
        Setting(csi_error=0.05, entry_snr_db=30.0),
        "Clients that invert an inaccurate estimate arrive smeared, and the error has a floor.",
    ),
    "Drifting oscillators": Preset(
        Setting(clients=4, carrier_offset=0.03, entry_snr_db=30.0),
        "Every client's points rotate by an angle of their own, further in every OFDM symbol.",
    ),
    "Saturating amplifiers": Preset(
        Setting(fading="none", truncation=0.0, backoff_db=0.0, entry_snr_db=30.0),
        "Amplifiers driven into saturation clip the peaks of OFDM: what arrives shrinks and blurs.",
    ),
    "Training in noise": Preset(
        Setting(clients=10, truncation=0.05, entry_snr_db=-29.0),
        "Noise drowns this round, yet a training learns: press Train. For a model of 7850 weights "
        "this is a block SNR of 10 dB.",
    ),
}


def preset_of(setting: Setting) -> str:
    """Return the name of the preset that a setting is a round of, or an empty string.

    Rounds of a preset differ in the seed.
    """
    for name, preset in PRESETS.items():
        if replace(setting, seed=preset.setting.seed) == preset.setting:
            return name
    return ""
