"""The modem itself, with QAM instead of updates, against textbooks."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.integrate import quad
from scipy.special import erfc

from links import WaveformLink, realise
from phy import NoFading, OfdmGrid, Rayleigh, Tdl
from phy.impairments import Adc
from tests.links.fixed import DistortedCsi, generators
from tests.tolerance import check_mean, check_proportion

PHASE_ONLY = DistortedCsi(lambda response: response / np.abs(response))
"""Clients undo the phase of their channel, and not its magnitude."""


def qam_points(order):
    side = int(np.sqrt(order))
    levels = 2 * np.arange(side) - side + 1
    points = (levels[:, None] + 1j * levels[None, :]).reshape(-1)
    return points / np.sqrt(np.mean(np.abs(points) ** 2))


def textbook_ser(order, snr):
    """Of square QAM over AWGN (J. G. Proakis, Digital Communications)."""
    tail = 0.5 * erfc(np.sqrt(1.5 * snr / (order - 1)))
    one = 2 * (1 - 1 / np.sqrt(order)) * tail
    return 1 - (1 - one) ** 2


def symbol_errors(sent, heard, points):
    decided = np.abs(heard[..., None] - points).argmin(axis=-1)
    return decided != sent


@pytest.mark.parametrize(("order", "snr_db"), [(4, 4.0), (4, 8.0), (16, 12.0), (64, 18.0)])
@pytest.mark.parametrize("impairments", [{}, {"receive": (Adc(16),)}], ids=["clean", "long way"])
def test_symbol_error_rate_of_qam_over_awgn(order, snr_db, impairments, rng):
    points = qam_points(order)
    count = 200 * 400
    symbols = rng.integers(order, size=count)
    signals = points[symbols].astype(np.complex64).view(np.float32)[None]
    energy = float(count)  # Es = 1
    link = WaveformLink(
        fading=NoFading(),
        entry_snr_db=snr_db,
        power=2 * energy,
        reference_power=energy,
        budget="round",
        **impairments,
    )
    received = link.open(1, 2 * count, rng).send(signals, 1.0).total
    errors = symbol_errors(symbols, received.view(np.complex64), points)
    check_proportion(errors, textbook_ser(order, 10 ** (snr_db / 10)))


@pytest.mark.parametrize(("order", "snr_db"), [(4, 10.0), (16, 15.0)])
def test_symbol_error_rate_of_qam_over_flat_rayleigh(order, snr_db, rng):
    """The AWGN rate averaged over an exponential SNR; the receiver knows |h|."""
    points = qam_points(order)
    draws, count = 1200, 108
    grid = OfdmGrid(fft_size=64, cp_length=16, guards=(5, 4))
    symbols = rng.integers(order, size=(draws, count))
    signals = points[symbols].astype(np.complex64).view(np.float32)[:, None]
    link = WaveformLink(
        grid=grid,
        fading=Rayleigh(),
        csi=PHASE_ONLY,
        truncation=0.0,
        entry_snr_db=snr_db,
        power=2.0 * count,
        reference_power=float(count),
        budget="round",
    )

    def measure(uplink, n):
        received = uplink.send(signals[n], 1.0).total.view(np.complex64)
        return received, np.abs(uplink.medium.channel.response[0, 0, 0])

    received, strength = realise(link, 1, 2 * count, generators(rng, draws), measure)
    errors = symbol_errors(symbols, received / strength[:, None], points)
    snr = 10 ** (snr_db / 10)
    expected = quad(lambda g: np.exp(-g) * textbook_ser(order, g * snr), 0, np.inf)[0]
    check_mean(errors.mean(axis=1), expected)


@pytest.mark.parametrize("fading", [NoFading(), Tdl("A")], ids=str)
def test_noise_on_the_elements_has_the_variance_asked_for(fading, rng):
    link = WaveformLink(fading=fading, entry_snr_db=3.0, power=4.0, reference_power=4.0)
    received = link.open(1, 80_000, rng).send(np.zeros((1, 80_000)), 1.0).total
    check_mean(np.square(received), 4.0 / 80_000 * 10 ** (-0.3))
