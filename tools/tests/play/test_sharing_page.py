"""The sharing page shows the elements that each thread of mt-fast writes."""

import re
import threading
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numba
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import mt_tensor as mt
from mt_fast.core import kernel
from mt_fast.core.kernel import Kernel
from mt_operators import OPERATORS
from play.comparison import DTYPES, PRODUCT, REDUCTIONS, Operation
from play.compiled import runs_of
from play.sharing import (
    curve,
    most_threads,
    shared_from,
    target,
    threads,
    times,
    touched,
    written,
)

LARGE = {
    "tanh": ((500, 300),),
    "add": ((500, 300), (300,)),
    "isnan": ((150_001,),),
    "where": ((500, 300), (300,), (300,)),
    "sum": ((500, 300),),
    PRODUCT: ((150, 140), (140, 130)),
}
"""Shapes that are large enough for threads."""


@st.composite
def operations(draw: st.DrawFn) -> Operation:
    """Generate an operation that is just large enough for threads."""
    name = draw(st.sampled_from(["tanh", "add", "lt", *REDUCTIONS, PRODUCT]))
    dtype = draw(st.sampled_from(DTYPES if name in ("add", "lt", "sum", PRODUCT) else DTYPES[:2]))
    if name == PRODUCT:
        n, m, k = (draw(st.integers(128, 200)) for _ in range(3))
        return Operation(name, ((n, m), (m, k)), dtype)
    columns = draw(st.integers(1, 2**16))
    rows = -(-shared_from(Operation(name, ())) // columns) + draw(st.integers(0, 9))
    shape = draw(st.permutations([rows, columns]))
    arity = OPERATORS[name].arity if name in OPERATORS else 1
    others = draw(st.sampled_from([tuple(shape), tuple(shape[1:])]))
    shapes = (tuple(shape), *(others for _ in range(arity - 1)))
    return Operation(name, shapes, dtype, draw(st.sampled_from([0, -1])))


@given(operations(), st.integers(1, most_threads()))
@settings(max_examples=25)
def test_threads_write_every_element_exactly_once(operation: Operation, count: int) -> None:
    shown = written(operation, count)
    assert shown[-1].owners.size == operation.on("numpy")().numel()
    for memory in shown:
        assert sum(memory.elements().values()) == memory.owners.size
        if memory.run:
            writers = memory.owners.reshape(-1)
            shares = [touched(memory.run, units) for units in memory.run.shares()]
            assert np.sum(shares, 0).max() == 1
            for thread, share in enumerate(shares):
                assert (writers[share] == thread).all()


@pytest.mark.parametrize("name", LARGE)
def test_parts_written_by_threads_form_the_result(name: str) -> None:
    operation = Operation(name, LARGE[name])
    (shown,) = written(operation, 2)
    assert shown.run is not None
    assert list(shown.elements()) == [0, 1]
    memory = target(shown.run)
    memory.view("u1")[:] = 255
    for units in shown.run.shares():
        shown.run.kernel.serial(units.start, units.stop, *shown.run.arguments)
    whole = operation.on("fast")()
    np.testing.assert_array_equal(memory.reshape(whole.shape), whole.numpy())


def _noted(lo: Any, hi: Any, firsts: Any, lasts: Any) -> None:
    firsts[lo] += 1
    lasts[hi - 1] += 1


@pytest.mark.parametrize("count", [1, 2, 3, 7, 64])
def test_thread_shares_match_compiled_function(count: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(kernel, "thread_count", lambda: count)
    noted = Kernel.of(_noted)
    for units in (1, 2, 7, 8, 63, 1000):
        firsts, lasts = np.zeros((2, units), int)
        (run,), _ = runs_of(lambda: noted.run(units, True, firsts, lasts))  # noqa: B023
        assert (run.units, run.parts) == (units, min(count, units))
        shares = run.shares()
        assert [share.start for share in shares] == np.flatnonzero(firsts).tolist()
        assert [share.stop - 1 for share in shares] == np.flatnonzero(lasts).tolist()


@given(st.integers(1, 10**9), st.integers(1, 64))
def test_shares_of_any_number_of_threads_are_even(units: int, parts: int) -> None:
    (run, *_), _ = runs_of(mt.ones(400, 500, backend="fast").tanh)
    shares = replace(run, units=units, parts=min(parts, units)).shares()
    ends = [0, *(share.stop for share in shares)]
    assert [share.start for share in shares] == ends[:-1]
    assert ends[-1] == units
    assert np.ptp([len(share) for share in shares]) <= 1


def test_partial_results_of_a_sum_are_listed_before_the_result() -> None:
    partial, result = written(Operation("sum", ((1_000_003,),)), 2)
    assert partial.run is not None
    assert partial.owners.shape == (1, partial.run.units + 1)
    assert result.elements() == {0: 1}


@pytest.mark.parametrize(("name", "dtype"), [("tanh", "float32"), ("sum", "int32")])
def test_threads_are_used_from_the_documented_size(name: str, dtype: str) -> None:
    least = shared_from(Operation(name, (), dtype))
    for size, shared in ((least - 1, False), (least, True)):
        (*_, last) = shown = written(Operation(name, ((size,),), dtype), 2)
        assert [each.run is not None for each in shown] == [shared] * len(shown)
        assert last.owners.size == (size if name == "tanh" else 1)


@pytest.mark.parametrize("dtype", DTYPES)
def test_products_use_threads_from_the_documented_size(dtype: str) -> None:
    least = shared_from(Operation(PRODUCT, (), dtype))
    side = round(least ** (1 / 3))
    for n in (side - 2, side + 2):
        operation = Operation(PRODUCT, ((n, n), (n, n)), dtype)
        (shown,) = written(operation, 2)
        assert (shown.run is not None) == (operation.steps() >= least) == (n > side)


def failing_alone(seen: list[int]) -> None:
    """Record the numbers of threads of another thread and of this one, then raise an error."""
    with threads(1):
        other = threading.Thread(target=lambda: seen.append(numba.get_num_threads()))
        other.start()
        other.join()
        seen.append(numba.get_num_threads())
        raise ZeroDivisionError


def test_number_of_threads_is_local_and_restored_after_an_error() -> None:
    before = numba.get_num_threads()
    seen: list[int] = []
    with pytest.raises(ZeroDivisionError):
        failing_alone(seen)
    assert seen == [most_threads(), 1]
    operation = Operation("tanh", ((400, 500),))
    written(operation, 1)
    times(operation)
    curve(operation)
    assert numba.get_num_threads() == before


def test_times_are_measured_for_every_number_of_threads() -> None:
    taken = times(Operation("sum", ((400, 500),)))
    assert list(taken)[:2] == [1, 2]
    assert list(taken)[-1] == most_threads()
    assert all(0.0 < each.fastest <= each.median for each in taken.values())


@pytest.mark.parametrize("name", LARGE)
def test_curve_ends_at_the_full_size_of_the_operation(name: str) -> None:
    operation = Operation(name, LARGE[name])
    points = curve(operation)
    assert [steps for steps, _, _ in points] == sorted({steps for steps, _, _ in points})
    assert points[-1][0] == operation.steps()
    assert all(alone > 0.0 and shared > 0.0 for _, alone, shared in points)


def test_small_operation_has_a_curve_unless_numpy_computes_it() -> None:
    assert curve(Operation("add", ((64, 100), (64, 100))))[-1][0] == 6400
    assert curve(Operation(PRODUCT, ((20, 20), (20, 20)))) == []


def elements(page: Any) -> list[list[int]]:
    """Return for each picture the number of elements that each thread writes."""
    captions = [each.value for each in page.caption if "[thread 0]" in each.value]
    return [
        [int(count.replace(",", "")) for count in re.findall(r"thread \d+\]: ([\d,]+)", each)]
        for each in captions
    ]


def test_page_shows_equal_shares_for_the_chosen_number_of_threads(
    opened: Callable[[str], Any],
) -> None:
    page = opened("stage3_sharing")
    assert "lo = _units * _part // _parts" in page.code[0].value
    count = most_threads()
    assert page.metric[0].value == f"{count} of {count}"
    (shares,) = elements(page)
    assert len(shares) == count
    assert sum(shares) == 1_000_000
    assert max(shares) - min(shares) <= 1
    assert "speed-up" in page.table[0].value
    if count > 1:
        page.slider[0].set_value(1).run()
        assert page.metric[0].value == "1 of 1"
        assert elements(page) == [[1_000_000]]


@pytest.mark.skipif(most_threads() == 1, reason="needs two threads")
def test_page_shows_partial_results_and_products(opened: Callable[[str], Any]) -> None:
    page = opened("stage3_sharing")
    page.selectbox[0].set_value("sum").run()
    page.selectbox[2].set_value("first").run()
    assert any("reduced in a second step" in each.value for each in page.markdown)
    partial, result = elements(page)
    assert len(partial) > 1
    assert result == [1000]
    page.selectbox[0].set_value("matrix product").run()
    assert any("units of `_multiply`" in each.value for each in page.markdown)
    ((first, *others),) = elements(page)
    assert others
    assert first + sum(others) == 512 * 512


def test_page_shows_one_thread_for_a_small_operation(opened: Callable[[str], Any]) -> None:
    page = opened("stage3_sharing")
    page.number_input[0].set_value(64)
    page.number_input[1].set_value(100).run()
    assert any("One thread runs all of it" in each.value for each in page.markdown)
    assert elements(page) == [[6400]]
    page.selectbox[0].set_value("gcd").run()
    assert r"gcd\(\) works on integers" in page.error[0].value
    page.selectbox[1].set_value("int32").run()
    assert not page.error


def test_page_has_no_slider_on_one_processor(
    opened: Callable[[str], Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(numba.config, "NUMBA_NUM_THREADS", 1)
    page = opened("stage3_sharing")
    assert not page.slider
    assert page.metric[0].value == "1 of 1"
    assert elements(page) == [[1_000_000]]
