"""One style."""

from __future__ import annotations

from figures import (
    style,
)


def test_no_two_of_many_lines_look_alike():
    for count in (3, 7, 20):
        looks = [style.look(None, place, count) for place in range(count)]
        assert len({(str(look["color"]), look["marker"]) for look in looks}) == count


def test_an_algorithm_of_the_user_s_looks_like_none_of_ours():
    ours = [style.look(name)["marker"] for name in style.ALGORITHMS]
    assert style.look("mine.py:Vote", 0, 3, beside=True)["marker"] not in ours
