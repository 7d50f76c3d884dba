"""What a step of training leaves behind: nothing, and that at once."""

import gc
from collections import Counter
from collections.abc import Iterator
from typing import Any

import pytest

import mt_nn as nn
import mt_tensor as mt
from mt_tensor.backends import backends
from mt_tensor.extending import Node


@pytest.fixture
def uncollected() -> Iterator[None]:
    """Let only the counts of references free anything."""
    gc.collect()
    gc.disable()
    yield
    gc.enable()


def alive() -> int:
    """Return how many tensors and nodes of graphs there are."""
    kinds = Counter(map(type, gc.get_objects()))
    return sum(count for kind, count in kinds.items() if issubclass(kind, mt.Tensor | Node))


NETWORKS: dict[str, Any] = {
    "images": lambda: (
        nn.Sequential(
            nn.Conv2d(1, 4, 3), nn.BatchNorm2d(4), nn.ReLU(), nn.MaxPool2d(2), nn.Dropout(0.2),
            nn.Flatten(), nn.Linear(36, 3),
        ),
        (5, 1, 8, 8),
    ),
    "sequences": lambda: (nn.LSTM(6, 3, batch_first=True), (5, 4, 6)),
    "attention": lambda: (nn.TransformerEncoderLayer(6, 2, 12, batch_first=True), (5, 4, 6)),
}  # fmt: skip


@pytest.mark.usefixtures("uncollected")
@pytest.mark.parametrize("backend", [name for name in ("numpy", "fast") if name in backends()])
@pytest.mark.parametrize("name", NETWORKS)
def test_a_step_of_training_leaves_nothing_behind(name: str, backend: str) -> None:
    with mt.use_backend(backend):
        model, shape = NETWORKS[name]()
        optimizer = nn.optim.Adam(model.parameters(), lr=0.01)

        def step() -> None:
            out = model(mt.rand(*shape))
            out = out[0] if isinstance(out, tuple) else out
            out.square().mean().backward()
            nn.utils.clip_grad_norm_(model.parameters(), 1.0)
            optimizer.step()
            optimizer.zero_grad()

        for _ in range(2):  # the first makes what stays: the optimizer's state, constants
            step()
        before = alive()
        for _ in range(3):
            step()
        assert alive() == before


@pytest.mark.usefixtures("uncollected")
def test_a_graph_that_is_never_differentiated_goes_with_its_result() -> None:
    model = nn.Sequential(nn.Linear(3, 4), nn.Tanh(), nn.Linear(4, 1))
    x = mt.ones(2, 3)
    before = alive()
    out = model(x).sum()
    view = out.view(1)
    assert alive() > before
    del out, view
    assert alive() == before
