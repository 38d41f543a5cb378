"""links.theory: expected errors for given vectors, and where there is no closed form."""

from __future__ import annotations

import numpy as np
import pytest

from links import FadingLink, GaussianLink, IdealLink, OfdmLink, WaveformLink, theory
from phy import AgedCsi, NoFading, NoisyCsi, OfdmGrid, PilotCsi, Rayleigh, Rician, Tdl
from phy.fading import Fading, Law, Taps
from phy.impairments import Adc, CarrierOffset
from phy.randomness import complex_normal
from tests.links.fixed import FixedFading, sent_each
from tests.tolerance import check_mean

SMALL = OfdmGrid(fft_size=32, cp_length=32, guards=(8, 7))

CLOSED_FORMS = [
    OfdmLink(grid=SMALL, fading=Tdl("A"), truncation=0.2),
    OfdmLink(grid=SMALL, fading=Tdl("A"), truncation=0.2, correction="expected"),
    OfdmLink(grid=SMALL, fading=Tdl("A"), truncation=0.7, correction="active"),
    OfdmLink(grid=SMALL, fading=Rician(k_factor=3.0), truncation=0.5),
    OfdmLink(grid=SMALL, fading=Rician(k_factor=3.0), truncation=0.5, correction="expected"),
    OfdmLink(grid=SMALL, fading=Tdl("D"), truncation=0.7, correction="active"),
    OfdmLink(grid=SMALL, fading=Rayleigh(), csi=NoisyCsi(0.3), truncation=0.3),
    OfdmLink(grid=SMALL, fading=Tdl("B"), csi=NoisyCsi(0.3), truncation=0.3, correction="expected"),
    OfdmLink(grid=SMALL, fading=Tdl("C"), csi=PilotCsi(snr_db=3.0, num_pilots=2), truncation=0.3),
    OfdmLink(
        grid=SMALL,
        fading=Tdl("C"),
        csi=PilotCsi(snr_db=3.0),
        truncation=0.3,
        path_gain=[1.0, 0.5, 2.0, 1.0],
    ),
    OfdmLink(grid=SMALL, fading=Tdl("A", speed=30.0), csi=AgedCsi(0.4e-3), truncation=0.3),
    OfdmLink(
        grid=SMALL,
        fading=Rayleigh(speed=30.0),
        csi=AgedCsi(0.4e-3, of=NoisyCsi(0.1)),
        truncation=0.3,
    ),
    OfdmLink(grid=SMALL, fading=NoFading(), truncation=0.0),
    FadingLink(fading=Rayleigh(), truncation=0.2),
    FadingLink(fading=Rayleigh(), csi=NoisyCsi(0.3), truncation=0.3, correction="expected"),
    FadingLink(fading=Rayleigh(), truncation=0.7, correction="active"),
    WaveformLink(fading=Tdl("A"), truncation=0.2, correction="expected"),
    WaveformLink(grid=SMALL, fading=Rayleigh(), csi=NoisyCsi(0.3), truncation=0.3),
]


@pytest.mark.parametrize("link", CLOSED_FORMS, ids=str)
@pytest.mark.parametrize(("identical", "length"), [(False, 6), (True, 6), (True, 1)])
def test_expected_error_for_given_vectors(link, identical, length, rng):
    """links.theory.expected_mse, for independent and for identical data."""
    count, clients, gain = 1200, 4, 2.0
    vectors = rng.standard_normal((clients, length)).astype(np.float32)
    if identical:
        vectors[:] = vectors[0]
    signals = np.broadcast_to(vectors, (count, clients, length))
    sent = sent_each(link, signals, gain, rng, enforce=False)
    squared = np.square(sent.total - vectors.sum(axis=0), dtype=np.float64).sum(axis=1)
    expected = theory.expected_mse(link, vectors, gain)
    assert type(expected) is float
    check_mean(squared, expected)
    truth = np.square(vectors.sum(axis=0), dtype=np.float64).sum()
    np.testing.assert_allclose(sent.diagnostics["nmse"], squared / truth, rtol=1e-3)


