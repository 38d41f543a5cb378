"""Studies: configurations, sweeps, their store and the command line."""
