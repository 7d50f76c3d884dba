"""Real handwritten digits that scikit-learn ships: 1,797 images of 8 x 8, nothing downloaded."""

from __future__ import annotations

import numpy as np

from mt_nn.core.dataset import TensorDataset
from mt_nn.errors import MissingPackageError
from mt_tensor import tensor

TEST_SIZE = 360
SPLIT_SEED = 0


def digits() -> tuple[TensorDataset, TensorDataset]:
    """Return training and test set, always split in the same way.

    Each holds images, float32 of shape (count, 1, 8, 8) from 0 to 1, and labels, int64 of shape
    (count,). There are 1,437 and 360 of them.

    Raises:
        MissingPackageError: scikit-learn is not installed.
    """
    try:
        from sklearn.datasets import load_digits
    except ImportError as error:
        raise MissingPackageError(
            "the digits come with scikit-learn: pip install 'mt-nn[train]'."
        ) from error
    loaded = load_digits()
    images = (loaded.images / 16.0).astype(np.float32)[:, None]
    labels = loaded.target.astype(np.int64)
    order = np.random.default_rng(SPLIT_SEED).permutation(len(labels))
    test, train = order[:TEST_SIZE], order[TEST_SIZE:]
    return (
        TensorDataset(tensor(images[train]), tensor(labels[train])),
        TensorDataset(tensor(images[test]), tensor(labels[test])),
    )
