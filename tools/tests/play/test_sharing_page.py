"""The sharing page shows the elements that each thread of mt-fast writes."""

import re
import threading
from dataclasses import replace
from typing import Any

import numba
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import array_shapes, arrays

import mt_tensor as mt
from mt_fast.core import kernel
from mt_fast.core.kernel import Kernel
from mt_operators import OPERATORS
from play.comparison import DTYPES, MOST_ELEMENTS, PRODUCT, REDUCTIONS, Operation
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
from play.strips import rectangles, strips_html
from play.testing import Reader, answers, served

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
def test_threads_write_every_element_once(operation: Operation, count: int) -> None:
    shown = written(operation, count)
    assert (
        shown[-1].tiles.size
        == operation.function([mt.tensor(array) for array in operation.arrays()])().numel()
    )
    for memory in shown:
        assert set(np.unique(memory.tiles)) == set(range(len(memory.owners)))
        assert sum(memory.elements().values()) == memory.tiles.size
        if memory.run:
            writers = np.take(memory.owners, memory.tiles.reshape(-1))
            shares = [touched(memory.run, units) for units in memory.run.shares()]
            assert np.sum(shares, 0).max() == 1
            for thread, share in enumerate(shares):
                assert (writers[share] == thread).all()


@pytest.mark.parametrize("name", LARGE)
def test_the_parts_written_by_threads_form_the_result(name: str) -> None:
    operation = Operation(name, LARGE[name])
    (shown,) = written(operation, 2)
    assert shown.run is not None
    assert list(shown.elements()) == [0, 1]
    memory = target(shown.run)
    memory.view("u1")[:] = 255
    for units in shown.run.shares():
        shown.run.kernel.serial(units.start, units.stop, *shown.run.arguments)
    whole = operation.function([mt.tensor(a, backend="fast") for a in operation.arrays()])()
    np.testing.assert_array_equal(memory.reshape(whole.shape), whole.numpy())


def _noted(lo: Any, hi: Any, firsts: Any, lasts: Any) -> None:
    firsts[lo] += 1
    lasts[hi - 1] += 1


