"""What a run leaves behind: its metrics, round by round, and its last model."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from fl.algorithm import Algorithm
from fl.identity import description
from fl.metrics import METRICS, POPULATION_WEIGHT, WEIGHT, Metric
from fl.privacy import Privacy
from fl.sgd import Sgd
from otafl._base.files import replacing
from otafl._base.names import did_you_mean
from otafl._base.validation import OptionError, choice, integer

if TYPE_CHECKING:
    import pandas as pd
    import xarray as xr

OFTEN = 0.1
"""Share of client-rounds that are scaled down above which a history warns."""


@dataclass(frozen=True, eq=False)
class History(Mapping[str, NDArray]):
    """The record of a run: a mapping from the names of its metrics to arrays.

    ``history[name]`` is a metric, and ``dict(history)`` has all of them. A run that diverged in its
    first round has none.

    Parameters
    ----------
    metrics : mapping of str to ndarray
        Metrics by name, each with one entry per round along its first axis; see Notes.
    model : ndarray, [d]
        The last model.
    start : ndarray, [d]
        The initial model x_0.
    weights : ndarray of float64, [m]
        Client weights alpha_i.
    algorithm : Algorithm
        The algorithm of the run.
    sgd : Sgd
        How the clients trained.
    diverged : str or None
        Why the run stopped early; None if it did not.

    Notes
    -----
    The metrics, from the table :data:`fl.metrics.METRICS`:

    {metrics}
    """

    metrics: Mapping[str, NDArray]
    model: NDArray
    start: NDArray
    weights: NDArray[np.float64]
    algorithm: Algorithm
    sgd: Sgd
    diverged: str | None = None

    def __repr__(self) -> str:
        rounds = f"{self.num_rounds} round{'' if self.num_rounds == 1 else 's'}"
        parts = [type(self.algorithm).__name__, rounds]
        if self.num_rounds:
            accuracy = self.final_accuracy(1)
            parts += [] if np.isnan(accuracy) else [f"accuracy {accuracy:.1%}"]
            parts += [
                f"NMSE {_in_db(float(self['nmse'][-1]))}",
                f"load up to {np.nanmax(self['load']):.3g}",
                _scaled_down(float(np.nanmean(self["scaled_down"]))),
            ]
        return f"History({', '.join([*parts, *filter(None, [self.diverged])])})"

    def __getitem__(self, name: str) -> NDArray:
        if not self.metrics:
            raise KeyError(f"{name!r}: the run has no rounds")
        if name not in self.metrics:
            known = f"the metrics are {', '.join(self.metrics)}"
            raise KeyError(f"{name!r}: {known}{did_you_mean(name, self.metrics)}")
        return self.metrics[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self.metrics)

    def __len__(self) -> int:
        return len(self.metrics)

    # a mapping would compare its arrays with ==, which has no truth value
    __eq__ = object.__eq__
    __hash__ = object.__hash__

    @property
    def num_rounds(self) -> int:
        """Number of rounds that the run completed."""
        return len(self.metrics["rate"]) if self.metrics else 0

    def final_accuracy(self, rounds: int = 10) -> float:
        """Return the mean test accuracy of the last rounds.

        Parameters
        ----------
        rounds : int
            Number of rounds to average over; those without a test are left out.

        Returns
        -------
        float
            Between 0 and 1; NaN if none of these rounds was tested.
        """
        integer("rounds", rounds, least=1)
        tested = self.metrics.get("test_accuracy", np.empty(0))[-rounds:]
        tested = tested[~np.isnan(tested)]
        return float(tested.mean()) if len(tested) else float("nan")

    def best_accuracy(self) -> float:
        """Return the largest test accuracy of all rounds; NaN if none was tested.

        It selects a round by its result on the test set, so it is optimistic: it is often
        published, but :meth:`final_accuracy` says more.
        """
        tested = self.metrics.get("test_accuracy", np.empty(0))
        tested = tested[~np.isnan(tested)]
        return float(tested.max()) if len(tested) else float("nan")

    def mean_weights(self) -> NDArray[np.float64]:
        """Return the weight [M] with which each device counted in a round, on average.

        For an unbiased selection its expectation is ``weights``.
        """
        return mean_weights(self["device"], self["client_weight"], len(self.weights))

    def participation_bias(self) -> float:
        """Return how much the selection of clients favoured some devices, from 0 to 1.

        It is the total variation distance, half the sum of |w_i - alpha_i| over all devices,
        between the client weights alpha_i and the shares w_i that the devices had in all rounds.
        Chance alone contributes about sqrt((M - k) / (2 pi k T)) in T rounds of k out of M equal
        devices. NaN if no client was ever in time.
        """
        return participation_bias(self["device"], self["client_weight"], self.weights)

    def privacy(self, delta: float) -> Privacy:
        """Return the client-level differential privacy that the receiver's noise gives the run.

        Parameters
        ----------
        delta : float
            delta, between 0 and 1; it should be far below one over the number of clients.

        Returns
        -------
        Privacy
            epsilon of the run and over its rounds or, if no bound holds, the reasons.

        Examples
        --------
        >>> from fl import ClippedFedAvg, Cotaf, train
        >>> from fl.quadratic import default_quadratic
        >>> from links import GaussianLink
        >>> link, quadratic = GaussianLink(snr_db=0.0), default_quadratic()
        >>> private = train(ClippedFedAvg(), link, quadratic, rounds=3).privacy(1e-5)
        >>> print(f"epsilon = {private.epsilon:.2f}, rho = {private.rho.sum():.2f}")
        epsilon = 9.01, rho = 1.50
        >>> train(Cotaf(), link, quadratic, rounds=3).privacy(1e-5).holds
        False
        """
        return Privacy.of(self.metrics, delta, type(self.algorithm).__name__, self.diverged)

    @property
    def weight_metric(self) -> Metric:
        """How :attr:`weights` are stored: along the clients if all devices always took part."""
        everyone = np.arange(len(self.weights))
        devices = self.metrics.get("device", everyone[None])
        same = devices.shape[1:] == everyone.shape and (devices == everyone).all()
        return WEIGHT if same else POPULATION_WEIGHT

    def to_xarray(self) -> xr.Dataset:
        """Return the metrics and the client weights as a dataset.

        Returns
        -------
        xarray.Dataset
            Variables as in :data:`fl.metrics.METRICS`, and ``weight``, with dimensions ``round``
            (from 1), ``client`` and ``symbol``; where only some devices take part in a round,
            ``weight`` has the dimension ``population``, and ``device`` says who the clients are.
            Each has the attributes ``long_name``, ``units`` and ``description``. The attributes of
            the dataset are ``algorithm`` and ``diverged``, which is empty if the run did not
            diverge.
        """
        import xarray as xr

        pairs = [(METRICS[name], array) for name, array in self.items()]
        pairs.append((self.weight_metric, self.weights))
        numbers = np.arange(1, self.num_rounds + 1)
        return xr.Dataset(
            {metric.name: (metric.dims, array, metric.attributes) for metric, array in pairs},
            {"round": ("round", numbers, {"long_name": "round", "units": "1"})},
            {"algorithm": description(self.algorithm), "diverged": self.diverged or ""},
        )

    def to_dataframe(self, per: str = "round") -> pd.DataFrame:
        """Return the metrics that have one value per round, per client or per OFDM symbol.

        Parameters
        ----------
        per : str
            ``"round"`` (default) for the metrics with one value per round, ``"client"`` or
            ``"symbol"`` for those with one value per round and client or symbol.

        Returns
        -------
        pandas.DataFrame
            One column per metric. The index is ``round``, from 1; with ``"client"`` or
            ``"symbol"`` it is (``round``, ``client``) or (``round``, ``symbol``), the latter two
            from 0.

        Examples
        --------
        >>> from fl import Cotaf, Sgd, train
        >>> from fl.quadratic import default_quadratic
        >>> from links import IdealLink
        >>> history = train(Cotaf(), IdealLink(), default_quadratic(), rounds=3, sgd=Sgd(0.05, 10))
        >>> history.to_dataframe().index.tolist()
        [1, 2, 3]
        >>> steps = history.to_dataframe("client")["steps"].unstack()  # a column per client
        """
        choice("per", per, ("round", "client", "symbol"))
        dims = tuple(dict.fromkeys(("round", per)))
        dataset = self.to_xarray()
        others = [name for name, variable in dataset.data_vars.items() if variable.dims != dims]
        return dataset.drop_vars(others).to_dataframe()

    def save(self, path: str | Path) -> None:
        """Write the metrics to a file, completely or not at all.

        Parameters
        ----------
        path : str or Path
            A NetCDF file with all of :meth:`to_xarray` if it ends in ``.nc``; a table of
            :meth:`to_dataframe`, with one row per round, if it ends in ``.csv``.

        Raises
        ------
        ValueError
            If the name ends otherwise.
        OSError
            If the file cannot be written.
        """
        path = Path(path)
        if path.suffix == ".nc":
            content = _netcdf(self.to_xarray())
        elif path.suffix == ".csv":
            content = self.to_dataframe().to_csv().encode()
        else:
            raise OptionError("path", "a file name that ends in .nc or .csv", str(path))
        try:
            with replacing(path) as file:
                file.write(content)
        except OSError as error:
            raise OSError(f"{path} cannot be written: {error.strerror}") from error


def mean_weights(devices: NDArray, weights: NDArray, population: int) -> NDArray[np.float64]:
    """Return the mean weight [M] of each device, from the rounds' devices and weights [T, m]."""
    present = ~np.isnan(weights)  # fewer may take part in one round than in another
    places = devices[present].astype(np.int64)
    return np.bincount(places, weights[present], population) / len(weights)


