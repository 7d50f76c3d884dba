"""Exceptions are of torch's class or a subclass, so that `except` clauses of programs still work.

Exceptions of operations are compared in `test_torch_samples.py`; all others are compared here.
"""

import copy
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import mt_tensor as mt

torch = pytest.importorskip("torch")

pytestmark = pytest.mark.filterwarnings("ignore")
"""torch warns in some of the calls before it raises."""


def leaf(lib: Any) -> Any:
    """Return a tensor that requires grad."""
    return lib.ones(2, 3, requires_grad=True)


def backward_twice(lib: Any) -> None:
    loss = leaf(lib).exp().sum()
    loss.backward()
    loss.backward()


def change_saved_tensor(lib: Any) -> None:
    y = leaf(lib) * 1
    loss = y.exp().square().sum()
    z = y.exp()
    out = z.square().sum() + loss
    z.add_(1)
    out.backward()


def backward_with_hook(lib: Any, hook: Any) -> None:
    x = leaf(lib)
    x.register_hook(hook)
    x.sum().backward()


def apply_function(lib: Any, forward: Any, backward: Any = None) -> None:
    function = lib.Function if lib is mt else lib.autograd.Function
    names = {"forward": forward, "backward": backward}
    defined = {name: staticmethod(f) for name, f in names.items() if f is not None}
    type("Mine", (function,), defined).apply(leaf(lib)).sum().backward()


def double(ctx: Any, x: Any) -> Any:
    return x * 2


def assign(lib: Any, name: str, value: Any) -> None:
    setattr(leaf(lib), name, value)


