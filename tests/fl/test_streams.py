"""Random streams: functions of (seed, round, purpose), the same in every version."""

from __future__ import annotations

from fl.streams import Purpose, client_streams, stream


def test_numbers_of_purposes_do_not_change():
    """Another number draws other minibatches, channels or steps for the same seed."""
    assert {each.name: each.value for each in Purpose} == {
        "INITIAL_MODEL": 1, "MINIBATCHES": 2, "LOCAL_STEPS": 3, "LINK": 4, "DEVICES": 5,
        "CONSTANTS": 6, "PARTITION": 7, "PARTICIPATION": 8, "DOWNLINK": 9, "COMPUTE_TIME": 10,
        "PROJECTION": 11,
    }  # fmt: skip


def test_bits_are_those_of_version_0_1():
    """Raw output of Philox, which NumPy keeps stable."""
    assert stream(7, 3, Purpose.LINK).bit_generator.random_raw(2).tolist() == [
        10705175712222725354,
        7729131279497659093,
    ]
    assert stream(0, 0, Purpose.MINIBATCHES).bit_generator.random_raw() == 1253135170072112371


def test_streams_differ():
    keys = [(s, t, p) for s in (0, 1) for t in (0, 1) for p in Purpose]
    first = {int(stream(*key).bit_generator.random_raw()) for key in keys}
    assert len(first) == len(keys) == 44


def test_a_client_has_a_stream_of_its_own():
    """A function of seed, round, purpose and client, whoever else is asked for."""

    def first(seed=1, number=2, purpose=Purpose.MINIBATCHES, clients=(5,)):
        return [each.random() for each in client_streams(seed, number, purpose, clients)]

    (alone,) = first()
    assert first(clients=(3, 5, 100_000))[1] == alone
    others = [
        first(seed=2),
        first(number=3),
        first(purpose=Purpose.COMPUTE_TIME),
        first(clients=(6,)),
    ]
    assert alone not in [each for (each,) in others]
