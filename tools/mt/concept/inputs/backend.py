"""A product of two matrices, the sine of its elements, and their sum: three of the primitives.

One matrix is the transpose of the other, so that no loop can rely on adjacent elements. The sum
comes first, and then the sines. The last value is a softmax: a named operation, for which some
backends have a kernel.
"""

from typing import Any

A = [[1.0, -0.5], [0.25, 2.0]]


def tensor() -> tuple[Any, Any]:
    import mt_tensor as mt
    from mt_operators.core.elementary import sin
    from mt_tensor.course import TensorOps

    a = mt.tensor(A, requires_grad=True)
    product = a @ a.T
    out = product.sin().sum()
    out.backward()
    mapped = TensorOps().map(sin)(product.T)
    return [out, mapped, a.softmax(1)], a.grad


def reference() -> tuple[Any, Any]:
    import numpy as np

    a = np.array(A)
    product = a @ a.T
    powers = np.exp(a)
    out = [np.sin(product).sum(), np.sin(product), powers / powers.sum(1, keepdims=True)]
    return out, 2.0 * np.cos(product) @ a
