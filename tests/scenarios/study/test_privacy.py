"""The privacy of runs in a study; across modules, from the scenario file to the dataset."""

from __future__ import annotations

import numpy as np

from fl import zcdp_epsilon
from scenarios import load_scenario, open_study, run_study
from tests.scenarios import small


def test_a_study_stores_the_loss_of_every_run(data_file, tmp_path):
    """rho = SNR / 2 in each round: 1/2 at 0 dB, 5 at 10 dB; COTAF has no bound."""
    content = small.content(
        data_file,
        rounds=3,
        algorithm={"name": "clipped-fedavg"},
        sweep={"algorithm.name": ["clipped-fedavg", "cotaf"], "link.snr_db": [0.0, 10.0]},
    )
    run_study(load_scenario(content), tmp_path / "study", progress=False)
    losses = open_study(tmp_path / "study")["zcdp"].squeeze()
    clipped = losses.sel(algorithm="clipped-fedavg").transpose("snr_db", "round").values
    np.testing.assert_allclose(clipped, [[0.5, 1.0, 1.5], [5.0, 10.0, 15.0]], rtol=1e-5)
    assert np.isnan(losses.sel(algorithm="cotaf")).all()
    assert (np.diff(zcdp_epsilon(clipped, 1e-5), axis=1) > 0).all()
