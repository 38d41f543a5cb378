"""Any channel model that a user brings from Sionna."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from links import OfdmLink, WaveformLink
from otafl._base import lazy
from phy import AgedCsi, OfdmGrid, Packing, PerfectCsi, SionnaFading, Tdl
from phy.channel import draw_channel
from phy.fused_medium import FusedMedium
from phy.power import invert
from phy.sionna_fading import _time_grid
from phy.sionna_medium import SionnaMedium
from tests.tolerance import check_mean

lazy.sionna()

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
# a prefix of 0.8 ms: the delay spread of a cell is lognormal, and its tail is long
GRID = OfdmGrid(fft_size=128, cp_length=128, guards=(10, 10), subcarrier_spacing=1.25e3)


@pytest.mark.parametrize("name", MODELS)
def test_every_model_serves_as_fading_and_both_media_agree(name, rng):
    """A CIRDataset hands out other responses to each call, so both get those of one call."""
    signals = rng.standard_normal((4, 3001)).astype(np.float32)
    fading = SionnaFading(MODELS[name](), mean_power=6.0 if name == "recorded" else 1.0)
    packing = Packing(GRID, 3001, seed=None)
    channel = draw_channel(
        GRID,
        fading,
        PerfectCsi(),
        clients=np.arange(4),
        path_gain=np.ones(4),
        num_symbols=packing.num_symbols,
        time=0.0,
        rng=rng,
        device_rng=None,
    )
    precoding = invert(channel.response, channel.estimate, np.ones(4), truncation=0.02)
    theirs, energy = SionnaMedium(packing, precoding, channel, np.ones(4)).superpose(signals)
    ours, spent = FusedMedium(packing, precoding).superpose(signals)
    np.testing.assert_allclose(ours, theirs, atol=2e-4)
    np.testing.assert_allclose(spent, energy, rtol=1e-3)


@pytest.mark.parametrize("name", MODELS)
def test_without_noise_every_model_gives_the_ideal_sum(name, rng):
    signals = rng.standard_normal((4, 1001)).astype(np.float32)
    fading = SionnaFading(MODELS[name](), mean_power=6.0 if name == "recorded" else 1.0)
    uplink = OfdmLink(grid=GRID, fading=fading, truncation=0.0, snr_db=np.inf).open(4, 1001, rng)
    truth = signals.sum(axis=0)
    total = uplink.send(signals, uplink.max_gain(signals)).total
    assert np.abs(total - truth).max() < 1e-5 * np.abs(truth).max()


@pytest.mark.parametrize("name", ["tdl", "rayleigh", "umi"])
def test_the_rng_decides(name):
    fading = SionnaFading(MODELS[name]())

    def gains(seed):
        return fading.draw(np.arange(4), np.zeros(1), np.random.default_rng(seed), None).gains

    first, second = gains(1), gains(2)
    np.testing.assert_array_equal(gains(2), second)
    assert np.abs(first - second).max() > 1e-3


def test_mean_power_is_divided_out(rng):
    fading = SionnaFading(TDL("A", 100e-9, 3.5e9), mean_power=4.0)
    taps = fading.draw(np.arange(2000), np.zeros(1), rng, None)
    check_mean(np.square(np.abs(taps.gains)).sum(axis=-1), 0.25)


def test_clients_of_a_cell_are_told_apart_by_their_index():
    fading = SionnaFading(cell(UMi))

    def taps(clients):
        return fading.draw(np.array(clients), np.zeros(1), np.random.default_rng(1), None)

    everyone, some = taps([0, 1, 2, 3]), taps([3, 1])
    np.testing.assert_allclose(some.gains, everyone.gains[[3, 1]], atol=1e-6)
    np.testing.assert_allclose(some.delays, everyone.delays[[3, 1]], rtol=1e-6)


def test_moving_models_move_between_slots_and_age(rng):
    fading = SionnaFading(TDL("A", 100e-9, 3.5e9, min_speed=30.0))
    channel = draw_channel(
        GRID,
        fading,
        AgedCsi(200e-6),
        clients=np.arange(4),
        path_gain=np.ones(4),
        num_symbols=GRID.symbols_per_slot * 3,
        time=0.0,
        rng=rng,
        device_rng=None,
    )
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
        # slots of 14 symbols and a last one of two: its middle lies 11/7 of a slot after the first
        ([4032.0, 12096.0, 16704.0], [0, 7, 11], 7 / 8064),
    ],
)
def test_instants_are_laid_on_one_time_grid(times, expected, rate):
    steps, sampling = _time_grid(np.array(times))
    np.testing.assert_array_equal(steps, expected)
    assert sampling == pytest.approx(rate)


def test_a_delay_that_takes_too_many_steps_is_refused():
    slots = np.arange(3) * 1e-3
    with pytest.raises(
        ValueError, match="must cover at most 20000 time steps.*got 100002 slots: give a shorter"
    ):
        _time_grid(np.concatenate([slots, slots - 100.0003]))
    steps, _ = _time_grid(np.array([0.0, -100.0003]))  # two instants are two steps
    assert steps.max() == 1


def test_delays_longer_than_the_prefix_are_refused_when_drawn(rng):
    short = OfdmGrid(fft_size=128, cp_length=1, guards=(10, 10))
    link = OfdmLink(grid=short, fading=SionnaFading(TDL("A", 300e-9, 3.5e9)))
    with pytest.raises(
        ValueError, match="fading must fit the cyclic prefix.*got a path.*WaveformLink"
    ):
        link.open(4, 100, rng)


@pytest.mark.parametrize(
    ("model", "message"),
    [
        (
            lambda: RayleighBlockFading(1, 2, 4, 1),
            "model must have one receiver and one antenna.*num_rx_ant = 2",
        ),
        (
            lambda: RayleighBlockFading(1, 1, 3, 1),
            "model must have a transmitter for client 3, got 3 of them",
        ),
        (lambda: recorded(clients=2), "model must give 4 links at a time, one per client, got 2"),
        (lambda: recorded(steps=2), "model must give one time step or [0-9]+,.*got 2"),
    ],
)
def test_models_that_do_not_fit_are_refused(model, message, rng):
    link = OfdmLink(grid=GRID, fading=SionnaFading(model()))
    with pytest.raises(ValueError, match=message):
        link.open(4, 2 * GRID.num_carriers * GRID.symbols_per_slot * 3, rng)


def test_what_is_no_model_is_refused():
    with pytest.raises(
        ValueError, match="model must be an instance of a Sionna channel model, got 'TDL-A'"
    ):
        SionnaFading("TDL-A")
    with pytest.raises(ValueError, match="mean_power must be a finite number > 0, got 0"):
        SionnaFading(TDL("A", 1e-7, 3.5e9), mean_power=0)
    with pytest.raises(
        ValueError, match="correction must be 'active' or 'none' with SionnaFading, whose dist"
    ):
        OfdmLink(fading=SionnaFading(TDL("A", 1e-7, 3.5e9)), correction="expected")


@pytest.mark.parametrize("engine", ["fast", "sionna"])
def test_in_the_time_domain_delays_become_known_when_drawn(engine, rng):
    """Paths that begin anywhere, each client's its own, through both engines."""
    fading = SionnaFading(TDL("A", 100e-9, 3.5e9, min_speed=3.0))
    link = WaveformLink(
        fading=fading, truncation=0.0, snr_db=np.inf, engine=engine, csi=AgedCsi(1e-5)
    )
    signals = rng.standard_normal((3, 1500)).astype(np.float32)
    uplink = link.open(3, 1500, np.random.default_rng(4))
    channel = uplink.medium.channel
    assert channel.lags.first == -13
    assert uplink.send(signals, uplink.max_gain(signals)).diagnostics["nmse"] < 0.02
    mean_power = np.square(np.abs(channel.response)).mean()
    assert 0.05 < mean_power < 10


