"""Mistakes in tables: every message names the key and what it must be."""

from __future__ import annotations

import pytest

from scenarios import ScenarioError, load_scenario
from tests.scenarios.config.simple import SIMPLE, one


def paper(keys, accuracy):
    return {"source": "a", "keys": keys, "accuracy": accuracy}


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (
            {"link.truncatoin": 1},
            r"link.truncatoin is not a key of ofdm; did you mean 'truncation'\?",
        ),
        ({"lnik": {}}, r"lnik is not a key; did you mean 'link'\?"),
        (
            {"link.kind": "odfm"},
            r"link.kind must be one of 'ideal', .*, got 'odfm'; did you mean 'ofdm'\?",
        ),
        ({"link": {}}, "link.kind must be given: one of 'ideal', "),
        ({"link": 3}, "link must be a table such as .*, got 3"),
        (
            {"link.fading": "tdl"},
            """link.fading must be a table such as { kind = "tdl" }, got 'tdl'""",
        ),
        ({"link.truncation": -1}, "link.truncation must be a finite number >= 0, got -1"),
        (
            {"link.snr_db": "10"},
            "link.snr_db must be a finite .*, got '10'; drop the quotes$",
        ),
        ({"link.snr_db": float("nan")}, "link.snr_db must be a finite number .*, got nan"),
        (
            {"link.snr_db": [0.0, 1.0]},
            r"link.snr_db must be a finite number .*, got \[0.0, 1.0\] \(to sweep it",
        ),
        ({"link.snr_db": True}, "link.snr_db must be a finite number .*, got True"),
        ({"link.power": float("inf")}, "link.power must be a finite number .*, got inf"),
        (
            {"link.fading": {"kind": "tdl", "modle": "A"}},
            r"link.fading.modle is not a key of tdl; did you mean 'model'\?",
        ),
        (
            {"link.fading": {"kind": "tdl", "model": "Z"}},
            "link.fading.model must be one of 'A', .*, got 'Z'",
        ),
        ({"link.fading": {"speed": 1.0}}, "link.fading.kind must be given: one of 'none', "),
        ({"link.fading": {"kind": "tdl", "delay_spread": 1e-3}}, "link: .*WaveformLink"),
        (
            {"link.entry_snr_db": 3.0, "link.snr_db": 3.0},
            "link: only one of snr_db and entry_snr_db may be given",
        ),
        (
            {"link.csi": {"kind": "aged", "of": {"kind": "old"}}},
            "link.csi.of.kind must be one of 'perfect', 'noisy', 'pilot', 'aged', got 'old'",
        ),
        ({"algorithm.name": "sgd"}, "algorithm.name must be one of 'acpc', .*, got 'sgd'"),
        (
            {"data.labels_per_client": 0},
            "data.labels_per_client must be a whole number from 1 .*, got 0",
        ),
        ({"data.partition": "unbalanced"}, "data.shares must be given"),
        ({"model.name": "quadratic"}, "do not go together"),
        ({"training.rate": {"initial": 0.1}}, "training.rate.rounds must be given"),
        ({"training.rate": -0.1}, "training.rate must be a finite number > 0, got -0.1"),
        ({"training.momentum": 1.5}, "training.momentum must be .*1.*, got 1.5"),
        ({"training.steps": 1.5}, "training.steps must be a whole number .*, got 1.5"),
        (
            {"training.round_period": -1.0},
            "training.round_period must be a finite number >= 0, got -1.0",
        ),
        ({"seed": -1}, "seed must be a whole number from 0 .*, got -1"),
        ({"title": 3}, "title must be a string, got 3"),
        ({"sweep.seed": []}, r"sweep.seed must be a list of values .*, got \[\]"),
        ({"sweep.seed": 3}, "sweep.seed must be a list of values .*, got 3"),
        ({"sweep.seed": [1, 1]}, r"sweep.seed must be a list without duplicates, got \[1, 1\]"),
        ({"sweep.link.power": [[1, 2]]}, r"sweep.link.power: .* got \[1, 2\]; name other values"),
        (
            {"sweep.link.snr_db": [float("nan")]},
            "sweep.link.snr_db: a value in a list must be .*, got nan",
        ),
        ({"sweep.link.snr_dB": [1]}, r"link.snr_dB is not a key of ofdm; did you mean 'snr_db'\?"),
        ({"sweep.link.kind.x": [1]}, "link.kind.x cannot be set: link.kind is not a table"),
        ({"paper": {"source": "a"}}, "paper.keys must be given"),
        (
            {"paper": paper(["link.kind"], [["ofdm", "x"]])},
            r"paper.accuracy must be rows .*, got \['ofdm', 'x'\]",
        ),
        (
            {"paper": paper(["link.kind"], [[]])},
            r"rows of a value for each of the 1 keys, and the accuracy .*, got \[\]",
        ),
        (
            {"paper": paper(["link.knid"], [])},
            r"paper.keys must be keys of the scenario, got 'link.knid'; did you mean 'link.kind'\?",
        ),
        (
            {"sweep.link.snr_db": [1], "sweep.link": {"a": {}}},
            "sweep.link and sweep.link.snr_db cannot be combined",
        ),
        (
            {"sweep.link.snr_db": [10, 10.0]},
            r"sweep.link.snr_db must be a list without duplicates, got \[10, 10.0\]",
        ),
        ({"sweep": {"link": {"snr_db": [0, 10]}}}, 'quote dotted keys, as in "link.snr_db"'),
        (
            {"sweep.link.power": {1: 1.0}},
            "sweep.link.power: the name of a value must be a string, got 1",
        ),
        ({"seed": 1, "sweep.seed": [1]}, "only one of seed and sweep.seed may be given"),
        (
            {"data.partition": "unbalanced", "data.shares": [1.0, -1.0]},
            r"data.shares\[1\] must be a finite number > 0, got -1.0",
        ),
        ({"link.foo": 1}, "link.foo is not a key of ofdm; the keys are kind, "),
        ({"link.SNR_db": 1}, r"link.SNR_db is not a key of ofdm; did you mean 'snr_db'\?"),
        ({"link.kind": "OFDM"}, r"got 'OFDM'; did you mean 'ofdm'\?"),
        ({"snr_db": 1}, r"snr_db is not a key; did you mean 'link.snr_db'\?"),
        ({"link.csi": {"kind": "pilot", "snr_db": "x"}}, r"link.csi.snr_db must be .*, got 'x'"),
        ({"training.batch_size": 0}, 'training.batch_size must be .*, or "none".*, got 0'),
        (
            {"training.measure_gradient": 1},
            "training.measure_gradient must be true or false, got 1",
        ),
        ({"link.bits": 1}, "link.bits is a key of orthogonal, not of ofdm"),
        ({"sweeps": {"seed": [1]}}, r"sweeps is not a key; did you mean 'sweep'\?"),
        ({"sweep.algorithm": ["acpc"]}, r"""got \['acpc'\]; did you mean "algorithm.name"\?"""),
        ({"training.rounds": [1, 2]}, r"training.rounds .*, got \[1, 2\] \(to sweep it, list its"),
        (
            {"link.fading": {"kind": "tdl", "delay_spread": 100}},
            r"link.fading.delay_spread must be in seconds, .*, got 100; did you mean 100e-9\?",
        ),
        (
            {"sweep.variant": {"a": {"lnik.power": 1.0}}},
            r"sweep.variant: lnik.power is not a key; did you mean 'link'\?",
        ),
        ({"sweep.variant": {"a": 3}}, "sweep.variant must be a table of named tables of keys"),
        ({"sweep.variant": ["a"]}, "sweep.variant must be a table of named tables of keys"),
        (
            {"sweep.variant": {"a": {"link.power": 1.0}}, "sweep.link.power": [1.0]},
            "sweep.link.power cannot be set: the variants of the sweep set it",
        ),
        (
            {"sweep.variant": {"a": {"link.fading.kind": "tdl"}}, "sweep.link": {"b": {}}},
            "sweep.link and sweep.variant cannot be combined: both set link.fading.kind",
        ),
    ],
)
def test_what_is_wrong_is_said(change, message):
    base = {**SIMPLE, "link": {"kind": "ofdm"}}
    with pytest.raises(ScenarioError, match=message):
        load_scenario(base, change)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (
            {"link.transmit.rap.backoff_db": 1.0},
            r"link.transmit.rap is not a key; did you mean 'rapp'\?",
        ),
        (
            {"link.transmit.rapp.backoff": 1.0},
            r"link.transmit.rapp.backoff is not a key; did you mean 'backoff_db'\?",
        ),
        (
            {"link.transmit.phase_noise.linewidth": -1.0},
            "link.transmit.phase_noise.linewidth must be .*>= 0.*, got -1.0",
        ),
        (
            {"link.receive.adc.bits": 0},
            "link.receive.adc.bits must be a whole number from 1 to 24, got 0",
        ),
        ({"link.transmit.carrier_offset.std": 0.3}, "link.transmit.carrier_offset: .*spacings"),
        ({"link.transmit.carrier_offset": {"offset": 50.0, "unit": "ppm"}}, "link: Carrier.*5.83"),
        (
            {"link.receive.carrier_offset.sync": {}},
            "link.receive.carrier_offset.sync must be left out here, got {}",
        ),
        ({"link.transmit": []}, r"link.transmit must be a table, got \[\]"),
        ({"link.transmit.rapp": 3}, "link.transmit.rapp must be a table, got 3"),
        (
            {"link.receive.clip_and_filter": {}},
            "link.receive.clip_and_filter is not a key; the keys are timing_offset, ",
        ),
    ],
)
def test_what_is_wrong_with_faults_is_said(change, message):
    with pytest.raises(ScenarioError, match=message):
        load_scenario({**SIMPLE, "link": {"kind": "waveform"}}, change)


def test_an_option_that_no_choice_of_the_sweep_has_is_refused():
    with pytest.raises(ScenarioError, match=r"algorithm.G is a key of acpc, not of cotaf"):
        load_scenario(
            {**SIMPLE, "algorithm": {"G": 2.0}, "sweep": {"algorithm.name": ["cotaf", "fedavg"]}}
        )
    with pytest.raises(
        ScenarioError, match=r"link.truncation is a key of .*fading.*, not of gaussian"
    ):
        one(link={"kind": "gaussian", "truncation": 0.1})
