"""A network of tensors learns one of the course's data sets.

python -m mt_tensor.examples.classify spiral
python -m mt_tensor.examples.classify xor --hidden 10 --points 50 --epochs 300
"""

from __future__ import annotations

import argparse

import mt_tensor as mt
from mt_autodiff.examples.command import print_every
from mt_operators.datasets import DATASETS
from mt_operators.examples.arguments import positive_float, positive_int
from mt_operators.examples.text_plot import text_plot
from mt_tensor.errors import BackendError
from mt_tensor.examples.network import Network
from mt_tensor.examples.training import accuracy, train


def main(arguments: list[str] | None = None) -> None:
    """Train, show the decision boundary, and print the training accuracy."""
    parser = argparse.ArgumentParser(
        prog="python -m mt_tensor.examples.classify",
        description="Train a network of tensors to tell two classes of points apart.",
        formatter_class=argparse.ArgumentDefaultsHelpFormatter,
    )
    parser.add_argument("data", nargs="?", default="spiral", choices=DATASETS, help="what to learn")
    parser.add_argument("--points", type=positive_int, default=200, help="how many points")
    parser.add_argument("--epochs", type=positive_int, default=1000, help="how many steps")
    parser.add_argument("--seed", type=int, default=0, help="of points and weights")
    parser.add_argument(
        "--hidden", type=positive_int, nargs="*", default=[32, 32], help="widths of hidden layers"
    )
    parser.add_argument("--rate", type=positive_float, default=0.1, help="how far to step")
    parser.add_argument("--backend", help="where to compute; MT_BACKEND, or numpy, if not given")
    options = parser.parse_args(arguments)
    try:
        dataset = DATASETS[options.data](options.points, options.seed)
        with mt.use_backend(options.backend or mt.get_backend()):
            network = Network(hidden=options.hidden, seed=options.seed)
            report = print_every(max(1, options.epochs // 15))
            train(network, dataset, options.epochs, options.rate, report=report)
            with mt.no_grad():
                print(text_plot(dataset, lambda x: int(network(mt.tensor([x])).item() > 0.0)))
            right = accuracy(network, dataset)
    except (ValueError, BackendError) as error:
        parser.error(str(error))
    print(f"{options.data}: {right:.0%} of {len(dataset)} points")


if __name__ == "__main__":
    main()
