"""The script that writes impulse responses: what it writes can be replayed."""

from __future__ import annotations

import sys

import numpy as np
import pytest

from links import OfdmLink, WaveformLink
from phy import CirFading, OfdmGrid, SionnaUmi
from scenarios.examples.make_cir import main

# a prefix of 0.8 ms: the delay spread of a cell is lognormal, and its tail is long
GRID = OfdmGrid(fft_size=128, cp_length=128, guards=(10, 10), subcarrier_spacing=1.25e3)
SMALL = ["--clients", "3", "--snapshots", "20", "--interval", "2e-3", "--seed", "5"]


def test_a_clustered_delay_line(tmp_path, rng, capsys):
    file = str(tmp_path / "cdl.npz")
    main([file, "--profile", "B", "--delay-spread", "5e-8", *SMALL])
    assert capsys.readouterr().out == f"saved {file}: 3 clients, 20 snapshots, 23 paths\n"
    fading = CirFading(file)
    assert fading.delays.max() == pytest.approx(4.7834 * 5e-8, rel=1e-5)  # the last of CDL-B
    uplink = OfdmLink(fading=fading, snr_db=np.inf, truncation=0.0).open(3, 500, rng, time=39e-3)
    signals = rng.standard_normal((3, 500))
    total = uplink.send(signals, uplink.max_gain(signals)).total
    np.testing.assert_allclose(total, signals.sum(axis=0), atol=1e-4)
    with pytest.raises(ValueError, match=r"20 snapshots of 0\.002 s, 0\.04 s in all"):
        fading.draw(np.arange(3), np.array([0.05]), rng, None)


def test_a_cell(tmp_path, rng):
    file = tmp_path / "umi.npz"
    main([str(file), "--model", "umi", *SMALL])
    fading = CirFading(file)
    expected = SionnaUmi().path_gains(3, np.random.default_rng([5, 1]))
    # the mean over 20 snapshots of a moving client is not that over all channels
    np.testing.assert_allclose(np.log10(fading.path_gain), np.log10(expected), atol=1.5)
    gains = np.array(fading.path_gain)
    for link in (OfdmLink, WaveformLink):
        uplink = link(fading=fading, grid=GRID, path_gain=gains / gains.mean()).open(3, 500, rng)
        assert np.isfinite(uplink.medium.channel.response).all()
    taps = fading.draw(np.arange(3), np.array([0.0, 38e-3]), rng, None)
    assert np.abs(np.diff(taps.gains, axis=1)).max() > 1e-2  # it moves
    assert 0 < taps.delays.max() < 1e-3  # empty paths have no delay


def test_the_seed_decides(tmp_path):
    files = [tmp_path / name for name in ("one.npz", "same.npz", "other.npz")]
    for file, seed in zip(files, ("1", "1", "2"), strict=True):
        main([str(file), "--clients", "2", "--snapshots", "3", "--seed", seed])
    one, same, other = (np.load(file)["a"] for file in files)
    np.testing.assert_array_equal(one, same)
    assert np.abs(one - other).max() > 1e-3


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["cir.mat"], "out must end in .npz, got 'cir.mat'"),
        (["cir.npz", "--clients", "0"], "--clients must be > 0, got 0"),
        (["cir.npz", "--profile", "F"], "model must be one of 'A', 'B', 'C', 'D', 'E', got 'F'"),
        (["cir.npz", "--snapshots", "30000"], "must cover at most 20000 time steps"),
        (["cir.npz", "--model", "rt"], "--model rt needs Sionna RT: pip install sionna-rt"),
    ],
)
def test_bad_arguments_end_in_one_line(arguments, message, tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setitem(sys.modules, "sionna.rt", None)
    with pytest.raises(SystemExit) as ended:
        main(arguments)
    assert ended.value.code == 2
    assert message in capsys.readouterr().err.splitlines()[-1]
    assert not list(tmp_path.iterdir())