def test_a_cell_in_the_time_domain(rng):
    link = WaveformLink(
        grid=GRID, fading=SionnaFading(cell(UMi)), snr_db=np.inf, truncation=0.02, engine="fast"
    )
    signals = rng.standard_normal((4, 400)).astype(np.float32)
    results = []
    for engine in ("fast", "sionna"):
        uplink = replace(link, engine=engine).open(4, 400, np.random.default_rng(5))
        results.append(uplink.send(signals, uplink.max_gain(signals)).total)
    scale = np.abs(results[1]).max()
    np.testing.assert_allclose(results[0], results[1], atol=2e-4 * scale)


def test_a_model_with_path_loss_is_told_its_mean_power(rng):
    class Lossy:
        num_tx = 1

        def __call__(self, batch_size, num_time_steps, sampling_frequency):
            return np.full((batch_size, 1, 1, 1, 1, 1, 1), 1e-4), np.zeros((batch_size, 1, 1, 1))

    with pytest.raises(
        ValueError, match="mean_power must be that of the model, 1e-08, got 1: give"
    ):
        SionnaFading(Lossy()).draw(np.arange(2), np.zeros(1), rng, None)
    taps = SionnaFading(Lossy(), mean_power=1e-8).draw(np.arange(2), np.zeros(1), rng, None)
    np.testing.assert_allclose(taps.gains, 1, rtol=1e-5)
    assert taps.gains.shape == (2, 1, 1)


def test_coefficients_that_are_no_numbers_are_refused(rng):
    class Broken:
        num_tx = 1

        def __call__(self, batch_size, num_time_steps, sampling_frequency):
            return np.full((batch_size, 1, 1, 1, 1, 1, 1), np.nan), np.zeros((batch_size, 1, 1, 1))

    with pytest.raises(ValueError, match="model must give finite path coefficients, got NaN"):
        SionnaFading(Broken()).draw(np.arange(2), np.zeros(1), rng, None)


def test_a_misspelt_option_is_refused_with_the_nearest_name():
    with pytest.raises(TypeError, match="SionnaFading has no option 'mean_Power'; .*'mean_power'"):
        SionnaFading(TDL("A", 1e-7, 3.5e9), mean_Power=2.0)


def test_several_ages_of_one_slot_are_laid_on_one_time_grid():
    """The middle of a slot, and the same 2 and 3 ms before."""
    steps, rate = _time_grid(np.array([5e-3, 3e-3, 2e-3]))
    np.testing.assert_array_equal(steps, [3, 1, 0])
    assert rate == pytest.approx(1000.0)


def test_a_model_is_new_in_every_round():
    """So two rounds cannot overlap in time, however long they are."""
    fading = SionnaFading(TDL("A", 100e-9, 3.5e9))
    assert fading.moving
    assert not fading.continuous
    assert Tdl("A", speed=1.0).continuous
    assert not Tdl("A").continuous
