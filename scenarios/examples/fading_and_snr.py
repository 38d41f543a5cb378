"""A sweep over fading and SNR in a Python script, with its figure.

    .venv/bin/python scenarios/examples/fading_and_snr.py [ROUNDS]

Copy it and change what you like. You can stop it at any time: started again, it continues where it
stopped.
"""

from __future__ import annotations

import sys
from pathlib import Path

import otafl

OUT = Path("out/fading-and-snr")


def main(rounds: int = 60) -> None:
    """Run the sweep, print its mean accuracies and draw them."""
    # 1. Describe the study as in a TOML file, with any option of links, algorithms and training.
    scenario = otafl.load_scenario(
        {
            "title": "Fading and SNR",
            "data": {"name": "mnist", "clients": 10, "labels_per_client": 2},
            "algorithm": {"name": "acpc", "G": 0.5, "tau_max": 6},
            "link": {"kind": "ofdm", "truncation": 0.05, "correction": "active"},
            "training": {"rounds": rounds, "rate": 0.3, "weight_decay": 1e-4, "steps": 20},
            # Sweep over a list of values, or over a table of named options.
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

    # 2. Run it. Finished cells are not run again.
    otafl.run_study(scenario, OUT)

    # 3. Open the results: an xarray Dataset whose dimensions are the swept options and the rounds.
    study = otafl.open_study(OUT)
    print((100 * study["accuracy"].mean("seed")).to_series().unstack("fading").round(1))

    # 4. Plot them: a Matplotlib figure, which you can change before you save it.
    figure = otafl.plot(study, x="link.snr_db", y="accuracy", hue="fading")
    figure.savefig(OUT / "fading-and-snr.png")
    print(f"saved {OUT / 'fading-and-snr.png'}")


if __name__ == "__main__":
    main(*map(int, sys.argv[1:2]))
