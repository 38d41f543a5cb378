"""Recorded channels: which snapshot is replayed when, and what a link makes of it."""

from __future__ import annotations

import pickle
import subprocess
import sys
from dataclasses import replace

import numpy as np
import pytest
from scipy.stats import chi2

from fl import Cotaf, train
from fl.quadratic import default_quadratic
from links import FadingLink, OfdmLink, OrthogonalLink, WaveformLink
from phy import AgedCsi, CirFading, Fading, OfdmGrid, PilotCsi
from tests.tolerance import check_mean, check_proportion

NOW = np.zeros(1)
GRID = OfdmGrid()


def recorded(path, rng, *, each_snapshot=False, **options):
    """Write four random paths of three clients, and return them with the fading."""
    shape = (3, 8, 4)
    a = rng.standard_normal(shape) + 1j * rng.standard_normal(shape)
    tau = rng.uniform(0, 1e-6, shape if each_snapshot else (3, 4))
    np.savez(path / "cir.npz", a=a, tau=tau, interval=1e-3)
    power = np.square(np.abs(a)).sum(axis=2).mean(axis=1)
    a /= np.sqrt(power)[:, None, None]
    tau = np.broadcast_to(tau if each_snapshot else tau[:, None], shape)
    return a, tau, CirFading(path / "cir.npz", **options)


def response(a, tau, grid=GRID):
    """Sum of a exp(-j 2 pi f tau) over the paths, in float64: [..., paths] to [..., carriers]."""
    waves = np.exp(-2j * np.pi * tau[..., None] * grid.frequencies)
    return (a[..., None] * waves).sum(axis=-2)


def check_response(actual, expected):
    np.testing.assert_allclose(actual, expected, atol=3e-6)


@pytest.mark.parametrize("each_snapshot", [False, True])
def test_the_response_is_the_sum_of_the_paths(each_snapshot, tmp_path, rng):
    a, tau, fading = recorded(tmp_path, rng, each_snapshot=each_snapshot)
    link = OfdmLink(fading=fading)
    channel = link.open(2, 100, rng, clients=[2, 0], time=3.2e-3).medium.channel
    check_response(channel.response[:, 0], response(a, tau)[[2, 0], 3])


@pytest.mark.parametrize("each_snapshot", [False, True])
def test_a_block_of_several_slots_sees_several_snapshots(each_snapshot, tmp_path, rng):
    """A slot takes half a millisecond, and its middle counts: snapshots 3, 3, 4, 4, 5."""
    a, tau, fading = recorded(tmp_path, rng, each_snapshot=each_snapshot)
    length = 5 * 2 * GRID.num_carriers * GRID.symbols_per_slot
    uplink = OfdmLink(fading=fading, csi=AgedCsi(1e-3)).open(3, length, rng, time=3e-3)
    channel = uplink.medium.channel
    expected = response(a, tau)
    check_response(channel.response, expected[:, [3, 3, 4, 4, 5]])
    check_response(channel.estimate, expected[:, [2, 2, 3, 3, 4]])
    assert channel.taps.gains.shape[2] == (4 * 4 if each_snapshot else 4)


def test_aged_csi_before_the_start_holds_the_first_snapshot(tmp_path, rng):
    a, tau, fading = recorded(tmp_path, rng)
    channel = OfdmLink(fading=fading, csi=AgedCsi(0.5)).open(3, 100, rng).medium.channel
    check_response(channel.estimate[:, 0], response(a, tau)[:, 0])
    later = OfdmLink(fading=fading, csi=AgedCsi(2e-3)).open(3, 100, rng, time=5e-3).medium.channel
    check_response(later.estimate[:, 0], response(a, tau)[:, 3])


def test_the_flat_link_takes_the_response_at_the_centre_frequency(tmp_path, rng):
    a, _, fading = recorded(tmp_path, rng)
    channel = FadingLink(fading=fading).open(3, 100, rng, time=6e-3).medium.channel
    check_response(channel.response[:, 0, 0], a[:, 6].sum(axis=1))


@pytest.mark.parametrize("engine", ["fast", "sionna"])
@pytest.mark.parametrize("snapshots", ["time", "drawn"])
def test_the_waveform_agrees_with_the_response(snapshots, engine, tmp_path, rng):
    a, tau, fading = recorded(tmp_path, rng, each_snapshot=True, snapshots=snapshots, interval=1.0)
    link = WaveformLink(fading=fading, truncation=0.0, snr_db=np.inf, engine=engine)
    uplink = link.open(3, 1500, rng, time=2.5)
    if snapshots == "time":
        expected = response(a, tau)[:, 2]
        found = uplink.medium.channel.response[:, 0]
        assert np.abs(found - expected).max() < 0.01 * np.abs(expected).max()
    signals = rng.standard_normal((3, 1500)).astype(np.float32)
    assert uplink.send(signals, uplink.max_gain(signals)).diagnostics["nmse"] < 1e-6


