"""How soon the page of ``otafl demo`` answers a slider, without the browser's part of it.

    python -m tests.bench.demo_page

A look at a round is all that the server works out; the browser then draws some thousand points.
"""

from __future__ import annotations

from otafl.demo.linkview import look_at
from otafl.demo.setting import Setting
from tests.bench.timing import best_times

FAULTS = {"csi_error": 0.05, "carrier_offset": 0.01, "backoff_db": 6.0}


def main() -> None:
    settings = {
        "5 clients": Setting(clients=5),
        "20 clients": Setting(clients=20),
        "5 clients, all faults": Setting(clients=5, **FAULTS),
        "20 clients, all faults": Setting(clients=20, **FAULTS),
    }
    times = best_times({name: lambda s=setting: look_at(s) for name, setting in settings.items()})
    print("One answer of the demo's page")
    for name, seconds in times.items():
        print(f"  {name:24s} {seconds * 1e3:7.0f} ms")


if __name__ == "__main__":
    main()
