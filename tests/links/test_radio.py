"""Power, noise and participants: options, defaults, and bad input that is named."""

from __future__ import annotations

import dataclasses

import numpy as np
import pytest

from links import FadingLink, GaussianLink, IdealLink, OfdmLink, OrthogonalLink, WaveformLink
from links.radio import noise_of, received_snr_db
from phy import NoFading, OfdmGrid
from tests.links.fixed import sent_each
from tests.tolerance import check_mean

RADIO = [GaussianLink, FadingLink, OfdmLink, WaveformLink, OrthogonalLink]
EVERY = [IdealLink(), *(link() for link in RADIO)]


@pytest.mark.parametrize("link", RADIO)
@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"snr_db": np.nan}, "^snr_db must be a finite number >= -200, or inf, got nan"),
        ({"snr_db": -np.inf}, "^snr_db must be .*, got -inf"),
        ({"snr_db": "10"}, "^snr_db must be .*, got '10'"),
        ({"snr_db": [10.0, np.nan]}, r"^snr_db must be .*, got \[10\.0, nan\]"),
        ({"snr_db": [10.0, 20.0]}, r"^snr_db must be .*, got \[10\.0, 20\.0\]"),
        ({"snr_db": []}, r"^snr_db must be .*, got \[\]"),
        ({"snr_db": None}, "^snr_db must be .*, got None"),
        ({"snr_db": -400}, "^snr_db must be a finite number >= -200, or inf, got -400"),
        ({"snr_db": np.ones((2, 2))}, r"^snr_db must be .*, got array\(\[\[1\., 1\."),
        ({"snr_db": b"10"}, "^snr_db must be .*, got b'10'"),
        (
            {"snr_db": 1.0, "entry_snr_db": 2.0},
            "^only one of snr_db and entry_snr_db .* snr_db = 1.0 and entry_snr_db = 2.0",
        ),
        ({"snr_db": 10, "entry_snr_db": 2.0}, "^only one of .* snr_db = 10 "),
        ({"entry_snr_db": np.nan}, "^entry_snr_db must be a finite number >= -200.*, got nan"),
        ({"power": -1.0}, r"^power must be .* >= 1e-12 and <= 1e\+12, got -1\.0"),
        ({"power": 0.0}, r"^power must be .* >= 1e-12 and <= 1e\+12, got 0\.0"),
        ({"power": np.inf}, r"^power must be a finite number .*, got inf"),
        ({"power": [1.0, -2.0]}, r"^power\[1\] must be .*, got -2\.0"),
        ({"power": np.ones((2, 2))}, "^power must be a number, or a flat list of numbers, got "),
        ({"power": []}, r"^power must be a number, or a flat list of numbers, got \[\]"),
        ({"power": {1.0: 2.0}}, r"^power must be .*, got \{1\.0: 2\.0\}"),
        ({"power": 9e-13}, "^power must be .* >= 1e-12 .*, got 9e-13"),
        ({"power": 2e15}, r"^power must be .* <= 1e\+12, got 2000000000000000\.0"),
        ({"path_gain": 0.0}, r"^path_gain must be .* >= 1e-12 and <= 1e\+06, got 0\.0"),
        ({"path_gain": np.array([1.0, np.nan])}, r"^path_gain\[1\] must be .*, got .*nan"),
        ({"path_gain": 1e-40}, "^path_gain must be .* >= 1e-12 .*, got 1e-40"),
        ({"path_gain": 2e6}, r"^path_gain must be .* <= 1e\+06, got 2000000\.0"),
        ({"reference_power": 0.0}, r"^reference_power must be .*, got 0\.0"),
        ({"reference_power": 2e15}, r"^reference_power must be .* <= 1e\+12, got 2"),
    ],
)
def test_options(link, options, message):
    with pytest.raises(ValueError, match=message):
        link(**options)


def given_at_run_time(value):
    """A number that is no constant of the package's."""
    return float(str(value))


