"""Studies that grow, and what is refused because it would change the meaning of a cell."""

from __future__ import annotations

import sys

import numpy as np
import pytest

from scenarios import ScenarioError, load_scenario, open_study, run_study
from scenarios.errors import StudyError
from scenarios.study.folder import Folder
from scenarios.study.growth import extended, new_study
from scenarios.study.index import Index
from tests.scenarios import small
from tests.scenarios.study.cells import cell_of, cells_of, check_same, missing, start_study


def study_of(data_file, sweep, **tables):
    return load_scenario(small.content(data_file, rounds=3, sweep=sweep, **tables))


def modified(folder):
    return {path: path.stat().st_mtime_ns for path in folder.glob("cells/*")}


def check_close(one, other):
    """To 1e-5: a matrix product of another shape rounds differently."""
    for mine, theirs in zip(cells_of(one), cells_of(other), strict=True):
        assert mine.settings == theirs.settings
        for name, (_, values) in mine.variables.items():
            np.testing.assert_allclose(
                theirs.variables[name][1], values, rtol=1e-5, atol=1e-12, err_msg=name
            )


def test_more_seeds_are_bit_identical(data_file, tmp_path):
    """Seeds are batches of their own, so batches are the same grown or at once."""
    sweep = {"algorithm.name": ["acpc", "cotaf"]}
    steps = [{**sweep, "seed": [0]}, {**sweep, "seed": [0, 1]}, {**sweep, "seed": [0, 1, 2]}]
    for each in steps:
        before = modified(tmp_path / "grown")
        run_study(study_of(data_file, each), tmp_path / "grown", progress=False)
        assert modified(tmp_path / "grown").items() >= before.items()
    run_study(study_of(data_file, steps[-1]), tmp_path / "whole", progress=False)
    check_same(tmp_path / "grown", tmp_path / "whole")


def test_grown_in_three_steps_it_has_the_cells_of_one_run(data_file, tmp_path):
    """More values, another algorithm, and a key that was not swept before."""
    steps = [
        {"algorithm.name": ["acpc", "cotaf"], "link.snr_db": [0.0, 10.0]},
        {"algorithm.name": ["acpc", "cotaf", "fedavg"], "link.snr_db": [0.0, 10.0]},
        {
            "algorithm.name": ["acpc", "cotaf", "fedavg"],
            "link.snr_db": [0.0, 10.0, 20.0],
            "training.rate": [0.5, 0.3],
        },
    ]
    folder, sizes = tmp_path / "grown", []
    for each in steps:
        before = modified(folder)
        run_study(study_of(data_file, each), folder, progress=False)
        assert modified(folder).items() >= before.items()
        sizes.append(len(modified(folder)))
    assert sizes == [4, 6, 18]
    run_study(study_of(data_file, steps[-1]), tmp_path / "whole", progress=False)
    check_close(folder, tmp_path / "whole")
    study = open_study(folder)
    assert dict(study.sizes)["training.rate"] == 2
    assert float(study["finished"].sum()) == 18


def test_what_is_asked_for_is_run_and_the_rest_is_not(data_file, tmp_path):
    """Two corners of a square: the other two are left until the whole study is run."""
    folder = tmp_path / "study"
    table = {"algorithm": {"name": "cotaf"}}
    for snr, rate in ((0.0, 0.3), (10.0, 0.5)):
        sweep = {"link.snr_db": [snr], "training.rate": [rate]}
        run_study(study_of(data_file, sweep, **table), folder, progress=False)
    study = open_study(folder)
    assert study["finished"].values.tolist() == [[1.0, 0.0], [0.0, 1.0]]
    run_study(load_scenario(folder / "scenario.toml"), folder, progress=False)
    assert float(open_study(folder)["finished"].sum()) == 4


