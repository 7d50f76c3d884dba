"""The classifier that is set by hand, and its picture in characters."""

import math

import pytest

from mt_operators.datasets import DATASETS, Dataset, xor
from mt_operators.examples import manual
from mt_operators.examples.text_plot import text_plot


@pytest.mark.parametrize("name", ["simple", "diag", "split", "xor"])
def test_thinking_separates_what_lines_bound(name: str) -> None:
    network = manual.network_for(name)
    for seed in range(5):
        assert manual.accuracy(network, DATASETS[name](200, seed)) == 1.0


def test_lines_around_a_circle_come_close() -> None:
    assert manual.accuracy(manual.network_for("circle"), DATASETS["circle"](2000)) > 0.98


def test_the_networks_are_modules() -> None:
    network = manual.network_for("split")
    assert sorted(network.state_dict()) == [
        *(f"line{n}.{letter}" for n in (0, 1) for letter in "abc"),
        "threshold",
        "weight0",
        "weight1",
    ]
    assert network.training
    network.line0.c.update(-9.0)
    assert network((0.1, 0.5)) == 0


def test_text_plot() -> None:
    corners = Dataset(((0.0, 0.0), (1.0, 0.0), (0.0, 1.0), (1.0, 1.0)), (0, 1, 1, 0))
    assert text_plot(corners, lambda point: int(point[0] > 0.5), width=4, height=2) == "X. O\no. x"
    one_point = Dataset(((0.5, 0.5),), (1,))
    assert text_plot(one_point, lambda point: 1, width=2, height=2) == "x\n"


def test_text_plot_errors() -> None:
    with pytest.raises(ValueError, match="0 point.s. cannot be drawn"):
        text_plot(xor(0), lambda point: 0)
    with pytest.raises(ValueError, match="on 1 by 24 characters"):
        text_plot(xor(5), lambda point: 0, width=1)
    for bad in (math.inf, math.nan):
        with pytest.raises(ValueError, match="infinite or nan"):
            text_plot(Dataset(((0.0, bad),), (1,)), lambda point: 0)
    for label in (-1, 2, 0.5):
        with pytest.raises(ValueError, match=f"must return 0 or 1, not {label}"):
            text_plot(xor(5), lambda point, label=label: label)
    with pytest.raises(ValueError, match="empty data set has no accuracy"):
        manual.accuracy(manual.network_for("xor"), xor(0))


def test_the_command(capsys: pytest.CaptureFixture[str]) -> None:
    manual.main(["diag", "--points", "30", "--seed", "3"])
    *picture, result = capsys.readouterr().out.splitlines()
    assert result == "diag: 100% of 30 points"
    assert len(picture) == 24
    assert sum(line.count("x") + line.count("o") for line in picture) <= 30
    manual.main([])
    shown = capsys.readouterr().out
    manual.main(["xor", "--points", "100", "--seed", "0"])
    assert capsys.readouterr().out == shown


@pytest.mark.parametrize(
    ("wrong", "message"),
    [
        (["spiral"], "train one"),
        (["xor", "--points", "0"], "--points: 1 or more is needed; 0 was given"),
        (["xor", "--points", "-3"], "--points: 1 or more is needed; -3 was given"),
        (["xor", "--points", "many"], "--points: invalid positive_int value: 'many'"),
    ],
)
def test_a_command_that_makes_no_sense(
    wrong: list[str], message: str, capsys: pytest.CaptureFixture[str]
) -> None:
    with pytest.raises(SystemExit):
        manual.main(wrong)
    assert message in capsys.readouterr().err
