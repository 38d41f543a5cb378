"""The tables of a scenario: data, model, algorithm, link, training."""

from __future__ import annotations

import hashlib
import math
import os
from abc import abstractmethod
from collections.abc import Mapping
from functools import lru_cache
from pathlib import Path
from typing import Annotated, Any, ClassVar, NamedTuple

import numpy as np
from pydantic import Field, model_validator

from fl import (
    Acpc,
    Cotaf,
    Dataset,
    Diminishing,
    FedAvg,
    FedNova,
    LogisticRegression,
    Mlp,
    Model,
    Sgd,
    UniformSteps,
    load_dataset,
    partition_by_label,
    partition_dirichlet,
    partition_unbalanced,
)
from fl.data import KERAS_NAMES
from fl.partition import Shards
from fl.quadratic import default_quadratic
from fl.streams import Purpose, stream
from links import FadingLink, GaussianLink, IdealLink, OfdmLink, OrthogonalLink, WaveformLink
from phy import AgedCsi, NoFading, NoisyCsi, OfdmGrid, PerfectCsi, PilotCsi, Rayleigh, Rician, Tdl
from phy.impairments import (
    Adc,
    CarrierOffset,
    CarrierSync,
    ClipAndFilter,
    ClockOffset,
    IqImbalance,
    PhaseNoise,
    Rapp,
    SoftLimiter,
    TimingAdvance,
    TimingOffset,
)
from scenarios.parts import Mirror, Part, mirror, row

Count = Annotated[int, Field(ge=1, le=1_000_000)]
Finite = Annotated[float, Field(allow_inf_nan=False)]
Positive = Annotated[float, Field(gt=0, allow_inf_nan=False)]

# Links, and what they are made of

GRID = mirror(OfdmGrid)
FADINGS: Any = (
    mirror(NoFading, "kind", "none")
    | mirror(Rayleigh, "kind", "rayleigh")
    | mirror(Rician, "kind", "rician")
    | mirror(Tdl, "kind", "tdl")
)
FRESH_CSIS: Any = (
    mirror(PerfectCsi, "kind", "perfect")
    | mirror(NoisyCsi, "kind", "noisy")
    | mirror(PilotCsi, "kind", "pilot")
)
CSIS: Any = FRESH_CSIS | mirror(AgedCsi, "kind", "aged", of=FRESH_CSIS)
# Faults, in the order in which a signal meets them
CONVERTER = mirror(Adc)
CLOCK, IQ, PHASE_NOISE = mirror(ClockOffset), mirror(IqImbalance), mirror(PhaseNoise)
LIMITER, RAPP = mirror(SoftLimiter), mirror(Rapp)
TRANSMIT = row(
    clip_and_filter=mirror(ClipAndFilter),
    adc=CONVERTER,
    clock_offset=CLOCK,
    iq_imbalance=IQ,
    carrier_offset=mirror(CarrierOffset, sync=mirror(CarrierSync) | None),
    phase_noise=PHASE_NOISE,
    soft_limiter=LIMITER,
    rapp=RAPP,
    timing_offset=mirror(TimingOffset, advance=mirror(TimingAdvance) | None),
)
RECEIVE = row(
    timing_offset=mirror(TimingOffset, advance=None),
    soft_limiter=LIMITER,
    rapp=RAPP,
    phase_noise=PHASE_NOISE,
    carrier_offset=mirror(CarrierOffset, sync=None),
    iq_imbalance=IQ,
    clock_offset=CLOCK,
    adc=CONVERTER,
)
LINKS: Any = (
    mirror(IdealLink, "kind", "ideal")
    | mirror(GaussianLink, "kind", "gaussian")
    | mirror(FadingLink, "kind", "fading", fading=FADINGS, csi=CSIS)
    | mirror(OfdmLink, "kind", "ofdm", grid=GRID, fading=FADINGS, csi=CSIS)
    | mirror(
        WaveformLink,
        "kind",
        "waveform",
        grid=GRID,
        fading=FADINGS,
        csi=CSIS,
        transmit=TRANSMIT,
        receive=RECEIVE,
    )
    | mirror(OrthogonalLink, "kind", "orthogonal", grid=GRID, fading=FADINGS)
)

ALGORITHMS: Any = (
    mirror(Acpc, "name", "acpc")
    | mirror(Cotaf, "name", "cotaf")
    | mirror(FedAvg, "name", "fedavg")
    | mirror(FedNova, "name", "fednova")
)


