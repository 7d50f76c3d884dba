"""The tape that records a network as a graph.

Values in a graph are immutable, but memory is not. So the tape stores, for each storage, the name
of the value that it currently contains. Reading a view adds the operators that compute it from that
value; an operation in place adds the value of the changed storage.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, NoReturn

import numpy as np

from mt_nn.errors import ExportError
from mt_nn.onnx.formulas import add_formula
from mt_nn.onnx.graph import Graph, Value, type_of
from mt_nn.onnx.operations import OPERATIONS
from mt_nn.onnx.views import View, add_view
from mt_operators import Operator
from mt_tensor import DType, Tensor, TensorData, int32, int64
from mt_tensor import bool as bool_
from mt_tensor.backends import TensorBackend
from mt_tensor.backends.extending import Layout, row_major
from mt_tensor.extending import FUSED, Array, Call, Shape, Tape, size_of, storage_key


class GraphTape(Tape):
    """A tape that runs the backend calls of a network, and adds each to a graph.

    Args:
        name: the name of the network, for messages.
        backend: the backend of its tensors.

    Attributes:
        graph: the graph.
    """

    captures = True

    def __init__(self, name: str, backend: TensorBackend) -> None:
        super().__init__()
        self.name, self.backend = name, backend
        self.graph = Graph()
        self._values: dict[Any, tuple[str, Shape]] = {}  # value and shape, by storage
        self._fixed: set[Any] = set()  # storages that existed before
        self._operation: str | None = None  # the running one
        self._alive: list[TensorData] = []  # so that no other storage gets the same address

    # --- Memory as values -----------------------------------------------------------------------

    def give_argument(self, name: str, tensor: Tensor) -> None:
        """Name an argument, a row-major tensor."""
        self.graph.inputs.append(Value(name, tensor.dtype, tensor.shape))
        self.graph.varying.add(name)
        self._fixed.add(storage_key(tensor._tensor.storage))
        self._record_value(tensor._tensor, name)

    def give_parameter(self, name: str, tensor: Tensor) -> None:
        """Name a parameter or buffer, if it is row-major; others are constants without a name."""
        data = tensor._tensor
        key = storage_key(data.storage)
        self._fixed.add(key)
        if key in self._values:  # a shared tensor with two names
            return
        type_of(tensor.dtype)
        if data.layout.contiguous is data.layout:
            self.graph.constant(self._elements(data), name)
            self._record_value(data, name)

    def read(self, data: TensorData, repeat: bool = True) -> str:
        """Return the name of the elements of a view.

        Args:
            data: the view.
            repeat: whether to repeat elements along dimensions of stride 0.
        """
        layout, key = data.layout, storage_key(data.storage)
        view = View(layout.shape, layout.strides, layout.offset)
        stored = self._values.get(key)
        if stored is not None and layout.size and view.end <= size_of(stored[1]):
            return add_view(self.graph, *stored, view if repeat else view.without_repetition())
        elements = self._elements(data)  # a constant of the network
        if not repeat:
            elements = elements[
                tuple([slice(None) if step else slice(1) for step in layout.strides])
            ]
        return self.graph.constant(elements)

    def write(self, data: TensorData, name: str) -> None:
        """Record that a value has been written to a view."""
        key, layout = storage_key(data.storage), data.layout
        before, shape = self._values[key]
        view = View(layout.shape, layout.strides, layout.offset)
        count = size_of(shape)
        if view.covers(count):
            self._values[key] = self.graph.reshape(name, layout.shape, shape), shape
        elif layout.size:
            self._values[key] = self._with_elements(before, shape, view, name), shape

    def _with_elements(self, before: str, shape: Shape, view: View, name: str) -> str:
        """Return a value with the elements of a view replaced by another value."""
        rows = view.rows_of(shape)
        inner, count = (view, 1) if rows is None else (rows, shape[0])
        grid, changed = (count, size_of(shape) // count), (count, size_of(view.shape) // count)
        positions = self.graph.constant(inner.positions().reshape(1, -1))
        indices = self.graph.add("Expand", positions, self.graph.vector(changed))
        matrix = self.graph.reshape(before, shape, grid)
        changes = self.graph.reshape(name, view.shape, changed)
        result = self.graph.add("ScatterElements", matrix, indices, changes, axis=1)
        return self.graph.reshape(result, grid, shape)

    def check_writable(self, data: TensorData) -> None:
        """Raise ExportError if a view is of memory that existed before the network ran."""
        key = storage_key(data.storage)
        if key in self._fixed or key not in self._values:
            self.refuse("changes an argument, a parameter or a buffer in place")

    def _record_value(self, data: TensorData, name: str) -> None:
        """Record that a new row-major view contains a value."""
        self._alive.append(data)
        self._values[storage_key(data.storage)] = name, data.layout.shape

    def _elements(self, data: TensorData) -> Array:
        """Return the elements of a view, as they are now."""
        self._alive.append(data)
        with self.paused():
            return np.array(self.backend.to_host(data))

    # --- Calls ----------------------------------------------------------------------------------

    def refuse(self, what: str) -> NoReturn:
        """Raise the error for something that cannot be exported."""
        raise ExportError(f"{self.name} cannot be exported: it {what}.")

    def handle(self, call: Call) -> Any:
        """Run a call, and add it to the graph.

        Raises:
            ExportError: the call cannot be exported.
        """
        if call.name == "kernel":
            return self._as_node(call.arguments[0])
        if call.name == "to_host":
            if self.read(call.arguments[0]) in self.graph.varying:
                self.refuse(
                    "reads elements that depend on its arguments, as in `if x > 0`, x.item() or "
                    "x.numpy(): use where() instead"
                )
            return call.run()
        if call.formula is not None:
            return self._elementwise(call)
        return METHODS[call.name](self, call, *call.arguments, **call.options)

    def handle_operation(
        self, name: str, function: Callable[..., Any], arguments: tuple[Any, ...]
    ) -> Any:
        """Run an operation, and remember its name for messages."""
        before, self._operation = self._operation, name
        try:
            return function(*arguments)
        finally:
            self._operation = before

    def as_single_call(
        self,
        function: Callable[..., Any],
        arguments: tuple[Any, ...],
        options: dict[str, Any],
        name: str | None = None,
    ) -> Any:
        """Run a function that is computed on the host, if its result is a constant."""
        for each in (*arguments, *options.values()):
            if isinstance(each, Tensor) and self.read(each._tensor) in self.graph.varying:
                called = self._operation or name or function.__name__
                self.refuse(f"calls {called}(), which is computed outside of the backend")
        with self.paused():
            return function(*arguments, **options)

    def _as_node(self, name: str) -> Callable[..., Any] | None:
        """Return a function that adds a named operation as one node; None to compose it."""
        add = OPERATIONS.get(name)
        if add is None:
            return None

        def operation(*arguments: Any) -> Any:
            value = add(self, *arguments)
            if value is None:
                return FUSED[name](*arguments)
            with self.paused():
                result = FUSED[name](*arguments)
                data = result.backend.copy(result._tensor, result._tensor.layout.contiguous)
            self._record_value(data, value)
            return Tensor._make(data, result.backend)

        return operation

    def _elementwise(self, call: Call) -> Any:
        out, *inputs = call.arguments
        formula: Any = call.formula
        written = [] if isinstance(out, Layout) else list(out)
        for view in written:
            self.check_writable(view)
        shape = written[0].layout.shape if written else out.shape
        operands: list[tuple[Any, DType | None]] = []
        shapes: list[Shape] = []
        for x in inputs:
            if isinstance(x, TensorData):
                operands.append((self.read(x, repeat=False), x.layout.dtype))
                pairs = zip(x.layout.shape, x.layout.strides, strict=True)
                shapes.append(tuple([n if stride else min(n, 1) for n, stride in pairs]))
            else:
                operands.append((x, None))
        dtypes = [view.layout.dtype for view in written] or [out.dtype] * formula.outputs
        names = add_formula(self.graph, formula, operands, dtypes)
        if np.broadcast_shapes((), *shapes) != shape:
            names = [self.graph.add("Expand", name, self.graph.vector(shape)) for name in names]
        results = call.run()
        if written:
            for view, name in zip(written, names, strict=True):
                self.write(view, name)
        else:
            for data, name in zip(
                results if isinstance(results, list) else [results], names, strict=True
            ):
                self._record_value(data, name)
        return results

    def _reduce(
        self, call: Call, operator: Operator, source: TensorData, dims: Any, keepdim: bool = False
    ) -> Any:
        name, dtype = REDUCTIONS.get(operator.name), source.layout.dtype
        if name is None:
            self.refuse(f"reduces with {operator.name}, for which ONNX has no operator")
        is_bool = dtype is bool_
        value = self.graph.cast(self.read(source), dtype, int32 if is_bool else dtype)
        if dims:
            value = self.graph.add(name, value, self.graph.vector(dims), keepdims=int(keepdim))
        return self._new(call, self.graph.cast(value, int32 if is_bool else dtype, dtype))

    def _matmul(self, call: Call, a: TensorData, b: TensorData) -> Any:
        return self._new(call, self.graph.add("MatMul", self.read(a), self.read(b)))

    def _gather(self, call: Call, source: TensorData, dim: int, index: TensorData) -> Any:
        strides, shape = index.layout.strides, index.layout.shape
        others = [d for d in range(len(shape)) if d != dim]
        is_rows = not any(strides[d] and shape[d] > 1 for d in others) and all(
            shape[d] == source.shape[d] for d in others
        )
        if not is_rows:
            inputs = self.read(source), self.read(index)
            return self._new(call, self.graph.add("GatherElements", *inputs, axis=dim))
        row = index.like((shape[dim],), (strides[dim],), index.offset)
        return self._new(
            call, self.graph.add("Gather", self.read(source), self.read(row), axis=dim)
        )

    def _scatter(
        self,
        call: Call,
        source: TensorData,
        dim: int,
        index: TensorData,
        out: TensorData,
        operator: Operator | None = None,
    ) -> Any:
        self.check_writable(out)
        how = "none" if operator is None else SCATTERS[operator.name]
        inputs = self.read(out), self.read(index), self.read(source)
        value = self.graph.add("ScatterElements", *inputs, axis=dim, reduction=how)
        call.run()
        self.write(out, value)

    def _copy(self, call: Call, source: TensorData, out: Any) -> Any:
        value = self.graph.cast(self.read(source), source.layout.dtype, out.dtype)
        if isinstance(out, Layout):
            return self._new(call, value)
        self.check_writable(out)
        result = call.run()
        self.write(out, value)
        return result

    def _concatenate(self, call: Call, parts: Sequence[TensorData], dim: int) -> Any:
        return self._new(call, self.graph.add("Concat", *map(self.read, parts), axis=dim))

    def _full(self, call: Call, shape: Shape, dtype: DType, value: Any = 0) -> Any:
        type_of(dtype)
        with np.errstate(over="ignore"):
            number = self.graph.constant(np.asarray(value).astype(dtype.numpy))
        expanded = self.graph.add("Expand", number, self.graph.vector(shape)) if shape else number
        return self._new(call, expanded)

    def _from_host(self, call: Call, array: Any) -> Any:
        return self._new(call, self.graph.constant(np.array(array)))

    def _random(self, call: Call, *arguments: Any, **options: Any) -> NoReturn:
        self.refuse("draws random numbers, as dropout() in training mode does")

    def _checked_indices(
        self, call: Call, index: TensorData, size: int, where: Any, negative: bool = False
    ) -> Any:
        value = self.graph.cast(self.read(index), index.layout.dtype, int64)
        if negative:
            zero, length = self.graph.constant(np.int64(0)), self.graph.vector((size,))
            is_negative = self.graph.add("Less", value, zero)
            value = self.graph.add(
                "Where", is_negative, self.graph.add("Add", value, length), value
            )
        result = call.run()  # it may be the argument itself
        with self.paused():
            result = call.backend.copy(result, row_major(result.shape, int64))
        self._record_value(result, value)
        return result

    def _new(self, call: Call, name: str) -> Any:
        """Run a call that returns a new view, and record that the view contains a value."""
        data = call.run()
        self._record_value(data, name)
        return data


METHODS: dict[str, Callable[..., Any]] = {
    "reduce": GraphTape._reduce,
    "matmul": GraphTape._matmul,
    "gather": GraphTape._gather,
    "scatter": GraphTape._scatter,
    "copy": GraphTape._copy,
    "concatenate": GraphTape._concatenate,
    "full": GraphTape._full,
    "empty": GraphTape._full,
    "from_host": GraphTape._from_host,
    "random": GraphTape._random,
    "checked_indices": GraphTape._checked_indices,
}
"""The method that records each method of a backend."""

REDUCTIONS = {
    "add": "ReduceSum",
    "mul": "ReduceProd",
    "maximum": "ReduceMax",
    "minimum": "ReduceMin",
    "logical_or": "ReduceMax",
    "logical_and": "ReduceMin",
}
"""ONNX's operators of reductions."""

SCATTERS = {"add": "add", "mul": "mul", "maximum": "max", "minimum": "min"}
"""The names of reductions in ScatterElements."""
