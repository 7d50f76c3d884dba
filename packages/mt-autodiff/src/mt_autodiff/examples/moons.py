"""micrograd's demonstration: a network of Scalars learns to separate two moons.

    python -m mt_autodiff.examples.moons --picture moons.png

As in micrograd, it has two hidden layers of 16 units, the hinge loss, a penalty on large weights
and a rate that decreases from 1.0 to 0.1 in 100 epochs, without momentum.
"""

from __future__ import annotations

from mt_autodiff.examples.command import add_picture, print_every, show
from mt_autodiff.examples.network import Network
from mt_autodiff.examples.training import hinge, train
from mt_operators.datasets import moons
from mt_operators.examples.arguments import training_command


def main(arguments: list[str] | None = None) -> None:
    """Train, show the decision boundary, and print the training accuracy."""
    parser = training_command(
        "python -m mt_autodiff.examples.moons", "Tell two moons apart.", points=100, epochs=100
    )
    add_picture(parser)
    options = parser.parse_args(arguments)
    dataset = moons(options.points, options.seed)
    network = Network(hidden=(16, 16), seed=options.seed)
    try:
        history = train(
            network,
            dataset,
            options.epochs,
            lambda epoch: 1.0 - 0.9 * (epoch - 1) / options.epochs,
            loss=hinge,
            penalty=1e-4,
            momentum=0.0,
            report=print_every(10),
        )
        show(network, dataset, history, "moons", options.picture)
    except (ValueError, OSError) as error:
        parser.error(str(error))


if __name__ == "__main__":
    main()
