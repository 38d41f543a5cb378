"""One style."""

from __future__ import annotations

import matplotlib.pyplot as plt
from matplotlib.image import imread

from figures import style


def test_no_two_of_many_lines_look_alike():
    looks = [style.look(None, place) for place in range(style.MOST_LOOKS)]
    assert len({look["marker"] for look in looks}) == len({look["color"] for look in looks}) == 7
    assert len({style.shade(place, 20) for place in range(20)}) == 20


def test_a_figure_is_saved_as_it_was_drawn(tmp_path):
    """TrueType, not Type 3, although the style is no longer in force."""
    with style.context():
        figure, axes = style.subplots(1, 1, 3.5, 2.5)
        axes[0, 0].set_xlabel("label")
    with plt.rc_context(rc=plt.rcParamsDefault):
        figure.savefig(tmp_path / "figure.pdf")
        figure.savefig(tmp_path / "figure.png")
    assert b"/Type3" not in (tmp_path / "figure.pdf").read_bytes()
    assert imread(tmp_path / "figure.png").shape[:2] == (500, 700)  # 200 dpi


def test_the_house_style_is_used_where_none_is_set():
    with plt.rc_context(rc=plt.rcParamsDefault):
        with style.ensured():
            assert plt.rcParams["font.size"] == 8
        with style.context("slides"), style.ensured():
            assert plt.rcParams["font.size"] == 15


def test_an_algorithm_of_the_user_s_looks_like_none_of_ours():
    ours = [style.look(name)["marker"] for name in style.ALGORITHMS]
    assert style.look("mine.py:Vote", 0, beside=True)["marker"] not in ours
