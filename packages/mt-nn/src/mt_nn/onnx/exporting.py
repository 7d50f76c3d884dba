"""`export`: record a network, and write it as an ONNX file."""

from __future__ import annotations

import inspect
import io
import os
from collections.abc import Mapping, Sequence
from typing import Any

import mt_nn
from mt_nn.errors import ExportError, InputError, packages_needed
from mt_nn.files.writing import write_atomically
from mt_nn.onnx.batch import SIZES, merge
from mt_nn.onnx.graph import Graph, Node, Value, simplify, type_of
from mt_nn.onnx.tape import GraphTape
from mt_nn.utils.modes import evaluation
from mt_operators import Module
from mt_tensor import Tensor
from mt_tensor.backends.extending import leaves_in, map_leaves

OPSET = 18
"""The default version of ONNX's operators, and the oldest supported one."""


def export(
    model: Module,
    args: Any = (),
    f: str | os.PathLike[str] | io.IOBase | None = None,
    *,
    kwargs: Mapping[str, Any] | None = None,
    input_names: Sequence[str] | None = None,
    output_names: Sequence[str] | None = None,
    opset_version: int | None = None,
    dynamic_axes: Mapping[str, Any] | None = None,
) -> Any:
    """Write a network as an ONNX file.

    The network runs on example arguments, in evaluation mode, and its operations are recorded.
    Conditions in Python, and values other than tensors, are fixed as they were for these arguments.
    Parameters and buffers keep their names.

    Args:
        model: the network.
        args: the arguments: a tensor, or a tuple of tensors, containers of tensors, and values.
        f: the path of the file, or an open binary file; None to write no file.
        kwargs: keyword arguments.
        input_names: names of the tensors among the arguments, in order; by default, those of the
            parameters of `forward`.
        output_names: names of the resulting tensors; by default `output`, or `output_0` and so on.
        opset_version: the version of ONNX's operators, at least 18; 18 if None.
        dynamic_axes: for names of arguments, the first dimension with a name, as in
            `{"input": {0: "batch"}}`; files for these accept batches of any size. Only the first
            dimension can be dynamic. Names of results may occur, too.

    Returns:
        The model, an `onnx.ModelProto`.

    Raises:
        ExportError: an operation of the network cannot be exported; the message names it.
        InputError: an argument is invalid.
        FileError: the file cannot be written.
        MissingPackageError: the package onnx is not installed.
    """
    if not isinstance(model, Module):
        raise InputError(f"export() takes a module; {type(model).__name__} was given.")
    given = args if isinstance(args, tuple) else (args,)
    bound = inspect.signature(model.forward).bind(*given, **(kwargs or {}))
    names = _input_names(bound.arguments, input_names)
    dynamic = _dynamic(dynamic_axes or {}, names)
    if dynamic:
        graphs = [_record(model, bound, names, dynamic, size) for size in SIZES]
        graph = merge(graphs, dynamic)
    else:
        graph = _record(model, bound, names, {}, 0)
    _name_outputs(graph, output_names)
    simplify(graph)
    proto = _proto(graph, type(model).__name__, opset_version or OPSET)
    if isinstance(f, (str, os.PathLike)):
        write_atomically(f, proto.SerializeToString())
    elif f is not None:
        f.write(proto.SerializeToString())
    return proto


