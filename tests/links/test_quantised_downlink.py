"""Digital broadcast: one error for all clients, and the airtime of the weakest."""

from __future__ import annotations

import numpy as np
import pytest

from links import QuantisedDownlink
from phy import NoFading, OfdmGrid, Rayleigh, Tdl
from tests.tolerance import check_mean, check_proportion

GRID = OfdmGrid(fft_size=2, cp_length=1, guards=(0, 0), dc_null=False)


def test_levels_by_hand(rng):
    """Two bits from -3 to 3: -3, -1, 1 and 3; 2.5 is 3 in three of four cases."""
    opened = QuantisedDownlink(bits=2).open(3, 5, rng)
    x = np.array([-3.0, -1.0, 1.0, 3.0, 2.5])
    received = np.array([opened.broadcast(x).received for _ in range(2000)])
    assert received.shape == (2000, 3, 5)
    assert (received == received[:, :1]).all()  # the same for every client
    np.testing.assert_array_equal(received[..., :4], np.broadcast_to(x[:4], (2000, 3, 4)))
    assert set(received[..., 4].ravel()) == {1.0, 3.0}
    check_proportion(received[:, 0, 4] == 3.0, 0.75)


def test_noise_is_a_sixth_of_a_squared_step(rng):
    """Entries spread evenly over 4 bits from -1 to 1: (2/15)^2 / 6, whatever the SNR."""
    opened = QuantisedDownlink(bits=4, snr_db=-20.0).open(2, 20_000, rng)
    x = rng.uniform(-1, 1, 20_000)
    x[0] = 1.0
    broadcast = opened.broadcast(x)
    errors = np.square(broadcast.received[0] - x)[1:]
    check_mean(errors, 0.00296296)
    nmse = broadcast.diagnostics["downlink_nmse"]
    assert nmse == pytest.approx(errors.sum() / np.square(x).sum())


def test_rounding_is_unbiased(rng):
    x = np.array([1.0, 0.3, -0.77])
    opened = QuantisedDownlink(bits=2).open(1, 3, rng)
    received = np.array([opened.broadcast(x).received[0] for _ in range(2000)])
    for entry in (1, 2):
        check_mean(received[:, entry], x[entry])


@pytest.mark.parametrize(
    ("clients", "symbols"),
    [([0, 1], 32), ([0], 32), ([1], 16), ([1, 2], 64)],
)
def test_the_weakest_client_sets_the_airtime(clients, symbols, rng):
    """Es/N0 = 1, 3 and sqrt(2) - 1 on each carrier, no gap: 1, 2 and 1/2 bits per element.

    8 entries are 2 analog symbols of 2 elements each: Es = P/4; at 0 dB, N0 = 2P/d = P/4. Sent are
    4 8 + 32 = 64 bits on two carriers.
    """
    downlink = QuantisedDownlink(
        grid=GRID, fading=NoFading(), entry_snr_db=0.0, bits=4, gap_db=0.0,
        path_gain=[1.0, 3.0, np.sqrt(2) - 1],
    )  # fmt: skip
    opened = downlink.open(len(clients), 8, rng, clients=clients)
    airtime = opened.broadcast(np.ones(8)).diagnostics["downlink_airtime"]
    assert airtime == pytest.approx(symbols * GRID.symbol_duration)


def test_without_noise_modulation_limits_the_rate(rng):
    """8 * 7850 + 32 bits on 400 carriers of 8 bits: 20 symbols."""
    opened = QuantisedDownlink(snr_db=np.inf).open(5, 7850, rng)
    airtime = opened.broadcast(np.ones(7850)).diagnostics["downlink_airtime"]
    assert airtime == pytest.approx(20 * 37.5e-6)


def test_more_clients_take_longer(rng):
    """The weakest of more Rayleigh channels is weaker."""
    mean = [
        np.mean([
            QuantisedDownlink(fading=Rayleigh()).open(count, 800, rng).medium.airtime
            for _ in range(40)
        ])
        for count in (1, 100)
    ]  # fmt: skip
    assert 3 * mean[0] < mean[1]


def test_a_moving_channel_is_one_process_over_the_run(rng):
    def rates(clients, seed):
        return QuantisedDownlink(fading=Tdl("A", speed=3.0)).open(
            len(clients), 100, np.random.default_rng(seed), clients=clients, time=2.0,
            device_rng=np.random.default_rng(3),
        )  # fmt: skip

    everyone, some = rates([0, 1, 2], 1), rates([2, 0], 2)
    np.testing.assert_allclose(
        some.medium.efficiency, everyone.medium.efficiency[[2, 0]], rtol=1e-4
    )
    assert everyone.moving
    assert not QuantisedDownlink().open(1, 10, rng).moving


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"bits": 0}, "^bits must be a whole number from 1 to 32, got 0"),
        ({"gap_db": -1.0}, r"^gap_db must be a finite number >= 0, got -1\.0"),
        ({"power": [1.0]}, r"^power must be a finite number .*, got \[1\.0\]"),
        ({"grid": 512}, "^grid must be an OfdmGrid, got 512"),
    ],
)
def test_options(options, message):
    with pytest.raises(ValueError, match=message):
        QuantisedDownlink(**options)
