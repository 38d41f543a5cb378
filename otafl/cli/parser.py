"""The commands and options of the command line."""

from __future__ import annotations

import argparse
from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path
from typing import Any

import otafl
from otafl._base.names import did_you_mean
from otafl.cli import commands
from scenarios.config.library import parse_value
from scenarios.errors import ScenarioError

DIRECTORY = "directory of a study or of a link check, such as out/quickstart"
LARGEST_COUNT = 100_000  # of rounds, seeds, realisations or processes

Command = Callable[[Callable[..., None], str], argparse.ArgumentParser]
"""Adds a command, given the function that runs it and a line of help."""


def parse(parser: argparse.ArgumentParser, arguments: Sequence[str]) -> argparse.Namespace:
    """Return the options; the command that does not have one says so."""
    options, unknown = parser.parse_known_args(arguments)
    if unknown:
        own = options.parser
        known = [name for action in own._actions for name in action.option_strings]
        name = unknown[0].partition("=")[0]
        own.error(f"unrecognized arguments: {' '.join(unknown)}{did_you_mean(name, known)}")
    return options


def make_parser() -> argparse.ArgumentParser:
    """Return the parser of all commands."""
    parser = argparse.ArgumentParser(
        prog="otafl",
        description="Over-the-air federated learning over physical-layer-faithful uplinks.",
        allow_abbrev=False,
    )
    parser.add_argument("--version", action="version", version=otafl.__version__)
    several = parser.add_subparsers(required=True, metavar="COMMAND")

    def command(run: Callable[..., None], text: str) -> argparse.ArgumentParser:
        name = run.__name__.strip("_")
        each = several.add_parser(name, help=text, allow_abbrev=False)  # --seed is not --seeds
        each.set_defaults(command=run, parser=each)
        return each

    _scenario_commands(command)
    _study_commands(command)
    _other_commands(command)
    return parser


def _scenario_commands(command: Command) -> None:
    """Add the commands that take a scenario."""
    add = command(commands.list_, "list the bundled scenarios, or the parts they can use")
    text = "list every part that a scenario can name, with its options and defaults"
    add.add_argument("--parts", action="store_true", help=text)

    _run_options(_with_scenario(command(commands.run, "run a study, resume it, or let it grow")))

    text = "print the numbers of one round of a scenario: SNR, noise, energy, airtime"
    _with_scenario(command(commands.explain, text))

    text = "measure the error of a scenario's links against SNR, or draw pictures of one round"
    parser = _with_scenario(command(commands.link, text))
    link = parser.add_argument
    link("--out", type=Path, help="directory of the results; out/link-NAME by default")
    text = "draws of channels and noise; 200 by default"
    link("--realisations", type=_count, default=200, metavar="N", help=text)
    text = "draw pictures of one round over the first link instead: channels, constellations, ..."
    link("--plot", action="store_true", help=text)
    _file_options(parser)


def _study_commands(command: Command) -> None:
    """Add the commands that take the directory of a study."""
    show = command(commands.show, "show the results of one or more studies as a table")
    text = f"{DIRECTORY}; a directory of studies lists them"
    show.add_argument("studies", type=Path, metavar="DIR", nargs="+", help=text)
    form = show.add_mutually_exclusive_group().add_argument
    form("--json", action="store_true", help="print the table as a JSON list of objects")
    form("--csv", type=Path, metavar="FILE", help="write the table to a CSV file")
    form("--mat", type=Path, metavar="FILE", help="write all metrics to a MATLAB file")

    text = "compare two studies point by point, with confidence intervals over the seeds"
    compare = command(commands.compare, text).add_argument
    compare("first", type=Path, metavar="A", help="directory of a study")
    compare("second", type=Path, metavar="B", help="directory of the study to compare with it")
    compare("--json", action="store_true", help="print the table as a JSON list of objects")

    _plot_options(command(commands.plot, "draw the figures of a study, or one of several"))

    merge = command(commands.merge, "join parts of a study that were run elsewhere").add_argument
    merge("parts", type=Path, metavar="DIR", nargs="+", help="directories of the parts")
    text = "directory of the whole study: a new one, or one that holds cells of it"
    merge("--out", type=Path, required=True, help=text)

    text = "let this version continue a study of an earlier one, without running a cell again"
    command(commands.upgrade, text).add_argument("study", type=Path, metavar="DIR")


def _other_commands(command: Command) -> None:
    """Add the commands that take neither."""
    text = "validate this installation against closed forms"
    validate = command(commands.validate, text).add_argument
    seed = partial(_whole, least=0, most=2**32 - 1)
    text = "seed of all random numbers; 0 by default"
    validate("--seed", type=seed, default=0, metavar="N", help=text)
    validate("--markdown", type=Path, metavar="FILE", help="also write the tables as Markdown")

    text = "open the teaching page, an interactive link, in the browser"
    demo = command(commands.demo, text).add_argument
    text = "address to listen on; 127.0.0.1, this machine only, by default, 0.0.0.0 for a class"
    demo("--host", default="127.0.0.1", help=text)
    port = partial(_whole, least=0, most=65535)
    text = "port to listen on; 5006 by default, 0 for a free one"
    demo("--port", type=port, default=5006, help=text)
    demo("--no-browser", action="store_true", help="print the address and open no browser")


