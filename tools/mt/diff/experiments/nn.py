"""A convolution of eight images with eight filters, and the gradient of the filters.

With tensors alone, a convolution is written as it is defined: for each position, the window times
the filters. That is a thousand small operations, each recorded. The stage has one operation, which
is composed of a few large ones, and which a backend may replace by its own kernel.
"""

import time
from typing import Any

CHANNELS, PIXELS, WIDTH = 8, 32, 3


def tensors() -> tuple[Any, Any]:
    """Return images and filters."""
    import mt_tensor as mt

    mt.manual_seed(0)
    images = mt.randn(8, CHANNELS, PIXELS, PIXELS)
    return images, mt.randn(CHANNELS, CHANNELS, WIDTH, WIDTH, requires_grad=True)


def report(filters: Any, start: float) -> None:
    """Print the time, and an element of the gradient."""
    seconds = time.perf_counter() - start
    slope = filters.grad.flatten()[0].item()
    print(f"{1000 * seconds:,.0f} ms; gradient of the first weight {slope:.3f}")


def before() -> None:
    """Loop over all windows."""
    import mt_tensor as mt

    images, filters = tensors()
    start = time.perf_counter()
    places = range(PIXELS - WIDTH + 1)
    columns = [
        mt.einsum("ncij,fcij->nf", images[:, :, y : y + WIDTH, x : x + WIDTH], filters)
        for y in places
        for x in places
    ]
    mt.stack(columns).square().sum().backward()
    report(filters, start)


def after() -> None:
    """Call the function."""
    import mt_nn as nn

    images, filters = tensors()
    start = time.perf_counter()
    nn.functional.conv2d(images, filters).square().sum().backward()
    report(filters, start)
