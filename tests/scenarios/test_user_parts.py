# ruff: noqa: E501  (a table of messages)
"""Cross-cutting: parts that a user brings, from the scenario file to the figure."""

from __future__ import annotations

import json
import shutil
import sys
from pathlib import Path

import numpy as np
import pytest
import tomli_w

from fl import Cotaf, train
from scenarios import ScenarioError, load_scenario, open_study, run_study
from tests.scenarios import small, user_files
from tests.scenarios.study.cells import cell_of, cells_of, check_same


@pytest.fixture
def folder(tmp_path):
    return user_files.write_all(tmp_path)


@pytest.fixture
def file(folder):
    path = folder / "mine.toml"
    path.write_text(tomli_w.dumps(user_files.content()))
    return path


def test_every_kind_of_part_is_built_with_its_options(file):
    (cell,) = load_scenario(file).cells
    algorithm, link, problem = cell.algorithm.build(), cell.link.build(), cell.problem()
    assert (type(algorithm).__name__, algorithm.server_step) == ("Vote", 0.01)
    assert (type(link.fading).__name__, link.fading.echo_power) == ("TwoPaths", 0.2)
    assert (type(link.csi.of).__name__, link.csi.of.bits) == ("Coarse", 5)
    assert [type(each).__name__ for each in link.transmit] == ["Leakage", "Rapp"]
    assert link.transmit[0].std == 0.2
    assert (type(problem.model).__name__, problem.model.start) == ("Ridge", 0.1)
    assert (problem.model.num_features, problem.model.num_classes) == (6, 4)
    assert [len(shard) for shard in problem.shards] == [150, 150]
    assert cell.settings()["data"] == {
        "name": "parts.py:Blobs", "sha256": "", "standardise": False, "partition": "parts.py:Halves", "clients": 2,
        "classes": 4, "spread": 0.4,
    }  # fmt: skip
    assert cell.settings()["algorithm"] == {"name": "vote.py:Vote", "server_step": 0.01}


def test_a_study_keeps_what_train_gives(file, tmp_path):
    study = run_study(load_scenario(file), tmp_path / "study", progress=False)
    (cell,) = load_scenario(file).cells
    history = train(
        cell.algorithm.build(), cell.link.build(), cell.problem(), progress=False,
        **cell.training.options(),
    )  # fmt: skip
    kept = cell_of(study, 0)
    for name, values in history.items():
        np.testing.assert_array_equal(kept.variables[name][1], values, err_msg=name)


def test_the_link_may_be_the_user_s_with_a_fading_of_ours(folder):
    table = {"kind": f"{folder}/parts.py:Sum", "fading": {"kind": "rician", "k_factor": 2.0}}
    (cell,) = load_scenario({**user_files.content(), "link": table, **_here(folder)}).cells
    assert cell.link.build().fading.k_factor == 2.0
    assert cell.settings()["link"]["power"] == 1.0


def _here(folder):
    """Name files by their whole path, as from another directory."""
    absolute = f"{folder}/vote.py:Vote"
    return {
        "algorithm": {"name": absolute},
        "data": {"name": f"{folder}/parts.py:Blobs"},
        "model": {"name": "logistic"},
    }


def test_options_are_swept_and_labelled_like_any_other(folder, tmp_path):
    sweep = {
        "algorithm.name": ["vote.py:Vote", "cotaf"],
        "link.fading.echo_power": [0.1, 0.4],
        "link.transmit.leakage.std": [0.0, 0.3],
    }
    path = folder / "sweep.toml"
    path.write_text(tomli_w.dumps(user_files.content(algorithm={}, sweep=sweep)))
    study = open_study(run_study(load_scenario(path), tmp_path / "study", progress=False))
    assert study["algorithm"].values.tolist() == ["vote.py:Vote", "cotaf"]
    assert dict(study.sizes)["fading_echo_power"] == 2
    assert dict(study.sizes)["leakage_std"] == 2
    assert float(study["finished"].sum()) == 8
    changed = study["nmse"].isel(leakage_std=0).values != study["nmse"].isel(leakage_std=1).values
    assert changed.any()


