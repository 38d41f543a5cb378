"""Analog broadcast through OFDM: equalisation by hand, closed forms, power and channels."""

from __future__ import annotations

import tracemalloc

import numpy as np
import pytest

from links import OfdmDownlink, OfdmLink
from phy import AgedCsi, NoFading, OfdmGrid, PilotCsi, Rayleigh, Tdl
from phy.packing import packing_for
from phy.randomness import complex_normal
from tests.links.fixed import FULL, TWO, DistortedCsi, FixedFading
from tests.tolerance import check_mean

X = np.array([1.0, 2.0, 3.0, 4.0])
ELEMENTS = np.array([1 + 2j, 3 + 4j])
PLAIN = {"grid": TWO, "interleaver_seed": None}


def clients_of(seed=5, **options):
    """What two clients with the channels 2j and 1/2 make of X, and the noise of unit variance."""
    downlink = OfdmDownlink(
        **{"fading": FixedFading([[1j], [0.5]]), "path_gain": [4.0, 1.0], **PLAIN, **options}
    )
    received = downlink.open(2, 4, np.random.default_rng(seed)).broadcast(X).received
    unit = complex_normal(np.random.default_rng(seed), (2, 1, 2))[:, 0]
    return received.view(np.complex128), unit


def test_zero_forcing_by_hand():
    """||x||^2 = 30 and P = 120: the gain is 2; sigma_c^2 = 1, so N0 = 2; a = 2j and 1/2."""
    received, unit = clients_of(power=120.0, snr_db=0.0, equaliser="zero-forcing")
    a = np.array([[2j], [0.5]])
    np.testing.assert_allclose(
        received, (2 * a * ELEMENTS + np.sqrt(2) * unit) / (2 * a), rtol=1e-5
    )


def test_lmmse_by_hand():
    """An element has S = 15: N0 / (gain^2 S) = 2 / (4 15) = 1/30, beside |a|^2 = 4 and 1/4."""
    received, unit = clients_of(power=120.0, snr_db=0.0)
    a = np.array([[2j], [0.5]])
    heard = 2 * a * ELEMENTS + np.sqrt(2) * unit
    equalised = np.array([[-2j * 30 / 121], [0.5 * 60 / 17]]) * heard / 2
    np.testing.assert_allclose(received, equalised, rtol=1e-5)


@pytest.mark.parametrize("equaliser", ["zero-forcing", "lmmse"])
def test_a_wrong_estimate_remains_in_the_model(equaliser):
    """Without noise both divide by what they take for the channel."""
    received, _ = clients_of(snr_db=np.inf, equaliser=equaliser, csi=DistortedCsi(lambda h: 2j * h))
    np.testing.assert_allclose(received, [ELEMENTS / 2j] * 2, rtol=1e-6)


@pytest.mark.parametrize("equaliser", ["zero-forcing", "lmmse"])
@pytest.mark.parametrize("fading", [NoFading(), Tdl("A"), Tdl("A", speed=3.0)])
def test_without_noise_the_model_is_exact(equaliser, fading, rng):
    x = rng.standard_normal(9001).astype(np.float32)
    downlink = OfdmDownlink(snr_db=np.inf, equaliser=equaliser, fading=fading)
    broadcast = downlink.open(3, 9001, rng).broadcast(x)
    np.testing.assert_array_equal(broadcast.received, np.tile(x, (3, 1)))
    assert broadcast.diagnostics["downlink_nmse"] == 0


@pytest.mark.parametrize("snr_db", [10.0, np.inf])
@pytest.mark.parametrize("equaliser", ["zero-forcing", "lmmse"])
def test_a_carrier_without_channel_is_zero(equaliser, snr_db):
    """Two paths half a period apart cancel on one of the two carriers."""
    grid = OfdmGrid(fft_size=2, cp_length=2, guards=(0, 0), dc_null=False)
    fading = FixedFading([[1.0, 1.0]], delays=[0.0, 1 / 60e3])
    downlink = OfdmDownlink(
        grid=grid, fading=fading, snr_db=snr_db, equaliser=equaliser, interleaver_seed=None,
    )  # fmt: skip
    opened = downlink.open(1, 4, np.random.default_rng(1))
    strength = np.abs(opened.medium.channel.response[0, 0])
    received = opened.broadcast(X).received[0].view(np.complex128)
    assert np.isfinite(received).all()
    if equaliser == "lmmse" and snr_db == 10.0:
        np.testing.assert_allclose(received[strength < 1e-3], 0, atol=1e-5)
    assert received[strength > 1].all()


