"""The beginning of a round: who takes part, over which uplink, and from which model."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from fl import conformance
from fl.algorithm import Algorithm, Round
from fl.api import Link, OpenedDownlink, Rng, Uplink
from fl.conformance import LinkSource
from fl.local_steps import max_steps
from fl.participation import Everyone, SelectionContext
from fl.streams import Purpose, stream
from otafl._base.validation import OptionError

if TYPE_CHECKING:
    from fl.experiment import Experiment, RunState


@dataclass(frozen=True)
class Opened:
    """A round that has begun.

    Parameters
    ----------
    current : Round
        What its algorithm knows.
    selection : mapping of str to ndarray
        The memory of the selection of clients.
    downlink : OpenedDownlink or None
        The downlink, if there is one.
    diagnostics : mapping of str to array
        What it reports.
    """

    current: Round
    selection: Mapping[str, NDArray]
    downlink: OpenedDownlink | None = None
    diagnostics: Mapping[str, Any] = field(default_factory=dict)


def open_round(
    experiment: Experiment, number: int, algorithm: Algorithm, source: LinkSource, run: RunState
) -> Opened:
    """Choose the clients of a run for round ``number``, open its links and send it the model."""
    problem, sgd, seed = experiment.problem, experiment.sgd, experiment.seed
    link = conformance.link_of_round(source, number)
    drawing: dict[str, Any] = {
        "time": number * experiment.round_period,
        "device_rng": stream(seed, 0, Purpose.DEVICES),
    }
    everyone = isinstance(experiment.participation, Everyone)
    entries = algorithm.num_entries(problem.model.size)
    uplinks = _Uplinks(link, entries, stream(seed, number, Purpose.LINK), drawing, everyone)
    rng = stream(seed, number, Purpose.PARTICIPATION)
    context = SelectionContext(number, problem.weights, rng, uplinks.quality, run.selection)
    chosen = conformance.checked_selection(experiment.participation, context)
    clients = chosen.clients
    uplink = uplinks.of(clients)
    model = run.model.view()
    model.flags.writeable = False  # other runs may share it
    received: Any = None
    opened: OpenedDownlink | None = None
    diagnostics: Mapping[str, Any] = {}
    if experiment.downlink is not None:
        rng = stream(seed, number, Purpose.DOWNLINK)
        who: dict[str, Any] = {} if everyone else {"clients": clients}
        opened = experiment.downlink.open(len(clients), len(model), rng, **who, **drawing)
        broadcast = conformance.checked_broadcast(experiment.downlink, opened, model, len(clients))
        received, diagnostics = broadcast.received, broadcast.diagnostics
    limits = max_steps(
        experiment.steps,
        number,
        stream(seed, number, Purpose.LOCAL_STEPS),
        clients,
        problem.num_clients,
        experiment.data_of(clients).sizes,
        sgd.batch_size,
    )
    if experiment.deadline is not None and experiment.deadline.late == "send":
        possible = experiment.deadline.steps(seed, clients)
        limits = np.minimum(limits, np.maximum(possible, 1))
    current = Round(
        number,
        model,
        uplink,
        chosen.weights,
        limits,
        sgd.rate_at(number),
        run.state,
        clients,
        run.device_state.of_clients(clients),
        received,
        problem.num_clients,
    )
    return Opened(current, chosen.memory, opened, diagnostics)


class _Uplinks:
    """The link of a round, opened for candidates whose channels are measured, or for clients.

    Parameters
    ----------
    link : Link
        The link.
    entries : int
        Number of entries that each client sends.
    rng : numpy.random.Generator
        Source of everything that is redrawn each round.
    drawing : dict
        Further arguments of ``Link.open``.
    everyone : bool
        Whether all devices take part.
    """

    def __init__(
        self, link: Link, entries: int, rng: Rng, drawing: dict[str, Any], everyone: bool
    ) -> None:
        self._link, self._entries, self._rng = link, entries, rng
        self._drawing, self._everyone = drawing, everyone
        self._candidates: NDArray[np.int64] | None = None
        self._measured: Uplink | None = None

    def quality(self, devices: NDArray[np.int64]) -> NDArray[np.float64]:
        """Return the mean power of the channels of these candidates."""
        if self._measured is not None:
            raise ValueError("a selection may measure channels only once per round")
        self._candidates, self._measured = devices, self._open(devices)
        return conformance.checked_quality(self._link, self._measured, len(devices))

    def of(self, clients: NDArray[np.int64]) -> Uplink:
        """Return the uplink of the clients."""
        if self._measured is None or self._candidates is None:
            return self._open(clients)
        places = {device: place for place, device in enumerate(self._candidates.tolist())}
        strangers = [each for each in clients.tolist() if each not in places]
        if strangers:
            must = f"among the candidates that were measured, {self._candidates.tolist()}"
            raise OptionError("the clients that were chosen", must, strangers)
        chosen = self._measured.only(np.array([places[each] for each in clients.tolist()]))  # type: ignore[attr-defined]
        conformance.check_uplink(self._link, chosen, len(clients))
        return chosen

    def _open(self, clients: NDArray[np.int64]) -> Uplink:
        who: dict[str, Any] = {} if self._everyone else {"clients": clients}
        count = len(clients)
        uplink = self._link.open(count, self._entries, self._rng, **who, **self._drawing)
        conformance.check_uplink(self._link, uplink, count)
        return uplink
