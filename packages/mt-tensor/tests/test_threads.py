"""Threads and tasks: what they share loses nothing, and each has settings of its own."""

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
def restless() -> Iterator[None]:
    """Let Python go on to the next thread at each call in any of them."""
    threading.setprofile(lambda *_: time.sleep(1e-5))
    yield
    threading.setprofile(None)


THREADS, TIMES = 8, 5
TOTAL = TIMES * sum(range(1, THREADS + 1))
"""What the threads add up to: small whole numbers, so that no order of adding rounds."""


def run(work: Any) -> None:
    """Call `work(1)` ... in as many threads, which begin together."""
    together = threading.Barrier(THREADS)

    def begin(number: int) -> None:
        together.wait(10)
        work(number)

    with ThreadPoolExecutor(THREADS) as pool:
        list(pool.map(begin, range(1, THREADS + 1)))


@pytest.mark.usefixtures("restless")
@pytest.mark.parametrize("create_graph", [False, True])
def test_a_leaf_shared_by_threads_loses_nothing(create_graph: bool) -> None:
    shared = mt.zeros(3, requires_grad=True)

    def work(number: int) -> None:
        for _ in range(TIMES):
            (shared * float(number)).sum().backward(create_graph=create_graph)

    run(work)
    assert shared.grad.tolist() == [TOTAL] * 3


@pytest.mark.usefixtures("restless")
def test_the_memory_of_grad_loses_nothing() -> None:
    flat = mt.zeros(4)
    shared = [mt.zeros(2, requires_grad=True) for _ in range(2)]
    for leaf, grad in zip(shared, (flat[:2], flat[2:]), strict=True):
        leaf.grad = grad

    def work(number: int) -> None:
        for _ in range(TIMES):
            ((shared[0] + shared[1] * 2.0) * float(number)).sum().backward()

    run(work)
    assert flat.tolist() == [TOTAL, TOTAL, 2 * TOTAL, 2 * TOTAL]


@pytest.mark.usefixtures("restless")
def test_retained_gradients_lose_nothing() -> None:
    middle = mt.zeros(2, requires_grad=True) * 1.0
    middle.retain_grad()

    def work(number: int) -> None:
        for _ in range(TIMES):
            (middle * float(number)).sum().backward(retain_graph=True)

    run(work)
    assert middle.grad.tolist() == [TOTAL] * 2


@pytest.mark.usefixtures("restless")
def test_a_hook_has_the_gradient_to_itself() -> None:
    """One that takes the gradient away, as a step in the middle of backward does."""
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


def test_a_hook_may_differentiate_by_its_leaf() -> None:
    x = mt.zeros(1, requires_grad=True)
    again = [True]

    def hook(leaf: Any) -> None:
        if again.pop() if again else False:
            with mt.enable_grad():
                loss = (leaf * 2.0).sum()
            loss.backward()

    x.register_post_accumulate_grad_hook(hook)
    x.sum().backward()
    assert x.grad.tolist() == [3.0]


def test_tasks_have_modes_and_backends_of_their_own() -> None:
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
        found = await asyncio.gather(*(task(*choice) for choice in choices))
        assert found == [(mode, before) for mode, _ in choices]
        assert mt.is_grad_enabled()

    asyncio.run(tasks())


def test_one_use_of_a_backend_serves_several_tasks() -> None:
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


@pytest.mark.usefixtures("restless")
@pytest.mark.parametrize("kind", ["register_hook", "register_post_accumulate_grad_hook"])
def test_hooks_that_threads_register_are_all_called(kind: str) -> None:
    leaf = mt.zeros(1, requires_grad=True)
    called: list[int] = []
    run(lambda number: getattr(leaf, kind)(lambda _: called.append(number)))
    leaf.sum().backward()
    assert sorted(called) == list(range(1, THREADS + 1))


@pytest.mark.usefixtures("restless")
def test_threads_that_begin_a_sequence_together_draw_all_of_it() -> None:
    """No number twice, and none left out."""
    generator = mt.Generator().manual_seed(3)
    drawn: list[float] = []
    run(lambda _: drawn.append(mt.rand(1, generator=generator).item()))
    again = mt.Generator().manual_seed(3)
    assert sorted(drawn) == sorted(mt.rand(1, generator=again).item() for _ in range(THREADS))


def test_tasks_show_tensors_each_in_their_own_way() -> None:
    async def shown(precision: int) -> str:
        with mt.printoptions(precision=precision):
            await asyncio.sleep(0)
            return str(mt.tensor(1.23456))

    async def tasks() -> None:
        found = await asyncio.gather(shown(1), shown(3), asyncio.to_thread(repr, mt.tensor(1.5)))
        assert found == ["tensor(1.2)", "tensor(1.235)", "tensor(1.5000)"]

    asyncio.run(tasks())
    assert mt.get_printoptions()["precision"] == 4


@pytest.mark.usefixtures("restless")
@pytest.mark.parametrize(
    "operation", [lambda x: x.tanh(), lambda x: x.softmax(0), lambda x: x.sum(), lambda x: x @ x]
)
def test_threads_that_differentiate_one_graph_get_all_of_it_or_are_told(operation: Any) -> None:
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
