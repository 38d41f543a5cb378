"""Scenario files: TOML into frozen configs and sweeps."""
