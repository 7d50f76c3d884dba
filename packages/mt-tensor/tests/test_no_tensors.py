"""Whatever takes tensors says so where it is given something else, and names itself and that."""

import inspect
import itertools

import pytest

import mt_tensor as mt
from mt_operators import OPERATORS

TENSORS = {"Tensor", "Tensor | None"}
X = mt.tensor([[1.5, 2.0], [3.0, 4.0]])
INDEX = mt.tensor([[0, 1], [1, 0]])
OTHERS = {"Sequence[int]": (1, 0), "Sequence[Any]": (mt.tensor(0),), "str": "prod", "bool": True}
OTHERS["Tensor | float | None"] = X
"""What stands for arguments of a type that are no tensors; 1 for all other types."""

OTHER_NAMES = {
    "diff-append": "cat",
    "diff-prepend": "cat",
}
"""Functions that only call another one, which then names itself."""


def calls():
    """Yield functions with arguments, of which one that must be a tensor is none."""
    for module, place in ((mt, ""), (mt.linalg, "linalg.")):
        for name, function in inspect.getmembers(module, callable):
            if name.startswith("_") or inspect.isclass(function) or name == "Size":
                continue
            parameters = inspect.signature(function).parameters.values()
            named = {
                p.name: True
                for p in parameters
                if p.kind is p.KEYWORD_ONLY and p.default is p.empty
            }
            if any(p.kind is p.VAR_POSITIONAL and p.name == "tensors" for p in parameters):
                yield pytest.param(function, ["text", X], {}, id=f"{place}{name}-tensors")
            needed = sum(p.default is p.empty for p in parameters)
            for p in parameters:
                if p.kind is p.KEYWORD_ONLY and str(p.annotation).strip("'") in TENSORS:
                    yield pytest.param(
                        function, [X] * needed, {p.name: "text"}, id=f"{place}{name}-{p.name}"
                    )
            placed = [p for p in parameters if p.kind is p.POSITIONAL_OR_KEYWORD]
            types = [str(parameter.annotation).strip("'") for parameter in placed]
            places = [place for place, kind in enumerate(types) if kind in TENSORS]
            for wrong in places:
                arguments = [
                    INDEX if p.name == "index" else X if kind in TENSORS else OTHERS.get(kind, 1)
                    for p, kind in zip(placed, types, strict=True)
                ][: max(needed, *(n + 1 for n, kind in enumerate(types) if "Tensor" in kind))]
                arguments[wrong] = "text"
                called = f"{place}{name}-{placed[wrong].name}"
                yield pytest.param(function, arguments, named, id=called)


@pytest.mark.parametrize(("function", "arguments", "named"), list(calls()))
def test_what_is_no_tensor_is_named(function, arguments, named, request):
    with pytest.raises(TypeError, match="tensor") as error:
        function(*arguments, **named)
    called = request.node.callspec.id
    name = OTHER_NAMES.get(called) or OTHER_NAMES.get(function.__name__, function.__name__)
    assert "'text'" in str(error.value)
    assert str(error.value).startswith((f"{name}() ", f"{name} "))


@pytest.mark.parametrize(("function", "arguments", "named"), list(calls()))
def test_nothing_stands_for_a_tensor(function, arguments, named):
    """No text, list or number, be the other arguments tensors or numbers."""
    for wrong, other in itertools.product(("text", [True], 1), (X, 1)):
        given = [wrong if a == "text" else other if a is X else a for a in arguments]
        settings = {name: wrong if a == "text" else a for name, a in named.items()}
        with pytest.raises(TypeError):
            function(*given, **settings)


@pytest.mark.parametrize("wrong", ["text", [True], 1, True, None])
def test_no_condition_is_made_of_something_else(wrong):
    for call in (X.where, X.masked_fill, X.clone().masked_fill_):
        with pytest.raises(TypeError, match=f"{type(wrong).__name__} was given"):
            call(wrong, 2)


@pytest.mark.parametrize("wrong", ["text", [True], None])
def test_operators_compute_with_tensors_and_numbers(wrong):
    for name, operator in OPERATORS.items():
        with pytest.raises(TypeError, match="number|tensor"):
            mt.elementwise(name, *[wrong] * operator.arity)
    for divide in (mt.div, mt.true_divide, mt.floor_divide, mt.remainder, mt.fmod):
        for other in (wrong, 1, 2.5):
            with pytest.raises(TypeError, match="tensor"):
                divide(wrong, other)
    with pytest.raises(TypeError, match="tensor"):
        mt.bitwise_not(wrong)
