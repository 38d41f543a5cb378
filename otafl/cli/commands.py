"""What the commands of the command line do.

Slow imports stand inside the commands that need them, so that ``--help`` and ``list`` respond at
once.
"""

from __future__ import annotations

import os
import shlex
import shutil
import sys
from argparse import Namespace
from pathlib import Path
from typing import Any

from otafl.cli.stopping import uninterrupted
from scenarios.config.library import STUDY_FILE, bundled, read_source
from scenarios.errors import ScenarioError, StudyError, user_errors


def otafl() -> str:
    """Return how this command is called here."""
    return "otafl" if shutil.which("otafl") else f"{shlex.quote(sys.executable)} -m otafl"


def list_(options: Namespace) -> None:
    """List the bundled scenarios, or the parts that a scenario can name."""
    if options.parts:
        from scenarios.report.parts import print_parts

        print_parts()
        return
    names = bundled()
    width = max(map(len, names))
    for name in names:
        print(f"{name:{width}}  {read_source(name)['title']}")


def run(options: Namespace) -> None:
    """Run a study, resume it, or let it grow."""
    with uninterrupted():
        from scenarios.study.runner import run_study

    changes: dict[str, Any] = {}
    if options.seeds is not None:
        changes["sweep.seed"] = list(range(options.seeds))
    if options.rounds is not None:
        changes["training.rounds"] = options.rounds
    scenario = _scenario(options, changes)
    files = {"ca_file": options.tls_ca_file, "cert": options.tls_cert, "key": options.tls_key}
    out = options.out or _default_folder(options.scenario, options.shard)
    run_study(
        scenario,
        out,
        workers=options.workers,
        shard=options.shard,
        engine=options.engine,
        scheduler=options.scheduler,
        security={name: file for name, file in files.items() if file is not None} or None,
        keep_checkpoints=options.keep_checkpoints,
        rerun=options.rerun,
        accept_changed_code=options.accept_changed_code,
    )
    if options.shard is None:
        _suggest(f"the study is in {out}; view it with:", out, "show", "plot")
    else:
        print(f"part {options.shard} of the study is in {out}; join all parts with otafl merge")


def _scenario(options: Namespace, changes: dict[str, Any]) -> Any:
    from scenarios.config.loading import load_scenario

    if os.path.isfile(os.path.join(options.scenario, STUDY_FILE)):  # the directory of a study
        options.scenario = os.path.join(options.scenario, STUDY_FILE)
    return load_scenario(options.scenario, {**dict(options.changes), **changes})


def _default_folder(scenario: str, shard: str | None) -> Path:
    """Return where a scenario is run by default; a study resumes where it is."""
    path = Path(scenario)
    if path.name == STUDY_FILE:
        return path.parent
    part = "" if shard is None else f"-part-{shard.replace('/', '-of-')}"
    return Path("out") / f"{path.stem}{part}"


def _suggest(text: str, out: Path, *commands: str) -> None:
    print(text)
    for command in commands:
        print(f"  {otafl()} {command} {shlex.quote(str(out))}")


def explain(options: Namespace) -> None:
    """Print the numbers of one round."""
    scenario = _scenario(options, {})

    from scenarios.report.explain import print_explanation

    print_explanation(scenario)


def show(options: Namespace) -> None:
    """Show the results of studies."""
    from scenarios.report import comparison, linkcheck, tables

    study: Path = options.studies[0]
    if len(options.studies) > 1:
        if options.csv or options.mat:
            raise ScenarioError("--csv and --mat take one study")
        comparison.print_side_by_side(options.studies, as_json=options.json)
    elif options.json:
        print(tables.as_json(study))
    elif options.csv:
        tables.write_csv(study, options.csv)
        print(options.csv)
    elif options.mat:
        tables.write_mat(study, options.mat)
        print(options.mat)
    elif (study / linkcheck.FILE).is_file():
        tables.print_link_check(linkcheck.LinkCheck.load(study))
    elif not (study / STUDY_FILE).is_file() and tables.studies_in(study):
        tables.print_studies(study)
    else:
        tables.print_table(study)


def compare(options: Namespace) -> None:
    """Compare two studies point by point."""
    from scenarios.report.comparison import print_comparison

    print_comparison(options.first, options.second, as_json=options.json)


def merge(options: Namespace) -> None:
    """Join parts of a study."""
    from scenarios.study.merging import merge_studies

    done, total = merge_studies(options.parts, options.out)
    text = f"{options.out} has {done} of {total} cells; view them with:"
    _suggest(text, options.out, "show", "plot")


def upgrade(options: Namespace) -> None:
    """Let this version continue a study of an earlier one."""
    from scenarios.study.upgrade import upgrade_study

    count = upgrade_study(options.study)
    if count is None:
        print(f"{options.study} needs no upgrade")
    else:
        print(f"{options.study} can be continued now; its {count} finished cells are kept")


def plot(options: Namespace) -> None:
    """Draw the figures of a study, or one of several studies."""
    from otafl.cli.drawing import draw_studies

    draw_studies(options, on_note=lambda note: _note(f"otafl: {note}"))


def link(options: Namespace) -> None:
    """Measure the error of a scenario's links, or draw pictures of the first."""
    scenario = _scenario(options, {})
    out = options.out or Path("out") / f"link-{Path(options.scenario).stem}"
    if options.plot:
        from otafl.cli.drawing import draw_link

        draw_link(scenario, options, out / "figures", lambda note: _note(f"otafl: {note}"))
        return

    from scenarios.report.linkcheck import check_links
    from scenarios.report.tables import print_link_check

    with user_errors(name for cell in scenario.cells for name in cell.all_code()):
        found = check_links(
            scenario,
            options.realisations,
            on_link=lambda name, place, total: _note(f"{place + 1} of {total}: {name}"),
        )
    found.save(out)
    print_link_check(found)
    _suggest(f"the results are in {out}; plot them with:", out, "plot")


def validate(options: Namespace) -> None:
    """Validate this installation against closed forms."""
    from scenarios.study.writing import write_text
    from scenarios.validation import report

    if options.markdown and not options.markdown.parent.is_dir():
        raise ScenarioError(f"{options.markdown.parent} must be an existing directory")
    findings = list(report.measure(options.seed, on_oracle=lambda name: _note(f"{name} ...")))
    report.print_table(findings)
    if options.markdown:
        write_text(options.markdown, report.as_markdown(findings))
    if not report.holds(findings):
        raise StudyError(report.verdict(findings))
    print(report.verdict(findings))


def demo(options: Namespace) -> None:
    """Open the teaching page."""
    try:
        from otafl.demo.server import serve
    except ModuleNotFoundError as error:
        if (error.name or "").partition(".")[0] != "bokeh":
            raise
        raise ScenarioError("the page needs Bokeh: pip install 'otafl[demo]'") from None

    def on_ready(announcement: str) -> None:
        print(announcement, flush=True)

    serve(options.host, options.port, not options.no_browser, on_ready)


def _note(text: str) -> None:
    print(text, file=sys.stderr)
