"""Train a multilayer perceptron on the backend `fast`.

It uses nothing but public names of the cores, so it runs with every other file of mt-fast deleted.
"""

from __future__ import annotations

import numpy as np

import mt_tensor as mt


def two_moons(count: int, seed: int = 0) -> tuple[mt.Tensor, mt.Tensor]:
    """Return points of two interlocking half circles, and their classes as 0 and 1."""
    generator = np.random.default_rng(seed)
    angle = np.pi * generator.random(count)
    label = np.arange(count) % 2
    x = np.where(label == 0, np.cos(angle), 1.0 - np.cos(angle))
    y = np.where(label == 0, np.sin(angle), 0.5 - np.sin(angle))
    points = np.stack([x, y], 1) + 0.1 * generator.standard_normal((count, 2))
    return mt.tensor(points.astype("float32")), mt.tensor(label.astype("float32"))


def train(epochs: int = 300, rate: float = 0.5, width: int = 32) -> float:
    """Return the accuracy of a network with one hidden layer after training."""
    generator = np.random.default_rng(1)
    points, labels = two_moons(400)
    shapes = ((2, width), (width,), (width, 1), (1,))
    parameters = [
        mt.tensor(generator.standard_normal(shape).astype("float32") / shape[0] ** 0.5)
        for shape in shapes
    ]
    for parameter in parameters:
        parameter.requires_grad_(True)
    first, bias, second, last = parameters
    accuracy = 0.0
    for _ in range(epochs):
        hidden = (points @ first + bias).tanh()
        probability = (hidden @ second + last).sigmoid().view(-1)
        right = labels * probability + (1.0 - labels) * (1.0 - probability)
        loss = -right.log().mean()
        loss.backward()
        with mt.no_grad():
            for parameter in parameters:
                if parameter.grad is not None:
                    parameter.sub_(rate * parameter.grad)
                parameter.grad = None
        accuracy = ((probability > 0.5).float() == labels).float().mean().item()
    return accuracy


def main() -> None:
    """Train on `fast`, and fail unless the network learns the moons."""
    with mt.use_backend("fast"):
        accuracy = train()
    print(f"fast: {accuracy:.1%} of the moons")
    if accuracy < 0.97:
        raise SystemExit("the network has not learned the moons")


if __name__ == "__main__":
    main()
