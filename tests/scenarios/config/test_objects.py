"""Objects where a scenario file has tables."""

from __future__ import annotations

import importlib
import sys
import types
from dataclasses import dataclass, field

import numpy as np
import pytest

import phy
from fl import (
    Acpc,
    Adsgd,
    Algorithm,
    ClippedFedAvg,
    Cotaf,
    FedAdam,
    FedAvg,
    FedAvgM,
    FedNova,
    FedProx,
    FedYogi,
    LogisticRegression,
    Mlp,
    Scaffold,
    SignVote,
)
from links import (
    FadingLink,
    GaussianDownlink,
    GaussianLink,
    IdealLink,
    OfdmDownlink,
    OfdmLink,
    OrthogonalLink,
    QuantisedDownlink,
    WaveformLink,
)
from phy import impairments
from scenarios import ScenarioError, load_scenario
from scenarios.config.algorithm import ALGORITHMS
from scenarios.config.downlink import DOWNLINKS
from scenarios.config.link import CSIS, FADINGS, LINKS, RECEIVE, TRANSMIT
from scenarios.config.objects import described, reference_to
from tests.scenarios.config.simple import SIMPLE, one

LINK_OBJECTS = [
    IdealLink(),
    GaussianLink(),
    GaussianLink(snr_db=10.0),
    GaussianLink(entry_snr_db=3.0, power=[1.0, 2.0], path_gain=0.5, reference_power=2.0),
    GaussianLink(snr_db=float("inf")),
    FadingLink(truncation=0.1, correction="expected", fading=phy.Rician(2.0)),
    OfdmLink(),
    OfdmLink(
        grid=phy.OfdmGrid(fft_size=256, guards=(10, 9), pilots=4),
        csi=phy.AgedCsi(2e-3, of=phy.PilotCsi(num_taps=8)),
        interleaver_seed=None,
        budget="round",
    ),
    WaveformLink(window_advance=3, csi_through_faults=True, power=np.array([1.0, 2.0])),
    OrthogonalLink(bits=4, gap_db=1.0),
]
FADING_OBJECTS = [
    phy.NoFading(),
    phy.Rayleigh(speed=2.0),
    phy.Rician(3.0),
    phy.Tdl("C", speed=3.0, delay_spread=50e-9),
    phy.SionnaTdl(model="B"),
    phy.SionnaCdl(model="D", max_speed=3.0),
    phy.SionnaUmi(los=True),
    phy.SionnaUma(indoor_probability=0.0),
    phy.SionnaRma(min_distance=100.0),
]
CSI_OBJECTS = [
    phy.PerfectCsi(),
    phy.NoisyCsi(0.2),
    phy.PilotCsi(10.0, num_pilots=2),
    phy.AgedCsi(1e-3, of=phy.AgedCsi(2e-3, of=phy.NoisyCsi(0.1))),
]
ALGORITHM_OBJECTS = [
    Acpc(G=2.0, tau_max=5),
    Acpc(tau_max=[1, 2, 3]),
    Cotaf(0.5),
    FedAvg(),
    FedNova(tau_eff=3.0),
    SignVote(0.002, error_feedback=True),
    FedProx(Cotaf(precoding="expected", margin=3.0), mu=0.1),
    FedAvgM(FedProx(Acpc(G=2.0)), beta1=0.5),
    FedAdam(FedNova(), epsilon=0.1),
    FedYogi(Scaffold(), remove_noise=True),
    Scaffold(server_step=0.5),
    Adsgd(entries=0.25, k=10, projection="gaussian"),
    ClippedFedAvg(clip=0.5),
]
DOWNLINK_OBJECTS = [
    GaussianDownlink(),
    GaussianDownlink(snr_db=[10.0, 20.0], power=4.0),
    OfdmDownlink(grid=phy.OfdmGrid(pilots=4), csi=phy.PilotCsi(), equaliser="zero-forcing"),
    QuantisedDownlink(bits=4, fading=phy.Rician(2.0)),
]
TRANSMIT_OBJECTS = [
    impairments.ClipAndFilter(6.0),
    impairments.Adc(8),
    impairments.ClockOffset(1.0),
    impairments.IqImbalance(1.0, gain_std_db=0.5),
    impairments.CarrierOffset([0.1, 0.2], sync=impairments.CarrierSync(30.0)),
    impairments.PhaseNoise(100.0),
    impairments.SoftLimiter(5.0),
    impairments.Rapp(6.0, smoothness=3.0),
    impairments.TimingOffset(std=1.0, advance=impairments.TimingAdvance(0.5)),
]
RECEIVE_OBJECTS = [
    impairments.TimingOffset(1.0),
    impairments.SoftLimiter(),
    impairments.Rapp(),
    impairments.PhaseNoise(),
    impairments.CarrierOffset(0.1),
    impairments.IqImbalance(),
    impairments.ClockOffset(),
    impairments.Adc(6, backoff_db=9.0),
]


