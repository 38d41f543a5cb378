"""Commands that draw, as a user calls them."""

from __future__ import annotations

import pytest

from scenarios import load_scenario, run_study
from tests.scenarios import small


@pytest.fixture(scope="module")
def place(tmp_path_factory):
    """A directory with two studies and a figure of the user's."""
    folder = tmp_path_factory.mktemp("drawing")
    data = small.write_data(folder / "blobs.npz")
    for name, rounds in (("one", 2), ("other", 3)):
        content = small.content(data, rounds=rounds)
        run_study(load_scenario(content), folder / name, progress=False)
    (folder / "mine.py").write_text(
        "import matplotlib.pyplot as plt\n\ndef bars(study):\n    return plt.figure()\n"
    )
    return folder


def files(done):
    assert done.returncode == 0, done.stderr
    return done.stdout.split()


def test_a_figure_of_one_s_choice(place, tmp_path):
    options = ["--x", "training.rate", "--y", "accuracy,nmse", "--hue", "algorithm"]
    done = small.otafl("plot", "one", *options, "--format", "pdf,png", "--style", "slides",
                       "--out", tmp_path, cwd=place)  # fmt: skip
    name = f"{tmp_path}/accuracy_nmse_over_training_rate"
    assert files(done) == [f"{name}.pdf", f"{name}.png", f"{tmp_path}/captions.md"]
    assert done.stderr == ""


def test_two_studies(place, tmp_path):
    done = small.otafl("plot", "one", "other", "--x", "round", "--out", tmp_path, cwd=place)
    assert f"{tmp_path}/test_accuracy_over_round.svg" in files(done)
    assert "one and other: test accuracy" in (tmp_path / "captions.md").read_text()


def test_some_figures_only(place, tmp_path):
    done = small.otafl("plot", "one", "--only", "local_steps,mine.py:bars", "--format", "svg",
                       "--where", "training.rate=0.5", "--out", tmp_path, cwd=place)  # fmt: skip
    assert files(done)[:2] == [f"{tmp_path}/local_steps.svg", f"{tmp_path}/mine_bars.svg"]


def test_pictures_of_a_link(place, tmp_path):
    done = small.otafl("link", "quickstart", "--plot", "--set", "link.entry_snr_db=20",
                       "--set", 'link.snr_db="none"', "--format", "png",
                       "--out", tmp_path / "out", cwd=place)  # fmt: skip
    names = ["overview", "channels", "constellation", "spectrum", "symbol_energy", "carrier_error",
             "papr"]  # fmt: skip
    assert files(done) == [f"{tmp_path}/out/figures/{name}.png" for name in names]
    assert done.stderr == (
        "otafl: the link at algorithm.name = acpc, seed = 0; choose another with --set\n"
    )


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (["--x", "training.rat"], "--x must be a key that the study sweeps (algorithm.name, round, "
         "training.rate), got 'training.rat'; did you mean 'training.rate'?"),
        (["--y", "acuracy"], "--y must be a metric of the study"),
        (["--where", "training.rate=7"], "--where training.rate must be one of 0.3, 0.5, got 7"),
        (["--only", "acuracy"], "--only must be one of accuracy, accuracy_rounds, local_steps"),
        (["--only", "accuracy", "--x", "round"], "--only draws figures as they are: leave --x out"),
        (["--only", "nobody.py:draw"], "--only must be"),
        (["other", "--only", "accuracy"], "--only draws figures of one study"),
        (["one"], "study must be different studies"),
        (["--x", "round", "--y", "diverged"], "--y must be a metric that has a value in"),
        (["--format", "gif"], "must be some of png, svg, pdf, got 'gif'"),
        (["--kind", "pie"], "invalid choice"),
        (["--only", "a,,b"], "must be names separated by commas"),
    ],
)  # fmt: skip
def test_bad_options_are_told_in_a_line(options, message, place, tmp_path):
    done = small.otafl("plot", "one", *options, "--out", tmp_path / "out", cwd=place)
    assert done.returncode == 2
    assert message in done.stderr
    assert "Traceback" not in done.stderr
    assert not (tmp_path / "out").exists()
