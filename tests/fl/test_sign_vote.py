"""Sign votes by hand, with memory, weights and ties, and their errors over noise."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from fl import Plan, Round, Sgd, SignVote, train
from fl.sign_vote import vote_error_rate
from links import GaussianLink, IdealLink, OfdmLink
from phy import NoFading
from tests.fl.problems import run_parabolas, two_parabolas
from tests.tolerance import check_proportion

UPDATES = np.array([[0.3, -0.2, 0.0, 0.1, 0.0], [0.1, 0.4, -0.5, 0.7, 0.0], [-9.0, -0.1, 0, 0, 0]])
WEIGHTS = np.array([0.2, 0.3, 0.5])


class Recorded:
    """An uplink that keeps what is sent, and adds what the test says to the exact sum."""

    def __init__(self, added=0.0, clients=3):
        self.exact = IdealLink().open(clients, 5, np.random.default_rng(1))
        self.budget, self.added, self.sent = self.exact.budget, added, []

    def max_gain(self, signals):
        return 7.0

    def send(self, signals, gain, *, weights=None, enforce=True):
        self.sent.append((signals, gain, weights, enforce))
        received = self.exact.send(signals, 1.0)
        return replace(received, total=received.total + self.added)


def one_round(algorithm, uplink, updates=UPDATES, weights=WEIGHTS, **state):
    steps = np.ones(len(weights), np.int64)
    current = Round(0, np.full(5, 10.0), uplink, weights, steps, 0.1, **state)
    return algorithm.aggregate(current, Plan(steps), updates, steps)


def test_a_round_by_hand():
    """Votes + - 0 + 0, + + - + 0 and - - 0 0 0, with sums 1, -1, -1, 2 and 0."""
    uplink = Recorded()
    outcome = one_round(SignVote(server_step=0.5), uplink)
    ((sent, gain, weights, enforced),) = uplink.sent
    votes = [[1, -1, 0, 1, 0], [1, 1, -1, 1, 0], [-1, -1, 0, 0, 0]]
    np.testing.assert_array_equal(sent, votes)  # whatever the weights
    assert (gain, outcome.gain, enforced) == (7.0, 7.0, True)
    np.testing.assert_array_equal(weights, [1, 1, 1])
    np.testing.assert_array_equal(outcome.model, [10.5, 9.5, 9.5, 10.5, 10.0])
    assert outcome.reception.diagnostics["vote_error_rate"] == 0
    assert not outcome.device_state


def test_noise_turns_votes_around():
    """Of sums 1, -1, -1, 2, 0, received are -0.5, -1, 0, 2, 3: two of four wrong, and a coin toss.

    An entry that is received as exactly zero stays where it is.
    """
    outcome = one_round(SignVote(server_step=0.5), Recorded([-1.5, 0.0, 1.0, 0.0, 3.0]))
    np.testing.assert_array_equal(outcome.model, [9.5, 9.5, 10.0, 10.5, 10.5])
    assert outcome.reception.diagnostics["vote_error_rate"] == 0.5
    assert outcome.reception.diagnostics["nmse"] == 0  # what the uplink reports is still there


def test_a_client_without_weight_casts_no_vote():
    uplink = Recorded()
    outcome = one_round(SignVote(), uplink, weights=np.array([0.0, 1.0, 0.0]))
    np.testing.assert_array_equal(uplink.sent[0][0], [[0] * 5, [1, 1, -1, 1, 0], [0] * 5])
    np.testing.assert_array_equal(uplink.sent[0][2], [0, 1, 0])
    np.testing.assert_allclose(outcome.model, [10.01, 10.01, 9.99, 10.01, 10.0])


def test_error_feedback_by_hand():
    """p = Delta + e, votes sign(p), e = p - delta sign(p): two rounds with delta = 1/4."""
    algorithm, uplink = SignVote(server_step=0.25, error_feedback=True), Recorded()
    first = one_round(algorithm, uplink)
    memory = np.array(
        [[0.05, 0.05, 0, -0.15, 0], [-0.15, 0.15, -0.25, 0.45, 0], [-8.75, 0.15, 0, 0, 0]]
    )
    np.testing.assert_allclose(first.device_state["memory"], memory, atol=1e-12)
    updates = np.array([[-0.1, 0.0, 0.2, 0.1, 0], [0.1, -0.1, 0.0, -0.5, 0], [5.0, -0.2, 0, 0, 0]])
    second = one_round(algorithm, uplink, updates, device_state=first.device_state)
    votes = [[-1, 1, 1, -1, 0], [-1, 1, -1, -1, 0], [-1, -1, 0, 0, 0]]
    np.testing.assert_array_equal(uplink.sent[1][0], votes)
    left = [[0.2, -0.2, -0.05, 0.2, 0], [0.2, -0.2, 0, 0.2, 0], [-3.5, 0.2, 0, 0, 0]]
    np.testing.assert_allclose(second.device_state["memory"], left, atol=1e-12)


def test_a_silent_client_keeps_everything_in_its_memory():
    algorithm = SignVote(server_step=0.25, error_feedback=True)
    outcome = one_round(algorithm, Recorded(), weights=np.array([0.5, 0.0, 0.5]))
    np.testing.assert_array_equal(outcome.device_state["memory"][1], UPDATES[1])


def test_what_a_client_has_sent_and_what_it_keeps_make_up_its_updates(rng):
    algorithm, uplink, state = SignVote(server_step=0.25, error_feedback=True), Recorded(), {}
    updates = rng.standard_normal((6, 3, 5))
    for update in updates:
        state = one_round(algorithm, uplink, update, device_state=state).device_state
    sent = 0.25 * sum(signals for signals, *_ in uplink.sent)
    np.testing.assert_allclose(sent + state["memory"], updates.sum(axis=0), atol=1e-12)


def test_a_run_ends_at_a_tie_or_remembers_why_it_should_not():
    """Optima at 1 and 3, steps of 1/4: past 1 the clients vote against each other."""
    plain = run_parabolas(SignVote(server_step=0.25), rounds=10)
    assert plain.model[0] == 1.25
    feedback = run_parabolas(SignVote(server_step=0.25, error_feedback=True), rounds=10)
    assert feedback.model[0] > 1.25  # client 2 wants more than it may say, and does not forget


def test_a_tie_of_all_is_no_error_rate():
    assert np.isnan(vote_error_rate(np.zeros(3), np.array([1.0, -1.0, 0.0])))
    assert vote_error_rate(np.array([2.0, -2.0, 4.0, 0.0]), np.array([1.0, 3.0, 0.0, 0.0])) == 2 / 3


@pytest.mark.parametrize(
    ("clients", "minority", "wrong"),
    [(1, 0, 0.15865525), (3, 1, 0.15865525), (4, 1, 0.02275013), (3, 0, 0.00134990)],
)
@pytest.mark.parametrize("kind", [GaussianLink, OfdmLink])
def test_the_error_rate_is_that_of_theory(clients, minority, wrong, kind, rng):
    """At 0 dB per entry a vote has the power of the noise: Q(|S|), with S = 1, 1, 2, 3."""
    length = 40_000  # 50 symbols of 400 elements, each with the same energy
    link = GaussianLink(entry_snr_db=0.0)
    if kind is OfdmLink:
        link = OfdmLink(entry_snr_db=0.0, fading=NoFading(), truncation=0.0)
    updates = rng.exponential(size=(clients, length)) + 1e-3
    updates[:minority] *= -1
    updates *= rng.choice([-1.0, 1.0], size=length)
    outcome = SignVote().aggregate(
        Round(
            0,
            np.zeros(length),
            link.open(clients, length, rng),
            np.full(clients, 1 / clients),
            np.ones(clients, np.int64),
            0.1,
        ),
        Plan(np.ones(clients, np.int64)),
        updates,
        np.ones(clients, np.int64),
    )
    errors = outcome.reception.diagnostics["vote_error_rate"] * length
    check_proportion(np.arange(length) < errors, wrong)


def test_a_run_records_its_vote_errors():
    options = {"sgd": Sgd(0.05, None), "steps": 1}
    quiet = train(SignVote(), GaussianLink(snr_db=np.inf), two_parabolas(), rounds=3, **options)
    np.testing.assert_array_equal(quiet["vote_error_rate"], 0)
    noisy = train(SignVote(), GaussianLink(snr_db=-60.0), two_parabolas(), rounds=60, **options)
    assert set(noisy["vote_error_rate"]) == {0.0, 1.0}
    np.testing.assert_allclose(quiet.model, 0.03)


def test_refused():
    with pytest.raises(ValueError, match="server_step must be a finite number > 0, got 0"):
        SignVote(server_step=0.0)
    with pytest.raises(ValueError, match="error_feedback must be .*, got 1"):
        SignVote(error_feedback=1)