class Problem(NamedTuple):
    """What is to be learnt, and from whose data."""

    model: Model
    data: Dataset
    shards: Shards


DATASETS = ("mnist", "quadratic", *KERAS_NAMES)
"""Names that are no files, even if there is one of that name."""


def files_digest(path: Path) -> str:
    """Names the content of a file, or of all files in a folder."""
    files = sorted(path.iterdir()) if path.is_dir() else [path]
    total = hashlib.sha256()
    for file in files:
        if file.is_file():
            total.update(_file_digest(file, file.stat().st_mtime_ns, file.stat().st_size))
    return total.hexdigest()


@lru_cache
def _file_digest(path: Path, changed: int, size: int) -> bytes:
    return hashlib.sha256(path.read_bytes()).digest()


@lru_cache(maxsize=1)
def _dataset(name: str) -> Dataset:
    return load_dataset(name)


# Models


class LogisticConfig(Part):
    """Multinomial logistic regression."""

    chooser: ClassVar[str] = "name"
    choice: ClassVar[str] = "logistic"

    def build(self, data: Dataset) -> Model:
        return LogisticRegression(math.prod(data.sample_shape), data.num_classes)


class MlpConfig(Part):
    """Layers of rectified units, ``hidden`` of them in each."""

    chooser: ClassVar[str] = "name"
    choice: ClassVar[str] = "mlp"
    hidden: Annotated[tuple[Count, ...], Field(strict=False)] = (64,)

    def build(self, data: Dataset) -> Model:
        return Mlp(math.prod(data.sample_shape), data.num_classes, self.hidden)


class CnnConfig(Part):
    """Two convolutions with pooling, in TensorFlow."""

    chooser: ClassVar[str] = "name"
    choice: ClassVar[str] = "cnn"
    filters: Annotated[tuple[Count, Count], Field(strict=False)] = (8, 16)

    def build(self, data: Dataset) -> Model:
        from fl.autodiff import Cnn

        return Cnn(data.sample_shape, data.num_classes, self.filters)


class QuadraticConfig(Part):
    """The model of data with ``partition = "quadratic"``."""

    chooser: ClassVar[str] = "name"
    choice: ClassVar[str] = "quadratic"


MODELS: Any = LogisticConfig | MlpConfig | CnnConfig | QuadraticConfig

# Data, divided among clients


class PartitionConfig(Part):
    """Samples of a dataset, each on one client.

    name : as :func:`fl.load_dataset` takes it
    sha256 : of a dataset in files, filled in by itself: a study is not continued with other data
    """

    chooser: ClassVar[str] = "partition"
    name: str = "mnist"
    sha256: str = ""

    @model_validator(mode="before")
    @classmethod
    def _identify(cls, table: Any) -> Any:
        """A dataset in files is the same from wherever a study is resumed, or it is refused."""
        name = table.get("name") if isinstance(table, Mapping) else None
        if not isinstance(name, str) or name in DATASETS or not os.path.exists(name):
            return table
        path = Path(name).resolve()
        found = files_digest(path)
        expected = table.get("sha256") or found
        if expected != found:
            raise ValueError(
                f"name = {name!r} has changed: its sha256 was {expected}, and is now {found}"
            )
        return {**table, "name": str(path), "sha256": found}

    def problem(self, model: Any, seed: int) -> Problem:
        data = _dataset(self.name)
        shards = self.shards(data, stream(seed, 0, Purpose.PARTITION))
        return Problem(model.build(data), data, shards)

    @abstractmethod
    def shards(self, data: Dataset, rng: np.random.Generator) -> Shards: ...


class ByLabel(PartitionConfig):
    """Equal sizes, ``labels_per_client`` labels each: the paper's p."""

    choice: ClassVar[str] = "label"
    clients: Count = 10
    labels_per_client: Count = 2

    def shards(self, data: Dataset, rng: np.random.Generator) -> Shards:
        return partition_by_label(data.y_train, self.clients, self.labels_per_client, rng)


class ByDirichlet(PartitionConfig):
    """Uneven in labels and sizes, the more so the smaller the concentration."""

    choice: ClassVar[str] = "dirichlet"
    clients: Count = 10
    concentration: Positive = 1.0

    def shards(self, data: Dataset, rng: np.random.Generator) -> Shards:
        return partition_dirichlet(data.y_train, self.clients, self.concentration, rng)


