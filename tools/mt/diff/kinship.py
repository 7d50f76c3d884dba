"""Which functions of two stages can be versions of each other.

A common name alone says little: every layer has a `forward`, and every class an `__init__`. It says
enough of what a program calls by it, as `tensor_map`. Otherwise both must stand in places that
answer each other: in classes or modules of one name, in two backends, whose classes end in `Ops`,
or in classes that `KIN` names.
"""

from __future__ import annotations

from mt.diff.functions import Function

KIN = {
    ("History", "Node"),
    ("LiftedOperator", "ElementwiseOperation"),
    ("Scalar", "Node"),
    ("Scalar", "Tensor"),
    ("ScalarFunction", "Function"),
    ("_Switch", "use_backend"),
}
"""Classes of a stage and of a later one that do the same for different values."""

STRANGERS = {
    "mt_cuda.simulator.Program.__init__",
    "mt_fast.generation.rendering.constant",
    "mt_fast.generation.spelling.tile",
    "mt_fast.memory.empty_like",
    "mt_fast.library.vector_math.exponentials.scaled",
    "mt_nn.library.train.history.History.__init__",
    "mt_tensor.library.indexing.finding.where",
    "mt_tensor.library.movement.splitting.split",
    "mt_tensor.library.products.vectors.trace",
}
"""Functions that share a name with one of an earlier stage, and nothing else."""

VERSIONS = {("mt_tensor.backends.simple.tensor_reduce", "mt_fast.course.tensor_reduce")}
"""Functions that are versions of each other, though few of their words are the same."""


def are_kin(before: Function, after: Function) -> bool:
    """Return whether two functions of one name stand in places that answer each other."""
    if bool(before.owner) != bool(after.owner) or after.name in STRANGERS:
        return False
    if not before.owner:
        return after.short != "main" and (_is_public(after) or _last(before) == _last(after))
    return (
        before.owner.strip("_") == after.owner.strip("_")
        or (before.owner, after.owner) in KIN
        or (before.owner.endswith("Ops") and after.owner.endswith("Ops"))
    )


def _is_public(function: Function) -> bool:
    return not function.short.startswith("_")


def _last(function: Function) -> str:
    return function.module.name.rpartition(".")[2]
