"""The networks of the jobs of `mt-train`, in either library.

The project has torch's names. So torch's networks are made from the same source, in which these
names are those of torch.
"""

from __future__ import annotations

import ast
import inspect
from types import FunctionType, SimpleNamespace
from typing import Any

from mt.bench.libraries import Library
from mt_nn.core import lenet
from mt_nn.jobs.job import Job
from mt_nn.train import networks


def networks_of(side: Library) -> Any:
    """Return the module of networks, or its equivalent for torch."""
    return SimpleNamespace(**_names(side)) if side.is_torch else networks


def network_of(job: Job, side: Library) -> Any:
    """Return the randomly initialized network of a job."""
    if not side.is_torch:
        return job.network()
    make: Any = type(job).network
    return FunctionType(make.__code__, make.__globals__ | _names(side))(job)


def _names(side: Library) -> dict[str, Any]:
    """Return the names of torch that networks use, and the classes of networks made with them."""
    nn = SimpleNamespace(**vars(side.nn))
    nn.TransformerEncoder = _encoder(side)
    nn.LearnedPositions = _learned_positions(side)
    names: dict[str, Any] = vars(side.tensors) | vars(side.functional) | vars(nn) | {"nn": nn}
    for module in (lenet, networks):
        names["__name__"] = module.__name__
        exec(_without_imports(inspect.getsource(module)), names)
    names["causal_mask"] = lambda tokens: nn.Transformer.generate_square_subsequent_mask(
        len(tokens)
    )
    return names


def _without_imports(source: str) -> Any:
    """Compile a module without its imports of the project."""
    tree = ast.parse(source)
    tree.body = [
        node
        for node in tree.body
        if not (isinstance(node, ast.Import | ast.ImportFrom) and "mt_" in ast.unparse(node))
    ]
    return compile(tree, "<networks>", "exec")


def _learned_positions(side: Library) -> Any:
    """Return the project's layer of this name, which torch does not have, for dimension 0."""

    class LearnedPositions(side.nn.Module):  # type: ignore[misc, name-defined]
        def __init__(self, steps: int, features: int, dim: int) -> None:
            super().__init__()
            self.weight = side.nn.Parameter(0.02 * side.tensors.randn(steps, features))

        def forward(self, x: Any, offset: int) -> Any:
            return x + self.weight[offset : offset + len(x)].unsqueeze(1)

    return LearnedPositions


def _encoder(side: Library) -> Any:
    """Return torch's encoder with a `cache` argument, which training does not use."""

    class TransformerEncoder(side.nn.TransformerEncoder):  # type: ignore[misc, name-defined]
        def __init__(self, *arguments: Any) -> None:
            super().__init__(*arguments, enable_nested_tensor=False)

        def forward(self, x: Any, mask: Any, is_causal: bool, cache: None) -> Any:
            return super().forward(x, mask, is_causal=is_causal)

    return TransformerEncoder
