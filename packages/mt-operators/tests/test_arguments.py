"""Arguments of the example commands: defaults, options, errors."""

import argparse

import pytest

from mt_operators.examples.arguments import add_choices, training_command


@pytest.fixture
def parser() -> argparse.ArgumentParser:
    command = training_command("learn", "Learn something.", points=50, epochs=300)
    add_choices(command, data="xor", hidden=(10, 4), rate=0.2)
    return command


def test_parser_has_defaults_and_accepts_options(parser: argparse.ArgumentParser) -> None:
    defaults = {"data": "xor", "hidden": [10, 4], "rate": 0.2}
    defaults |= {"points": 50, "epochs": 300, "seed": 0}
    assert vars(parser.parse_args([])) == defaults
    line = "diag --hidden 3 1 --rate 1.5 --points 1 --epochs 7 --seed -2"
    expected = {"data": "diag", "hidden": [3, 1], "rate": 1.5, "points": 1, "epochs": 7, "seed": -2}
    assert vars(parser.parse_args(line.split())) == expected
    assert parser.parse_args(["--hidden"]).hidden == []
    help_text = parser.format_help()
    assert "usage: learn " in help_text
    assert "Learn something." in help_text
    assert "(default: 300)" in help_text


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ("ring", "invalid choice: 'ring'"),
        ("--points 0", "must be a positive integer, got 0"),
        ("--epochs -1", "must be a positive integer, got -1"),
        ("--hidden 3 0", "must be a positive integer, got 0"),
        ("--seed one", "invalid int value: 'one'"),
        ("--rate 0", "must be a positive finite number, got 0"),
        ("--rate inf", "must be a positive finite number, got inf"),
        ("--rate nan", "must be a positive finite number, got nan"),
    ],
)
def test_invalid_argument_exits_with_message(
    parser: argparse.ArgumentParser,
    line: str,
    message: str,
    capsys: pytest.CaptureFixture[str],
) -> None:
    with pytest.raises(SystemExit):
        parser.parse_args(line.split())
    assert message in capsys.readouterr().err
