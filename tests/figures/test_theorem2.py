"""The bound of Theorem 2."""

from __future__ import annotations

import numpy as np

from figures import (
    theorem2,
)
from tests.figures.drawn import line, study_of


def test_theorem2(tmp_path):
    content = {
        "data": {"partition": "quadratic"},
        "model": {"name": "quadratic"},
        "algorithm": {"name": "acpc"},
        "link": {"kind": "gaussian", "snr_db": 20.0},
        "training": {"rounds": 20, "rate": 0.2, "batch_size": 10, "measure_gradient": True},
        "sweep": {"algorithm.G": [1e-3, 20.0]},  # with the first, clients are scaled down
    }
    study = study_of(content, tmp_path / "study")
    figure = theorem2.draw(study)
    first, second = figure.axes
    assert [text.get_text() for text in first.texts] == ["does not apply"]
    assert not first.lines
    measured, total = line(second, "measured"), line(second, "bound, total")
    norms = study["squared_gradient_norm"].values[1]
    np.testing.assert_allclose(measured, np.minimum.accumulate(norms))
    assert (measured <= total).all()
    terms = [line(second, label) for label in theorem2.TERMS.values()]
    np.testing.assert_allclose(np.sum(terms, axis=0), total)
