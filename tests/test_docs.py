"""The README and the documentation: what they show runs, and what they name exists."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

import figures.link_pictures
import fl
import links
import otafl
import phy
import phy.impairments
import scenarios
from scenarios.config.library import bundled
from scenarios.config.loading import load_scenario
from scenarios.validation import report

ROOT = Path(__file__).parent.parent
DOCS = ROOT / "docs"
PAGES = [ROOT / "README.md", *sorted(DOCS.glob("*.md")), *sorted(DOCS.glob("*/*.md"))]
WITH_CODE = [page for page in PAGES if "```python" in page.read_text()]


def name_of(page):
    return str(page.relative_to(ROOT))


def blocks(page, language):
    return re.findall(rf"```{language}\n(.*?)```", page.read_text(), re.DOTALL)


def write_files(page, folder):
    """Write the blocks that begin with the name of a file, as a reader would save them."""
    found = [block for language in ("python", "toml") for block in blocks(page, language)]
    files = [block for block in found if re.match(r"# [\w-]+\.(py|toml)\n", block)]
    for block in files:
        (folder / block.split()[1]).write_text(block)
    return files


@pytest.mark.parametrize("page", WITH_CODE, ids=name_of)
def test_code_blocks_run_one_after_the_other(page, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.syspath_prepend(tmp_path)
    files = write_files(page, tmp_path)
    names: dict[str, object] = {}
    for block in blocks(page, "python"):
        if block not in files:
            exec(compile(block, name_of(page), "exec"), names)  # our own text
    assert files or names.keys() - {"__builtins__"}  # they left something behind


def test_code_uses_the_public_package():
    for page in WITH_CODE:
        code = [li for li in blocks(page, "python")[0].splitlines() if not li.startswith("#")]
        first = next(line for line in code if "otafl" in line)
        assert re.match("(import|from) otafl", first), name_of(page)


def test_there_is_code_to_run():
    assert len(WITH_CODE) >= 10
    (example,) = blocks(ROOT / "README.md", "python")
    assert len(example.strip().splitlines()) <= 11  # ten lines and a blank one


def code_lines(page):
    """Yield the lines between fences that hold code, as most directives do not."""
    inside, code = False, False
    for line in page.read_text().splitlines():
        if line.startswith("```"):
            inside, code = not inside, not line.startswith("```{") or "{code-block}" in line
        elif inside and code:
            yield line


@pytest.mark.parametrize("page", PAGES, ids=name_of)
def test_code_fits_its_box(page):
    """docs/static/look.css has room for a hundred characters."""
    if page.parent.name != "api":  # which has directives
        assert [line for line in code_lines(page) if len(line) > 100] == []


@pytest.mark.parametrize("page", [page for page in PAGES if blocks(page, "toml")], ids=name_of)
def test_scenarios_load(page, tmp_path):
    write_files(page, tmp_path)
    for block in blocks(page, "toml"):
        if not block.startswith("# pyproject.toml"):
            (tmp_path / "shown.toml").write_text(block)
            assert len(load_scenario(tmp_path / "shown.toml").cells) > 1


@pytest.mark.parametrize("page", PAGES, ids=name_of)
def test_links_and_pictures_exist(page):
    for target in re.findall(r"\]\(([^)#\s]+)[^)]*\)", page.read_text()):
        if "://" in target:
            continue
        # the documentation includes the notebooks
        path = page.parent / target
        if path.is_relative_to(DOCS / "notebooks"):
            path = ROOT / "scenarios" / "notebooks" / path.relative_to(DOCS / "notebooks")
        assert path.exists(), f"{name_of(page)}: {target}"


def test_pictures_have_captions():
    """A picture with a text below it is a figure; on GitHub the fence is two plain lines."""
    for page in PAGES:
        below = re.findall(r"^!\[[^\]]*\]\([^)]*\)\n(\S.*)$", page.read_text(), re.MULTILINE)
        assert below == [], name_of(page)


def test_every_how_to_is_one_click_from_the_front_page():
    front = (DOCS / "index.md").read_text()
    for page in DOCS.glob("howto/*.md"):
        assert f"(howto/{page.name})" in front, page.name


def test_the_gallery_has_every_bundled_scenario():
    text = (DOCS / "generated" / "gallery.md").read_text()
    assert re.findall(r"^## (.*)$", text, re.MULTILINE) == list(bundled())
    for name in bundled():
        assert f"(../images/{name}.png)" in text
        assert f"otafl run {name}\notafl plot out/{name} --only " in text


def test_every_bundled_scenario_is_listed():
    table = (DOCS / "studies.md").read_text().partition("| scenario |")[2].partition("\n\n")[0]
    rows = "".join(row.split("|")[1] for row in table.splitlines()[2:])
    assert sorted(re.findall(r"`([a-z0-9-]+)`", rows)) == sorted(bundled())


@pytest.mark.parametrize("package", [fl, links, phy, phy.impairments, scenarios])
def test_the_reference_has_every_public_name(package):
    reference = (DOCS / "api" / f"{package.__name__.split('.')[0]}.md").read_text()
    for name in package.__all__:
        assert re.search(rf":: {re.escape(package.__name__)}\.{name}\n", reference), name


def test_the_reference_has_every_picture_of_a_link():
    reference = (DOCS / "api" / "figures.md").read_text()
    assert ".. automodule:: figures.link_pictures\n   :members:\n" in reference
    for name in ("general.plot", "link_view.look_at", "link_view.LinkView", "link_view.RadioView"):
        assert f":: figures.{name}\n" in reference
    assert all(getattr(figures.link_pictures, n).__doc__ for n in figures.link_pictures.__all__)


def test_the_reference_has_every_name_of_the_public_package():
    reference = (DOCS / "api" / "otafl.md").read_text()
    for name in otafl.__all__:
        shown = "otafl.__version__" if name == "__version__" else f"`{name} <"
        assert shown in reference, name


def test_every_page_begins_with_a_sentence():
    for page in PAGES:
        if page.parent.name in ("api", "generated"):  # made of docstrings, and of measurements
            continue
        title, text = page.read_text().split("\n\n", 2)[:2]
        assert title.startswith("# "), name_of(page)
        assert re.match(r"[A-Z`*]|otafl is", text), name_of(page)
        assert text.rstrip("*").endswith((".", ":")), name_of(page)


GLOSSARY = """device, client; impairment; medium; link; uplink; slot; run; realisation; cell; point;
client weight; arrival factor; learning rate; local steps"""
ABANDONED = (  # words that stood for these in version 0.1
    r"\bcome along\b|\bcomes along\b|\bone a (?:client|cell|trial|symbol)\b|of one's own|"
    r"\b(?:slot|burst)\.(?:open|send|max_gain|budget)\b|\btrials?\b|\blanes?\b|\bbursts?\b|"
    r"\bcapability\b|channel knowledge"
)


def test_the_glossary_has_every_word():
    glossary = (DOCS / "definitions.md").read_text()
    for word in re.split(r";\s", GLOSSARY):
        assert re.search(rf"^\| {word} \| [A-Z].*\. \|$", glossary, re.MULTILINE), word


@pytest.mark.parametrize("page", PAGES, ids=name_of)
def test_one_word_per_concept(page):
    found = re.findall(f"(?i).*(?:{ABANDONED}).*", page.read_text())
    assert not found, found


def test_the_round_in_contributing_names_files_that_exist():
    text = (ROOT / "CONTRIBUTING.md").read_text()
    walk = text.partition("## One round, from dataset to figure")[2].partition("\n## ")[0]
    files = re.findall(r"^\d+\. `([a-z_/0-9]+\.(?:py|toml))`", walk, re.MULTILINE)
    assert len(files) > 20
    assert all((ROOT / file).is_file() for file in files), files
    ofdm, waveform = walk.split("### Over WaveformLink instead", 1)
    for part, of_links, of_phy in ((ofdm, 4, 8), (waveform, 4, 14)):
        named = set(re.findall(r"`((?:links|phy)/[a-z_/]+\.py)`", part))
        assert sum(file.startswith("links/") for file in named) <= of_links
        assert sum(file.startswith("phy/") for file in named) <= of_phy


def test_versions_agree():
    version = re.search(r'^version = "(.*)"$', (ROOT / "pyproject.toml").read_text(), re.M)[1]
    assert f"version: {version}\n" in (ROOT / "CITATION.cff").read_text()
    assert f"## {version}" in (ROOT / "CHANGELOG.md").read_text()


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
    assert len(rows) == 32
    assert all(row in (DOCS / "paper.md").read_text() for row in rows)


def test_every_notebook_is_listed():
    listed = re.findall(r"^notebooks/(.*)$", (DOCS / "notebooks.md").read_text(), re.MULTILINE)
    there = sorted(path.stem for path in (ROOT / "scenarios" / "notebooks").glob("*.ipynb"))
    assert listed == there
