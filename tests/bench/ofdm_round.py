"""One OFDM round, timed side by side: this OfdmLink, stock Sionna, and the arithmetic's floor.

    python -m tests.bench.ofdm_round

Everything runs in one process, turn by turn, and each number is the best of many turns; read the
ratios, not the milliseconds. `make bench` gives BLAS one thread, which suits matrices this small.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from links import OfdmLink
from otafl._base import lazy
from phy import NoisyCsi, OfdmGrid, Packing, Tdl
from phy.channel import steering
from phy.randomness import complex_normal
from tests.bench.timing import best_times

CLIENTS, LENGTH = 10, 7850
GRID = OfdmGrid()
GAIN = 1e-5
OURS = "this OfdmLink, open + send"


def generator() -> np.random.Generator:
    return np.random.Generator(np.random.Philox(0))


def signals_of(*shape: int) -> np.ndarray:
    return np.random.default_rng(0).standard_normal(shape, dtype=np.float32)


def our_round(**options: Any) -> Callable[[], object]:
    link = OfdmLink(**{"grid": GRID, "fading": Tdl("A"), **options})
    rng, signals = generator(), signals_of(CLIENTS, LENGTH)
    return lambda: link.open(CLIENTS, LENGTH, rng).send(signals, GAIN)


def floor() -> dict[str, Callable[[], object]]:
    """Return the pieces of arithmetic that a round cannot avoid, each alone.

    Noise comes twice: from NumPy's standard_normal, which anyone would call, and from the faster
    generator that the link uses.
    """
    packing = Packing(GRID, LENGTH)
    symbols, carriers = packing.num_symbols, GRID.num_carriers
    noise_rng, rng = generator(), np.random.default_rng(0)
    paths = len(Tdl("A").delays)
    taps = rng.standard_normal((CLIENTS, 2 * paths), dtype=np.float32).view(np.complex64)
    matrix = steering(Tdl("A").delays, GRID)
    pairs = signals_of(CLIENTS, LENGTH).view(np.complex64)
    placed = np.ascontiguousarray(packing.pack(signals_of(CLIENTS, LENGTH)))
    costs = rng.random((CLIENTS, 2 * carriers), dtype=np.float32)
    factors = (rng.random((CLIENTS, 1, carriers, 2)) @ [1, 1j]).astype(np.complex64)
    noise = np.empty((symbols, 2 * carriers), np.float32)
    gathered = np.empty((CLIENTS, packing.num_elements), np.complex64)
    products = np.empty((CLIENTS, symbols, carriers), np.complex64)
    squares = np.empty((CLIENTS, symbols, 2 * carriers), np.float32)

    def interleave() -> None:
        np.take(pairs, packing.source, axis=1, out=gathered, mode="clip")
        np.take(gathered[0], packing.source, out=gathered[1], mode="clip")  # and the sum back

    return {
        "noise, by NumPy's normals": lambda: noise_rng.standard_normal(out=noise, dtype=np.float32),
        "noise, by this toolkit": lambda: complex_normal(noise_rng, (symbols, carriers)),
        "taps @ steering": lambda: taps @ matrix,
        "interleaving": interleave,
        "energies": lambda: np.square(placed.view(np.float32), out=squares) @ costs[:, :, None],
        "weighted complex sum": lambda: np.multiply(placed, factors, out=products).sum(axis=0),
    }


def stock_rounds() -> dict[str, Callable[[], object]]:
    """The same round from Sionna's blocks, as a user would write it: eager and XLA.

    "one step" is the same, helped along: the static channel is worked out for one symbol instead
    of for all, which Sionna's GenerateOFDMChannel does not do by itself.
    """
    lazy.sionna()
    import tensorflow as tf
    from sionna.phy.channel import (
        ApplyOFDMChannel,
        GenerateOFDMChannel,
        cir_to_ofdm_channel,
        subcarrier_frequencies,
    )
    from sionna.phy.channel.tr38901 import TDL
    from sionna.phy.ofdm import RemoveNulledSubcarriers, ResourceGrid, ResourceGridMapper

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
    tdl = TDL("A", 100e-9, 3.5e9)
    generate, apply = GenerateOFDMChannel(tdl, resources), ApplyOFDMChannel()
    mapper, used = ResourceGridMapper(resources), RemoveNulledSubcarriers(resources)
    frequencies = subcarrier_frequencies(GRID.fft_size, GRID.subcarrier_spacing)
    signals = tf.constant(signals_of(CLIENTS, LENGTH))
    noise_variance = tf.constant(0.2 / GAIN**2)
    interleaver = tf.constant(packing.source)
    inverse_interleaver = tf.constant(np.argsort(packing.source))
    padding = 2 * packing.num_elements - LENGTH

    def all_steps() -> tf.Tensor:
        return generate(CLIENTS)

    def one_step() -> tf.Tensor:
        return cir_to_ofdm_channel(frequencies, *tdl(CLIENTS, 1, 1.0))

    def one_round(vectors: tf.Tensor, channel: Callable[[], tf.Tensor]) -> list[tf.Tensor]:
        # the clients come as a batch of single links, and become transmitters of one
        response = tf.transpose(channel(), [3, 1, 2, 0, 4, 5, 6])
        pairs = tf.reshape(tf.pad(vectors, [[0, 0], [0, padding]]), [CLIENTS, -1, 2])
        elements = tf.gather(tf.complex(pairs[..., 0], pairs[..., 1]), interleaver, axis=1)
        mapped = mapper(elements[None, :, None])
        own = response[:, 0, 0]
        active = tf.cast(tf.square(tf.abs(own)) > 0.05, tf.complex64)
        sent = mapped * active * tf.math.divide_no_nan(tf.ones_like(own), own)
        energy = tf.reduce_sum(tf.square(tf.abs(sent)), axis=-1)
        received = tf.reshape(used(apply(sent, response, noise_variance)), [-1])
        total = tf.gather(received, inverse_interleaver)
        parts = tf.stack([tf.math.real(total), tf.math.imag(total)], axis=-1)
        return [tf.reshape(parts, [-1])[:LENGTH], energy]

    compiled = tf.function(one_round, jit_compile=True)

    def timed(work: Callable, channel: Callable[[], tf.Tensor]) -> Callable[[], object]:
        return lambda: [result.numpy() for result in work(signals, channel)]

    return {
        "stock Sionna, eager": timed(one_round, all_steps),
        "stock Sionna, XLA": timed(compiled, all_steps),
        "stock Sionna, one step, eager": timed(one_round, one_step),
        "stock Sionna, one step, XLA": timed(compiled, one_step),
    }


def print_stock() -> None:
    print(f"One round of {CLIENTS} clients, {LENGTH} entries, TDL-A, FFT {GRID.fft_size}")
    times = best_times({OURS: our_round(), **stock_rounds()})
    for name, seconds in times.items():
        print(f"  {name:34s} {seconds * 1e3:9.3f} ms   {seconds / times[OURS]:7.1f} x")


def print_floor() -> None:
    print("\nAgainst the floor of its arithmetic")
    pieces = floor()
    variants = {
        "the same, noisy CSI": our_round(csi=NoisyCsi(0.01)),
        "the same, moving": our_round(fading=Tdl("A", speed=1.0)),
    }
    times = best_times({OURS: our_round(), **variants, **pieces})
    for name, seconds in times.items():
        print(f"  {name:34s} {seconds * 1e6:9.1f} us")
    numpys, own = (times[name] for name in list(pieces)[:2])
    bottom = sum(times[name] for name in pieces) - own
    for label, seconds in (
        ("floor", bottom),
        ("floor, with this toolkit's noise", bottom - numpys + own),
    ):
        print(f"  {label:34s} {seconds * 1e6:9.1f} us, ours is {times[OURS] / seconds:.2f} x")


def main() -> None:
    print_stock()
    print_floor()


if __name__ == "__main__":
    main()
