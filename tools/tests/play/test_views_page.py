"""The views page: inputs give views of one storage, and requests beyond its limits are rejected."""

import re
from contextlib import suppress
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from mt_tensor.errors import TensorError
from play.testing import Reader, answers, wait_for
from play.views import ViewError, as_index, as_shape, broadcast, describe_position, draw_view, views

HUGE = "1000000, 1000000"


@pytest.mark.parametrize(
    ("text", "shape"), [("3, 4", (3, 4)), ("(2,)", (2,)), ("", ()), ("0, 5", (0, 5)), (" 7 ", (7,))]
)
def test_a_shape_is_read(text: str, shape: tuple[int, ...]) -> None:
    assert as_shape(text) == shape


@pytest.mark.parametrize(
    ("text", "said"),
    [
        (HUGE, "the limit is 10,000 elements; shape (1000000, 1000000) has 1,0"),
        ("-1, 3", "sizes of 0 or more, not (-1, 3)"),
        ("1,1,1,1,1,1,1", "at most 6 numbers, not 7"),
        ("3 4", "integers separated by commas"),
        ("3, x", "found 'x'"),
        ("2.5", "found '2.5'"),
        ("9" * 40, "found '999"),
        ("3,, 4", "found ''"),
        ("__import__('os')", 'found "__import__'),
        ("1, " * 60, "at most 6 numbers"),
    ],
)
def test_an_invalid_or_too_large_shape_is_an_error(text: str, said: str) -> None:
    with pytest.raises(ViewError) as caught:
        as_shape(text)
    assert said in str(caught.value)


@pytest.mark.parametrize(
    "text",
    [
        "",
        "x",
        "1.5",
        "'a'",
        "True",
        "1 +",
        "a:b",
        "[0, 1]",
        "f()",
        "x.y",
        ")(",
        "::-(1.5)",
        "0] + x[1",
    ],
)
def test_an_invalid_index_is_an_error(text: str) -> None:
    with pytest.raises(ViewError, match=r"an index may have integers, slices, \.\.\. and None"):
        as_index(text)


@given(st.text(max_size=20))
def test_no_text_runs_other_code(text: str) -> None:
    for read in (as_index, as_shape):
        with suppress(ViewError):
            read(text)


ENDS = st.one_of(st.none(), st.integers(-6, 6))
ENTRIES = st.one_of(st.integers(-6, 6), st.builds(slice, ENDS, ENDS, ENDS), st.none(), st.just(...))


def written(entry: object) -> str:
    if isinstance(entry, slice):
        return ":".join("" if e is None else str(e) for e in (entry.start, entry.stop, entry.step))
    return "..." if entry is ... else str(entry)


@given(
    st.lists(st.integers(0, 4), max_size=3).flatmap(
        lambda shape: st.tuples(st.just(shape), st.permutations(range(len(shape))))
    ),
    st.lists(ENTRIES, min_size=1, max_size=3),
)
def test_views_match_numpy_and_elements_are_at_the_stated_offsets(
    shaped: tuple[list[int], list[int]], index: list[Any]
) -> None:
    shape, order = shaped
    size = int(np.prod(shape))
    entries = as_index(", ".join(map(written, index)) + ("," if len(index) == 1 else ""))
    assert list(entries) == index
    array = (10 * np.arange(size)).reshape(shape).transpose(order)
    try:
        expected = array[tuple(index)]
    except (IndexError, ValueError):
        with pytest.raises(TensorError):
            list(views(str(shape), str(order), ", ".join(map(written, index)), ""))
        return
    *_, step = views(str(shape), str(order), ", ".join(map(written, index)), "")
    assert tuple(step.tensor.shape) == expected.shape
    np.testing.assert_array_equal(step.tensor.numpy(), expected)
    for place in np.ndindex(*expected.shape):
        told, position = describe_position(step.tensor, place)
        assert position * 10 == expected[place]
        assert eval(told.replace("×", "*")) == position


def test_the_code_shown_is_the_code_that_runs() -> None:
    steps = list(views("3, 1, 2", "2, 0, 1", "..., None", "2, 3, 4, 1"))
    known: dict[str, object] = {"mt": __import__("mt_tensor")}
    for step in steps:
        exec(step.code, known)
        np.testing.assert_array_equal(np.asarray(known["x"]), step.tensor.numpy())
    storages = {id(step.tensor._tensor.storage) for step in steps}
    assert len(storages) == 1  # nothing is copied


