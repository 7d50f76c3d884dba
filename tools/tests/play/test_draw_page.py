"""The drawing page: drawings become inputs of the network, with mouse or finger."""

import math
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from mt.browser import Page
from play.drawn import as_seen, read_strokes, shares
from play.lenet import Snapshot, Training, validation

Points = list[tuple[float, float]]


def arc(x: float, y: float, across: float, down: float, begin: float, end: float) -> Points:
    """Return points on an ellipse; angles in degrees, clockwise from the right."""
    angles = np.radians(np.linspace(begin, end, 25)).tolist()
    return [(x + across * math.cos(each), y + down * math.sin(each)) for each in angles]


DIGITS: dict[int, list[Points]] = {
    0: [arc(0.5, 0.5, 0.22, 0.35, -90, 270)],
    1: [[(0.4, 0.3), (0.52, 0.15), (0.52, 0.85)]],
    2: [[*arc(0.5, 0.33, 0.2, 0.18, 180, 380), (0.3, 0.85), (0.72, 0.85)]],
    3: [[*arc(0.48, 0.32, 0.19, 0.17, 200, 450), *arc(0.48, 0.67, 0.22, 0.18, -90, 160)]],
    4: [[(0.55, 0.15), (0.25, 0.6), (0.75, 0.6)], [(0.6, 0.4), (0.6, 0.88)]],
    5: [[(0.7, 0.15), (0.36, 0.15), (0.34, 0.45), *arc(0.48, 0.63, 0.22, 0.21, -120, 140)]],
    6: [[(0.62, 0.12), (0.42, 0.4)], arc(0.5, 0.66, 0.19, 0.2, -170, 190)],
    7: [[(0.28, 0.15), (0.72, 0.15), (0.45, 0.88)]],
    8: [arc(0.5, 0.32, 0.16, 0.17, 90, 450), arc(0.5, 0.68, 0.2, 0.19, -90, 270)],
    9: [[*arc(0.5, 0.34, 0.18, 0.18, 0, 360), (0.68, 0.34), (0.64, 0.6), (0.5, 0.88)]],
}


def moved(strokes: list[Points], size: float, by: float) -> list[Points]:
    return [[(size * x + by, size * y + by) for x, y in stroke] for stroke in strokes]


def test_trained_network_reads_8_of_10_drawn_digits() -> None:
    snapshots: list[Snapshot] = []
    Training().learn(snapshots.append)
    read = [shares(snapshots[-1].network, as_seen(DIGITS[digit])).argmax() for digit in range(10)]
    assert sum(digit == taken for digit, taken in enumerate(read)) >= 8


@pytest.mark.parametrize("digit", DIGITS)
def test_image_does_not_depend_on_position_and_size_of_the_drawing(digit: int) -> None:
    image = as_seen(DIGITS[digit])
    assert image.shape == (1, 8, 8)
    assert image.dtype == np.float32
    np.testing.assert_allclose(as_seen(moved(DIGITS[digit], 0.4, 0.5)), image, atol=0.1)


def test_mean_ink_of_drawings_matches_the_data() -> None:
    ink = np.mean([as_seen(strokes) for strokes in DIGITS.values()])
    assert ink == pytest.approx(validation()[0].mean(), abs=0.05)


def test_image_of_28_pixels_has_a_margin_of_4() -> None:
    image = as_seen(DIGITS[8], 28)[0]
    assert image.shape == (28, 28)
    assert not image[:4].any()
    assert image[4:6].any()


def test_single_point_is_drawn_in_the_center() -> None:
    image = as_seen([[(0.1, 0.9)]])[0]
    assert image[3:5, 3:5].min() > 0.0
    assert not image[0].any()


@pytest.mark.parametrize("sent", [None, [], [[]], [[], []]])
def test_empty_paper_has_no_strokes(sent: object) -> None:
    assert read_strokes(sent) == []


def test_points_outside_the_paper_are_moved_to_its_edge() -> None:
    (stroke,) = read_strokes([[[-3, 0.5], [2, 1e30]]])
    assert [tuple(point) for point in stroke] == [(0.0, 0.5), (1.0, 1.0)]


TEXT = "document.querySelector('[data-testid=stMain]').innerText"


def draw(browser: Page, strokes: list[Points]) -> None:
    """Draw with a finger."""
    canvas = "document.querySelector('canvas[aria-label=\\'paper to draw on\\']')"
    browser.until(f"{canvas} !== null")
    browser.value(f"{canvas}.scrollIntoView({{block: 'center'}})")
    left, top, side = browser.value(
        f"(({{left, top, width}}) => [left, top, width])({canvas}.getBoundingClientRect())"
    )
    for stroke in strokes:
        browser.touch([(left + x * side, top + y * side) for x, y in stroke])


def press(browser: Page, label: str) -> None:
    button = f"[...document.querySelectorAll('button')].find(b => b.innerText.trim() === '{label}')"
    browser.until(f"{button} !== undefined")
    browser.value(f"{button}.click()")


def test_drawing_on_a_phone_is_classified_after_training(browser: Page, address: str) -> None:
    browser.resize(390, 844)
    browser.open(f"{address}/draw")
    browser.until(f"{TEXT}.includes('press Learn to train one')")
    draw(browser, DIGITS[1])
    browser.until(f"{TEXT}.includes('Input of the network: 8 x 8 pixels')")
    press(browser, "Learn")
    browser.until(f"{TEXT}.includes('Validation accuracy after')")
    browser.until(f"{TEXT}.includes('Prediction: 1')")
    press(browser, "Clear the paper")
    browser.until(f"{TEXT}.includes('The paper is empty')")
    draw(browser, DIGITS[0])
    browser.until(f"{TEXT}.includes('Prediction: 0')")


def test_page_reports_a_folder_without_a_training(opened: Callable[[str], Any]) -> None:
    page = opened("stage5_draw")
    page.button_group[0].set_value("saved by mt-train").run()
    page.text_input[0].set_value("/nowhere").run()
    assert "nowhere is not the folder of a training" in page.error[0].value.replace("\\", "")
