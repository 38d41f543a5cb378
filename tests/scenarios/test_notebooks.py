"""The notebooks run, and their committed outputs come from a complete run."""

from __future__ import annotations

import nbformat
import pytest
from nbclient.exceptions import CellExecutionError

from scenarios.notebooks.execute import execute, notebooks

PATHS = notebooks()
each = pytest.mark.parametrize("path", PATHS, ids=[path.stem for path in PATHS])


def test_all_notebooks_are_found():
    assert [path.name[:2] for path in PATHS] == ["01", "02", "03", "04", "05", "06"]


@each
def test_a_quick_run_verifies_the_claims_for_any_seed(path, tmp_path, rng):
    seed = int(rng.integers(2**31))
    executed = execute(path, tmp_path, QUICK=True, SEED=seed)
    assert "holds" in printed(executed.cells[-1])


@pytest.mark.slow
@each
def test_a_complete_run_verifies_the_claims_for_any_seed(path, tmp_path, rng):
    executed = execute(path, tmp_path, SEED=int(rng.integers(2**31)))
    assert "holds" in printed(executed.cells[-1])


@each
def test_committed_outputs_come_from_a_complete_run(path):
    notebook = nbformat.read(path, as_version=4)
    code = [cell for cell in notebook.cells if cell.cell_type == "code" and cell.source]
    assert [cell.execution_count for cell in code] == list(range(1, len(code) + 1))
    assert code[0].source.splitlines()[0].startswith("QUICK = False")
    assert "verify(" in code[-1].source
    assert printed(code[-1]).count("holds") >= 3
    assert (
        sum("image/png" in output.get("data", {}) for cell in code for output in cell.outputs) > 2
    )
    for cell in code:
        for output in cell.outputs:
            assert output.output_type != "error"
            assert output.get("name") != "stderr", output.text


@each
def test_it_begins_with_a_title_and_a_full_sentence(path):
    first = nbformat.read(path, as_version=4).cells[0]
    title, empty, *text = first.source.splitlines()
    assert first.cell_type == "markdown"
    assert title.startswith("# ")
    assert not empty
    assert text[0].startswith("This notebook ")


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


def printed(cell):
    return "".join(output.text for output in cell.outputs if output.output_type == "stream")
