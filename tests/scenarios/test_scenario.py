"""From a file to cells: defaults, sweeps, choices, and what is refused."""

from __future__ import annotations

import inspect
from dataclasses import fields

import numpy as np
import pytest
import tomli_w

from fl import Acpc, Cotaf, Diminishing, FedAvg, UniformSteps, train_together
from links import FadingLink, GaussianLink, IdealLink, OfdmLink, OrthogonalLink, WaveformLink
from phy import AgedCsi, NoisyCsi, OfdmGrid, PerfectCsi, PilotCsi, Rayleigh, Rician, Tdl
from phy.impairments import (
    Adc,
    CarrierOffset,
    CarrierSync,
    ClipAndFilter,
    IqImbalance,
    Rapp,
    TimingAdvance,
    TimingOffset,
)
from scenarios import ScenarioError, load_scenario
from scenarios.library import parsed, shipped, tomllib
from scenarios.scenario import TRAINED_TOGETHER, Scenario
from tests.scenarios import small

SIMPLE = {"algorithm": {"name": "cotaf"}, "link": {"kind": "gaussian"}}


def one(**tables):
    (cell,) = load_scenario({**SIMPLE, **tables}).cells
    return cell


@pytest.mark.parametrize(
    ("table", "expected"),
    [
        ({"kind": "ideal"}, IdealLink()),
        ({"kind": "gaussian", "snr_db": 3}, GaussianLink(snr_db=3.0)),
        ({"kind": "gaussian", "snr_db": float("inf")}, GaussianLink(snr_db=float("inf"))),
        ({"kind": "ofdm"}, OfdmLink()),
        ({"kind": "orthogonal", "bits": 4}, OrthogonalLink(bits=4)),
        (
            {"kind": "fading", "power": [1.0, 2.0], "fading": {"kind": "rician", "k_factor": 2.0}},
            FadingLink(power=[1.0, 2.0], fading=Rician(2.0)),
        ),
        (
            {"kind": "fading", "fading": {"kind": "rayleigh", "speed": 2.0}},
            FadingLink(fading=Rayleigh(speed=2.0)),
        ),
        (
            {
                "kind": "ofdm",
                "grid": {"fft_size": 256, "guards": [10, 9]},
                "fading": {"kind": "tdl", "model": "C", "speed": 3.0},
                "csi": {"kind": "aged", "delay": 2e-3, "of": {"kind": "pilot", "num_taps": 8}},
                "interleaver_seed": "none",
                "control": "mmse",
                "budget": "round",
                "engine": "sionna",
            },
            OfdmLink(
                grid=OfdmGrid(fft_size=256, guards=(10, 9)),
                fading=Tdl("C", speed=3.0),
                csi=AgedCsi(2e-3, of=PilotCsi(num_taps=8)),
                interleaver_seed=None,
                control="mmse",
                budget="round",
                engine="sionna",
            ),
        ),
        (
            {
                "kind": "waveform",
                "grid": {"pilots": 4},
                # in a file, faults stand in the order of the parts of a radio, however written
                "transmit": {
                    "timing_offset": {"std": 1.0, "advance": {"resolution": 0.5}},
                    "rapp": {"backoff_db": 6.0},
                    "carrier_offset": {"offset": [0.1, 0.2], "sync": {"snr_db": 30.0}},
                    "iq_imbalance": "none",
                    "clip_and_filter": {},
                },
                "receive": {"adc": {"bits": 6}, "iq_imbalance": {"gain_db": 1.0}},
                "window_advance": 3,
                "csi_through_faults": True,
            },
            WaveformLink(
                grid=OfdmGrid(pilots=4),
                transmit=(
                    ClipAndFilter(),
                    CarrierOffset([0.1, 0.2], sync=CarrierSync(30.0)),
                    Rapp(6.0),
                    TimingOffset(std=1.0, advance=TimingAdvance(0.5)),
                ),
                receive=(IqImbalance(1.0), Adc(6)),
                window_advance=3,
                csi_through_faults=True,
            ),
        ),
    ],
)
def test_links_are_built_as_described(table, expected):
    assert one(link=table).link.build() == expected