@pytest.mark.parametrize(
    ("time", "index"),
    [(0.0, 0), (0.099, 0), (0.1, 1), (0.3, 3), (0.1 * 3, 3), (0.6, 6), (0.79, 7), (-0.2, 0)],
)
def test_a_snapshot_is_held_for_an_interval(time, index, tmp_path, rng):
    """0.3 / 0.1 is 2.9999999999999996 in floating point."""
    a, _, fading = recorded(tmp_path, rng, interval=0.1)
    gains = fading.draw(np.arange(3), np.array([time]), rng, None).gains
    np.testing.assert_allclose(gains[:, 0], a[:, index], rtol=1e-5)


def test_replay_draws_nothing(tmp_path, rng):
    """It is a function of client and time alone."""
    _, _, fading = recorded(tmp_path, rng, each_snapshot=True)
    assert (fading.moving, fading.continuous, fading.doppler, fading.law) == (True, True, 0.0, None)
    times = np.array([0.0, 4e-3, 1e-3])
    whole = fading.draw(np.arange(3), times, np.random.default_rng(1), np.random.default_rng(2))
    again = fading.draw(np.arange(3), times, np.random.default_rng(3), None)
    np.testing.assert_array_equal(whole.gains, again.gains)
    np.testing.assert_array_equal(whole.delays, again.delays)


def test_delays_that_change_stand_side_by_side(tmp_path):
    """Snapshots 0 and 2 have the same delays, snapshot 1 has others."""
    tau = np.array([[[0.0, 1e-7], [0.0, 2e-7], [0.0, 1e-7]]])
    np.savez(tmp_path / "cir.npz", a=np.full((1, 3, 2), np.sqrt(0.5)), tau=tau, interval=1.0)
    times = np.array([0.0, 1.0, 2.0, 2.5])
    taps = CirFading(tmp_path / "cir.npz").draw(np.arange(1), times, None, None)
    np.testing.assert_array_equal(taps.delays, [[0.0, 1e-7, 0.0, 2e-7]])
    expected = np.sqrt(0.5) * np.array([[1, 1, 0, 0], [0, 0, 1, 1], [1, 1, 0, 0], [1, 1, 0, 0]])
    np.testing.assert_allclose(taps.gains[0], expected, rtol=1e-6)


def test_drawn_snapshots_are_uniform_independent_and_static(tmp_path, rng):
    snapshots = 5
    a = np.tile(np.arange(1, 1 + snapshots)[:, None], (2, 1, 1))  # the gain says which
    np.savez(tmp_path / "cir.npz", a=a, tau=np.zeros((2, 1)))
    fading = CirFading(tmp_path / "cir.npz", snapshots="drawn")
    assert (fading.moving, fading.continuous) == (False, False)
    rms = np.sqrt(11.0)  # of 1 to 5
    assert fading.path_gain == pytest.approx((11.0, 11.0))
    rounds = 4000
    draws = np.array(
        [fading.draw(np.arange(2), np.zeros(3), rng, None).gains for _ in range(rounds)]
    )
    assert np.ptp(draws.real, axis=2).max() == 0
    index = np.rint(draws[:, :, 0, 0].real * rms).astype(int) - 1
    for client in range(2):
        for snapshot in range(snapshots):
            check_proportion(index[:, client] == snapshot, 1 / snapshots)
    check_proportion(index[:, 0] == index[:, 1], 1 / snapshots)
    check_proportion(index[1:, 0] == index[:-1, 0], 1 / snapshots)
    check_mean(np.square(np.abs(draws[:, 0, 0, 0])), 1.0)
    counts = np.histogram2d(*index.T, bins=snapshots)[0]
    expected = rounds / snapshots**2
    assert chi2.sf(((counts - expected) ** 2 / expected).sum(), snapshots**2 - 1) > 1e-7


def test_drawn_delays_belong_to_the_snapshot(tmp_path, rng):
    a, tau, fading = recorded(tmp_path, rng, each_snapshot=True, snapshots="drawn")
    taps = fading.draw(np.array([2, 1]), NOW, rng, None)
    for row, client in enumerate((2, 1)):
        snapshot = int(np.argmin(np.abs(a[client] - taps.gains[row, 0]).sum(axis=1)))
        np.testing.assert_allclose(taps.gains[row, 0], a[client, snapshot], rtol=1e-5)
        np.testing.assert_array_equal(taps.delays[row], tau[client, snapshot])


def test_shared_delays_are_checked_when_a_link_is_made(tmp_path, rng):
    np.savez(tmp_path / "cir.npz", a=np.ones((2, 3, 2)), tau=np.tile([0.0, 5e-6], (2, 1)))
    fading = CirFading(tmp_path / "cir.npz", interval=1.0)
    np.testing.assert_array_equal(fading.delays, [0.0, 5e-6])
    np.testing.assert_array_equal(fading.draw(np.arange(2), NOW, rng, None).delays, fading.delays)
    with pytest.raises(ValueError, match="fading must fit the cyclic prefix.*got a path of 5e-06"):
        OfdmLink(fading=fading)
    WaveformLink(fading=fading)
    assert replace(fading, snapshots="drawn").delays is not None


