"""The learning; it knows nothing of radio."""

from fl.api import Link, Reception, Slot

__all__ = ["Link", "Reception", "Slot"]
