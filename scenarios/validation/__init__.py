"""Validation: what theory predicts, measured on this installation."""

from scenarios.validation.claims import at_least, at_most, mean_is, share_is, value_is, verify

__all__ = ["at_least", "at_most", "mean_is", "share_is", "value_is", "verify"]
