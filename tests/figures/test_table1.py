"""Accuracies beside those of a paper."""

from __future__ import annotations

import numpy as np

from figures import (
    table1,
)


def test_table_beside_the_paper(sweep):
    figure = table1.draw(sweep)
    left, right = figure.axes
    deviations = [bar.get_width() for bar in right.patches]
    ours = 100 * sweep["accuracy"].sel(snr_db=10.0, truncation=0.1).mean("seed").values
    np.testing.assert_allclose(deviations, ours - [50.0, 99.0])
    labels = [text.get_text() for text in left.get_yticklabels()]
    assert labels == ["ACPC-OTA-FL, SNR 10 dB, $g$ = 0.1", "COTAF, SNR 10 dB, $g$ = 0.1"]