def test_no_closed_form_is_said_so():
    vectors = np.ones((2, 4))
    for signals, gain, message in (
        (np.ones(4), 1.0, r"^signals must be \[m, d\] and finite, got shape \(4,\)"),
        (np.full((2, 4), np.nan), 1.0, r"^signals must be \[m, d\] and finite"),
        (vectors, 0.0, r"^gain must be a finite number > 0, or inf, got 0\.0"),
    ):
        with pytest.raises(ValueError, match=message):
            theory.expected_mse(OfdmLink(), signals, gain)
    for link, message in (
        (
            OfdmLink(csi=PilotCsi(), path_gain=[1.0, 2.0, 3.0]),
            "^path_gain must be .* each of the 2 clients, got 3 values",
        ),
        (OfdmLink(csi=PilotCsi(num_taps=8)), "error that depends on the channel"),
        (OfdmLink(control="mmse"), "given channels"),
        (OfdmLink(fading=Rician(), csi=NoisyCsi(0.1)), "line of sight"),
        (OfdmLink(csi=NoisyCsi(0.1), correction="active"), "perfect CSI"),
        ("no link", "no closed form for str"),
    ):
        with pytest.raises(ValueError, match=message):
            theory.expected_mse(link, vectors)


def test_inverting_a_wrong_estimate_without_truncation_has_no_finite_mean():
    link = OfdmLink(fading=Rayleigh(), csi=NoisyCsi(0.1), truncation=0.0)
    assert np.isinf(theory.expected_mse(link, np.ones((2, 4))))


ONE_SAMPLE = 1 / OfdmGrid().sampling_rate


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"fading": Tdl("A", speed=3.0)}, "moves within a slot has no closed form: OfdmLink has"),
        ({"transmit": (CarrierOffset(0.01),)}, "impairments has no closed form"),
        ({"receive": (Adc(),)}, "impairments has no closed form"),
        ({"fading": Tdl("C", delay_spread=1e-6)}, r"a channel of 16\d taps.*prefix of 64 samples"),
        ({"fading": Tdl("A"), "window_advance": 60}, "leaves with window_advance = 60"),
        ({"fading": FixedFading([[1.0]] * 2)}, "distribution of FixedFading is not known"),
    ],
)
def test_waveforms_that_the_frequency_domain_does_not_have_are_refused(options, message):
    with pytest.raises(ValueError, match=message):
        theory.expected_mse(WaveformLink(**options), np.ones((2, 4)))


def test_a_fading_whose_delays_are_not_known_is_refused():
    class Unknown(FixedFading):
        def __init__(self):
            super().__init__([[1.0]] * 2)
            self.delays = None

    with pytest.raises(ValueError, match="delays of Unknown are not known beforehand"):
        theory.expected_mse(WaveformLink(fading=Unknown()), np.ones((2, 4)))


@pytest.mark.parametrize("advance", [0, 9])
def test_a_prefix_may_be_used_to_the_last_sample(advance):
    """Taps at 0 and at cp_length - window_advance, with no spill at whole samples."""
    signals, last = np.ones((2, 4)), 64 - advance
    fitting, longer = (
        WaveformLink(fading=TwoPaths(samples * ONE_SAMPLE), window_advance=advance, truncation=0.1)
        for samples in (last, last + 1)
    )
    assert theory.expected_mse(fitting, signals) > 0
    with pytest.raises(ValueError, match=f"a channel of {last + 2} taps"):
        theory.expected_mse(longer, signals)


class TwoPaths(Fading):
    """Rayleigh fading on two taps."""

    delays = None
    law = Law(specular=0.0)

    def __init__(self, delay):
        self.delays = np.array([0.0, delay])

    def draw(self, clients, times, rng, device_rng):
        gains = complex_normal(rng, (len(clients), 1, 2), 0.5**0.5)
        return Taps(np.repeat(gains, len(times), axis=1), self.delays)