@pytest.mark.parametrize("kind", [FadingLink, OfdmLink, WaveformLink, OrthogonalLink])
@pytest.mark.parametrize("snapshots", ["time", "drawn"])
def test_training_over_every_link(kind, snapshots, tmp_path, rng):
    _, _, fading = recorded(tmp_path, rng, snapshots=snapshots)
    options = {"csi": AgedCsi(1e-3, of=PilotCsi(snr_db=30.0))} if kind is not OrthogonalLink else {}
    gains = np.array(fading.path_gain)
    link = kind(fading=fading, path_gain=gains / gains.mean(), snr_db=30.0, **options)
    history = train(
        Cotaf(), link, default_quadratic(3, 6), rounds=3, round_period=2e-3, progress=False
    )
    assert np.isfinite(history.model).all()


def test_a_run_longer_than_the_recording_is_refused(tmp_path, rng):
    _, _, fading = recorded(tmp_path, rng)
    with pytest.raises(
        ValueError,
        match=r"cir\.npz must last until 0\.1\d* s, got 8 snapshots of 0\.001 s, 0\.008 s in all: "
        "give a longer recording",
    ):
        train(Cotaf(), OfdmLink(fading=fading), default_quadratic(3, 6), rounds=3, progress=False)
    with pytest.raises(ValueError, match=r"must last until 0\.008 s, got"):
        fading.draw(np.arange(3), np.array([8e-3]), rng, None)


def test_a_client_that_was_not_recorded_is_refused(tmp_path, rng):
    _, _, fading = recorded(tmp_path, rng)
    with pytest.raises(ValueError, match=r"cir.npz must have a channel for client 3, got 3 client"):
        OfdmLink(fading=fading).open(4, 100, rng)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"file": 3}, "file must be the path of a file, got 3"),
        (
            {"file": "cir.csv"},
            r"file must be the path of a file in \.npz, \.h5, \.hdf5, \.mat, got 'cir.csv'",
        ),
        ({"file": "none.npz"}, "file must be an existing file, got '.*none.npz'"),
        ({"file": "."}, "file must be the path of a file in .npz"),
        ({"snapshots": "Time"}, "snapshots must be one of 'time', 'drawn', got 'Time'; did you me"),
        ({"interval": 0}, "interval must be a finite number > 0, got 0"),
        ({"sha256": 5}, "sha256 must be a string, got 5"),
        ({"sha256": "abc"}, "cir.npz has changed: its sha256 was abc, and is now [0-9a-f]{64}$"),
        ({}, "interval must be given, because .*cir.npz has none, got None"),
    ],
)
def test_bad_options_are_refused(options, message, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    np.savez("cir.npz", a=np.ones((1, 1, 1)), tau=np.zeros((1, 1)))
    with pytest.raises(ValueError, match=message):
        CirFading(**{"file": "cir.npz", **options})
    assert CirFading("cir.npz", snapshots="drawn").interval is None


def test_bad_content_is_refused_at_construction(tmp_path):
    np.savez(tmp_path / "cir.npz", a=np.zeros((1, 1, 1)), tau=np.zeros((1, 1)), interval=1.0)
    with pytest.raises(ValueError, match="a in .*cir.npz must have a finite mean power > 0"):
        CirFading(tmp_path / "cir.npz")


def test_it_is_a_small_value(tmp_path, rng, monkeypatch):
    _, _, fading = recorded(tmp_path, rng)
    monkeypatch.chdir(tmp_path)
    same = CirFading("cir.npz")
    assert isinstance(fading, Fading)
    assert same == fading
    assert len({same, fading, pickle.loads(pickle.dumps(fading))}) == 1
    assert same.file == str(tmp_path / "cir.npz")
    assert len(repr(same)) < 300 + len(same.file)
    assert replace(fading, snapshots="drawn") != fading


def test_it_needs_neither_tensorflow_nor_sionna(tmp_path, rng):
    recorded(tmp_path, rng)
    code = (
        "import sys, numpy as np, otafl; f = otafl.CirFading('cir.npz'); "
        "otafl.OfdmLink(fading=f).open(3, 10, np.random.default_rng(0)); "
        "print('tensorflow' in sys.modules, 'sionna' in sys.modules)"
    )
    run = [sys.executable, "-c", code]
    done = subprocess.run(run, cwd=tmp_path, capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "False False"


def test_a_misspelt_option_is_refused_with_the_nearest_name():
    with pytest.raises(TypeError, match="CirFading has no option 'snapshot'; .*'snapshots'"):
        CirFading("cir.npz", snapshot="drawn")
