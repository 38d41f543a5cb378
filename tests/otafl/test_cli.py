"""The command line, as a user calls it."""

from __future__ import annotations

import json
import os
import pty
import resource
import subprocess
import sys
from importlib.metadata import version

import pytest
import tomli_w

from scenarios.config.library import bundled
from tests.scenarios import small
from tests.scenarios.study.cells import path_of, start_study


@pytest.fixture
def file(data_file, tmp_path):
    path = tmp_path / "mine.toml"
    path.write_text(tomli_w.dumps(small.content(data_file)))
    return path


def test_list_names_every_scenario(tmp_path):
    done = small.otafl("list", cwd=tmp_path)
    assert done.returncode == 0
    lines = done.stdout.splitlines()
    assert [line.split()[0] for line in lines] == list(bundled())
    assert all(len(line.split()) > 3 for line in lines)


def test_help_and_list_import_nothing_that_takes_time():
    code = (
        "import sys; from otafl.cli import main\n"
        "main(['list'])\n"
        "try: main(['run', '--help'])\n"
        "except SystemExit: pass\n"
        "print([name for name in ('numpy', 'pydantic', 'rich', 'xarray') if name in sys.modules])"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.splitlines()[-1] == "[]"
    assert "--workers" in done.stdout


def test_run_show_plot(file, tmp_path):
    run = small.otafl("run", file, "--seeds", 1, "--rounds", 3, "--set", "link.snr_db=5",
                      "--workers", 1, cwd=tmp_path)  # fmt: skip
    assert run.returncode == 0, run.stderr
    assert "4 of 4 cells done" in run.stderr
    assert "otafl show out/mine" in run.stdout
    resolved = (tmp_path / "out/mine/scenario.toml").read_text()
    assert "snr_db = 5" in resolved
    assert "rounds = 3" in resolved

    table = small.otafl("show", "out/mine", cwd=tmp_path)
    assert table.returncode == 0
    assert "accuracy [%]" in table.stdout
    assert "cotaf" in table.stdout

    rows = json.loads(small.otafl("show", "out/mine", "--json", cwd=tmp_path).stdout)
    assert len(rows) == 4
    assert {row["n"] for row in rows} == {1}

    for form in ("csv", "mat"):
        done = small.otafl("show", "out/mine", f"--{form}", f"table.{form}", cwd=tmp_path)
        assert (done.returncode, done.stdout) == (0, f"table.{form}\n")
        assert (tmp_path / f"table.{form}").stat().st_size > 100

    plot = small.otafl("plot", "out/mine", cwd=tmp_path)
    assert plot.returncode == 0, plot.stderr
    for path in plot.stdout.splitlines():
        assert (tmp_path / path).stat().st_size > 100
    assert "out/mine/figures/accuracy_rounds.svg" in plot.stdout.splitlines()
    assert "out/mine/figures/captions.md" in plot.stdout.splitlines()

    again = small.otafl("run", file, "--seeds", 1, "--rounds", 3, "--set", "link.snr_db=5",
                        cwd=tmp_path)  # fmt: skip
    assert again.returncode == 0
    assert "all 4 cells are done" in again.stderr
    other = small.otafl("run", file, "--seeds", 1, "--rounds", 3, cwd=tmp_path)
    assert other.returncode == 2
    assert "link.snr_db: there 5.0, here 20.0" in other.stderr


def test_nothing_to_draw_yet(file, tmp_path):
    from scenarios import load_scenario

    start_study(load_scenario(file), tmp_path / "study")
    plot = small.otafl("plot", "study", cwd=tmp_path)
    assert plot.returncode == 1
    assert plot.stderr == "otafl: study has nothing to draw yet: 0 of 8 cells are done\n"
    table = small.otafl("show", "study", cwd=tmp_path)
    assert table.returncode == 0
    assert "not finished: 0 of 8 cells are done" in table.stdout


def no_room():
    resource.setrlimit(resource.RLIMIT_FSIZE, (10, 10))


def test_one_round_is_drawn_too(tmp_path):
    run = small.otafl("run", "truncation", "--rounds", 1, "--seeds", 1, cwd=tmp_path)
    assert run.returncode == 0, run.stderr
    plot = small.otafl("plot", "out/truncation", cwd=tmp_path)
    assert plot.returncode == 0, plot.stderr
    assert "out/truncation/figures/truncation.svg" in plot.stdout.splitlines()


def test_one_choice_of_a_sweep(file, tmp_path):
    """The options of the others do no harm."""
    run = small.otafl("run", file, "--set", "algorithm.name=cotaf", "--rounds", 1, cwd=tmp_path)
    assert run.returncode == 0, run.stderr
    rows = json.loads(small.otafl("show", "out/mine", "--json", cwd=tmp_path).stdout)
    assert len(rows) == 2


def test_what_is_there_of_a_study_is_drawn(tmp_path):
    run = small.otafl("run", "truncation", "--rounds", 2, "--seeds", 2, cwd=tmp_path)
    assert run.returncode == 0, run.stderr
    for number in (0, 5, 16, 17):
        path_of(tmp_path / "out/truncation", number).unlink()
    plot = small.otafl("plot", "out/truncation", cwd=tmp_path)
    assert plot.returncode == 0
    first, *others = plot.stderr.splitlines()
    assert first == "otafl: out/truncation is not finished: 28 of 32 cells are drawn"
    assert others == [
        "otafl: accuracy_rounds: 6 of 8 values of truncation threshold are drawn; for others add "
        "--where 'link.truncation=[0.01, 0.3]'",
        "otafl: also available with --only: accuracy, symbol_energy, local_steps",
    ]
    assert len(plot.stdout.splitlines()) == 5


def test_link(file, tmp_path):
    done = small.otafl("link", file, "--realisations", 5, "--set", "link.kind=fading",
                       "--set", "link.truncation=0.1", cwd=tmp_path)  # fmt: skip
    assert done.returncode == 0, done.stderr
    assert "closed form" in done.stdout
    assert "closed form" in small.otafl("show", "out/link-mine", cwd=tmp_path).stdout
    plot = small.otafl("plot", "out/link-mine", "--out", "pictures", cwd=tmp_path)
    assert plot.stdout.split() == [
        "pictures/link_nmse.png", "pictures/link_nmse.svg", "pictures/captions.md",
    ]  # fmt: skip
    kept = tmp_path / "out" / "link-mine" / "link.nc"
    kept.write_bytes(kept.read_bytes()[:-100])
    plot = small.otafl("plot", "out/link-mine", cwd=tmp_path)
    assert plot.returncode == 1
    assert "run otafl link again" in plot.stderr


def test_a_study_goes_on_by_its_directory(finished, tmp_path):
    done = small.otafl("run", finished, cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    assert "all 8 cells are done" in done.stderr
    assert not list(tmp_path.iterdir())


def test_links_and_devices_are_written_to_not_replaced(finished, tmp_path):
    (tmp_path / "link.csv").symlink_to("real.csv")
    assert small.otafl("show", finished, "--csv", "link.csv", cwd=tmp_path).returncode == 0
    assert (tmp_path / "link.csv").is_symlink()
    os.mkfifo(tmp_path / "pipe")
    with subprocess.Popen(["cat", tmp_path / "pipe"], stdout=subprocess.PIPE) as reader:
        assert small.otafl("show", finished, "--csv", "pipe", cwd=tmp_path).returncode == 0
        assert reader.communicate()[0] == (tmp_path / "real.csv").read_bytes()


def test_version(tmp_path):
    assert small.otafl("--version", cwd=tmp_path).stdout.strip() == version("otafl")


def test_link_leaves_a_study_alone(finished, tmp_path):
    done = small.otafl("link", "quickstart", "--realisations", 2, "--out", finished, cwd=tmp_path)
    assert done.returncode == 2
    assert "holds a study: choose another directory" in done.stderr
    assert not (finished / "link.nc").exists()


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["run", "quickstrat"], "got 'quickstrat'; did you mean 'quickstart'?"),
        (["run", "quickstart", "--set", "link.snrdb=3"], "did you mean 'snr_db'"),
        (["run", "quickstart", "--set", "link.kind=ofdn"], "did you mean 'ofdm'"),
        (["run", "quickstart", "--set", "nothing"], "must be KEY=VALUE, got 'nothing'"),
        (
            ["run", "quickstart", "--set", "data.labels_per_client=11"],
            "data.labels_per_client must be at most 10, the number of labels, got 11",
        ),
        (
            ["run", "quickstart", "--rounds", "0"],
            "must be a whole number from 1 to 100000, got '0'",
        ),
        (
            ["run", "quickstart", "--workers", "two"],
            "must be a whole number from 1 to 100000, got 'two'",
        ),
        (["run", "nowhere.toml"], "nowhere.toml cannot be read"),
        (
            ["link", "quickstart", "--realisations", "1"],
            "realisations must be a whole number >= 2, got 1",
        ),
        (
            ["link", "quickstart", "--set", "link.power=[1,2]"],
            "link.power must be a scalar or one value for each of the 10 clients",
        ),
        (["link", "quickstart", "--set", "data.name=nowhere.npz"], "nowhere.npz cannot be read"),
        (["run", "x" * 300], "scenario must be a .toml file or one of adc, "),
        (["run", "quickstart", "--set", "data.name=" + "x" * 300], "File name too long"),
        (
            ["run", "quickstart", "--set", "link.snr_db=3\nfoo=4"],
            "link.snr_db must be a finite number >= -200, or inf, got '3\\nfoo=4'",
        ),
        (
            ["run", "quickstart", "--seeds", "2", "--set", "seed=7"],
            "only one of seed and sweep.seed may be given",
        ),
        (["run", "fading-sweep", "--set", "link.fading.speed=3"], "link.fading is swept"),
        (
            ["run", "quickstart", "--set", "link.bits=3"],
            "link.bits is a key of orthogonal, not of ofdm",
        ),
        (
            ["run", "quickstart", "--set", "link.zzz=3"],
            "link.zzz is not a key of ofdm; the keys are kind, snr_db",
        ),
        (["run", "quickstart", "--seed", "3"], "unrecognized arguments"),
        (
            ["run", "quickstart", "--set", "sweep.algorithm.name=[acpc]"],
            "strings in it need quotes",
        ),
        (["run", "quickstart", "--set", "snr_db=3"], "did you mean 'link.snr_db'"),
        (
            [
                "run",
                "quickstart",
                "--set",
                "model.name=mlp",
                "--set",
                "model.hidden=[1000000,1000000]",
            ],
            "allocate",
        ),
        (["show", "nowhere"], "nowhere is not a study"),
        (["plot", "nowhere"], "nowhere is not a study"),
        (["show"], "required"),
        (["fly"], "invalid choice"),
        ([], "required"),
    ],
)
def test_bad_input_is_told_in_a_line(arguments, message, tmp_path):
    done = small.otafl(*arguments, cwd=tmp_path)
    assert done.returncode == 2
    assert message in done.stderr
    assert "Traceback" not in done.stderr
    assert not list(tmp_path.iterdir())


