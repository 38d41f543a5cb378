"""Pictures of a link."""

from __future__ import annotations

from dataclasses import replace

import matplotlib.pyplot as plt
import numpy as np
import pytest

import otafl
from figures import link_pictures, style
from figures.link_pictures import PICTURES, applicable
from figures.link_view import look_at
from tests.figures.layout import assert_printable

LINK = otafl.WaveformLink(
    entry_snr_db=20,
    csi=otafl.PilotCsi(snr_db=20.0),
    truncation=0.1,
    transmit=[otafl.Rapp(backoff_db=3.0)],
)


@pytest.fixture(scope="module")
def view():
    return look_at(LINK, num_clients=6)


@pytest.mark.parametrize("look", style.STYLES)
@pytest.mark.parametrize("name", PICTURES)
def test_every_picture_can_be_printed(name, look, view):
    with style.context(look):
        figure = PICTURES[name](view)
        figure.canvas.draw()
        assert_printable(figure)


@pytest.mark.parametrize("link", [otafl.GaussianLink(), otafl.IdealLink(), otafl.OrthogonalLink()])
def test_links_without_a_grid_have_two_pictures(link):
    view = look_at(link)
    assert list(applicable(view)) == ["constellation", "symbol_energy"]
    for draw in applicable(view).values():
        assert_printable(draw(view))
    with pytest.raises(ValueError, match="plot_channels needs a link on an OFDM grid, .* got"):
        otafl.plot_channels(view)


def test_a_link_will_do():
    assert_printable(otafl.plot_channels(otafl.OfdmLink(entry_snr_db=10)))


def test_channels_are_those_of_the_view(view):
    (axes,) = otafl.plot_channels(view).axes
    np.testing.assert_allclose(
        axes.lines[1].get_ydata(), 10 * np.log10(view.radio.strength[1]), rtol=1e-6
    )
    assert axes.lines[-1].get_ydata() == pytest.approx([-10, -10])  # 10 log10 0.1
    dots = axes.lines[4].get_ydata()
    np.testing.assert_allclose(dots, 10 * np.log10(view.radio.estimate[0]), rtol=1e-6)


def test_estimates_that_are_right_are_not_drawn_twice():
    axes = otafl.plot_channels(look_at(replace(LINK, csi=otafl.PerfectCsi()))).axes[0]
    assert len(axes.lines) == 5


def test_a_client_that_spends_its_budget_evenly_is_at_0_db(rng):
    """One client on a channel of gain 1, white data: the mean density in the band is 0 dB."""
    link = otafl.OfdmLink(fading=otafl.NoFading(), entry_snr_db=20)
    view = look_at(link, rng.standard_normal((1, 80_000)), gain=1 / np.sqrt(80_000))
    axes = otafl.plot_spectrum(view).axes[0]
    frequency, density = axes.lines[0].get_data()
    used = np.abs(frequency) < 5.9
    assert 10 * np.log10(np.mean(10 ** (density[used] / 10))) == pytest.approx(0, abs=0.1)
    assert density[np.abs(frequency) > 6.5].max() < -20  # guard bands


def test_an_amplifier_fills_the_guard_bands():
    def guard(backoff_db):
        link = replace(LINK, transmit=[otafl.SoftLimiter(backoff_db=backoff_db)])
        frequency, density = otafl.plot_spectrum(look_at(link)).axes[0].lines[0].get_data()
        return np.mean(density[np.abs(frequency) > 6.5])

    assert guard(-6.0) > guard(40.0) + 5


def test_energy_of_all_clients(view):
    (axes,) = otafl.plot_symbol_energy(view).axes
    stairs = [patch.get_data().values for patch in axes.patches]
    np.testing.assert_allclose(stairs, [*view.load[4:], *view.load[:4]])


def test_errors_of_carriers(view):
    upper, lower = otafl.plot_carrier_error(view).axes
    np.testing.assert_allclose(upper.lines[2].get_ydata(), 100 * view.radio.evm[2])
    shown = 10 * np.log10(np.maximum(view.radio.carrier_nmse, 1e-4))
    np.testing.assert_allclose(lower.lines[0].get_ydata(), shown, rtol=1e-6)


