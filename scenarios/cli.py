"""The command line, ``otafl``: studies and their results, links, validation and the demo.

What takes time to import is imported where it is needed, so that help and lists come at once.
"""

from __future__ import annotations

import argparse
import os
import shlex
import shutil
import sys
from collections.abc import Sequence
from functools import partial
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any

from scenarios.library import (
    STUDY_FILE,
    ScenarioError,
    StudyError,
    content_of,
    parsed_value,
    shipped,
)

BAD_INPUT, FAILURE = 2, 1
MOST = 100_000  # rounds, seeds, trials or processes


def main(arguments: Sequence[str] | None = None) -> int:
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
        return _say(
            f"\notafl: stopped; what is done is kept, and this goes on:\n  {again}", FAILURE
        )
    except BrokenPipeError:  # who reads has seen enough
        os.dup2(os.open(os.devnull, os.O_WRONLY), 1)
        return 0


def _say(text: str, code: int) -> int:
    print(text, file=sys.stderr)
    return code


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="otafl",
        description="Over-the-air federated learning over real uplinks.",
        allow_abbrev=False,
    )
    parser.add_argument("--version", action="version", version=_version())
    commands = parser.add_subparsers(required=True, metavar="COMMAND")
    command = partial(commands.add_parser, allow_abbrev=False)  # --seed is not --seeds

    each = command("list", help="the scenarios that come with the package")
    each.set_defaults(command=_list)

    each = command("run", help="run a study, or go on with one")
    _takes_scenario(each)
    each.add_argument("--out", type=Path, help="its directory, by default out/NAME")
    each.add_argument("--seeds", type=_count, metavar="N", help="seeds 0 to N-1")
    each.add_argument("--rounds", type=_count, metavar="N", help="rounds of training")
    each.add_argument("--workers", type=_count, metavar="N", help="processes, one a processor")
    each.set_defaults(command=_run)

    each = command("show", help="what a study found, as a table")
    each.add_argument("study", type=Path, metavar="DIR")
    form = each.add_mutually_exclusive_group()
    form.add_argument("--json", action="store_true", help="the table as a list of objects")
    form.add_argument("--csv", type=Path, metavar="FILE", help="the table as a CSV file")
    form.add_argument("--mat", type=Path, metavar="FILE", help="all metrics as a MATLAB file")
    each.set_defaults(command=_show)

    each = command("plot", help="draw the figures of a study")
    each.add_argument("study", type=Path, metavar="DIR")
    each.add_argument("--out", type=Path, help="where to, by default DIR/figures")
    each.set_defaults(command=_plot)

    each = command(
        "link", help="no learning: error of a scenario's links against SNR, beside closed forms"
    )
    _takes_scenario(each)
    each.add_argument("--out", type=Path, help="its directory, by default out/link-NAME")
    each.add_argument(
        "--trials", type=_count, default=200, metavar="N", help="draws of the channel"
    )
    each.set_defaults(command=_link)

    each = command("validate", help="measure this installation against closed forms")
    each.add_argument("--seed", type=_seed, default=0, metavar="N", help="of all that is drawn")
    each.add_argument(
        "--markdown", type=Path, metavar="FILE", help="write the tables for a document too"
    )
    each.set_defaults(command=_validate)

    each = command("demo", help="a page to play with a link and to teach from, in the browser")
    each.add_argument(
        "--host", default="127.0.0.1", help="address to listen on, by default this machine's own"
    )
    each.add_argument("--port", type=_port, default=5006, help="5006 by default, 0 for a free one")
    each.add_argument("--no-browser", action="store_true", help="only say where the page is")
    each.set_defaults(command=_demo)
    return parser


def _version() -> str:
    try:
        return version("otafl")
    except PackageNotFoundError:
        return "not installed"


