"""Bad input: one clear error that names the field and the value, and nothing half done."""

from __future__ import annotations

import numpy as np
import pytest

from links import FadingLink, GaussianLink, IdealLink, OfdmLink, OrthogonalLink, WaveformLink
from phy import NoFading, OfdmGrid, Rayleigh, Tdl

RADIO = [GaussianLink, FadingLink, OfdmLink, WaveformLink, OrthogonalLink]


@pytest.mark.parametrize("link", RADIO)
@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"snr_db": np.nan}, "snr_db = nan"),
        ({"snr_db": -np.inf}, "snr_db = -inf"),
        ({"snr_db": "10"}, "snr_db = '10'"),
        ({"snr_db": [10.0, np.nan]}, r"snr_db\[1\] = nan"),
        ({"snr_db": []}, r"snr_db = \[\]"),
        ({"snr_db": 1.0, "entry_snr_db": 1.0}, "give only one"),
        ({"entry_snr_db": np.nan}, "entry_snr_db = nan"),
        ({"power": -1.0}, r"power = -1\.0"),
        ({"power": 0.0}, r"power = 0\.0"),
        ({"power": np.inf}, "power = inf"),
        ({"power": [1.0, -2.0]}, r"power\[1\] = -2\.0"),
        ({"path_gain": 0.0}, r"path_gain = 0\.0"),
        ({"path_gain": np.array([1.0, np.nan])}, r"path_gain\[1\] = np.float64\(nan\)|= nan"),
        ({"path_gain": 1e-40}, "path_gain = 1e-40"),
        ({"snr_db": -400}, "snr_db = -400"),
        ({"snr_db": np.ones((2, 2))}, r"of shape \(2, 2\)"),
        ({"snr_db": b"10"}, "snr_db = b'10'"),
        ({"power": {1.0: 2.0}}, r"power = \{1\.0: 2\.0\}"),
        ({"reference_power": 0.0}, r"reference_power = 0\.0"),
    ],
)
def test_radio_options(link, options, message):
    with pytest.raises(ValueError, match=message):
        link(**options)


@pytest.mark.parametrize("link", [FadingLink, OfdmLink, WaveformLink])
@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"truncation": -0.1}, r"truncation = -0\.1"),
        ({"truncation": np.inf}, "truncation = inf"),
        ({"control": np.array(["mmse", "x"])}, "control = array"),
        ({"correction": "maybe"}, "correction = 'maybe'.*'none', 'expected', 'active'"),
        ({"control": "zf"}, "control = 'zf'.*'inversion', 'mmse'"),
        ({"fading": Rayleigh}, "fading = <class"),
        ({"csi": None}, "csi = None"),
    ],
)
def test_fading_options(link, options, message):
    with pytest.raises(ValueError, match=message):
        link(**options)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"budget": "slot"}, "budget = 'slot'.*'symbol', 'round'"),
        ({"engine": "numba"}, "engine = 'numba'.*'fast', 'sionna'"),
        ({"grid": 512}, "grid = 512"),
        ({"interleaver_seed": -1}, "interleaver_seed = -1"),
        ({"fading": Tdl("C", delay_spread=1e-6)}, "longer than the cyclic prefix.*WaveformLink"),
    ],
)
def test_ofdm_options(options, message):
    with pytest.raises(ValueError, match=message):
        OfdmLink(**options)


def test_a_channel_as_long_as_the_prefix_is_allowed():
    longest = Tdl("A", delay_spread=1.0).delays.max()
    grid = OfdmGrid()
    OfdmLink(grid=grid, fading=Tdl("A", delay_spread=grid.cp_duration / longest))
    with pytest.raises(ValueError, match="cyclic prefix"):
        OfdmLink(grid=grid, fading=Tdl("A", delay_spread=1.001 * grid.cp_duration / longest))


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"bits": 0}, "bits = 0"),
        ({"bits": 33}, "bits = 33"),
        ({"bits": 2.5}, r"bits = 2\.5"),
        ({"gap_db": -1.0}, r"gap_db = -1\.0"),
        ({"max_efficiency": 0.0}, r"max_efficiency = 0\.0"),
    ],
)
def test_digital_options(options, message):
    with pytest.raises(ValueError, match=message):
        OrthogonalLink(**options)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"fading": Rayleigh}, "fading = <class"),
        ({"fading": None}, "fading = None"),
        ({"grid": 512}, "grid = 512"),
        ({"fading": Tdl("C", delay_spread=1e-6)}, "longer than the cyclic prefix"),
    ],
)
def test_digital_channels(options, message):
    with pytest.raises(ValueError, match=message):
        OrthogonalLink(**options)