@pytest.mark.parametrize(
    ("equaliser", "nmse"), [("lmmse", [2 / 7, 1 / 41]), ("zero-forcing", [0.4, 0.025])]
)
def test_nmse_given_the_channel(equaliser, nmse, rng):
    """|h|^2 = 1/4 and 4 at an entry SNR of 10 dB: 2.5 and 40; elements of equal energy."""
    downlink = OfdmDownlink(
        grid=FULL, fading=FixedFading([[0.5], [2j]]), entry_snr_db=10.0, equaliser=equaliser
    )
    x = rng.choice([-1.0, 1.0], 1280)  # ten symbols of 64 carriers, all full
    opened = downlink.open(2, 1280, rng)
    received = np.array([opened.broadcast(x).received for _ in range(20)])
    for client in range(2):
        check_mean(np.square(received[:, client] - x), nmse[client])
    measured = [opened.broadcast(x).diagnostics["downlink_nmse"] for _ in range(50)]
    check_mean(measured, sum(nmse) / 2)


def test_nmse_over_rayleigh_fading(rng):
    """E 1 / (1 + snr |h|^2) = e^(1/snr) E1(1/snr) / snr, 0.0407854 at 20 dB."""
    downlink = OfdmDownlink(grid=FULL, fading=Rayleigh(), entry_snr_db=20.0)
    x = rng.choice([-1.0, 1.0], 128)
    received = downlink.open(4000, 128, rng).broadcast(x).received
    check_mean(np.square(received - x).mean(axis=1), 0.0407854)


def test_path_gain_and_power_count_alike(rng):
    """Four times as much of either is 6 dB."""
    x, options = rng.choice([-1.0, 1.0], 128), {"grid": FULL, "fading": NoFading()}
    for more in ({"path_gain": [4.0] * 300}, {"power": 4.0}, {"entry_snr_db": 10 * np.log10(4)}):
        downlink = OfdmDownlink(**{"entry_snr_db": 0.0, **options, **more})
        received = downlink.open(300, 128, rng).broadcast(x).received
        check_mean(np.square(received - x).mean(axis=1), 1 / 5)


@pytest.mark.parametrize("budget", ["symbol", "round"])
def test_the_power_limit(budget, rng):
    """Two OFDM symbols of two carriers: energies 5 + 25 and 61 + 113, P = 348."""
    x = np.arange(1.0, 9.0)
    downlink = OfdmDownlink(budget=budget, power=348.0, fading=NoFading(), **PLAIN)
    opened = downlink.open(1, 8, rng)
    energy = np.array([30.0, 174.0])
    gain = opened.medium.gain(energy)
    limit = 1.0 if budget == "symbol" else np.sqrt(348 / 204)  # P/L = 174 in each symbol
    assert gain == pytest.approx(limit)
    elements = packing_for(TWO, 8, None).pack(x)
    np.testing.assert_allclose(np.square(np.abs(elements)).sum(axis=1), energy)


@pytest.mark.parametrize("fading", [Tdl("A", speed=3.0), Rayleigh(speed=3.0)])
def test_a_moving_channel_belongs_to_the_device_and_is_the_uplinks_own(fading):
    def opened(link, seed, clients):
        return link.open(
            len(clients), 3000, np.random.default_rng(seed), clients=clients, time=0.7,
            device_rng=np.random.default_rng(7),
        )  # fmt: skip

    everyone = opened(OfdmDownlink(fading=fading), 1, [0, 1, 2, 3])
    some = opened(OfdmDownlink(fading=fading), 2, [3, 1])
    uplink = opened(OfdmLink(fading=fading), 3, [0, 1, 2, 3])
    response = everyone.medium.channel.response
    np.testing.assert_allclose(some.medium.channel.response, response[[3, 1]], atol=1e-5)
    np.testing.assert_allclose(uplink.medium.channel.response, response, atol=1e-5)
    assert everyone.moving
    assert not opened(OfdmDownlink(), 1, [0]).moving


