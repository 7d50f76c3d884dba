"""Dropout of six numbers with a probability of 0.5, with the same random numbers."""

from typing import Any

from mt.concept.gradients import of_tensors

X = [1.0, -2.0, 3.0, 0.5, -1.5, 4.0]
P = 0.5
SEED = 3


def tensor() -> tuple[Any, Any]:
    import mt_tensor as mt

    noise = mt.rand(len(X), generator=mt.Generator().manual_seed(SEED))
    return of_tensors(lambda x: x * (noise >= P) / (1.0 - P), X)


def nn() -> tuple[Any, Any]:
    import mt_nn as nn
    import mt_tensor as mt
    from mt_tensor.core.generator import use_generator

    with use_generator(mt.Generator().manual_seed(SEED)):
        return of_tensors(nn.Dropout(P), X)


fast = nn


def reference() -> tuple[Any, Any]:
    import numpy as np

    noise = np.random.Generator(np.random.Philox(SEED)).random(len(X), np.float32)
    factors = (noise >= P) / (1.0 - P)
    return X * factors, factors
