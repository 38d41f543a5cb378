"""Signals that ask a process to stop."""

from __future__ import annotations

import signal

import pytest

from otafl.cli.stopping import SIGNALS, stop_signals, uninterrupted

STOPPING = [signal.SIGTERM, signal.SIGHUP]


@pytest.fixture(autouse=True)
def defaults():
    """Begin with the handlers of a fresh process, and leave those of the tests' own."""
    before = {number: signal.signal(number, signal.SIG_DFL) for number in STOPPING}
    yield
    for number, handler in before.items():
        signal.signal(number, handler)


def handlers():
    return [signal.getsignal(number) for number in STOPPING]


def test_both_signals_are_handled():
    assert SIGNALS == ["SIGTERM", "SIGHUP"]


@pytest.mark.parametrize("number", STOPPING)
def test_a_signal_is_an_interrupt_with_its_number(number):
    with pytest.raises(KeyboardInterrupt) as stop, stop_signals():
        signal.raise_signal(number)
    assert stop.value.args == (number,)


def test_the_handlers_are_restored():
    with stop_signals():
        assert signal.SIG_DFL not in handlers()
    assert handlers() == [signal.SIG_DFL, signal.SIG_DFL]
    with pytest.raises(KeyError), stop_signals():
        raise KeyError
    assert handlers() == [signal.SIG_DFL, signal.SIG_DFL]


def test_one_inside_another_changes_nothing():
    with stop_signals():
        outside = handlers()
        with stop_signals():
            assert handlers() == outside
        assert handlers() == outside


@pytest.mark.parametrize("number", STOPPING)
def test_a_signal_that_is_ignored_stays_ignored(number):
    signal.signal(number, signal.SIG_IGN)
    with stop_signals():
        signal.raise_signal(number)  # nothing happens
        assert signal.getsignal(number) == signal.SIG_IGN
    assert signal.getsignal(number) == signal.SIG_IGN


def test_a_handler_of_the_caller_s_stays():
    seen = []
    signal.signal(signal.SIGTERM, lambda number, frame: seen.append(number))
    with stop_signals():
        signal.raise_signal(signal.SIGTERM)
    assert seen == [signal.SIGTERM]


def test_ctrl_c_is_left_to_python():
    before = signal.getsignal(signal.SIGINT)
    with stop_signals():
        assert signal.getsignal(signal.SIGINT) == before


@pytest.mark.parametrize("number", STOPPING)
def test_a_signal_is_held_back_while_it_would_be_lost(number):
    reached = []

    def work():
        with uninterrupted():
            signal.raise_signal(number)
            reached.append("inside")
        reached.append("outside")

    with pytest.raises(KeyboardInterrupt) as stop, stop_signals():
        work()
    assert stop.value.args == (number,)
    assert reached == ["inside"]
