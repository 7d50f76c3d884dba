"""Pictures of the site for the README: what the answers to a newcomer's questions look like.

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
"""How many colours are enough for text: a third of the size of a file."""

PICTURES: tuple[tuple[str, str, Literal["light", "dark"]], ...] = (
    ("stages", "index.html", "light"),
    ("autodiff", "diff-operators-autodiff.html", "light"),
    ("order", "concept-topological-sort.html", "light"),
    ("broadcasting", "concept-broadcast.html#tensor", "dark"),
    ("kernel", "concept-sum.html#cuda", "dark"),
)
"""For each picture its name, the page (and the place in it), and what the reader's screen is."""


def main() -> int:
    """Take all pictures of a site that was built before."""
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
