"""The drawing page: drawings become inputs of the network, with mouse or finger."""

import math

import numpy as np
import pytest

from play.drawn import DrawingError, as_seen, read_strokes, shares
from play.lenet import Snapshot, Training, validation
from play.testing import Reader, answers

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


def test_digits_that_are_drawn_are_read() -> None:
    told: list[Snapshot] = []
    Training().learn(told.append)
    read = [shares(told[-1].network, as_seen(DIGITS[digit])).argmax() for digit in range(10)]
    assert sum(digit == taken for digit, taken in enumerate(read)) >= 8


@pytest.mark.parametrize("digit", DIGITS)
def test_where_and_how_large_is_all_the_same(digit: int) -> None:
    image = as_seen(DIGITS[digit])
    assert image.shape == (1, 8, 8)
    assert image.dtype == np.float32
    np.testing.assert_allclose(as_seen(moved(DIGITS[digit], 0.4, 0.5)), image, atol=0.1)


def test_the_ink_is_as_much_as_in_the_data() -> None:
    ink = np.mean([as_seen(strokes) for strokes in DIGITS.values()])
    assert ink == pytest.approx(validation()[0].mean(), abs=0.05)


def test_images_of_mnist_have_a_margin() -> None:
    image = as_seen(DIGITS[8], 28)[0]
    assert image.shape == (28, 28)
    assert not image[:4].any()
    assert image[4:6].any()


def test_a_point_is_drawn() -> None:
    image = as_seen([[(0.1, 0.9)]])[0]
    assert image[3:5, 3:5].min() > 0.0
    assert not image[0].any()


@pytest.mark.parametrize("sent", [None, [], [[]], [[], []]])
def test_an_empty_paper_has_no_strokes(sent: object) -> None:
    assert read_strokes(sent) == []


@pytest.mark.parametrize(
    ("sent", "said"),
    [
        (5, "not a drawing"),
        ("12", "not a drawing"),
        ([[[1]]], "not a drawing"),
        ([[["a", "b"]]], "not a drawing"),
        ([[[0.5, math.nan]]], "not finite"),
        ([[[0.5, 0.5]] * 10_001], "at most 10,000 points"),
    ],
)
def test_an_invalid_drawing_is_an_error(sent: object, said: str) -> None:
    with pytest.raises(DrawingError, match=said):
        read_strokes(sent)


def test_points_outside_of_the_paper_are_moved_to_its_edge() -> None:
    assert read_strokes([[[-3, 0.5], [2, 1e30]]]) == [[(0.0, 0.5), (1.0, 1.0)]]


def draw(reader: Reader, strokes: list[Points]) -> None:
    """Draw with a finger."""
    for stroke in strokes:
        reader.draw("paper to draw on", stroke)


def test_a_reader_draws_on_a_phone_and_the_network_answers(reader: Reader) -> None:
    reader.page.resize(390, 844)
    reader.open("draw")
    reader.sees("press Learn to train one")
    draw(reader, DIGITS[1])
    reader.sees("Input of the network: 8 x 8 pixels")
    reader.press("Learn")
    reader.sees("Validation accuracy after")
    reader.sees("Prediction: 1")
    reader.press("Clear the paper")
    reader.sees("The paper is empty")
    draw(reader, DIGITS[0])
    reader.sees("Prediction: 0")
    reader.press("saved by mt-train")
    reader.write("folder of the training", "/nowhere")
    reader.sees("/nowhere is not the folder of a training")
    reader.write("folder of the training", " ")
    reader.sees("the folder is empty")
    reader.write("folder of the training", "~unknown-here/runs")
    reader.sees("~unknown-here/runs has an unknown home directory")
    assert answers(reader.address)