def participation_bias(devices: NDArray, weights: NDArray, shares: NDArray[np.float64]) -> float:
    """Return :meth:`History.participation_bias` for client weights alpha_i ``shares`` [M]."""
    mean = mean_weights(devices, weights, len(shares))
    total = mean.sum()
    return float(np.abs(mean / total - shares).sum() / 2) if total > 0 else float("nan")


def _netcdf(dataset: xr.Dataset) -> bytes:
    """Return the content of a NetCDF file; not every version of xarray can write to memory."""
    with TemporaryDirectory() as folder:
        file = Path(folder, "history.nc")
        dataset.to_netcdf(file, engine="h5netcdf")
        return file.read_bytes()


def _metrics_listed() -> str:
    """Return the table of metrics as a definition list for the docstring."""
    lines = []
    for metric in METRICS.values():
        unit = f", {metric.unit}" if metric.unit else ""
        lines += [f"{metric.name} : [{', '.join(metric.dims)}]{unit}", f"    {metric.meaning}"]
    return "\n    ".join(lines)


if History.__doc__:  # python -OO removes docstrings
    History.__doc__ = History.__doc__.replace("{metrics}", _metrics_listed())


def _scaled_down(share: float) -> str:
    """Say how often clients scaled their signals down, with a warning if it is often."""
    if share <= OFTEN:
        return f"{share:.0%} scaled down"
    return f"{share:.0%} scaled down (warning: more than {OFTEN:.0%}; the gain was too large)"


def _in_db(ratio: float) -> str:
    """Format a power ratio in dB; a user-defined link may not report one."""
    if np.isnan(ratio):
        return "not reported"
    return f"{10 * np.log10(ratio):.1f} dB" if ratio > 0 else "-inf dB"
