"""The module page shows the whole tree, and changes the network."""

import re

import numpy as np
import pytest

from mt_operators import Module
from mt_operators.datasets import DATASETS, Dataset
from mt_operators.examples.manual import network_for
from play.plane import draw_plane, grid
from play.testing import Reader, wait_for
from play.trees import tree_html


@pytest.mark.parametrize("name", ["simple", "diag", "split", "xor", "circle"])
def test_a_tree_has_each_module_and_each_parameter_once(name: str) -> None:
    network = network_for(name)
    html = tree_html(network, "line0.a")
    assert html.count('<div class="module">') == len(list(network.modules()))
    assert html.count("held") == len(list(network.parameters()))
    assert html.count("chosen") == 1
    assert html.count("<div") == html.count("</div>")
    assert "evaluating" not in html
    assert "training" not in tree_html(network.eval())


def test_names_are_escaped() -> None:
    module = Module()
    module.add_parameter("a<b>", 1.0)
    assert "a&lt;b&gt; = 1" in tree_html(module)


@pytest.mark.parametrize("name", DATASETS)
def test_the_plane_holds_every_point(name: str) -> None:
    dataset = DATASETS[name](30)
    x1, x2 = grid(dataset, 8)
    assert x1.shape == x2.shape == (8, 8)
    picture = draw_plane(dataset, x1 - x1.mean(), dataset.y)
    centres = [*map(float, re.findall(r'c[xy]="(-?[\d.]+)"', picture))]
    assert len(centres) == 2 * dataset.y.count(0)
    assert all(0.0 <= centre <= 420.0 for centre in centres)
    assert picture.count("</rect>") == dataset.y.count(1)
    assert 'class="point wrong"' not in picture


def test_misclassified_points_are_marked_and_nonfinite_values_are_drawn() -> None:
    dataset = Dataset(((0.0, 0.0), (1.0, 1.0)), (0, 1))
    scores = np.array([[np.nan, 1.0], [-np.inf, np.inf]])
    assert draw_plane(dataset, scores, (1, 1)).count('class="point wrong"') == 1
    assert draw_plane(dataset, np.zeros((2, 2)), (0, 1)).startswith("<svg")


def test_a_reader_changes_a_parameter_and_takes_it_back(reader: Reader) -> None:
    reader.open("trees")
    reader.reads("accuracy on 80 points", "100%")
    before = reader.picture("The plane")
    assert before.count("<circle") + before.count('<rect x="') == 80
    reader.slide("threshold", "END")
    reader.sees("threshold = 2")
    wait_for(lambda: reader.metric("accuracy on 80 points") != "100%", "another number")
    wait_for(lambda: reader.picture("The plane") != before, "another picture")
    reader.press("Reset")
    reader.sees("threshold = 0")
    wait_for(lambda: reader.picture("The plane") == before, "the first picture")


def test_the_page_shows_the_mode_of_the_whole_tree(reader: Reader) -> None:
    reader.open("trees")
    assert reader.text(".mt-tree").count("training") == 5
    reader.press("evaluate, as after network.eval()")
    reader.sees("evaluating")
    wait_for(lambda: "training" not in reader.text(".mt-tree"), "another mode everywhere")


def test_the_page_shows_another_network(reader: Reader) -> None:
    reader.open("trees")
    reader.choose("data", "circle")
    reader.sees("line23")
    assert float(reader.metric("accuracy on 80 points").rstrip("%")) > 90
