"""What is on the page as code: the round as Python, the training as a scenario in TOML."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import fields
from typing import Any

import tomli_w

from figures.link_view import LENGTH, SIGNALS
from otafl.demo.setting import Setting
from otafl.demo.snapshot import FULL_GAIN, Snapshot
from scenarios.config.objects import described

ALGORITHMS = ("acpc", "cotaf", "fedavg")
ROUNDS = 60
MODEL_SIZE = 7850  # weights of the logistic regression, the entries of a block
HEADER = "# The training of the otafl demo page; run it with: otafl run FILE\n\n"


def scenario_of(setting: Setting) -> dict[str, Any]:
    """Return the tables of the scenario that the page trains."""
    faults = setting.faults
    link: dict[str, Any] = {"kind": "waveform" if faults else "ofdm"}
    link |= {name: _table(value) for name, value in setting.options.items()}
    link["correction"] = "active"
    if faults:
        chain = described(setting.link())["transmit"]
        by_name = dict(zip(chain, faults, strict=True))
        link["transmit"] = {name: _options(fault) for name, fault in by_name.items()}
    return {
        "title": "The training of the otafl demo page",
        "seed": setting.seed,
        "data": {
            "name": "mnist",
            "partition": "label",
            "clients": setting.clients,
            "labels_per_client": max(2, -(-10 // setting.clients)),  # together all ten digits
        },
        "model": {"name": "logistic"},
        "algorithm": {"G": 0.5, "tau_max": 6},
        "link": link,
        "training": {
            "rounds": ROUNDS,
            "rate": 0.3,
            "batch_size": 50,
            "weight_decay": 1e-4,
            "steps": {"least": 1, "most": 100},
        },
        "sweep": {"algorithm.name": list(ALGORITHMS)},
    }


def as_toml(setting: Setting) -> str:
    """Return the training as a file that ``otafl run`` accepts."""
    return HEADER + tomli_w.dumps(scenario_of(setting))


def as_python(shown: Snapshot) -> str:
    """Return a program that repeats the round and prints its NMSE."""
    setting = shown.setting
    options = setting.options | ({"transmit": setting.faults} if setting.faults else {})
    lines = [f"    {name}={_written(value)},\n" for name, value in options.items()]
    size = f"({setting.clients}, {LENGTH})"
    draw = (
        f"choice(np.array([-1, 1], np.float32), {size})"
        if setting.payload == "votes"
        else f"standard_normal({size}, dtype=np.float32)"
    )
    # a gain is given only where no budget determines it, since nobody transmits
    gain = f", gain={FULL_GAIN!r}" if shown.active == 0 else ""
    return (
        "import numpy as np\n\n"
        "import otafl\n\n"
        f"link = otafl.{shown.view.name}(\n{''.join(lines)})\n"
        f"signals = np.random.default_rng([{setting.seed}, {SIGNALS}]).{draw}\n"
        f"view = otafl.look_at(link, signals, seed={setting.seed}{gain})\n"
        'print(f"NMSE {10 * np.log10(view.nmse):.1f} dB")\n'
    )


def _options(thing: Any) -> dict[str, Any]:
    """Return the options that the class of an object adds, and others that are not at a default."""
    own = type(thing).__annotations__
    return {
        field.name: value
        for field in fields(thing)
        if (value := getattr(thing, field.name)) is not None
        and (field.name in own or value != field.default)
    }


def _table(value: Any) -> Any:
    """Return an option as a scenario has it."""
    table = described(value)
    if not isinstance(table, Mapping):
        return table
    return {"kind": table["kind"]} | _options(value)


def _written(value: Any) -> str:
    """Return an option as Python has it."""
    if isinstance(value, tuple):
        return f"[{', '.join(map(_written, value))}]"
    if isinstance(value, float):
        return repr(value)
    inside = ", ".join(f"{name}={each!r}" for name, each in _options(value).items())
    return f"otafl.{type(value).__name__}({inside})"
