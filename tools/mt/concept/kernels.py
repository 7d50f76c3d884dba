"""Kernels that backends write while they run, as text: asked of the packages, without a GPU."""

from __future__ import annotations

from mt.concept.maps import GeneratedKernel


def kernel_text(column: str, kernel: GeneratedKernel) -> str:
    """Return the text of a kernel that a backend generates, or why there is none to be seen.

    Args:
        column: the backend, `fast` or `cuda`.
        kernel: which one.
    """
    try:
        if column == "fast":
            import mt_fast
            from mt_operators import OPERATORS

            wanted = (True,) * OPERATORS[kernel.operator].arity if kernel.gradient else None
            return mt_fast.source(kernel.operator, gradient=wanted, layout=kernel.layout)
        import mt_cuda

        return mt_cuda.source(kernel.operator, layout=kernel.layout, gradient=kernel.gradient)
    except ImportError as error:
        return f"# not installed here: {error}"
