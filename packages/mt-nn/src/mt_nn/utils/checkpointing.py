"""Gradient checkpointing: keep the arguments of a function, and not its intermediate results.

They are computed again in the backward pass (Chen et al., Training Deep Nets with Sublinear Memory
Cost, 2016).
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from mt_tensor import Function, Tensor, enable_grad, get_rng_state, set_rng_state, zeros
from mt_tensor.autograd import backward
from mt_tensor.extending import fork_rng


class _Recomputed(Function):
    """The result of a function, which `backward` computes again."""

    @staticmethod
    def forward(ctx: Any, _: Tensor, run: Callable[..., Any], *args: Any) -> Any:
        ctx.run, ctx.state = run, get_rng_state()
        ctx.save_for_backward(*args)
        return run(*args)

    @staticmethod
    def backward(ctx: Any, *grads: Any) -> Any:
        args = [x.detach() if isinstance(x, Tensor) else x for x in ctx.saved_tensors]
        for x, needed in zip(args, ctx.needs_input_grad[2:], strict=True):
            if needed:
                x.requires_grad_()
        with enable_grad(), fork_rng():
            set_rng_state(ctx.state)
            results = ctx.run(*args)
        pairs = zip(results if isinstance(results, tuple) else (results,), grads, strict=True)
        differentiable = [pair for pair in pairs if pair[0].requires_grad]
        backward([result for result, _ in differentiable], [grad for _, grad in differentiable])
        return None, None, *[x.grad if isinstance(x, Tensor) else None for x in args]


def checkpoint(
    function: Callable[..., Any], *args: Any, use_reentrant: bool | None = None, **kwargs: Any
) -> Any:
    """Call a function, whose intermediate results are computed again in `backward()`.

    Parameters that it uses get their gradients from `backward()`, not from `autograd.grad`. It gets
    the same random numbers of the default generator again.

    Args:
        function: returns a tensor, or a tuple of tensors.
        *args: its positional arguments; tensors among them may require grad.
        use_reentrant: has no effect.
        **kwargs: its keyword arguments, which get no gradients.
    """
    del use_reentrant

    def run(*arguments: Any) -> Any:
        return function(*arguments, **kwargs)

    return _Recomputed.apply(zeros(0, requires_grad=True), run, *args)
