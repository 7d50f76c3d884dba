"""Train LeNet on scikit-learn's digits with nothing but the core of mt-nn.

    python tools/trainings/digits.py numpy

It needs mt-nn, from which everything but `core/` and `__init__.py` may have been deleted, and
scikit-learn. It prints the accuracy on 360 test images, and fails below 97 %.
"""

from __future__ import annotations

import argparse
import sys

import numpy as np
from sklearn.datasets import load_digits

from mt_nn.core.adam import Adam
from mt_nn.core.dataset import TensorDataset
from mt_nn.core.lenet import LeNet, evaluate, train
from mt_nn.core.loader import DataLoader
from mt_tensor import manual_seed, tensor, use_backend

EPOCHS = 12
LEAST = 0.97


def main() -> int:
    """Train, print the accuracy, and return 0 if it is high enough."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("backend", help="numpy or fast")
    backend = parser.parse_args().backend
    digits = load_digits()
    images = (digits.images / 16.0).astype(np.float32)[:, None]
    labels = digits.target.astype(np.int64)
    order = np.random.default_rng(0).permutation(len(labels))
    test, training = order[:360], order[360:]
    with use_backend(backend):
        manual_seed(0)
        data = TensorDataset(tensor(images[training]), tensor(labels[training]))
        model = LeNet()
        loader = DataLoader(data, batch_size=64, shuffle=True)
        train(model, loader, Adam(model.parameters(), lr=0.003), EPOCHS)
        accuracy = evaluate(model, tensor(images[test]), tensor(labels[test]))
    print(f"{backend}: {accuracy:.1%} of {len(test)} digits")
    return 0 if accuracy >= LEAST else 1


if __name__ == "__main__":
    sys.exit(main())