def test_every_option_of_every_link_has_a_key():
    for link, kind in (
        (IdealLink, "ideal"),
        (GaussianLink, "gaussian"),
        (FadingLink, "fading"),
        (OfdmLink, "ofdm"),
        (OrthogonalLink, "orthogonal"),
        (WaveformLink, "waveform"),
    ):
        settings = one(link={"kind": kind}).link.settings()
        assert settings.keys() == {"kind", *(field.name for field in fields(link))}


def test_algorithms_and_training_are_built_as_described():
    cell = one(
        algorithm={"name": "acpc", "beta": "previous", "tau_max": [1, 2]},
        training={
            "rounds": 7,
            "rate": {"initial": 0.4, "rounds": 10.0},
            "batch_size": "none",
            "steps": {"least": 2, "most": 5},
        },
    )
    assert cell.algorithm.build() == Acpc(beta="previous", tau_max=[1, 2])
    options = cell.training.options()
    assert options["sgd"].rate == Diminishing(0.4, 10.0)
    assert options["sgd"].batch_size is None
    assert options["steps"] == UniformSteps(2, 5)
    assert options["rounds"] == 7


def test_the_sweep_is_a_product_whose_last_key_runs_fastest():
    scenario = load_scenario(
        {**SIMPLE, "sweep": {"link.snr_db": [0, 10], "seed": [3, 4, 5], "training.rounds": [2]}}
    )
    places = [(cell.link.snr_db, cell.seed) for cell in scenario.cells]
    assert places == [(0, 3), (0, 4), (0, 5), (10, 3), (10, 4), (10, 5)]
    assert scenario.shape == (2, 3, 1)
    assert scenario.labels_of(4) == {"link.snr_db": 10, "seed": 4, "training.rounds": 2}


def test_a_sweep_from_python_may_be_a_range_or_an_array():
    sweep = {"seed": range(2), "link.snr_db": np.linspace(0, 1, 3), "data.clients": np.arange(5, 7)}
    scenario = load_scenario({**SIMPLE, "sweep": sweep})
    assert [axis.labels for axis in scenario.axes] == [(0, 1), (0.0, 0.5, 1.0), (5, 6)]
    assert written(scenario).cells == scenario.cells


def test_values_with_names():
    sweep = {
        "link.fading": {"flat": {"kind": "rayleigh"}, "long": {"kind": "tdl", "model": "C"}},
        "link.power": {"equal": 1.0, "unequal": [1.0, 2.0]},
    }
    scenario = load_scenario({**SIMPLE, "link": {"kind": "ofdm"}, "sweep": sweep})
    assert [axis.labels for axis in scenario.axes] == [("flat", "long"), ("equal", "unequal")]
    built = [cell.link.build() for cell in scenario.cells]
    assert [link.fading for link in built] == [Rayleigh(), Rayleigh(), Tdl("C"), Tdl("C")]
    assert [link.power for link in built] == [1.0, (1.0, 2.0)] * 2


def test_each_choice_of_a_sweep_takes_the_options_that_it_has():
    scenario = load_scenario(
        {
            "algorithm": {"G": 2.0, "server_step": 0.5},
            "link": {"truncation": 0.2, "snr_db": 5.0, "csi": {"kind": "noisy"}},
            "sweep": {
                "algorithm.name": ["acpc", "cotaf", "fedavg"],
                "link.kind": ["ideal", "gaussian", "fading"],
            },
        }
    )
    built = [(cell.algorithm.build(), cell.link.build()) for cell in scenario.cells]
    algorithms = [Acpc(G=2.0), Cotaf(0.5), FedAvg()]
    links = [
        IdealLink(),
        GaussianLink(snr_db=5.0),
        FadingLink(snr_db=5.0, truncation=0.2, csi=NoisyCsi()),
    ]
    assert built == [(algorithm, link) for algorithm in algorithms for link in links]


