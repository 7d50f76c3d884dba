"""The derivative of c by a in `b = a + a; c = b + b`, which is 4; `naive` visits b too early."""

from typing import Any

A = 1.5


def autodiff() -> tuple[Any, Any]:
    from mt_autodiff import Scalar

    a = Scalar(A)
    b = a + a
    c = b + b
    c.backward()
    return c, a.grad


def tensor() -> tuple[Any, Any]:
    import mt_tensor as mt

    a = mt.tensor(A, requires_grad=True)
    b = a + a
    c = b + b
    c.backward()
    return c, a.grad


def naive() -> tuple[Any, Any]:
    """Go on from a variable as soon as it has a share of its derivative, and not again."""
    from mt_autodiff import Scalar

    a = Scalar(A)
    b = a + a
    c = b + b
    derivatives: dict[Any, float] = {c: 1.0}
    visited: set[Any] = set()

    def visit(variable: Any) -> None:
        visited.add(variable)
        for parent, share in variable.chain_rule(derivatives[variable]):
            derivatives[parent] = derivatives.get(parent, 0.0) + share
            if parent not in visited:
                visit(parent)

    visit(c)
    return c, derivatives[a]


def reference() -> tuple[Any, Any]:
    return 4.0 * A, 4.0
