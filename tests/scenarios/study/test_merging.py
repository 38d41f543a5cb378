"""Shards, and joining what was run elsewhere."""

from __future__ import annotations

import shutil

import pytest

from scenarios import ScenarioError, load_scenario, merge_studies, open_study, run_study
from tests.scenarios import small
from tests.scenarios.study.cells import cells_of, check_same, path_of


def test_four_shards_merged_equal_one_run(finished, scenario, tmp_path):
    parts = [tmp_path / f"part-{number}" for number in (1, 2, 3, 4)]
    for number, part in enumerate(parts, start=1):
        run_study(scenario, part, shard=f"{number}/4", progress=False)
    assert [float(open_study(part)["finished"].sum()) for part in parts] == [2, 2, 2, 2]
    assert merge_studies(parts, tmp_path / "whole") == (8, 8)
    check_same(finished, tmp_path / "whole")
    run_study(scenario, tmp_path / "whole", progress=False)  # nothing is left to do


def test_parts_with_other_seeds(data_file, tmp_path):
    whole = load_scenario(small.content(data_file))
    for seed in (0, 1):
        part = load_scenario(small.content(data_file), {"sweep.seed": [seed]})
        run_study(part, tmp_path / str(seed), progress=False)
    assert merge_studies([tmp_path / "0", tmp_path / "1"], tmp_path / "both") == (8, 8)
    check_same(tmp_path / "both", run_study(whole, tmp_path / "whole", progress=False))


def test_parts_of_different_studies_are_refused(finished, data_file, tmp_path):
    other = load_scenario(small.content(data_file), {"link.snr_db": 3.0})
    run_study(other, tmp_path / "other", progress=False)
    with pytest.raises(ScenarioError, match="link.snr_db: there 20.0, here 3.0"):
        merge_studies([finished, tmp_path / "other"], tmp_path / "whole")
    assert len(cells_of(finished)) == 8
    assert not (tmp_path / "whole").exists()


def test_what_is_no_study_is_refused_before_anything_is_written(finished, tmp_path):
    with pytest.raises(ScenarioError, match="nowhere is not a study"):
        merge_studies([finished, tmp_path / "nowhere"], tmp_path / "whole")
    with pytest.raises(ScenarioError, match="at least one part"):
        merge_studies([], tmp_path / "whole")
    assert not (tmp_path / "whole").exists()


def test_a_damaged_cell_is_not_copied(finished, tmp_path):
    part = shutil.copytree(finished, tmp_path / "part")
    path_of(part, 3).write_bytes(b"half")
    assert merge_studies([part], tmp_path / "whole") == (7, 8)
    assert merge_studies([finished], tmp_path / "whole") == (8, 8)
    check_same(finished, tmp_path / "whole")


@pytest.mark.parametrize("shard", ["0/4", "5/4", "2", "a/b", "1/0", "-1/4"])
def test_a_shard_that_is_none(shard, scenario, tmp_path):
    with pytest.raises(ScenarioError, match=r"shard must be i/N with 1 <= i <= N, such as 2/4"):
        run_study(scenario, tmp_path / "study", shard=shard, progress=False)
    assert not (tmp_path / "study").exists()
