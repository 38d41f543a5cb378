"""TensorFlow comes late and without a word."""

from __future__ import annotations

import subprocess
import sys


def run(code):
    return subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)


def test_importing_the_layers_does_not_import_tensorflow():
    code = (
        "import sys, phy, links, fl, links.theory; "
        "from links import OfdmLink; import numpy as np; "
        "OfdmLink().open(2, 10, np.random.default_rng(1)).send(np.ones((2, 10)), 1e-6); "
        "print('tensorflow' in sys.modules, 'sionna' in sys.modules)"
    )
    assert run(code).stdout.split() == ["False", "False"]


def test_a_round_through_sionna_prints_nothing():
    code = (
        "import numpy as np; from links import OfdmLink; "
        "link = OfdmLink(engine='sionna'); "
        "link.open(2, 10, np.random.default_rng(1)).send(np.ones((2, 10)), 1e-6)"
    )
    done = run(code)
    assert (done.stdout, done.stderr) == ("", "")


def test_a_model_of_tensorflow_prints_nothing():
    code = (
        "import numpy as np; from fl.autodiff import Cnn; model = Cnn(); "
        "model.scores(np.zeros((1, 1, model.size), 'f4'), np.zeros((1, 2, 28, 28, 1), 'f4'))"
    )
    done = run(code)
    assert (done.stdout, done.stderr) == ("", "")


def test_what_a_failing_import_says_is_not_lost():
    code = (
        "import os, sys; from otafl._base.lazy import silent_stderr\n"
        "try:\n"
        "    with silent_stderr():\n"
        "        os.write(2, b'the reason'); raise ImportError\n"
        "except ImportError: pass"
    )
    assert run(code).stderr == "the reason"
