"""Train a network of Scalars on one of the course's data sets.

python -m mt_autodiff.examples.classify xor
python -m mt_autodiff.examples.classify spiral --hidden 16 16 --epochs 600 --picture spiral.png
"""

from __future__ import annotations

from mt_autodiff.examples.command import add_picture, print_every, show
from mt_autodiff.examples.network import Network
from mt_autodiff.examples.training import train
from mt_operators.datasets import DATASETS
from mt_operators.examples.arguments import add_choices, training_command


def main(arguments: list[str] | None = None) -> None:
    """Train, show the decision boundary, and print the training accuracy."""
    parser = training_command(
        "python -m mt_autodiff.examples.classify",
        "Train a network of Scalars to tell two classes of points apart.",
        points=50,
        epochs=300,
    )
    add_choices(parser, data="xor", hidden=[10], rate=0.2)
    add_picture(parser)
    options = parser.parse_args(arguments)
    dataset = DATASETS[options.data](options.points, options.seed)
    network = Network(hidden=options.hidden, seed=options.seed)
    try:
        history = train(network, dataset, options.epochs, options.rate, report=print_every(20))
        show(network, dataset, history, options.data, options.picture)
    except (ValueError, OSError) as error:
        parser.error(str(error))


if __name__ == "__main__":
    main()
