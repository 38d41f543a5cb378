"""The notebooks run, and what is committed of them is what a whole run printed."""

from __future__ import annotations

import nbformat
import pytest
from nbclient.exceptions import CellExecutionError

from scenarios.notebooks.execute import execute, notebooks

PATHS = notebooks()
each = pytest.mark.parametrize("path", PATHS, ids=[path.stem for path in PATHS])


@each
def test_it_runs_and_its_claims_hold_for_any_seed(path, tmp_path, rng):
    seed = int(rng.integers(2**31))
    done = execute(path, tmp_path, QUICK=True, SEED=seed)
    assert "holds" in printed(done.cells[-1])


@pytest.mark.slow
@each
def test_the_whole_of_it(path, tmp_path, rng):
    done = execute(path, tmp_path, SEED=int(rng.integers(2**31)))
    assert "holds" in printed(done.cells[-1])


@each
def test_it_was_run_from_top_to_bottom_and_its_claims_held(path):
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


def test_a_claim_that_fails_fails_the_notebook(tmp_path):
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