def test_a_smaller_request_leaves_the_study_as_it_is(data_file, tmp_path):
    sweep = {"algorithm.name": ["acpc", "cotaf"], "seed": [0, 1]}
    folder = run_study(study_of(data_file, sweep), tmp_path / "study", progress=False)
    before = (folder / "study.json").read_text(), (folder / "scenario.toml").read_text()
    one = study_of(data_file, {"seed": [1]}, algorithm={"name": "cotaf"})
    run_study(one, folder, progress=False)
    assert ((folder / "study.json").read_text(), (folder / "scenario.toml").read_text()) == before


def test_another_variant(data_file, tmp_path):
    variants = {"COTAF": {"algorithm.name": "cotaf"}}
    folder = tmp_path / "study"
    tables = {"algorithm": {}}
    run_study(study_of(data_file, {"variant": variants}, **tables), folder, progress=False)
    before = modified(folder)
    variants["ACPC, 6 dB more power"] = {
        "algorithm.name": "acpc", "algorithm.G": 2.0, "link.power": 4.0
    }  # fmt: skip
    run_study(study_of(data_file, {"variant": variants}, **tables), folder, progress=False)
    assert modified(folder).items() > before.items()
    study = open_study(folder)
    assert study["variant"].values.tolist() == ["COTAF", "ACPC, 6 dB more power"]
    settings = cell_of(folder, 1).settings
    assert (settings["algorithm"]["G"], settings["link"]["power"]) == (2.0, 4.0)
    assert cell_of(folder, 0).settings["link"]["power"] == 1.0
    variants["COTAF"] = {"algorithm.name": "cotaf", "link.power": 2.0}
    other = study_of(data_file, {"variant": variants}, **tables)
    with pytest.raises(ScenarioError, match="sweep.variant.COTAF.link.power: there not given"):
        run_study(other, folder, progress=False)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"link.snr_db": 3.0}, "link.snr_db: there 20.0, here 3.0"),
        ({"training.rounds": 2}, "training.rounds: there 3, here 2"),
        ({"algorithm.G": 2.0}, "algorithm.G: there 1.0, here 2.0"),
        ({"link": {"kind": "ideal"}}, "link.kind: there gaussian, here ideal"),
        ({"sweep.seed": [5], "link.power": 2.0}, "link.power: there 1.0, here 2.0"),
        ({"sweep.link": {"a": {"kind": "ideal"}}}, "sweep.link"),
    ],
)
def test_a_changed_base_value_is_refused_whatever_else_grows(change, message, data_file, tmp_path):
    sweep = {"algorithm.name": ["acpc", "cotaf"], "seed": [0]}
    content = small.content(data_file, rounds=3, sweep=sweep)
    scenario = load_scenario(content)
    study = new_study(scenario)
    with pytest.raises(ScenarioError, match=message):
        extended(scenario, study.index, load_scenario(content, change))


def test_an_option_that_only_an_old_choice_has_is_kept(data_file):
    """Asked for FedAvg alone, the study still knows ACPC's G; without G in the file it does not."""
    sweep = {"algorithm.name": ["acpc", "cotaf"], "seed": [0]}
    content = small.content(data_file, rounds=3, sweep=sweep)
    scenario = load_scenario(content)
    fedavg = load_scenario(content, {"algorithm.name": "fedavg"})
    both = extended(scenario, new_study(scenario).index, fedavg)
    assert len(both.index.digests) == 3
    assert both.asked == {fedavg.cells[0].digest()}
    content["algorithm"] = {"tau_max": 3}
    with pytest.raises(ScenarioError, match="algorithm.G: there 1.0, here tracked"):
        extended(scenario, new_study(scenario).index, load_scenario(content))


def test_old_batches_stay_and_new_cells_get_their_own(data_file):
    first = study_of(data_file, {"algorithm.name": ["acpc", "cotaf"], "seed": [0, 1]})
    more = study_of(data_file, {"algorithm.name": ["acpc", "cotaf", "fedavg"], "seed": [0, 1]})
    both = extended(first, new_study(first).index, more)
    batches = [[place for _, place in batch] for batch in both.index.batches]
    assert batches == [
        [("acpc", 0), ("cotaf", 0)],
        [("acpc", 1), ("cotaf", 1)],
        [("fedavg", 0)],
        [("fedavg", 1)],
    ]