def test_from_python_objects_stand_for_tables(folder, tmp_path, monkeypatch):
    """As in the file: the same settings, and the same digest."""
    monkeypatch.syspath_prepend(folder)
    for name in ("vote", "parts", "helper"):  # other tests have files of these names
        monkeypatch.delitem(sys.modules, name, raising=False)
    import parts
    import vote

    import otafl

    csi = otafl.AgedCsi(0.0, of=parts.Coarse(5))
    link = otafl.WaveformLink(
        entry_snr_db=20.0,
        fading=parts.TwoPaths(0.2),
        csi=csi,
        transmit=(parts.Leakage(0.2), otafl.Rapp()),
    )
    content = {
        **user_files.content(),
        "data": {"name": f"{folder}/parts.py:Blobs", "spread": 0.4, "partition": parts.Halves()},
        "model": parts.Ridge(6, 4, start=0.1),
        "algorithm": vote.Vote(0.01),
        "link": link,
    }
    content["data"] = {**content["data"], "partition": f"{folder}/parts.py:Halves"}
    scenario = load_scenario(content)
    path = folder / "mine.toml"
    path.write_text(tomli_w.dumps(user_files.content()))
    from_file = load_scenario(path)
    assert scenario.cells[0].settings() == from_file.cells[0].settings()
    assert scenario.cells[0].digest() == from_file.cells[0].digest()
    check_same(
        run_study(content, tmp_path / "objects", progress=False),
        run_study(path, tmp_path / "file", progress=False),
    )


def test_objects_in_a_sweep(tmp_path, data_file):
    from links import GaussianLink, OfdmLink
    from phy import Rayleigh

    content = small.content(data_file, rounds=1, algorithm=Cotaf())
    links = {"plain": GaussianLink(snr_db=5.0), "radio": OfdmLink(fading=Rayleigh())}
    content |= {"link": {"kind": "ideal"}, "sweep": {"link": links}}
    folder = run_study(content, tmp_path / "study", progress=False)
    assert open_study(folder)["link"].values.tolist() == ["plain", "radio"]
    assert [cell.settings["link"]["kind"] for cell in cells_of(folder)] == ["gaussian", "ofdm"]


def test_the_code_is_kept_and_shown_and_not_needed_for_reading(file, tmp_path):
    study = run_study(load_scenario(file), tmp_path / "study", progress=False)
    kept = cell_of(study, 0).code
    assert sorted(kept) == ["helper.py", "parts.py", "vote.py"]
    away = shutil.copytree(study, tmp_path / "elsewhere" / "study")
    shutil.rmtree(study)
    shutil.rmtree(away / "code")
    for path in tmp_path.glob("*.py"):
        path.unlink()
    assert float(open_study(away)["finished"]) == 1
    shown = small.otafl("show", away, cwd=tmp_path)
    assert shown.returncode == 0, shown.stderr
    assert f"code: vote.py, sha256 {kept['vote.py']}" in shown.stdout
    plot = small.otafl("plot", away, cwd=tmp_path)
    assert plot.returncode == 0, plot.stderr


def test_changed_code_is_refused_unless_accepted(file, folder, tmp_path):
    study = tmp_path / "study"
    assert small.otafl("run", file, "--out", study, cwd=tmp_path).returncode == 0
    old = cell_of(study, 0).code["helper.py"]
    text = user_files.HELPER.replace("np.sign(updates)", "np.sign(updates) + 0.0")
    (folder / "helper.py").write_text(text)
    grow = ["run", file, "--out", study, "--seeds", 2]
    refused = small.otafl(*grow, cwd=tmp_path)
    assert refused.returncode == 2
    assert f"helper.py has changed since 1 of the cells were computed: its sha256 was {old}" in (
        refused.stderr
    )
    assert "--accept-changed-code" in refused.stderr
    accepted = small.otafl(*grow, "--accept-changed-code", cwd=tmp_path)
    assert accepted.returncode == 0, accepted.stderr
    hashes = [cell_of(study, number).code["helper.py"] for number in (0, 1)]
    assert hashes[0] == old != hashes[1]
    shown = small.otafl("show", study, cwd=tmp_path).stdout
    assert f"code: helper.py, sha256 {old} (1 cells)" in shown
    assert f"code: helper.py, sha256 {hashes[1]} (1 cells)" in shown


