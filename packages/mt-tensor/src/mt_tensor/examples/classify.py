"""Train a network of tensors on one of the course's data sets.

python -m mt_tensor.examples.classify spiral
python -m mt_tensor.examples.classify xor --hidden 10 --points 50 --epochs 300
"""

from __future__ import annotations

import mt_tensor as mt
from mt_autodiff.examples.training import print_every
from mt_operators.datasets import DATASETS
from mt_operators.examples.arguments import add_choices, training_command
from mt_operators.examples.text_plot import text_plot
from mt_tensor.errors import BackendError
from mt_tensor.examples.network import Network
from mt_tensor.examples.training import accuracy, train


def main(arguments: list[str] | None = None) -> None:
    """Train, show the decision boundary, and print the training accuracy."""
    parser = training_command(
        "python -m mt_tensor.examples.classify",
        "Train a network of tensors to tell two classes of points apart.",
        points=200,
        epochs=1000,
    )
    add_choices(parser, data="spiral", hidden=[32, 32], rate=0.1)
    parser.add_argument("--backend", help="the backend; MT_BACKEND or numpy by default")
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