@pytest.mark.parametrize("link", RADIO)
def test_ten_decibels_is_the_stated_default_and_only_one_snr_may_be_given(link):
    assert link().snr_db == 10.0
    assert link().entry_snr_db is None
    by_entry = link(entry_snr_db=3.0)
    assert (by_entry.snr_db, by_entry.entry_snr_db) == (None, 3.0)
    with pytest.raises(ValueError, match="only one of snr_db and entry_snr_db .* snr_db = 10.0"):
        link(snr_db=given_at_run_time(10.0), entry_snr_db=3.0)
    replaced = dataclasses.replace(link(), entry_snr_db=3)
    assert (replaced.snr_db, replaced.entry_snr_db) == (None, 3.0)
    with pytest.raises(ValueError, match="only one of"):
        dataclasses.replace(link(snr_db=5.0), entry_snr_db=3)
    with pytest.raises(ValueError, match="only one of"):
        dataclasses.replace(by_entry, snr_db=5.0)
    assert dataclasses.replace(link(), snr_db=5.0).snr_db == 5.0
    back = dataclasses.replace(by_entry, snr_db=5.0, entry_snr_db=None)
    assert (back.snr_db, back.entry_snr_db) == (5.0, None)


@pytest.mark.parametrize("link", RADIO)
@pytest.mark.parametrize(
    ("written", "meant"),
    [
        ("snr_dB", "snr_db"),
        ("SNR_DB", "snr_db"),
        ("entry_snr", "entry_snr_db"),
        ("powers", "power"),
        ("pathgain", "path_gain"),
        ("Reference_Power", "reference_power"),
    ],
)
def test_a_misspelt_option_is_answered_with_the_nearest(link, written, meant):
    message = f"^{link.__name__} has no option '{written}'; did you mean '{meant}'\\?"
    with pytest.raises(TypeError, match=message):
        link(**{written: 3})


@pytest.mark.parametrize("link", RADIO)
def test_a_name_like_no_option_is_answered_with_all_of_them(link):
    with pytest.raises(TypeError, match="has no option 'xyzzy'; its options are snr_db, entry_snr"):
        link(xyzzy=1)


def test_options_are_given_by_name():
    for link in RADIO:
        with pytest.raises(TypeError, match="takes options by name, such as snr_db="):
            link(10.0)


def test_scalars_of_numpy_are_numbers():
    link = OfdmLink(
        truncation=np.array(0.1), power=np.float32(2.0), snr_db=np.int64(3), path_gain=range(1, 3)
    )
    assert (link.truncation, link.power, link.snr_db) == (0.1, 2.0, 3.0)
    assert link.path_gain == (1.0, 2.0)
    assert OfdmGrid(fft_size=np.int64(8), cp_length=2, guards=np.array([1, 1])).num_carriers == 5


@pytest.mark.parametrize(
    ("options", "length", "block", "entry", "variance"),
    [
        ({"entry_snr_db": 3.0}, 1, 3.0, 3.0, 0.5011872336272722),
        ({"entry_snr_db": 3.0}, 3, 7.771212547196624, 3.0, 0.1670624112090907),
        ({"snr_db": 3.0}, 1, 3.0, 3.0, 0.5011872336272722),
        ({"snr_db": 3.0}, 3, 3.0, -1.771212547196624, 0.5011872336272722),
        ({}, 3, 10.0, 5.228787452803376, 0.1),
        ({"entry_snr_db": 0.0, "reference_power": 12.0}, 3, 4.771212547196624, 0.0, 4.0),
        ({"snr_db": np.inf}, 3, np.inf, np.inf, 0.0),
    ],
)
def test_the_noise_in_numbers(options, length, block, entry, variance):
    """sigma_c^2 = reference_power / 10^(snr_db / 10), or reference_power / (d 10^(entry / 10))."""
    for link in RADIO:
        noise = noise_of(link(**options), length)
        assert noise == pytest.approx((block, entry, variance), rel=1e-12, abs=1e-12)
        assert noise.std == pytest.approx(variance**0.5, rel=1e-12)


@pytest.mark.parametrize(("length", "variance"), [(1, 0.50118723), (3, 0.16706241)])
@pytest.mark.parametrize("link", [GaussianLink, FadingLink, OfdmLink, WaveformLink])
def test_the_noise_of_short_vectors_is_that_of_an_entry(link, length, variance, rng):
    """In literal numbers: entry_snr_db = 3 dB at d = 1 and d = 3."""
    options = {} if link is GaussianLink else {"fading": NoFading()}
    if link in {OfdmLink, WaveformLink}:
        options["grid"] = OfdmGrid(fft_size=4, cp_length=1, guards=(0, 0), dc_null=False)
    signals = np.zeros((1500, 1, length), np.float32)
    received = sent_each(link(entry_snr_db=3.0, **options), signals, 2.0, rng)
    check_mean(np.square(received.total) * 4, variance)


