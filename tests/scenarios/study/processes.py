"""Studies in processes of their own, to be stopped."""

from __future__ import annotations

import subprocess
import time
from pathlib import Path

from tests.scenarios import small


def start(file, folder, **options):
    options.setdefault("preexec_fn", small.default_interrupts)
    return subprocess.Popen(
        small.command("run", file, "--out", folder, "--workers", 2),
        stderr=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
        **options,
    )


def wait_for(condition, process):
    for _ in range(12_000):
        if condition() or process.poll() is not None:
            return
        time.sleep(0.01)
    raise AssertionError("nothing happened")


def workers_of(folder):
    found = []
    for entry in Path("/proc").glob("[0-9]*"):
        try:
            line = (entry / "cmdline").read_bytes().split(b"\0")
        except OSError:
            continue
        if b"scenarios.study.engines.worker" in line and str(folder.resolve()).encode() in line:
            found.append(int(entry.name))
    return found
