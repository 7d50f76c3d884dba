"""NumPy's names `axis` and `keepdims` for `dim` and `keepdim`, where torch accepts them."""

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
ARGUMENTS_OF: dict[str, dict[str, Any]] = {
    **{name: {"index": SQUARE} for name in ("gather", "scatter_add", "scatter_reduce")},
    "repeat_interleave": {"repeats": 2},
    "scatter": {"index": SQUARE, "src": ARRAY},
    "select": {"index": 1},
    "select_scatter": {"index": 1, "src": ARRAY[0]},
}
WITHOUT_NUMPY_NAMES = {"glu", "norm", "softmin", "split", "unique", "unique_consecutive"}
"""Functions for which torch does not accept NumPy's names."""

METHODS_WITHOUT_NUMPY_NAMES = WITHOUT_NUMPY_NAMES | {"unflatten"}
"""Methods for which torch does not accept NumPy's names."""

NOT_IN_TORCH = {"glu", "softmin"}
"""Functions that torch has only in `torch.nn.functional`."""


def functions() -> Iterator[Any]:
    """Yield the module, the function and NumPy's name of each argument that has one."""
    for namespace in ("", "linalg", "Tensor"):
        module = getattr(mt, namespace) if namespace else mt
        names = set(dir(module)) if namespace == "Tensor" else module.__all__
        for name in sorted(names):
            function = getattr(module, name)
            if name.startswith("_") or not inspect.isfunction(function) or name in NOT_IN_TORCH:
                continue
            for numpy_name, torch_name in NUMPY.items():
                if torch_name in inspect.signature(function).parameters:
                    yield pytest.param(
                        namespace, name, numpy_name, id=f"{namespace or 'mt'}.{name}-{numpy_name}"
                    )


ROWS = list(functions())


def has_no_numpy_names(namespace: str, name: str) -> bool:
    return namespace != "linalg" and name in (
        WITHOUT_NUMPY_NAMES if namespace == "" else METHODS_WITHOUT_NUMPY_NAMES
    )


def call_with(library: Any, namespace: str, name: str, argument: str) -> Any:
    """Call a function with an argument under this name, and return its results as lists."""
    ours, theirs = ((getattr(each, namespace) if namespace else each) for each in (mt, library))
    torch_name, before, settings = NUMPY.get(argument, argument), [], {}
    values = {**ARGUMENTS, **ARGUMENTS_OF.get(name, {})}
    dims = (0, 1) if name == "matrix_norm" else 0
    for parameter in inspect.signature(getattr(ours, name)).parameters.values():
        if parameter.name == torch_name:
            settings[argument] = dims if torch_name == "dim" else True
        elif parameter.name == "dim":
            settings["dim"] = dims
        elif parameter.default is parameter.empty or parameter.name in ARGUMENTS_OF.get(name, {}):
            value = to_tensors(library, values[parameter.name])
            if settings:
                settings[parameter.name] = value
            else:
                before.append(value)
    result = getattr(theirs, name)(*before, **settings)
    results = result if isinstance(result, tuple | list) else [result]
    return [np.asarray(each).tolist() for each in results]


def to_tensors(library: Any, value: Any) -> Any:
    """Convert the arrays in an argument to tensors of a library."""
    if isinstance(value, list):
        return [to_tensors(library, each) for each in value]
    return library.tensor(value) if isinstance(value, np.ndarray) else value


@pytest.mark.parametrize(("namespace", "name", "argument"), ROWS)
def test_numpy_name_has_the_same_effect_or_raises(namespace: str, name: str, argument: str) -> None:
    expected = call_with(mt, namespace, name, NUMPY[argument])
    if has_no_numpy_names(namespace, name):
        with pytest.raises(TypeError, match=f"unexpected keyword argument '{argument}'"):
            call_with(mt, namespace, name, argument)
    else:
        assert call_with(mt, namespace, name, argument) == expected


@pytest.mark.filterwarnings("ignore:index_reduce.. is in beta")
@pytest.mark.parametrize(("namespace", "name", "argument"), ROWS)
def test_torch_accepts_the_same_numpy_names(namespace: str, name: str, argument: str) -> None:
    torch = pytest.importorskip("torch")
    if not hasattr(getattr(torch, namespace) if namespace else torch, name):
        return
    call_with(torch, namespace, name, NUMPY[argument])
    try:
        call_with(torch, namespace, name, argument)
        accepted = True
    except TypeError:
        accepted = False
    assert accepted != has_no_numpy_names(namespace, name)


def test_argument_under_both_names_raises() -> None:
    x = mt.ones(2, 3)
    with pytest.raises(TypeError, match=r"sum\(\) was given dim twice: axis is NumPy's name"):
        x.sum(dim=0, axis=0)
    with pytest.raises(TypeError, match="multiple values for argument 'dim'"):
        x.sum(0, axis=0)
    assert inspect.signature(mt.sum) == inspect.signature(inspect.unwrap(mt.sum))