def test_papr_is_exceeded_as_often_as_counted(view):
    (axes,) = otafl.plot_papr(view).axes
    assert axes.lines[0].get_drawstyle() == "steps-pre"  # up to x[n] the share is share[n]
    x, share = axes.lines[0].get_data()
    values = view.radio.papr_db.ravel()
    for at in (1, len(values) // 2, len(values) - 1):
        middle = (x[at - 1] + x[at]) / 2
        assert share[at] == pytest.approx(np.mean(values > middle))


def test_the_papr_of_theory(view):
    """1 - (1 - exp(-z))^N at 10 dB, z = 10, with N = 400 and 2.8 N."""
    (axes,) = otafl.plot_papr(view).axes
    for line, carriers in zip(axes.lines[1:], (400, 1120), strict=True):
        drawn = np.interp(10.0, line.get_xdata(), line.get_ydata())
        assert drawn == pytest.approx(1 - (1 - np.exp(-10.0)) ** carriers, rel=0.02)


def test_a_small_grid_has_the_whole_of_its_papr():
    link = otafl.OfdmLink(entry_snr_db=20, fading=otafl.NoFading(),
                          grid=otafl.OfdmGrid(fft_size=16, cp_length=4, guards=(1, 1)))  # fmt: skip
    (axes,) = otafl.plot_papr(look_at(link)).axes
    assert axes.get_xlim()[0] <= axes.lines[0].get_xdata().min()


def test_transmitted_elements_are_precoded(view):
    figure = otafl.plot_constellation(view)
    radius = [max(np.abs(axes.lines[0].get_data()).ravel()) for axes in figure.axes[:2]]
    assert radius[0] == pytest.approx(1.0)
    assert radius[1] == pytest.approx(
        max(np.abs([p.real, p.imag]).max() for p in [link_pictures._thinned(view.radio.sent[0])])
    )


def test_guard_bands_begin_beyond_the_used_carriers(view):
    (axes,) = otafl.plot_spectrum(view).axes
    left, right = [
        patch.get_extents().transformed(axes.transData.inverted()) for patch in axes.patches
    ]
    assert left.x1 == pytest.approx(-200 * 0.03)
    assert right.x0 == pytest.approx(200 * 0.03)


def test_without_inversion_there_is_no_threshold():
    link = replace(LINK, control="mmse", transmit=(), csi=otafl.PerfectCsi())
    assert look_at(link).radio.threshold == 0
    labels = [line.get_label() for line in otafl.plot_channels(look_at(link)).axes[0].lines]
    assert "truncation" not in labels


@pytest.mark.parametrize("name", PICTURES)
def test_pictures_can_be_printed_in_a_plain_session(name, view):
    """Without any style set before."""
    with plt.rc_context(rc=plt.rcParamsDefault):
        assert_printable(PICTURES[name](view))


def test_pilots_leave_the_density_of_data_at_0_db(rng):
    grid = otafl.OfdmGrid(pilots=100)
    link = otafl.OfdmLink(fading=otafl.NoFading(), entry_snr_db=20, grid=grid)
    view = look_at(link, rng.standard_normal((1, 60_000)), gain=1 / np.sqrt(60_000))
    frequency, density = otafl.plot_spectrum(view).axes[0].lines[0].get_data()
    used = np.abs(frequency) < 5.9
    # of the used carriers three in four hold data, and the others are empty
    assert np.mean(10 ** (density[used] / 10)) == pytest.approx(0.75, rel=0.05)


def test_pictures_can_be_part_of_another_figure(view):
    figure, (left, right) = plt.subplots(1, 2)
    assert otafl.plot_channels(view, left) is figure
    assert otafl.plot_papr(view, right) is figure


def test_every_picture_is_in_the_door():
    assert {f"plot_{name}" for name in PICTURES if name != "overview"} | {"plot_link"} == set(
        link_pictures.__all__
    )
    assert all(hasattr(otafl, name) for name in link_pictures.__all__)
