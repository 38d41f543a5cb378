"""The command line, ``otafl``: studies and their results, links, validation and the demo.

Slow imports stand inside the commands that need them, so that ``--help`` and ``list`` respond at
once.
"""

from __future__ import annotations

import argparse
import os
import shlex
import shutil
import sys
from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path
from typing import Any

import otafl
from scenarios.config.library import STUDY_FILE, bundled, parse_value, read_source
from scenarios.errors import ScenarioError, StudyError

BAD_INPUT, FAILURE = 2, 1
LARGEST_COUNT = 100_000  # of rounds, seeds, realisations or processes


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command line.

    Parameters
    ----------
    arguments : sequence of str, optional
        Those of the process by default.

    Returns
    -------
    int
        The exit code: 0, 1 for what failed or was stopped, 2 for bad input.
    """
    options = _parser().parse_args(arguments)
    try:
        options.command(options)
        return 0
    except ScenarioError as error:
        return _say(f"otafl: {error}", BAD_INPUT)
    except StudyError as error:
        return _say(f"otafl: {error}", FAILURE)
    except KeyboardInterrupt:
        if options.command is not _run:
            return _say("\notafl: stopped", FAILURE)
        again = f"{_otafl()} {shlex.join(sys.argv[1:] if arguments is None else arguments)}"
        return _say(f"\notafl: stopped; finished cells are saved; resume with:\n  {again}", FAILURE)
    except BrokenPipeError:  # the reader closed the pipe
        os.dup2(os.open(os.devnull, os.O_WRONLY), 1)
        return 0


def _say(text: str, code: int) -> int:
    print(text, file=sys.stderr)
    return code


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="otafl",
        description="Over-the-air federated learning over physical-layer-faithful uplinks.",
        allow_abbrev=False,
    )
    parser.add_argument("--version", action="version", version=otafl.__version__)
    commands = parser.add_subparsers(required=True, metavar="COMMAND")

    def command(run: Callable[..., None], text: str) -> argparse.ArgumentParser:
        name = run.__name__.strip("_")
        each = commands.add_parser(name, help=text, allow_abbrev=False)  # --seed is not --seeds
        each.set_defaults(command=run)
        return each

    command(_list, "list the bundled scenarios")

    add = _with_scenario(command(_run, "run a study, or resume it")).add_argument
    add("--out", type=Path, help="directory of the study; out/NAME by default")
    add("--seeds", type=_count, metavar="N", help="use the seeds 0 to N-1")
    add("--rounds", type=_count, metavar="N", help="number of training rounds")
    workers = "number of processes; one per processor by default"
    add("--workers", type=_count, metavar="N", help=workers)

    show = command(_show, "show the results of a study as a table")
    directory = "directory of a study or of a link check, such as out/quickstart"
    show.add_argument("study", type=Path, metavar="DIR", help=directory)
    add = show.add_mutually_exclusive_group().add_argument
    add("--json", action="store_true", help="print the table as a JSON list of objects")
    add("--csv", type=Path, metavar="FILE", help="write the table to a CSV file")
    add("--mat", type=Path, metavar="FILE", help="write all metrics to a MATLAB file")

    add = command(_plot, "draw the figures of a study").add_argument
    add("study", type=Path, metavar="DIR", help=directory)
    add("--out", type=Path, help="directory of the figures; DIR/figures by default")

    text = "measure the error of a scenario's links against SNR and compare it with closed forms"
    add = _with_scenario(command(_link, text)).add_argument
    add("--out", type=Path, help="directory of the results; out/link-NAME by default")
    draws = "draws of channels and noise; 200 by default"
    add("--realisations", type=_count, default=200, metavar="N", help=draws)

    add = command(_validate, "validate this installation against closed forms").add_argument
    seed = partial(_whole, least=0, most=2**32 - 1)
    text = "seed of all random numbers; 0 by default"
    add("--seed", type=seed, default=0, metavar="N", help=text)
    add("--markdown", type=Path, metavar="FILE", help="also write the tables as Markdown")

    text = "open the teaching page, an interactive link, in the browser"
    add = command(_demo, text).add_argument
    add("--host", default="127.0.0.1", help="address to listen on; 127.0.0.1 by default")
    port = partial(_whole, least=0, most=65535)
    text = "port to listen on; 5006 by default, 0 for a free one"
    add("--port", type=port, default=5006, help=text)
    add("--no-browser", action="store_true", help="print the address and open no browser")
    return parser


def _with_scenario(parser: argparse.ArgumentParser) -> argparse.ArgumentParser:
    text = "a bundled scenario (see otafl list) or a .toml file"
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


def _change(text: str) -> tuple[str, Any]:
    key, equals, value = text.partition("=")
    if not equals or not key.strip():
        raise argparse.ArgumentTypeError(f"must be KEY=VALUE, got {text!r}")
    try:
        return key.strip(), parse_value(value.strip())
    except ScenarioError as error:
        raise argparse.ArgumentTypeError(str(error)) from None


def _scenario(options: argparse.Namespace, changes: dict[str, Any]) -> Any:
    from scenarios.config.loading import load_scenario

    if os.path.isfile(os.path.join(options.scenario, STUDY_FILE)):  # the directory of a study
        options.scenario = os.path.join(options.scenario, STUDY_FILE)
    return load_scenario(options.scenario, {**dict(options.changes), **changes})


def _list(options: argparse.Namespace) -> None:
    names = bundled()
    width = max(map(len, names))
    for name in names:
        print(f"{name:{width}}  {read_source(name)['title']}")


def _run(options: argparse.Namespace) -> None:
    changes: dict[str, Any] = {}
    if options.seeds is not None:
        changes["sweep.seed"] = list(range(options.seeds))
    if options.rounds is not None:
        changes["training.rounds"] = options.rounds
    scenario = _scenario(options, changes)

    from scenarios.study.runner import run_study

    out = options.out or _default_folder(options.scenario)
    run_study(scenario, out, workers=options.workers)
    _suggest(f"the study is in {out}; view it with:", out, "show", "plot")


def _suggest(text: str, out: Path, *commands: str) -> None:
    print(text)
    for command in commands:
        print(f"  {_otafl()} {command} {shlex.quote(str(out))}")


def _default_folder(scenario: str) -> Path:
    """Return where a scenario is run by default; a study resumes where it is."""
    path = Path(scenario)
    return path.parent if path.name == STUDY_FILE else Path("out") / path.stem


def _otafl() -> str:
    """Return how this command is called here."""
    return "otafl" if shutil.which("otafl") else f"{shlex.quote(sys.executable)} -m otafl"


def _show(options: argparse.Namespace) -> None:
    from scenarios.report import linkcheck, tables

    if options.json:
        print(tables.as_json(options.study))
    elif options.csv:
        tables.write_csv(options.study, options.csv)
        print(options.csv)
    elif options.mat:
        tables.write_mat(options.study, options.mat)
        print(options.mat)
    elif (options.study / linkcheck.FILE).is_file():
        tables.print_link_check(linkcheck.LinkCheck.load(options.study))
    else:
        tables.print_table(options.study)


def _plot(options: argparse.Namespace) -> None:
    import matplotlib

    matplotlib.use("Agg")  # figures go to files, with or without a display

    from figures.gallery import draw_all

    out = options.out or options.study / "figures"
    for path in draw_all(options.study, out, on_note=lambda note: _say(f"otafl: {note}", 0)):
        print(path)


def _link(options: argparse.Namespace) -> None:
    scenario = _scenario(options, {})

    from scenarios.report.linkcheck import check_links
    from scenarios.report.tables import print_link_check

    out = options.out or Path("out") / f"link-{Path(options.scenario).stem}"
    found = check_links(
        scenario,
        options.realisations,
        on_link=lambda name, place, total: _say(f"{place + 1} of {total}: {name}", 0),
    )
    found.save(out)
    print_link_check(found)
    _suggest(f"the results are in {out}; plot them with:", out, "plot")


def _validate(options: argparse.Namespace) -> None:
    from scenarios.study.writing import write_text
    from scenarios.validation import report

    if options.markdown and not options.markdown.parent.is_dir():
        raise ScenarioError(f"{options.markdown.parent} must be an existing directory")
    findings = list(report.measure(options.seed, on_oracle=lambda name: _say(f"{name} ...", 0)))
    report.print_table(findings)
    if options.markdown:
        write_text(options.markdown, report.as_markdown(findings))
    if not report.holds(findings):
        raise StudyError(report.verdict(findings))
    print(report.verdict(findings))


def _demo(options: argparse.Namespace) -> None:
    # more threads are slower with matrices this small
    os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
    try:
        from otafl.demo.server import serve
    except ModuleNotFoundError as error:
        if (error.name or "").partition(".")[0] != "bokeh":
            raise
        raise ScenarioError("the page needs Bokeh: pip install 'otafl[demo]'") from None

    def on_ready(address: str) -> None:
        print(f"the page is at {address} (Ctrl-C stops it)", flush=True)

    serve(options.host, options.port, not options.no_browser, on_ready)
