"""Signals that ask a process to stop, turned into the exception of Ctrl-C."""

from __future__ import annotations

import contextlib
import signal
import threading
from collections.abc import Iterator
from types import FrameType

SIGNALS = [name for name in ("SIGTERM", "SIGHUP") if hasattr(signal, name)]  # no SIGHUP on Windows


@contextlib.contextmanager
def stop_signals() -> Iterator[None]:
    """Raise KeyboardInterrupt with the number of the signal on SIGTERM and SIGHUP.

    A signal that is ignored, as SIGHUP is under nohup, stays ignored.
    """
    before = {}
    here = threading.current_thread() is threading.main_thread()  # only there signals arrive
    for name in SIGNALS if here else ():
        number = getattr(signal, name)
        if signal.getsignal(number) == signal.SIG_DFL:
            before[number] = signal.signal(number, _stop)
    try:
        yield
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)


@contextlib.contextmanager
def uninterrupted() -> Iterator[None]:
    """Hold signals back for a moment, such as while modules are imported.

    Python ignores an exception in some of its own callbacks, and an interrupt would be lost.
    """
    if not hasattr(signal, "pthread_sigmask"):  # on Windows
        yield
        return
    signals = {signal.SIGINT, *(getattr(signal, name) for name in SIGNALS)}
    before = signal.pthread_sigmask(signal.SIG_BLOCK, signals)
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)


def _stop(number: int, frame: FrameType | None) -> None:
    raise KeyboardInterrupt(number)