@pytest.mark.parametrize("count", [1, 2, 3, 7, 64])
def test_the_shares_are_those_of_the_compiled_function(
    count: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(kernel, "thread_count", lambda: count)
    noted = Kernel.of(_noted)
    for units in (1, 2, 7, 8, 63, 1000):
        firsts, lasts = np.zeros((2, units), int)
        (run,), _ = runs_of(lambda: noted.run(units, True, firsts, lasts))  # noqa: B023
        assert (run.units, run.parts) == (units, min(count, units))
        shares = run.shares()
        assert [share.start for share in shares] == np.flatnonzero(firsts).tolist()
        assert [share.stop - 1 for share in shares] == np.flatnonzero(lasts).tolist()
        assert "lo = _units * _part // _parts" in run.text


@given(st.integers(1, 10**9), st.integers(1, 64))
def test_shares_of_any_number_of_threads_are_even(units: int, parts: int) -> None:
    (run, *_), _ = runs_of(mt.ones(400, 500, backend="fast").tanh)
    shares = replace(run, units=units, parts=min(parts, units)).shares()
    ends = [0, *(share.stop for share in shares)]
    assert [share.start for share in shares] == ends[:-1]
    assert ends[-1] == units
    assert np.ptp([len(share) for share in shares]) <= 1


def test_few_units_are_tiles_and_partial_results_come_first() -> None:
    partial, result = written(Operation("sum", ((1_000_003,),)), 2)
    assert partial.run is not None
    assert partial.tiles.shape == (1, partial.run.units + 1)
    assert partial.owners == [*sorted(partial.owners[:-1]), 0]
    assert result.elements() == {0: 1}
    (product,) = written(Operation(PRODUCT, ((256, 256), (256, 256))), 2)
    assert product.run is not None
    assert len(product.owners) == product.run.units


@pytest.mark.parametrize(("name", "dtype"), [("tanh", "float32"), ("sum", "int32")])
def test_threads_are_used_from_the_documented_size(name: str, dtype: str) -> None:
    least = shared_from(Operation(name, (), dtype))
    for size, shared in ((least - 1, False), (least, True)):
        (*_, last) = shown = written(Operation(name, ((size,),), dtype), 2)
        assert [each.run is not None for each in shown] == [shared] * len(shown)
        assert last.tiles.size == (size if name == "tanh" else 1)


@pytest.mark.parametrize("dtype", DTYPES)
def test_products_use_threads_from_the_documented_size(dtype: str) -> None:
    least = shared_from(Operation(PRODUCT, (), dtype))
    side = round(least ** (1 / 3))
    for n in (side - 2, side + 2):
        operation = Operation(PRODUCT, ((n, n), (n, n)), dtype)
        (shown,) = written(operation, 2)
        assert (shown.run is not None) == (operation.steps() >= least) == (n > side)


@given(arrays(np.int64, array_shapes(min_dims=2, max_dims=2), elements=st.integers(0, 2)))
def test_rectangles_are_the_matrix(tiles: Any) -> None:
    again = np.full(tiles.shape, -1)
    for number, top, left, bottom, right in rectangles(tiles):
        assert (again[top:bottom, left:right] == -1).all()
        again[top:bottom, left:right] = number
    np.testing.assert_array_equal(again, tiles)


def test_the_picture_lists_the_elements_of_each_thread() -> None:
    (shown,) = written(Operation("tanh", ((400, 500),)), 2)
    html = strips_html(shown)
    assert 'alt="thread 0: 100,000; thread 1: 100,000"' in html
    assert html.count(">thread 0</span>") == html.count(">thread 1</span>") == 1


def failing_alone(seen: list[int]) -> None:
    """Fail if Numba's settings for threads are restricted while others run."""
    with threads(1):
        other = threading.Thread(target=lambda: seen.append(numba.get_num_threads()))
        other.start()
        other.join()
        seen.append(numba.get_num_threads())
        raise ZeroDivisionError


def test_the_number_of_threads_is_restored_and_local() -> None:
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


def test_every_number_of_threads_is_measured() -> None:
    taken = times(Operation("sum", ((400, 500),)))
    assert list(taken)[:2] == [1, 2]
    assert list(taken)[-1] == most_threads()
    assert all(0.0 < each.fastest <= each.median for each in taken.values())


@pytest.mark.parametrize("name", LARGE)
def test_a_curve_ends_with_all_there_is_to_do(name: str) -> None:
    operation = Operation(name, LARGE[name])
    points = curve(operation)
    assert [point.steps for point in points] == sorted({point.steps for point in points})
    assert points[-1].steps == operation.steps()
    assert all(point.alone > 0.0 and point.shared > 0.0 for point in points)


def test_small_operations_have_a_curve_too_unless_others_compute_them() -> None:
    assert curve(Operation("add", ((64, 100), (64, 100))))[-1].steps == 6400
    assert curve(Operation(PRODUCT, ((20, 20), (20, 20)))) == []


def elements(reader: Reader) -> list[list[int]]:
    """Return for each picture the number of elements that each thread writes."""
    reader.settle()  # before that, pictures of what was asked earlier may be there
    told = reader.page.value("[...document.images].map(image => image.alt)")
    return [
        [int(count.replace(",", "")) for count in re.findall(r"thread \d+: ([\d,]+)", each)]
        for each in told
    ]


def test_a_reader_shares_an_operation(reader: Reader) -> None:
    reader.open("sharing")
    reader.sees("The compiled code")
    reader.sees("lo = _units * _part // _parts")
    count = int(reader.metric("threads running").split()[-1])
    assert reader.metric("threads running") == f"{count} of {count}"
    (shares,) = elements(reader)
    assert len(shares) == count
    assert sum(shares) == 1_000_000
    assert max(shares) - min(shares) <= 1
    reader.slide("threads", "HOME")
    reader.reads("threads running", "1 of 1")
    assert elements(reader) == [[1_000_000]]
    reader.press("Measure again")
    reader.sees("speed-up")


def test_the_page_shows_partial_results_and_products(reader: Reader) -> None:
    reader.open("sharing")
    reader.sees("The compiled code")
    reader.choose("operation", "sum")
    reader.choose("over the dimension", "first")
    reader.sees("reduced in a second step")
    partial, result = elements(reader)
    assert len(partial) > 1
    assert result == [1000]
    reader.choose("operation", "matrix product")
    reader.sees("units of _multiply")
    ((first, *others),) = elements(reader)
    assert others
    assert first + sum(others) == 512 * 512


def test_the_page_reports_work_that_is_too_small_or_too_large(reader: Reader) -> None:
    reader.open("sharing")
    reader.sees("The compiled code")
    reader.write("shape", "64, 100")
    reader.sees("starting others would take longer than the work")
    reader.sees("are always slower")
    assert elements(reader) == [[6400]]
    for shape, said in (
        ("1000000, 1000000", "has 1,000,000,000,000."),
        ("many", "found 'many'"),
        ("0, 3", "There is nothing to compute"),
    ):
        reader.write("shape", shape)
        reader.sees(said)
    reader.write("shape", str(MOST_ELEMENTS))
    reader.sees("The compiled code")
    reader.choose("operation", "gcd")
    reader.write("the others", "1")
    reader.sees("gcd works on integers")
    reader.choose("dtype", "int32")
    reader.reads("elements", f"{MOST_ELEMENTS:,}")
    reader.choose("operation", "matrix product")
    reader.write("shape of a", "20, 20")
    reader.write("shape of b", "20, 20")
    reader.reads("multiplications", "8,000")
    assert answers(reader.address)


def test_the_page_reports_that_there_is_one_processor(
    reader: Reader, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("NUMBA_NUM_THREADS", "1")
    with served() as address:
        alone = Reader(reader.page, address)
        alone.open("sharing")
        alone.sees("only one thread here")
        alone.reads("threads running", "1 of 1")
        alone.sees("speed-up")
        assert elements(alone) == [[1_000_000]]
        reader.open("sharing")  # before the other server ends
