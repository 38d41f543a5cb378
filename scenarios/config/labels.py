"""Labels, units and symbols of keys that sweeps vary, for datasets, tables and figures."""

from __future__ import annotations

import math
from dataclasses import dataclass


def plain(value: object) -> str:
    """Return a value as figures show it, a number with three digits.

    >>> plain(0.12345), plain(1000.0), plain(1e-8), plain("flat")
    ('0.123', '1000', '$10^{-8}$', 'flat')
    """
    if isinstance(value, bool) or not isinstance(value, int | float):
        return str(value)
    if math.isinf(value):
        return r"$\infty$" if value > 0 else r"$-\infty$"
    mantissa, _, exponent = f"{value:.3g}".partition("e")
    if not exponent:
        return mantissa.replace("-", "\N{MINUS SIGN}")
    if 0 <= int(exponent) <= 5:
        return f"{value:.0f}".replace("-", "\N{MINUS SIGN}")
    factor = {"1": "", "-1": "-"}.get(mantissa, rf"{mantissa}\times ")
    return f"${factor}10^{{{int(exponent)}}}$"


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
        A LaTeX symbol or a short word, for legends and other places with little room; the text by
        default. It stands before names, too, which by default stand alone.
    """

    text: str
    unit: str = ""
    symbol: str = ""

    def value(self, value: object) -> str:
        """Return a value with symbol and unit, as in a legend.

        >>> LABELS["snr_db"].value(10.0), LABELS["truncation"].value(0.05)
        ('SNR = 10 dB', '$g$ = 0.05')
        """
        return f"{self.symbol or self.text} = {plain(value)} {self.unit}".rstrip()

    @property
    def axis(self) -> str:
        """The label of an axis.

        >>> LABELS["fading_speed"].axis, LABELS["snr_db"].axis
        ('speed $v$ [m/s]', 'SNR [dB]')
        """
        text = f"{self.text} {self.symbol}" if self.symbol.startswith("$") else self.text
        return f"{text} [{self.unit}]" if self.unit else text


# fmt: off
LABELS = {
    # data
    "data": Label("dataset"),
    "partition": Label("partition"),
    "clients": Label("clients", symbol="$m$"),
    "labels_per_client": Label("labels per client", symbol="$p$"),
    "devices": Label("devices", symbol="$M$"),
    "labels_per_device": Label("labels per device", symbol="$p$"),
    "samples": Label("samples per device"),
    "standardise": Label("standardised"),
    "concentration": Label("Dirichlet concentration", symbol=r"$\alpha$"),
    "shares": Label("shares of the data"),
    "size": Label("dimension", symbol="$d$"),
    # participation
    "participation": Label("participation"),
    "candidates": Label("candidates per round", symbol="candidates"),
    "probability": Label("probability of being drawn", symbol="drawn by"),
    "window": Label("averaging window", "rounds", "window"),
    # model and algorithm
    "model": Label("model"),
    "hidden": Label("hidden units"),
    "filters": Label("filters"),
    "algorithm": Label("algorithm"),
    "variant": Label("variant"),
    "beta": Label("rule for the gain"),
    "G": Label("design constant", symbol="$G$"),
    "tau_min": Label("fewest steps", symbol=r"$\tau_\mathrm{min}$"),
    "tau_max": Label("most steps", symbol=r"$\tau_\mathrm{max}$"),
    "tau_eff": Label("effective steps", symbol=r"$\tau_\mathrm{eff}$"),
    "server_step": Label("server step"),
    "sends": Label("what clients send", symbol="sends"),
    "clip": Label("clipping norm", symbol="$C$"),
    "error_feedback": Label("error feedback"),
    "entries": Label("entries sent", symbol="$n$"),
    "k": Label("entries kept", symbol="$k$"),
    "threshold": Label("threshold", symbol=r"$\lambda$"),
    "iterations": Label("iterations"),
    "projection": Label("projection"),
    "projection_seed": Label("projection seed"),
    "precoding": Label("precoding by norms"),
    "margin": Label("margin of the expected norm", symbol="margin"),
    "aggregation": Label("aggregation"),
    "aggregation_beta": Label("rule for the gain"),
    "aggregation_G": Label("design constant", symbol="$G$"),
    "aggregation_tau_min": Label("fewest steps", symbol=r"$\tau_\mathrm{min}$"),
    "aggregation_tau_max": Label("most steps", symbol=r"$\tau_\mathrm{max}$"),
    "aggregation_server_step": Label("server step of the aggregation", symbol="aggregation step"),
    "mu": Label("weight of the proximal term", symbol=r"$\mu$"),
    "beta1": Label("decay of the first moment", symbol=r"$\beta_1$"),
    "beta2": Label("decay of the second moment", symbol=r"$\beta_2$"),
    "epsilon": Label("adaptivity", symbol=r"$\epsilon$"),
    "remove_noise": Label("noise removed from second moment", symbol="noise removed"),
    # training
    "rounds": Label("rounds", symbol="$T$"),
    "rate": Label("learning rate", symbol=r"$\eta$"),
    "batch_size": Label("batch size", symbol="$B$"),
    "weight_decay": Label("weight decay", symbol=r"$\lambda$"),
    "momentum": Label("momentum", symbol=r"$\mu$"),
    "steps": Label("local steps", symbol=r"$\tau$"),
    "steps_least": Label("fewest local steps", symbol=r"least $\tau$"),
    "steps_most": Label("most local steps", symbol=r"most $\tau$"),
    "steps_epochs": Label("local epochs", symbol="epochs"),
    "replacement": Label("drawn with replacement", symbol="replacement"),
    "accuracy": Label("accuracy reported"),
    "deadline": Label("deadline"),
    "deadline_seconds": Label("time for local training", "s", "deadline"),
    "deadline_step_time": Label("median time of a local step", "s", "step time"),
    "deadline_spread": Label("spread of computing times", symbol="spread"),
    "deadline_late": Label("what late clients do", symbol="late:"),
    "round_period": Label("time between rounds", "s", "period"),
    "test_every": Label("rounds between tests", symbol="test every"),
    "final_rounds": Label("rounds in the final accuracy", symbol="final rounds"),
    "measure_gradient": Label("gradient measured"),
    "seed": Label("seed"),
    # links
    "link": Label("link"),
    "snr_db": Label("SNR", "dB"),
    "entry_snr_db": Label("entry SNR", "dB"),
    "power": Label("power", symbol="$P$"),
    "path_gain": Label("path gain"),
    "reference_power": Label("reference power"),
    "bandwidth": Label("bandwidth", "Hz", "$B$"),
    "truncation": Label("truncation threshold", symbol="$g$"),
    "correction": Label("correction", symbol="correction:"),
    "control": Label("power control", symbol="control:"),
    "variances": Label("variances in power control", symbol="variances:"),
    "budget": Label("scope of the power limit", symbol="limit per"),
    "engine": Label("engine", symbol="engine:"),
    "interleaver_seed": Label("interleaver"),
    "window_advance": Label("advance of the FFT window", "samples", "advance"),
    "csi_through_faults": Label("CSI through hardware"),
    "bits": Label("bits per entry", symbol="bits"),
    "gap_db": Label("gap to capacity", "dB", "gap"),
    "max_efficiency": Label("largest spectral efficiency", "bit/s/Hz", "efficiency"),
    "transmit": Label("client hardware"),
    "receive": Label("server hardware"),
    # downlinks
    "downlink": Label("downlink"),
    "downlink_snr_db": Label("downlink SNR", "dB"),
    "downlink_entry_snr_db": Label("downlink entry SNR", "dB"),
    "downlink_power": Label("server power"),
    "downlink_path_gain": Label("downlink path gain"),
    "downlink_reference_power": Label("downlink reference power"),
    "downlink_bandwidth": Label("downlink bandwidth", "Hz"),
    "downlink_grid": Label("downlink OFDM grid"),
    "downlink_fading": Label("downlink fading"),
    "downlink_csi": Label("downlink CSI"),
    "downlink_equaliser": Label("equaliser", symbol="equaliser:"),
    "downlink_budget": Label("scope of the server's power limit", symbol="limit per"),
    "downlink_interleaver_seed": Label("downlink interleaver"),
    "downlink_bits": Label("bits per entry of the model", symbol="downlink bits"),
    "downlink_gap_db": Label("downlink gap to capacity", "dB", "downlink gap"),
    "downlink_max_efficiency": Label("largest downlink efficiency", "bit/s/Hz", "efficiency"),
    # OFDM grid
    "grid": Label("OFDM grid"),
    "grid_fft_size": Label("FFT size", symbol="$N$"),
    "grid_cp_length": Label("cyclic prefix", "samples", r"$N_\mathrm{cp}$"),
    "grid_guards": Label("guard carriers"),
    "grid_dc_null": Label("carrier 0 empty"),
    "grid_subcarrier_spacing": Label("subcarrier spacing", "Hz", r"$\Delta f$"),
    "grid_symbols_per_slot": Label("OFDM symbols between synchronisations", symbol="symbols"),
    "grid_pilots": Label("pilot carriers", symbol="pilots"),
    # fading and CSI
    "fading": Label("fading"),
    "fading_speed": Label("speed", "m/s", "$v$"),
    "fading_min_speed": Label("lowest speed", "m/s", r"$v_\mathrm{min}$"),
    "fading_max_speed": Label("highest speed", "m/s", r"$v_\mathrm{max}$"),
    "fading_carrier_frequency": Label("carrier frequency", "Hz", "$f_c$"),
    "fading_k_factor": Label("Rician factor", symbol="$K$"),
    "fading_model": Label("channel model"),
    "fading_delay_spread": Label("delay spread", "s", r"$\tau_\mathrm{rms}$"),
    "fading_file": Label("recorded channels"),
    "fading_snapshots": Label("snapshots"),
    "fading_interval": Label("snapshot interval", "s", "interval"),
    "fading_min_distance": Label("smallest distance", "m", r"$r_\mathrm{min}$"),
    "fading_max_distance": Label("largest distance", "m", r"$r_\mathrm{max}$"),
    "fading_indoor_probability": Label("probability of being indoors", symbol="P(indoor)"),
    "fading_los": Label("line of sight"),
    "fading_o2i_model": Label("penetration loss"),
    "csi": Label("CSI"),
    "csi_variance": Label("error variance of the channel estimate", symbol=r"$\sigma_e^2$"),
    "csi_snr_db": Label("pilot SNR", "dB"),
    "csi_num_pilots": Label("pilot symbols", symbol="pilots"),
    "csi_num_taps": Label("taps kept", symbol="taps"),
    "csi_delay": Label("age of the channel estimate", "s", "age"),
    "csi_of": Label("CSI"),
    "of": Label("CSI"),
    "of_variance": Label("error variance before ageing", symbol=r"$\sigma_e^2$"),
    "of_snr_db": Label("pilot SNR", "dB"),
    "of_num_pilots": Label("pilot symbols", symbol="pilots"),
    "of_num_taps": Label("taps kept", symbol="taps"),
    # hardware
    "clip_and_filter_backoff_db": Label("clipping backoff", "dB", "backoff"),
    "clip_and_filter_passes": Label("passes of clipping and filtering", symbol="passes"),
    "clip_and_filter_oversampling": Label("oversampling"),
    "adc_bits": Label("converter resolution", "bits", "ADC"),
    "adc_backoff_db": Label("converter backoff", "dB", "backoff"),
    "clock_offset_ppm": Label("clock offset", "ppm", "offset"),
    "clock_offset_std_ppm": Label("clock offset, std", "ppm", r"$\sigma$"),
    "iq_imbalance_gain_db": Label("IQ gain error", "dB", "gain"),
    "iq_imbalance_phase_deg": Label("IQ phase error", "deg", "phase"),
    "iq_imbalance_gain_std_db": Label("IQ gain error, std", "dB", r"gain $\sigma$"),
    "iq_imbalance_phase_std_deg": Label("IQ phase error, std", "deg", r"phase $\sigma$"),
    "carrier_offset_offset": Label("carrier offset", "spacings", r"$\epsilon$"),
    "carrier_offset_std": Label("carrier offset, std", "spacings", r"$\sigma_\epsilon$"),
    "carrier_offset_unit": Label("unit of the carrier offset"),
    "carrier_offset_carrier_frequency": Label("carrier frequency", "Hz", "$f_c$"),
    "carrier_offset_sync": Label("synchronisation"),
    "sync_snr_db": Label("preamble SNR", "dB"),
    "phase_noise_linewidth": Label("linewidth", "Hz", r"$\Delta\nu$"),
    "soft_limiter_backoff_db": Label("limiter backoff", "dB", "backoff"),
    "rapp_backoff_db": Label("amplifier backoff", "dB", "backoff"),
    "rapp_smoothness": Label("smoothness", symbol="$p$"),
    "timing_offset_offset": Label("timing offset", "samples", "offset"),
    "timing_offset_std": Label("timing offset, std", "samples", r"$\sigma_t$"),
    "timing_offset_advance": Label("timing advance"),
    "advance_resolution": Label("step of the timing advance", "samples", "step"),
    "advance_snr_db": Label("preamble SNR", "dB"),
    # several studies in one figure
    "study": Label("study"),
}
# fmt: on
"""By the name of the axis (:attr:`scenarios.config.sweep.Axis.name`)."""


def label_of(name: str) -> Label:
    """Return the label of an axis; its name in words if it has none of its own.

    >>> label_of("fading_speed").unit, label_of("own_option").text
    ('m/s', 'own option')
    >>> label_of("downlink_fading_speed").axis
    'downlink speed [m/s]'
    """
    same = name.removeprefix("downlink_")
    if name not in LABELS and same != name:
        uplink = label_of(same)
        return Label(f"downlink {uplink.text}", uplink.unit)
    return LABELS.get(name) or Label(name.replace("_", " "))
