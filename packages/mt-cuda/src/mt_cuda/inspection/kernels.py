"""Show kernels: their source, and the PTX or machine code compiled from it.

Kernels are generated when a layout first occurs. Here any of them can be selected by name, on any
machine: the source needs nothing, the PTX only the compiler.
"""

from __future__ import annotations

from typing import TypedDict, Unpack

from mt_cuda.core import elementwise, indexed, matrix, reduction
from mt_cuda.core.elements import computed
from mt_cuda.core.errors import KernelError
from mt_cuda.core.gpu import THREADS
from mt_cuda.core.kernel import Kernel
from mt_cuda.vectors.elementwise import vector
from mt_operators import OPERATORS, Operator
from mt_operators.core.lowering import expanded
from mt_operators.core.row import zero
from mt_operators.core.tracing import graph_of
from mt_tensor import DType, bool_
from mt_tensor.extending import as_dtype

ELEMENTWISE = ("contiguous", "vector", "strided")
FOLDS = ("rows", "columns")
SPECIAL = ("matmul", "gather", "scatter", "copy")


class Form(TypedDict, total=False):
    """The selection of one of an operator's kernels.

    Attributes:
        dtype: the dtype; float32 by default.
        layout: `"contiguous"`, the default, `"vector"` (contiguous, 16 bytes at a time) or
            `"strided"`; for an operator that reduces, also `"rows"` or `"columns"`.
        gradient: whether to select the operator's fused backward instead of its value.
    """

    dtype: str | DType
    layout: str
    gradient: bool


def source(name: str, **form: Unpack[Form]) -> str:
    """Return the source of a kernel.

    Args:
        name: an operator of the table, or `"matmul"`, `"gather"`, `"scatter"` or `"copy"`.
        **form: which of its kernels: the `dtype`, float32 by default; the `layout`,
            `"contiguous"`, the default, `"vector"` (contiguous, 16 bytes at a time) or `"strided"`,
            for an operator that reduces also `"rows"` or `"columns"`; and `gradient`, whether to
            select the operator's fused backward instead of its value.

    Raises:
        UnknownOperatorError: the operator is unknown; the message suggests the nearest name.
        KernelError: there is no such kernel, or the layout is unknown.
        DTypeError: the dtype is unknown.
    """
    return kernel(name, **form).source


def compile_ptx(name: str, *, capability: tuple[int, int] = (9, 0), **form: Unpack[Form]) -> str:
    """Return the PTX of a kernel, compiled by NVRTC from its translation to C, without a GPU.

    Args:
        name: as in `source`.
        capability: the compute capability to compile for; 9.0 is Hopper.
        **form: as in `source`.

    Raises:
        KernelError: as in `source`, or the compiler is missing: `pip install 'mt-cuda[cu13]'`.
    """
    from mt_cuda.cubins.nvrtc import ptx

    return ptx(kernel(name, **form), capability)


def compile_cubin(
    name: str, *, capability: tuple[int, int] = (9, 0), **form: Unpack[Form]
) -> bytes:
    """Return the machine code of a kernel, compiled by NVRTC, without a GPU.

    Args:
        name: as in `source`.
        capability: the compute capability to compile for; 9.0 is Hopper.
        **form: as in `source`.

    Raises:
        KernelError: as in `source`, or the compiler is missing: `pip install 'mt-cuda[cu13]'`.
    """
    from mt_cuda.cubins.nvrtc import cubin

    return cubin(kernel(name, **form), capability)


def kernel(
    name: str,
    *,
    dtype: str | DType = "float32",
    layout: str = "contiguous",
    gradient: bool = False,
) -> Kernel:
    """Return a kernel; the arguments and errors are those of `source`."""
    element = as_dtype(dtype)
    if name in SPECIAL:
        if layout != "contiguous" or gradient:
            raise KernelError(f"{name} has a single kernel: leave out `layout` and `gradient`.")
        return _special(name, element)
    operator = OPERATORS[name]
    if layout in FOLDS:
        if gradient:
            raise KernelError(f"{name} has no fused backward with layout {layout!r}.")
        return _fold(operator, element, layout)
    if layout not in ELEMENTWISE:
        raise KernelError(
            f"{name} has no kernel with layout {layout!r}; layout must be one of "
            f"{', '.join((*ELEMENTWISE, *FOLDS))}."
        )
    return _elementwise(operator, element, layout, gradient)


def _elementwise(operator: Operator, dtype: DType, layout: str, gradient: bool) -> Kernel:
    inputs = (dtype,) * operator.arity
    if operator.name == "where":
        inputs = (bool_, dtype, dtype)
    out = bool_ if operator.result == "bool" else dtype
    if gradient:
        needed = tuple(partial is not zero for partial in operator.partials)
        if not any(needed):
            raise KernelError(
                f"{operator.name} has no gradient: its derivatives are zero everywhere."
            )
        formula = operator.gradient(needed)
        types = elementwise.Signature(
            (out, *inputs, out), (dtype,) * formula.outputs, computed(dtype)
        )
    else:
        formula = operator.value
        types = elementwise.Signature(inputs, (out,), computed(dtype))
    graph = expanded(graph_of(formula))
    if layout == "strided":
        return elementwise.strided(formula.name, graph, types, 2, "index32")
    # The condition of `where` has another size, and is then a single element, as for `vector`.
    same = tuple(d.itemsize == dtype.itemsize for _, d in types.operands)
    if layout == "vector" and all(same[-len(types.outputs) :]):
        return vector(formula.name, graph, types, same, 16 // dtype.itemsize)
    return elementwise.contiguous(formula.name, graph, types, (True,) * len(same))


def _fold(operator: Operator, dtype: DType, layout: str) -> Kernel:
    if operator.arity != 2:
        raise KernelError(
            f"{operator.name} cannot be a reduction: it takes {operator.arity} argument(s), not 2."
        )
    graph = expanded(graph_of(operator.value))
    fold = reduction.Fold(operator.name, graph, operator.identity, dtype, dtype, 1, 1, "index32")
    return reduction.rows(fold, THREADS) if layout == "rows" else reduction.columns(fold)


def _copy(source_type: DType, target: DType) -> Kernel:
    types = elementwise.Signature((source_type,), (target,), computed(source_type))
    return elementwise.strided("id", graph_of(OPERATORS["id"].value), types, 2, "index32")


def _special(name: str, dtype: DType) -> Kernel:
    if name == "matmul":
        return matrix.matmul(dtype, matrix.LARGE, 0, True, True)
    if name == "gather":
        return indexed.gather(dtype, 2, "index32")
    if name == "scatter":
        return indexed.scatter(dtype, 2, "index32", None)
    return _copy(dtype, dtype)
