"""NMSE of links against SNR."""

from __future__ import annotations

import numpy as np

from figures import (
    link_nmse,
)
from scenarios import load_scenario
from scenarios.report.linkcheck import check_links
from tests.scenarios import small


def test_link_nmse(data_file):
    content = small.content(data_file, algorithm={"name": "cotaf"}, sweep={})
    check = check_links(load_scenario(content), realisations=3)
    (axes,) = link_nmse.draw(check).axes
    np.testing.assert_allclose(axes.lines[-4].get_ydata(), 10 * np.log10(check.expected[0]))
