"""`summary`: the layers of a network, with shapes, parameters and multiply-adds."""

from __future__ import annotations

import copy
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

from mt_nn.core.settings import integer
from mt_nn.errors import SettingError
from mt_operators import Module
from mt_tensor import Generator, Tensor, get_rng_state, no_grad, zeros
from mt_tensor.backends.extending import leaves_in
from mt_tensor.extending import Call, Shape, Tape, use_generator


@dataclass
class LayerSummary:
    """A layer of a network, without its child layers.

    Attributes:
        name: its dotted name; empty for the network itself.
        kind: its class.
        depth: its depth in the tree of modules.
        parameters: number of elements of its parameters, without those of earlier layers.
        trainable: number of these elements that require grad.
        calls: number of calls.
        output_shapes: the shapes of the tensors that the last call returned.
        multiply_adds: number of multiply-adds of its matrix products and convolutions, in all
            calls.
    """

    name: str
    kind: str
    depth: int
    parameters: int
    trainable: int
    calls: int = 0
    output_shapes: list[Shape] = field(default_factory=list)
    multiply_adds: int = 0


@dataclass
class Summary:
    """The layers of a network; `print` shows them as a table.

    Attributes:
        layers: the network itself, and all layers below it, each once.
    """

    layers: list[LayerSummary]

    @property
    def parameters(self) -> int:
        """Number of elements of all parameters."""
        return sum(layer.parameters for layer in self.layers)

    @property
    def trainable(self) -> int:
        """Number of elements of all parameters that require grad."""
        return sum(layer.trainable for layer in self.layers)

    @property
    def multiply_adds(self) -> int:
        """Number of multiply-adds of all layers."""
        return sum(layer.multiply_adds for layer in self.layers)

    def __str__(self) -> str:
        """Return a table with a row for each layer, and the totals."""
        titles = ("layer", "output shape", "parameters", "multiply-adds", "calls")
        rows = [titles, *(_cells(layer) for layer in self.layers)]
        totals = [
            f"parameters: {self.parameters:,}, of which {self.trainable:,} are trained",
            f"multiply-adds: {self.multiply_adds:,}",
        ]
        widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
        adjusted = [str.ljust] * 2 + [str.rjust] * 3
        lines = []
        for row in rows:
            cells = [
                f(*cell) for f, cell in zip(adjusted, zip(row, widths, strict=True), strict=True)
            ]
            lines.append("  ".join(cells).rstrip())
        rule = "-" * max(map(len, lines))
        return "\n".join([lines[0], rule, *lines[1:], rule, *totals])


def _cells(layer: LayerSummary) -> tuple[str, ...]:
    short = layer.name.rpartition(".")[2]
    title = f"{short}: {layer.kind}" if short else layer.kind
    return (
        "  " * layer.depth + title,
        ", ".join(map(str, layer.output_shapes)),
        f"{layer.parameters:,}" if layer.parameters else "",
        f"{layer.multiply_adds:,}" if layer.multiply_adds else "",
        str(layer.calls) if layer.calls else "",
    )


def summary(model: Module, *inputs: Any) -> Summary:
    """Return a summary of the layers of a network, and of the cost of one call.

    A copy of the network is called once in evaluation mode, without recording. The network and the
    random generator are not changed.

        print(nn.summary(model, (1, 3, 32, 32)))

    Args:
        model: the network.
        *inputs: the arguments: tensors, or shapes for zeros with the dtype and backend of the
            parameters. Without any, the network is not called, and only parameters are counted.

    Raises:
        SettingError: `model` is not a module, or an input is neither a tensor nor a shape.
        Exception: any error of the network for these inputs.
    """
    if not isinstance(model, Module):
        raise SettingError(f"summary() takes a module; {type(model).__name__} was given.")
    network = copy.deepcopy(model)
    layers = _layers(network)
    given = [_input(network, each) for each in inputs]
    if given:
        active: list[LayerSummary] = []
        for module, layer in layers:
            vars(module)["forward"] = _recording(module.forward, layer, active)
        network.eval()
        generator = Generator()
        generator.set_state(get_rng_state())
        with no_grad(), use_generator(generator), Products(active):
            network(*given)
    return Summary([layer for _, layer in layers])


def _layers(model: Module) -> list[tuple[Module, LayerSummary]]:
    """Return all modules with their summaries before the call."""
    seen: set[int] = set()
    found = []
    for name, module in model.named_modules():
        direct_parameters = [p.value for p in module.parameters(recurse=False) if id(p) not in seen]
        seen.update(map(id, module.parameters(recurse=False)))
        layer = LayerSummary(
            name,
            type(module).__name__,
            depth=name.count(".") + 1 if name else 0,
            parameters=sum(value.numel() for value in direct_parameters),
            trainable=sum(value.numel() for value in direct_parameters if value.requires_grad),
        )
        found.append((module, layer))
    return found


def _input(model: Module, given: Any) -> Any:
    """Return an argument of the network: zeros for a shape, and tensors unchanged."""
    if isinstance(given, (tuple, list)) and all(type(size) is int for size in given):
        shape = [integer("a size of an input", size, 0) for size in given]
        like = next((p.value for p in model.parameters() if p.value.is_floating_point()), None)
        return zeros(*shape) if like is None else like.new_zeros(*shape)
    if not _tensors(given):
        raise SettingError(
            f"summary() takes tensors, or shapes as in (1, 3, 32, 32); got {given!r}."
        )
    return given


def _tensors(value: Any) -> list[Tensor]:
    """Return the tensors in nested lists, tuples and dictionaries."""
    return [leaf for leaf in leaves_in(value) if isinstance(leaf, Tensor)]


def _recording(
    forward: Callable[..., Any], layer: LayerSummary, active: list[LayerSummary]
) -> Callable[..., Any]:
    def recorded(*args: Any, **kwargs: Any) -> Any:
        active.append(layer)
        try:
            result = forward(*args, **kwargs)
        finally:
            active.pop()
        layer.calls += 1
        layer.output_shapes = [each.shape for each in _tensors(result)]
        return result

    return recorded


class Products(Tape):
    """Count the multiply-adds of matrix products, for the innermost layer.

    Lookups of kernels return None, so that convolution, attention and others are composed of matrix
    products.
    """

    def __init__(self, active: Sequence[LayerSummary]) -> None:
        super().__init__()
        self.active = active

    def handle(self, call: Call) -> Any:
        """Count the multiply-adds of a matrix product."""
        if call.name == "kernel":
            return None
        result = call.run()
        if call.name == "matmul" and self.active:
            self.active[-1].multiply_adds += result.layout.size * call.arguments[0].shape[-1]
        return result
