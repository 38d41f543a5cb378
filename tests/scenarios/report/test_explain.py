"""One round of a scenario in numbers that a person can compute."""

from __future__ import annotations

import pytest

from scenarios import ScenarioError, load_scenario
from scenarios.report.explain import explained, print_explanation
from tests.scenarios import small, user_files
from tests.scenarios.config.simple import SIMPLE, one


def numbers(**tables):
    """Return the values of one round of a scenario of quadratics, by name."""
    return {name: value for name, value, _ in explained(one(**tables))}


def quadratic(clients, size, **link):
    return {
        "data": {"partition": "quadratic", "clients": clients, "size": size},
        "model": {"name": "quadratic"},
        "link": link,
        "training": {"rounds": 40},
    }


def test_a_gaussian_link():
    """Four entries; sigma_c^2 = 1/10, N0 = 2 sigma_c^2, and 10 dB - 10 log10(4) per entry."""
    found = numbers(**quadratic(3, 4, kind="gaussian", snr_db=10.0, power=2.0, bandwidth=1e3))
    assert found["clients m"] == "3"
    assert found["entries d"] == "4"
    assert found["block SNR"] == "10.00 dB"
    assert found["entry SNR"] == "3.98 dB"
    assert found["noise sigma_c^2"] == "0.1"
    assert found["noise N0"] == "0.2"
    assert found["power P"] == "2"
    assert "power per symbol" not in found
    assert found["airtime"] == "2 ms"  # two channel uses at 1 kHz
    assert found["airtime of a run"] == "80 ms"
    assert "PAPR" not in found


def test_the_entry_snr_determines_the_noise_as_well():
    """P / (d sigma_c^2) = 1 with P = 1 and d = 8."""
    found = numbers(**quadratic(2, 8, kind="gaussian", entry_snr_db=0.0))
    assert found["noise sigma_c^2"] == "0.125"
    assert found["entry SNR"] == "0.00 dB"
    assert found["block SNR"] == "9.03 dB"  # 10 log10(8)


def test_the_strongest_client_spends_its_whole_budget():
    found = numbers(**quadratic(3, 50, kind="gaussian"))
    low, _, high = found["energy"].partition(" to ")
    assert high == "1"
    assert 0 < float(low) < 1


def test_budgets_of_several_clients_are_a_span():
    found = numbers(**quadratic(3, 4, kind="gaussian", power=[1.0, 2.0, 4.0]))
    assert found["power P"] == "1 to 4"


GRID = {"fft_size": 8, "cp_length": 2, "guards": [1, 1], "subcarrier_spacing": 15e3}
"""8 - 1 - 1 - 1 = 5 carriers; a symbol of 10 samples at 8 * 15 kHz = 120 kHz."""


@pytest.fixture(scope="module")
def ofdm():
    """96 entries, ten per symbol: ten symbols, the last of them with six."""
    table = {"kind": "ofdm", "grid": GRID, "fading": {"kind": "none"}, "snr_db": 20.0}
    return numbers(**quadratic(2, 96, **table))


def test_an_ofdm_link_has_ten_symbols(ofdm):
    assert ofdm["OFDM symbols L"] == "10"
    assert ofdm["airtime"] == "0.8333 ms"  # 10 * 10 / 120 kHz
    assert ofdm["pilots"] == "0 ms"
    assert ofdm["airtime of a run"] == "33.33 ms"
    assert ofdm["power P"] == "1"
    assert ofdm["power per symbol"] == "0.1"


def test_an_ofdm_link_has_the_noise_of_its_snr(ofdm):
    assert ofdm["noise sigma_c^2"] == "0.01"
    assert ofdm["noise N0"] == "0.02"
    assert ofdm["entry SNR"] == "0.18 dB"  # 20 dB - 10 log10(96)
    assert ofdm["active fraction"] == "1"


def test_the_papr_that_one_symbol_in_a_thousand_exceeds(ofdm):
    """z = -ln(1 - 0.999^(1/5)) = 8.5168, which is 9.30 dB."""
    assert ofdm["PAPR"] == "9.30 dB"


def test_the_prefix_is_radiated_on_top(ofdm):
    """10 samples for every 8: a quarter more, without pilots and impairments."""
    spent = [float(each) for each in ofdm["energy"].split(" to ")]
    radiated = [float(each) for each in ofdm["radiated energy"].split(" to ")]
    assert radiated == pytest.approx([1.25 * each for each in spent], rel=1e-3)


