"""Memory: training steps and graphs are freed without the garbage collector."""

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
def gc_disabled() -> Iterator[None]:
    """Disable the garbage collector, so that only reference counts free objects."""
    gc.collect()
    gc.disable()
    yield
    gc.enable()


def count_tensors_and_nodes() -> int:
    """Return the number of tensors and graph nodes in memory."""
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


@pytest.mark.usefixtures("gc_disabled")
@pytest.mark.parametrize("backend", [name for name in ("numpy", "fast") if name in backends()])
@pytest.mark.parametrize("name", NETWORKS)
def test_training_step_frees_all_temporary_tensors_and_nodes(name: str, backend: str) -> None:
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

        for _ in range(2):  # the first step creates the optimizer's state and constants
            step()
        before = count_tensors_and_nodes()
        for _ in range(3):
            step()
        assert count_tensors_and_nodes() == before


@pytest.mark.usefixtures("gc_disabled")
def test_graph_without_backward_is_freed_with_its_results() -> None:
    model = nn.Sequential(nn.Linear(3, 4), nn.Tanh(), nn.Linear(4, 1))
    x = mt.ones(2, 3)
    before = count_tensors_and_nodes()
    out = model(x).sum()
    view = out.view(1)
    assert count_tensors_and_nodes() > before
    del out, view
    assert count_tensors_and_nodes() == before
