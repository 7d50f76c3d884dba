"""Five samples in batches of two, in order; and all samples of a shuffled epoch, sorted."""

from typing import Any

SAMPLES = [10.0, 20.0, 30.0, 40.0, 50.0]
SIZE = 2


def operators() -> tuple[Any, Any]:
    import random

    from mt_operators.datasets import xor

    points = xor(len(SAMPLES), seed=0)
    order = list(range(len(points)))
    random.Random(0).shuffle(order)
    batches = [SAMPLES[i : i + SIZE] for i in range(0, len(SAMPLES), SIZE)]
    return [batches, sorted(SAMPLES[i] for i in order)], None


def tensor() -> tuple[Any, Any]:
    import mt_tensor as mt

    samples = mt.tensor(SAMPLES)
    order = mt.randperm(len(SAMPLES), generator=mt.Generator().manual_seed(0))
    return [list(samples.split(SIZE)), samples[order].sort()[0]], None


def nn() -> tuple[Any, Any]:
    import mt_tensor as mt
    from mt_nn.data import DataLoader, TensorDataset

    data = TensorDataset(mt.tensor(SAMPLES))
    in_order = [batch for (batch,) in DataLoader(data, batch_size=SIZE)]
    shuffled = DataLoader(
        data, batch_size=SIZE, shuffle=True, generator=mt.Generator().manual_seed(0)
    )
    seen = mt.cat([batch for (batch,) in shuffled])
    return [in_order, seen.sort()[0]], None


def reference() -> tuple[Any, Any]:
    return [[SAMPLES[:2], SAMPLES[2:4], SAMPLES[4:]], SAMPLES], None