def name(thing):
    return type(thing).__name__


@pytest.mark.parametrize("link", LINK_OBJECTS, ids=name)
def test_a_link_is_built_again_as_it_was(link):
    assert one(link=link).link.build() == link


@pytest.mark.parametrize("fading", FADING_OBJECTS, ids=name)
def test_a_fading_is_built_again_as_it_was(fading):
    assert one(link=OfdmLink(fading=fading)).link.build().fading == fading
    assert one(link={"kind": "ofdm", "fading": fading}).link.build().fading == fading


def test_a_recording_is_found_again_by_its_content(tmp_path):
    a = np.ones((2, 5, 1)) + 1j
    np.savez(tmp_path / "cir.npz", a=a, tau=np.zeros((2, 1)), interval=0.1)
    fading = phy.CirFading(tmp_path / "cir.npz")
    config = one(link=OfdmLink(fading=fading)).link.fading
    assert config.build() == fading
    assert config.sha256 == fading.sha256 != ""


@pytest.mark.parametrize("csi", CSI_OBJECTS, ids=name)
def test_csi_is_built_again_as_it_was(csi):
    assert one(link=FadingLink(csi=csi)).link.build().csi == csi


@pytest.mark.parametrize("algorithm", ALGORITHM_OBJECTS, ids=name)
def test_an_algorithm_is_built_again_as_it_was(algorithm):
    assert one(algorithm=algorithm).algorithm.build() == algorithm


@pytest.mark.parametrize("downlink", DOWNLINK_OBJECTS, ids=name)
def test_a_downlink_is_built_again_as_it_was(downlink):
    assert one(downlink=downlink).downlink.build() == downlink


@pytest.mark.parametrize("impairment", TRANSMIT_OBJECTS, ids=name)
def test_an_impairment_of_clients_is_built_again_as_it_was(impairment):
    assert one(link=WaveformLink(transmit=(impairment,))).link.build().transmit == (impairment,)


@pytest.mark.parametrize("impairment", RECEIVE_OBJECTS, ids=name)
def test_an_impairment_of_the_server_is_built_again_as_it_was(impairment):
    assert one(link=WaveformLink(receive=(impairment,))).link.build().receive == (impairment,)


def test_all_impairments_together_in_the_order_of_a_radio():
    link = WaveformLink(transmit=tuple(TRANSMIT_OBJECTS), receive=tuple(RECEIVE_OBJECTS))
    assert one(link=link).link.build() == link


def test_the_lists_above_have_every_part_of_ours():
    lists = [
        (LINK_OBJECTS, LINKS.own.values()),
        ([*FADING_OBJECTS, phy.CirFading], FADINGS.own.values()),
        (CSI_OBJECTS, CSIS.own.values()),
        (ALGORITHM_OBJECTS, ALGORITHMS.own.values()),
        (DOWNLINK_OBJECTS, [each for each in DOWNLINKS.own.values() if hasattr(each, "target")]),
        (TRANSMIT_OBJECTS, TRANSMIT.named.values()),
        (RECEIVE_OBJECTS, RECEIVE.named.values()),
    ]
    for objects, configs in lists:
        kinds = {each if isinstance(each, type) else type(each) for each in objects}
        assert kinds == {config.target for config in configs}


@pytest.mark.parametrize(
    ("model", "table"),
    [
        (LogisticRegression(6, 4), {"name": "logistic"}),
        (Mlp(6, 4, (5, 6)), {"name": "mlp", "hidden": [5, 6]}),
    ],
)
def test_a_model_is_described_without_what_the_data_determine(model, table):
    assert described(model) == table
    assert one(model=model).model.settings() == table


