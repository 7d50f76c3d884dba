"""`compile`, `lazy` and `realize`, as users call them.

The other modules are imported at the first call, since they would take a sixth of the time of
`import mt_tensor`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING, Any, overload

from mt_tensor.core.tensor import Tensor

if TYPE_CHECKING:
    from mt_tensor.programs.compiling import Compiled
    from mt_tensor.programs.lazy import Lazy


@overload
def compile(
    function: Callable[..., Any], *, check: int = 0, static: Iterable[Any] = ()
) -> Compiled: ...


@overload
def compile(
    *, check: int = 0, static: Iterable[Any] = ()
) -> Callable[[Callable[..., Any]], Compiled]: ...


def compile(
    function: Callable[..., Any] | None = None, *, check: int = 0, static: Iterable[Any] = ()
) -> Any:
    """Compile a function: record its first call as a program, and replay it in later calls.

    >>> import mt_tensor as mt
    >>> @mt.compile
    ... def distance(x, y):
    ...     return ((x - y) ** 2).sum().sqrt()
    >>> distance(mt.tensor([3.0, 0.0]), mt.tensor([0.0, 4.0]))
    tensor(5.)
    >>> distance(mt.tensor([6.0, 0.0]), mt.tensor([0.0, 8.0]))  # a replay
    tensor(10.)

    A program depends on the arguments, the variables of the function and the objects that these
    refer to. It is valid for tensors of the same layouts, equal plain values, and the same
    functions, modules and other objects, which it keeps alive. Classes of libraries are constants.
    Everything else, such as prints and reads of files, clocks and environment variables, happens
    only while the program is recorded, as in JAX.

    The function may do what training steps do: change tensors in place, call `backward()`, assign
    gradients to parameters, call an optimizer, draw random numbers. It can be differentiated once.
    Tensors in arguments, also in lists, tuples and dictionaries, may differ at each call; other
    shapes, dtypes, numbers and settings need another program, and the 16 latest are kept. The
    numbers of optimizers (rates, step counts) are inputs of a program.

    Args:
        function: a function of tensors, numbers and the like; it may be a method or a module.
            Without one, `compile(check=...)` is a decorator.
        check: compare the results and side effects of every `check`-th replay with those of the
            function, run from the same state; 0 for never.
        static: objects among the arguments or variables that the caller promises not to change. A
            program compares only their identity, so that they may be of any type.

    Raises:
        CompileError: on a call, if the function reads elements on the host, or uses values that
            would be constants of the program (NumPy arrays, Python's random numbers), or if an
            argument or a variable is an object that cannot be compared (iterators, weak references,
            context variables). The side effects of the function until then remain.
    """
    from mt_tensor.programs.compiling import Compiled

    if function is None:
        return lambda function: Compiled(function, check, static)
    return Compiled(function, check, static)


def lazy() -> Lazy:
    """Return a context in which elements are computed only when they are needed.

    Elements are needed where Python reads them (`print`, `item`, `numpy`, `if x > 0`), where a
    tensor is changed in place, and by `x.realize()`. The end of the block computes all tensors
    that are still reachable. Operations are composed of the primitives of `TensorBackend`, without
    the kernels of a backend. Compiled functions run as the original function. Gradients are
    recorded as usual, and are deferred, too.

    Other threads compute immediately. NumPy arrays that share memory with tensors are read when
    elements are computed: do not change them meanwhile.
    """
    from mt_tensor.programs.lazy import Lazy

    return Lazy()


def realize(self: Tensor) -> Tensor:
    """Compute the elements of a tensor if they are deferred, as in `lazy`; return the tensor."""
    _ = self._tensor.storage
    return self
