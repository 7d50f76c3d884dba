"""The training example of mt_tensor on the backend `fast`, and the command `compare`."""

import pytest

from mt_fast.examples import compare
from mt_fast.examples.compare import largest_difference, train_on
from mt_operators.datasets import spiral, xor


def test_spiral_is_learned_with_full_accuracy() -> None:
    run = train_on("fast", spiral(100), hidden=(32, 32), epochs=1000, rate=0.1)
    assert run.accuracy == 1.0
    assert run.history[-1].loss < 0.1
    assert len(run.seconds) == len(run.history) == 1000
    assert all(seconds > 0.0 for seconds in run.seconds)


def test_training_matches_numpy() -> None:
    runs = [train_on(name, xor(40), hidden=(10,), epochs=30) for name in ("numpy", "fast")]
    assert [run.backend for run in runs] == ["numpy", "fast"]
    assert largest_difference(*runs) < 1e-4 < runs[0].history[0].loss - runs[0].history[-1].loss
    other = train_on("fast", xor(40), hidden=(10,), epochs=30, seed=1)
    assert largest_difference(runs[0], other) > 1e-2


def test_largest_difference_rejects_runs_of_different_length() -> None:
    runs = [train_on("numpy", xor(5), hidden=(3,), epochs=epochs) for epochs in (1, 2)]
    with pytest.raises(ValueError, match="1 and 2 epochs cannot be compared"):
        largest_difference(*runs)


def test_command_prints_comparison_and_suggests_close_name(
    capsys: pytest.CaptureFixture[str],
) -> None:
    compare.main(["xor", "--points", "20", "--epochs", "3", "--hidden", "4"])
    first, second, last = capsys.readouterr().out.splitlines()
    assert first.startswith("numpy ")
    assert second.startswith("fast ")
    assert " ms per epoch  loss 0." in second
    assert last.startswith("the losses differ by at most ")
    with pytest.raises(SystemExit):
        compare.main(["xor", "--backends", "fats", "--epochs", "1"])
    assert "Did you mean 'fast'" in capsys.readouterr().err


def test_command_has_the_defaults_of_train_on(capsys: pytest.CaptureFixture[str]) -> None:
    compare.main(["xor", "--points", "20", "--epochs", "3", "--backends", "fast"])
    run = train_on("fast", xor(20), epochs=3)
    assert f"loss {run.history[-1].loss:.4f}  accuracy" in capsys.readouterr().out
