"""Any channel model that a user brings from Sionna."""

from __future__ import annotations

import numpy as np
import pytest

from links import OfdmLink, WaveformLink
from phy import AgedCsi, OfdmGrid, SionnaFading, quiet
from phy.channel import longest_delay
from phy.fading import Taps
from phy.sionna_fading import _time_grid
from tests.tolerance import check_mean

quiet.sionna()

import tensorflow as tf  # noqa: E402
from sionna.phy.channel import CIRDataset, RayleighBlockFading  # noqa: E402
from sionna.phy.channel.tr38901 import CDL, TDL, Antenna, PanelArray, RMa, UMa, UMi  # noqa: E402


def antenna():
    return Antenna(
        polarization="single",
        polarization_type="V",
        antenna_pattern="omni",
        carrier_frequency=3.5e9,
    )


def panel():
    return PanelArray(
        num_rows_per_panel=1,
        num_cols_per_panel=1,
        polarization="single",
        polarization_type="V",
        antenna_pattern="omni",
        carrier_frequency=3.5e9,
    )


def cell(kind, clients=4):
    options = {"o2i_model": "low"} if kind is not RMa else {}
    model = kind(
        carrier_frequency=3.5e9,
        ut_array=panel(),
        bs_array=panel(),
        direction="uplink",
        enable_pathloss=False,
        enable_shadow_fading=False,
        **options,
    )
    places = np.stack([np.linspace(40, 100, clients), np.zeros(clients), np.full(clients, 1.5)], -1)
    model.set_topology(
        ut_loc=tf.constant(places[None], tf.float32),
        bs_loc=tf.constant([[[0.0, 0.0, 10.0]]]),
        ut_orientations=tf.zeros([1, clients, 3]),
        bs_orientations=tf.zeros([1, 1, 3]),
        ut_velocities=tf.ones([1, clients, 3]),
        in_state=tf.zeros([1, clients], tf.bool),
    )
    return model


def recorded(clients=4, steps=1):
    def generator():
        source = np.random.default_rng(0)
        while True:
            a = source.standard_normal((1, 1, 1, 1, 3, steps)) + 1j * source.standard_normal(
                (1, 1, 1, 1, 3, steps)
            )
            yield a.astype(np.complex64), np.array([[[0.0, 1e-7, 4e-7]]], np.float32)

    return CIRDataset(generator, clients, 1, 1, 1, 1, 3, steps)


MODELS = {
    "tdl": lambda: TDL("C", 100e-9, 3.5e9, min_speed=3.0),
    "cdl": lambda: CDL(
        "B", 100e-9, 3.5e9, ut_array=antenna(), bs_array=antenna(), direction="uplink"
    ),
    "rayleigh": lambda: RayleighBlockFading(1, 1, 4, 1),
    "one rayleigh": lambda: RayleighBlockFading(1, 1, 1, 1),
    "umi": lambda: cell(UMi),
    "uma": lambda: cell(UMa),
    "rma": lambda: cell(RMa),
    "recorded": recorded,
}
# a prefix of 67 us: longer than what a macro cell's random paths reach
# a prefix of 0.8 ms: the delay spread of a cell is lognormal, and its tail is long
GRID = OfdmGrid(fft_size=128, cp_length=128, guards=(10, 10), subcarrier_spacing=1.25e3)


@pytest.mark.parametrize("name", MODELS)
def test_every_model_serves_as_fading_and_both_engines_agree(name, rng):
    """A CIRDataset hands out other responses to each call, so one slot's are given to both."""
    signals = rng.standard_normal((4, 3001)).astype(np.float32)
    fading = SionnaFading(MODELS[name](), mean_power=6.0 if name == "recorded" else 1.0)
    link = OfdmLink(grid=GRID, fading=fading, truncation=0.02, snr_db=np.inf, interleaver_seed=None)
    slot = link.open(4, 3001, rng)
    from phy.sionna_uplink import SionnaUplink

    reference = SionnaUplink(slot.packing, slot.precodings, slot.channels, np.ones(4))
    theirs, energy = reference.superpose(0, signals)
    np.testing.assert_allclose(slot.superposition(signals), theirs, atol=2e-4)
    np.testing.assert_allclose(slot.energy(signals), energy, rtol=1e-3)


