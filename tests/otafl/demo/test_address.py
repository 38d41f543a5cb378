"""The address holds all settings, and a bad one does no harm."""

from __future__ import annotations

from dataclasses import fields
from urllib.parse import parse_qs

import pytest

from otafl.demo.address import query_of, setting_of
from otafl.demo.setting import Setting

OTHER = Setting(7, "Gaussian", -12.0, "Rician, K = 4", 0.115, 0.29, 0.003, 11.0, 123)


def parsed(query):
    return {name: [value.encode() for value in given] for name, given in parse_qs(query).items()}


@pytest.mark.parametrize("setting", [Setting(), OTHER])
def test_there_and_back(setting):
    query = query_of(setting)
    assert setting_of(parsed(query)) == (setting, [])
    assert all(f"{field.name}=" in query for field in fields(Setting))


def test_an_empty_address_is_the_default():
    assert setting_of({}) == (Setting(), [])


@pytest.mark.parametrize(
    ("query", "name", "value"),
    [
        ("clients=99", "clients", 20),
        ("clients=2.4", "clients", 2),
        ("clients=three", "clients", 5),
        ("entry_snr_db=-1e400", "entry_snr_db", -40.0),
        ("entry_snr_db=nan", "entry_snr_db", 20.0),
        ("seed=-1", "seed", 0),
        ("seed=1e30", "seed", 999_999),
        ("fading=fog", "fading", "TDL-A, 100 ns"),
        ("truncation=0.333", "truncation", 0.33),
        ("payload=%FF%00", "payload", "votes"),
    ],
)
def test_a_bad_value_gives_the_nearest_or_the_default_and_a_message(query, name, value):
    setting, (message,) = setting_of(parsed(query))
    assert setting == Setting(**{name: value})
    assert message.startswith(f"{name} must be ")
    assert message.endswith(f"this page has {str(value).removesuffix('.0')}")
    assert isinstance(setting.clients, int)


def test_unknown_names_are_ignored_with_a_message():
    setting, messages = setting_of({"clinets": [b"3"], "x" * 500: [b"1"]})
    assert setting == Setting()
    assert "clinets is not a setting; did you mean 'clients'?" in messages[0]
    assert len(messages[1]) < 100


def test_the_last_of_several_values_counts_and_none_is_refused():
    assert setting_of({"clients": [b"3", b"4"]})[0].clients == 4
    setting, (message,) = setting_of({"clients": []})
    assert setting == Setting()
    assert "got ''" in message
