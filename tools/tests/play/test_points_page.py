"""The points page shows the boundary of the network, and is responsive during training."""

import math
import re

import numpy as np
import pytest

from mt_autodiff.examples.network import Network
from mt_operators.datasets import DATASETS
from play.learning import Progress, Task
from play.lines import HEIGHT, MOST_POINTS, draw_lines
from play.testing import Reader, answers, wait_for


@pytest.mark.parametrize("hidden", [(), (4,), (3, 2)])
def test_the_boundary_is_that_of_the_network(hidden: tuple[int, ...]) -> None:
    network = Network(hidden=hidden, seed=3)
    task = Task(DATASETS["circle"](20), hidden, 0.1, 1)
    parameters = [parameter.value.data for parameter in network.parameters()]
    x1, x2 = np.array(task.dataset.X).T
    expected = [float(network(point)) for point in task.dataset.X]
    np.testing.assert_allclose(task.scores(parameters, x1, x2), expected, rtol=1e-12)
    scores, classes = task.boundary(parameters, 7)
    assert scores.shape == (7, 7)
    assert classes == [int(score > 0.0) for score in expected]


def test_a_training_reports_every_epoch_and_learns() -> None:
    reports: list[tuple[int, Progress]] = []
    task = Task(DATASETS["simple"](15), (3,), 0.2, 40)
    task.learn(lambda progress: reports.append((len(progress.history), progress)))
    assert [length for length, _ in reports] == list(range(1, 41))
    history = reports[-1][1].history
    assert history[-1].loss < history[0].loss
    assert reports[0][1].parameters != reports[-1][1].parameters
    first = [parameter.value.data for parameter in Network(hidden=(3,)).parameters()]
    assert list(reports[0][1].parameters) == first


def test_a_training_that_diverges_says_so() -> None:
    with pytest.raises(ValueError, match=r"training diverged in epoch \d+"):
        Task(DATASETS["xor"](10), (4,), 1e6, 50).learn(lambda progress: None)


@pytest.mark.parametrize(
    "numbers", [[], [1.0], [0.5, math.nan, 0.25], [-3.0, math.inf, 5e6], [0.0, 0.0], [1e-9, 2e-9]]
)
def test_only_finite_values_are_drawn(numbers: list[float]) -> None:
    picture = draw_lines({"loss": numbers, "right": numbers[:1]})
    finite = sum(map(math.isfinite, numbers))
    lines = re.findall(r'class="line" stroke="#\w+" d="M([^"]+)"', picture)
    assert [len(line.split("L")) for line in lines] == ([finite, 1] if finite else [])
    heights = [float(point.split()[1]) for line in lines for point in line.split("L")]
    assert all(-0.1 <= height <= HEIGHT + 0.1 for height in heights)
    assert 2 <= picture.count('class="ruler"') <= 8


def test_of_many_points_some_are_drawn() -> None:
    picture = draw_lines({"loss": [1.0 / (i + 1) for i in range(5000)]})
    assert picture.count("L") == MOST_POINTS - 1
    assert "loss over 5000 of epoch" in picture


def epoch(reader: Reader) -> int:
    return int(reader.metric("epoch") or 0)


def reaches(reader: Reader, number: int) -> None:
    value = "document.querySelector('[data-testid=stMetricValue]')?.innerText ?? '0'"
    reader.until(f"parseInt({value}) >= {number}")


def test_a_reader_watches_stops_and_resumes_a_training(reader: Reader) -> None:
    reader.open("points")
    reader.sees("Press Start to train")
    empty = reader.picture("The plane")
    reader.choose("data", "simple")
    reader.write("points", "20")
    reader.write("epochs", "2000")
    reader.press("Start")
    reaches(reader, 3)
    wait_for(lambda: reader.picture("The plane") != empty, "a boundary")
    reader.choose("rate", "0.5")  # the page answers while it learns
    assert answers(reader.address)
    reader.press("Stop")
    reader.sees("waiting")
    stopped = epoch(reader)
    still = reader.picture("The plane")
    reader.press("Resume")
    reaches(reader, stopped + 3)
    wait_for(lambda: reader.picture("The plane") != still, "another boundary")
    reader.press("Start")  # another one; that before ends
    reader.until("true")
    reader.press("Stop")
    reader.sees("waiting")


def test_the_page_reports_that_a_training_diverges(reader: Reader) -> None:
    reader.open("points")
    reader.choose("rate", "1000.0")
    reader.press("Start")
    reader.sees("The job has ended: training diverged in epoch")
    reader.sees("use a smaller rate")
    reader.choose("rate", "0.2")
    reader.write("epochs", "10")
    reader.press("Start")
    reaches(reader, 10)
    wait_for(lambda: reader.text().endswith("\nended"), "the end")
