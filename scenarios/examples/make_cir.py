"""Write a file of channel impulse responses for ``otafl.CirFading``.

    .venv/bin/python scenarios/examples/make_cir.py cdl.npz --model cdl --clients 10
    .venv/bin/python scenarios/examples/make_cir.py umi.npz --model umi --snapshots 1000 --seed 1
    .venv/bin/python scenarios/examples/make_cir.py rt.npz --model rt --scene munich

The files of ``umi``, ``uma`` and ``rma`` include path loss and shadow fading, and that of ``rt``
the losses of its rays: ``CirFading.path_gain`` has them. ``rt`` traces rays in a built-in scene of
Sionna RT, which is a package of its own (pip install sionna-rt); the tests of otafl do not run it.
Copy this script to record other scenes and movements, or write the same arrays with MATLAB.
"""

from __future__ import annotations

import argparse
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

import otafl

CELLS = {"umi": otafl.SionnaUmi, "uma": otafl.SionnaUma, "rma": otafl.SionnaRma}
SERVER = (8.5, 21.0, 27.0)  # in the scene, above the rooftops of "munich" [m]
RADIUS, CLIENT_HEIGHT = 100.0, 1.5  # [m]
CANDIDATES = 5  # places that are tried for each client: no ray reaches some of them


def main(arguments: Sequence[str] | None = None) -> None:
    """Make the channels and save them."""
    parser = argparse.ArgumentParser(
        description="Write a file of channel impulse responses.",
        formatter_class=argparse.ArgumentDefaultsHelpFormatter,
    )
    parser.add_argument("out", help="the file to write, which ends in .npz")
    parser.add_argument(
        "--model", choices=["cdl", *CELLS, "rt"], default="cdl", help="channel model"
    )
    parser.add_argument("--profile", default="A", help="of cdl: A to E")
    parser.add_argument("--delay-spread", type=float, default=100e-9, help="of cdl [s]")
    parser.add_argument("--scene", default="munich", help="of rt: a built-in scene of Sionna RT")
    parser.add_argument("--clients", type=int, default=10, help="number of clients")
    parser.add_argument("--snapshots", type=int, default=100, help="number of snapshots")
    parser.add_argument("--interval", type=float, default=0.1, help="between snapshots [s]")
    parser.add_argument("--speed", type=float, default=1.0, help="of each client [m/s]")
    parser.add_argument("--carrier-frequency", type=float, default=3.5e9, help="[Hz]")
    parser.add_argument("--seed", type=int, default=0, help="seed of all random numbers")
    options = parser.parse_args(arguments)
    if not options.out.endswith(".npz"):
        parser.error(f"out must end in .npz, got {options.out!r}")
    for name in ("clients", "snapshots", "interval"):
        if getattr(options, name) <= 0:
            parser.error(f"--{name} must be > 0, got {getattr(options, name)}")
    try:
        a, tau = traced(options) if options.model == "rt" else modelled(options)
    except (ValueError, ModuleNotFoundError) as error:
        parser.error(str(error))
    tau = np.where((a == 0).all(axis=1), 0.0, tau)  # models fill up with empty paths
    np.savez(options.out, a=a, tau=tau, interval=options.interval)
    clients, snapshots, paths = a.shape
    print(f"saved {options.out}: {clients} clients, {snapshots} snapshots, {paths} paths")


def modelled(options: argparse.Namespace) -> tuple[NDArray, NDArray]:
    """Return ``a [clients, snapshots, paths]`` and ``tau [clients, paths]`` of a Sionna model."""
    movement = {"min_speed": options.speed, "carrier_frequency": options.carrier_frequency}
    devices = np.random.default_rng([options.seed, 1])
    loss = np.ones(options.clients)
    fading: otafl.Fading
    if options.model == "cdl":
        fading = otafl.SionnaCdl(options.profile, options.delay_spread, **movement)
    else:
        fading = cell = CELLS[options.model](**movement)
        loss = np.array(cell.path_gains(options.clients, devices))
    taps = fading.draw(
        np.arange(options.clients),
        options.interval * np.arange(options.snapshots),
        np.random.default_rng(options.seed),
        devices,
    )
    return np.sqrt(loss)[:, None, None] * taps.gains, taps.delays


def traced(options: argparse.Namespace) -> tuple[NDArray, NDArray]:
    """Return the same for rays through a scene, from random places around the server."""
    try:
        from sionna import rt
    except ImportError as error:
        raise ModuleNotFoundError("--model rt needs Sionna RT: pip install sionna-rt") from error
    if not hasattr(rt.scene, options.scene):
        raise ValueError(f"--scene must be a built-in scene of Sionna RT, got {options.scene!r}")
    scene = rt.load_scene(getattr(rt.scene, options.scene))
    scene.frequency = options.carrier_frequency
    scene.tx_array = rt.PlanarArray(num_rows=1, num_cols=1, pattern="iso", polarization="V")
    scene.rx_array = scene.tx_array
    scene.add(rt.Receiver(name="server", position=list(SERVER)))
    rng = np.random.default_rng(options.seed)
    for i in range(CANDIDATES * options.clients):
        distance, (bearing, heading) = RADIUS * rng.random() ** 0.5, 2 * np.pi * rng.random(2)
        x, y = distance * np.cos(bearing), distance * np.sin(bearing)
        velocity = [options.speed * np.cos(heading), options.speed * np.sin(heading), 0.0]
        place = [SERVER[0] + x, SERVER[1] + y, CLIENT_HEIGHT]
        scene.add(rt.Transmitter(name=f"client-{i}", position=place, velocity=velocity))
    paths = rt.PathSolver()(scene, max_depth=5, seed=options.seed)
    gains, delays = paths.cir(  # [1, 1, clients, 1, paths, snapshots] and [1, clients, paths]
        sampling_frequency=1 / options.interval,
        num_time_steps=options.snapshots,
        normalize_delays=True,
        out_type="numpy",
    )
    a, tau = np.swapaxes(gains[0, 0, :, 0], 1, 2), delays[0]
    reached = np.flatnonzero((a != 0).any(axis=(1, 2)))[: options.clients]
    if len(reached) < options.clients:
        raise ValueError(f"rays must reach {options.clients} clients, got {len(reached)} of them")
    return a[reached], tau[reached]


if __name__ == "__main__":
    main()
