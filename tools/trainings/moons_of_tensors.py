"""Train a network of tensors on the two moons, with nothing but cores.

`python tools/trainings/moons_of_tensors.py BACKEND` prints the accuracy, and fails under 97 %.
"""

from __future__ import annotations

import os
import sys

import numpy as np

import mt_tensor as mt


def two_moons(count: int, seed: int) -> tuple[np.ndarray, np.ndarray]:
    """Return points, shape (count, 2), and labels, shape (count,): two interleaved half circles."""
    generator = np.random.default_rng(seed)
    labels = np.arange(count) % 2
    angle = generator.random(count) * np.pi + labels * np.pi
    points = np.stack([np.cos(angle) + labels, np.sin(angle) + 0.5 * labels], 1)
    noise = generator.standard_normal((count, 2)) * 0.1
    return (points + noise).astype("float32"), labels.astype("float32")


def train(epochs: int, count: int, hidden: int, rate: float) -> float:
    """Return the accuracy after some epochs of gradient descent."""
    points, labels = (mt.tensor(array) for array in two_moons(count, 0))
    generator = np.random.default_rng(1)
    parameters = [
        mt.tensor(generator.standard_normal(shape).astype("float32"), requires_grad=True)
        for shape in ((2, hidden), (hidden,), (hidden,))
    ]
    weight, bias, last = parameters
    accuracy = 0.0
    for _ in range(epochs):
        score = (points @ weight + bias).tanh() @ last
        chance = score.sigmoid()
        right = labels * chance + (1.0 - labels) * (1.0 - chance)
        loss = -right.log().mean()
        loss.backward()
        for parameter in parameters:
            if parameter.grad is not None:
                moved = parameter.detach() - rate * parameter.grad
                parameter._become(moved)
                parameter.requires_grad_()
        accuracy = float(np.mean((chance.numpy(force=True) > 0.5) == (labels.numpy() > 0.5)))
    return accuracy


def main() -> None:
    """Train on the given backend, and fail unless the network learns."""
    backend = sys.argv[1]
    os.environ["MT_CUDA_SIM"] = "1"  # there may be no GPU
    sizes = (60, 60, 8, 2.0) if backend in {"simple", "cuda"} else (300, 200, 16, 1.0)
    with mt.use_backend(backend):
        accuracy = train(*sizes)
    print(f"{backend}: {accuracy:.1%} of the moons")
    if accuracy < 0.97:
        raise SystemExit("the network has not learned the moons")


if __name__ == "__main__":
    main()
