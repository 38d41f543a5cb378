"""TensorFlow and Sionna, imported on first use and without start-up chatter."""

from __future__ import annotations

import os
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from types import ModuleType


@contextmanager
def silent_stderr() -> Iterator[None]:
    """Hold back what C++ code writes to file descriptor 2; show it if the block fails."""
    sys.stderr.flush()
    with tempfile.TemporaryFile() as held:
        saved = os.dup(2)
        os.dup2(held.fileno(), 2)
        try:
            yield
        except BaseException:
            held.seek(0)
            os.write(saved, held.read())
            raise
        finally:
            os.dup2(saved, 2)
            os.close(saved)


def tensorflow() -> ModuleType:
    """Return the tensorflow module."""
    if "tensorflow" not in sys.modules:
        # TensorFlow writes its first lines before it reads this variable
        os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")
        with silent_stderr():
            import tensorflow as tf

            tf.config.list_physical_devices()  # look for accelerators now, not in the first call
    return sys.modules["tensorflow"]


def sionna() -> ModuleType:
    """Return the sionna.phy module."""
    tensorflow()
    import sionna.phy

    return sionna.phy
