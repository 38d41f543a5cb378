"""Cross-cutting: any scenario gives a clear error or a run, never a traceback.

The tests count what they accepted: one in which everything were refused would show nothing.
"""

from __future__ import annotations

import atexit
import os
import shutil
import tempfile
from collections import Counter
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from scenarios import ScenarioError, load_scenario
from scenarios.config.keys import flat, set_key
from scenarios.config.library import tomllib
from scenarios.config.parts import NONE
from scenarios.config.scenario import Scenario
from scenarios.study.batch import check, run_cells
from tests.scenarios import small, user_files

FOLDER = user_files.write_all(Path(tempfile.mkdtemp()))
atexit.register(shutil.rmtree, FOLDER)
USERS = {
    "algorithm": {"name": f"{FOLDER}/vote.py:Vote"},
    "data": {"name": f"{FOLDER}/parts.py:Blobs", "partition": f"{FOLDER}/parts.py:Halves"},
    "model": {"name": f"{FOLDER}/parts.py:Ridge"},
}
EXAMPLES = [
    flat(
        load_scenario({"link": link, "algorithm": {"name": name}, "data": data}).cells[0].settings()
    )
    for link in (
        {"kind": "ideal"},
        {"kind": "gaussian"},
        {"kind": "fading", "fading": {"kind": "rician"}, "csi": {"kind": "noisy"}},
        {"kind": "ofdm", "csi": {"kind": "aged", "of": {"kind": "pilot"}}},
        {"kind": "orthogonal", "fading": {"kind": "none"}},
        {
            "kind": "waveform",
            "transmit": {"carrier_offset": {"sync": {}}, "rapp": {}, "timing_offset": {}},
            "receive": {"adc": {}, "phase_noise": {}},
        },
    )
    for name in ("acpc", "clipped-fedavg", "cotaf", "fedavg", "fednova")
    for data in ({"partition": "label"}, {"partition": "dirichlet"})
]
EXAMPLES += [
    flat(load_scenario({**USERS, "link": link}).cells[0].settings())
    for link in (
        {"kind": f"{FOLDER}/parts.py:Sum"},
        {
            "kind": "waveform",
            "fading": {"kind": f"{FOLDER}/parts.py:TwoPaths"},
            "csi": {"kind": f"{FOLDER}/parts.py:Coarse"},
            "transmit": {"leakage": {"kind": f"{FOLDER}/parts.py:Leakage"}},
        },
    )
]
TABLES = ["data", "link", "link.fading", "link.csi", "link.csi.of", "training.steps", "sweep"]
OTHERS = ["paper", "title", "model.hidden", "data.shares", "nonsense", "link.nonsense.deep"]
KEYS = sorted({key for example in EXAMPLES for key in example} | {*TABLES, *OTHERS})
CHOICES = ["unbalanced", "quadratic", "mlp", "rayleigh", "round", "mmse", "expected", "active", "E"]
CHOICES += sorted({text for each in EXAMPLES for text in each.values() if isinstance(text, str)})
PLAIN = (
    st.sampled_from(CHOICES)
    | st.integers(-2, 12)
    | st.floats(width=32)
    | st.sampled_from([0.5, 1e-3, 10.0, NONE, True, "", "x" * 50, 10**30, "\0"])
)
VALUES = (
    PLAIN
    | st.lists(PLAIN, max_size=4)
    | st.dictionaries(st.sampled_from(["kind", "name", "least", "most", "a"]), PLAIN, max_size=3)
)


def values_for(key, mild=False):
    """Values that may be valid there, or else anything at all; only the former if ``mild``."""
    seen = [example[key] for example in EXAMPLES if key in example]
    numbers = [n for n in seen if isinstance(n, int | float) and not isinstance(n, bool)]
    near = [n * factor for n in numbers for factor in (0, 2, 3)]
    if not seen or key == "data.name":
        return VALUES
    plausible = st.sampled_from([*seen, *seen, *near])
    return plausible if mild else st.one_of(plausible, plausible, plausible, VALUES)


