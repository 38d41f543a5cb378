"""Runs that stop and go on: the same as those that never stopped."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from fl import (
    Algorithm,
    Cotaf,
    DivergenceWarning,
    FedAvg,
    Outcome,
    Sgd,
    train,
    train_together,
)
from links import GaussianLink, IdealLink, OfdmLink
from phy import Tdl
from tests.fl.problems import two_parabolas
from tests.fl.runs import ALGORITHMS, OPTIONS, check_same


@pytest.mark.parametrize("stop", [1, 4])
@pytest.mark.parametrize("algorithm", ["acpc", "acpc, previous", "cotaf"])
def test_continued_is_uninterrupted(algorithm, stop, data, shards, tmp_path):
    link = OfdmLink(entry_snr_db=10.0, fading=Tdl("A", speed=1.0))
    runs = [(ALGORITHMS[algorithm], link), (FedAvg(), GaussianLink(snr_db=0.0))]
    whole = train_together(runs, data, shards, rounds=6, **OPTIONS)
    file = tmp_path / "run.npz"
    train_together(runs, data, shards, rounds=stop, checkpoint=file, **OPTIONS)
    resumed = train_together(runs, data, shards, rounds=6, checkpoint=file, **OPTIONS)
    again = train_together(runs, data, shards, rounds=6, checkpoint=file, **OPTIONS)
    for one, other, third in zip(whole, resumed, again, strict=True):
        check_same(one, other)
        check_same(one, third)
    assert list(tmp_path.iterdir()) == [file]


def test_interrupted_run_goes_on(data, shards, tmp_path):
    file = tmp_path / "run.npz"

    def interrupt(number, rows):
        if number == 3:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        train(
            Cotaf(), GaussianLink(), data, shards, rounds=6, checkpoint=file, on_round=interrupt,
            **OPTIONS,
        )  # fmt: skip
    seen = []
    resumed = train(
        Cotaf(), GaussianLink(), data, shards, rounds=6, checkpoint=file,
        on_round=lambda number, rows: seen.append((number, float(rows[0]["test_accuracy"]))),
        **OPTIONS,
    )  # fmt: skip
    assert seen == [(4, resumed["test_accuracy"][4]), (5, resumed["test_accuracy"][5])]
    check_same(train(Cotaf(), GaussianLink(), data, shards, rounds=6, **OPTIONS), resumed)


def test_checkpoint_of_another_run_is_refused(data, shards, tmp_path):
    file = tmp_path / "run.npz"
    arguments = (Cotaf(), GaussianLink(), data, shards)
    train(*arguments, rounds=2, checkpoint=file, **OPTIONS)
    before = file.read_bytes()
    changed = [
        ({"seed": 4}, "seed was 3, is now 4"),
        ({"sgd": Sgd(0.4, 10)}, "sgd was .*rate=0.5.*is now .*rate=0.4"),
        ({"steps": 3}, "steps was fl.capability.UniformSteps"),
        ({"round_period": 1.0}, "round_period was 0.1"),
        ({"rounds": 1}, "rounds = 1 is not allowed: checkpoint .* has 2"),
    ]
    for change, message in changed:
        with pytest.raises(ValueError, match=message):
            train(*arguments, **{"rounds": 3, **OPTIONS, **change}, checkpoint=file)
    with pytest.raises(ValueError, match="runs was .*Cotaf.* is now .*FedAvg"):
        train(FedAvg(), *arguments[1:], rounds=3, checkpoint=file, **OPTIONS)
    with pytest.raises(ValueError, match="runs was .*GaussianLink.*is now .*snr_db=3.0"):
        train(Cotaf(), GaussianLink(snr_db=3.0), data, shards, rounds=3, checkpoint=file, **OPTIONS)
    with pytest.raises(ValueError, match="shards was"):
        train(*arguments[:3], shards[::-1], rounds=3, checkpoint=file, **OPTIONS)
    other = replace(data, x_train=data.x_train + np.uint8(1))
    with pytest.raises(ValueError, match="data was"):
        train(*arguments[:2], other, shards, rounds=3, checkpoint=file, **OPTIONS)
    assert file.read_bytes() == before
    np.savez(tmp_path / "data.npz", x=np.zeros(3))
    with pytest.raises(ValueError, match="data.npz is not a checkpoint: give another file"):
        train(*arguments, rounds=3, checkpoint=tmp_path / "data.npz", **OPTIONS)
    for cut in (0, 100, len(before) - 5):
        file.write_bytes(before[:cut])
        with pytest.raises(ValueError, match="run.npz cannot be read.*remove it"):
            train(*arguments, rounds=3, checkpoint=file, **OPTIONS)


def test_checkpoint_that_cannot_be_written(data, shards, tmp_path):
    """Is noticed before any work is done."""
    seen = []
    with pytest.raises(OSError, match="checkpoint .*nowhere.* cannot be written"):
        train(
            Cotaf(), GaussianLink(), data, shards, rounds=2,
            checkpoint=tmp_path / "nowhere" / "run.npz",
            on_round=lambda number, rows: seen.append(number), **OPTIONS,
        )  # fmt: skip
    assert not seen


def test_state_is_saved_as_time_goes_by(data, shards, tmp_path, monkeypatch):
    file = tmp_path / "run.npz"
    saved = []

    def look(number, rows):
        with np.load(file) as state:
            saved.append(int(state["number"]))

    for seconds, expected in ((0.0, [0, 1, 2, 3]), (1e6, [0, 0, 0, 0])):
        monkeypatch.setattr("fl.saving.SAVED_EVERY", seconds)
        saved.clear()
        file.unlink(missing_ok=True)
        train(
            Cotaf(), GaussianLink(), data, shards, rounds=4, checkpoint=file, on_round=look,
            **OPTIONS,
        )  # fmt: skip
        assert saved == expected
        with np.load(file) as state:
            assert state["number"] == 4


class Heavy(Algorithm):
    """Remembers one number, and moves by it."""

    def __init__(self, remember=float):
        self.remember = remember

    def aggregate(self, round, plan, updates, steps):
        count = round.memory.get("count", 1.0)
        received = round.slot.send(updates, 1e-3)
        model = round.model + np.float32(0.1) * count * received.total
        return Outcome(model, received, 1e-3, memory={"count": self.remember(count * 0.9)})


def test_memory_is_the_same_after_a_resume(data, shards, tmp_path):
    arguments = (Heavy(), IdealLink(), data, shards)
    file = tmp_path / "run.npz"
    whole = train(*arguments, rounds=6, **OPTIONS)
    train(*arguments, rounds=3, checkpoint=file, **OPTIONS)
    check_same(whole, train(*arguments, rounds=6, checkpoint=file, **OPTIONS))
    with pytest.raises(ValueError, match="wants to remember count = '0.9': give numbers"):
        train(Heavy(str), *arguments[1:], rounds=2, **OPTIONS)


def test_diverged_run_stays_diverged(tmp_path):
    problem = two_parabolas()
    file = tmp_path / "run.npz"
    runs = [(FedAvg(), IdealLink()), (Cotaf(server_step=1e-3), IdealLink())]
    options = {"model": problem.model, "sgd": Sgd(5.0, None), "steps": 2, "checkpoint": file}
    arguments = (runs, problem.data, problem.shards)
    with pytest.warns(DivergenceWarning):
        first = train_together(*arguments, rounds=30, **options)
    longer = train_together(*arguments, rounds=35, **options)
    check_same(first[0], longer[0])
    assert len(longer[1]) == 35
