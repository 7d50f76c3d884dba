"""Two numbers are saved from one module and loaded into another, which returns them."""

from typing import Any

VALUES = [0.5, -3.0]


def _pair(values: list[Any]) -> Any:
    from mt_operators import Module, Parameter

    class Pair(Module):
        def __init__(self) -> None:
            super().__init__()
            self.first, self.second = map(Parameter, values)

        def forward(self) -> Any:
            return [self.first.value, self.second.value]

    return Pair()


def operators() -> tuple[Any, Any]:
    other = _pair([0.0, 0.0])
    other.load_state_dict(_pair(VALUES).state_dict())
    return other(), None


def autodiff() -> tuple[Any, Any]:
    from mt_autodiff import Scalar

    other = _pair([Scalar(0.0), Scalar(0.0)])
    other.load_state_dict(_pair([Scalar(value) for value in VALUES]).state_dict())
    return other(), None


def nn() -> tuple[Any, Any]:
    import tempfile
    from pathlib import Path

    import mt_nn as nn
    import mt_tensor as mt

    model, other = nn.Linear(2, 1, bias=False), nn.Linear(2, 1, bias=False)
    model.load_state_dict({"weight": mt.tensor([VALUES])})
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "model.safetensors"
        nn.save(model.state_dict(), file)
        checkpoint = Path(folder) / "run.safetensors"
        nn.save_checkpoint(checkpoint, model=model)
        other.load_state_dict(nn.load(file))
        nn.load_checkpoint(checkpoint, model=other)
    return other.weight.flatten(), None


def reference() -> tuple[Any, Any]:
    return VALUES, None