def test_a_chosen_element_is_marked_in_every_view() -> None:
    *_, step = views("3, 1", "", "", "3, 4")
    picture = draw_view(step.tensor, 1)
    assert picture.count('class="cell chosen"') == 1 + 4  # in the storage, and in the row
    assert draw_view(step.tensor).count("chosen") == 0
    marked = re.findall(r'cell chosen"[^\n]*\n[^\n]*\n[^\n]*>(@\d+)<', picture)
    assert set(marked) == {"@1"}


@given(*[st.lists(st.sampled_from([1, 1, 2, 3]), max_size=3)] * 2)
def test_two_shapes_broadcast_as_numpys_do(first: list[int], second: list[int]) -> None:
    arrays = [(10 * np.arange(int(np.prod(shape)))).reshape(shape) for shape in (first, second)]
    try:
        expected = np.broadcast_arrays(*arrays)
    except ValueError:
        with pytest.raises(TensorError, match="do not broadcast"):
            broadcast(str(first), str(second))
        return
    for tensor, array in zip(broadcast(str(first), str(second)), expected, strict=True):
        np.testing.assert_array_equal(tensor.numpy(), array)


def test_broadcasting_beyond_the_limit_is_an_error() -> None:
    with pytest.raises(ViewError, match="the limit is 10,000 elements"):
        broadcast("1000, 1", "1000")


def test_a_reader_moves_over_a_view(reader: Reader) -> None:
    reader.open("views")
    reader.reads("strides", "(1, 8)")
    reader.reads("offset", "1")
    reader.reads("contiguous", "no")
    reader.sees(
        "x[0, 0] is at position 1 + 0 × 1 + 0 × 8 = 1 of the storage, and has the value 10."
    )
    reader.slide("index in dimension 0", "END")
    reader.slide("index in dimension 1", "END")
    reader.sees(
        "x[2, 1] is at position 1 + 2 × 1 + 1 × 8 = 11 of the storage, and has the value 110."
    )
    chosen = 'class="cell chosen"'
    wait_for(lambda: reader.picture("strides (1, 8)").count(chosen) == 2, "a marked element")


def test_a_reader_permutes_slices_and_broadcasts(reader: Reader) -> None:
    reader.open("views")
    reader.write("shape", "2, 3, 1")
    reader.write("permute", "2, 0, 1")
    reader.write("index", "..., ::-1")
    reader.write("broadcast to", "4, 2, 3")
    reader.reads("shape", "(4, 2, 3)")
    reader.reads("strides", "(0, 3, -1)")
    reader.reads("offset", "2")
    reader.sees("x = x.expand(4, 2, 3)")
    reader.shows("strides (0, 3, -1)")
    assert reader.picture("strides (0, 3, -1)").count('class="cell chosen"') == 1 + 4


@pytest.mark.parametrize(
    ("label", "text", "said"),
    [
        ("shape", HUGE, "the limit is 10,000 elements"),
        ("broadcast to", HUGE, "the limit is 10,000 elements"),
        ("broadcast to", "5, 5", "cannot be expanded to (5, 5): only sizes of 1 can change."),
        ("permute", "0, 0", "is not a permutation of the 2 dimension(s)."),
        ("index", "9", "index 9 is out of range for dimension 0"),
        ("index", "__import__('os')", "an index may have integers, slices, ... and None"),
    ],
)
def test_the_page_reports_invalid_requests(
    reader: Reader, label: str, text: str, said: str
) -> None:
    reader.open("views")
    reader.write(label, text)
    reader.sees(said, "[data-testid=stAlert]")
    assert answers(reader.address)


def test_the_page_shows_broadcasting_of_two_shapes(reader: Reader) -> None:
    reader.open("views")
    reader.press("Two that broadcast")
    reader.reads("common shape", "(3, 4)")
    reader.slide("dimension 0", "END")
    reader.slide("dimension 1", "END")
    reader.sees("The first is read at 0 + 2 × 1 + 3 × 0 = 2.")
    reader.sees("The second is read at 0 + 2 × 0 + 3 × 1 = 3.")
    reader.write("second shape", "4, 4")
    reader.sees("do not broadcast")
