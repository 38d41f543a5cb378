"""Figures, one module each, in one style."""