def test_moving_ofdm_links_have_a_closed_form_and_it_is_that_of_static_ones():
    vectors = np.ones((2, 4))
    moving, still = (OfdmLink(fading=Tdl("A", speed=speed)) for speed in (30.0, 0.0))
    assert theory.expected_mse(moving, vectors) == theory.expected_mse(still, vectors)
    waveform = WaveformLink(fading=Tdl("A"))
    assert theory.expected_mse(waveform, vectors) == theory.expected_mse(still, vectors)


@pytest.mark.parametrize(
    ("votes", "snr", "active", "expected"),
    [
        ((1, 0), 0.25, 1.0, 0.30853754),  # Q(1/2)
        ((4, 1), 0.25, 1.0, 0.06680720),  # Q(3/2)
        ((5, 2), 0.0, 1.0, 0.5),
        ((2, 1), 1e9, 1.0, 0.0),
        ((5, 2), 1.0, 0.0, 0.5),
        # all subsets of active clients, written out, with p = exp(-0.5) and exp(-0.2)
        ((3, 1), 1.0, 0.60653066, 0.19495923),
        ((3, 1), 4.0, 0.60653066, 0.14204632),
        ((2, 0), 1.0, 0.81873075, 0.07877142),
        ((5, 0), 0.25, 0.60653066, 0.09234222),
    ],
)
def test_vote_errors_in_numbers(votes, snr, active, expected):
    assert theory.vote_error_probability(*votes, snr, active) == pytest.approx(expected, abs=1e-7)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ((2, 2, 1.0), "^votes_for must be .* 3"),
        ((2, -1, 1.0), "^votes_against must be"),
        ((2, 1, -1.0), "^snr must be"),
        ((2, 1, 1.0, 1.5), "^active_probability must be"),
    ],
)
def test_votes_without_a_majority_are_refused(arguments, message):
    with pytest.raises(ValueError, match=message):
        theory.vote_error_probability(*arguments)


def test_in_numbers():
    """Independent of the code's own constants."""
    ones = np.ones((3, 10))
    assert theory.expected_mse(IdealLink(), ones) == 0.0
    assert theory.expected_mse(GaussianLink(snr_db=0), ones, gain=2.0) == 2.5
    assert theory.expected_mse(GaussianLink(entry_snr_db=0), ones, gain=2.0) == 0.25
    # p = exp(-0.2): (1-p) p sum ||s||^2 + ||(1-p) sum s||^2 + 10 * 0.1
    link = OfdmLink(fading=Rayleigh(), truncation=0.2)
    assert theory.expected_mse(link, ones) == pytest.approx(8.40958980, rel=1e-8)
    # scale 1.5, factors 2/3 and 1: (1/3)^2 + 0.5 / 2.25; taken for equal, scale 1.25, both 0.8
    assert theory.mmse_control_mse([1.0, 2.0], 0.5, [1.0, 0.25]) == pytest.approx(1 / 3)
    assert theory.mmse_control_mse([1.0, 1.0], 0.5) == pytest.approx(2 * 0.04 + 0.32)
    pair = theory.mmse_control_mse([[1.0, 3.0], [2.0, 6.0]], 0.5, [1.0, 0.25])
    # twice: reach 3 and 6: eta = (9.5 / 3)^2, factors 18/19 and 1
    np.testing.assert_allclose(pair, [1 / 3, 1 / 361 + 0.5 * (6 / 19) ** 2])
    assert theory.inversion_cost(0.1) == pytest.approx(1.8229239584)
    assert theory.jakes(100.0, 1e-3) == pytest.approx(0.9037, abs=1e-4)
    assert theory.weakest_client_median(4, 0.2, 3.0) == pytest.approx(0.384719, rel=1e-5)
    assert theory.truncated_mean_mse(5, 0.3, 0.2, 0.49) == pytest.approx(0.06816289, rel=1e-6)