def test_a_study_is_resumed_by_its_directory_without_the_original_files(file, folder, tmp_path):
    study = run_study(load_scenario(file), tmp_path / "study", progress=False)
    whole = cells_of(study)
    for path in (study / "cells").iterdir():
        path.unlink()
    for name in ("vote.py", "helper.py", "parts.py", "mine.toml"):
        (folder / name).unlink()
    again = small.otafl("run", study, cwd=tmp_path)
    assert again.returncode == 0, again.stderr
    for one, other in zip(whole, cells_of(study), strict=True):
        assert one.settings == other.settings
        for name, (_, values) in one.variables.items():
            assert other.variables[name][1].tobytes() == values.tobytes()


def test_a_mistake_in_a_user_s_method_says_where(file, folder, tmp_path):
    text = user_files.VOTE.replace("gain = current", "gain = 1 / 0 + current")
    (folder / "vote.py").write_text(text)
    line = text.splitlines().index(next(li for li in text.splitlines() if "1 / 0" in li)) + 1
    done = small.otafl("run", file, "--out", "study", cwd=tmp_path)
    assert done.returncode == 1
    assert (
        f"ZeroDivisionError: division by zero (vote.py, line {line}, in aggregate)" in done.stderr
    )
    assert "Traceback" not in done.stderr
    (folder / "parts.py").write_text(
        user_files.PARTS.replace("def load(self):", "def load(self, x):")
    )
    done = small.otafl("run", file, "--out", "other", cwd=tmp_path)
    assert done.returncode == 2
    assert "Blobs.load() missing 1 required positional argument" in done.stderr
    assert "Traceback" not in done.stderr
    assert not (tmp_path / "other").exists()


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"algorithm.name": "nowhere.py:Vote"}, r"algorithm.name must be the name of an existing file, got 'nowhere.py:Vote': there is no /.*/nowhere.py"),
        ({"algorithm.name": "vote.py:Votes"}, r"algorithm.name must be the name of a class in vote.py, got 'vote.py:Votes'; did you mean 'Vote'\?"),
        ({"algorithm.name": "parts.py:Blobs"}, "algorithm.name must be a subclass of otafl.Algorithm, got 'parts.py:Blobs'"),
        ({"algorithm.name": "broken.py:A"}, r"algorithm.name must be a class that can be imported, got 'broken.py:A': ModuleNotFoundError: No module named 'nothing_such' \(broken.py, line 1\)"),
        ({"algorithm.name": "syntax.py:A"}, r"got 'syntax.py:A': SyntaxError: .* \(syntax.py, line 2\)"),
        ({"algorithm.name": "exits.py:A"}, r"got 'exits.py:A': SystemExit: 3 \(exits.py, line 1\)"),
        ({"algorithm.name": "lacks.py:Lacks"}, "algorithm.name must be a class that has aggregate, got 'lacks.py:Lacks'"),
        ({"algorithm.name": "lacks.py:number"}, "algorithm.name must be the name of a class, got 'lacks.py:number', which is 3"),
        ({"algorithm.name": "lacks.py:Plain"}, r"algorithm.name must be a dataclass, whose fields are its options, got 'lacks.py:Plain': add @dataclass\(frozen=True\)"),
        ({"algorithm.name": "no.such.module:A"}, "algorithm.name must be the name of a file.py or of an installed module, and a class in it, got 'no.such.module:A': there is no module 'no.such.module'"),
        ({"algorithm.name": "calls.py:A"}, "calls.py calls run_study when it is imported"),
        ({"algorithm.server_step": "big"}, "algorithm.server_step must be a finite number, or inf, got 'big'"),
        ({"algorithm.server_step": float("nan")}, "algorithm.server_step must be a finite number, or inf, got nan"),
        ({"algorithm.server_stop": 1.0}, r"algorithm.server_stop is not a key of vote.py:Vote; did you mean 'server_step'\?"),
        ({"link.fading.kind": "parts.py:Coarse"}, "link.fading.kind must be a subclass of otafl.Fading, got"),
        ({"link.csi": {"kind": "parts.py:TwoPaths"}}, "link.csi.kind must be a subclass of otafl.Csi, got"),
        ({"link.csi.of.bits": 2.5}, "link.csi.of.bits must be a whole number, got 2.5"),
        ({"link.transmit.leakage.kind": "parts.py:Blobs"}, "link.transmit.leakage.kind must be a subclass of otafl.Impairment"),
        ({"link.transmit.leakage.kind": "rapp"}, """link.transmit.leakage.kind must be the name of a user-defined class, as in "file.py:Class", got 'rapp'"""),
        ({"link.transmit.leakage.kind": "parts.py:Leakage", "link.transmit.leakage.stdd": 1}, "link.transmit.leakage.stdd is not a key of parts.py:Leakage; did you mean 'std'"),
        ({"link.kind": "parts.py:Blobs"}, "link.kind must be a class that has open, got 'parts.py:Blobs'"),
        ({"model.name": "parts.py:Blobs"}, "model.name must be a class that has size, initial, features, gradient, loss, test, got"),
        ({"data.name": "parts.py:Halves"}, "data.name must be a class that has load, got 'parts.py:Halves'"),
        ({"data.partition": "parts.py:Blobs"}, "data.partition must be a class that has shards, got"),
        ({"data.name": "lacks.py:Clash"}, "data.name must be a class whose options have other names than clients, got"),
        ({"data.classes": "many"}, "data.classes must be a whole number, got 'many'"),
    ],
)  # fmt: skip
def test_what_is_wrong_is_said_in_a_line(change, message, file, folder):
    (folder / "broken.py").write_text("import nothing_such")
    (folder / "syntax.py").write_text("a = 1\nb = = 2")
    (folder / "exits.py").write_text("raise SystemExit(3)")
    (folder / "calls.py").write_text("import otafl\notafl.run_study('quickstart', 'out')")
    (folder / "lacks.py").write_text(
        "import otafl\nfrom dataclasses import dataclass\nnumber = 3\n"
        "class Lacks(otafl.Algorithm): pass\n"
        "class Plain(otafl.Algorithm):\n"
        "    def __init__(self, a): pass\n"
        "    def aggregate(self, current, plan, updates, steps): pass\n"
        "@dataclass\nclass Clash:\n    clients: int = 2\n    def load(self): pass\n"
    )
    with pytest.raises(ScenarioError, match=message) as error:
        load_scenario(file, change)
    assert len(str(error.value).splitlines()) == 1