@st.composite
def keys_for(draw, kind, most, mild=False):
    """Keys that a scenario with such a link and ACPC has, or else any; only those if ``mild``."""
    algorithm = "vote.py:Vote" if kind == "parts.py:Sum" else "acpc"
    examples = [e for e in EXAMPLES if (e["link.kind"], e["algorithm.name"]) == (kind, algorithm)]
    own = st.sampled_from(sorted({key for each in examples for key in each}))
    return draw(st.lists(own if mild else own | st.sampled_from(KEYS), max_size=most, unique=True))


MANY = {"max_examples": int(os.environ.get("OTAFL_FUZZ", "300"))}
"""OTAFL_FUZZ=5000 tries more."""


LINKS = st.sampled_from(["ideal", "gaussian", "fading", "ofdm", "orthogonal", "parts.py:Sum"])


@pytest.fixture(autouse=True)
def beside_the_user_s_files(monkeypatch):
    monkeypatch.chdir(FOLDER)


def base(data_file, kind="ofdm"):
    content = small.content(data_file, rounds=1)
    content["algorithm"] = {"name": "acpc"}
    content["link"] = {"kind": kind}
    content["sweep"] = {}
    if kind == "parts.py:Sum":
        content |= {table: dict(USERS[table]) for table in USERS}
    return content


def test_any_table(data_file, tmp_path):
    seen = Counter()
    fuzz_tables(data_file, tmp_path, seen)
    assert seen["loaded"] >= 60, seen
    assert seen["run"] >= 50, seen
    assert seen["refused"] >= 50, seen


@settings(**MANY)
@given(kind=LINKS, mild=st.booleans(), data=st.data())
def fuzz_tables(data_file, tmp_path, seen, kind, mild, data):
    content = base(data_file, kind)
    try:
        for key in data.draw(keys_for(kind, 2, mild)):
            set_key(content, key, data.draw(values_for(key, mild)))
        for key in data.draw(keys_for(kind, 1, mild)):
            if isinstance(content["sweep"], dict):
                some = st.lists(
                    values_for(key, mild), min_size=1, max_size=3, unique_by=repr if mild else None
                )
                content["sweep"][key] = data.draw(some if mild else some | VALUES)
        scenario = load_scenario(content)
        check((cell, "") for cell in scenario.cells)
    except ScenarioError:
        seen["refused"] += 1
        return
    seen["loaded"] += 1
    assert Scenario.read(tomllib.loads(scenario.to_toml())).cells == scenario.cells
    first = scenario.cells[0]
    if first.training.rounds > 3 or getattr(first.link, "engine", "fast") != "fast":
        return
    checkpoint = tmp_path / "state.npz"
    checkpoint.unlink(missing_ok=True)
    (cell,) = run_cells([first], checkpoint, lambda number, rows: None)
    assert cell.settings == first.settings()
    seen["run"] += 1


@settings(max_examples=200, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(text=st.text(max_size=80) | st.binary(max_size=80))
def test_any_file(tmp_path, text):
    file = tmp_path / "any.toml"
    file.write_bytes(text if isinstance(text, bytes) else text.encode("utf-8", "replace"))
    with pytest.raises(ScenarioError):  # nothing random names an algorithm and a link
        load_scenario(file)


def test_any_change(data_file):
    seen = Counter()
    fuzz_changes(data_file, seen)
    assert seen["loaded"] >= 15, seen
    assert seen["refused"] >= 50, seen


@settings(**MANY)
@given(mild=st.booleans(), data=st.data())
def fuzz_changes(data_file, seen, mild, data):
    key = data.draw(st.sampled_from(KEYS) if mild else st.sampled_from(KEYS) | st.text(max_size=20))
    value = data.draw(values_for(key, mild))
    try:
        scenario = load_scenario(base(data_file), {key: value})
    except ScenarioError:
        seen["refused"] += 1
        return
    assert scenario.cells
    seen["loaded"] += 1
