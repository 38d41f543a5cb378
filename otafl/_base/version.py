"""Versions of installed packages; reading them takes a while, so this is imported on first use."""

from importlib.metadata import PackageNotFoundError, version


def installed(package: str) -> str:
    """Return the version of a package; "not installed" where it is used from source."""
    try:
        return version(package)
    except PackageNotFoundError:
        return "not installed"


__version__ = installed("otafl")