def test_an_object_and_its_table_are_the_same_run():
    link = {"kind": "gaussian", "snr_db": 3.0, "power": [1.0, 2.0]}
    table = one(link=link)
    thing = one(link=GaussianLink(snr_db=3.0, power=(1.0, 2.0)))
    assert thing.settings() == table.settings()
    assert thing.digest() == table.digest()


def test_objects_may_stand_in_changes_sweeps_and_variants():
    changed = load_scenario(SIMPLE, {"link": OfdmLink(), "link.fading": phy.Rician(2.0)})
    assert changed.cells[0].link.build() == OfdmLink(fading=phy.Rician(2.0))
    links = {"a": IdealLink(), "b": GaussianLink(snr_db=3.0)}
    swept = load_scenario({**SIMPLE, "sweep": {"link": links}})
    assert [cell.link.build() for cell in swept.cells] == list(links.values())
    variants = {"x": {"algorithm": Cotaf(2.0)}, "y": {"algorithm": FedAvg()}}
    varied = load_scenario({**SIMPLE, "sweep": {"variant": variants}})
    assert [cell.algorithm.build() for cell in varied.cells] == [Cotaf(2.0), FedAvg()]


def test_plain_values_stay_as_they_are_and_none_is_written():
    assert described([1, 2.5, True, "a", None, (3, 4)]) == [1, 2.5, True, "a", "none", [3, 4]]


@dataclass(frozen=True)
class Half(Algorithm):
    """One of the user's, in a module of a package."""

    step: float = 0.5
    names: tuple[str, ...] = ("a", "b")
    limit: float | None = None
    count: int = field(init=False, default=3)

    def aggregate(self, current, plan, updates, steps):
        raise NotImplementedError


def test_a_user_s_class_is_described_by_where_it_is():
    assert reference_to(Half) == f"{__name__}:Half"
    assert described(Half(0.25)) == {
        "name": f"{__name__}:Half",
        "step": 0.25,
        "names": ["a", "b"],
        "limit": "none",
    }
    assert one(algorithm=Half(0.25)).algorithm.build() == Half(0.25)


def test_a_class_in_a_file_is_described_by_its_path(tmp_path, monkeypatch):
    path = tmp_path / "otafl_test_file.py"
    path.write_text("class Sum:\n    def open(self, num_clients, length, rng): pass\n")
    monkeypatch.syspath_prepend(tmp_path)
    module = importlib.import_module(path.stem)
    assert reference_to(module.Sum) == f"{path}:Sum"
    del sys.modules[path.stem]


def function(x):
    return x


@pytest.mark.parametrize(
    "thing", [OfdmLink, function, {1, 2}, 1j, b"bytes", object()], ids=lambda each: repr(each)[:12]
)
def test_what_is_neither_a_value_nor_an_object_of_a_dataclass_is_refused(thing):
    must = "must be a plain value, a table, or an object of a dataclass such as OfdmLink\\(\\), got"
    with pytest.raises(ScenarioError, match=must):
        one(link={"kind": "gaussian", "power": thing})


def test_a_class_inside_a_function_cannot_be_described():
    @dataclass(frozen=True)
    class Inner(Half):
        pass

    with pytest.raises(ScenarioError, match=r"Inner must be defined at the top of a .py file"):
        one(algorithm=Inner())


def test_a_class_without_a_file_cannot_be_described(monkeypatch):
    """As in a notebook or at a prompt."""
    module = types.ModuleType("otafl_test_prompt")
    monkeypatch.setitem(sys.modules, module.__name__, module)
    prompt = dataclass(frozen=True)(type("Prompt", (Half,), {"__module__": module.__name__}))
    with pytest.raises(ScenarioError, match=r"Prompt must be defined at the top of a .py file"):
        one(algorithm=prompt())


def test_an_impairment_may_be_given_once():
    twice = WaveformLink(transmit=(impairments.Rapp(6.0), impairments.Rapp(8.0)))
    with pytest.raises(ScenarioError, match="must be objects of different classes"):
        one(link=twice)
