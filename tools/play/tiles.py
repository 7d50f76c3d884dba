"""Show arrays as a grid of small images.

Signed numbers are blue above 0 and orange below; unsigned ones are ink on paper. Numbers that are
not finite are red.
"""

from __future__ import annotations

import base64
import io
from collections.abc import Sequence
from html import escape

import numpy as np
from PIL import Image

from mt_tensor.extending import Array

ABOVE, BELOW = (0x3B, 0x82, 0xC4), (0xD1, 0x62, 0x2B)
NEITHER = (0xD0, 0x21, 0x2B)
INK = {False: (0x1D, 0x1F, 0x23), True: (0xE4, 0xE2, 0xDC)}
"""The color of unsigned numbers, on light and dark pages."""


def tiles(
    images: Array,
    captions: Sequence[str] = (),
    *,
    dark: bool,
    width: int = 64,
    signed: bool = False,
    name: str = "image",
) -> str:
    """Return images as HTML, row by row.

    Args:
        images: of shape `(images, height, width)`; the largest absolute value has the full color.
        captions: the captions; there may be fewer than images.
        dark: whether the page is dark.
        width: the width of each image, in pixels.
        signed: whether negative numbers have a separate color.
        name: the alternative text of each image, to which its number is added.
    """
    finite = np.abs(images[np.isfinite(images)])
    reach = float(finite.max()) if finite.size else 0.0
    figures = []
    for index, image in enumerate(images):
        caption = captions[index] if index < len(captions) else ""
        figures.append(
            f'<figure><img alt="{escape(name)} {index + 1}" width="{width}" '
            f'src="data:image/png;base64,{_png(image, reach or 1.0, signed, dark)}">'
            + (f"<figcaption>{escape(caption)}</figcaption>" if caption else "")
            + "</figure>"
        )
    return f'<div class="mt-tiles">{"".join(figures)}</div>'


def _png(image: Array, reach: float, signed: bool, dark: bool) -> str:
    """Return an image as PNG in base 64; a larger number has a stronger color."""
    known = np.isfinite(image)
    numbers = np.where(known, image, 0.0)
    pixels = np.empty((*image.shape, 4), np.uint8)
    if signed:
        pixels[..., :3] = np.where((numbers > 0.0)[..., None], ABOVE, BELOW)
    else:
        pixels[..., :3] = INK[dark]
    pixels[~known, :3] = NEITHER
    strength = np.clip(numbers if not signed else np.abs(numbers), 0.0, reach) / reach
    pixels[..., 3] = np.where(known, 255.0 * strength, 255.0)
    content = io.BytesIO()
    Image.fromarray(pixels).save(content, "PNG")
    return base64.b64encode(content.getvalue()).decode()
