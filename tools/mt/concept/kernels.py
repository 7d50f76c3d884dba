"""The source of generated code: kernels, also without a GPU, and programs."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from mt.concept.maps import GeneratedKernel
from mt.tables import TableError


def kernel_text(column: str, kernel: GeneratedKernel, functions: Mapping[str, Any]) -> str:
    """Return the source of a generated kernel, or why it is unavailable.

    Args:
        column: the backend, `fast` or `cuda`; in other columns a function returns the source.
        kernel: the kernel.
        functions: the functions of the concept's input, which `fast` can fuse.

    Raises:
        TableError: there is neither a function nor an operator of this name.
    """
    known = f"not a function of the input; the input has {', '.join(functions)}."
    if column not in ("fast", "cuda"):
        if kernel.name not in functions:
            raise TableError(f"{kernel.name!r} is {known}")
        return str(functions[kernel.name]())
    layout = {"layout": kernel.layout} if kernel.layout else {}
    try:
        if column == "cuda":
            import mt_cuda

            return mt_cuda.source(kernel.name, gradient=kernel.gradient, **layout)
        import mt_fast
        from mt_operators import OPERATORS
        from mt_tensor.pointwise.fusing import operator_of

        if kernel.name in OPERATORS:
            what: Any = kernel.name
            operator = OPERATORS[kernel.name]
        elif kernel.name not in functions:
            raise TableError(f"{kernel.name!r} is not an operator of the table, and {known}")
        else:
            what = mt_fast.fuse(functions[kernel.name])
            operator = operator_of(what)
        wanted = (True,) * operator.arity if kernel.gradient else None
        return mt_fast.source(what, gradient=wanted, repeats=kernel.repeats or None, **layout)
    except ImportError as error:
        return f"# not installed here: {error}"