def test_a_static_channel_is_new_in_every_round(rng):
    device = np.random.default_rng(7)
    first, second = (
        OfdmDownlink().open(2, 10, rng, device_rng=device).medium.channel.response for _ in "ab"
    )
    assert (np.abs(first - second) > 1e-3).any()


def test_airtime_in_numbers(rng):
    """7850 entries are 10 symbols of 37.5 us; 2 pilot symbols per round, or per slot of 14."""
    for options, length, symbols in (
        ({}, 7850, 10),
        ({"csi": PilotCsi(num_pilots=2)}, 7850, 12),
        ({"csi": PilotCsi(num_pilots=2)}, 8 * 7850, 79 + 2),
        ({"csi": PilotCsi(num_pilots=2), "fading": Tdl("A", speed=3.0)}, 8 * 7850, 79 + 6 * 2),
    ):
        broadcast = OfdmDownlink(**options).open(2, length, rng).broadcast(np.ones(length))
        assert broadcast.diagnostics["downlink_airtime"] == pytest.approx(symbols * 37.5e-6)


def test_ageing_costs_accuracy(rng):
    x = rng.standard_normal(800)
    fading, device = Tdl("A", speed=10.0), int(rng.integers(2**32))
    nmse = [
        OfdmDownlink(snr_db=np.inf, fading=fading, csi=AgedCsi(delay))
        .open(20, 800, rng, device_rng=np.random.default_rng(device))
        .broadcast(x)
        .diagnostics["downlink_nmse"]
        for delay in (0.0, 1e-4, 1e-3)
    ]
    assert nmse[0] < 1e-9 < nmse[1] < nmse[2]


@pytest.mark.parametrize("length", [1, 2, 799, 7850])
def test_any_length(length, rng):
    x = rng.standard_normal(length)
    received = OfdmDownlink(entry_snr_db=60.0, fading=NoFading()).open(2, length, rng)
    np.testing.assert_allclose(received.broadcast(x).received, [x, x], atol=0.05)


def test_memory_grows_with_what_clients_receive(rng):
    clients, length = 40, 100_000
    opened = OfdmDownlink(fading=Tdl("A", speed=3.0)).open(clients, length, rng)
    x = rng.standard_normal(length).astype(np.float32)
    opened.broadcast(x)  # packing is cached
    tracemalloc.start()
    opened.broadcast(x)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 6 * 4 * clients * length


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"equaliser": "mmse"}, "^equaliser must be one of 'lmmse', 'zero-forcing', got 'mmse'"),
        ({"budget": "slot"}, "^budget must be one of 'symbol', 'round', got 'slot'"),
        ({"power": [1.0]}, r"^power must be a finite number .*, got \[1\.0\]"),
        ({"path_gain": 0.0}, r"^path_gain must be .*, got 0\.0"),
        ({"snr_db": [1.0, 2.0]}, r"^snr_db must be .*, got \[1\.0, 2\.0\]"),
        ({"csi": PilotCsi}, "^csi must be an instance of a subclass of otafl.Csi"),
        ({"fading": None}, "^fading must be an instance of .*, got None"),
        ({"grid": 512}, "^grid must be an OfdmGrid, got 512"),
        ({"interleaver_seed": -1}, "^interleaver_seed must be a whole number >= 0, got -1"),
        ({"fading": Tdl("C", delay_spread=1e-6)}, "^fading must fit the cyclic prefix"),
    ],
)
def test_options(options, message):
    with pytest.raises(ValueError, match=message):
        OfdmDownlink(**options)
