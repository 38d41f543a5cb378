"""Hardware impairments, one at a time, through the whole link in samples.

The closed forms hold with every carrier loaded.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from links import WaveformLink
from phy import NoFading, OfdmGrid
from phy.impairments import Adc, CarrierOffset, PhaseNoise, SoftLimiter, TimingOffset, theory
from scenarios.validation.claims import Claim, at_most, mean_is, share_is
from scenarios.validation.oracle import Chapter, generators, sums

FULL = OfdmGrid(fft_size=64, cp_length=16, guards=(0, 0), dc_null=False)
SYMBOLS = 10
ORACLES = Chapter()


def through(
    rng: np.random.Generator, *, realisations: int = 200, grid: OfdmGrid = FULL, **options: Any
) -> tuple[NDArray[np.complex64], NDArray[np.complex64]]:
    """Send Gaussian symbols of unit variance; return what was sent and received.

    Both have shape [realisations, SYMBOLS, carriers].

    The mean power of the samples is what the client's budget allows.
    """
    length = 2 * grid.num_carriers * SYMBOLS
    plain = WaveformLink(grid=grid, fading=NoFading(), truncation=0.0, snr_db=np.inf)
    power = float(SYMBOLS * grid.num_carriers)
    link = replace(plain, power=power, interleaver_seed=None, **options)
    rngs = generators(rng, realisations)
    signals = rng.normal(scale=np.sqrt(0.5), size=(realisations, 1, length)).astype(np.float32)
    received = sums(link, signals, 1.0, rngs)
    shape = (realisations, SYMBOLS, grid.num_carriers)
    return signals.view(np.complex64).reshape(shape), received.view(np.complex64).reshape(shape)


def mean_power(values: NDArray) -> NDArray[np.float64]:
    """Return the mean power of each realisation, [realisations]."""
    return np.square(np.abs(values)).mean(axis=tuple(range(1, values.ndim)))


def _gain_and_rest(
    what: str, sent: NDArray, received: NDArray, expected: theory.Distorted
) -> Iterator[Claim]:
    """Compare the gain of a symbol and the power of the rest, which looks like noise."""
    found = (received * sent.conj() / expected.gain).real
    aligned = 1 + found.mean(axis=tuple(range(1, sent.ndim))) - mean_power(sent)
    yield mean_is(f"{what}: gain over that of theory", aligned, 1.0)
    rest = mean_power(received - expected.gain * sent)
    yield mean_is(f"{what}: rest", rest, float(expected.distortion))


@ORACLES.law("phase noise", r"E[e^{\mathrm{j}\varphi(t)}] = e^{-\pi \Delta\nu t}")
def phase_noise(rng: np.random.Generator) -> Iterator[Claim]:
    """Error of a symbol under Wiener phase noise."""
    sent, received = through(rng, transmit=(PhaseNoise(2000.0),), realisations=4000)
    for symbol in (0, 9):
        expected = theory.phase_noise(FULL, 2000.0, symbol)
        what = f"2 kHz, symbol {symbol + 1}: error"
        yield mean_is(what, mean_power(received[:, symbol] - sent[:, symbol]), float(expected.nmse))


@ORACLES.law(
    "late slots",
    r"e^{-\mathrm{j} 2 \pi n k/N} \text{ inside the prefix}; \quad "
    r"\frac{N-d}{N},\ 1 - \left(\frac{N-d}{N}\right)^2 \text{ beyond}",
)
def late_slots(rng: np.random.Generator) -> Iterator[Claim]:
    """Slots that are late, within the cyclic prefix and beyond it."""
    sent, received = through(rng, transmit=(TimingOffset(7),), realisations=5)
    ramp = np.exp(-2j * np.pi * FULL.carriers * 7 / 64)
    error = np.abs(received - sent * ramp).max()
    yield at_most("7 samples late, within the prefix: largest error beside a ramp", error, 1e-4)
    for late in (5, 20):
        sent, received = through(rng, transmit=(TimingOffset(16 + late),))
        ramp = np.exp(-2j * np.pi * FULL.carriers * (16 + late) / 64)
        what = f"{late} samples beyond the prefix"
        expected = theory.late_slot(FULL, late)
        yield from _gain_and_rest(what, sent[:, 1:], received[:, 1:] / ramp, expected)


@ORACLES.law(
    "carrier offset",
    r"|S_0| = \frac{\sin \pi\varepsilon}{N \sin(\pi\varepsilon/N)}, \quad 1 - |S_0|^2",
)
def carrier_offset(rng: np.random.Generator) -> Iterator[Claim]:
    """Gain and inter-carrier interference under a carrier offset."""
    for offset in (0.01, 0.4):
        sent, received = through(rng, transmit=(CarrierOffset(offset),))
        for symbol in (0, 9):
            what = f"{offset:g} spacings, symbol {symbol + 1}"
            expected = theory.carrier_offset(FULL, offset, symbol)
            yield from _gain_and_rest(what, sent[:, symbol], received[:, symbol], expected)


@ORACLES.law(
    "carrier offset over ten symbols",
    r"2 \pi \varepsilon (N_\mathrm{cp} + l (N + N_\mathrm{cp})) / N",
)
def carrier_offset_of_a_block(rng: np.random.Generator) -> Iterator[Claim]:
    """NMSE of a block of ten symbols under a carrier offset."""
    grid = OfdmGrid(guards=(0, 0), dc_null=False)
    sent, received = through(rng, transmit=(CarrierOffset(0.01),), grid=grid, realisations=60)
    effects = [theory.carrier_offset(grid, 0.01, symbol) for symbol in range(SYMBOLS)]
    expected = float(np.mean([each.nmse for each in effects]))
    yield mean_is("0.01 spacings: NMSE", mean_power(received - sent), expected)


@ORACLES.law(
    "soft limiter", r"1 - e^{-c^2} + \frac{\sqrt{\pi} c}{2}\,\mathrm{erfc}\,c, \quad c = A/s"
)
def soft_limiter(rng: np.random.Generator) -> Iterator[Claim]:
    """Gain and distortion of a soft limiter."""
    for backoff in (0.0, 6.0):
        sent, received = through(rng, transmit=(SoftLimiter(backoff),), realisations=600)
        what, expected = f"{backoff:g} dB of backoff", theory.soft_limiter(backoff)
        yield from _gain_and_rest(what, sent, received, expected)


@ORACLES.law("PAPR", r"P(\mathrm{PAPR} > z) = 1 - (1 - e^{-z})^N")
def papr(rng: np.random.Generator) -> Iterator[Claim]:
    """Distribution of the peak-to-average power ratio."""
    symbols = 20_000
    grid = OfdmGrid(fft_size=256, cp_length=0, guards=(0, 0), dc_null=False)
    # Gaussian elements have independent Gaussian samples; the mean power is the allowed one
    signals = rng.normal(scale=np.sqrt(0.5), size=(symbols, 512)).astype(np.float32)
    link = WaveformLink(grid=grid, fading=NoFading(), power=256.0)
    report = link.open(symbols, 512, rng).send(signals, 1.0, enforce=False).diagnostics
    for level_db in (7.5, 9.0):
        level = 10 ** (level_db / 10)
        above = report["peak_power"] > level
        yield share_is(f"P(peak > {level_db:g} dB)", above, theory.papr_ccdf(level, 256))


@ORACLES.law("quantiser", r"\mathrm{step}^2/12 \text{ in each of I and Q}")
def quantiser(rng: np.random.Generator) -> Iterator[Claim]:
    """Quantisation noise of a converter."""
    for bits in (4, 10):
        sent, received = through(rng, receive=(Adc(bits, backoff_db=18.0),), realisations=300)
        error = mean_power(received - sent) / mean_power(sent)
        what = f"{bits} bits, 18 dB below full scale: error"
        yield mean_is(what, error, float(theory.quantiser(bits, 18.0)))
