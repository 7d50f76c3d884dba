"""`axis` and `keepdims` for `dim` and `keepdim`, wherever torch takes them."""

import inspect
from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest

import mt_tensor as mt
from mt_tensor.core.arguments import NUMPY

ARRAY = np.arange(9.0).reshape(3, 3)
ROW, SQUARE = np.array([2, 0, 1]), np.array([[0, 1, 2], [2, 1, 0], [0, 0, 0]])
ARGUMENTS: dict[str, Any] = {
    **dict.fromkeys(("input", "tensor", "self", "A", "x", "x1", "x2", "y", "other"), ARRAY),
    **dict.fromkeys(("src", "source"), ARRAY),
    "tensors": [ARRAY, ARRAY],
    "index": ROW,
    "indices": SQUARE,
    "indices_or_sections": 2,
    "reduce": "prod",
    "sizes": (3, 1),
    "split_sizes": (1, 2),
    **dict.fromkeys(("split_size", "split_size_or_sections"), 2),
    "value": 1.0,
    "start": 0,
    "length": 2,
    "chunks": 3,
    "repeats": 2,
    "q": 0.5,
    "k": 1,
}
OTHERS: dict[str, dict[str, Any]] = {
    **{name: {"index": SQUARE} for name in ("gather", "scatter_add", "scatter_reduce")},
    "repeat_interleave": {"repeats": 2},
    "scatter": {"index": SQUARE, "src": ARRAY},
    "select": {"index": 1},
    "select_scatter": {"index": 1, "src": ARRAY[0]},
}
REFUSING = {"glu", "norm", "softmin", "split", "unique", "unique_consecutive"}
"""Functions with such arguments for which torch does not take NumPy's names."""

METHODS_REFUSING = REFUSING | {"unflatten"}
"""Methods of the same kind."""

ELSEWHERE = {"glu", "softmin"}
"""Functions of torch.nn.functional alone."""


def functions() -> Iterator[Any]:
    """Yield the places of functions with a dimension, and the name of that argument."""
    for place in ("", "linalg", "Tensor"):
        module = getattr(mt, place) if place else mt
        names = set(dir(module)) if place == "Tensor" else module.__all__
        for name in sorted(names):
            function = getattr(module, name)
            if name.startswith("_") or not inspect.isfunction(function) or name in ELSEWHERE:
                continue
            for numpys, own in NUMPY.items():
                if own in inspect.signature(function).parameters:
                    yield pytest.param(place, name, numpys, id=f"{place or 'mt'}.{name}-{numpys}")


ROWS = list(functions())


def refused(place: str, name: str) -> bool:
    return place != "linalg" and name in (REFUSING if place == "" else METHODS_REFUSING)


def called(library: Any, place: str, name: str, given: str) -> Any:
    """Call a function with an argument by the name that is given, and return what comes of it."""
    ours, theirs = ((getattr(each, place) if place else each) for each in (mt, library))
    own, before, settings = NUMPY.get(given, given), [], {}
    values = {**ARGUMENTS, **OTHERS.get(name, {})}
    dims = (0, 1) if name == "matrix_norm" else 0
    for parameter in inspect.signature(getattr(ours, name)).parameters.values():
        if parameter.name == own:
            settings[given] = dims if own == "dim" else True
        elif parameter.name == "dim":
            settings["dim"] = dims
        elif parameter.default is parameter.empty or parameter.name in OTHERS.get(name, {}):
            value = in_tensors(library, values[parameter.name])
            if settings:
                settings[parameter.name] = value
            else:
                before.append(value)
    result = getattr(theirs, name)(*before, **settings)
    results = result if isinstance(result, tuple | list) else [result]
    return [np.asarray(each).tolist() for each in results]


def in_tensors(library: Any, value: Any) -> Any:
    """Return an argument with tensors of a library in the place of arrays."""
    if isinstance(value, list):
        return [in_tensors(library, each) for each in value]
    return library.tensor(value) if isinstance(value, np.ndarray) else value


@pytest.mark.parametrize(("place", "name", "given"), ROWS)
def test_numpys_names_mean_the_same(place: str, name: str, given: str) -> None:
    wanted = called(mt, place, name, NUMPY[given])
    if refused(place, name):
        with pytest.raises(TypeError, match=f"unexpected keyword argument '{given}'"):
            called(mt, place, name, given)
    else:
        assert called(mt, place, name, given) == wanted


@pytest.mark.filterwarnings("ignore:index_reduce.. is in beta")
@pytest.mark.parametrize(("place", "name", "given"), ROWS)
def test_torch_takes_them_where_they_are_taken(place: str, name: str, given: str) -> None:
    torch = pytest.importorskip("torch")
    if not hasattr(getattr(torch, place) if place else torch, name):
        return
    called(torch, place, name, NUMPY[given])
    try:
        called(torch, place, name, given)
        taken = True
    except TypeError:
        taken = False
    assert taken != refused(place, name)


def test_an_argument_by_both_names_is_refused() -> None:
    x = mt.ones(2, 3)
    with pytest.raises(TypeError, match=r"sum\(\) was given dim twice: axis is NumPy's name"):
        x.sum(dim=0, axis=0)
    with pytest.raises(TypeError, match="multiple values for argument 'dim'"):
        x.sum(0, axis=0)
    assert inspect.signature(mt.sum) == inspect.signature(inspect.unwrap(mt.sum))