def test_an_option_that_no_choice_of_the_sweep_has_is_refused():
    with pytest.raises(ScenarioError, match=r"algorithm.G is not known"):
        load_scenario(
            {**SIMPLE, "algorithm": {"G": 2.0}, "sweep": {"algorithm.name": ["cotaf", "fedavg"]}}
        )
    with pytest.raises(ScenarioError, match=r"link.truncation is not known"):
        one(link={"kind": "gaussian", "truncation": 0.1})


def test_cells_that_share_minibatches_are_run_together():
    sweep = {"link.snr_db": [0, 10], "seed": [0, 1], "algorithm.name": ["cotaf", "fedavg"]}
    scenario = load_scenario({**SIMPLE, "sweep": sweep})
    assert scenario.batches == [[0, 1, 4, 5], [2, 3, 6, 7]]
    for batch in scenario.batches:
        assert len({scenario.cells[number].seed for number in batch}) == 1
    long = load_scenario({**SIMPLE, "sweep": {"link.snr_db": list(range(30))}})
    assert sorted(number for batch in long.batches for number in batch) == list(range(30))
    assert [len(batch) for batch in long.batches] == [10, 10, 10]
    assert max(map(len, long.batches)) <= TRAINED_TOGETHER


def written(scenario):
    """As it comes back from the file in the directory of a study."""
    return Scenario.of(tomllib.loads(scenario.to_toml()))


def test_the_order_of_the_cells_is_that_of_the_file():
    fadings = {"flat": {"kind": "rayleigh"}, "long": {"kind": "tdl"}}
    sweep = {"link.fading": fadings, "link.snr_db": [0, 10], "seed": [0, 1]}
    scenario = load_scenario({**SIMPLE, "link": {"kind": "ofdm"}, "sweep": sweep})
    assert [axis.key for axis in scenario.axes] == ["link.snr_db", "seed", "link.fading"]
    assert written(scenario).cells == scenario.cells
    assert written(scenario).axes == scenario.axes


@pytest.mark.parametrize("name", shipped())
def test_the_resolved_file_says_the_same(name):
    scenario = load_scenario(name)
    resolved = scenario.resolved()
    again = written(scenario)
    assert again.cells == scenario.cells
    assert again.axes == scenario.axes
    assert again.paper == scenario.paper
    assert again.resolved() == resolved
    assert resolved["training"]["momentum"] == 0.0  # a default, written out


def test_resolved_with_choices_whose_defaults_differ():
    content = {**SIMPLE, "link": {}, "sweep": {"link.kind": ["fading", "ofdm"]}}
    scenario = load_scenario(content)
    assert "truncation" not in scenario.resolved()["link"]
    assert written(scenario).cells == scenario.cells
    assert [cell.link.truncation for cell in scenario.cells] == [0.0, 0.05]


def test_changes():
    scenario = load_scenario(
        {**SIMPLE, "sweep": {"link.snr_db": [0, 10], "seed": [0, 1]}},
        {"link.snr_db": 5.0, "sweep.algorithm.name": ["cotaf", "fedavg"], "training.rounds": 3},
    )
    assert [axis.key for axis in scenario.axes] == ["seed", "algorithm.name"]
    assert {(cell.link.snr_db, cell.training.rounds) for cell in scenario.cells} == {(5.0, 3)}


