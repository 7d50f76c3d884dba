"""What is refused raises what torch raises, or a kind of it: `except` clauses of programs hold.

The refusals of operations are compared in test_torch_samples.py; here are those of everything else.
"""

import copy
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import mt_tensor as mt

torch = pytest.importorskip("torch")

pytestmark = pytest.mark.filterwarnings("ignore")
"""Torch warns of some of it before it refuses it."""


def leaf(lib: Any) -> Any:
    """Return a tensor that wants a gradient."""
    return lib.ones(2, 3, requires_grad=True)


def twice_backward(lib: Any) -> None:
    loss = leaf(lib).exp().sum()
    loss.backward()
    loss.backward()


def changed_after_saving(lib: Any) -> None:
    y = leaf(lib) * 1
    loss = y.exp().square().sum()
    z = y.exp()
    out = z.square().sum() + loss
    z.add_(1)
    out.backward()


def hooked(lib: Any, hook: Any) -> None:
    x = leaf(lib)
    x.register_hook(hook)
    x.sum().backward()


def with_function(lib: Any, forward: Any, backward: Any = None) -> None:
    function = lib.Function if lib is mt else lib.autograd.Function
    names = {"forward": forward, "backward": backward}
    defined = {name: staticmethod(f) for name, f in names.items() if f is not None}
    type("Mine", (function,), defined).apply(leaf(lib)).sum().backward()


def double(ctx: Any, x: Any) -> Any:
    return x * 2


def assigned(lib: Any, name: str, value: Any) -> None:
    setattr(leaf(lib), name, value)


