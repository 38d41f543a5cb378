"""Studies for figures, and what was drawn of them."""

from __future__ import annotations

from figures import gallery
from scenarios import load_scenario, run_study


def study_of(content, folder):
    run_study(load_scenario(content), folder, progress=False)
    return gallery.read_for_figures(folder)


def line(axes, label):
    (found,) = [each for each in axes.lines if each.get_label() == label]
    return found.get_ydata()


def drawn_lines(axes):
    return [each.get_ydata() for each in axes.lines]