def _takes_scenario(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("scenario", metavar="NAME_OR_FILE", help="see otafl list, or a .toml file")
    parser.add_argument(
        "--set",
        action="append",
        default=[],
        type=_change,
        metavar="KEY=VALUE",
        dest="changes",
        help="change a key of the scenario, such as link.snr_db=10 or sweep.link.snr_db=[0,10]",
    )


def _count(text: str) -> int:
    if not text.isdecimal() or not 1 <= int(text) <= MOST:
        raise argparse.ArgumentTypeError(f"{text!r} is not a whole number from 1 to {MOST}")
    return int(text)


def _from_zero(text: str, most: int) -> int:
    if not text.isdecimal() or int(text) > most:
        raise argparse.ArgumentTypeError(f"{text!r} is not a whole number from 0 to {most}")
    return int(text)


def _port(text: str) -> int:
    return _from_zero(text, 65535)


def _seed(text: str) -> int:
    return _from_zero(text, 2**32 - 1)


def _change(text: str) -> tuple[str, Any]:
    key, equals, value = text.partition("=")
    if not equals or not key.strip():
        raise argparse.ArgumentTypeError(f"{text!r} is not KEY=VALUE")
    try:
        return key.strip(), parsed_value(value.strip())
    except ScenarioError as error:
        raise argparse.ArgumentTypeError(str(error)) from None


def _scenario(options: argparse.Namespace, changes: dict[str, Any]) -> Any:
    from scenarios.loading import load_scenario

    if os.path.isfile(os.path.join(options.scenario, STUDY_FILE)):  # the directory of a study
        options.scenario = os.path.join(options.scenario, STUDY_FILE)
    return load_scenario(options.scenario, {**dict(options.changes), **changes})


def _list(options: argparse.Namespace) -> None:
    names = shipped()
    width = max(map(len, names))
    for name in names:
        print(f"{name:{width}}  {content_of(name)['title']}")


def _run(options: argparse.Namespace) -> None:
    changes: dict[str, Any] = {}
    if options.seeds is not None:
        changes["sweep.seed"] = list(range(options.seeds))
    if options.rounds is not None:
        changes["training.rounds"] = options.rounds
    scenario = _scenario(options, changes)

    from scenarios.study import run_study

    out = options.out or _study_of(options.scenario)
    run_study(scenario, out, workers=options.workers)
    print(f"the study is in {out}; look at it with:")
    for command in ("show", "plot"):
        print(f"  {_otafl()} {command} {shlex.quote(str(out))}")


def _study_of(scenario: str) -> Path:
    """Where a scenario is run, if nothing is said; a study goes on where it is."""
    path = Path(scenario)
    return path.parent if path.name == STUDY_FILE else Path("out") / path.stem


def _otafl() -> str:
    """How this command is called here."""
    return "otafl" if shutil.which("otafl") else shlex.quote(sys.argv[0])


def _show(options: argparse.Namespace) -> None:
    from scenarios import show
    from scenarios.linkcheck import FILE as LINK_FILE
    from scenarios.linkcheck import LinkCheck

    if options.json:
        print(show.as_json(options.study))
    elif options.csv:
        show.write_csv(options.study, options.csv)
        print(options.csv)
    elif options.mat:
        show.write_mat(options.study, options.mat)
        print(options.mat)
    elif (options.study / LINK_FILE).is_file():
        show.print_link_check(LinkCheck.load(options.study))
    else:
        show.print_table(options.study)


def _plot(options: argparse.Namespace) -> None:
    import matplotlib

    matplotlib.use("Agg")  # files, whether or not there is a screen

    from figures.gallery import draw_all

    out = options.out or options.study / "figures"
    for path in draw_all(options.study, out, on_note=lambda note: _say(f"otafl: {note}", 0)):
        print(path)


def _link(options: argparse.Namespace) -> None:
    scenario = _scenario(options, {})

    from scenarios.linkcheck import check_links
    from scenarios.show import print_link_check

    out = options.out or Path("out") / f"link-{Path(options.scenario).stem}"
    found = check_links(scenario, options.trials, on_link=_say_link)
    found.save(out)
    print_link_check(found)
    print(f"the numbers are in {out}; draw them with:")
    print(f"  {_otafl()} plot {shlex.quote(str(out))}")


def _say_link(name: str, place: int, total: int) -> None:
    print(f"{place + 1} of {total}: {name}", file=sys.stderr)


def _validate(options: argparse.Namespace) -> None:
    from scenarios.folder import writing
    from scenarios.validation import report

    if options.markdown and not options.markdown.parent.is_dir():
        raise ScenarioError(f"{options.markdown.parent} is no directory: make it first")
    findings = list(report.measure(options.seed, on_oracle=lambda name: _say(f"{name} ...", 0)))
    report.print_table(findings)
    if options.markdown:
        with writing(options.markdown) as file:
            file.write(report.as_markdown(findings).encode())
    if not report.holds(findings):
        raise StudyError(report.verdict(findings))
    print(report.verdict(findings))


def _demo(options: argparse.Namespace) -> None:
    os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")  # more are slower at matrices this small
    try:
        from scenarios.demo.server import serve
    except ModuleNotFoundError as error:
        if (error.name or "").partition(".")[0] != "bokeh":
            raise
        raise ScenarioError("the page needs Bokeh: pip install 'otafl[demo]'") from None

    serve(options.host, options.port, not options.no_browser, on_ready=_say_page)


def _say_page(address: str) -> None:
    print(f"the page is at {address} (Ctrl-C stops it)", flush=True)


if __name__ == "__main__":
    sys.exit(main())
