"""Operations are imported when somebody asks for one of them, and nobody can tell."""

import inspect
import pickle
import pydoc
import subprocess
import sys

import pytest

import mt_tensor as mt
from mt_tensor.library import deferred_names
from mt_tensor.library.deferred import MODULE_OF, DeferredMethod

METHODS = [
    (name, module) for module, names in deferred_names.METHODS.items() for name in names.split()
]


def run(program: str) -> str:
    """Return what a program of its own prints."""
    command = [sys.executable, "-c", program]
    return subprocess.run(command, capture_output=True, text=True, check=True).stdout


def test_importing_the_package_imports_no_other_operations() -> None:
    program = "import sys, mt_tensor; print(*(m for m in sys.modules if m in {}))"
    assert run(program.format({*deferred_names.FUNCTIONS, *deferred_names.METHODS})).split() == []


@pytest.mark.parametrize(
    "program",
    [
        "import mt_tensor as mt; print(mt.std(mt.ones(2)).item())",
        "from mt_tensor import ones, std; print(std(ones(2)).item())",
        "from mt_tensor import *; print(std(ones(2)).item())",
        "import mt_tensor; print(mt_tensor.Tensor([1.0, 1.0]).std().item())",
        "from mt_tensor.creation.from_rules import ones; print(ones(2).std().item())",
        "import mt_tensor as mt; print(mt.Tensor.std(mt.ones(2)).item())",
        "import mt_tensor as mt; x = mt.arange(2.0); x.data = mt.ones(2); print(x.std().item())",
        "import mt_tensor as mt; mt.linalg.norm; print(mt.autograd and mt.ones(2).std().item())",
    ],
)
def test_every_way_to_a_name_leads_to_it(program: str) -> None:
    assert run(program) == "0.0\n"


@pytest.mark.parametrize("name", mt.__all__)
def test_every_name_of_the_package_is_there(name: str) -> None:
    assert name in dir(mt)
    assert getattr(mt, name) is getattr(mt, name)


def test_a_misspelt_name_is_refused() -> None:
    with pytest.raises(AttributeError, match="has no attribute 'svdd'"):
        mt.svdd  # noqa: B018
    with pytest.raises(ImportError, match="cannot import name 'svdd'"):
        exec("from mt_tensor import svdd")


@pytest.mark.parametrize(("name", "module"), METHODS, ids=[name for name, _ in METHODS])
def test_a_method_takes_the_place_of_what_stands_for_it(name: str, module: str) -> None:
    method = getattr(mt.Tensor, name)
    assert name in dir(mt.Tensor)
    assert not isinstance(vars(mt.Tensor)[name], DeferredMethod)
    defined = inspect.unwrap(method.fget if isinstance(method, property) else method)
    assert defined.__module__ == module
    assert inspect.signature(defined).parameters


@pytest.mark.parametrize("name", MODULE_OF)
def test_a_function_is_defined_where_it_is_said_to_be(name: str) -> None:
    assert inspect.unwrap(getattr(mt, name)).__module__ == MODULE_OF[name]


def test_help_shows_methods_and_bound_ones_can_be_pickled() -> None:
    shown = run("import mt_tensor, pydoc; print(pydoc.plain(pydoc.render_doc(mt_tensor.Tensor)))")
    assert "cumsum(input: 'Tensor', dim: 'int'" in shown
    assert "sort" in pydoc.plain(pydoc.render_doc(mt.Tensor.sort))
    x = mt.tensor([2.0, 1.0])
    assert pickle.loads(pickle.dumps(x.sort))().values.tolist() == [1.0, 2.0]
