"""The commands and options of the command line."""

from __future__ import annotations

import argparse
from pathlib import Path

import pytest

from otafl.cli import commands
from otafl.cli.parser import make_parser, parse

NAMES = [
    "list", "run", "explain", "link", "show", "compare", "plot", "merge", "upgrade", "validate",
    "demo",
]  # fmt: skip


def options(*arguments):
    return parse(make_parser(), [str(each) for each in arguments])


def refused(capsys, *arguments):
    """Return what is printed on standard error."""
    with pytest.raises(SystemExit) as stop:
        options(*arguments)
    assert stop.value.code == 2
    return capsys.readouterr().err


def parsers():
    several = make_parser()._subparsers._group_actions[0]
    assert isinstance(several, argparse._SubParsersAction)
    return several


def test_these_are_the_commands():
    assert list(parsers().choices) == NAMES


def test_every_command_has_a_line_of_help():
    lines = {each.dest: each.help for each in parsers()._choices_actions}
    assert list(lines) == NAMES
    assert all(len(text.split()) > 3 for text in lines.values())


@pytest.mark.parametrize("name", NAMES)
def test_every_command_prints_its_help(name, capsys):
    with pytest.raises(SystemExit) as stop:
        options(name, "--help")
    assert stop.value.code == 0
    assert capsys.readouterr().out.startswith(f"usage: otafl {name} ")


@pytest.mark.parametrize("name", NAMES)
def test_every_option_says_what_it_does(name):
    for action in parsers().choices[name]._actions:
        if action.option_strings:
            assert action.help, action.option_strings


def test_every_command_runs_the_function_of_its_name():
    for name, each in parsers().choices.items():
        expected = commands.list_ if name == "list" else getattr(commands, name)
        assert each.get_default("command") is expected


@pytest.mark.parametrize(
    ("arguments", "usage", "hint"),
    [
        (["run", "quickstart", "--seed", "3"], "run", "did you mean '--seeds'?"),
        (["run", "quickstart", "--worker=3"], "run", "did you mean '--workers'?"),
        (["run", "quickstart", "--keep-checkpoint"], "run", "did you mean '--keep-checkpoints'?"),
        (["run", "quickstart", "--Rounds", "3"], "run", "did you mean '--rounds'?"),
        (["show", "a", "--jsn"], "show", "did you mean '--json'?"),
        (["compare", "a", "b", "--jason"], "compare", "did you mean '--json'?"),
        (["link", "quickstart", "--realisation", "3"], "link", "did you mean '--realisations'?"),
        (["merge", "a", "--out", "b", "--outt", "c"], "merge", "did you mean '--out'?"),
        (["validate", "--seeds", "3"], "validate", "did you mean '--seed'?"),
        (["list", "--part"], "list", "did you mean '--parts'?"),
    ],
)
def test_an_unknown_option_names_the_usage_of_the_command_and_the_nearest(
    arguments, usage, hint, capsys
):
    said = refused(capsys, *arguments)
    assert said.startswith(f"usage: otafl {usage} ")
    assert said.splitlines()[-1].startswith(f"otafl {usage}: error: unrecognized arguments: --")
    assert said.rstrip().endswith(hint)


def test_where_no_option_is_near_none_is_named(capsys):
    said = refused(capsys, "explain", "quickstart", "--zzz")
    assert said.startswith("usage: otafl explain ")
    assert said.endswith("otafl explain: error: unrecognized arguments: --zzz\n")
    said = refused(capsys, "upgrade", "a", "b")
    assert said.endswith("otafl upgrade: error: unrecognized arguments: b\n")


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["show"], "required: DIR"),
        (["compare", "a"], "required: B"),
        (["merge", "a"], "required: --out"),
        (["run"], "required: NAME_OR_FILE"),
        (["show", "a", "--json", "--csv", "b"], "not allowed with argument --json"),
        (["run", "a", "--engine", "slurm"], "invalid choice: 'slurm'"),
        (["run", "a", "--seeds", "0"], "must be a whole number from 1 to 100000, got '0'"),
        (["run", "a", "--seeds", "1.5"], "must be a whole number from 1 to 100000, got '1.5'"),
        (["run", "a", "--seeds", "-1"], "--seeds"),
        (["demo", "--port", "65536"], "must be a whole number from 0 to 65535, got '65536'"),
        (["validate", "--seed", "x"], "must be a whole number from 0 to 4294967295, got 'x'"),
        (["explain", "a", "--set", "=3"], "must be KEY=VALUE, got '=3'"),
        (["explain", "a", "--set", "link.snr_db"], "must be KEY=VALUE, got 'link.snr_db'"),
        (["explain", "a", "--set", "x=[a]"], "[a] is not a valid TOML list or table: strings"),
        (["fly"], "invalid choice: 'fly'"),
        ([], "required: COMMAND"),
    ],
)
def test_bad_arguments_are_refused(arguments, message, capsys):
    assert message in refused(capsys, *arguments)


def test_a_change_is_a_key_and_a_toml_value():
    given = ["link.snr_db=10", "sweep.seed = [0, 1]", "link.kind=ofdm", 'title="a = b"', "x.y="]
    found = options("run", "a", *(word for each in given for word in ("--set", each)))
    assert found.changes == [
        ("link.snr_db", 10),
        ("sweep.seed", [0, 1]),
        ("link.kind", "ofdm"),
        ("title", "a = b"),
        ("x.y", ""),
    ]


def test_the_options_of_run_have_these_defaults():
    found = vars(options("run", "quickstart"))
    assert found.pop("command") is commands.run
    del found["parser"]
    nothing = ("out", "seeds", "rounds", "workers", "shard", "scheduler")
    assert found == {
        **dict.fromkeys(nothing),
        **dict.fromkeys(("tls_ca_file", "tls_cert", "tls_key")),
        "scenario": "quickstart",
        "changes": [],
        "keep_checkpoints": False,
        "rerun": False,
        "accept_changed_code": False,
        "engine": "local",
    }


def test_directories_are_paths():
    assert options("show", "a", "b c").studies == [Path("a"), Path("b c")]
    compared = options("compare", "a", "b", "--json")
    assert (compared.first, compared.second, compared.json) == (Path("a"), Path("b"), True)
    merged = options("merge", "a", "b", "--out", "c")
    assert (merged.parts, merged.out) == ([Path("a"), Path("b")], Path("c"))
