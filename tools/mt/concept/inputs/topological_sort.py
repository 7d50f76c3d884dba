"""The derivative of c by a in `b = a + a; c = b + b`, and that after 14 such steps instead of two.

For a = 1.5, c is 6 and its derivative 4; after 14 steps, the derivative is 2 to the power 14.
"""

from typing import Any

from mt.concept.gradients import of_scalars, of_tensors

A = 1.5
STEPS = (2, 14)


def doubled(a: Any, steps: int) -> Any:
    for _ in range(steps):
        a = a + a
    return a


def each_doubled(*leaves: Any) -> list[Any]:
    return [doubled(leaf, steps) for leaf, steps in zip(leaves, STEPS, strict=True)]


def autodiff() -> tuple[Any, Any]:
    return of_scalars(each_doubled, A, A)


def tensor() -> tuple[Any, Any]:
    return of_tensors(each_doubled, A, A)


def traversed(traverse: Any) -> tuple[Any, Any]:
    """Return values and derivatives, found by a traversal from each result."""
    from mt_autodiff import Scalar

    leaves = [Scalar(A) for _ in STEPS]
    values = each_doubled(*leaves)
    return values, [traverse(value)[leaf] for value, leaf in zip(values, leaves, strict=True)]


def on_first_contribution(result: Any) -> dict[Any, float]:
    """Continue from a variable after the first contribution to its derivative, and not again."""
    derivatives = {result: 1.0}
    visited = set()

    def visit(variable: Any) -> None:
        visited.add(variable)
        for parent, contribution in variable.chain_rule(derivatives[variable]):
            derivatives[parent] = derivatives.get(parent, 0.0) + contribution
            if parent not in visited:
                visit(parent)

    visit(result)
    return derivatives


def naive() -> tuple[Any, Any]:
    return traversed(on_first_contribution)


def on_every_contribution(result: Any) -> dict[Any, float]:
    """Continue from a variable after each contribution to its derivative."""
    derivatives: dict[Any, float] = {}

    def visit(variable: Any, contribution: float) -> None:
        derivatives[variable] = derivatives.get(variable, 0.0) + contribution
        for parent, passed_on in variable.chain_rule(contribution):
            visit(parent, passed_on)

    visit(result, 1.0)
    return derivatives


def every_path() -> tuple[Any, Any]:
    return traversed(on_every_contribution)


def reference() -> tuple[Any, Any]:
    return [A * 2.0**steps for steps in STEPS], [2.0**steps for steps in STEPS]