def paper(keys, accuracy):
    return {"source": "a", "keys": keys, "accuracy": accuracy}


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"link.truncatoin": 1}, "link.truncatoin is not known: did you mean 'truncation'"),
        ({"lnik": {}}, "lnik is not known: did you mean 'link'"),
        ({"link.kind": "odfm"}, "link.kind = 'odfm' is not allowed: give one of ideal, .*'ofdm'"),
        ({"link": {}}, "link.kind is missing: give one of ideal"),
        ({"link": 3}, "link = 3 is not allowed: give a table"),
        ({"link.fading": "tdl"}, 'link.fading = .tdl. .*: give a table such as { kind = "tdl" }'),
        ({"link.truncation": -1}, "link: truncation = -1.0 is not allowed: .*>= 0"),
        ({"link.snr_db": "10"}, "link.snr_db = '10' is not allowed: .*number$"),
        ({"link.snr_db": float("nan")}, "link: snr_db = nan is not allowed"),
        ({"link.snr_db": [0.0, 1.0]}, "link.snr_db = .* is not allowed: give one"),
        ({"link.snr_db": True}, "link.snr_db = True is not allowed"),
        ({"link.power": float("inf")}, "link: power = inf is not allowed"),
        ({"link.fading": {"kind": "tdl", "modle": "A"}}, "link.fading.modle .*'model'"),
        ({"link.fading": {"kind": "tdl", "model": "Z"}}, "link.fading: model = 'Z' is not allowed"),
        ({"link.fading": {"speed": 1.0}}, "link.fading.kind is missing"),
        ({"link.fading": {"kind": "tdl", "delay_spread": 1e-3}}, "link: .*WaveformLink"),
        ({"link.entry_snr_db": 3.0, "link.snr_db": 3.0}, "give only one"),
        ({"link.csi": {"kind": "aged", "of": {"kind": "aged"}}}, "link.csi.of.kind = 'aged'"),
        ({"algorithm.name": "sgd"}, "algorithm.name = 'sgd' is not allowed: give one of acpc"),
        ({"data.labels_per_client": 0}, "data.labels_per_client = 0 is not allowed"),
        ({"data.partition": "unbalanced"}, "data.shares is missing"),
        ({"model.name": "quadratic"}, "do not go together"),
        ({"training.rate": {"initial": 0.1}}, "training.rate.rounds is missing"),
        ({"training.rate": -0.1}, "training.rate = -0.1 is not allowed"),
        ({"training.momentum": 1.5}, "training: momentum = 1.5 is not allowed"),
        ({"training.steps": 1.5}, "training.steps = 1.5 is not allowed"),
        ({"training.rounds": 100, "training.test_every": 60}, "leaves the last 40 of 100"),
        ({"training.round_period": -1.0}, "round_period = -1.0 is not allowed"),
        ({"seed": -1}, "seed = -1 is not allowed"),
        ({"title": 3}, "title = 3 is not allowed"),
        ({"sweep.seed": []}, "sweep of seed = .* is not allowed: give a list"),
        ({"sweep.seed": 3}, "sweep of seed = 3 is not allowed"),
        ({"sweep.seed": [1, 1]}, "has a value twice"),
        ({"sweep.link.power": [[1, 2]]}, "name the values"),
        ({"sweep.link.snr_db": [float("nan")]}, "nan in a list is not allowed"),
        ({"sweep.link.snr_dB": [1]}, "link.snr_dB is not known: did you mean 'snr_db'"),
        ({"sweep.link.kind.x": [1]}, "link.kind.x cannot be set: link.kind is no table"),
        ({"paper": {"source": "a"}}, "paper.keys is missing"),
        ({"paper": paper(["link.kind"], [["ofdm", "x"]])}, "paper.accuracy: .'ofdm', 'x'. is not"),
        ({"paper": paper(["link.kind"], [[]])}, "give a value for each of the 1 keys"),
        ({"paper": paper(["link.knid"], [])}, "paper.keys: link.knid .*'link.kind'"),
        ({"sweep.link.snr_db": [1], "sweep.link": {"a": {}}}, "link and of link.snr_db do not go"),
        ({"sweep.link.snr_db": [10, 10.0]}, "has a value twice"),
        ({"sweep": {"link": {"snr_db": [0, 10]}}}, 'in quotes, as in "link.snr_db"'),
        ({"sweep.link.power": {1: 1.0}}, "1 is no name"),
        ({"seed": 1, "sweep.seed": [1]}, "seed and sweep.seed are both given"),
        ({"data.partition": "unbalanced", "data.shares": [1.0, -1.0]}, r"data.shares\[1\] = -1.0"),
        ({"link.foo": 1}, "link.foo is not known: give one of kind, "),
        ({"link.bits": 1}, "it is an option of orthogonal, not of ofdm"),
    ],
)
def test_what_is_wrong_is_said(change, message):
    base = {**SIMPLE, "link": {"kind": "ofdm"}}
    with pytest.raises(ScenarioError, match=message):
        load_scenario(base, change)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"link.transmit.rap.backoff_db": 1.0}, "link.transmit.rap is not known: .*'rapp'"),
        ({"link.transmit.rapp.backoff": 1.0}, "transmit.rapp.backoff is not known: .*'backoff_db'"),
        ({"link.transmit.phase_noise.linewidth": -1.0}, "link.transmit.phase_noise: .*>= 0"),
        ({"link.receive.adc.bits": 0}, "link.receive.adc: Adc.bits = 0 is not allowed"),
        ({"link.transmit.carrier_offset.std": 0.3}, "link.transmit.carrier_offset: .*spacings"),
        ({"link.transmit.carrier_offset": {"offset": 50.0, "unit": "ppm"}}, "link: Carrier.*5.83"),
        ({"link.receive.carrier_offset.sync": {}}, "link.receive.carrier_offset.sync"),
        ({"link.transmit": []}, "link.transmit = .. is not allowed: give a table"),
        ({"link.transmit.rapp": 3}, "link.transmit.rapp = 3 is not allowed"),
        ({"link.receive.clip_and_filter": {}}, "link.receive.clip_and_filter is not known"),
    ],
)
def test_what_is_wrong_with_faults_is_said(change, message):
    with pytest.raises(ScenarioError, match=message):
        load_scenario({**SIMPLE, "link": {"kind": "waveform"}}, change)


