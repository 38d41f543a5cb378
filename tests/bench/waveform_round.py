"""One round in the time domain, timed side by side: this WaveformLink, stock Sionna, bare FFTs.

    python -m tests.bench.waveform_round

As in :mod:`tests.bench.ofdm_round`, everything runs in one process, turn by turn: read the ratios.
Then how much memory a large round takes, and how long a run of learning with all faults.
"""

from __future__ import annotations

import resource
import subprocess
import sys
import time
from collections.abc import Callable
from typing import Any

import numpy as np
from scipy import fft

from links import WaveformLink
from otafl._base import lazy
from phy import OfdmGrid, Packing, Tdl
from phy.impairments import (
    Adc,
    CarrierOffset,
    CarrierSync,
    ClipAndFilter,
    ClockOffset,
    IqImbalance,
    PhaseNoise,
    Rapp,
    TimingAdvance,
    TimingOffset,
)
from phy.time_channel import lags_of
from tests.bench.ofdm_round import CLIENTS, GAIN, GRID, LENGTH, generator, signals_of
from tests.bench.timing import best_times

ROUNDS = 300
OURS, ALL_FAULTS, BARE = "this WaveformLink, open + send", "the same, all faults", "bare FFTs"
FAULTS: dict[str, Any] = {
    "grid": OfdmGrid(pilots=8),
    "window_advance": 8,
    "transmit": (
        ClipAndFilter(backoff_db=9),
        IqImbalance(gain_std_db=0.2, phase_std_deg=1),
        PhaseNoise(linewidth=20),
        CarrierOffset(std=0.5, unit="ppm", sync=CarrierSync(snr_db=20)),
        ClockOffset(std_ppm=2),
        TimingOffset(std=2, advance=TimingAdvance(resolution=0.5)),
        Rapp(backoff_db=8),
    ),
    "receive": (IqImbalance(gain_db=0.1, phase_deg=1), PhaseNoise(linewidth=5), Adc(bits=10)),
}


def our_round(**options: Any) -> Callable[[], object]:
    link = WaveformLink(**{"grid": GRID, "fading": Tdl("A"), **options})
    rng, signals = generator(), signals_of(CLIENTS, LENGTH)
    return lambda: link.open(CLIENTS, LENGTH, rng).send(signals, GAIN)


def bare_ffts() -> Callable[[], object]:
    """Transform every client's symbols to samples and the server's back, and nothing else."""
    symbols = GRID.num_symbols(LENGTH)
    shape = (CLIENTS, symbols, GRID.fft_size)
    bins = np.random.default_rng(0).standard_normal((*shape, 2), np.float32).view(np.complex64)
    bins = bins[..., 0]

    def transform() -> None:
        fft.ifft(bins, norm="ortho")
        fft.fft(bins[0], norm="ortho")

    return transform


