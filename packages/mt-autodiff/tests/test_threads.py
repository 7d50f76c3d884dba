"""Threads and asyncio tasks: accumulation into shared leaves, and grad modes."""

import asyncio
import threading
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import AbstractContextManager

import pytest

from mt_autodiff import Scalar, enable_grad, is_grad_enabled, no_grad, set_grad_enabled


@pytest.fixture
def switching_threads() -> Iterator[None]:
    """Make Python switch threads at each function call and return."""
    threading.setprofile(lambda *_: time.sleep(1e-5))
    yield
    threading.setprofile(None)


@pytest.mark.usefixtures("switching_threads")
@pytest.mark.parametrize("create_graph", [False, True])
def test_leaf_shared_by_threads_accumulates_every_derivative(create_graph: bool) -> None:
    threads, times = 8, 5
    shared = Scalar(2.0)

    def work(number: int) -> None:
        for _ in range(times):
            (shared * float(number)).backward(create_graph=create_graph)

    with ThreadPoolExecutor(threads) as pool:
        list(pool.map(work, range(1, threads + 1)))
    assert float(shared.derivative) == times * sum(range(1, threads + 1))


def test_each_asyncio_task_has_its_own_grad_mode() -> None:
    async def switching(mode: bool) -> list[bool]:
        seen = [is_grad_enabled()]
        set_grad_enabled(mode)
        for _ in range(3):
            await asyncio.sleep(0)
            seen.append(is_grad_enabled())
        return seen

    async def within(switch: AbstractContextManager[object]) -> list[bool]:
        seen = []
        with switch:
            for _ in range(3):
                await asyncio.sleep(0)
                seen.append(is_grad_enabled())
        return [*seen, is_grad_enabled()]

    async def tasks() -> None:
        found = await asyncio.gather(
            switching(False), within(no_grad()), switching(True), within(enable_grad())
        )
        assert found == [[True, *[False] * 3], [*[False] * 3, True], [True] * 4, [True] * 4]
        assert is_grad_enabled()
        with no_grad():  # tasks and `asyncio.to_thread` inherit the mode
            assert await asyncio.gather(switching(True), within(enable_grad())) == [
                [False, *[True] * 3],
                [*[True] * 3, False],
            ]
            assert not await asyncio.to_thread(is_grad_enabled)

    asyncio.run(tasks())
    assert is_grad_enabled()


def test_one_no_grad_object_can_be_used_by_several_tasks() -> None:
    """Tasks leave the block in the order in which they entered; each gets its own mode back."""
    switch = no_grad()

    async def within(own: bool, entered: asyncio.Event, leave: asyncio.Event) -> bool:
        set_grad_enabled(own)
        with switch:
            entered.set()
            await leave.wait()
            assert not is_grad_enabled()
        return is_grad_enabled()

    async def tasks() -> None:
        one, two, left = asyncio.Event(), asyncio.Event(), asyncio.Event()
        first = asyncio.create_task(within(True, one, left))
        await one.wait()
        second = asyncio.create_task(within(False, two, left))
        await two.wait()
        left.set()
        assert await asyncio.gather(first, second) == [True, False]

    asyncio.run(tasks())


def test_one_no_grad_object_can_be_used_by_several_threads() -> None:
    switch = no_grad()
    entered, may_leave = threading.Barrier(2), [threading.Event(), threading.Event()]

    def within(number: int) -> bool:
        set_grad_enabled(number == 0)
        with switch, switch:
            entered.wait(5)
            may_leave[number].wait(5)
            assert not is_grad_enabled()
        may_leave[1].set()
        return is_grad_enabled()

    with ThreadPoolExecutor(2) as pool:
        found = [pool.submit(within, number) for number in range(2)]
        may_leave[0].set()
        assert [each.result() for each in found] == [True, False]