def test_a_sweep_over_hardware_with_names():
    content = {
        **SIMPLE,
        "link": {"kind": "waveform", "receive": {"adc": {"bits": 8}}},
        "sweep": {
            "link.transmit.rapp.backoff_db": [10.0, 3.0],
            "seed": [0],
        },
    }
    scenario = load_scenario(content)
    assert [cell.link.build().transmit for cell in scenario.cells] == [(Rapp(10.0),), (Rapp(3.0),)]
    assert [axis.name for axis in scenario.axes] == ["rapp_backoff_db", "seed"]
    content["sweep"] = {"link.transmit": {"clean": {}, "cheap": {"rapp": {"backoff_db": 1.0}}}}
    scenario = load_scenario(content)
    assert [cell.link.build().transmit for cell in scenario.cells] == [(), (Rapp(1.0),)]
    assert written(scenario).cells == scenario.cells


def test_a_change_of_choice_leaves_no_options_behind():
    content = {
        "algorithm": {"G": 2.0},
        "link": {"kind": "ofdm", "truncation": 0.2, "fading": {"kind": "tdl", "model": "C"}},
        "sweep": {"algorithm.name": ["acpc", "cotaf"]},
    }
    changes = {"algorithm.name": "cotaf", "link.kind": "gaussian"}
    (cell,) = load_scenario(content, changes).cells
    assert (cell.algorithm.build(), cell.link.build()) == (Cotaf(), GaussianLink())
    assert written(load_scenario(content, changes)).cells == (cell,)
    flat = load_scenario(content, {"link.fading.kind": "rician"})
    assert flat.cells[0].link.build().fading == Rician()


def test_the_sweep_may_be_replaced_as_a_whole():
    changes = {"sweep": {"link.snr_db": [1, 2]}, "sweep.seed": [0, 1, 2]}
    scenario = load_scenario({**SIMPLE, "sweep": {"training.rounds": [1, 2]}}, changes)
    assert [axis.key for axis in scenario.axes] == ["link.snr_db", "seed"]


