"""Lessons and solutions run, and their committed outputs come from a complete run."""

from __future__ import annotations

import re

import nbformat
import pytest
from nbclient.exceptions import CellExecutionError

from scenarios.notebooks.execute import execute, notebooks, solutions

LESSONS, SOLUTIONS = notebooks(), solutions()


def marked(paths):
    names = [f"{path.parent.name}-{path.stem}" for path in paths]
    return pytest.mark.parametrize("path", paths, ids=names)


each, lesson, solution = marked([*LESSONS, *SOLUTIONS]), marked(LESSONS), marked(SOLUTIONS)
MACHINE = re.compile(r"(?<![\w.])/(?:tmp|var|home|root|work|Users|private)/")


def test_all_notebooks_are_found():
    assert [path.name[:2] for path in LESSONS] == ["01", "02", "03", "04", "05", "06", "07"]


def test_every_lesson_has_its_solutions():
    assert [path.name for path in SOLUTIONS] == [path.name for path in LESSONS]


@each
def test_a_quick_run_verifies_the_claims_for_any_seed(path, tmp_path, rng):
    seed = int(rng.integers(2**31))
    executed = execute(path, tmp_path, QUICK=True, SEED=seed)
    assert "holds" in printed(code_of(executed)[-1])


@pytest.mark.slow
@each
def test_a_complete_run_verifies_the_claims_for_any_seed(path, tmp_path, rng):
    executed = execute(path, tmp_path, SEED=int(rng.integers(2**31)))
    assert "holds" in printed(code_of(executed)[-1])


@each
def test_committed_outputs_come_from_a_complete_run(path):
    code = code_of(read(path))
    assert [cell.execution_count for cell in code] == list(range(1, len(code) + 1))
    assert code[0].source.splitlines()[0].startswith("QUICK = False")
    assert "verify(" in code[-1].source
    assert printed(code[-1]).count("holds") >= 3
    for cell in code:
        for output in cell.outputs:
            assert output.output_type != "error"
            assert output.get("name") != "stderr", output.text
            assert not MACHINE.search(
                str(output.get("text", output.get("data", {}).get("text/plain")))
            )


@lesson
def test_a_lesson_has_pictures(path):
    outputs = [output for cell in code_of(read(path)) for output in cell.outputs]
    assert sum("image/png" in output.get("data", {}) for output in outputs) > 2


@each
def test_it_begins_with_a_title_and_a_full_sentence(path):
    first = read(path).cells[0]
    title, empty, *text = first.source.splitlines()
    assert first.cell_type == "markdown"
    assert title.startswith("# ")
    assert not empty
    assert text[0].startswith("This notebook ")


@lesson
def test_a_lesson_states_goals_time_and_prerequisites(path):
    top = read(path).cells[0].source
    goals = top.partition("**You will learn**\n\n")[2].partition("\n\n")[0]
    assert 3 <= len(re.findall(r"^- ", goals, re.MULTILINE)) <= 5
    assert re.search(r"^\*\*Time\*\*: \d+ minutes", top, re.MULTILINE)
    assert re.search(r"^\*\*Prerequisites\*\*: \S", top, re.MULTILINE)


@lesson
def test_a_lesson_ends_with_three_exercises(path):
    last = read(path).cells[-1]
    assert last.cell_type == "markdown"
    assert last.source.startswith("## Exercises")
    assert re.findall(r"^(\d)\. \*\*", last.source, re.MULTILINE) == ["1", "2", "3"]
    assert last.source.endswith(f"[Solutions](solutions/{path.name})")


@solution
def test_solutions_answer_all_exercises(path):
    notebook = read(path)
    assert f"](../{path.name})" in notebook.cells[0].source
    text = "\n".join(cell.source for cell in notebook.cells if cell.cell_type == "markdown")
    titles = re.findall(r"^## (\d)\. (.*)$", text, re.MULTILINE)
    exercises = re.findall(
        r"^(\d)\. \*\*(.*?)\.?\*\*",
        read(LESSONS[SOLUTIONS.index(path)]).cells[-1].source,
        re.MULTILINE,
    )
    assert titles == exercises
    checked = {line[0] for line in printed(code_of(notebook)[-1]).splitlines()[1:]}
    assert checked == {"1", "2", "3"}


def test_a_claim_that_does_not_hold_fails_the_notebook(tmp_path):
    notebook = nbformat.v4.new_notebook()
    parameters = nbformat.v4.new_code_cell("LIMIT = 1.0", metadata={"tags": ["parameters"]})
    claim = nbformat.v4.new_code_cell(
        "from scenarios.validation import at_most, verify\nverify(at_most('one', 1.0, LIMIT))"
    )
    notebook.cells = [parameters, claim]
    path = tmp_path / "small.ipynb"
    nbformat.write(notebook, path)
    assert "holds" in printed(execute(path, tmp_path).cells[-1])
    with pytest.raises(CellExecutionError, match="one: 1 is not ≤ 0.5"):
        execute(path, tmp_path, LIMIT=0.5)


def read(path):
    return nbformat.read(path, as_version=4)


def code_of(notebook):
    return [cell for cell in notebook.cells if cell.cell_type == "code" and cell.source]


def printed(cell):
    return "".join(output.text for output in cell.outputs if output.output_type == "stream")
