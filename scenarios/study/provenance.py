"""The versions that a result was computed with."""

from __future__ import annotations

import platform
import subprocess
from functools import lru_cache
from pathlib import Path

from otafl._base.version import installed

PACKAGES = ("otafl", "numpy", "scipy", "tensorflow", "sionna-no-rt", "xarray", "h5netcdf")


@lru_cache
def versions() -> dict[str, str]:
    """Return versions by package name, and the git revision if this is a checkout."""
    found = {"python": platform.python_version(), "machine": platform.machine()}
    found |= {package: installed(package) for package in PACKAGES}
    revision = _revision(Path(__file__).parents[2])
    return {**found, "revision": revision} if revision else found


def _revision(root: Path) -> str:
    """Return the commit of the git checkout at ``root``, with "+" if there are local changes."""
    if not (root / ".git").exists():
        return ""
    try:
        head, changes = (
            subprocess.run(
                ["git", "--no-optional-locks", "-C", str(root), *command],
                capture_output=True,
                text=True,
                check=True,
                timeout=10,
            ).stdout.strip()
            for command in (["rev-parse", "HEAD"], ["status", "--porcelain"])
        )
    except (OSError, subprocess.SubprocessError):
        return ""
    return head + ("+" if changes else "")
