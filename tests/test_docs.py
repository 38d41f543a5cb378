"""The README and the documentation: what they show runs, and what they name is there."""

from __future__ import annotations

import importlib.util
import re
from pathlib import Path

import pytest

import fl
import links
import phy
import phy.impairments
import scenarios
from scenarios.library import shipped
from scenarios.loading import load_scenario
from scenarios.validation import report

ROOT = Path(__file__).parent.parent
DOCS = ROOT / "docs"
PAGES = [ROOT / "README.md", *sorted(DOCS.glob("*.md")), *sorted(DOCS.glob("*/*.md"))]
WITH_CODE = [page for page in PAGES if "```python" in page.read_text()]


def name_of(page):
    return str(page.relative_to(ROOT))


def blocks(page, language):
    return re.findall(rf"```{language}\n(.*?)```", page.read_text(), re.DOTALL)


@pytest.mark.parametrize("page", WITH_CODE, ids=name_of)
def test_code_blocks_run_one_after_the_other(page, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    names: dict[str, object] = {}
    for block in blocks(page, "python"):
        exec(compile(block, name_of(page), "exec"), names)  # our own text


def test_there_is_code_to_run():
    assert len(WITH_CODE) >= 10
    (example,) = blocks(ROOT / "README.md", "python")
    assert len(example.strip().splitlines()) <= 17  # fifteen lines, and a blank one


@pytest.mark.parametrize("page", [page for page in PAGES if blocks(page, "toml")], ids=name_of)
def test_scenarios_are_such(page, tmp_path):
    for block in blocks(page, "toml"):
        (tmp_path / "shown.toml").write_text(block)
        assert len(load_scenario(tmp_path / "shown.toml").cells) > 1


@pytest.mark.parametrize("page", PAGES, ids=name_of)
def test_links_and_pictures_lead_somewhere(page):
    for target in re.findall(r"\]\(([^)#\s]+)[^)]*\)", page.read_text()):
        if "://" in target:
            continue
        # the documentation shows the notebooks as if they were its own
        path = page.parent / target
        if path.parent == DOCS / "notebooks":
            path = ROOT / "scenarios" / "notebooks" / path.name
        assert path.exists(), f"{name_of(page)}: {target}"


def test_every_scenario_is_named_and_no_other():
    table = (DOCS / "studies.md").read_text().partition("| scenario |")[2].partition("\n\n")[0]
    rows = "".join(row.split("|")[1] for row in table.splitlines()[2:])
    assert sorted(re.findall(r"`([a-z0-9-]+)`", rows)) == sorted(shipped())


@pytest.mark.parametrize("package", [fl, links, phy, phy.impairments, scenarios])
def test_the_reference_has_every_public_name(package):
    reference = (DOCS / "api" / f"{package.__name__.split('.')[0]}.md").read_text()
    for name in package.__all__:
        assert re.search(rf":: {re.escape(package.__name__)}\.{name}\n", reference), name


def test_the_validation_report_has_every_oracle():
    written = (DOCS / "generated" / "validation.md").read_text()
    headings = re.findall(r"^### (.*)$", written, re.MULTILINE)
    oracles = [oracle.name for oracles in report.CHAPTERS.values() for oracle in oracles]
    assert [heading.lower() for heading in headings] == [name.lower() for name in oracles]
    assert "fails" not in written
    claims = written.count("| holds |")
    assert f"[{claims} predictions of theory, measured]" in (ROOT / "README.md").read_text()


def test_the_tables_of_the_paper_agree():
    rows = re.findall(r"^\| \d+ \| .*$", (ROOT / "README.md").read_text(), re.MULTILINE)
    assert len(rows) == 12
    assert all(row in (DOCS / "paper.md").read_text() for row in rows)


def test_every_notebook_is_listed():
    listed = re.findall(r"^notebooks/(.*)$", (DOCS / "notebooks.md").read_text(), re.MULTILINE)
    there = sorted(path.stem for path in (ROOT / "scenarios" / "notebooks").glob("*.ipynb"))
    assert listed == there


def as_rst(text):
    spec = importlib.util.spec_from_file_location("docstrings", DOCS / "docstrings.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return "\n".join(module.as_rst(text.splitlines())).strip()


def test_docstrings_become_what_sphinx_reads():
    written = """The power |h|^2 of **all** ``a | b``, x*y.

Parameters
----------
snr_db : of a block [dB]
rate, size : one line
    and its continuation

    E = m c^2 | formula

    nested : with a name of its own

Examples
--------
>>> 1 | 2
3"""
    assert (
        as_rst(written)
        == r"""The power \|h\|^2 of **all** ``a | b``, x\*y.

``snr_db``
    of a block [dB]
``rate``, ``size``
    one line
    and its continuation

::

    E = m c^2 | formula

``nested``
    with a name of its own

.. rubric:: Examples

>>> 1 | 2
3"""
    )
