"""Threads and tasks: separate networks, shared networks and hooks, summaries and profiles."""

import asyncio
import threading
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import numpy as np
import pytest

import mt_nn as nn
import mt_tensor as mt
from mt_tensor.backends import backends
from mt_tensor.extending import use_generator

BACKENDS = [name for name in ("numpy", "fast") if name in backends()]

THREADS = 32


@pytest.fixture
def frequent_thread_switches() -> Iterator[None]:
    """Switch threads at every function call."""
    threading.setprofile(lambda *_: time.sleep(1e-5))
    yield
    threading.setprofile(None)


def run(work: Callable[[int], Any], threads: int = THREADS) -> list[Any]:
    """Run `work(number)` in one thread per number, started together; return the results."""
    barrier = threading.Barrier(threads)

    def begin(number: int) -> Any:
        barrier.wait(30)
        return work(number)

    with ThreadPoolExecutor(threads) as pool:
        return list(pool.map(begin, range(threads)))


def trained(seed: int, backend: str) -> list[Any]:
    """Train a small network for a few steps; return losses and parameters."""
    with use_generator(mt.Generator().manual_seed(seed)), mt.use_backend(backend):
        model = nn.Sequential(
            nn.Conv2d(1, 3, 3),
            nn.BatchNorm2d(3),
            nn.ReLU(),
            nn.MaxPool2d(2),
            nn.Flatten(),
            nn.Dropout(0.2),
            nn.Linear(27, 4),
        )
        optimizer = nn.optim.Adam(model.parameters(), lr=0.01)
        losses = []
        for _ in range(3):
            images, labels = mt.rand(5, 1, 8, 8), mt.randint(0, 4, (5,))
            optimizer.zero_grad()
            loss = nn.functional.cross_entropy(model(images), labels)
            loss.backward()
            optimizer.step()
            losses.append(loss.item())
        return [losses, *(value.tolist() for value in model.state_dict().values())]


@pytest.mark.parametrize("backend", BACKENDS)
def test_threads_training_separate_networks_match_sequential_runs(backend: str) -> None:
    """The results are equal bit for bit."""
    concurrent = run(lambda seed: trained(seed, backend))
    assert concurrent == [trained(seed, backend) for seed in range(THREADS)]


@pytest.fixture(params=BACKENDS)
def backend(request: pytest.FixtureRequest) -> Iterator[str]:
    """Make a backend the default of the test's thread, and return its name."""
    with mt.use_backend(request.param):
        yield request.param


@pytest.mark.parametrize("in_memory", [False, True])
def test_threads_accumulate_gradients_of_a_shared_network(in_memory: bool, backend: str) -> None:
    """The gradients are integers, so that their order does not change the sum."""
    model = nn.Sequential(nn.Linear(3, 2), nn.ReLU(), nn.Linear(2, 1))
    buffer = mt.zeros(sum(parameter.numel() for parameter in model.parameters()))
    calls: list[int] = []
    start = 0
    for number, parameter in enumerate(model.parameters()):
        with mt.no_grad():
            parameter.copy_(mt.arange(parameter.numel()).view(parameter.shape) % 3)
        if in_memory:
            parameter.grad = buffer[start : start + parameter.numel()].view(parameter.shape)
        start += parameter.numel()
        parameter.register_hook(lambda _, number=number: calls.append(number))
    data = np.random.default_rng(0).integers(-2, 3, (THREADS, 4, 3)).astype(np.float32)

    def work(number: int) -> None:
        for _ in range(2):
            model(mt.tensor(data[number], backend=backend)).sum().backward()

    run(work)
    found = [parameter.grad.tolist() for parameter in model.parameters()]
    assert sorted(calls) == sorted(2 * THREADS * list(range(4)))
    if in_memory:
        assert buffer.tolist() == [x for gradient in found for x in np.ravel(gradient)]
    model.zero_grad()
    for number in range(THREADS):
        work(number)
    assert found == [parameter.grad.tolist() for parameter in model.parameters()]


@pytest.mark.usefixtures("frequent_thread_switches")
def test_lazy_layer_first_called_by_several_threads_is_initialized_once() -> None:
    layer = nn.LazyLinear(2, bias=False)
    x = mt.tensor([[1.0, 2.0, 3.0]])
    run(lambda _: layer(x).sum().backward(), 8)
    assert type(layer) is nn.Linear
    assert layer.weight.grad.tolist() == [[8.0, 16.0, 24.0]] * 2


@pytest.mark.usefixtures("frequent_thread_switches")
def test_hooks_registered_by_several_threads_are_all_called() -> None:
    layer = nn.Identity()
    called: list[int] = []
    run(lambda number: layer.register_forward_hook(lambda *_: called.append(number)), 8)
    layer(mt.ones(1))
    assert sorted(called) == list(range(8))


@pytest.mark.usefixtures("frequent_thread_switches")
def test_summaries_computed_by_several_threads_do_not_mix() -> None:
    models = [nn.Sequential(nn.Linear(3, 4), nn.ReLU(), nn.Linear(4, width)) for width in (1, 2, 3)]
    found = run(lambda number: nn.summary(models[number], (2, 3)).multiply_adds, 3)
    assert found == [2 * (3 * 4 + 4 * width) for width in (1, 2, 3)]


def test_profile_records_only_its_task_and_tasks_started_by_it() -> None:
    async def other() -> None:
        for _ in range(5):
            mt.ones(2).exp()
            await asyncio.sleep(0)

    async def own() -> None:
        mt.ones(2).tanh()

    async def profiled() -> set[str]:
        with nn.profile() as profile:
            for _ in range(3):
                mt.ones(2).sin()
                await asyncio.sleep(0)
            await asyncio.gather(own())
        return {event.name for event in profile.events}

    async def tasks() -> None:
        found, _ = await asyncio.gather(profiled(), other())
        assert found == {"full", "sin", "tanh"}

    asyncio.run(tasks())
