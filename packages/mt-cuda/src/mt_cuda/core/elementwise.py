"""Elementwise kernels: one pass over any number of inputs and outputs.

A formula of the operator table is rendered as the function `element`, inside one of two grid-stride
loops:

- *contiguous*: every operand is contiguous, or a single repeated element;
- *strided*: any layout; linear indices are converted to coordinates.

Copies between layouts and dtypes use the formula `x`.
"""

from __future__ import annotations

from dataclasses import dataclass

from mt_cuda.core.device import helpers, table
from mt_cuda.core.elements import load, operand, store
from mt_cuda.core.kernel import Kernel, Lines, Parameter, define, indented, numbers, over_grid
from mt_cuda.core.layout import position, size_names, stride_names, take_apart, wide_suffix
from mt_fast.core.rendering import render
from mt_operators.core.graph import Graph
from mt_tensor import DType


@dataclass(frozen=True, slots=True)
class Signature:
    """The dtypes of an elementwise kernel.

    Attributes:
        inputs: the dtype of each input; None for a number, which is passed by value in the type of
            the computation.
        outputs: the dtype of each output.
        computed: the type of the computation.
    """

    inputs: tuple[DType | None, ...]
    outputs: tuple[DType, ...]
    computed: DType

    def __str__(self) -> str:
        """Return the distinct types and the inputs that are numbers, for the kernel's name."""
        dtypes = (dtype for _, dtype in self.operands)
        return "_".join([*dict.fromkeys(dtype.name for dtype in dtypes), *self.numbers])

    @property
    def operands(self) -> list[tuple[str, DType]]:
        """The names and dtypes of the views: inputs x0, x1, ... and outputs y0, y1, ..."""
        inputs = [(f"x{k}", dtype) for k, dtype in enumerate(self.inputs) if dtype is not None]
        return inputs + [(f"y{k}", dtype) for k, dtype in enumerate(self.outputs)]

    @property
    def names(self) -> list[str]:
        """The names of the views."""
        return [name for name, _ in self.operands]

    @property
    def numbers(self) -> list[str]:
        """The names of the inputs that are numbers."""
        return [f"x{k}" for k, dtype in enumerate(self.inputs) if dtype is None]

    def parameters(self, *names: str) -> list[Parameter]:
        """Return a kernel's parameters: sizes and strides, the numbers of the formula, views."""
        return [
            *numbers(*names),
            *(Parameter(name, self.computed.name) for name in self.numbers),
            *(p for name, dtype in self.operands for p in operand(name, dtype)),
        ]


def contiguous(name: str, graph: Graph, types: Signature, unit: tuple[bool, ...]) -> Kernel:
    """Generate the kernel for contiguous operands and single elements.

    for each i:  y0[i] = element(x0[i], x1[i], ...)

    Args:
        name: the name of the formula.
        graph: the traced formula.
        types: the dtypes.
        unit: for each view, whether it is contiguous; the others are a single element.
    """
    body = [
        *element(graph, types),
        *single_elements(types, unit),
        *over_grid(apply(types, in_rows(types, unit, "i"))),
    ]
    return define(f"{name}_{types}_contiguous", types.parameters("n"), body)


def strided(name: str, graph: Graph, types: Signature, rank: int, index: str) -> Kernel:
    """Generate the kernel for operands of any layout in `rank` dimensions.

    for each index:  y0[index] = element(x0[index], x1[index], ...)

    Args:
        name: the name of the formula.
        graph: the traced formula.
        types: the dtypes.
        rank: the number of dimensions after merging.
        index: the integer type of index arithmetic.
    """
    sizes = size_names(rank)
    strides = {each: stride_names(each, rank) for each in types.names}
    elements = {each: f"{each}[{position(f'{each}_at', strides[each])}]" for each in types.names}
    body = [
        *element(graph, types),
        *over_grid([*take_apart("i", sizes, index), *apply(types, elements)]),
    ]
    names = ("n", *sizes, *(s for each in types.names for s in strides[each]))
    name = f"{name}_{types}_strided{rank}{wide_suffix(index)}"
    return define(name, types.parameters(*names), body)


# --- Parts --------------------------------------------------------------------------------------


def outputs(types: Signature) -> list[str]:
    """Return the names of the outputs."""
    return types.names[-len(types.outputs) :]


def in_rows(types: Signature, unit: tuple[bool, ...], index: str) -> dict[str, str]:
    """Return the expression of each operand's element for contiguous operands."""
    return {
        each: f"{each}[{each}_at + {index}]" if row else f"{each}_single"
        for each, row in zip(types.names, unit, strict=True)
    }


def single_elements(types: Signature, unit: tuple[bool, ...]) -> Lines:
    """Return the lines before the loop that read operands with a single element."""
    pairs = zip(types.names, unit, strict=True)
    return [f"{each}_single = {each}[{each}_at]" for each, row in pairs if not row]


def element(graph: Graph, types: Signature) -> Lines:
    """Return the source of the function `element`, which computes the formula for one element."""
    arguments = [f"a{k}" for k in range(len(types.inputs))]
    rendered = render(graph, arguments, types.computed, types.outputs, table(types.computed))
    return [
        *helpers(graph, types.computed),
        f"def element({', '.join(arguments)}):",
        *indented(rendered.statements),
        f"    return {', '.join(rendered.results)}",
        "",
    ]


def call(types: Signature, elements: dict[str, str]) -> str:
    """Return the expression that calls `element` on inputs converted to the computation type."""
    values = (
        name if dtype is None else load(elements[name], dtype, types.computed)
        for name, dtype in ((f"x{k}", dtype) for k, dtype in enumerate(types.inputs))
    )
    return f"element({', '.join(values)})"


def apply(types: Signature, elements: dict[str, str]) -> Lines:
    """Return the lines that compute one element of every output, and then store them.

    All inputs are read before an output is stored, since an output may also be an input.
    """
    names = outputs(types)
    if len(names) == 1:
        return [f"{elements['y0']} = {store(call(types, elements), types.outputs[0])}"]
    results = [f"r{k}" for k in range(len(names))]
    return [
        f"{', '.join(results)} = {call(types, elements)}",
        *(
            f"{elements[name]} = {store(result, dtype)}"
            for name, result, dtype in zip(names, results, types.outputs, strict=True)
        ),
    ]