def test_killed_between_index_and_scenario_it_can_be_read_and_grown(data_file, tmp_path):
    """The index is written first: it may have more cells than the scenario."""
    sweep = {"algorithm.name": ["acpc", "cotaf"]}
    folder = run_study(study_of(data_file, sweep), tmp_path / "study", progress=False)
    old = (folder / "scenario.toml").read_text()
    wider = study_of(data_file, {**sweep, "seed": [0, 1]})
    run_study(wider, folder, progress=False)
    (folder / "scenario.toml").write_text(old)
    assert float(open_study(folder)["finished"].sum()) == 4
    before = modified(folder)
    run_study(wider, folder, progress=False)
    assert modified(folder) == before
    assert Index.read(folder).sweep.shape == (2, 2)


def test_more_rounds_continue_from_kept_checkpoints(data_file, tmp_path):
    """Bit for bit what one run of that length gives, and only the missing rounds are run."""
    content = small.content(data_file, rounds=4)
    content["training"]["test_every"] = 3
    folder = tmp_path / "study"
    run_study(load_scenario(content), folder, progress=False, keep_checkpoints=True)
    assert len(list((folder / "underway").iterdir())) == 4
    longer = load_scenario(content, {"training.rounds": 9})
    run_study(longer, folder, progress=False)
    assert len(list((folder / "underway").iterdir())) == 4  # kept again
    check_same(folder, run_study(longer, tmp_path / "whole", progress=False))
    assert dict(open_study(folder).sizes)["round"] == 9


def test_more_rounds_without_checkpoints_need_a_word(data_file, tmp_path):
    content = small.content(data_file, rounds=2)
    folder = run_study(load_scenario(content), tmp_path / "study", progress=False)
    before = modified(folder)
    longer = load_scenario(content, {"training.rounds": 4})
    with pytest.raises(ScenarioError, match=r"rounds is now 4, but 8 of the .*add --rerun"):
        run_study(longer, folder, progress=False)
    assert modified(folder) == before
    assert missing(folder) == []
    run_study(longer, folder, progress=False, rerun=True)
    check_same(folder, run_study(longer, tmp_path / "whole", progress=False))


def test_equal_settings_under_two_names_are_one_cell(data_file, tmp_path):
    sweep = {"link": {"a": {"kind": "ideal"}, "b": {"kind": "ideal"}}}
    content = small.content(data_file, rounds=1, sweep=sweep, algorithm={"name": "cotaf"})
    folder = run_study(load_scenario(content), tmp_path / "study", progress=False)
    assert len(modified(folder)) == 1
    assert open_study(folder)["finished"].values.tolist() == [1.0, 1.0]
    run_study(load_scenario(content, {"sweep.seed": [0, 1]}), folder, progress=False)
    assert float(open_study(folder)["finished"].sum()) == 4


def test_more_rounds_are_run_for_all_cells(data_file, tmp_path):
    """Also if only some are asked for: a study has one number of rounds."""
    sweep = {"algorithm.name": ["acpc", "cotaf"], "seed": [0, 1]}
    folder = run_study(study_of(data_file, sweep), tmp_path / "study", progress=False)
    longer = load_scenario(small.content(data_file, rounds=5, sweep={**sweep, "seed": [0]}))
    run_study(longer, folder, progress=False, rerun=True)
    assert float(open_study(folder)["finished"].sum()) == 4


def test_swept_rounds_are_no_more_rounds(data_file):
    def scenario(rounds):
        content = small.content(data_file, algorithm={"name": "cotaf"}, sweep={})
        return load_scenario(content, {"sweep.training.rounds": rounds})

    first = scenario([2, 4])
    both = extended(first, new_study(first).index, scenario([2, 4, 6]))
    assert both.shorter == {}
    assert set(new_study(first).index.digests.values()) < set(both.index.digests.values())


