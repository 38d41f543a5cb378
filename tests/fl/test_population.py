"""Shards that are a function of (seed, device)."""

from __future__ import annotations

import tracemalloc

import numpy as np
import pytest

from fl import BestChannels, Cotaf, Population, Problem, RandomClients, RoundRobin, train
from fl.identity import description
from fl.partition import check_shards
from links import IdealLink, OfdmLink
from phy import Tdl
from tests.fl.problems import blobs
from tests.fl.runs import OPTIONS, check_same

LABELS = np.arange(1000) % 10


def test_a_device_holds_a_few_samples_of_a_few_labels():
    shards = Population(LABELS, devices=50, samples=21, labels_per_device=2, seed=3)
    assert len(shards) == 50
    for shard in shards:
        assert len(np.unique(shard)) == len(shard) == 21
        assert (np.diff(shard) > 0).all()
        _, counts = np.unique(LABELS[shard], return_counts=True)
        assert sorted(counts) == [10, 11]
    assert len({tuple(shard) for shard in shards}) == 50
    np.testing.assert_allclose(shards.weights, np.full(50, 0.02))


def test_a_shard_is_a_function_of_seed_and_device():
    one, more = (Population(LABELS, devices, 20, seed=3) for devices in (10, 100_000))
    other = Population(LABELS, 10, 20, seed=4)
    for device in (0, 9):
        np.testing.assert_array_equal(one[device], more[device])
        np.testing.assert_array_equal(one[device], one[np.int64(device)])
        assert one[device].tolist() != other[device].tolist()
    for device in (-1, 10):
        with pytest.raises(IndexError, match=f"device must be from 0 to 9, got {device}"):
            one[device]


def test_labels_and_samples_are_uniform(rng):
    """Each of 10 labels is held by a fifth of the devices, each sample by a fiftieth."""
    shards = Population(LABELS, 4000, 20, 2, seed=int(rng.integers(2**62)))
    holders, samples = np.zeros(10), np.zeros(1000)
    for shard in shards:
        holders[np.unique(LABELS[shard])] += 1
        samples[shard] += 1
    assert (np.abs(holders - 800) < 5 * np.sqrt(4000 * 0.2 * 0.8)).all()
    assert (np.abs(samples - 80) < 6 * np.sqrt(80)).all()  # 1000 of them


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"devices": 0}, "devices must be a whole number >= 1, got 0"),
        ({"samples": 0}, "samples must be a whole number >= 1, got 0"),
        ({"samples": 1}, "samples must be at least 2, the value of labels_per_device, got 1"),
        (
            {"samples": 201},
            "samples must be at most 200: the rarest label has 100 samples, got 201",
        ),
        ({"labels_per_device": 11}, "labels_per_device must be at most 10, the number of labels"),
        ({"seed": -1}, "seed must be a whole number >= 0, got -1"),
        ({"labels": np.zeros((2, 2), int)}, "labels must be one label per sample, got .2, 2. as"),
        ({"labels": np.zeros(9)}, "labels must be one label per sample"),
    ],
)
def test_refused(options, message):
    with pytest.raises(ValueError, match=message):
        Population(**{"labels": LABELS, "devices": 5, "samples": 20, **options})


def test_the_largest_shard_is_possible():
    assert len(Population(LABELS, 3, 200)[2]) == 200


def test_a_population_of_other_samples_is_refused():
    population = Population(LABELS, 5, 20)
    assert check_shards(population, 1000) is population
    with pytest.raises(ValueError, match="a Population of the 900 training samples, got one of 10"):
        check_shards(population, 900)


def test_a_checkpoint_knows_a_population(tmp_path):
    data = blobs(np.random.default_rng(1))

    def run(seed, rounds, checkpoint):
        shards = Population(data.y_train, 500, 10, seed=seed)
        options = {**OPTIONS, "participation": RandomClients(5), "checkpoint": checkpoint}
        return train(Cotaf(), IdealLink(), Problem(None, data, shards), rounds=rounds, **options)

    whole, file = run(3, 6, None), tmp_path / "run.npz"
    run(3, 3, file)
    check_same(whole, run(3, 6, file))
    with pytest.raises(ValueError, match="shards was .*Population.*, is now"):
        run(4, 6, file)
    assert description(Population(LABELS, 5, 20)) != description(Population(LABELS[::-1], 5, 20))


@pytest.mark.parametrize("selection", [RandomClients(4), RoundRobin(4), BestChannels(4, 8)])
def test_a_large_population_trains_like_a_small_one(selection):
    """Data, channels and steps of a device do not depend on how many there are."""
    data = blobs(np.random.default_rng(1))
    link = OfdmLink(entry_snr_db=10.0, fading=Tdl("A", speed=1.0))
    problem = Problem(None, data, Population(data.y_train, 100_000, 10))
    history = train(Cotaf(), link, problem, rounds=3, participation=selection, **OPTIONS)
    assert history.diverged is None
    assert history["device"].shape == (3, 4)
    assert history.weights.shape == (100_000,)
    np.testing.assert_allclose(history["client_weight"], 0.25)


def test_memory_grows_with_those_who_take_part():
    """Per device: 8 bytes of its weight, and as many when a round scales or copies them."""
    data = blobs(np.random.default_rng(1))

    def peak(devices):
        problem = Problem(None, data, Population(data.y_train, devices, 10))
        options = {**OPTIONS, "participation": RandomClients(4), "progress": False}
        tracemalloc.start()
        train(Cotaf(), IdealLink(), problem, rounds=3, **options)
        _, most = tracemalloc.get_traced_memory()
        tracemalloc.stop()
        return most

    peak(10)  # what is imported and cached the first time
    assert peak(200_000) - peak(10) < 200_000 * 40


def test_the_full_gradient_of_a_population_is_refused():
    data = blobs(np.random.default_rng(1))
    problem = Problem(None, data, Population(data.y_train, 100, 10))
    with pytest.raises(ValueError, match="measure_gradient must be False with a Population: the f"):
        train(Cotaf(), IdealLink(), problem, rounds=1, measure_gradient=True)
