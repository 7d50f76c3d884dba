"""Public names: functions of `mt_tensor`, and methods of `Tensor` that type checkers know as well.

`hatch run types:check packages/mt-tensor/tests/test_names.py` checks the part for type checkers: it
fails if a `type: ignore` is missing or unused.
"""

import inspect
import pickle
import pydoc
import subprocess
import sys
from types import FunctionType

import pytest

import mt_tensor as mt
from mt_autodiff.core.registration import register_method, register_methods
from mt_tensor.core.methods import CoreMethods
from mt_tensor.methods import Methods

X = mt.tensor([[1.0, 2.0], [3.0, 4.0]])

METHODS = {
    name: value
    for table in (CoreMethods, Methods)
    for name, value in vars(table).items()
    if isinstance(value, FunctionType | property)
}


def run(program: str) -> str:
    """Run a program in a new process, and return its output."""
    command = [sys.executable, "-c", program]
    return subprocess.run(command, capture_output=True, text=True, check=True).stdout


@pytest.mark.parametrize(
    "program",
    [
        "import mt_tensor as mt; print(mt.std(mt.ones(2)).item())",
        "from mt_tensor import ones, std; print(std(ones(2)).item())",
        "from mt_tensor import *; print(std(ones(2)).item())",
        "import mt_tensor; print(mt_tensor.Tensor([1.0, 1.0]).std().item())",
        "from mt_tensor.creation.from_numbers import ones; print(ones(2).std().item())",
        "import mt_tensor as mt; print(mt.Tensor.std(mt.ones(2)).item())",
        "import mt_tensor as mt; x = mt.arange(2.0); x.data = mt.ones(2); print(x.std().item())",
        "import mt_tensor as mt; mt.linalg.norm; print(mt.autograd and mt.ones(2).std().item())",
    ],
)
def test_every_kind_of_import_finds_a_name(program: str) -> None:
    assert run(program) == "0.0\n"


def test_all_is_sorted_unique_and_shadows_no_builtin() -> None:
    names = vars(mt)["__all__"]
    assert len({*names}) == len(names)
    assert sorted(names) == names
    assert {*names}.isdisjoint(dir(__builtins__))
    assert all(hasattr(mt, name) for name in names)


def test_misspelt_function_raises() -> None:
    with pytest.raises(AttributeError, match="has no attribute 'svdd'"):
        mt.svdd  # type: ignore[attr-defined]  # noqa: B018
    with pytest.raises(ImportError, match="cannot import name 'svdd'"):
        exec("from mt_tensor import svdd")


@pytest.mark.parametrize("name", METHODS)
def test_tensor_has_each_method_of_the_tables(name: str) -> None:
    assert vars(mt.Tensor)[name] is METHODS[name]


def test_tables_contain_only_methods_and_properties() -> None:
    others = {name for name in (*vars(CoreMethods), *vars(Methods)) if name not in METHODS}
    assert others <= {
        *("__doc__", "__firstlineno__", "__hash__", "__module__", "__slots__"),
        "__static_attributes__",
    }


def test_function_and_method_are_the_same_object() -> None:
    for name in ("sum", "cat", "sort", "tanh", "add", "std", "gather", "matmul", "clamp", "topk"):
        assert getattr(mt.Tensor, name, None) in (getattr(mt, name), None)
        assert getattr(mt, name) in (*METHODS.values(), mt.cat)


def test_registering_an_existing_method_raises() -> None:
    class More:
        sum = mt.prod

    for name in ("sum", "backward", "shape"):
        with pytest.raises(TypeError, match=f"already has a method '{name}'"):
            register_method(mt.Tensor, name, mt.prod)
    with pytest.raises(TypeError, match="already has a method 'sum'"):
        register_methods(mt.Tensor, More)
    assert mt.Tensor.sum is mt.sum


UNLISTED = """
import ast, inspect
import mt_tensor
from mt_operators import OPERATORS
from mt_tensor import methods
from mt_tensor.core.dtype_rules import dtype_rules_of
nodes = ast.walk(ast.parse(inspect.getsource(mt_tensor)))
listed = {node.id for node in nodes if isinstance(node, ast.Name) and type(node.ctx) is ast.Store}
for row in OPERATORS.values():
    for name in (row.name, *row.aliases):
        for method in (name, f"{name}_") if dtype_rules_of(row).in_place else (name,):
            if not hasattr(methods.Methods, method):
                print(method)
        if getattr(methods.Tensor, name) is methods.rows.FUNCTIONS[name]:
            if not hasattr(methods.rows, name) and name not in listed:
                print(name)
"""


def test_every_operator_is_listed_for_type_checkers() -> None:
    """Operators that a program adds are not listed; `test_pointwise.py` tests them."""
    assert run(UNLISTED).split() == []


def test_help_shows_methods_and_bound_methods_can_be_pickled() -> None:
    shown = pydoc.plain(pydoc.render_doc(mt.Tensor))
    assert "cumsum(input: 'Tensor', dim: 'int'" in shown
    assert "sort" in pydoc.plain(pydoc.render_doc(mt.Tensor.sort))
    x = mt.tensor([2.0, 1.0])
    assert pickle.loads(pickle.dumps(x.sort))().values.tolist() == [1.0, 2.0]


def test_misspelt_method_raises() -> None:
    with pytest.raises(AttributeError, match="tahn"):
        X.tahn()  # type: ignore[attr-defined]
    with pytest.raises(AttributeError, match="clam_"):
        X.clam_(0)  # type: ignore[attr-defined]
    with pytest.raises(AttributeError, match="to_nothing"):
        X.tanh().to_nothing(1, 2)  # type: ignore[attr-defined]


def test_wrong_argument_raises() -> None:
    with pytest.raises(TypeError):
        X.sum(dims=0)  # type: ignore[call-arg]
    with pytest.raises(TypeError):
        X.topk("two")  # type: ignore[arg-type]
    with pytest.raises(TypeError):
        X.tanh(1)  # type: ignore[call-arg]
    with pytest.raises(TypeError):
        X.addcmul_(X)  # type: ignore[call-arg]
    with pytest.raises(AttributeError):
        X.T = X  # type: ignore[assignment]


def test_correct_program_runs_and_type_checks() -> None:
    total: mt.Tensor = X.tanh().clamp(0, 1).sum(0, keepdim=True)
    values, indices = X.topk(1)
    changed: mt.Tensor = X.clone().sigmoid_().mul_(2).clip_(0.5)
    transposed: mt.Tensor = X.T[..., 0] @ X
    size: float = (X.expm1() / 2 - X**2).norm().item()
    larger: mt.Tensor = mt.maximum(input=X, other=mt.tanh(input=X)).maximum(other=0.0)
    changed.data = X
    assert total.shape == (1, 2)
    assert (values.ndim, indices.dtype, changed.shape) == (2, mt.int64, X.shape)
    assert transposed.shape == (2,)
    assert size > 0
    assert larger.tolist() == X.tolist()
    assert "alpha" in inspect.signature(X.add).parameters
