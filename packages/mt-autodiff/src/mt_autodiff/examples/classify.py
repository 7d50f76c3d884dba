"""Train a network of Scalars on one of the course's data sets.

python -m mt_autodiff.examples.classify xor
python -m mt_autodiff.examples.classify moons --hidden 16 16 --epochs 100
"""

from __future__ import annotations

from mt_autodiff.core.mode import no_grad
from mt_autodiff.examples.network import Network, class_of
from mt_autodiff.examples.training import accuracy, print_every, train
from mt_operators.datasets import DATASETS
from mt_operators.examples.arguments import add_choices, training_command
from mt_operators.examples.text_plot import text_plot


def main(arguments: list[str] | None = None) -> None:
    """Train, show the decision boundary, and print the training accuracy."""
    parser = training_command(
        "python -m mt_autodiff.examples.classify",
        "Train a network of Scalars to tell two classes of points apart.",
        points=50,
        epochs=300,
    )
    add_choices(parser, data="xor", hidden=[10], rate=0.2)
    options = parser.parse_args(arguments)
    dataset = DATASETS[options.data](options.points, options.seed)
    network = Network(hidden=options.hidden, seed=options.seed)
    try:
        train(network, dataset, options.epochs, options.rate, report=print_every(20))
    except ValueError as error:
        parser.error(str(error))
    with no_grad():
        print(text_plot(dataset, lambda x: class_of(network, x)))
    print(f"{options.data}: {accuracy(network, dataset):.0%} of {len(dataset)} points")


if __name__ == "__main__":
    main()