class Unbalanced(PartitionConfig):
    """At random, in amounts proportional to ``shares``, one a client."""

    choice: ClassVar[str] = "unbalanced"
    shares: list[Positive]

    def shards(self, data: Dataset, rng: np.random.Generator) -> Shards:
        return partition_unbalanced(data.y_train, self.shares, rng)


class Quadratics(Part):
    """No dataset: a quadratic for every client, for the theory (:mod:`fl.quadratic`).

    size : d
    """

    chooser: ClassVar[str] = "partition"
    choice: ClassVar[str] = "quadratic"
    clients: Count = 10
    size: Count = 20

    def problem(self, model: Any, seed: int) -> Problem:
        problem = default_quadratic(self.clients, self.size)
        return Problem(problem.model, problem.data, problem.shards)


DATA: Any = ByLabel | ByDirichlet | Unbalanced | Quadratics

# Training

FALLING_RATE: Any = mirror(Diminishing)
DRAWN_STEPS: Any = mirror(UniformSteps)


class TrainingConfig(Part):
    """How clients train, how often and for how long; see :func:`fl.train_together`.

    rate : of a local step, constant, or falling: a table of what :class:`fl.Diminishing` takes
    steps : the most local steps of a client in a round: one number, one a client, or a table of
        ``least`` and ``most``, between which they are drawn for every client and round
    final_rounds : a cell's accuracy is the mean of the tests in so many last rounds
    """

    rounds: Count = 100
    rate: Positive | FALLING_RATE = 0.1
    batch_size: Count | None = 50
    weight_decay: Finite = 0.0
    momentum: Finite = 0.0
    steps: Count | list[Count] | DRAWN_STEPS = 10
    round_period: Finite = 0.1
    test_every: Count = 1
    final_rounds: Count = 10
    measure_gradient: bool = False

    @model_validator(mode="after")
    def _hold_to_the_limits(self) -> TrainingConfig:
        self.sgd()
        if self.round_period < 0:
            raise ValueError(f"round_period = {self.round_period} is not allowed: give it >= 0")
        untested = self.rounds % self.testing_period
        if untested >= self.final_rounds:
            raise ValueError(
                f"test_every = {self.test_every} leaves the last {untested} of {self.rounds} "
                f"rounds untested, and with them all final_rounds = {self.final_rounds}: test more "
                "often, or give more final_rounds"
            )
        return self

    @property
    def testing_period(self) -> int:
        """A run shorter than ``test_every`` is tested at its end."""
        return min(self.test_every, self.rounds)

    def sgd(self) -> Sgd:
        return Sgd(_built(self.rate), self.batch_size, self.weight_decay, self.momentum)

    def options(self) -> dict[str, Any]:
        """For :func:`fl.train_together`."""
        return {
            "rounds": self.rounds,
            "sgd": self.sgd(),
            "steps": _built(self.steps),
            "round_period": self.round_period,
            "test_every": self.testing_period,
            "measure_gradient": self.measure_gradient,
        }


def _built(value: Any) -> Any:
    return value.build() if isinstance(value, Mirror) else value


class Cell(Part):
    """One run: everything that it depends on."""

    data: DATA
    model: MODELS
    algorithm: ALGORITHMS
    link: LINKS
    training: TrainingConfig = TrainingConfig()
    seed: Annotated[int, Field(ge=0, lt=2**63)] = 0

    @model_validator(mode="after")
    def _hold_together(self) -> Cell:
        for name in ("snr_db", "entry_snr_db"):
            value = getattr(self.link, name, None)
            if isinstance(value, list | tuple):
                raise ValueError(
                    f"link.{name} = {value!r} is not allowed: give one, and a list in [sweep]"
                )
        quadratic = isinstance(self.data, Quadratics), isinstance(self.model, QuadraticConfig)
        if any(quadratic) and not all(quadratic):
            raise ValueError(
                f"data.partition = {self.data.choice!r} and model.name = {self.model.choice!r} do "
                "not go together: give both as 'quadratic', or neither"
            )
        return self

    def shared(self) -> tuple[Any, ...]:
        """Cells in which this is the same train on the same minibatches."""
        return self.seed, self.data, self.model, self.training

    def problem(self) -> Problem:
        return self.data.problem(self.model, self.seed)