def test_two_files_of_one_name_are_told_apart_or_refused(folder):
    other = folder / "other"
    other.mkdir()
    (other / "vote.py").write_text(user_files.VOTE)
    content = user_files.content(algorithm={}, **{})
    content["sweep"] = {"algorithm.name": [f"{folder}/vote.py:Vote", f"{other}/vote.py:Vote"]}
    with pytest.raises(ScenarioError, match="a file with a name of its own.*rename one of them"):
        load_scenario({**content, **{k: v for k, v in _here(folder).items() if k != "algorithm"}})


def test_modules_of_two_folders_with_one_name_do_not_mix(tmp_path):
    found = []
    for step in (1, 2):
        folder = tmp_path / str(step)
        folder.mkdir()
        (folder / "constants.py").write_text(f"STEP = {step}.0\n")
        text = user_files.VOTE.replace("from helper import sign", "from constants import STEP")
        text = text.replace("sign(updates)", "np.sign(updates)").replace("0.02", "STEP")
        (folder / "vote.py").write_text(text)
        algorithm = {"name": f"{folder}/vote.py:Vote"}
        (cell,) = load_scenario({"algorithm": algorithm, "link": {"kind": "ideal"}}).cells
        found.append(cell.algorithm.server_step)
    assert found == [1.0, 2.0]


def test_a_file_that_was_edited_is_read_again(folder):
    algorithm = {"name": f"{folder}/vote.py:Vote"}
    content = {"algorithm": algorithm, "link": {"kind": "ideal"}}
    assert load_scenario(content).cells[0].algorithm.server_step == 0.02
    (folder / "vote.py").write_text(user_files.VOTE.replace("0.02", "0.05"))
    assert load_scenario(content).cells[0].algorithm.server_step == 0.05


