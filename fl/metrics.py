"""The table of metrics: what a run records in each round, with dimensions, units and labels.

Everything that names, stores, draws or explains a metric derives from :data:`METRICS`:
:class:`fl.History`, cell files, the attributes of xarray datasets, tables and figures. The names
are part of stored studies and do not change.

Examples
--------
>>> METRICS["airtime"].axis_label
'time on the air [s]'
>>> [name for name, metric in METRICS.items() if metric.cumulative]
['zcdp', 'airtime', 'downlink_airtime', 'radiated_energy']
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from types import MappingProxyType

ROUND = ("round",)
PER_CLIENT = ("round", "client")
PER_SYMBOL = ("round", "symbol")


@dataclass(frozen=True)
class Metric:
    """One metric of a run.

    Parameters
    ----------
    name : str
        Key in ``History.metrics``, in cell files and in the dataset of a study.
    dims : tuple of str
        Dimensions: ``("round",)``, ``("round", "client")`` or ``("round", "symbol")``.
    label : str
        A few words for axes and table headings, without the unit.
    meaning : str
        One sentence that defines it.
    unit : str
        Unit, such as ``"s"`` or ``"dB"``; empty (the default) for dimensionless metrics. Energies
        are in the units of the link's ``power``: joules if that is in joules.
    cumulative : bool
        Whether the value of a round is the sum over all rounds so far; False by default.
    reported : bool
        Whether the value is what the link reports under the same name in
        ``Reception.diagnostics``, NaN if it reports nothing; False by default.
    shown_in : {"", "%", "dB"}
        In which unit figures show a ratio; empty (the default) for the unit of the metric.
    over_rounds : {"mean", "median", "max", "last"}
        What stands for all rounds where a figure shows one value per run; "mean" by default.
    over_clients : {"mean", "max", "sum"}
        What stands for all clients, or for all OFDM symbols; "mean" by default.
    """

    name: str
    dims: tuple[str, ...]
    label: str
    meaning: str
    unit: str = ""
    cumulative: bool = False
    reported: bool = False
    shown_in: str = ""
    over_rounds: str = "mean"
    over_clients: str = "mean"

    @property
    def axis_label(self) -> str:
        """The label with its unit in square brackets."""
        return f"{self.label} [{self.unit}]" if self.unit else self.label

    @property
    def attributes(self) -> dict[str, str]:
        """Attributes of its xarray variable; the unit of dimensionless metrics is ``"1"``."""
        return {"long_name": self.label, "units": self.unit or "1", "description": self.meaning}


def _table(metrics: Iterable[Metric]) -> Mapping[str, Metric]:
    return MappingProxyType({metric.name: metric for metric in metrics})


# fmt: off
METRICS: Mapping[str, Metric] = _table([
    Metric("rate", ROUND, "learning rate", "Learning rate eta_t of the local steps."),
    Metric("gain", ROUND, "gain", "Common gain of all signals, the paper's beta_t.",
           over_rounds="median"),
    Metric("train_loss", ROUND, "training loss", "F(x_t) before the round, without weight decay, "
           "estimated without bias from each client's first minibatch; with a downlink, at the "
           "models that clients received.", over_rounds="last"),
    Metric("largest_gradient", PER_CLIENT, "largest gradient norm",
           "Largest norm of a stochastic gradient during the round, with weight decay and what the "
           "algorithm adds to it.",
           over_rounds="max", over_clients="max"),
    Metric("device", PER_CLIENT, "device", "Global index of the client.", over_rounds="last"),
    Metric("client_weight", PER_CLIENT, "client weight", "Weight with which the client's update "
           "enters the sum; 0 for a client that was late.", over_clients="sum"),
    Metric("steps", PER_CLIENT, "local steps", "Number of local steps tau_t^i."),
    Metric("late", PER_CLIENT, "late", "Whether the client missed the deadline and was silent.",
           shown_in="%"),
    Metric("scaled_down", PER_CLIENT, "scaled down", "Whether the client sent its signal scaled "
           "down because its power budget was too small.", shown_in="%"),
    Metric("energy", PER_CLIENT, "energy", "Transmit energy of the client, in all OFDM symbols."),
    Metric("worst_symbol_energy", PER_CLIENT, "largest symbol energy",
           "Transmit energy of the client in the OFDM symbol in which it is largest.",
           over_rounds="max", over_clients="max"),
    Metric("symbol_load", PER_SYMBOL, "symbol load", "Energy in an OFDM symbol divided by an equal "
           "share of the round's budget; the largest value over all clients.",
           over_rounds="max", over_clients="max"),
    Metric("load", PER_CLIENT, "load", "Largest ratio of energy to budget over the client's "
           "constraints; zero where there is no budget.", over_rounds="max", over_clients="max"),
    Metric("sensitivity", ROUND, "sensitivity", "Bound on the norm of what any one client sends, "
           "before the gain; NaN if the algorithm states none."),
    Metric("zcdp", ROUND, "zCDP rho", "rho of all rounds so far in zero-concentrated "
           "differential privacy of a client; NaN where no bound holds.", cumulative=True,
           over_rounds="last"),
    Metric("nmse", ROUND, "NMSE", "Squared error of the received sum divided by the squared norm "
           "of the sum that was sent.", reported=True, shown_in="dB", over_rounds="median"),
    Metric("received_snr_db", ROUND, "received SNR", "Energy of the sum at the receive antenna "
           "over that of the noise; NaN on links without an antenna.", "dB", reported=True,
           over_rounds="median"),
    Metric("noise_std", ROUND, "noise level", "Standard deviation sigma_c of the receiver's noise "
           "in an entry, before the gain is removed; NaN on links without such noise.",
           reported=True),
    Metric("largest_arrival", ROUND, "largest arrival factor", "Largest magnitude of an arrival "
           "factor, where it is known before the round and at most 1; NaN elsewhere.",
           reported=True, over_rounds="max"),
    Metric("clipped", PER_CLIENT, "clipped updates", "Whether the client's update was clipped; NaN "
           "if the algorithm does not clip.", reported=True, shown_in="%"),
    Metric("vote_error_rate", ROUND, "vote errors", "Share of entries whose received sum of votes "
           "has another sign than the votes that were cast, ties left out; NaN for algorithms "
           "without votes.", reported=True, shown_in="%"),
    Metric("active_fraction", PER_CLIENT, "active fraction",
           "Fraction of the spectrum on which the client transmits.", reported=True, shown_in="%"),
    Metric("airtime", ROUND, "time on the air",
           "Time on the air, summed over all rounds so far.", "s", cumulative=True, reported=True,
           over_rounds="last"),
    Metric("downlink_nmse", ROUND, "downlink NMSE", "Squared error of the model that clients "
           "receive, divided by its squared norm and averaged over the clients; NaN without a "
           "downlink.", reported=True, shown_in="dB", over_rounds="median"),
    Metric("downlink_airtime", ROUND, "downlink time on the air", "Time on the air of the "
           "downlink, summed over all rounds so far; NaN without a downlink.", "s",
           cumulative=True, reported=True, over_rounds="last"),
    Metric("radiated_energy", PER_CLIENT, "radiated energy", "Energy that the client radiated, "
           "prefix and grid pilots included, over all rounds.", cumulative=True, reported=True,
           over_rounds="last", over_clients="sum"),
    Metric("clip_rate", PER_CLIENT, "clipped samples", "Fraction of the samples that the client's "
           "transmitter clipped; NaN where nothing clips.", reported=True,
           shown_in="%", over_clients="max"),
    Metric("papr_db", PER_CLIENT, "PAPR", "Peak-to-average power ratio of one OFDM symbol of the "
           "client; NaN where not measured.", "dB", reported=True),
    Metric("squared_gradient_norm", ROUND, "squared gradient norm",
           "||grad F(x_t)||^2 over all data, before the round; NaN where not measured.",
           over_rounds="last"),
    Metric("test_loss", ROUND, "test loss",
           "Loss of the model after the round on the test set; NaN where not tested.",
           over_rounds="last"),
    Metric("test_accuracy", ROUND, "test accuracy", "Fraction of the test set that the model after "
           "the round classifies correctly; NaN where not tested.",
           shown_in="%", over_rounds="last"),
])
# fmt: on
"""Every metric that :class:`fl.History` records, by name, in storage order."""

WEIGHT = Metric(
    "weight", ("client",), "share of the data", "alpha_i, the client's share of the data."
)
"""``History.weights``, as studies store it if all devices take part in every round."""

POPULATION_WEIGHT = replace(WEIGHT, dims=("population",))
"""``History.weights`` otherwise: the weights of all devices."""

BOUND: Mapping[str, Metric] = _table(
    Metric(f"bound_{name}", ROUND, label, f"Term of Theorem 2 after that many rounds: {meaning}.")
    for name, label, meaning in (
        ("optimisation", "optimisation error", "optimisation error"),
        ("statistical", "statistical error", "error of the stochastic gradients"),
        ("local_update", "local update error", "error of taking several local steps"),
        ("channel_noise", "channel noise error", "error of the channel noise"),
    )
)
"""The four terms of :class:`fl.theory.Theorem2`, as studies store them."""
