"""Functions raise TypeError if an argument must be a tensor and is not."""

import inspect
import itertools

import pytest

import mt_tensor as mt
from mt_operators import OPERATORS

TENSORS = {"Tensor", "Tensor | None"}
X = mt.tensor([[1.5, 2.0], [3.0, 4.0]])
INDEX = mt.tensor([[0, 1], [1, 0]])
VALUES = {"Sequence[int]": (1, 0), "Sequence[Any]": (mt.tensor(0),), "str": "prod", "bool": True}
VALUES["Tensor | float | None"] = X
"""Values of the remaining arguments by annotation; 1 for annotations that are not listed."""

NAMES_IN_ERRORS = {
    "diff-append": "cat",
    "diff-prepend": "cat",
}
"""The functions named by errors, where a function calls another one."""


def calls():
    """Yield functions with arguments, one of which is a string instead of a tensor."""
    for module, prefix in ((mt, ""), (mt.linalg, "linalg.")):
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
                yield pytest.param(function, ["text", X], {}, id=f"{prefix}{name}-tensors")
            needed = sum(p.default is p.empty for p in parameters)
            for p in parameters:
                if p.kind is p.KEYWORD_ONLY and str(p.annotation).strip("'") in TENSORS:
                    yield pytest.param(
                        function, [X] * needed, {p.name: "text"}, id=f"{prefix}{name}-{p.name}"
                    )
            positional = [p for p in parameters if p.kind is p.POSITIONAL_OR_KEYWORD]
            types = [str(parameter.annotation).strip("'") for parameter in positional]
            for wrong in [n for n, kind in enumerate(types) if kind in TENSORS]:
                arguments = [
                    INDEX if p.name == "index" else X if kind in TENSORS else VALUES.get(kind, 1)
                    for p, kind in zip(positional, types, strict=True)
                ][: max(needed, *(n + 1 for n, kind in enumerate(types) if "Tensor" in kind))]
                arguments[wrong] = "text"
                test_id = f"{prefix}{name}-{positional[wrong].name}"
                yield pytest.param(function, arguments, named, id=test_id)


@pytest.mark.parametrize(("function", "arguments", "named"), list(calls()))
def test_error_names_the_function_and_the_bad_argument(function, arguments, named, request):
    with pytest.raises(TypeError, match="tensor") as error:
        function(*arguments, **named)
    test_id = request.node.callspec.id
    name = NAMES_IN_ERRORS.get(test_id) or NAMES_IN_ERRORS.get(function.__name__, function.__name__)
    assert "'text'" in str(error.value)
    assert str(error.value).startswith((f"{name}() ", f"{name} "))


@pytest.mark.parametrize(("function", "arguments", "named"), list(calls()))
def test_string_list_or_number_instead_of_a_tensor_raises(function, arguments, named):
    """The other arguments are tensors or numbers."""
    for wrong, other in itertools.product(("text", [True], 1), (X, 1)):
        given = [wrong if a == "text" else other if a is X else a for a in arguments]
        settings = {name: wrong if a == "text" else a for name, a in named.items()}
        with pytest.raises(TypeError):
            function(*given, **settings)


@pytest.mark.parametrize("wrong", ["text", [True], 1, True, None])
def test_where_and_masked_fill_reject_conditions_that_are_not_tensors(wrong):
    for call in (X.where, X.masked_fill, X.clone().masked_fill_):
        with pytest.raises(TypeError, match=f"{type(wrong).__name__} was given"):
            call(wrong, 2)


@pytest.mark.parametrize("wrong", ["text", [True], None])
def test_operators_without_any_tensor_raise(wrong):
    for name, operator in OPERATORS.items():
        with pytest.raises(TypeError, match="number|tensor"):
            mt.elementwise(name, *[wrong] * operator.arity)
    for divide in (mt.div, mt.true_divide, mt.floor_divide, mt.remainder, mt.fmod):
        for other in (wrong, 1, 2.5):
            with pytest.raises(TypeError, match="tensor"):
                divide(wrong, other)
    with pytest.raises(TypeError, match="tensor"):
        mt.bitwise_not(wrong)
