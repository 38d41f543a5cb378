"""Links without learning, beside their closed forms."""

from __future__ import annotations

import numpy as np
import pytest

from scenarios import ScenarioError, load_scenario
from scenarios.report.linkcheck import ENTRY_SNRS_DB, LinkCheck, check_links, model_updates
from tests.scenarios import small


def checked(data_file, realisations=200, seed=0, sweep=None, **link):
    content = small.content(data_file, algorithm={"name": "cotaf"}, sweep=sweep or {})
    content["link"] = link
    return check_links(load_scenario(content), realisations, seed=seed)


@pytest.mark.parametrize(
    "link",
    [
        {"kind": "gaussian", "power": [3.0, 1.0, 2.0, 5.0], "path_gain": [1.0, 0.1, 2.0, 0.5]},
        {"kind": "ofdm", "truncation": 0.1, "correction": "expected"},
        {"kind": "fading", "truncation": 0.2, "csi": {"kind": "noisy", "variance": 0.1}},
        {"kind": "orthogonal", "bits": 3},
    ],
)
def test_measured_is_expected(data_file, rng, link):
    found = checked(data_file, seed=int(rng.integers(2**32)), **link)
    apart = np.abs(found.mean - found.expected) / found.error
    # 11 SNRs, each a mean of 200 draws that are not normal, at given numbers of data
    assert apart.max() < 6
    assert found.entry_snr_db.tolist() == list(ENTRY_SNRS_DB)


def test_gaussian_by_hand(data_file):
    found = checked(data_file, kind="gaussian", power=3.0)
    signals = model_updates(4, 52, np.random.default_rng(0))
    energy = np.square(signals, dtype=np.float64).sum(axis=1).max()
    gain = np.sqrt(3.0 / energy)
    variance = 10 ** (-np.array(ENTRY_SNRS_DB) / 10) / 52
    power = np.square(signals.sum(axis=0, dtype=np.float64)).sum()
    np.testing.assert_allclose(found.expected[0], 52 * variance / gain**2 / power, rtol=1e-6)
    # without fading both gains are the same
    np.testing.assert_allclose(found.median[0], found.mean[0], rtol=0.2)


def test_standard_error_by_hand(data_file, rng):
    """The NMSE is a chi-square of 52 degrees: its spread is sqrt(2 / 52) of its mean."""
    found = checked(data_file, realisations=400, seed=int(rng.integers(2**32)), kind="gaussian")
    expected = found.expected * np.sqrt(2 / 52) / np.sqrt(400)
    # a sample's spread strays by about 1 / sqrt(2 n), here of n = 400 for each of 11 SNRs
    assert np.mean(found.error / expected) == pytest.approx(1, abs=5 * 1.1 / np.sqrt(2 * 400 * 11))


def test_a_weak_path_takes_more_power(data_file):
    """At the given gain, nobody on a channel of its mean strength exceeds its power."""
    strong, weak = (
        checked(data_file, realisations=2, kind="gaussian", path_gain=gain).expected
        for gain in (1.0, 0.1)
    )
    np.testing.assert_allclose(weak, 10 * strong)


def test_the_exact_sum_has_no_error(data_file):
    found = checked(data_file, realisations=2, kind="ideal")
    assert not found.mean.any()
    assert not found.expected.any()


def test_without_closed_form(data_file):
    found = checked(data_file, realisations=2, kind="fading", control="mmse")
    assert np.isnan(found.expected).all()
    assert (found.mean > 0).all()


def test_links_that_differ_in_more_than_snr(data_file):
    sweep = {"link.snr_db": [0.0, 5.0], "link.truncation": [0.1, 0.2], "seed": [0, 1]}
    found = checked(data_file, realisations=2, kind="fading", sweep=sweep)
    assert found.links == ["truncation 0.1", "truncation 0.2"]
    sweep = {"link.csi.snr_db": [0.0, 10.0]}
    found = checked(data_file, realisations=2, kind="fading", csi={"kind": "pilot"}, sweep=sweep)
    assert found.links == ["csi_snr_db 0.0", "csi_snr_db 10.0"]


def test_it_is_kept(data_file, tmp_path):
    found = checked(data_file, realisations=3, kind="gaussian")
    found.save(tmp_path / "new" / "folder")
    again = LinkCheck.load(tmp_path / "new" / "folder")
    assert again.links == found.links
    for name in ("entry_snr_db", "mean", "error", "expected", "median"):
        np.testing.assert_array_equal(getattr(again, name), getattr(found, name))


def test_one_realisation_has_no_spread(data_file):
    with pytest.raises(ScenarioError, match="realisations must be a whole number >= 2, got 1"):
        checked(data_file, realisations=1, kind="gaussian")
