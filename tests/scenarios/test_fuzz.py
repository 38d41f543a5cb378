"""Whatever a scenario says, there is a clear error or a run, never a traceback."""

from __future__ import annotations

import contextlib

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from scenarios import ScenarioError, load_scenario
from scenarios.batch import check, run_cells
from scenarios.library import tomllib
from scenarios.parts import NONE, flat, set_key
from scenarios.scenario import Scenario
from tests.scenarios import small

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
    for name in ("acpc", "cotaf", "fedavg", "fednova")
    for data in ({"partition": "label"}, {"partition": "dirichlet"})
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


def values_for(key):
    """What might stand there, or anything at all."""
    seen = [example[key] for example in EXAMPLES if key in example]
    numbers = [n for n in seen if isinstance(n, int | float) and not isinstance(n, bool)]
    near = [n * factor for n in numbers for factor in (0, 2, 3)]
    plausible = st.sampled_from([*seen, *near]) if seen and key != "data.name" else VALUES
    return st.one_of(plausible, plausible, plausible, VALUES)


@st.composite
def keys_for(draw, kind, most):
    """Those that a link of this kind has, mostly."""
    own = [key for example in EXAMPLES if example["link.kind"] == kind for key in example]
    return draw(st.lists(st.sampled_from(own) | st.sampled_from(KEYS), max_size=most, unique=True))


MANY = {"max_examples": 300, "suppress_health_check": [HealthCheck.function_scoped_fixture]}


LINKS = st.sampled_from(["ideal", "gaussian", "fading", "ofdm", "orthogonal"])


def base(data_file, kind="ofdm"):
    content = small.content(data_file, rounds=1)
    content["algorithm"] = {"name": "acpc"}
    content["link"] = {"kind": kind}
    content["sweep"] = {}
    return content


@settings(**MANY)
@given(kind=LINKS, data=st.data())
def test_any_table(data_file, tmp_path, kind, data):
    content = base(data_file, kind)
    try:
        for key in data.draw(keys_for(kind, 2)):
            set_key(content, key, data.draw(values_for(key)))
        for key in data.draw(keys_for(kind, 1)):
            if isinstance(content["sweep"], dict):
                content["sweep"][key] = data.draw(st.lists(values_for(key), max_size=3) | VALUES)
        scenario = load_scenario(content)
        check(scenario)
    except ScenarioError:
        return
    assert Scenario.of(tomllib.loads(scenario.to_toml())).cells == scenario.cells
    first = scenario.cells[0]
    if first.training.rounds > 3 or getattr(first.link, "engine", "fast") != "fast":
        return
    checkpoint = tmp_path / "state.npz"
    checkpoint.unlink(missing_ok=True)
    (cell,) = run_cells([first], checkpoint, lambda number, rows: None)
    assert cell.settings == first.settings()


@settings(max_examples=200, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(text=st.text(max_size=80) | st.binary(max_size=80))
def test_any_file(tmp_path, text):
    file = tmp_path / "any.toml"
    file.write_bytes(text if isinstance(text, bytes) else text.encode("utf-8", "replace"))
    with pytest.raises(ScenarioError):  # nothing random names an algorithm and a link
        load_scenario(file)


@settings(max_examples=200, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(key=st.sampled_from(KEYS) | st.text(max_size=20), value=VALUES)
def test_any_change(data_file, key, value):
    with contextlib.suppress(ScenarioError):
        assert load_scenario(base(data_file), {key: value}).cells
