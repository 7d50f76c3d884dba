"""sample_id: test ids made from the content of samples."""

import enum
import operator
import os
import re
import subprocess
import sys
from dataclasses import dataclass
from fractions import Fraction
from functools import partial, wraps
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from mt_operators.testing.ids import MAX_LENGTH, sample_id, text


class Color(enum.Enum):
    RED = 1


class Opaque:
    def __repr__(self) -> str:
        raise NotImplementedError  # as for the result of an unsolved exercise


@dataclass
class Point:
    x: int
    y: Any


@dataclass
class Row:
    name: str
    call: Any


def power(exponent):
    def call(x):
        return x**exponent

    return call


def times(factor):
    return lambda x: x * factor


@wraps(times)
def wrapped(factor):
    return times(factor)


def called(name):
    return lambda x: getattr(x, f"{name}_")()


def recursive():
    def count(n):
        return count(n - 1) if n else 0

    return count


NESTED = [lambda: lambda x: x - 1][0]

LAMBDAS = [
    (lambda x: x + 1, "x + 1"),
    (lambda: (), "()"),
    (lambda x: x if x > 0 else -x, "x if x > 0 else -x"),
    (
        lambda x, y: x.sum(
            y,  # comments and line breaks are left out
            keepdim=True,
        ),
        "x.sum(y, keepdim=True)",
    ),
    *((lambda x, d=d: x.sum(d), f"x.sum({d})") for d in (0, -1)),
    (times(2.5), "x * 2.5"),
    (called("sum"), "getattr(x, f'sum_')()"),
    (NESTED, "lambda x: x - 1"),
    (NESTED(), "x - 1"),
]
ON_ONE_LINE = [lambda: 1, lambda: 2, lambda x: [x, 3], lambda: 1 if LAMBDAS else 2]

EXPECTED_IDS = [
    *LAMBDAS,
    *zip(ON_ONE_LINE, ("1", "2", "[x, 3]", "1 if LAMBDAS else 2"), strict=True),
    ("text", "text"),
    ("", ""),
    ("é\n", "\\xe9\\n"),
    (None, "None"),
    (-0.0, "-0.0"),
    ((1, "a"), "(1, 'a')"),
    ((1,), "(1,)"),
    ([], "[]"),
    ({"b": [1], "a": 2}, "{'b': [1], 'a': 2}"),
    ({"b", "a", "c"}, "{'a', 'b', 'c'}"),
    (slice(None, 2), "slice(None, 2, None)"),
    (Fraction(1, 3), "Fraction(1, 3)"),
    (Color.RED, "Color.RED"),
    (Path("/somewhere/file.txt"), "file.txt"),
    (np.float32(1.5), "np.float32(1.5)"),
    (np.array([1, 2]), "int64 [1, 2]"),
    (np.zeros((0, 2)), "float64(0, 2)"),
    (np.zeros((2, 3), "float32"), "float32 [[0.0, 0.0, 0.0], [0.0, 0.0, 0.0]]"),
    (np.linspace(0.0, 1.0, 4), "float64(4,)"),
    (np.zeros((5, 3), "float32"), "float32(5, 3)"),
    (np.float32, "float32"),
    (np.add, "add"),
    (operator.sub, "sub"),
    (power, "power"),
    (power(3), "call(exponent=3)"),
    (wrapped, "times"),
    (recursive(), "count()"),
    (partial(power, exponent=2), "partial(power, exponent=2)"),
    (Opaque(), "Opaque"),
    (object(), "object"),
    (Point(1, (2, Opaque())), "Point(x=1, y=(2, Opaque))"),
    (Row("row", Opaque()), "row"),
    (re.compile("a+"), "re.compile('a+')"),
]


@pytest.mark.parametrize(("value", "expected"), EXPECTED_IDS)
def test_sample_id_shows_content(value, expected):
    assert sample_id(value) == expected


def test_sample_id_joins_parts_with_hyphens():
    assert sample_id("sum", lambda x: x.sum(1), "float32") == "sum-x.sum(1)-float32"


def test_long_sample_id_is_cut_and_ends_in_checksum():
    first, second = (sample_id(["a" * 100, end]) for end in "bc")
    assert first[: MAX_LENGTH - 10] == second[: MAX_LENGTH - 10]
    assert first != second
    assert len(first) == MAX_LENGTH
    assert first == sample_id(["a" * 100, "b"])


CONTENT = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(),
    lambda inner: st.lists(inner) | st.tuples(inner, inner) | st.dictionaries(st.text(), inner),
)


@given(CONTENT)
def test_sample_id_is_short_and_printable_ascii(value):
    result = sample_id(value)
    assert len(result) <= MAX_LENGTH
    assert result.isascii()
    assert result.isprintable()


@given(CONTENT, CONTENT)
def test_texts_differ_exactly_if_reprs_differ(first, second):
    assert (text(first) == text(second)) == (repr(first) == repr(second))


def test_text_of_set_does_not_depend_on_hash_seed():
    code = "from mt_operators.testing.ids import text; print(text({*'abcdef'}))"
    outputs = {
        subprocess.run(
            [sys.executable, "-c", code],
            env=os.environ | {"PYTHONHASHSEED": seed},
            capture_output=True,
            check=True,
        ).stdout
        for seed in ("1", "2")
    }
    assert len(outputs) == 1


def test_sample_id_of_function_without_source_is_its_name():
    assert sample_id(eval("lambda x: x + 1")) == "<lambda>"
