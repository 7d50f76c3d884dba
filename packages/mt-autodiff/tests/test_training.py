"""The exercises: networks of Scalars that learn, and the pictures of what they learnt."""

import math
import random
import sys
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mt_autodiff import MissingPackageError, Scalar, derivative_check
from mt_autodiff.examples import classify, moons, picture
from mt_autodiff.examples.network import SGD, Linear, Network
from mt_autodiff.examples.training import accuracy, cross_entropy, hinge, train
from mt_operators import Module, Parameter
from mt_operators.datasets import DATASETS, xor


def test_a_network_separates_xor() -> None:
    dataset = xor(50)
    network = Network(hidden=(10,))
    history = train(network, dataset, 300, lambda epoch: 0.2)
    assert accuracy(network, dataset) == 1.0
    assert history[-1].accuracy == 1.0
    assert history[-1].loss < 0.1 < 0.5 < history[0].loss


@pytest.mark.parametrize("name", DATASETS)
def test_training_improves_on_every_data_set(name: str) -> None:
    dataset = DATASETS[name](30)
    seen: list[float] = []
    network = Network(hidden=(6,), seed=1)
    train(network, dataset, 40, lambda epoch: 0.2, report=lambda epoch: seen.append(epoch.loss))
    assert len(seen) == 40
    assert seen[-1] < 0.9 * seen[0]


def test_a_layer_is_weighted_sums() -> None:
    layer = Linear(3, 2, random.Random(0))
    inputs = [0.5, -1.0, 2.0]
    for row, bias, out in zip(layer.rows, layer.biases, layer(inputs), strict=True):
        expected = float(bias.value) + sum(
            float(w.value) * x for w, x in zip(row, inputs, strict=True)
        )
        assert out.data == pytest.approx(expected)
    assert len(list(layer.parameters())) == 2 * 3 + 2


def test_a_network_has_its_layers_and_a_straight_line_has_none_hidden() -> None:
    network = Network(hidden=(5, 4))
    assert len(list(network.parameters())) == 2 * 5 + 5 + 5 * 4 + 4 + 4 + 1
    assert [name for name, _ in network.named_children()] == ["layer0", "layer1", "layer2"]
    line = Network(hidden=())
    (w1, w2, bias) = (p.value.data for p in line.parameters())
    assert float(line((2.0, 3.0))) == pytest.approx(2.0 * w1 + 3.0 * w2 + bias)
    assert Network(seed=3).state_dict().keys() == Network(seed=4).state_dict().keys()


def test_a_saved_network_is_loaded_and_then_goes_its_own_way() -> None:
    first, second = Network(seed=1), Network(seed=2)
    second.load_state_dict(first.state_dict())
    point = (0.3, 0.7)
    assert second(point).data == first(point).data
    train(second, xor(10), 3, lambda epoch: 0.5)
    assert second(point).data != first(point).data


@given(st.floats(-30, 30), st.integers(0, 1))
def test_losses(score: float, label: int) -> None:
    probability = 1.0 / (1.0 + math.exp(-score if label else score))
    exact = -math.log(probability)
    assert cross_entropy(Scalar(score), label).data == pytest.approx(exact, rel=1e-6, abs=1e-12)
    derivative_check(lambda s: cross_entropy(s, label), Scalar(score))
    side = 1 if label else -1
    assert hinge(Scalar(score), label).data == max(0.0, 1.0 - side * score)


def test_a_loss_of_a_hopeless_score_is_finite() -> None:
    assert cross_entropy(Scalar(-1e4), 1).data == 1e4


def test_sgd_with_momentum() -> None:
    parameter = Parameter(Scalar(1.0))
    optimizer = SGD([parameter], rate=0.1, momentum=0.5)
    for expected in (0.8, 0.54):  # steps of -0.1 * 2 x, and half of the step before
        optimizer.zero_grad()
        parameter.value.square().backward()
        optimizer.step()
        assert parameter.value.data == pytest.approx(expected)


def test_the_penalty_makes_weights_smaller() -> None:
    def size(network: Module) -> float:
        return sum(p.value.data**2 for p in network.parameters())

    free, held = Network(seed=5), Network(seed=5)
    train(free, xor(20), 20, lambda epoch: 0.1)
    train(held, xor(20), 20, lambda epoch: 0.1, penalty=0.1)
    assert size(held) < size(free)


def test_training_errors() -> None:
    with pytest.raises(ValueError, match="empty data set"):
        train(Network(), xor(0), 1, lambda epoch: 0.1)
    with pytest.raises(ValueError, match="diverged in epoch .* smaller rate"):
        train(Network(), xor(10), 50, lambda epoch: 1e6)


def test_the_commands(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file = tmp_path / "diag.png"
    classify.main(["diag", "--points", "12", "--epochs", "20", "--picture", str(file)])
    out = capsys.readouterr().out
    assert out.splitlines()[0].startswith("epoch    1  loss ")
    assert out.splitlines()[1].startswith("epoch   20  loss ")
    assert out.splitlines()[-1].endswith("of 12 points")
    assert file.read_bytes().startswith(b"\x89PNG")
    moons.main(["--points", "10", "--epochs", "2"])
    out = capsys.readouterr().out
    assert len(out.splitlines()) == 1 + 24 + 1
    assert out.splitlines()[-1].startswith("moons: ")
    with pytest.raises(SystemExit):
        classify.main(["xor", "--points", "0"])
    assert "empty data set" in capsys.readouterr().err


def test_a_picture_needs_matplotlib(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "matplotlib.figure", None)
    with pytest.raises(MissingPackageError, match="mt-autodiff.plot"):
        picture.draw(xor(5), lambda point: 1.0, [], "xor")
