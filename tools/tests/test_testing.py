"""Checking what JSON looks like."""

import pytest

from mt.testing import Shape, check_shape


@pytest.mark.parametrize(
    ("found", "shape"),
    [
        (1, int),
        (None, (int, None)),
        ([1, 2], [int]),
        ([], [int]),
        ({"a": 1, "b": "c"}, {"a": int, "b": str}),
        ({"x": [1], "y": []}, {...: [int]}),
        ([None, {}], object),
    ],
)
def test_what_fits(found: object, shape: Shape) -> None:
    check_shape(found, shape)


@pytest.mark.parametrize(
    ("found", "shape"),
    [
        (True, int),
        (None, int),
        ("a", (int, None)),
        ([1, "a"], [int]),
        (1, [int]),
        ({"a": 1}, {"a": int, "b": str}),
        ({"a": 1, "b": "c", "d": 2}, {"a": int, "b": str}),
        ({"x": "a"}, {...: int}),
        ([1], {...: int}),
    ],
)
def test_what_does_not(found: object, shape: Shape) -> None:
    with pytest.raises(AssertionError, match="does not look like"):
        check_shape(found, shape)
