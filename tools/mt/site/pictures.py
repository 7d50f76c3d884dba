"""Take screenshots of the site for the README.

hatch run python -m mt.site.pictures build/site docs/site
"""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import Literal

from PIL import Image

from mt.errors import reported
from mt.site.browser import page

SIZE = 1400, 1000
COLOURS = 64
"""Enough colors for text, at a third of the file size."""

PICTURES: tuple[tuple[str, str, Literal["light", "dark"]], ...] = (
    ("stages", "index.html", "light"),
    ("autodiff", "diff-operators-autodiff.html", "light"),
    ("order", "concept-topological-sort.html", "light"),
    ("broadcasting", "concept-broadcast.html#tensor", "dark"),
    ("kernel", "concept-sum.html#cuda", "dark"),
)
"""For each picture its name, the page (and section), and the color scheme."""


def main() -> int:
    """Take all screenshots of an existing site."""
    parser = argparse.ArgumentParser(prog="python -m mt.site.pictures", description=__doc__)
    parser.add_argument("site", type=Path, help="the folder of the site")
    parser.add_argument("out", type=Path, help="the folder of the pictures")
    options = parser.parse_args()
    options.out.mkdir(parents=True, exist_ok=True)
    with reported("site"), page() as shown:
        for name, path, scheme in PICTURES:
            shown.resize(*SIZE)
            shown.prefer(scheme)
            shown.open(f"{options.site.resolve().as_uri()}/{path}")
            file = options.out / f"{name}.png"
            shown.picture(file)
            Image.open(file).quantize(COLOURS).save(file, optimize=True)
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