def test_arrays_are_lists():
    cell = one(
        algorithm={"name": "acpc", "tau_max": np.arange(1, 4)},
        link={"kind": "gaussian", "power": np.ones(3), "snr_db": np.float64(3.0)},
    )
    assert cell.link.build() == GaussianLink(power=[1.0, 1.0, 1.0], snr_db=3.0)
    assert cell.algorithm.tau_max == [1, 2, 3]


def test_all_of_training_reaches_train():
    given = {"rounds": 30, "round_period": 0.7, "test_every": 3, "measure_gradient": True}
    options = one(training=given).training.options()
    assert {key: options[key] for key in given} == given
    parameters = set(inspect.signature(train_together).parameters)
    assert options.keys() == parameters - {
        "runs", "data", "shards", "model", "seed", "checkpoint", "progress", "on_round"
    }  # fmt: skip


def test_a_seed_divides_the_data_anew(data_file):
    def shards(seed):
        content = small.content(data_file, algorithm={"name": "cotaf"}, sweep={}, seed=seed)
        return load_scenario(content).cells[0].problem().shards

    assert [s.tolist() for s in shards(1)] == [s.tolist() for s in shards(1)]
    assert [s.tolist() for s in shards(1)] != [s.tolist() for s in shards(2)]


def test_a_short_run_is_tested_at_its_end():
    training = one(training={"rounds": 2, "test_every": 10}).training
    assert training.options()["test_every"] == 2
    assert training.test_every == 10  # as it was given, for longer runs


def test_too_many_cells():
    sweep = {f"link.{key}": list(range(1, 200)) for key in ("power", "path_gain", "snr_db")}
    with pytest.raises(ScenarioError, match="more than 100000 cells"):
        load_scenario({**SIMPLE, "sweep": sweep})


def test_files(tmp_path):
    file = tmp_path / "mine.toml"
    file.write_text(tomli_w.dumps(SIMPLE))
    assert load_scenario(file).cells == load_scenario(SIMPLE).cells
    file.write_text("[link\n")
    with pytest.raises(ScenarioError, match="mine.toml is not TOML: .*line 1"):
        load_scenario(file)
    file.write_bytes(b"\xff\xfe\x00")
    with pytest.raises(ScenarioError, match="mine.toml is not TOML"):
        load_scenario(str(file))
    with pytest.raises(ScenarioError, match=r"nowhere.toml cannot be read: No such file"):
        load_scenario("nowhere.toml")
    with pytest.raises(ScenarioError, match="'tabel1' is not known: did you mean 'table1'"):
        load_scenario("tabel1")


def test_a_dataset_in_files_is_found_from_anywhere(data_file, monkeypatch, tmp_path):
    monkeypatch.chdir(data_file.parent)
    scenario = load_scenario(small.content(data_file.name))
    monkeypatch.chdir(tmp_path)
    assert scenario.cells[0].data.name == str(data_file)
    assert written(scenario).cells == scenario.cells


def test_a_dataset_beside_the_scenario_is_found_from_anywhere(data_file, monkeypatch, tmp_path):
    file = data_file.parent / "mine.toml"
    file.write_text(tomli_w.dumps(small.content(data_file.name)))
    monkeypatch.chdir(tmp_path)
    assert load_scenario(file).cells[0].data.name == str(data_file)


def test_a_folder_called_mnist_is_not_mnist(monkeypatch, tmp_path):
    (tmp_path / "mnist").mkdir()
    monkeypatch.chdir(tmp_path)
    assert one().data.name == "mnist"


def test_defaults_of_the_file_are_those_of_the_links():
    assert one(link={"kind": "ofdm"}).link.csi.build() == PerfectCsi()
    assert one().data.settings() == {
        "partition": "label",
        "name": "mnist",
        "sha256": "",
        "clients": 10,
        "labels_per_client": 2,
    }


def test_shipped_files_begin_with_what_they_show():
    for path in shipped().values():
        lines = path.read_text().splitlines()
        comment = [line for line in lines[: lines.index("")] if line.startswith("#")]
        assert len(comment) >= 3, path
        assert any("expect" in line for line in comment), path
        assert parsed(path)["title"]
