"""The record of a run."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

import numpy as np
import pytest
import xarray as xr

from fl import Cotaf, History, RandomClients, quadratic_problem, train
from fl.metrics import METRICS
from links import GaussianLink, IdealLink, OfdmLink
from phy import OfdmGrid, Rayleigh
from tests.fl.runs import OPTIONS, check_same

GRID = OfdmGrid(fft_size=8, cp_length=2, guards=(1, 0))  # 6 carriers: 52 entries in 5 symbols


class Spy(Cotaf):
    """Records the energy of every client in every symbol."""

    def aggregate(self, *arguments):
        outcome = super().aggregate(*arguments)
        SEEN.append(outcome.reception.energy)
        return outcome


SEEN: list = []


@pytest.mark.parametrize("budget", ["symbol", "round"])
def test_load_of_each_symbol(problem, budget):
    """Energy over P_i / L, for either kind of budget."""
    power = [0.5, 1.0, 2.0, 4.0]
    SEEN.clear()
    link = OfdmLink(grid=GRID, fading=Rayleigh(), power=power, budget=budget)
    run = train(Spy(), link, problem, rounds=3, **OPTIONS)
    expected = [(5 * energy / np.array(power)[:, None]).max(axis=0) for energy in SEEN]
    np.testing.assert_allclose(run["symbol_load"], expected, rtol=1e-6)
    assert run["symbol_load"].shape == (3, 5)
    if budget == "symbol":
        np.testing.assert_allclose(run["symbol_load"].max(axis=1), run["load"].max(axis=1))
        assert run["symbol_load"].max() <= 1 + 1e-5
    else:
        assert run["symbol_load"].max() > 1


def test_all_metrics_are_listed(problem):
    run = train(Cotaf(), GaussianLink(), problem, rounds=1, **OPTIONS)
    assert tuple(run.metrics) == tuple(METRICS)


def test_without_symbols_or_budget(problem):
    gaussian = train(Cotaf(), GaussianLink(power=3.0), problem, rounds=2, **OPTIONS)
    np.testing.assert_allclose(gaussian["symbol_load"][:, 0], gaussian["load"].max(axis=1))
    ideal = train(Cotaf(), IdealLink(), problem, rounds=2, **OPTIONS)
    assert ideal["symbol_load"].tolist() == [[0.0], [0.0]]


def test_a_link_that_changes_over_the_rounds(problem, tmp_path):
    """Shorter rows are padded with NaN, also after a resume."""

    def uplink(number):
        return GaussianLink() if number % 2 else OfdmLink(grid=GRID, fading=Rayleigh())

    whole = train(Cotaf(), uplink, problem, rounds=4, **OPTIONS)
    assert np.isnan(whole["symbol_load"]).sum(axis=1).tolist() == [0, 4, 0, 4]
    file = tmp_path / "run.npz"
    train(Cotaf(), uplink, problem, rounds=2, checkpoint=file, **OPTIONS)
    check_same(whole, train(Cotaf(), uplink, problem, rounds=4, checkpoint=file, **OPTIONS))


def test_help_explains_every_metric():
    """The list in the docstring is that of the table."""
    for name, metric in METRICS.items():
        assert f"{name} : [{', '.join(metric.dims)}]" in History.__doc__
        assert metric.meaning in History.__doc__


def test_an_unknown_metric_is_named(problem):
    run = train(Cotaf(), IdealLink(), problem, rounds=1, **OPTIONS)
    with pytest.raises(KeyError, match="did you mean 'test_accuracy'"):
        run["test_acuracy"]
    with pytest.raises(ValueError, match="rounds must be a whole number >= 1, got 0"):
        run.final_accuracy(0)


@pytest.fixture(scope="module")
def run(problem):
    link = OfdmLink(grid=GRID, fading=Rayleigh())
    return train(Cotaf(), link, problem, rounds=3, test_every=2, **OPTIONS)


@pytest.fixture(scope="module")
def empty(run):
    """A run that diverged in its first round."""
    return replace(run, metrics={}, diverged="the run diverged in round 0: ...")


def test_a_history_is_a_mapping(run, empty):
    assert isinstance(run, Mapping)
    assert list(run) == list(run.keys()) == list(METRICS)
    assert len(run) == len(METRICS)
    assert "gain" in run
    assert "gian" not in run
    assert run.get("gain") is run["gain"]
    assert run.get("gian") is None
    assert all(dict(run)[name] is values for name, values in run.items())
    assert run.num_rounds == 3
    assert run
    assert (len(empty), empty.num_rounds, list(empty)) == (0, 0, [])
    assert not empty


@pytest.mark.parametrize(
    ("scaled", "said"),
    [
        (0, "0% scaled down)"),
        (2, "10% scaled down)"),
        (3, "15% scaled down (warning: more than 10%; the gain was too large))"),
    ],
)
def test_print_warns_where_many_are_scaled_down(run, scaled, said):
    """More than two of twenty signals."""
    flags = (np.arange(20) < scaled).reshape(5, 4)
    metrics = {name: run[name][[0, 0, 1, 1, 2]] for name in run}
    history = replace(run, metrics={**metrics, "scaled_down": flags})
    assert repr(history).endswith(said)
    assert ("warning" in repr(history)) == (scaled > 2)


def test_a_history_equals_itself_only(run):
    assert run in [run]
    assert run in {run}
    assert run != replace(run)


def test_a_dataset_has_all_metrics(run):
    dataset = run.to_xarray()
    assert dict(dataset.sizes) == {"round": 3, "client": 4, "symbol": 5}
    assert dataset["round"].values.tolist() == [1, 2, 3]
    assert list(dataset.data_vars) == [*METRICS, "weight"]
    for name, metric in METRICS.items():
        assert dataset[name].dims == metric.dims
        assert dataset[name].attrs == metric.attributes
        np.testing.assert_array_equal(dataset[name].values, run[name], strict=True)
    np.testing.assert_array_equal(dataset["weight"].values, run.weights)
    options = "server_step=1.0, precoding='realised', margin=1.0, window=10.0"
    assert dataset.attrs == {"algorithm": f"fl.cotaf.Cotaf({options})", "diverged": ""}


@pytest.mark.parametrize(
    ("per", "index"),
    [
        ("round", [1, 2, 3]),
        ("client", [(t, i) for t in (1, 2, 3) for i in range(4)]),
        ("symbol", [(t, n) for t in (1, 2, 3) for n in range(5)]),
    ],
)
def test_frames(run, per, index):
    frame = run.to_dataframe(per)
    dims = ("round",) if per == "round" else ("round", per)
    assert tuple(frame.index.names) == dims
    assert frame.index.tolist() == index
    assert list(frame) == [name for name, metric in METRICS.items() if metric.dims == dims]
    for name in frame:
        np.testing.assert_array_equal(frame[name], run[name].ravel())


def test_a_frame_of_something_else_is_refused(run):
    with pytest.raises(ValueError, match="per must be one of 'round', .*, got 'clients'; did you"):
        run.to_dataframe("clients")


def test_a_history_is_saved_as_netcdf(run, empty, tmp_path):
    for history in (run, empty):
        history.save(tmp_path / "run.nc")
        assert xr.load_dataset(tmp_path / "run.nc").identical(history.to_xarray())
    assert [file.name for file in tmp_path.iterdir()] == ["run.nc"]
    stored = xr.load_dataset(tmp_path / "run.nc")
    assert stored.sizes["round"] == 0
    assert stored.attrs["diverged"] == empty.diverged


def test_a_history_is_saved_as_csv(run, empty, tmp_path):
    run.save(str(tmp_path / "run.csv"))
    table = np.genfromtxt(tmp_path / "run.csv", delimiter=",", names=True)
    frame = run.to_dataframe().reset_index()
    assert list(table.dtype.names) == list(frame)
    for name in frame:
        np.testing.assert_array_equal(table[name].astype(frame[name].dtype), frame[name])
    empty.save(tmp_path / "run.csv")
    assert (tmp_path / "run.csv").read_text() == "round\n"
    assert [file.name for file in tmp_path.iterdir()] == ["run.csv"]


@pytest.mark.parametrize("name", ["run.npz", "run", "csv"])
def test_other_formats_are_refused(run, name, tmp_path):
    with pytest.raises(ValueError, match=f"path must be a .* ends in .nc or .csv, got '.*{name}'"):
        run.save(tmp_path / name)
    assert not list(tmp_path.iterdir())


def test_a_file_that_cannot_be_written(run, tmp_path):
    with pytest.raises(OSError, match="nowhere.run.nc cannot be written: No such file"):
        run.save(tmp_path / "nowhere" / "run.nc")


def with_rounds(run, devices, weights, scaled=None):
    """Return a history in which these devices took part with these weights."""
    metrics = {
        "rate": np.ones(len(devices)),
        "device": np.array(devices),
        "client_weight": np.array(weights),
        "nmse": np.ones(len(devices)),
        "load": np.ones(np.shape(weights)),
        "scaled_down": np.zeros(np.shape(weights)) if scaled is None else np.array(scaled),
    }
    return replace(run, metrics=metrics, weights=np.array([0.5, 0.25, 0.25]))


def test_mean_weights_and_bias_by_hand(run):
    """Shares 3/4, 1/4 and 0 where they should be 1/2, 1/4 and 1/4: a quarter is elsewhere."""
    some = with_rounds(run, [[0, 1], [0, 1]], [[1.0, 0.5], [2.0, 0.5]])
    np.testing.assert_allclose(some.mean_weights(), [1.5, 0.5, 0.0])
    assert some.participation_bias() == pytest.approx(0.25)
    ragged = with_rounds(run, [[0.0, 2.0], [1.0, np.nan]], [[1.0, 0.5], [0.5, np.nan]])
    np.testing.assert_allclose(ragged.mean_weights(), [0.5, 0.25, 0.25])
    assert ragged.participation_bias() == pytest.approx(0)


def test_bias_is_measured_against_chance(problem, rng):
    """Two of four at random: sqrt((4 - 2) / (2 pi 2 T)) on average, here for T = 400."""
    history = train(
        Cotaf(), IdealLink(), quadratic_problem(np.ones((4, 1, 1)), np.ones((4, 1))), rounds=400,
        participation=RandomClients(2), seed=int(rng.integers(2**31)),
    )  # fmt: skip
    counts = np.bincount(history["device"].ravel(), minlength=4)
    assert (np.abs(counts - 200) < 5 * np.sqrt(400 * 0.25)).all()
    np.testing.assert_allclose(history.mean_weights(), counts / 800)
    assert history.participation_bias() < 4 * 5 * np.sqrt(400 * 0.25) / 800 / 2
    everyone = train(Cotaf(), IdealLink(), problem, rounds=2, **OPTIONS)
    assert everyone.participation_bias() == pytest.approx(0, abs=1e-12)


def test_weights_are_along_the_clients_only_if_all_take_part(run):
    assert run.weight_metric.dims == ("client",)
    always = with_rounds(run, [[0, 1, 2]], [[0.5, 0.25, 0.25]])
    assert always.weight_metric.dims == ("client",)
    for devices in ([[0, 1]], [[0.0, 2.0, np.nan]]):
        some = with_rounds(run, devices, np.ones_like(devices))
        assert some.weight_metric.dims == ("population",)


def test_a_dataset_of_partial_participation(problem):
    options = {**OPTIONS, "participation": RandomClients(2)}
    dataset = train(Cotaf(), IdealLink(), problem, rounds=3, **options).to_xarray()
    assert dict(dataset.sizes) == {"round": 3, "client": 2, "symbol": 1, "population": 4}
    assert dataset["weight"].dims == ("population",)


def test_cumulative_metrics_belong_to_devices(problem):
    """The energy that a device has radiated so far, however long ago it last took part."""
    history = train(
        Cotaf(), GaussianLink(), problem, rounds=12,
        **{**OPTIONS, "participation": RandomClients(2)},
    )  # fmt: skip
    total = np.zeros(4)
    for devices, energy, radiated in zip(
        history["device"], history["energy"], history["radiated_energy"], strict=True
    ):
        total[devices] += energy
        np.testing.assert_allclose(radiated, total[devices])


def test_best_and_final_accuracy(run):
    tests = np.array([0.2, 0.7, np.nan, 0.5])
    some = replace(run, metrics={"rate": np.ones(4), "test_accuracy": tests})
    assert some.best_accuracy() == 0.7
    assert some.final_accuracy(2) == 0.5
    assert some.final_accuracy(3) == pytest.approx(0.6)
    untested = replace(run, metrics={"rate": np.ones(1), "test_accuracy": np.array([np.nan])})
    assert np.isnan(untested.best_accuracy())
    assert np.isnan(replace(run, metrics={}).best_accuracy())


def test_many_scaled_down_clients_are_a_warning(run):
    devices, weights = [[0, 1]] * 5, np.ones((5, 2))
    one = with_rounds(run, devices, weights, [[0, 0]] * 4 + [[0, 1]])  # a tenth
    two = with_rounds(run, devices, weights, [[0, 0]] * 4 + [[1, 1]])
    tests = {"test_accuracy": np.full(5, 0.5)}
    one, two = (replace(each, metrics={**each.metrics, **tests}) for each in (one, two))
    assert "10% scaled down" in repr(one)
    assert "warning" not in repr(one)
    assert "20% scaled down (warning: more than 10%; the gain was too large)" in repr(two)