def test_a_file_that_cannot_be_written(finished, tmp_path):
    for form in ("--csv", "--mat"):
        done = small.otafl("show", finished, form, "nowhere/table", cwd=tmp_path)
        assert done.returncode == 1
        assert "nowhere/table cannot be written: No such file or directory" in done.stderr
        done = small.otafl("show", finished, form, ".", cwd=tmp_path)
        assert done.returncode == 2
        assert "it is a directory" in done.stderr
    full = small.otafl("show", finished, "--csv", "table.csv", cwd=tmp_path, preexec_fn=no_room)
    assert full.returncode == 1
    assert full.stderr == "otafl: table.csv cannot be written: File too large\n"
    assert not list(tmp_path.iterdir())
    (tmp_path / "taken").write_text("")
    done = small.otafl("plot", finished, "--out", "taken", cwd=tmp_path)
    assert done.returncode == 1
    assert "taken cannot be written" in done.stderr


def test_a_study_in_use(file, tmp_path):
    from scenarios.study.folder import Folder

    with Folder(tmp_path / "study").locked():
        done = small.otafl("run", file, "--out", "study", cwd=tmp_path)
    assert done.returncode == 1
    assert done.stderr == "otafl: study is being run by another process: wait for it, or stop it\n"


def test_folders_of_the_same_name_beside_the_user_do_no_harm(file, tmp_path):
    """A process of the study starts elsewhere than in the user's folder."""
    (tmp_path / "scenarios").mkdir()
    (tmp_path / "scenarios" / "__init__.py").write_text("raise SystemExit('not this one')")
    (tmp_path / "queue.py").write_text("raise SystemExit('nor this')")
    assert small.otafl("run", file, cwd=tmp_path).returncode == 0


def test_who_reads_may_go(finished, tmp_path):
    for arguments in (["show", finished, "--json"], ["plot", finished, "--out", tmp_path]):
        command = " ".join(small.command(*arguments)) + " | head -1"
        done = subprocess.run(command, shell=True, capture_output=True, text=True, check=False)
        assert len(done.stdout.splitlines()) == 1
        assert done.stderr == ""


def test_live_display_on_a_terminal(file, tmp_path):
    ours, theirs = pty.openpty()
    process = subprocess.Popen(
        small.command("run", file),
        cwd=tmp_path,
        stdout=subprocess.PIPE,
        stderr=theirs,
        env={**os.environ, "TERM": "xterm", "COLUMNS": "120"},
    )
    os.close(theirs)
    shown = b""
    while True:
        try:
            piece = os.read(ours, 1000)
        except OSError:  # how a terminal ends
            break
        if not piece:
            break
        shown += piece
    process.communicate()
    assert process.returncode == 0
    assert b"8 of 8 cells" in shown
    assert b"100 %" in shown
