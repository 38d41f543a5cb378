"""The command line: ``otafl list``, ``run``, ``show``, ``plot`` and ``link``.

What takes time to import is imported where it is needed, so that help and lists come at once.
"""

from __future__ import annotations

import argparse
import os
import shlex
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from scenarios.library import ScenarioError, StudyError, content_of, parsed_value, shipped

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
        again = shlex.join(["otafl", *(sys.argv[1:] if arguments is None else arguments)])
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
        prog="otafl", description="Over-the-air federated learning over real uplinks: studies."
    )
    commands = parser.add_subparsers(required=True, metavar="COMMAND")

    each = commands.add_parser("list", help="the scenarios that come with the package")
    each.set_defaults(command=_list)

    each = commands.add_parser("run", help="run a study, or go on with one")
    _takes_scenario(each)
    each.add_argument("--out", type=Path, help="its directory, by default out/NAME")
    each.add_argument("--seeds", type=_count, metavar="N", help="seeds 0 to N-1")
    each.add_argument("--rounds", type=_count, metavar="N", help="rounds of training")
    each.add_argument("--workers", type=_count, metavar="N", help="processes, one a processor")
    each.set_defaults(command=_run)

    each = commands.add_parser("show", help="what a study found, as a table")
    each.add_argument("study", type=Path, metavar="DIR")
    form = each.add_mutually_exclusive_group()
    form.add_argument("--json", action="store_true", help="the table as a list of objects")
    form.add_argument("--csv", type=Path, metavar="FILE", help="the table as a CSV file")
    form.add_argument("--mat", type=Path, metavar="FILE", help="all metrics as a MATLAB file")
    each.set_defaults(command=_show)

    each = commands.add_parser("plot", help="draw the figures of a study")
    each.add_argument("study", type=Path, metavar="DIR")
    each.add_argument("--out", type=Path, help="where to, by default DIR/figures")
    each.set_defaults(command=_plot)

    each = commands.add_parser(
        "link", help="no learning: error of a scenario's links against SNR, beside closed forms"
    )
    _takes_scenario(each)
    each.add_argument("--out", type=Path, help="its directory, by default out/link-NAME")
    each.add_argument(
        "--trials", type=_count, default=200, metavar="N", help="draws of the channel"
    )
    each.set_defaults(command=_link)
    return parser


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


def _change(text: str) -> tuple[str, Any]:
    key, equals, value = text.partition("=")
    if not equals or not key.strip():
        raise argparse.ArgumentTypeError(f"{text!r} is not KEY=VALUE")
    return key.strip(), parsed_value(value.strip())


def _scenario(options: argparse.Namespace, changes: dict[str, Any]) -> Any:
    from scenarios.scenario import load_scenario

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

    out = options.out or Path("out") / Path(options.scenario).stem
    run_study(scenario, out, workers=options.workers)
    place = shlex.quote(str(out))
    print(f"the study is in {out}; look at it with:\n  otafl show {place}\n  otafl plot {place}")


def _show(options: argparse.Namespace) -> None:
    from scenarios import show

    if options.json:
        print(show.as_json(options.study))
    elif options.csv:
        show.write_csv(options.study, options.csv)
    elif options.mat:
        show.write_mat(options.study, options.mat)
    else:
        show.print_table(options.study)


def _plot(options: argparse.Namespace) -> None:
    from figures.gallery import draw_all

    for path in draw_all(options.study, options.out or options.study / "figures"):
        print(path)


def _link(options: argparse.Namespace) -> None:
    scenario = _scenario(options, {})

    from scenarios.linkcheck import check_links
    from scenarios.show import print_link_check

    out = options.out or Path("out") / f"link-{Path(options.scenario).stem}"
    found = check_links(scenario, options.trials, on_link=_say_link)
    found.save(out)
    print_link_check(found)
    print(f"the numbers are in {out}; draw them with:\n  otafl plot {shlex.quote(str(out))}")


def _say_link(name: str, place: int, total: int) -> None:
    print(f"{place + 1} of {total}: {name}", file=sys.stderr)


if __name__ == "__main__":
    sys.exit(main())
