"""Misspelt names get the nearest valid one."""

from __future__ import annotations

from dataclasses import dataclass

import pytest

from otafl._base.names import check_names, did_you_mean, nearest, options


@pytest.mark.parametrize(
    ("given", "expected"),
    [("snr_dB", "snr_db"), ("SNR_DB", "snr_db"), ("snrdb", "snr_db"), ("xyzzy", None), (3, None)],
)
def test_nearest(given, expected):
    assert nearest(given, ["snr_db", "power", "truncation"]) == expected


def test_the_hint_has_the_right_case():
    assert did_you_mean("ofdmlink", ["OfdmLink"]) == "; did you mean 'OfdmLink'?"
    assert did_you_mean("xyzzy", ["OfdmLink"]) == ""


@options
@dataclass(frozen=True)
class Radio:
    """Some options."""

    power: float = 1.0
    snr_db: float = 0.0


def test_a_dataclass_names_the_nearest_option():
    assert Radio(power=2.0) == Radio(2.0)
    with pytest.raises(TypeError, match=r"Radio has no option 'snr_dB'; did you mean 'snr_db'\?"):
        Radio(snr_dB=3.0)
    with pytest.raises(TypeError, match="Radio has no option 'xyz'; its options are power, snr_db"):
        Radio(xyz=3.0)


def test_a_function_names_the_nearest_parameter():
    def draw(rounds=1, rate=0.1):
        return rounds * rate

    checked = check_names(draw, aliases={"lr": "rate"})
    assert checked(rounds=2, rate=3.0) == 6.0
    assert checked(2, 3.0) == 6.0
    with pytest.raises(TypeError, match="draw has no option 'lr'; write rate"):
        checked(lr=3.0)
    with pytest.raises(TypeError, match=r"draw has no option 'Rounds'; did you mean 'rounds'\?"):
        checked(Rounds=3)
    with pytest.raises(TypeError, match="multiple values"):
        checked(2, rounds=2)


def test_names_from_elsewhere():
    assert nearest("lr", ["momentum", "rate"]) == "rate"
    assert nearest("learning_rate", ["momentum", "rate"]) == "rate"
    assert nearest("lr", ["power"]) is None


def test_options_by_name_only():
    @options
    @dataclass(frozen=True, kw_only=True)
    class Link:
        snr_db: float = 10.0

    assert Link(snr_db=3.0).snr_db == 3.0
    with pytest.raises(TypeError, match="^Link takes options by name, such as snr_db=...$"):
        Link(3.0)