def test_pilots_take_their_part_of_the_airtime():
    """One pilot symbol, of 10 samples at 120 kHz, ahead of the single slot of ten symbols."""
    table = {"kind": "ofdm", "grid": GRID, "fading": {"kind": "none"}, "csi": {"kind": "pilot"}}
    found = numbers(**quadratic(2, 96, **table))
    assert found["pilots"] == "0.08333 ms"
    assert found["airtime"] == "0.9167 ms"


def test_clip_and_filter_has_a_target():
    table = {"kind": "waveform", "grid": GRID, "fading": {"kind": "none"}}
    table["transmit"] = {"clip_and_filter": {"backoff_db": 5.0}}
    assert numbers(**quadratic(2, 96, **table))["PAPR target"] == "5.00 dB"


def test_an_ideal_link_has_no_noise_to_speak_of():
    found = numbers(**quadratic(3, 4, kind="ideal"))
    assert "noise sigma_c^2" not in found
    assert found["gain beta"] == "1"
    assert found["airtime"] == "0 ms"


def test_a_downlink():
    """Four entries at 10 dB per entry with P = 2: an NMSE of 1/20 on average, two channel uses."""
    table = {"kind": "gaussian", "entry_snr_db": 10.0, "power": 2.0, "bandwidth": 1e3}
    found = numbers(**quadratic(400, 4, kind="ideal"), downlink=table)
    assert found["downlink entry SNR"] == "10.00 dB"
    assert found["downlink block SNR"] == "16.02 dB"  # 10 log10(4) more
    assert found["downlink airtime"] == "2 ms"
    nmse = float(found["downlink NMSE"].removesuffix(" dB"))
    assert abs(nmse - -13.01) < 0.9  # 1600 squares: five sigma are 5 sqrt(2 / 1600), 0.77 dB
    assert not any("downlink" in name for name in numbers(**quadratic(2, 4, kind="ideal")))


def test_a_link_of_the_user_s_is_explained_as_far_as_it_goes(tmp_path):
    user_files.write_all(tmp_path)
    found = numbers(**quadratic(3, 4, kind=f"{tmp_path}/parts.py:Sum"))
    assert (found["clients m"], found["entries d"]) == ("3", "4")
    assert "noise N0" not in found


def test_every_value_has_a_definition():
    lines = list(explained(one(**quadratic(2, 96, kind="ofdm", fading={"kind": "rayleigh"}))))
    assert all(name and value and meaning for name, value, meaning in lines)
    names = [name for name, _, _ in lines]
    assert len(set(names)) == len(names)


def test_the_command_prints_the_first_cell_and_what_is_swept(tmp_path):
    (tmp_path / "mine.toml").write_text(
        'title = "mine [red]"\n'
        'data = { partition = "quadratic", clients = 3, size = 4 }\n'
        'model = { name = "quadratic" }\nalgorithm = { name = "cotaf" }\n'
        '[link]\nkind = "gaussian"\n'
        '[sweep]\n"link.snr_db" = [20.0, 0.0]\n'
        '[sweep.variant.weak]\n"link.power" = 1.0\n[sweep.variant.strong]\n"link.power" = 4.0\n'
    )
    done = small.otafl("explain", "mine.toml", cwd=tmp_path)
    assert (done.returncode, done.stderr) == (0, "")
    rows = [
        [cell.strip() for cell in line.strip("│").split("│")]
        for line in done.stdout.splitlines()
        if line.startswith("│")
    ]
    shown = {row[0]: row[1] for row in rows}
    assert done.stdout.startswith("mine [red]")
    assert shown["noise sigma_c^2"] == "0.01"
    assert shown["power P"] == "1"
    assert shown["link.snr_db"] == "20.0, 0.0"
    assert shown["variant"] == "weak, strong (setting link.power)"
    assert "4 cells" in done.stdout
    assert [path.name for path in tmp_path.iterdir()] == ["mine.toml"]


def test_a_scenario_that_does_not_fit_together_is_refused_as_by_run():
    scenario = load_scenario({**SIMPLE, **quadratic(3, 4, kind="gaussian", power=[1.0, 2.0])})
    message = "link.power must be a scalar or one value for each of the 3 clients .*, got 2 values"
    with pytest.raises(ScenarioError, match=message):
        print_explanation(scenario)
