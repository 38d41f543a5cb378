"""TensorFlow, imported on first use and without its start-up lines.

The same few lines as in the radio layer: neither layer may import the other.
"""

from __future__ import annotations

import os
import sys
import tempfile
from types import ModuleType


def tensorflow() -> ModuleType:
    """The tensorflow module; what its C++ code says while it is loaded is shown if that fails."""
    if "tensorflow" not in sys.modules:
        os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")
        sys.stderr.flush()
        with tempfile.TemporaryFile() as held:
            stderr = os.dup(2)
            os.dup2(held.fileno(), 2)
            try:
                import tensorflow as tf

                tf.config.list_physical_devices()  # looks for accelerators now, not later
            except BaseException:
                held.seek(0)
                os.write(stderr, held.read())
                raise
            finally:
                os.dup2(stderr, 2)
                os.close(stderr)
    return sys.modules["tensorflow"]