def _plot_options(parser: argparse.ArgumentParser) -> None:
    add = parser.add_argument
    add("studies", type=Path, metavar="DIR", nargs="+", help=f"{DIRECTORY}; several are compared")
    add("--out", type=Path, help="directory of the figures; that of the first DIR by default")
    text = "draw these figures only; file.py:function draws one of yours"
    add("--only", type=_names, metavar="NAME,...", help=text)
    text = "draw only this value of a swept key, or these, as in link.snr_db=[0,10]; repeatable"
    add("--where", action="append", default=[], type=_change, metavar="KEY=VALUE", help=text)
    _file_options(parser)
    figure = parser.add_argument_group("a figure of your choice").add_argument
    text = "key of the horizontal axis, such as link.snr_db or round"
    figure("--x", metavar="KEY", help=text)
    text = "metrics of the vertical axis, accuracy by default; in a heat map the key of that axis"
    figure("--y", type=_names, metavar="METRIC,...", help=text)
    text = "key that lines stand for; in a heat map the metric that colours show"
    figure("--hue", metavar="KEY", help=text)
    figure("--col", metavar="KEY", help="key that columns of panels stand for")
    figure("--row", metavar="KEY", help="key that rows of panels stand for")
    kinds = ["line", "heatmap", "bar", "box"]
    figure("--kind", choices=kinds, help="kind of figure; line by default")


def _file_options(parser: argparse.ArgumentParser) -> None:
    text = "formats of the files: png, svg, pdf; png,svg by default"
    parser.add_argument("--format", type=_formats, default=["png", "svg"], help=text)
    text = "sizes for a paper (the default) or for slides"
    parser.add_argument("--style", choices=["paper", "slides"], default="paper", help=text)


def _run_options(parser: argparse.ArgumentParser) -> None:
    add = parser.add_argument
    add("--out", type=Path, help="directory of the study; out/NAME by default")
    add("--seeds", type=_count, metavar="N", help="use the seeds 0 to N-1")
    add("--rounds", type=_count, metavar="N", help="number of training rounds")
    text = "number of processes; one per processor by default"
    add("--workers", type=_count, metavar="N", help=text)
    text = "run the i-th of N parts of the batches, in a directory of its own; see otafl merge"
    add("--shard", metavar="i/N", help=text)
    text = "keep the last state of every batch, to continue it with more rounds later"
    add("--keep-checkpoints", action="store_true", help=text)
    text = "with more rounds: run cells without a kept state again from the start"
    add("--rerun", action="store_true", help=text)
    text = "go on although user-defined parts have changed since cells were computed"
    add("--accept-changed-code", action="store_true", help=text)
    text = "processes on this machine (the default), or Dask"
    add("--engine", choices=["local", "dask"], default="local", help=text)
    text = "a running Dask scheduler, tcp://... or tls://...; by default one is started here"
    add("--scheduler", metavar="ADDRESS", help=text)
    files = {"ca-file": "certificate authority", "cert": "certificate", "key": "private key"}
    for name, text in files.items():
        add(f"--tls-{name}", metavar="FILE", help=f"{text} for a tls:// scheduler")


def _with_scenario(parser: argparse.ArgumentParser) -> argparse.ArgumentParser:
    text = "a bundled scenario (see otafl list), a .toml file, or the directory of a study"
    parser.add_argument("scenario", metavar="NAME_OR_FILE", help=text)
    parser.add_argument(
        "--set",
        action="append",
        default=[],
        type=_change,
        metavar="KEY=VALUE",
        dest="changes",
        help="set a key of the scenario, as in link.snr_db=10 or sweep.link.snr_db=[0,10]",
    )
    return parser


def _whole(text: str, least: int, most: int) -> int:
    if not text.isdecimal() or not least <= int(text) <= most:
        raise argparse.ArgumentTypeError(
            f"must be a whole number from {least} to {most}, got {text!r}"
        )
    return int(text)


_count = partial(_whole, least=1, most=LARGEST_COUNT)


def _names(text: str) -> list[str]:
    names = [name.strip() for name in text.split(",")]
    if not all(names):
        raise argparse.ArgumentTypeError(f"must be names separated by commas, got {text!r}")
    return names


def _formats(text: str) -> list[str]:
    names = _names(text)
    for name in names:
        if name not in ("png", "svg", "pdf"):
            raise argparse.ArgumentTypeError(f"must be some of png, svg, pdf, got {name!r}")
    return names


def _change(text: str) -> tuple[str, Any]:
    key, equals, value = text.partition("=")
    if not equals or not key.strip():
        raise argparse.ArgumentTypeError(f"must be KEY=VALUE, got {text!r}")
    try:
        return key.strip(), parse_value(value.strip())
    except ScenarioError as error:
        raise argparse.ArgumentTypeError(str(error)) from None
