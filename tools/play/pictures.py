"""Take screenshots of the playground for its README.

hatch run play:pictures docs/play
"""

from __future__ import annotations

import argparse
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from PIL import Image

from mt.browser import page
from mt.errors import reported
from play.testing import Reader, served, wait_for

DESKTOP, PHONE = (1280, 900), (390, 844)

COLOURS = 96
"""Enough colors, at a third of the file size."""


def _operator(reader: Reader) -> None:
    reader.open("operators?name=gelu")
    reader.sees("gelu(x)")


def _tree(reader: Reader) -> None:
    reader.open("trees")
    reader.choose("parameter", "line2.c")
    reader.slide("line2.c", "ARROW_RIGHT", 6)
    reader.shows("The plane")


def _backwards(reader: Reader) -> None:
    reader.open("expression")
    reader.write("expression", "sigmoid(w * x + b) * (w * x + b)")
    reader.press("Backwards, step by step")
    for done in range(1, 5):
        reader.press("Next step")
        reader.shows(f"after {done} of")


def _learning(data: str) -> Callable[[Reader], None]:
    def act(reader: Reader) -> None:
        reader.open("points")
        reader.choose("data", data)
        reader.press("Start")
        wait_for(lambda: int(reader.metric("epoch") or 0) > 150, "a boundary")
        reader.press("Stop")
        reader.sees("waiting")

    return act


def _view(reader: Reader) -> None:
    reader.open("views")
    reader.slide("index in dimension 0", "ARROW_RIGHT", 2)
    reader.slide("index in dimension 1", "ARROW_RIGHT", 1)
    reader.sees("x[2, 1] is at")


def _backends(reader: Reader) -> None:
    reader.open("backends")
    reader.sees("The code that runs")


def _sharing(reader: Reader) -> None:
    reader.open("sharing")
    reader.choose("operation", "sum")
    reader.sees("The compiled code")


def _simulator(reader: Reader) -> None:
    reader.open("simulator")
    reader.slide("turns done", "ARROW_RIGHT", 12)
    reader.until("document.querySelector('[data-testid=stSkeleton]') === null")


def _lenet(reader: Reader) -> None:
    reader.open("lenet")
    reader.press("Start")
    wait_for(lambda: int(reader.metric("epochs done") or 0) > 6, "seven epochs")
    reader.press("Stop")
    reader.sees("waiting")


def _convolution(reader: Reader) -> None:
    reader.open("convolution")
    reader.slide("position", "ARROW_RIGHT", 15)
    reader.sees("returns")


def _draw(reader: Reader) -> None:
    reader.open("draw")
    reader.draw("paper to draw on", [(0.27, 0.2), (0.73, 0.2), (0.46, 0.85)])
    reader.press("Learn")
    reader.sees("ended")
    reader.sees("Prediction: 7")


def _words(reader: Reader) -> None:
    reader.open("words")
    reader.press("Learn")
    reader.sees("ended")


def _attention(reader: Reader) -> None:
    reader.open("attention")
    reader.press("Learn")
    reader.sees("ended")


@dataclass(frozen=True)
class Picture:
    """A screenshot.

    Attributes:
        name: the name of the file.
        act: the actions before it is taken.
        size: the size of the window.
        scheme: the color scheme.
        scrolled: the scroll position, in pixels.
    """

    name: str
    act: Callable[[Reader], None]
    size: tuple[int, int] = DESKTOP
    scheme: Literal["light", "dark"] = "light"
    scrolled: int = 0


PICTURES = (
    Picture("operators", _operator),
    Picture("trees", _tree, scheme="dark"),
    Picture("backwards", _backwards),
    Picture("points", _learning("circle"), scheme="dark"),
    Picture("views", _view),
    Picture("backends", _backends),
    Picture("sharing", _sharing, scheme="dark"),
    Picture("simulator", _simulator, scheme="dark"),
    Picture("lenet", _lenet, scrolled=220),
    Picture("draw", _draw, scheme="dark"),
    Picture("convolution", _convolution, scrolled=160),
    Picture("words", _words),
    Picture("attention", _attention, scheme="dark", scrolled=180),
    Picture("operators-phone", _operator, PHONE, "dark", 560),
    Picture("backwards-phone", _backwards, PHONE, "light", 600),
    Picture("points-phone", _learning("xor"), PHONE, "light", 620),
    Picture("views-phone", _view, PHONE, "dark", 640),
    Picture("draw-phone", _draw, PHONE, "light", 560),
    Picture("attention-phone", _attention, PHONE, "dark", 640),
)


def main() -> int:
    """Take the screenshots that are named, or all."""
    parser = argparse.ArgumentParser(prog="python -m play.pictures", description=__doc__)
    parser.add_argument("out", type=Path, help="the folder of the pictures")
    parser.add_argument("names", nargs="*", help="which pictures to take; all if none is named")
    options = parser.parse_args()
    options.out.mkdir(parents=True, exist_ok=True)
    with reported("play"), served() as address, page(scripts=True) as shown:
        for picture in PICTURES:
            if not options.names or picture.name in options.names:
                _take(picture, Reader(shown, address), options.out / f"{picture.name}.png")
    return 0


def _take(picture: Picture, reader: Reader, file: Path) -> None:
    reader.page.resize(*picture.size)
    reader.page.prefer(picture.scheme)
    picture.act(reader)
    reader.page.value("document.activeElement.blur()")
    reader.page.value(f"document.querySelector('#stMain').scrollTo(0, {picture.scrolled})")
    reader.settle()
    reader.page.picture(file)
    Image.open(file).convert("RGB").quantize(COLOURS).save(file, optimize=True)


if __name__ == "__main__":
    raise SystemExit(main())