def test_an_snr_at_the_antenna_may_be_infinite():
    assert received_snr_db(4.0, 0.5, 0.1) == pytest.approx(10.0)
    assert received_snr_db(0.0, 1.0, 1.0) == -np.inf
    assert received_snr_db(1.0, 1.0, 0.0) == np.inf
    assert received_snr_db(1.0, np.inf, 1.0) == np.inf
    assert received_snr_db(0.0, np.inf, 0.0) == -np.inf


@pytest.mark.parametrize("link", EVERY, ids=lambda link: type(link).__name__)
@pytest.mark.parametrize(
    ("arguments", "options", "message"),
    [
        ((0, 5), {}, "^num_clients must be a whole number >= 1, got 0"),
        ((2.0, 5), {}, r"^num_clients must be a whole number >= 1, got 2\.0"),
        ((2, 0), {}, "^length must be a whole number >= 1, got 0"),
        ((2, 5.5), {}, r"^length must be a whole number >= 1, got 5\.5"),
        ((2, 5), {"clients": [0]}, r"^clients must be 2 different indices >= 0, got \[0\]"),
        ((2, 5), {"clients": [1, 1]}, r"^clients must be 2 different .*, got \[1, 1\]"),
        ((2, 5), {"clients": [0, -1]}, r"^clients must be 2 different .*, got \[0, -1\]"),
        ((2, 5), {"clients": [0.0, 1.0]}, r"^clients must be .*, got \[0\.0, 1\.0\]"),
        ((2, 5), {"time": np.nan}, "^time must be a finite number, got nan"),
        ((2, 5), {"rng": 7}, "^rng must be a numpy.random.Generator, got 7"),
        ((2, 5), {"rng": []}, r"^rng must be a numpy.random.Generator, got \[\]"),
        ((2, 5), {"rng": None}, "^rng must be a numpy.random.Generator, got None"),
        ((2, 5), {"device_rng": [np.random.default_rng(1)]}, r"^device_rng must be .*, got \["),
    ],
)
def test_opening(link, arguments, options, message):
    options = {"rng": np.random.default_rng(1), **options}
    with pytest.raises(ValueError, match=message):
        link.open(*arguments, **options)


def test_values_per_client_must_match_who_takes_part(rng):
    with pytest.raises(
        ValueError, match="^power must be .* each of the 2 clients .* take part.*got 3 values"
    ):
        GaussianLink(power=[1.0, 2.0, 3.0]).open(2, 5, rng)
    with pytest.raises(ValueError, match="^path_gain must be .* client 7 takes part, got 3 values"):
        OfdmLink(path_gain=[1.0, 2.0, 3.0]).open(2, 5, rng, clients=[0, 7])


def test_power_and_path_gain_are_picked_by_global_index(rng):
    link = GaussianLink(power=[1.0, 2.0, 3.0], path_gain=[1.0, 0.5, 0.25])
    uplink = link.open(2, 5, rng, clients=[2, 0])
    np.testing.assert_array_equal(uplink.clients, [2, 0])
    np.testing.assert_array_equal(uplink.budget, [[3.0], [1.0]])
    np.testing.assert_array_equal(uplink.energy(np.ones((2, 5))), [[20.0], [5.0]])


def test_both_snrs_are_reported_and_either_may_be_given(rng):
    signals = np.ones((2, 1000), np.float32)
    for options in ({"snr_db": 40.0}, {"entry_snr_db": 10.0}):
        for link in (
            GaussianLink(**options),
            FadingLink(fading=NoFading(), **options),
            OfdmLink(fading=NoFading(), **options),
            WaveformLink(fading=NoFading(), **options),
            OrthogonalLink(fading=NoFading(), **options),
        ):
            report = link.open(2, 1000, rng).send(signals, 1e-4).diagnostics
            assert report["snr_db"] == pytest.approx(40)
            assert report["entry_snr_db"] == pytest.approx(10)
