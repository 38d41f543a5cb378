"""What the toolkit claims of itself, measured on the spot and held against theory."""

from scenarios.validation.claims import (
    Claim,
    at_least,
    at_most,
    mean_is,
    share_is,
    value_is,
    verify,
)

__all__ = ["Claim", "at_least", "at_most", "mean_is", "share_is", "value_is", "verify"]