@pytest.mark.parametrize("link", [GaussianLink(), OfdmLink(), WaveformLink()])
def test_signals_beyond_all_measure(link, rng):
    slot = link.open(2, 5, rng)
    with pytest.raises(ValueError, match="signals as large as"):
        slot.max_gain(np.full((2, 5), 1e70))
    vanishing = np.full((2, 5), 1e-70)
    assert slot.max_gain(vanishing) == np.inf
    received = slot.send(vanishing, np.inf)
    assert not received.total.any()
    assert not received.energy.any()


def test_scalars_of_numpy_are_numbers():
    link = OfdmLink(
        truncation=np.array(0.1), power=np.float32(2.0), snr_db=np.arange(3), path_gain=range(1, 3)
    )
    assert (link.truncation, link.power, link.snr_db) == (0.1, 2.0, (0.0, 1.0, 2.0))
    assert OfdmGrid(fft_size=np.int64(8), cp_length=2, guards=np.array([1, 1])).num_carriers == 5


def test_bandwidth_is_positive():
    for link in (GaussianLink, FadingLink):
        with pytest.raises(ValueError, match=r"bandwidth = 0\.0"):
            link(bandwidth=0.0)


EVERY = [
    IdealLink(),
    GaussianLink(),
    FadingLink(),
    OfdmLink(),
    WaveformLink(),
    OrthogonalLink(),
]


@pytest.mark.parametrize("link", EVERY, ids=lambda link: type(link).__name__)
@pytest.mark.parametrize(
    ("arguments", "options", "message"),
    [
        ((0, 5), {}, "num_clients = 0"),
        ((2, 0), {}, "length = 0"),
        ((2, 5.5), {}, r"length = 5\.5"),
        ((2, 5), {"clients": [0]}, r"clients = \[0\].*2 different"),
        ((2, 5), {"clients": [1, 1]}, r"clients = \[1, 1\]"),
        ((2, 5), {"clients": [0, -1]}, r"clients = \[0, -1\]"),
        ((2, 5), {"clients": [0.0, 1.0]}, r"clients = \[0\.0, 1\.0\]"),
        ((2, 5), {"time": np.nan}, "time = nan"),
        ((2, 5), {"rng": 7}, "rng = 7"),
        ((2, 5), {"rng": []}, r"rng = \[\]"),
        ((2, 5), {"device_rng": [np.random.default_rng(1)]}, "device_rng has 1 in a list, rng has"),
    ],
)
def test_opening(link, arguments, options, message):
    options = {"rng": np.random.default_rng(1), **options}
    with pytest.raises((ValueError, TypeError), match=message):
        link.open(*arguments, **options)


