"""`grad`: return derivatives instead of storing them in the inputs."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from mt_autodiff.core.backpropagation import derivatives
from mt_autodiff.core.errors import NoGradientError
from mt_autodiff.core.mode import set_grad_enabled
from mt_autodiff.core.scalar import Scalar, as_scalar, constant


def grad(
    output: Scalar,
    inputs: Scalar | Sequence[Scalar],
    create_graph: bool = False,
    allow_unused: bool = False,
) -> tuple[Scalar, ...]:
    """Return the derivatives of `output` with respect to `inputs`, without storing them.

    The graph is kept. With `create_graph` the results can be differentiated again.

    Args:
        output: the result.
        inputs: leaves or intermediate results.
        create_graph: whether to record the derivatives, for higher derivatives.
        allow_unused: whether to return 0 for an input that the output does not depend on.

    Returns:
        One constant Scalar for each input; recorded ones with `create_graph`.

    Raises:
        TypeError: `output` or an input is not a Scalar.
        NoGradientError: `output` or an input is a constant, or, without `allow_unused`, the output
            does not depend on an input.
        GraphFreedError: the graph was freed by an earlier `backward`.
    """
    inputs = (inputs,) if isinstance(inputs, Scalar) else tuple(inputs)
    for scalar in (output, *inputs):
        if not isinstance(scalar, Scalar):
            raise TypeError(f"grad() takes Scalars; {scalar!r} was given.")
        scalar.check_recorded()
    start: Any = constant(1.0) if create_graph else 1.0
    with set_grad_enabled(create_graph):
        found = derivatives(output, start, retain_graph=True, inputs=set(inputs))
    for scalar in inputs:
        if scalar not in found and not allow_unused:
            raise NoGradientError(
                f"{output!r} was not computed from {scalar!r}. Pass allow_unused=True to get a "
                "derivative of 0."
            )
    return tuple(as_scalar(found.get(scalar, 0.0)) for scalar in inputs)
