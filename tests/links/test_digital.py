"""What digital links share, by hand."""

from __future__ import annotations

import numpy as np
import pytest

from links import OrthogonalLink, QuantisedDownlink
from links.digital import draw_digital_channel, efficiencies, symbols_needed
from links.radio import Noise, Participants
from phy import NoFading, OfdmGrid
from tests.links.fixed import FixedFading

GRID = OfdmGrid(fft_size=2, cp_length=2, guards=(0, 0), dc_null=False)


@pytest.mark.parametrize("link", [OrthogonalLink, QuantisedDownlink])
def test_symbols(link):
    """8 * 397 + 32 = 3208 bits on 400 carriers of 8, 4 and 1/2 bits; none without a channel."""
    needed = symbols_needed(link(), 397, np.array([8.0, 4.0, 0.5, 0.0]))
    np.testing.assert_array_equal(needed, [2, 3, 17, np.inf])


@pytest.mark.parametrize("link", [OrthogonalLink, QuantisedDownlink])
def test_rates_of_carriers_are_averaged(link, rng):
    """Es = 3 on each carrier and N0 = 2 / 2: an SNR of 3 g |h|^2.

    The second client's paths add up on one carrier, |h|^2 = 4, and cancel on the other; its path
    gain is 5/4.
    """
    fading = FixedFading([[1.0, 0.0], [1.0, 1.0]], delays=[0.0, 1 / 60e3])
    who = Participants.of(2, 4, rng, None, 0.0, None)
    options = {"grid": GRID, "fading": fading, "gap_db": 0.0}
    noise = Noise(0.0, 0.0, variance=0.5)
    gains, energy = np.array([1.0, 1.25]), np.array([6.0, 6.0])
    channel = draw_digital_channel(link(**options), who)
    efficiency = efficiencies(link(**options), channel, gains, energy, noise)
    np.testing.assert_allclose(efficiency, [2.0, 4.0 / 2], rtol=1e-5)
    assert channel.response.shape == (2, 1, 2)
    limited = efficiencies(link(max_efficiency=3.0, **options), channel, gains, energy, noise)
    np.testing.assert_allclose(limited, [2.0, 3.0 / 2], rtol=1e-5)
    options["fading"] = NoFading()
    channel, noise = draw_digital_channel(link(**options), who), Noise(0.0, 0.0, variance=0.0)
    silent = efficiencies(link(**options), channel, gains, energy, noise)
    np.testing.assert_array_equal(silent, [8.0, 8.0])
