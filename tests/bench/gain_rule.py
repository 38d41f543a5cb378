"""The design constant G of ACPC-OTA-FL: the default compared with a sweep of constants.

    python -m tests.bench.gain_rule mnist --labels 1
    python -m tests.bench.gain_rule /usr/share/datasets/fashion-mnist
    python -m tests.bench.gain_rule cifar-shaped --seeds 0
    python -m tests.bench.gain_rule mnist --most 94

Ten clients train a logistic regression for 150 rounds, with at most 1 to 20 local steps by
default. For every link it prints the accuracy, which is the mean of the last ten tests, and the
share of signals scaled down, both as means over the seeds; then how far the default is from the
best constant, and from the best of those that scale at most a tenth down.
"""

from __future__ import annotations

import argparse
from collections.abc import Sequence

import numpy as np

from fl import (
    Acpc,
    Dataset,
    LogisticRegression,
    Problem,
    Sgd,
    UniformSteps,
    load_dataset,
    partition_by_label,
    train_together,
)
from links import GaussianLink, OfdmLink

LINKS = {
    "Gaussian, -1 dB": GaussianLink(snr_db=-1.0),
    "Gaussian, 10 dB": GaussianLink(snr_db=10.0),
    "Gaussian, 20 dB": GaussianLink(snr_db=20.0),
    "OFDM, 10 dB": OfdmLink(snr_db=10.0),
}
ROUNDS = 150
CONSTANTS = (0.25, 0.5, 1.0, 2.0, 4.0, 8.0, 16.0)


def cifar_shaped(train: int = 10_000, test: int = 2_000) -> Dataset:
    """Ten coarse patterns of 32 x 32 x 3, each in noise and in a random coarser pattern."""
    rng = np.random.default_rng(5)

    def patterns(count: int, cells: int) -> np.ndarray:
        coarse = rng.standard_normal((count, cells, cells, 3))
        return np.kron(coarse, np.ones((1, 32 // cells, 32 // cells, 1)))

    classes, labels = patterns(10, 8), np.arange(train + test) % 10
    x = 128 + 14 * classes[labels] + 40 * patterns(train + test, 4)
    x += 30 * rng.standard_normal(x.shape)
    pixels = np.clip(x, 0, 255).astype(np.uint8)
    return Dataset(pixels[:train], labels[:train], pixels[train:], labels[train:])


def measure(
    data: Dataset, labels: int, most: int, seed: int, link: object, rate: float
) -> np.ndarray:
    """Return accuracy and share scaled down, both in percent, of the default and each constant."""
    rng = np.random.default_rng(seed)
    shards = partition_by_label(data.y_train, 10, labels_per_client=labels, rng=rng)
    size = int(np.prod(data.sample_shape))
    histories = train_together(
        [(algorithm, link) for algorithm in (Acpc(), *(Acpc(G=G) for G in CONSTANTS))],
        Problem(LogisticRegression(size, 10), data, shards),
        rounds=ROUNDS,
        steps=UniformSteps(1, most),
        sgd=Sgd(rate, 50, weight_decay=1e-4),
        seed=seed,
        test_every=5,
    )
    return np.array(
        [(100 * h.final_accuracy(50), 100 * h["scaled_down"].mean()) for h in histories]
    )


def main(arguments: Sequence[str] | None = None) -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("data", help="mnist, cifar-shaped, or a folder of IDX files")
    parser.add_argument("--labels", type=int, default=2, help="labels per client")
    parser.add_argument("--most", type=int, default=20, help="local steps that a client may take")
    parser.add_argument("--seeds", type=int, nargs="+", default=[0, 1, 2])
    given = parser.parse_args(arguments)
    shaped = given.data == "cifar-shaped"
    data, rate = (cifar_shaped(), 0.03) if shaped else (load_dataset(given.data), 0.3)
    for name, link in LINKS.items():
        options = data, given.labels, given.most
        runs = [measure(*options, seed, link, rate) for seed in given.seeds]
        accuracy, scaled = np.mean(runs, axis=0).T
        print(name)
        for label, *row in zip(("tracked", *CONSTANTS), accuracy, scaled, strict=True):
            print(f"  G = {label!s:8} {row[0]:6.2f} %  {row[1]:5.1f} % scaled down")
        within = np.where(scaled[1:] <= 10, accuracy[1:], -np.inf)
        print(f"  to the best constant            {accuracy[0] - accuracy[1:].max():+.2f} points")
        print(f"  to the best within a tenth      {accuracy[0] - within.max():+.2f} points")


if __name__ == "__main__":
    main()