CALLS: dict[str, Callable[[Any], Any]] = {
    # --- Gradients
    "backward of a constant": lambda lib: lib.ones(()).backward(),
    "backward of several elements": lambda lib: (leaf(lib) * 2).backward(),
    "backward with a gradient of another shape": lambda lib: (leaf(lib) * 2).backward(lib.ones(3)),
    "backward with a number": lambda lib: (leaf(lib) * 2).backward(1.0),
    "backward twice": backward_twice,
    "backward of integers": lambda lib: lib.ones(2).long().sum().backward(),
    "backward after a change of a saved tensor": change_saved_tensor,
    "grad with respect to an unused tensor": lambda lib: lib.autograd.grad(
        leaf(lib).sum(), leaf(lib)
    ),
    "grad of a constant": lambda lib: lib.autograd.grad(lib.ones(()), leaf(lib)),
    "grad with respect to a constant": lambda lib: lib.autograd.grad(leaf(lib).sum(), lib.ones(2)),
    "grad of several elements": lambda lib: lib.autograd.grad(x := leaf(lib), x),
    "in-place change of a leaf": lambda lib: leaf(lib).add_(1),
    "in-place change of a view of a leaf": lambda lib: leaf(lib)[0].zero_(),
    "setitem of a leaf": lambda lib: leaf(lib).__setitem__(0, 1),
    "requires_grad_ of integers": lambda lib: lib.ones(2).long().requires_grad_(),
    "integers that require grad": lambda lib: lib.tensor([1], requires_grad=True),
    "requires_grad_(False) of a result": lambda lib: (leaf(lib) * 2).requires_grad_(False),
    "grad of another shape": lambda lib: assign(lib, "grad", lib.ones(2)),
    "grad of another dtype": lambda lib: assign(lib, "grad", lib.ones(2, 3).double()),
    "grad set to a number": lambda lib: assign(lib, "grad", 1.0),
    "data set to a number": lambda lib: assign(lib, "data", 1.0),
    "requires_grad set to a string": lambda lib: assign(lib, "requires_grad", "yes"),
    "deepcopy of a result": lambda lib: copy.deepcopy(leaf(lib) * 2),
    "numpy of a leaf": lambda lib: leaf(lib).numpy(),
    "asarray of a leaf": lambda lib: np.asarray(leaf(lib)),
    "retain_grad of a constant": lambda lib: lib.ones(2).retain_grad(),
    "hook of a constant": lambda lib: lib.ones(2).register_hook(print),
    "hook that returns another shape": lambda lib: backward_with_hook(lib, lambda grad: grad[0]),
    "hook that returns a number": lambda lib: backward_with_hook(lib, lambda grad: 1.0),
    "function without forward": lambda lib: apply_function(lib, None, double),
    "function without backward": lambda lib: apply_function(lib, double),
    "function with too many gradients": lambda lib: apply_function(
        lib, double, lambda ctx, grad: (grad, grad)
    ),
    "function with a gradient of another shape": lambda lib: apply_function(
        lib, double, lambda ctx, grad: grad[0]
    ),
    # --- Conversion to Python
    "item of several elements": lambda lib: lib.ones(2).item(),
    "bool of several elements": lambda lib: bool(lib.ones(2)),
    "bool of no elements": lambda lib: bool(lib.ones(0)),
    "float of several elements": lambda lib: float(lib.ones(2)),
    "int of several elements": lambda lib: int(lib.ones(2)),
    "several elements as an index": lambda lib: [1][lib.ones(2).long()],
    "a float as an index": lambda lib: [1][lib.ones(())],
    "len of a 0-d tensor": lambda lib: len(lib.ones(())),
    "iter of a 0-d tensor": lambda lib: iter(lib.ones(())),
    "int of nan": lambda lib: int(lib.tensor(float("nan"))),
    "int of inf": lambda lib: int(lib.tensor(float("inf"))),
    "a string in a tensor": lambda lib: "a" in lib.ones(2),
    "missing method": lambda lib: lib.ones(2).no_such_method(),
    "setting a read-only attribute": lambda lib: assign(lib, "shape", (6,)),
    # --- Creation and conversion
    "ragged rows": lambda lib: lib.tensor([[1], [1, 2]]),
    "tensor of a string": lambda lib: lib.tensor("a"),
    "tensor of None": lambda lib: lib.tensor(None),
    "tensor of rows of strings": lambda lib: lib.tensor([["a"]]),
    "tensor of an integer that is too large": lambda lib: lib.tensor(2**70),
    "uint8 tensor of 300": lambda lib: lib.tensor(300, dtype=lib.uint8),
    "tensor of an array of strings": lambda lib: lib.tensor(np.array(["a"])),
    "from_numpy of a list": lambda lib: lib.from_numpy([1]),
    "from_numpy of strings": lambda lib: lib.from_numpy(np.array(["a"])),
    "from_dlpack of a list": lambda lib: lib.from_dlpack([1]),
    "negative size": lambda lib: lib.zeros(-1),
    "fractional size": lambda lib: lib.zeros(1.5),
    "too many elements": lambda lib: lib.zeros(2**62, 2**10),
    "unknown dtype": lambda lib: lib.zeros(2, dtype="nothing"),
    "unknown device": lambda lib: lib.zeros(2, device="nowhere"),
    "to an unknown device": lambda lib: lib.zeros(2).to("nowhere"),
    "to a list": lambda lib: lib.zeros(2).to([1]),
    "type of a number": lambda lib: lib.zeros(2).type(3),
    "arange away from its end": lambda lib: lib.arange(0, 5, -1),
    "arange with step 0": lambda lib: lib.arange(0, 5, 0),
    "normal with a negative std": lambda lib: lib.normal(0.0, -1.0, (2,)),
    "randint of an empty range": lambda lib: lib.randint(3, 3, (2,)),
    "bernoulli of 2": lambda lib: lib.full((2,), 2.0).bernoulli(),
    "multinomial without positive weights": lambda lib: lib.multinomial(lib.zeros(2), 1),
    "seed that is a string": lambda lib: lib.manual_seed("a"),
    "missing function": lambda lib: lib.no_such_function,
    "finfo of integers": lambda lib: lib.finfo(lib.int32),
    "iinfo of floats": lambda lib: lib.iinfo(lib.float32),
}

DIFFERENT: dict[str, tuple[type[Exception], str]] = {
    "hook that returns a number": (
        TypeError,
        "it is an error of a gradient here, like a wrong shape",
    ),
    "requires_grad set to a string": (RuntimeError, "torch raises our class in requires_grad_()"),
    "a string in a tensor": (RuntimeError, "our class is what Python raises for `'a' in b''`"),
    "tensor of rows of strings": (ValueError, "torch treats the string as a sequence of letters"),
    "tensor of an integer that is too large": (
        ValueError,
        "torch raises the same class for a string",
    ),
    "from_dlpack of a list": (RuntimeError, "torch treats the list as a capsule"),
    "seed that is a string": (ValueError, "torch calls int() on the string"),
}
"""Calls that raise another class in torch: that class, and why ours differs."""


@pytest.mark.parametrize("name", CALLS)
def test_error_is_instance_of_torch_exception_class(name: str) -> None:
    with pytest.raises(Exception) as theirs:  # noqa: PT011 - any exception
        CALLS[name](torch)
    with pytest.raises(Exception) as ours:  # noqa: PT011
        CALLS[name](mt)
    if name in DIFFERENT:
        assert theirs.type is DIFFERENT[name][0]
    assert isinstance(ours.value, theirs.type) != (name in DIFFERENT)
