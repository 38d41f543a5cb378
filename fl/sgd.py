"""The optimiser of the clients: learning rate, minibatches, weight decay and momentum."""

from __future__ import annotations

from dataclasses import dataclass

from otafl._base.added import added
from otafl._base.names import options
from otafl._base.validation import OptionError, boolean, integer, number


@options
@dataclass(frozen=True)
class Diminishing:
    """A learning rate that falls over the rounds.

    Parameters
    ----------
    initial : float
        Learning rate > 0 of round 0.
    rounds : float
        Time constant > 0, in rounds.
    power : float
        Exponent > 0; 0.5 by default.

    Notes
    -----
    eta_t = initial / (1 + t / rounds)^power

    Examples
    --------
    >>> Diminishing(0.4, rounds=100).at(300)
    0.2
    """

    initial: float
    rounds: float
    power: float = 0.5

    def __post_init__(self) -> None:
        for name in ("initial", "rounds", "power"):
            number(name, getattr(self, name), above=0)

    def at(self, t: int) -> float:
        """Return eta_t in round ``t``."""
        return self.initial / (1 + t / self.rounds) ** self.power


@options
@dataclass(frozen=True)
class Sgd:
    """Local stochastic gradient descent.

    Parameters
    ----------
    rate : float or Diminishing
        Learning rate eta > 0 of a local step, constant or falling over the rounds; 0.1 by default.
    batch_size : int or None
        Samples per step; 50 by default. None takes all samples of the client in every step, which
        is gradient descent.
    weight_decay : float
        lambda >= 0, which adds lambda x to every gradient; 0 by default.
    momentum : float
        mu with 0 <= mu < 1; 0 by default.
    replacement : bool
        Whether the samples of a step are drawn with replacement (True, the default), or in random
        order, each once before any is drawn again; a round begins with a new order.

    Notes
    -----
    v = mu v + gradient and x = x - eta v, with v = 0 at the beginning of a round. Without momentum
    this is Eq. (2) of H. Yang et al., "Over-the-Air Federated Learning with Joint Adaptive
    Computation and Power Control".

    Examples
    --------
    >>> Sgd(rate=0.3, batch_size=20).rate_at(100)
    0.3
    """

    rate: float | Diminishing = 0.1
    batch_size: int | None = 50
    weight_decay: float = 0.0
    momentum: float = 0.0
    replacement: bool = added("0.3", default=True, earlier=True)

    def __post_init__(self) -> None:
        if not isinstance(self.rate, Diminishing):
            number("rate", self.rate, above=0)
        if self.batch_size is not None:
            integer("batch_size", self.batch_size, least=1)
        number("weight_decay", self.weight_decay, least=0)
        number("momentum", self.momentum, least=0)
        if self.momentum >= 1:
            raise OptionError("momentum", "a number >= 0 and < 1", self.momentum)
        boolean("replacement", self.replacement)

    def rate_at(self, t: int) -> float:
        """Return the learning rate eta_t in round ``t``."""
        return self.rate.at(t) if isinstance(self.rate, Diminishing) else float(self.rate)
