"""Threads and asyncio tasks: shared leaves lose no gradient, and each has its own modes."""

import asyncio
import threading
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest

import mt_tensor as mt
from mt_autodiff import GraphFreedError


@pytest.fixture
def switch_often() -> Iterator[None]:
    """Make Python switch threads at each function call."""
    threading.setprofile(lambda *_: time.sleep(1e-5))
    yield
    threading.setprofile(None)


THREADS, TIMES = 8, 5
TOTAL = TIMES * sum(range(1, THREADS + 1))
"""The sum over all threads: a small integer, so that the order of addition causes no rounding."""


def run(work: Any) -> None:
    """Call `work(1)`, `work(2)`, ... in threads that start at the same time."""
    barrier = threading.Barrier(THREADS)

    def start(number: int) -> None:
        barrier.wait(10)
        work(number)

    with ThreadPoolExecutor(THREADS) as pool:
        list(pool.map(start, range(1, THREADS + 1)))


@pytest.mark.usefixtures("switch_often")
@pytest.mark.parametrize("create_graph", [False, True])
def test_leaf_shared_by_threads_accumulates_every_gradient(create_graph: bool) -> None:
    shared = mt.zeros(3, requires_grad=True)

    def work(number: int) -> None:
        for _ in range(TIMES):
            (shared * float(number)).sum().backward(create_graph=create_graph)

    run(work)
    assert shared.grad.tolist() == [TOTAL] * 3


@pytest.mark.usefixtures("switch_often")
def test_shared_memory_of_grads_accumulates_every_gradient() -> None:
    flat = mt.zeros(4)
    shared = [mt.zeros(2, requires_grad=True) for _ in range(2)]
    for leaf, grad in zip(shared, (flat[:2], flat[2:]), strict=True):
        leaf.grad = grad

    def work(number: int) -> None:
        for _ in range(TIMES):
            ((shared[0] + shared[1] * 2.0) * float(number)).sum().backward()

    run(work)
    assert flat.tolist() == [TOTAL, TOTAL, 2 * TOTAL, 2 * TOTAL]


@pytest.mark.usefixtures("switch_often")
def test_retained_grad_accumulates_every_gradient() -> None:
    middle = mt.zeros(2, requires_grad=True) * 1.0
    middle.retain_grad()

    def work(number: int) -> None:
        for _ in range(TIMES):
            (middle * float(number)).sum().backward(retain_graph=True)

    run(work)
    assert middle.grad.tolist() == [TOTAL] * 2


@pytest.mark.usefixtures("switch_often")
def test_post_accumulate_hook_has_exclusive_access_to_grad() -> None:
    """The hook removes the gradient, like an optimizer step during the backward pass."""
    shared = mt.zeros(2, requires_grad=True)
    taken = mt.zeros(2)

    def take(leaf: Any) -> None:
        taken.add_(leaf.grad)
        leaf.grad = None

    shared.register_post_accumulate_grad_hook(take)

    def work(number: int) -> None:
        for _ in range(TIMES):
            (shared * float(number)).sum().backward()

    run(work)
    assert shared.grad is None
    assert taken.tolist() == [TOTAL] * 2


def test_hook_may_call_backward_to_its_own_leaf() -> None:
    x = mt.zeros(1, requires_grad=True)
    first_call = [True]

    def hook(leaf: Any) -> None:
        if first_call.pop() if first_call else False:
            with mt.enable_grad():
                loss = (leaf * 2.0).sum()
            loss.backward()

    x.register_post_accumulate_grad_hook(hook)
    x.sum().backward()
    assert x.grad.tolist() == [3.0]


def test_each_asyncio_task_has_its_own_grad_mode_and_backend() -> None:
    x = mt.zeros(2, requires_grad=True, backend="numpy")

    async def task(mode: bool, backend: str) -> tuple[bool, str]:
        mt.set_grad_enabled(mode)
        with mt.use_backend(backend):
            for _ in range(3):
                y = mt.zeros(2, requires_grad=True).exp()
                assert (y.requires_grad, y.backend.name) == (mode, backend)
                assert (x * 2.0).requires_grad is mode
                await asyncio.sleep(0)
        return mt.is_grad_enabled(), mt.current_backend().name

    async def tasks() -> None:
        before = mt.current_backend().name
        choices = [(mode, backend) for mode in (False, True) for backend in ("numpy", "simple")]
        results = await asyncio.gather(*(task(*choice) for choice in choices))
        assert results == [(mode, before) for mode, _ in choices]
        assert mt.is_grad_enabled()

    asyncio.run(tasks())


def test_one_use_backend_object_can_be_used_by_several_tasks() -> None:
    use = mt.use_backend("simple")

    async def within(entered: asyncio.Event, leave: asyncio.Event) -> str:
        with use:
            entered.set()
            await leave.wait()
            assert mt.current_backend().name == "simple"
        return mt.current_backend().name

    async def tasks() -> None:
        leave, before = asyncio.Event(), mt.current_backend().name
        running = []
        for _ in range(2):
            entered = asyncio.Event()
            running.append(asyncio.create_task(within(entered, leave)))
            await entered.wait()
        leave.set()
        assert await asyncio.gather(*running) == [before] * 2

    asyncio.run(tasks())


@pytest.mark.usefixtures("switch_often")
@pytest.mark.parametrize("method", ["register_hook", "register_post_accumulate_grad_hook"])
def test_hooks_registered_by_threads_are_all_called(method: str) -> None:
    leaf = mt.zeros(1, requires_grad=True)
    called: list[int] = []
    run(lambda number: getattr(leaf, method)(lambda _: called.append(number)))
    leaf.sum().backward()
    assert sorted(called) == list(range(1, THREADS + 1))


@pytest.mark.usefixtures("switch_often")
def test_threads_that_share_a_generator_draw_each_number_once() -> None:
    generator = mt.Generator().manual_seed(3)
    drawn: list[float] = []
    run(lambda _: drawn.append(mt.rand(1, generator=generator).item()))
    same = mt.Generator().manual_seed(3)
    assert sorted(drawn) == sorted(mt.rand(1, generator=same).item() for _ in range(THREADS))


def test_each_asyncio_task_has_its_own_printoptions() -> None:
    async def text(precision: int) -> str:
        with mt.printoptions(precision=precision):
            await asyncio.sleep(0)
            return str(mt.tensor(1.23456))

    async def tasks() -> None:
        texts = await asyncio.gather(text(1), text(3), asyncio.to_thread(repr, mt.tensor(1.5)))
        assert texts == ["tensor(1.2)", "tensor(1.235)", "tensor(1.5000)"]

    asyncio.run(tasks())
    assert mt.get_printoptions()["precision"] == 4


@pytest.mark.usefixtures("switch_often")
@pytest.mark.parametrize(
    "operation", [lambda x: x.tanh(), lambda x: x.softmax(0), lambda x: x.sum(), lambda x: x @ x]
)
def test_backward_of_one_graph_in_several_threads_completes_or_raises(operation: Any) -> None:
    leaf = mt.ones(3, requires_grad=True)
    middle = leaf * 1.0
    result = operation(middle).sum()
    done: list[int] = []

    def work(number: int) -> None:
        try:
            result.backward()
            done.append(number)
        except GraphFreedError:
            pass

    run(work)
    once = mt.autograd.grad(operation(leaf).sum(), leaf)[0]
    assert done
    assert leaf.grad.tolist() == [len(done) * x for x in once.tolist()]
