"""What a result was made with."""

from __future__ import annotations

import platform
import subprocess
from functools import lru_cache
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path

PACKAGES = ("otafl", "numpy", "scipy", "tensorflow", "sionna-no-rt", "xarray", "h5netcdf")


@lru_cache
def made_with() -> dict[str, str]:
    """Versions, and the revision of the source where it is a checkout."""
    versions = {"python": platform.python_version(), "machine": platform.machine()}
    for package in PACKAGES:
        try:
            versions[package] = version(package)
        except PackageNotFoundError:  # used from its source, without an installation
            versions[package] = "not installed"
    revision = _revision(Path(__file__).parent.parent)
    return {**versions, "revision": revision} if revision else versions


def _revision(root: Path) -> str:
    """Of the git checkout at ``root``, with "+" if there is more than was committed."""
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