@pytest.mark.parametrize("name", MODELS)
def test_without_noise_every_model_gives_the_ideal_sum(name, rng):
    signals = rng.standard_normal((4, 1001)).astype(np.float32)
    fading = SionnaFading(MODELS[name](), mean_power=6.0 if name == "recorded" else 1.0)
    slot = OfdmLink(grid=GRID, fading=fading, truncation=0.0, snr_db=np.inf).open(4, 1001, rng)
    truth = signals.sum(axis=0)
    total = slot.send(signals, slot.max_gain(signals)).total
    assert np.abs(total - truth).max() < 1e-5 * np.abs(truth).max()


@pytest.mark.parametrize("name", ["tdl", "rayleigh", "umi"])
def test_the_rng_decides_and_a_trial_draws_alone_what_it_draws_in_a_batch(name):
    fading = SionnaFading(MODELS[name]())
    link = OfdmLink(grid=GRID, fading=fading)

    def responses(*seeds):
        slot = link.open(4, 900, [np.random.default_rng(seed) for seed in seeds])
        return [channel.response for channel in slot.channels]

    first, second = responses(1, 2)
    np.testing.assert_array_equal(responses(2)[0], second)
    assert np.abs(first - second).max() > 1e-3


def test_mean_power_is_divided_out(rng):
    fading = SionnaFading(TDL("A", 100e-9, 3.5e9), mean_power=4.0)
    taps = fading.draw(np.arange(2000), np.zeros(1), rng, None)
    check_mean(np.square(np.abs(taps.gains)).sum(axis=-1), 0.25)


def test_clients_of_a_cell_are_told_apart_by_their_index(rng):
    link = OfdmLink(grid=GRID, fading=SionnaFading(cell(UMi)))
    everyone = link.open(4, 100, np.random.default_rng(1)).channels[0].response
    some = link.open(2, 100, np.random.default_rng(1), clients=[3, 1]).channels[0].response
    np.testing.assert_allclose(some, everyone[[3, 1]], atol=1e-6)


def test_moving_models_move_between_slots_and_age(rng):
    fading = SionnaFading(TDL("A", 100e-9, 3.5e9, min_speed=30.0))
    link = OfdmLink(grid=GRID, fading=fading, csi=AgedCsi(200e-6), truncation=0.0)
    length = 2 * GRID.num_carriers * GRID.symbols_per_slot * 3
    channel = link.open(4, length, rng).channels[0]
    assert channel.response.shape[1] == 3
    assert np.abs(np.diff(channel.response, axis=1)).max() > 1e-2
    lag = np.abs(channel.estimate - channel.response).max()
    assert lag > 1e-3


@pytest.mark.parametrize(
    ("times", "expected", "rate"),
    [
        ([3.0], [0], 1.0),
        ([1.0, 1.5, 2.0], [0, 1, 2], 2.0),
        ([1.0, 0.75], [1, 0], 4.0),
        ([1.0, 2.0, 3.0, 0.5, 1.5, 2.5], [1, 3, 5, 0, 2, 4], 2.0),
    ],
)
def test_instants_are_laid_on_one_time_grid(times, expected, rate):
    steps, sampling = _time_grid(np.array(times))
    np.testing.assert_array_equal(steps, expected)
    assert sampling == pytest.approx(rate)


def test_a_delay_that_takes_too_many_steps_is_refused():
    slots = np.arange(3) * 1e-3
    with pytest.raises(ValueError, match="time steps.*shorter delay"):
        _time_grid(np.concatenate([slots, slots - 100.0003]))
    steps, _ = _time_grid(np.array([0.0, -100.0003]))  # two instants are two steps
    assert steps.max() == 1