@pytest.mark.parametrize("link", EVERY, ids=lambda link: type(link).__name__)
@pytest.mark.parametrize(
    ("signals", "gain", "options", "message"),
    [
        (np.ones((2, 4)), 1.0, {}, r"signals have shape \(2, 4\).*\(2, 5\)"),
        (np.ones((1, 2, 5)), 1.0, {}, r"signals have shape \(1, 2, 5\)"),
        (np.ones((2, 5), complex), 1.0, {}, "signals of type complex128"),
        (np.full((2, 5), "x"), 1.0, {}, "signals of type <U1"),
        ([[1.0], [1.0, 2.0]], 1.0, {}, "signals is not an array"),
        (np.ones((2, 5), bool), 1.0, {}, "signals of type bool"),
        (np.ones((2, 5)), "1", {}, "gain of type <U1"),
        (np.ones((2, 5)), 1j, {}, "gain of type complex128"),
        (np.ones((2, 5)), 1e-90, {}, "gain = 1e-90"),
        (np.ones((2, 5)), 1e-9, {"weights": "ab"}, "weights of type <U2"),
        (np.ones((2, 5)), 0.0, {}, r"gain = 0\.0"),
        (np.ones((2, 5)), -1.0, {}, r"gain = -1\.0"),
        (np.ones((2, 5)), np.nan, {}, "gain = nan"),
        (np.ones((2, 5)), [1.0, 1.0], {}, r"gain has shape \(2,\)"),
        (np.ones((2, 5)), 1e-9, {"weights": [1.0]}, r"weights have shape \(1,\)"),
        (np.ones((2, 5)), 1e-9, {"weights": [1.0, -1.0]}, r"weights = \[1\.0, -1\.0\]"),
        (np.ones((2, 5)), 1e-9, {"weights": [0.0, 0.0]}, r"weights = \[0\.0, 0\.0\]"),
        (np.ones((2, 5)), 1e-9, {"weights": [np.nan, 1.0]}, r"weights = \[nan, 1\.0\]"),
    ],
)
def test_sending(link, signals, gain, options, message):
    slot = link.open(2, 5, np.random.default_rng(1))
    with pytest.raises(ValueError, match=message):
        slot.send(signals, gain, **options)


def test_values_for_each_must_match_who_takes_part(rng):
    with pytest.raises(ValueError, match="power has 3 values.*but 2 take part"):
        GaussianLink(power=[1.0, 2.0, 3.0]).open(2, 5, rng)
    with pytest.raises(ValueError, match="path_gain has 3 values.*but client 7 takes part"):
        OfdmLink(path_gain=[1.0, 2.0, 3.0]).open(2, 5, rng, clients=[0, 7])
    link = GaussianLink(snr_db=[1.0, 2.0])
    with pytest.raises(ValueError, match="snr_db has 2 values.*no trial axis"):
        link.open(2, 5, rng)
    with pytest.raises(ValueError, match="snr_db has 2 values.*3 trials"):
        link.open(2, 5, [np.random.default_rng(seed) for seed in range(3)])
    with pytest.raises(ValueError, match="rng has the same generator twice"):
        link.open(2, 5, [rng, rng])


def test_power_and_path_gain_are_picked_by_global_index(rng):
    link = GaussianLink(power=[1.0, 2.0, 3.0], path_gain=[1.0, 0.5, 0.25])
    slot = link.open(2, 5, rng, clients=[2, 0])
    np.testing.assert_array_equal(slot.budget, [[3.0], [1.0]])
    np.testing.assert_array_equal(slot.energy(np.ones((2, 5))), [[20.0], [5.0]])


@pytest.mark.parametrize("trials", [1, 3])
def test_a_refused_round_draws_no_noise_and_names_the_client(trials):
    link = OfdmLink(fading=NoFading(), power=[1.0, 1.0, 1.0, 1e-6, 1.0])
    rngs = [np.random.default_rng(seed) for seed in range(trials)]
    slot = link.open(2, 5, rngs, clients=[0, 3])
    before = [rng.bit_generator.state for rng in rngs]
    with pytest.raises(ValueError, match=r"client 3 would spend .* times its budget"):
        slot.send(np.ones((trials, 2, 5)), 0.01)
    assert [rng.bit_generator.state for rng in rngs] == before
    spent = slot.send(np.ones((trials, 2, 5)), 0.01, enforce=False).energy
    np.testing.assert_allclose(spent, 5e-4, rtol=1e-5)  # what it took is recorded


def test_an_infinite_gain_for_something_is_refused(rng):
    slot = OfdmLink(fading=NoFading()).open(2, 5, rng)
    for enforce in (True, False):
        with pytest.raises(ValueError, match="gain = inf is not allowed for signals that take"):
            slot.send(np.ones((2, 5)), np.inf, enforce=enforce)
