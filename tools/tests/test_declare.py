"""What type checkers know of `Tensor` is what it has, and they refuse what it has not.

`hatch run types:check` reads this file, too, and proves the second half: it reports an error that
is not marked, and as strictly a mark where there is no error.
"""

import inspect
import sys

import pytest

import mt_tensor as mt
from mt.programs import output
from mt.workspace import ROOT

X = mt.tensor([[1.0, 2.0], [3.0, 4.0]])


def test_the_declarations_are_those_of_today() -> None:
    derive = """
from mt.declare.command import derived
from mt.workspace import Workspace
for file, text in derived(Workspace.read()).items():
    if file.read_text(encoding="utf-8") != text:
        print(file.name)
"""  # in a program of its own, where no other test has added to the operator table
    changed = output([sys.executable, "-c", derive], ROOT / "tools")
    assert not changed, f"run `hatch run mt declare`, which changes {changed}"


def test_a_misspelt_method_is_refused() -> None:
    with pytest.raises(AttributeError, match="tahn"):
        X.tahn()  # type: ignore[attr-defined]
    with pytest.raises(AttributeError, match="clam_"):
        X.clam_(0)  # type: ignore[attr-defined]
    with pytest.raises(AttributeError, match="to_nothing"):
        X.tanh().to_nothing(1, 2)  # type: ignore[attr-defined]


def test_a_wrong_argument_is_refused() -> None:
    with pytest.raises(TypeError):
        X.sum(dims=0)  # type: ignore[call-arg]
    with pytest.raises(TypeError):
        X.topk("two")  # type: ignore[arg-type]
    with pytest.raises(TypeError):
        X.tanh(1)  # type: ignore[call-arg]
    with pytest.raises(TypeError):
        X.addcmul_(X)  # type: ignore[call-arg]


def test_a_right_program_is_accepted() -> None:
    total: mt.Tensor = X.tanh().clamp(0, 1).sum(0, keepdim=True)
    values, indices = X.topk(1)
    changed: mt.Tensor = X.clone().sigmoid_().mul_(2).clip_(0.5)
    transposed: mt.Tensor = X.T[..., 0] @ X
    size: float = (X.expm1() / 2 - X**2).norm().item()
    assert total.shape == (1, 2)
    assert (values.ndim, indices.dtype, changed.shape) == (2, mt.int64, X.shape)
    assert transposed.shape == (2,)
    assert size > 0
    assert "alpha" in inspect.signature(X.add).parameters