def test_a_negligible_path_does_not_count_as_long():
    gains = np.array([[[1.0, 1e-4, 0.0]]], np.complex64)
    assert longest_delay(Taps(gains, np.array([1e-7, 1e-5, 3.0]))) == 1e-7
    assert longest_delay(Taps(gains * [1, 20, 1], np.array([1e-7, 1e-5, 3.0]))) == 1e-5
    with pytest.raises(ValueError, match="path delay = -1e-07"):
        longest_delay(Taps(gains, np.array([-1e-7, 1e-5, 3.0])))


def test_delays_longer_than_the_prefix_are_refused_when_drawn(rng):
    short = OfdmGrid(fft_size=128, cp_length=1, guards=(10, 10))
    link = OfdmLink(grid=short, fading=SionnaFading(TDL("A", 300e-9, 3.5e9)))
    with pytest.raises(ValueError, match="longer than the cyclic prefix.*WaveformLink"):
        link.open(4, 100, rng)


@pytest.mark.parametrize(
    ("model", "message"),
    [
        (lambda: RayleighBlockFading(1, 2, 4, 1), "num_rx_ant = 2"),
        (lambda: RayleighBlockFading(1, 1, 3, 1), "3 transmitters, but client 3"),
        (lambda: recorded(clients=2), "2 links at a time, but 4 clients"),
        (lambda: recorded(steps=2), "2 time steps"),
    ],
)
def test_models_that_do_not_fit_are_refused(model, message, rng):
    link = OfdmLink(grid=GRID, fading=SionnaFading(model()))
    with pytest.raises(ValueError, match=message):
        link.open(4, 2 * GRID.num_carriers * GRID.symbols_per_slot * 3, rng)


def test_what_is_no_model_is_refused():
    with pytest.raises(ValueError, match="model = 'TDL-A'"):
        SionnaFading("TDL-A")
    with pytest.raises(ValueError, match="mean_power = 0"):
        SionnaFading(TDL("A", 1e-7, 3.5e9), mean_power=0)
    with pytest.raises(ValueError, match="law is not known"):
        OfdmLink(fading=SionnaFading(TDL("A", 1e-7, 3.5e9)), correction="expected")


@pytest.mark.parametrize("engine", ["fast", "sionna"])
def test_in_the_time_domain_delays_become_known_when_drawn(engine, rng):
    """Paths that begin anywhere, each client's its own, through both engines."""
    from sionna.phy.channel.tr38901 import TDL

    fading = SionnaFading(TDL("A", 100e-9, 3.5e9, min_speed=3.0))
    link = WaveformLink(
        fading=fading, truncation=0.0, snr_db=np.inf, engine=engine, csi=AgedCsi(1e-5)
    )
    signals = rng.standard_normal((3, 1500)).astype(np.float32)
    slot = link.open(3, 1500, np.random.default_rng(4))
    assert slot.channels[0].lags.first == -6
    assert slot.send(signals, slot.max_gain(signals)).diagnostics["nmse"] < 0.02
    mean_power = np.square(np.abs(slot.channels[0].response)).mean()
    assert 0.05 < mean_power < 10


def test_a_cell_in_the_time_domain(rng):
    from sionna.phy.channel.tr38901 import UMi

    link = WaveformLink(
        grid=GRID, fading=SionnaFading(cell(UMi)), snr_db=np.inf, truncation=0.02, engine="fast"
    )
    signals = rng.standard_normal((4, 400)).astype(np.float32)
    results = []
    for engine in ("fast", "sionna"):
        from dataclasses import replace

        slot = replace(link, engine=engine).open(4, 400, np.random.default_rng(5))
        results.append(slot.send(signals, slot.max_gain(signals)).total)
    scale = np.abs(results[1]).max()
    np.testing.assert_allclose(results[0], results[1], atol=2e-4 * scale)
