"""`compile`, `lazy` and `realize`, as users call them.

What makes and runs programs is imported when one of them is first called: these are 20 modules, a
sixth of the time that `import mt_tensor` would take.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any, overload

from mt_tensor.core.tensor import Tensor

if TYPE_CHECKING:
    from mt_tensor.programs.compiling import Compiled
    from mt_tensor.programs.lazy import Lazy


@overload
def compile(function: Callable[..., Any], *, check: int = 0) -> Compiled: ...


@overload
def compile(*, check: int = 0) -> Callable[[Callable[..., Any]], Compiled]: ...


def compile(function: Callable[..., Any] | None = None, *, check: int = 0) -> Any:
    """Return a function that does the same from a program, after a first call.

    >>> import mt_tensor as mt
    >>> @mt.compile
    ... def distance(x, y):
    ...     return ((x - y) ** 2).sum().sqrt()
    >>> distance(mt.tensor([3.0, 0.0]), mt.tensor([0.0, 4.0]))
    tensor(5.)
    >>> distance(mt.tensor([6.0, 0.0]), mt.tensor([0.0, 8.0]))  # from the program
    tensor(10.)

    A program depends on the arguments, the variables of the function, and what these lead to:
    tensors of the same shapes, equal plain values, the same functions, modules and other objects,
    which it keeps alive. Everything else that Python does happens only while the program is
    recorded, as in JAX: prints, files, clocks and environment variables; classes are constants.

    The function may do what steps of training do: change tensors in place, call `backward()`, put
    gradients into parameters, call an optimizer, draw random numbers. It may be differentiated,
    once. Tensors in arguments, also in lists, tuples and dictionaries, may be others at each call;
    other shapes, dtypes, numbers and settings make another program, of which 16 are kept. The
    numbers of optimizers (rates, counts of steps) are inputs. See `Compiled`.

    Args:
        function: takes and returns tensors, numbers and the like. It may be a method or a module.
            Without one, `compile(check=...)` is a decorator.
        check: how often the function is run beside its program, from the same state, and what both
            return and leave is compared: at every so many runs, 0 for never.

    Raises:
        CompileError: on a call, if the function looks at elements on the host, or takes something
            from elsewhere that a program would have for ever (NumPy's arrays, Python's random
            numbers), or is given, or names as a variable, an object that cannot be compared
            (iterators, weak references, context variables). What the function has done until then
            has been done.
    """
    from mt_tensor.programs.compiling import Compiled

    if function is None:
        return lambda function: Compiled(function, check)
    return Compiled(function, check)


def lazy() -> Lazy:
    """Return a block in which nothing is computed before it is asked for.

    >>> import mt_tensor as mt
    >>> with mt.lazy() as block:
    ...     x = mt.arange(4.0)
    ...     y = (x * 2 + 1).exp()
    ...     z = y.sum()
    ...     computed = len(block.programs)
    ...     z.realize()
    tensor(1267.8501)
    >>> computed, len(block.programs)  # a pass over memory, and the sum
    (0, 1)

    Elements are asked for where Python sees them (`print`, `item`, `numpy`, `if x > 0`), where
    something is changed in place, and by `x.realize()`. At the end of the block all is computed
    that somebody still has. Operations are composed of the primitives of the contract here, without
    the kernels of a backend. What `compile` makes runs as the function that it is. Gradients are
    recorded as ever, and are promises, too.

    Other threads compute at once. Arrays of NumPy that tensors share memory with are read when
    that is computed: do not change them meanwhile.
    """
    from mt_tensor.programs.lazy import Lazy

    return Lazy()


def realize(self: Tensor) -> Tensor:
    """Compute the elements if they are still to come, as in `lazy`; return the tensor."""
    _ = self._tensor.storage
    return self
