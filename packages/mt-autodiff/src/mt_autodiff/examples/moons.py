"""micrograd's demonstration: a network of Scalars learns to tell two moons apart.

    python -m mt_autodiff.examples.moons --picture moons.png

As there: two hidden layers of 16, a hinge loss as of a support vector machine, a penalty on large
weights, and a step that becomes smaller from 1.0 to 0.1 in 100 epochs, without momentum.
"""

from __future__ import annotations

import argparse
from pathlib import Path

from mt_autodiff.examples.classify import print_epoch, show
from mt_autodiff.examples.network import Network
from mt_autodiff.examples.training import hinge, train
from mt_operators.datasets import moons


def main(arguments: list[str] | None = None) -> None:
    """Train, show the decision boundary, and print the training accuracy."""
    parser = argparse.ArgumentParser(
        prog="python -m mt_autodiff.examples.moons", description="Tell two moons apart."
    )
    parser.add_argument("--points", type=int, default=100, help="how many points (100)")
    parser.add_argument("--epochs", type=int, default=100, help="how many steps (100)")
    parser.add_argument("--seed", type=int, default=0, help="of points and weights (0)")
    parser.add_argument("--picture", type=Path, help="where to write a PNG; needs matplotlib")
    options = parser.parse_args(arguments)
    try:
        dataset = moons(options.points, options.seed)
        network = Network(hidden=(16, 16), seed=options.seed)
        history = train(
            network,
            dataset,
            options.epochs,
            lambda epoch: 1.0 - 0.9 * (epoch - 1) / options.epochs,
            loss=hinge,
            penalty=1e-4,
            momentum=0.0,
            report=lambda epoch: print_epoch(epoch, every=10),
        )
        show(network, dataset, history, "moons", options.picture)
    except (ValueError, ImportError, OSError) as error:
        parser.error(str(error))


if __name__ == "__main__":
    main()