def test_a_file_beside_the_user_named_like_a_layer_does_no_harm(folder, tmp_path):
    """``python -m otafl`` puts the current directory first on the path."""
    import subprocess
    import sys

    (folder / "links.py").write_text("raise SystemExit('not this one')")
    (folder / "queue.py").write_text("raise SystemExit('nor this')")
    (folder / "mine.toml").write_text(tomli_w.dumps(user_files.content()))
    done = subprocess.run(
        [sys.executable, "-m", "otafl", "run", "mine.toml", "--out", "study"],
        cwd=folder, capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    assert json.loads((folder / "study" / "study.json").read_text())["title"] == "mine"


def test_a_script_without_a_guard_runs_a_study_with_its_own_class(folder, tmp_path):
    """The class is in a file of its own; the script is not imported by the workers."""
    import subprocess
    import sys

    script = folder / "script.py"
    content = user_files.content()
    del content["algorithm"]
    script.write_text(
        "import otafl\nfrom vote import Vote\n"
        f"content = {content!r}\n"
        "content['algorithm'] = Vote(0.01)\n"
        "print(otafl.run_study(content, 'study', progress=False))\n"
    )
    done = subprocess.run(
        [sys.executable, script], cwd=folder, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    assert len(list(Path(folder / "study" / "cells").iterdir())) == 1
    inside = script.read_text().replace(
        "from vote import Vote", user_files.VOTE.split("annotations")[1]
    )
    script.write_text(inside)
    done = subprocess.run(
        [sys.executable, script], cwd=folder, capture_output=True, text=True, check=False
    )
    assert done.returncode == 1
    assert "script.py calls run_study when it is imported: move the class" in done.stderr


@pytest.mark.parametrize("where", ["sub/vote.py", "absolute"])
def test_a_study_with_a_file_elsewhere_is_resumed_and_grows(where, folder, tmp_path):
    (folder / "sub").mkdir()
    for name in ("vote.py", "helper.py"):
        (folder / name).rename(folder / "sub" / name)
    path = f"{folder}/sub/vote.py" if where == "absolute" else where
    content = user_files.content(algorithm={"name": f"{path}:Vote"})
    (folder / "mine.toml").write_text(tomli_w.dumps(content))
    for seeds in (1, 1, 2):
        done = small.otafl(
            "run", folder / "mine.toml", "--seeds", seeds, "--out", "study", cwd=tmp_path
        )
        assert done.returncode == 0, done.stderr
    assert len(cells_of(tmp_path / "study")) == 2


def test_a_dataset_is_told_by_its_options_whatever_it_prints(folder):
    text = user_files.PARTS.replace(
        "spread: float = 0.5", "spread: float = field(default=0.5, repr=False)"
    )
    (folder / "parts.py").write_text(text)
    (folder / "mine.toml").write_text(
        tomli_w.dumps(user_files.content(sweep={"data.spread": [0.1, 2.0]}))
    )
    one, other = (cell.problem().data.x_train for cell in load_scenario(folder / "mine.toml").cells)
    assert (one != other).any()


def test_an_edit_within_the_same_second_is_seen_whatever_python_caches(folder, tmp_path):
    """Python's bytecode is told apart by seconds and size only."""
    import os
    import subprocess

    (folder / "constants.py").write_text("STEP = 1.0\n")
    text = user_files.VOTE.replace("from helper import sign", "from constants import STEP")
    (folder / "vote.py").write_text(
        text.replace("sign(updates)", "updates").replace("0.02", "STEP")
    )
    script = (
        "import os, otafl, pathlib\n"
        "content = {'algorithm': {'name': 'vote.py:Vote'}, 'link': {'kind': 'ideal'}}\n"
        "step = lambda: otafl.load_scenario(content).cells[0].algorithm.server_step\n"
        "first = step()\n"
        "path = pathlib.Path('constants.py')\n"
        "before = path.stat()\n"
        "path.write_text('STEP = 2.0\\n')\n"
        "os.utime(path, ns=(before.st_atime_ns, before.st_mtime_ns))\n"
        "print(first, step())\n"
    )
    environment = {k: v for k, v in os.environ.items() if k != "PYTHONDONTWRITEBYTECODE"}
    done = subprocess.run(
        [sys.executable, "-c", script], cwd=folder, env=environment, capture_output=True, text=True,
        check=True,
    )  # fmt: skip
    assert done.stdout.split() == ["1.0", "2.0"]


def test_impairments_in_an_order_that_no_file_can_express_are_refused():
    import otafl

    link = otafl.WaveformLink(transmit=(otafl.Rapp(), otafl.IqImbalance(1.0)))
    with pytest.raises(ScenarioError, match="link.transmit must be in the order of a radio"):
        load_scenario({"algorithm": {"name": "cotaf"}, "link": link})


def test_an_impairment_that_names_no_neighbour_is_refused(folder, file):
    (folder / "parts.py").write_text(user_files.PARTS.replace('before = "rapp"', 'before = "rap"'))
    with pytest.raises(ScenarioError, match="a class whose attribute before is one of clip_and"):
        load_scenario(file)


def test_explain_and_link_say_what_a_user_s_part_raises(folder, file, tmp_path):
    text = user_files.PARTS.replace("level = slot", "level = 1 / 0 + slot")
    (folder / "parts.py").write_text(text)
    for command in (["explain", file], ["link", file, "--realisations", 2]):
        done = small.otafl(*command, cwd=tmp_path)
        assert done.returncode == 2
        assert "ZeroDivisionError: division by zero (parts.py, line" in done.stderr
        assert "Traceback" not in done.stderr


def test_accepted_code_stays_accepted_and_the_old_one_is_kept(file, folder, tmp_path):
    study = tmp_path / "study"
    run_study(file, study, progress=False)
    old = (folder / "helper.py").read_bytes()
    (folder / "helper.py").write_bytes(old + b"# changed\n")
    two, three = (load_scenario(file, {"sweep.seed": list(range(n))}) for n in (2, 3))
    with pytest.raises(ScenarioError, match="helper.py has changed since 1 of the cells"):
        run_study(two, study, progress=False)
    run_study(two, study, progress=False, accept_changed_code=True)
    run_study(three, study, progress=False)  # the same code again
    (kept,) = (study / "code" / "earlier").rglob("helper.py")
    assert kept.read_bytes() == old
    (folder / "helper.py").write_bytes(old + b"# changed again\n")
    with pytest.raises(ScenarioError, match="since 1 of .*\n.*since 2 of the cells"):
        run_study(load_scenario(file, {"sweep.seed": [0, 1, 2, 3]}), study, progress=False)


def test_a_network_starts_from_the_same_weights_in_every_process(folder, tmp_path):
    (folder / "net.py").write_text(
        "from dataclasses import dataclass\nimport otafl\nfrom tensorflow import keras\n"
        "@dataclass(eq=False)\nclass Net(otafl.KerasModel):\n"
        "    sample_shape: tuple\n    num_classes: int\n    units: int = 3\n"
        "    def __post_init__(self):\n"
        "        layers = [keras.Input(self.sample_shape), keras.layers.Dense(self.units)]\n"
        "        layers.append(keras.layers.Dense(self.num_classes))\n"
        "        super().__init__(keras.Sequential(layers))\n"
    )
    content = user_files.content(model={"name": "net.py:Net", "units": 4})
    content |= {"algorithm": {"name": "cotaf"}, "link": {"kind": "ideal"}}
    (folder / "net.toml").write_text(tomli_w.dumps(content))
    done = small.otafl("run", "net.toml", "--out", "one", cwd=folder)
    assert done.returncode == 0, done.stderr
    assert len(done.stderr.splitlines()) == 1, done.stderr  # TensorFlow says nothing
    assert small.otafl("run", "net.toml", "--out", "other", cwd=folder).returncode == 0
    check_same(folder / "one", folder / "other")


def test_annotations_without_a_dataclass_are_noticed(folder, file):
    text = user_files.VOTE.replace("@dataclass(frozen=True)\n", "")
    (folder / "vote.py").write_text(text)
    with pytest.raises(ScenarioError, match=r"must be a dataclass, .*: add @dataclass"):
        load_scenario(file)


def test_a_recording_that_ends_too_soon_is_refused_before_the_first_round(tmp_path, data_file):
    from tests.scenarios.config.test_link import recording

    table = {"kind": "ofdm", "fading": {"kind": "cir", "file": str(recording(tmp_path))}}
    content = small.content(data_file, rounds=80, algorithm={"name": "cotaf"}, link=table, sweep={})
    with pytest.raises(ScenarioError, match=r"must last until 7.9\d* s, got 50 snapshots"):
        run_study(content, tmp_path / "study", progress=False)
    assert not (tmp_path / "study").exists()


def test_two_datasets_of_one_file_are_two(folder):
    text = user_files.PARTS + "\n\nclass Other(Blobs):\n    def load(self):\n"
    text += "        data = super().load()\n"
    text += (
        "        return otafl.Dataset(2 * data.x_train, data.y_train, data.x_test, data.y_test)\n"
    )
    (folder / "parts.py").write_text(text)
    sweep = {"data.name": ["parts.py:Blobs", "parts.py:Other"]}
    (folder / "mine.toml").write_text(tomli_w.dumps(user_files.content(sweep=sweep)))
    one, other = (cell.problem().data.x_train for cell in load_scenario(folder / "mine.toml").cells)
    np.testing.assert_array_equal(2 * one, other)


def test_the_order_of_impairments_counts(folder):
    text = user_files.PARTS.replace('    before = "rapp"\n', "")
    (folder / "parts.py").write_text(
        text
        + text[
            text.index("@dataclass(frozen=True)\nclass Leak") : text.index(
                "@dataclass(frozen=True)\nclass Sum"
            )
        ].replace("Leakage", "Hum")
    )
    digests = set()
    for names in (("Leakage", "Hum"), ("Hum", "Leakage")):
        content = user_files.content()
        content["link"]["transmit"] = {n.lower(): {"kind": f"parts.py:{n}"} for n in names}
        (folder / "mine.toml").write_text(tomli_w.dumps(content))
        (cell,) = load_scenario(folder / "mine.toml").cells
        assert [type(each).__name__ for each in cell.link.build().transmit] == list(names)
        digests.add(cell.digest())
    assert len(digests) == 2


def test_a_class_may_convert_its_options(folder, tmp_path):
    """As from decibels: the study keeps what was given, and every process converts it once."""
    text = user_files.VOTE.replace(
        "server_step: float = 0.02",
        "server_step: float = -20.0\n\n    def __post_init__(self):\n"
        "        object.__setattr__(self, 'server_step', 10 ** (self.server_step / 10))",
    )
    (folder / "vote.py").write_text(text)
    content = user_files.content(algorithm={"name": "vote.py:Vote", "server_step": -10.0})
    (folder / "mine.toml").write_text(tomli_w.dumps(content))
    study = run_study(folder / "mine.toml", tmp_path / "study", progress=False)
    assert cell_of(study, 0).settings["algorithm"]["server_step"] == -10.0
    (cell,) = load_scenario(folder / "mine.toml").cells
    assert cell.algorithm.build().server_step == pytest.approx(0.1)


def test_a_digest_of_a_file_that_is_none_is_refused():
    content = {"algorithm": {"name": "cotaf"}, "link": {"kind": "ideal"}}
    with pytest.raises(ScenarioError, match="sha256 must be left out for 'mnist'"):
        load_scenario({**content, "data": {"name": "mnist", "sha256": "ab"}})


def test_what_other_code_has_begun_is_not_continued(file, folder, tmp_path):
    """A checkpoint of the old code is left alone: the run equals one from the start."""
    from scenarios.study.folder import Folder
    from tests.scenarios.study.cells import start_study

    digests, code = ["ab"], {"vote.py": "1"}
    study = Folder(tmp_path)
    assert study.checkpoint(digests, code) != study.checkpoint(digests, {"vote.py": "2"})
    assert study.checkpoint(digests, code) != study.checkpoint(["cd"], code)
    scenario = load_scenario(file)
    assert start_study(scenario, tmp_path / "study").exists


def test_parts_made_with_different_code_are_not_merged(file, folder, tmp_path):
    from scenarios import merge_studies

    run_study(load_scenario(file, {"sweep.seed": [0]}), tmp_path / "a", progress=False)
    (folder / "helper.py").write_text(user_files.HELPER + "# changed\n")
    run_study(load_scenario(file, {"sweep.seed": [1]}), tmp_path / "b", progress=False)
    with pytest.raises(ScenarioError, match="helper.py has changed since 1 of the cells"):
        merge_studies([tmp_path / "a", tmp_path / "b"], tmp_path / "whole")
    assert not (tmp_path / "whole").exists()
    with pytest.raises(ScenarioError, match="helper.py has changed since 1 of the cells"):
        merge_studies([tmp_path / "b"], tmp_path / "a")
