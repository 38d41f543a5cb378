"""A sweep of your own: fading and SNR in a script, and the figure that shows it.

    .venv/bin/python scenarios/examples/fading_and_snr.py [ROUNDS]

Copy it and change what you like. Stop it at any time: it goes on where it was.
"""

from __future__ import annotations

import sys
from pathlib import Path

import matplotlib.pyplot as plt

from scenarios import load_scenario, open_study, run_study

OUT = Path("out/fading-and-snr")


def main(rounds: int = 60) -> None:
    # 1. Say what to run, as a TOML file would: any option of the links, algorithms and training.
    scenario = load_scenario(
        {
            "title": "Fading and SNR",
            "data": {"name": "mnist", "clients": 10, "labels_per_client": 2},
            "algorithm": {"name": "acpc", "G": 0.5, "tau_max": 6},
            "link": {"kind": "ofdm", "truncation": 0.05, "correction": "active"},
            "training": {"rounds": rounds, "rate": 0.3, "weight_decay": 1e-4, "steps": 20},
            # What is swept: a list of numbers, or a table of things with names.
            "sweep": {
                "link.snr_db": [0, 5, 10, 15, 20],
                "link.fading": {
                    "no fading": {"kind": "none"},
                    "Rician, K = 4": {"kind": "rician", "k_factor": 4.0},
                    "Rayleigh": {"kind": "rayleigh"},
                    "TDL-A": {"kind": "tdl", "model": "A", "delay_spread": 100e-9},
                },
                "seed": [0, 1, 2],
            },
        }
    )

    # 2. Run it. Cells that are there already are not run again.
    run_study(scenario, OUT)

    # 3. Look at it: an xarray Dataset whose dimensions are what was swept, and the rounds.
    study = open_study(OUT)
    accuracy = 100 * study["accuracy"]
    mean, spread = accuracy.mean("seed"), accuracy.std("seed")
    print(mean.to_series().unstack("fading").round(1))

    # 4. Draw it.
    figure, axes = plt.subplots(figsize=(3.5, 2.6), layout="constrained")
    for marker, fading in zip("osD^", study["fading"].values, strict=True):
        axes.errorbar(
            study["snr_db"],
            mean.sel(fading=fading),
            spread.sel(fading=fading),
            marker=marker,
            markersize=4,
            capsize=2,
            label=fading,
        )
    axes.set(xlabel="SNR [dB]", ylabel="test accuracy [%]")
    axes.grid(alpha=0.4)
    axes.legend()
    figure.savefig(OUT / "fading-and-snr.png", dpi=200)
    print(f"drawn: {OUT / 'fading-and-snr.png'}")


if __name__ == "__main__":
    main(*map(int, sys.argv[1:2]))
