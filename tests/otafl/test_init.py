"""``import otafl``: the public names of all layers, at next to no cost."""

from __future__ import annotations

import importlib
import subprocess
import sys
from importlib.metadata import version

import pytest

import otafl
from figures import link_pictures

LAYERS = ("phy", "phy.impairments", "links", "fl", "scenarios")
PUBLIC = {name: layer for layer in LAYERS for name in importlib.import_module(layer).__all__}
PUBLIC |= {
    **dict.fromkeys(("Cnn", "KerasModel", "TensorFlowModel"), "fl.autodiff"),
    "noise_of": "links.radio",
    "expected_mse": "links.theory",
    "plot": "figures.general",
    **dict.fromkeys(("LinkView", "RadioView", "look_at"), "figures.link_view"),
    **dict.fromkeys(link_pictures.__all__, "figures.link_pictures"),
}
HEAVY = ("numpy", "scipy", "pydantic", "xarray", "tensorflow", "matplotlib", *LAYERS, "figures")


def run(code):
    return subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True
    ).stdout.strip()


def test_the_import_is_fast_and_imports_no_layer():
    """The best of several processes: others may be busy."""
    code = (
        "import sys, time; start = time.perf_counter(); import otafl; "
        "print(time.perf_counter() - start, *sys.modules)"
    )
    tries = [run(code).split() for _ in range(5)]
    assert min(float(seconds) for seconds, *_ in tries) < 0.1
    assert not set(HEAVY) & set(tries[0][1:])


def test_every_public_name_of_the_layers_is_there_and_no_other():
    assert set(otafl.__all__) == {*PUBLIC, "__version__"}
    assert len(otafl.__all__) > 40


@pytest.mark.parametrize("name", PUBLIC)
def test_a_name_is_that_of_its_layer(name):
    assert getattr(otafl, name) is getattr(importlib.import_module(PUBLIC[name]), name)


def test_a_name_is_imported_when_it_is_used():
    code = "import sys, otafl; otafl.OfdmGrid; print('phy' in sys.modules, 'fl' in sys.modules)"
    assert run(code) == "True False"


def test_dir_lists_every_name():
    assert set(dir(otafl)) >= {*PUBLIC, "__version__"}
    assert run("import otafl; print(len(dir(otafl)) > 40)") == "True"


def test_version():
    assert otafl.__version__ == version("otafl")


@pytest.mark.parametrize(
    ("wrong", "meant"), [("OfdmLnk", "OfdmLink"), ("ofdmlink", "OfdmLink"), ("trian", "train")]
)
def test_a_misspelt_name_gets_a_hint(wrong, meant):
    with pytest.raises(AttributeError, match=f"no attribute '{wrong}'; did you mean '{meant}'?"):
        getattr(otafl, wrong)


def test_a_strange_name_gets_none():
    with pytest.raises(AttributeError, match="no attribute 'xyzzy'$"):
        otafl.xyzzy  # noqa: B018


def test_star_import():
    code = "from otafl import *; print(OfdmLink.__name__, train.__name__, __version__)"
    assert run(code) == f"OfdmLink train {version('otafl')}"