CALLS: dict[str, Callable[[Any], Any]] = {
    # --- Gradients
    "backward of a constant": lambda lib: lib.ones(()).backward(),
    "backward of several elements": lambda lib: (leaf(lib) * 2).backward(),
    "backward with another shape": lambda lib: (leaf(lib) * 2).backward(lib.ones(3)),
    "backward with a number": lambda lib: (leaf(lib) * 2).backward(1.0),
    "backward twice": twice_backward,
    "backward of integers": lambda lib: lib.ones(2).long().sum().backward(),
    "backward after a change": changed_after_saving,
    "grad of what is not used": lambda lib: lib.autograd.grad(leaf(lib).sum(), leaf(lib)),
    "grad of a constant": lambda lib: lib.autograd.grad(lib.ones(()), leaf(lib)),
    "grad by a constant": lambda lib: lib.autograd.grad(leaf(lib).sum(), lib.ones(2)),
    "grad of several elements": lambda lib: lib.autograd.grad(x := leaf(lib), x),
    "a change of a leaf": lambda lib: leaf(lib).add_(1),
    "a change of a view of a leaf": lambda lib: leaf(lib)[0].zero_(),
    "an assignment into a leaf": lambda lib: leaf(lib).__setitem__(0, 1),
    "a gradient for integers": lambda lib: lib.ones(2).long().requires_grad_(),
    "integers that require grad": lambda lib: lib.tensor([1], requires_grad=True),
    "no gradient for what was computed": lambda lib: (leaf(lib) * 2).requires_grad_(False),
    "a gradient of another shape": lambda lib: assigned(lib, "grad", lib.ones(2)),
    "a gradient of another type": lambda lib: assigned(lib, "grad", lib.ones(2, 3).double()),
    "a gradient that is a number": lambda lib: assigned(lib, "grad", 1.0),
    "data of another kind": lambda lib: assigned(lib, "data", 1.0),
    "requires_grad as a text": lambda lib: assigned(lib, "requires_grad", "yes"),
    "a copy of what was computed": lambda lib: copy.deepcopy(leaf(lib) * 2),
    "numpy of a leaf": lambda lib: leaf(lib).numpy(),
    "asarray of a leaf": lambda lib: np.asarray(leaf(lib)),
    "detach_ of a view": lambda lib: leaf(lib).clone()[0].detach_(),
    "retain_grad of a constant": lambda lib: lib.ones(2).retain_grad(),
    "a hook of a constant": lambda lib: lib.ones(2).register_hook(print),
    "a hook with another shape": lambda lib: hooked(lib, lambda grad: grad[0]),
    "a hook with a number": lambda lib: hooked(lib, lambda grad: 1.0),
    "a function without forward": lambda lib: with_function(lib, None, double),
    "a function without backward": lambda lib: with_function(lib, double),
    "a function with too many gradients": lambda lib: with_function(
        lib, double, lambda ctx, grad: (grad, grad)
    ),
    "a function with a gradient of another shape": lambda lib: with_function(
        lib, double, lambda ctx, grad: grad[0]
    ),
    # --- Numbers
    "item of several elements": lambda lib: lib.ones(2).item(),
    "truth of several elements": lambda lib: bool(lib.ones(2)),
    "truth of no elements": lambda lib: bool(lib.ones(0)),
    "float of several elements": lambda lib: float(lib.ones(2)),
    "int of several elements": lambda lib: int(lib.ones(2)),
    "an index of several elements": lambda lib: [1][lib.ones(2).long()],
    "an index of a float": lambda lib: [1][lib.ones(())],
    "length of a number": lambda lib: len(lib.ones(())),
    "iteration over a number": lambda lib: iter(lib.ones(())),
    "int of nan": lambda lib: int(lib.tensor(float("nan"))),
    "int of inf": lambda lib: int(lib.tensor(float("inf"))),
    "a text in it": lambda lib: "a" in lib.ones(2),
    "no such method": lambda lib: lib.ones(2).no_such_method(),
    "no such attribute": lambda lib: assigned(lib, "shape", (6,)),
    # --- Making and converting
    "ragged rows": lambda lib: lib.tensor([[1], [1, 2]]),
    "a text": lambda lib: lib.tensor("a"),
    "None": lambda lib: lib.tensor(None),
    "rows of texts": lambda lib: lib.tensor([["a"]]),
    "too large an integer": lambda lib: lib.tensor(2**70),
    "a byte of 300": lambda lib: lib.tensor(300, dtype=lib.uint8),
    "an array of texts": lambda lib: lib.tensor(np.array(["a"])),
    "from_numpy of a list": lambda lib: lib.from_numpy([1]),
    "from_numpy of texts": lambda lib: lib.from_numpy(np.array(["a"])),
    "from_dlpack of a list": lambda lib: lib.from_dlpack([1]),
    "a negative size": lambda lib: lib.zeros(-1),
    "a size with a fraction": lambda lib: lib.zeros(1.5),
    "too many elements": lambda lib: lib.zeros(2**62, 2**10),
    "a dtype that is none": lambda lib: lib.zeros(2, dtype="nothing"),
    "a device that is none": lambda lib: lib.zeros(2, device="nowhere"),
    "moving to a device that is none": lambda lib: lib.zeros(2).to("nowhere"),
    "converting to a list": lambda lib: lib.zeros(2).to([1]),
    "type of a number": lambda lib: lib.zeros(2).type(3),
    "a range away from its end": lambda lib: lib.arange(0, 5, -1),
    "a range of steps of zero": lambda lib: lib.arange(0, 5, 0),
    "a negative spread": lambda lib: lib.normal(0.0, -1.0, (2,)),
    "an empty range of random numbers": lambda lib: lib.randint(3, 3, (2,)),
    "a probability of 2": lambda lib: lib.full((2,), 2.0).bernoulli(),
    "draws without weights": lambda lib: lib.multinomial(lib.zeros(2), 1),
    "a seed that is a text": lambda lib: lib.manual_seed("a"),
    "no such function": lambda lib: lib.no_such_function,
    "finfo of integers": lambda lib: lib.finfo(lib.int32),
    "iinfo of floats": lambda lib: lib.iinfo(lib.float32),
}

OTHERS: dict[str, tuple[type[Exception], str]] = {
    "a hook with a number": (TypeError, "it is one of the gradients that do not fit"),
    "requires_grad as a text": (RuntimeError, "its method of this name raises what is raised here"),
    "a text in it": (RuntimeError, "Python says so of other containers of numbers"),
    "rows of texts": (ValueError, "it takes a text for a sequence of its letters"),
    "too large an integer": (ValueError, "it raises the same of a text"),
    "from_dlpack of a list": (RuntimeError, "it calls its argument, taking it for a capsule"),
    "a seed that is a text": (ValueError, "it lets Python read a number from it"),
}
"""What raises something else in torch: the class there, and why it is not ours."""


@pytest.mark.parametrize("name", CALLS)
def test_what_catches_torchs_error_catches_ours(name: str) -> None:
    with pytest.raises(Exception) as theirs:  # noqa: PT011 - whatever it is
        CALLS[name](torch)
    with pytest.raises(Exception) as ours:  # noqa: PT011
        CALLS[name](mt)
    if name in OTHERS:
        assert theirs.type is OTHERS[name][0]
    assert isinstance(ours.value, theirs.type) != (name in OTHERS)
