"""Training steps as CUDA graphs, on the mock GPU of mt-cuda's tests, whose kernels compute.

Each step is run eagerly, compiled without a graph, and compiled with one; all results must have the
same bits. From the third call on, a step is one launch: no kernel is launched separately, nothing
is allocated or copied, and the host does not wait.
"""

from __future__ import annotations

import importlib.util
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import mt_nn as nn
import mt_tensor as mt
from mt_cuda import CudaOps
from mt_cuda.core.tables import SPECIAL_CASES
from mt_nn import functional as F
from mt_nn.core.lenet import LeNet
from mt_nn.train.networks import TransformerLanguageModel
from mt_tensor.backends import use_backend
from mt_tensor.extending import Array

_path = Path(__file__).parents[2] / "packages/mt-cuda/tests/conftest.py"
_spec = importlib.util.spec_from_file_location("mock_gpu", _path)
assert _spec is not None
assert _spec.loader is not None
mock = importlib.util.module_from_spec(_spec)
_spec.loader.exec_module(mock)
make_mock_gpu = mock.make_mock_gpu

STEPS = 6

GRAPHS = {"LeNet": 30, "MLP": 16, "GPT": 84, "ResNet": 36}
"""The number of launches in each graph."""


@pytest.fixture
def driver(make_mock_gpu: Any) -> Iterator[Any]:
    """The mock driver of the GPU that is in use."""
    machine, driver = make_mock_gpu("cubin")
    driver.total = 1 << 30
    with use_backend(CudaOps(machine)):
        yield driver


class Residual(nn.Module):
    """Two convolutions with batch normalization, added to their input."""

    def __init__(self, channels: int) -> None:
        super().__init__()
        self.change = nn.Sequential(
            nn.Conv2d(channels, channels, 3, padding=1, bias=False),
            nn.BatchNorm2d(channels),
            nn.ReLU(),
            nn.Conv2d(channels, channels, 3, padding=1, bias=False),
            nn.BatchNorm2d(channels),
        )

    def forward(self, x: mt.Tensor) -> mt.Tensor:
        changed: mt.Tensor = self.change(x)
        return (x + changed).relu()


def images(rng: np.random.Generator) -> tuple[Array, Array]:
    return rng.random((2, 1, 4, 4), np.float32), rng.integers(0, 3, 2)


def rows(rng: np.random.Generator) -> tuple[Array, Array]:
    return rng.random((3, 5), np.float32), rng.integers(0, 2, 3)


def texts(rng: np.random.Generator) -> tuple[Array, Array]:
    return rng.integers(0, 7, (3, 2)), rng.integers(0, 7, 6)


NETWORKS: dict[str, tuple[Callable[[], nn.Module], Callable[[Any], Any], Callable[[Any], Any]]] = {
    "LeNet": (
        lambda: LeNet(4, classes=3, channels=(2, 3), hidden=4),
        lambda p: nn.optim.SGD(p, lr=0.1, momentum=0.9),
        images,
    ),
    "MLP": (
        lambda: nn.Sequential(nn.Linear(5, 4), nn.Tanh(), nn.Dropout(0.3), nn.Linear(4, 2)),
        lambda p: nn.optim.Adam(p, lr=0.05),
        rows,
    ),
    "GPT": (
        lambda: TransformerLanguageModel(7, 4, layers=1, heads=2, window=3, dropout=0.2),
        lambda p: nn.optim.AdamW(p, lr=0.01),
        texts,
    ),
    "ResNet": (
        lambda: nn.Sequential(
            nn.Conv2d(1, 2, 3, padding=1), Residual(2), nn.Flatten(), nn.Linear(32, 3)
        ),
        lambda p: nn.optim.SGD(p, lr=0.1, nesterov=True, momentum=0.9),
        images,
    ),
}


def trained(name: str, mode: str, driver: Any) -> tuple[list[Any], list[dict[str, int]], Any]:
    """Train; return all numbers, the calls of the driver in each step, and the step."""
    make, make_optimizer, make_batch = NETWORKS[name]
    mt.manual_seed(0)
    model = make()
    optimizer = make_optimizer(list(model.parameters()))
    scheduler = nn.optim.lr_scheduler.StepLR(optimizer, 2, gamma=0.5)

    def step(inputs: mt.Tensor, labels: mt.Tensor) -> mt.Tensor:
        optimizer.zero_grad()
        loss = F.cross_entropy(model(inputs), labels)
        loss.backward()
        optimizer.step()
        return loss.detach()

    run = step if mode == "eager" else mt.compile(step)
    losses, calls, rng = [], [], np.random.default_rng(0)
    for _ in range(STEPS):
        batch = list(map(mt.tensor, make_batch(rng)))
        driver.calls.clear()
        losses.append(run(*batch))
        calls.append(dict(driver.calls))
        scheduler.step()
    tensors = [*losses, *model.state_dict().values(), *(p.grad for p in model.parameters())]
    states = [x for each in optimizer.state.values() for x in each.values()]
    tensors += [x for x in states if isinstance(x, mt.Tensor)]
    return [x.numpy() for x in tensors], calls, run


@pytest.mark.parametrize("name", NETWORKS)
def test_compiled_step_is_one_graph_launch_with_identical_results(
    name: str, driver: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    eager, _, _ = trained(name, "eager", driver)
    with monkeypatch.context() as patch:
        patch.delitem(SPECIAL_CASES, "program")
        separate, launches, _ = trained(name, "compiled", driver)
    graph, calls, step = trained(name, "compiled", driver)
    for a, b, c in zip(eager, separate, graph, strict=True):
        np.testing.assert_array_equal(b, a)
        np.testing.assert_array_equal(c, a)
    assert calls[2].keys() <= {"graph", "graph launch", "parameters", "allocate"}
    for each in calls[3:]:
        assert each["graph launch"] == 1
        assert each.keys() <= {"graph launch", "parameters"}
        assert each["parameters"] < launches[-1]["launch"] / 2
    assert f"of {GRAPHS[name]} launches" in repr(step.program.calls)