def _record(
    model: Module, bound: Any, names: Sequence[str], dynamic: Mapping[str, str], size: int
) -> Graph:
    """Return the graph of a network, with dynamic arguments repeated to a batch size."""
    tensors = [leaf for leaf in leaves_in(bound.arguments) if isinstance(leaf, Tensor)]
    if not tensors:
        raise InputError("export() needs a tensor among the arguments.")
    tape = GraphTape(type(model).__name__, tensors[0].backend)
    left = iter(names)

    def copied(leaf: Any) -> Any:
        if not isinstance(leaf, Tensor):
            return leaf
        name, rows = next(left), leaf.detach()
        if name in dynamic:
            rows = rows[[i % len(rows) for i in range(size)]]
        rows = Tensor._make(
            rows.backend.copy(rows._tensor, rows._tensor.layout.contiguous), rows.backend
        )
        tape.give_argument(name, rows)
        return rows

    arguments = map_leaves(dict(bound.arguments), copied)
    call = inspect.BoundArguments(bound.signature, arguments)
    for name, tensor in model.state_dict().items():
        if isinstance(tensor, Tensor):
            tape.give_parameter(name, tensor)
    with evaluation(model), tape:
        result = model(*call.args, **call.kwargs)
    for leaf in leaves_in(result):
        if isinstance(leaf, Tensor):
            value = Value(tape.read(leaf._tensor), leaf.dtype, leaf.shape)
            tape.graph.outputs.append(value)
    return tape.graph


def _input_names(arguments: Mapping[str, Any], given: Sequence[str] | None) -> list[str]:
    """Return the name of each tensor among the arguments."""
    names = []
    for name, value in arguments.items():
        count = sum(isinstance(leaf, Tensor) for leaf in leaves_in(value))
        names += [name] if isinstance(value, Tensor) else [f"{name}_{i}" for i in range(count)]
    return _named("input_names", given, names)


def _named(setting: str, given: Sequence[str] | None, default: list[str]) -> list[str]:
    """Return the given names, and the default for the rest."""
    names = list(given or ())
    if len(names) > len(default):
        raise InputError(f"export(): {len(names)} {setting} for {len(default)} tensor(s).")
    return names + default[len(names) :]


def _dynamic(axes: Mapping[str, Any], names: Sequence[str]) -> dict[str, str]:
    """Return the arguments whose first dimension is dynamic, and the name of the dimension."""
    found: dict[str, str] = {}
    for name, dims in axes.items():
        labels = dims if isinstance(dims, Mapping) else dict.fromkeys(dims, "batch")
        if set(labels) != {0}:
            raise ExportError(
                f"dynamic_axes: only the first dimension can be dynamic, as in "
                f"{{{name!r}: {{0: 'batch'}}}}; dimensions {sorted(labels)} of {name!r} were given."
            )
        if name in names:
            found[name] = labels[0]
    if axes and not found:
        raise InputError(f"export(): dynamic_axes names none of the arguments, {', '.join(names)}.")
    return found


def _name_outputs(graph: Graph, names: Sequence[str] | None) -> None:
    """Name the results."""
    count = len(graph.outputs)
    default = ["output"] if count == 1 else [f"output_{i}" for i in range(count)]
    for value, name in zip(graph.outputs, _named("output_names", names, default), strict=True):
        graph.nodes.append(Node("Identity", [value.name], name, {}))
        value.name = name


def _proto(graph: Graph, name: str, opset: int) -> Any:
    """Return a graph as an `onnx.ModelProto`."""
    if opset < OPSET:
        raise InputError(f"opset_version must be at least {OPSET}; {opset} was given.")
    with packages_needed("export() needs the package onnx: pip install 'mt-nn[onnx]'."):
        import onnx
        from onnx import helper, numpy_helper
    arrays = {**graph.constants, **graph.vectors}
    initializers = [numpy_helper.from_array(array, name) for name, array in arrays.items()]
    nodes = [
        helper.make_node(node.operation, node.inputs, [node.output], **node.attributes)
        for node in graph.nodes
    ]
    inputs, outputs = (
        [helper.make_tensor_value_info(v.name, type_of(v.dtype), list(v.shape)) for v in values]
        for values in (graph.inputs, graph.outputs)
    )
    imports = [helper.make_opsetid("", opset)]
    proto = helper.make_model(
        helper.make_graph(nodes, name, inputs, outputs, initializers),
        opset_imports=imports,
        ir_version=helper.find_min_ir_version_for(imports),
        producer_name="mt-nn",
        producer_version=mt_nn.__version__,
    )
    onnx.checker.check_model(proto)
    return proto
