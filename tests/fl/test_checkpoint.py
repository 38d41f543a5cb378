"""Runs that stop and resume: the same as those that never stopped."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from fl import (
    Algorithm,
    BestChannels,
    Cotaf,
    Deadline,
    DivergenceWarning,
    FedAvg,
    Outcome,
    Problem,
    ProportionalFair,
    RandomClients,
    RoundRobin,
    Sgd,
    train,
    train_together,
)
from fl.checkpoint import CheckpointError
from links import FadingLink, GaussianLink, IdealLink, OfdmLink
from phy import Rician, Tdl
from tests.fl.problems import random_quadratics, two_parabolas
from tests.fl.runs import ALGORITHMS, OPTIONS, check_same


@pytest.mark.parametrize("stop", [1, 4])
@pytest.mark.parametrize(
    "algorithm", ["acpc", "acpc, previous", "cotaf", "fedadam", "fedyogi", "scaffold"]
)
def test_resumed_run_equals_uninterrupted_run(algorithm, stop, problem, tmp_path):
    link = OfdmLink(entry_snr_db=10.0, fading=Tdl("A", speed=1.0))
    runs = [(ALGORITHMS[algorithm], link), (FedAvg(), GaussianLink(snr_db=0.0))]
    whole = train_together(runs, problem, rounds=6, **OPTIONS)
    file = tmp_path / "run.npz"
    train_together(runs, problem, rounds=stop, checkpoint=file, **OPTIONS)
    resumed = train_together(runs, problem, rounds=6, checkpoint=file, **OPTIONS)
    again = train_together(runs, problem, rounds=6, checkpoint=file, **OPTIONS)
    for one, other, third in zip(whole, resumed, again, strict=True):
        check_same(one, other)
        check_same(one, third)
    assert list(tmp_path.iterdir()) == [file]


def check_identical(one, other):
    """Values, places of NaN and types."""
    for name in one:
        np.testing.assert_array_equal(one[name], other[name], name, strict=True)
    np.testing.assert_array_equal(one.model, other.model, strict=True)


@pytest.mark.parametrize("ends", [(5, 9), (1, 9), (4, 9), (5, 7, 9), (5, 5, 9), (5, 10)])
def test_continued_run_equals_one_of_that_length(ends, problem, tmp_path):
    """Its last rounds on the way are tested only if a multiple of ``test_every``."""
    runs = [(Cotaf(), OfdmLink(entry_snr_db=10.0)), (FedAvg(), GaussianLink(snr_db=0.0))]
    options = {**OPTIONS, "test_every": 2, "measure_gradient": True}
    for rounds in ends:
        whole = train_together(runs, problem, rounds=rounds, **options)
        parts = train_together(
            runs, problem, rounds=rounds, checkpoint=tmp_path / "run.npz", **options
        )
        for one, other in zip(whole, parts, strict=True):
            check_identical(one, other)
            expected = sorted({*range(2, rounds + 1, 2), rounds})
            for name in ("test_loss", "test_accuracy", "squared_gradient_norm"):
                assert (1 + np.flatnonzero(~np.isnan(other[name]))).tolist() == expected


def test_run_that_ends_where_it_was_interrupted_is_tested(problem, tmp_path):
    def interrupt(number, rows):
        if number == 4:
            raise KeyboardInterrupt

    arguments = (Cotaf(), GaussianLink(), problem)
    options = {**OPTIONS, "test_every": 3, "checkpoint": tmp_path / "run.npz"}
    with pytest.raises(KeyboardInterrupt):
        train(*arguments, rounds=9, on_round=interrupt, **options)
    with np.load(options["checkpoint"]) as saved:
        assert np.isnan(saved["0/rows/test_loss"]).tolist() == [True, True, False, True, True]
    shorter = train(*arguments, rounds=5, **options)
    check_identical(train(*arguments, rounds=5, **{**options, "checkpoint": None}), shorter)
    longer = train(*arguments, rounds=9, **options)
    check_identical(train(*arguments, rounds=9, **{**options, "checkpoint": None}), longer)


def test_interrupted_run_resumes(problem, tmp_path):
    file = tmp_path / "run.npz"

    def interrupt(number, rows):
        if number == 3:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        train(
            Cotaf(), GaussianLink(), problem, rounds=6, checkpoint=file, on_round=interrupt,
            **OPTIONS,
        )  # fmt: skip
    seen = []
    resumed = train(
        Cotaf(), GaussianLink(), problem, rounds=6, checkpoint=file,
        on_round=lambda number, rows: seen.append((number, float(rows[0]["test_accuracy"]))),
        **OPTIONS,
    )  # fmt: skip
    assert seen == [(4, resumed["test_accuracy"][4]), (5, resumed["test_accuracy"][5])]
    check_same(train(Cotaf(), GaussianLink(), problem, rounds=6, **OPTIONS), resumed)


def test_checkpoint_of_another_run_is_refused(problem, tmp_path):
    data, shards = problem.data, problem.shards
    file = tmp_path / "run.npz"
    arguments = (Cotaf(), GaussianLink(), problem)
    train(*arguments, rounds=2, checkpoint=file, **OPTIONS)
    before = file.read_bytes()
    changed = [
        ({"seed": 4}, "seed was 3, is now 4"),
        ({"sgd": Sgd(0.4, 10)}, "sgd was .*rate=0.5.*is now .*rate=0.4"),
        ({"steps": 3}, "steps was fl.local_steps.UniformSteps"),
        ({"round_period": 1.0}, "round_period was 0.1"),
        ({"rounds": 1}, "rounds must be at least 2, the number of rounds in checkpoint .*, got 1"),
    ]
    for change, message in changed:
        with pytest.raises(ValueError, match=message):
            train(*arguments, **{"rounds": 3, **OPTIONS, **change}, checkpoint=file)
    with pytest.raises(ValueError, match="runs was .*Cotaf.* is now .*FedAvg"):
        train(FedAvg(), *arguments[1:], rounds=3, checkpoint=file, **OPTIONS)
    with pytest.raises(ValueError, match="runs was .*GaussianLink.*is now .*snr_db=3.0"):
        train(Cotaf(), GaussianLink(snr_db=3.0), problem, rounds=3, checkpoint=file, **OPTIONS)
    with pytest.raises(ValueError, match="shards was"):
        train(
            *arguments[:2], Problem(None, data, shards[::-1]), rounds=3, checkpoint=file, **OPTIONS
        )
    other = replace(data, x_train=data.x_train + np.uint8(1))
    with pytest.raises(ValueError, match="data was"):
        train(*arguments[:2], Problem(None, other, shards), rounds=3, checkpoint=file, **OPTIONS)
    assert file.read_bytes() == before
    np.savez(tmp_path / "data.npz", x=np.zeros(3))
    with pytest.raises(ValueError, match="data.npz is not a checkpoint; choose another file"):
        train(*arguments, rounds=3, checkpoint=tmp_path / "data.npz", **OPTIONS)
    for cut in (0, 100, len(before) - 5):
        file.write_bytes(before[:cut])
        with pytest.raises(ValueError, match="run.npz cannot be read.*remove it"):
            train(*arguments, rounds=3, checkpoint=file, **OPTIONS)


def test_checkpoint_that_cannot_be_written(problem, tmp_path):
    """This is noticed before any work is done."""
    seen = []
    with pytest.raises(OSError, match="checkpoint .*nowhere.* cannot be written"):
        train(
            Cotaf(), GaussianLink(), problem, rounds=2,
            checkpoint=tmp_path / "nowhere" / "run.npz",
            on_round=lambda number, rows: seen.append(number), **OPTIONS,
        )  # fmt: skip
    assert not seen


def test_state_is_saved_periodically(problem, tmp_path, monkeypatch):
    file = tmp_path / "run.npz"
    saved = []

    def look(number, rows):
        with np.load(file) as state:
            saved.append(int(state["number"]))

    for seconds, expected in ((0.0, [0, 1, 2, 3]), (1e6, [0, 0, 0, 0])):
        monkeypatch.setattr("fl.checkpoint.SAVED_EVERY", seconds)
        saved.clear()
        file.unlink(missing_ok=True)
        train(
            Cotaf(), GaussianLink(), problem, rounds=4, checkpoint=file, on_round=look,
            **OPTIONS,
        )  # fmt: skip
        assert saved == expected
        with np.load(file) as state:
            assert state["number"] == 4


class Heavy(Algorithm):
    """Keeps one number as its state, and moves by it."""

    def __init__(self, kind=float):
        self.kind = kind

    def aggregate(self, current, plan, updates, steps):
        count = current.state.get("count", 1.0)
        received = current.uplink.send(updates, 1e-3)
        model = current.model + np.float32(0.1) * count * received.total
        return Outcome(model, received, 1e-3, state={"count": self.kind(count * 0.9)})


def test_state_of_an_algorithm_survives_a_resume(problem, tmp_path):
    arguments = (Heavy(), IdealLink(), problem)
    file = tmp_path / "run.npz"
    whole = train(*arguments, rounds=6, **OPTIONS)
    train(*arguments, rounds=3, checkpoint=file, **OPTIONS)
    check_same(whole, train(*arguments, rounds=6, checkpoint=file, **OPTIONS))
    with pytest.raises(
        ValueError,
        match=r"state.'count'. of .*Heavy.* must be a number or an array of numbers, got '0.9'",
    ):
        train(Heavy(str), *arguments[1:], rounds=2, **OPTIONS)


def test_diverged_run_stays_diverged(tmp_path):
    problem = two_parabolas()
    file = tmp_path / "run.npz"
    runs = [(FedAvg(), IdealLink()), (Cotaf(server_step=1e-3), IdealLink())]
    options = {"sgd": Sgd(5.0, None), "steps": 2, "checkpoint": file}
    arguments = (runs, problem)
    with pytest.warns(DivergenceWarning):
        first = train_together(*arguments, rounds=30, **options)
    longer = train_together(*arguments, rounds=35, **options)
    check_same(first[0], longer[0])
    assert longer[1].num_rounds == 35


class ErrorFeedback(Algorithm):
    """Sends signs, and keeps what they leave out as the state of each device."""

    def __init__(self, rows=slice(None)):
        self.rows = rows

    def aggregate(self, current, plan, updates, steps):
        owed = updates + current.device_state.get("owed", np.zeros_like(updates))
        assert not current.device_state or current.device_state["owed"].shape == updates.shape
        scale = np.abs(owed).mean(axis=1, keepdims=True)
        signals = scale * np.sign(owed)
        received = current.uplink.send(signals / len(signals), 1.0)
        owed = (owed - signals)[self.rows]
        model = current.model + received.total
        return Outcome(model, received, 1.0, device_state={"owed": owed})


def test_state_per_device_survives_a_resume(problem, tmp_path):
    file = tmp_path / "run.npz"
    arguments = (ErrorFeedback(), IdealLink(), problem)
    whole = train(*arguments, rounds=6, **OPTIONS)
    train(*arguments, rounds=3, checkpoint=file, **OPTIONS)
    with np.load(file) as saved:
        assert saved["0/device_state/owed"].shape == (4, 52)
        assert saved["0/device_state/owed"].any()
    check_same(whole, train(*arguments, rounds=6, checkpoint=file, **OPTIONS))
    with pytest.raises(ValueError, match="device_state.'owed'. of .* m = 4, got .3, 52."):
        train(ErrorFeedback(slice(3)), *arguments[1:], rounds=2, **OPTIONS)


def test_checkpoint_of_another_format_is_refused(problem, tmp_path, monkeypatch):
    file = tmp_path / "run.npz"
    train(Cotaf(), IdealLink(), problem, rounds=1, checkpoint=file, **OPTIONS)
    monkeypatch.setattr("fl.checkpoint.FORMAT", 2)
    with pytest.raises(CheckpointError, match="format was 4, is now 2"):
        train(Cotaf(), IdealLink(), problem, rounds=2, checkpoint=file, **OPTIONS)


def test_a_directory_is_no_checkpoint(problem, tmp_path):
    with pytest.raises(CheckpointError, match=f"must be a file, got the directory {tmp_path}"):
        train(Cotaf(), IdealLink(), problem, rounds=1, checkpoint=tmp_path, **OPTIONS)
    assert tmp_path.is_dir()


class FallsBehind(Algorithm):
    """Diverges in round 2."""

    def aggregate(self, current, plan, updates, steps):
        received = current.uplink.send(updates, 1.0)
        model = current.model * (np.inf if current.number == 2 else 1)
        return Outcome(model + received.total.astype(current.model.dtype), received, 1.0)


@pytest.mark.filterwarnings("ignore::fl.DivergenceWarning", "ignore::RuntimeWarning")
def test_the_tests_of_a_run_that_diverged_earlier_are_left_alone(problem, tmp_path):
    """It ended after two rounds, the second of which was tested."""
    runs = [(Cotaf(), IdealLink()), (FallsBehind(), IdealLink())]
    options = {**OPTIONS, "test_every": 2}
    file = tmp_path / "run.npz"
    for rounds in (5, 9):
        _, behind = train_together(runs, problem, rounds=rounds, checkpoint=file, **options)
        assert behind.num_rounds == 2
        assert np.isnan(behind["test_loss"]).tolist() == [True, False]


SELECTIONS = {
    "random": RandomClients(2),
    "a varying number": RandomClients(3, replacement=True),
    "in turn": RoundRobin(3),
    "best channels": BestChannels(2, 3),
    "proportional fair": ProportionalFair(2, 3),
}


@pytest.mark.parametrize("stop", [1, 4])
@pytest.mark.parametrize("selection", SELECTIONS)
def test_a_selection_resumes_where_it_stopped(selection, stop, problem, tmp_path):
    """Its memory, the state of each device and its metrics are saved."""
    link = OfdmLink(entry_snr_db=10.0, fading=Tdl("A", speed=1.0), path_gain=[1.0, 2.0, 3.0, 4.0])
    runs = [(ErrorFeedback(), link), (ALGORITHMS["acpc, previous"], link)]
    options = {**OPTIONS, "participation": SELECTIONS[selection], "deadline": Deadline(5.0, 1.0)}
    file = tmp_path / "run.npz"
    whole = train_together(runs, problem, rounds=7, **options)
    train_together(runs, problem, rounds=stop, checkpoint=file, **options)
    resumed = train_together(runs, problem, rounds=7, checkpoint=file, **options)
    for one, other in zip(whole, resumed, strict=True):
        check_identical(one, other)
    assert len({tuple(row) for row in whole[0]["device"].tolist()}) > 1
    assert any(run["late"].any() for run in whole)


def test_a_fair_selection_needs_its_memory(tmp_path, rng):
    """Channels are alike, so the running averages decide; without them others are chosen."""
    file, problem = tmp_path / "run.npz", random_quadratics(rng, clients=6)
    arguments = (Cotaf(), FadingLink(fading=Rician(20.0)), problem)
    options = {"participation": ProportionalFair(2, 6), "sgd": Sgd(0.05, None), "steps": 2}
    whole = train(*arguments, rounds=30, **options)
    train(*arguments, rounds=12, checkpoint=file, **options)
    with np.load(file) as saved:
        kept = {name: array for name, array in saved.items() if "/selection/" not in name}
        assert len(kept) == len(saved.files) - 3  # device, round, average
    check_identical(whole, train(*arguments, rounds=30, checkpoint=file, **options))
    np.savez(file, **kept)
    forgetful = train(*arguments, rounds=30, checkpoint=file, **options)
    assert (whole["device"] != forgetful["device"]).any()


def test_a_checkpoint_of_another_selection_is_refused(problem, tmp_path):
    options = {**OPTIONS, "rounds": 2, "checkpoint": tmp_path / "run.npz"}
    train(Cotaf(), IdealLink(), problem, participation=RandomClients(2), **options)
    with pytest.raises(
        ValueError, match="participation was .*RandomClients.*, is now .*RoundRobin"
    ):
        train(Cotaf(), IdealLink(), problem, participation=RoundRobin(2), **options)
    with pytest.raises(ValueError, match="deadline was None, is now .*Deadline"):
        train(
            Cotaf(), IdealLink(), problem, participation=RandomClients(2),
            deadline=Deadline(1.0, 1.0), **options,
        )  # fmt: skip