def stock_rounds() -> dict[str, Callable[[], object]]:
    """The same round from Sionna's blocks, as a user would write it: eager and XLA.

    "one step" is the same, helped along: the static channel is worked out for one sample instead
    of for all.
    """
    lazy.sionna()
    import tensorflow as tf
    from sionna.phy.channel import ApplyTimeChannel, cir_to_time_channel, time_to_ofdm_channel
    from sionna.phy.channel.tr38901 import TDL
    from sionna.phy.ofdm import (
        OFDMDemodulator,
        OFDMModulator,
        RemoveNulledSubcarriers,
        ResourceGrid,
        ResourceGridMapper,
    )

    packing = Packing(GRID, LENGTH)
    resources = ResourceGrid(
        num_ofdm_symbols=packing.num_symbols,
        fft_size=GRID.fft_size,
        subcarrier_spacing=GRID.subcarrier_spacing,
        num_tx=CLIENTS,
        cyclic_prefix_length=GRID.cp_length,
        num_guard_carriers=GRID.guards,
        dc_null=GRID.dc_null,
    )
    first, last = lags_of(Tdl("A").delays, GRID)
    samples, taps = resources.num_time_samples, last - first + 1
    rate = tf.constant(GRID.sampling_rate, tf.float32)
    tdl = TDL("A", 100e-9, 3.5e9)
    modulate, apply = OFDMModulator(GRID.cp_length), ApplyTimeChannel(samples, taps)
    demodulate = OFDMDemodulator(GRID.fft_size, first, GRID.cp_length)
    mapper, used = ResourceGridMapper(resources), RemoveNulledSubcarriers(resources)
    signals = tf.constant(signals_of(CLIENTS, LENGTH))
    noise_variance = tf.constant(0.2 / GAIN**2)
    interleaver = tf.constant(packing.source)
    inverse_interleaver = tf.constant(np.argsort(packing.source))
    padding = 2 * packing.num_elements - LENGTH

    def taps_over(steps: int) -> tf.Tensor:
        a, tau = tdl(CLIENTS, steps, GRID.sampling_rate)
        # the clients come as a batch of single links, and become transmitters of one
        taps_each = cir_to_time_channel(rate, a, tau, first, last)
        return tf.transpose(taps_each, [3, 1, 2, 0, 4, 5, 6])

    def one_round(vectors: tf.Tensor, steps: int) -> list[tf.Tensor]:
        channel = taps_over(steps)
        whole = channel if steps > 1 else tf.repeat(channel, samples + taps - 1, axis=-2)
        own = time_to_ofdm_channel(whole, resources, first)[:, 0, 0]
        pairs = tf.reshape(tf.pad(vectors, [[0, 0], [0, padding]]), [CLIENTS, -1, 2])
        elements = tf.gather(tf.complex(pairs[..., 0], pairs[..., 1]), interleaver, axis=1)
        active = tf.cast(tf.square(tf.abs(own)) > 0.05, tf.complex64)
        inverse = active * tf.math.divide_no_nan(tf.ones_like(own), own)
        sent = mapper(elements[None, :, None]) * inverse
        energy = tf.reduce_sum(tf.square(tf.abs(sent)), axis=-1)
        arrived = apply(modulate(sent), channel, noise_variance)
        received = tf.reshape(used(demodulate(arrived)), [-1])
        total = tf.gather(received, inverse_interleaver)
        parts = tf.stack([tf.math.real(total), tf.math.imag(total)], axis=-1)
        return [tf.reshape(parts, [-1])[:LENGTH], energy]

    compiled = tf.function(one_round, jit_compile=True)

    def timed(work: Callable, steps: int) -> Callable[[], object]:
        return lambda: [result.numpy() for result in work(signals, steps)]

    every = samples + taps - 1
    return {
        "stock Sionna, eager": timed(one_round, every),
        "stock Sionna, XLA": timed(compiled, every),
        "stock Sionna, one step, XLA": timed(compiled, 1),
    }


def print_stock() -> None:
    print(
        f"One round of {CLIENTS} clients, {LENGTH} entries, TDL-A, in {GRID.fft_size} + 64 samples"
    )
    times = best_times({OURS: our_round(), ALL_FAULTS: our_round(**FAULTS), **stock_rounds()})
    for name, seconds in times.items():
        print(f"  {name:34s} {seconds * 1e3:9.3f} ms   {seconds / times[OURS]:7.1f} x")


def print_bare() -> None:
    print("\nAgainst the FFTs of the same work")
    works = {
        BARE: bare_ffts(),
        OURS: our_round(),
        "the same, moving": our_round(fading=Tdl("A", speed=1.0)),
        ALL_FAULTS: our_round(**FAULTS),
    }
    times = best_times(works)
    for name, seconds in times.items():
        print(f"  {name:34s} {seconds * 1e6:9.1f} us   {seconds / times[BARE]:6.2f} x")


def large_round(clients: int, length: int) -> None:
    """Print what a round with all faults takes at most, in a process of its own."""
    signals = signals_of(clients, length)
    start = time.perf_counter()
    WaveformLink(**FAULTS).open(clients, length, generator()).send(signals, GAIN)
    seconds = time.perf_counter() - start
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 2**20
    print(f"\n{clients} clients, {length} entries, all faults: {seconds:.1f} s, {peak:.2f} GiB")


def print_large(clients: int = 100, length: int = 100_000) -> None:
    code = f"from tests.bench.waveform_round import large_round; large_round({clients}, {length})"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    print(done.stdout)


def print_learning() -> None:
    from fl import Acpc, Problem, Sgd, load_dataset, partition_by_label, train

    data = load_dataset("mnist")
    shards = partition_by_label(data.y_train, CLIENTS, 2, np.random.default_rng(0))
    link = WaveformLink(entry_snr_db=20, **FAULTS)
    start = time.perf_counter()
    problem = Problem(None, data, shards)
    history = train(Acpc(), link, problem, rounds=ROUNDS, sgd=Sgd(0.1, 50), test_every=10)
    seconds = time.perf_counter() - start
    print(f"{history.num_rounds} rounds of ACPC with all faults: {seconds:.0f} s, {history}")


def main() -> None:
    print_stock()
    print_bare()
    print_large()
    print_learning()


if __name__ == "__main__":
    main()