def test_an_option_of_one_algorithm_becomes_an_axis(data_file, tmp_path):
    sweep = {"algorithm.name": ["acpc", "cotaf"]}
    folder = run_study(study_of(data_file, sweep), tmp_path / "study", progress=False)
    wider = {**sweep, "algorithm.G": [1.0, 2.0]}
    run_study(study_of(data_file, wider), folder, progress=False)
    assert len(modified(folder)) == 3


def test_the_choice_to_keep_states_is_remembered(data_file, tmp_path):
    content = small.content(data_file, rounds=2, algorithm={"name": "cotaf"}, sweep={})
    folder = tmp_path / "study"
    run_study(content, folder, progress=False, keep_checkpoints=True)
    for rounds in (3, 4):
        longer = load_scenario(content, {"training.rounds": rounds})
        run_study(longer, folder, progress=False)
        assert len(list((folder / "underway").iterdir())) == 1


def test_finished_cells_that_the_scenario_no_longer_describes_are_not_dropped(
    tmp_path, data_file, monkeypatch
):
    """As after an installed package has got another option."""
    (tmp_path / "plug_growth.py").write_text(PLUG)
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.setenv("PYTHONPATH", str(tmp_path))
    content = small.content(data_file, rounds=1, sweep={"seed": [0]})
    content["algorithm"] = {"name": "plug_growth:Plug"}
    folder = run_study(content, tmp_path / "study", progress=False)
    (tmp_path / "plug_growth.py").write_text(
        PLUG.replace("a: int = 1", "a: int = 1\n    b: int = 2")
    )
    monkeypatch.delitem(sys.modules, "plug_growth")
    with pytest.raises(StudyError, match="1 of its finished cells have settings that its scenario"):
        run_study(load_scenario(content, {"sweep.seed": [0, 1]}), folder, progress=False)


PLUG = """
from dataclasses import dataclass
import otafl

@dataclass(frozen=True)
class Plug(otafl.Cotaf):
    a: int = 1
"""


def test_only_what_is_asked_for_is_run(data_file, tmp_path):
    """Also if the study was begun with more, and stopped."""
    sweep = {"algorithm.name": ["acpc", "cotaf"], "seed": [0, 1]}
    start_study(study_of(data_file, sweep), tmp_path / "study")
    run_study(study_of(data_file, {**sweep, "seed": [1]}), tmp_path / "study", progress=False)
    assert open_study(tmp_path / "study")["finished"].values.tolist() == [[0, 1], [0, 1]]


def test_killed_after_the_states_were_renamed_it_still_continues_from_them(data_file, tmp_path):
    content = small.content(data_file, rounds=3)
    folder = tmp_path / "study"
    run_study(load_scenario(content), folder, progress=False, keep_checkpoints=True)
    longer = load_scenario(content, {"training.rounds": 5})
    study = Folder(folder)
    plan = study.with_cells_of(longer)
    for batch in plan.index.runs:  # as far as the killed process came
        shorter = [plan.shorter[digest] for digest in batch]
        study.checkpoint(shorter, {}).replace(study.checkpoint(batch, {}))
    run_study(longer, folder, progress=False)  # without rerun
    check_same(folder, run_study(longer, tmp_path / "whole", progress=False))


def test_cells_that_a_killed_process_was_adding_do_not_hold_up_the_old_scenario(
    data_file, tmp_path
):
    sweep = {"algorithm.name": ["acpc", "cotaf"]}
    narrow = study_of(data_file, sweep)
    folder = run_study(narrow, tmp_path / "study", progress=False)
    old = (folder / "scenario.toml").read_text()
    start_study(study_of(data_file, {**sweep, "seed": [0, 1]}), folder)
    (folder / "scenario.toml").write_text(old)  # killed before it was written
    run_study(narrow, folder, progress=False)
    assert Index.read(folder).sweep.shape == (2,)
    assert missing(folder) == []
