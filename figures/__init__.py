"""Figures of stored studies and of links: one module per figure, one style."""
