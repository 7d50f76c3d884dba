"""The calls of the tables: finite differences, and invalid tensors."""

import dataclasses
import re
from typing import Any

import numpy as np
import pytest

import mt_nn as nn
import mt_tensor as mt
from mt_nn.conformance.calls import CALLS, Call
from mt_nn.conformance.calls.call import arrays_of, leaves_of, outcome, prepared
from mt_nn.conformance.test_calls import *  # noqa: F403
from mt_tensor.backends import backends
from mt_tensor.errors import TensorError

ON = [name for name in ("simple", "numpy", "fast") if name in backends()]

WITHOUT_ROWS: dict[str, str] = {
    **dict.fromkeys(
        [name for name in nn.__all__ if name.startswith("Lazy")],
        "it becomes the layer of its name: test_lazy.py",
    ),
    "ModuleDict": "it holds modules: test_containers.py",
    "ModuleList": "it holds modules: test_containers.py",
    "ParameterDict": "it holds parameters: test_containers.py",
    "ParameterList": "it holds parameters: test_containers.py",
    "Residual": "what it does is its module's: test_containers.py",
    "Sequential": "what it does is its modules': test_containers.py",
    "functional.gumbel_softmax": "it draws random numbers: test_activation.py",
    "CTCLoss": "the gradient that torch returns is of the scores before it: test_losses.py",
    "functional.ctc_loss": "the gradient that torch returns is of the scores: test_losses.py",
    "functional.windows": "torch has it for tensors only, as unfold: test_functional.py",
    "functional.accuracy": "torch does not have it: test_functional.py",
}
"""Layers and functions without a row in the tables, and where they are tested instead."""


ELEMENTWISE = """
    AlphaDropout CELU Dropout ELU GELU Hardshrink Hardsigmoid Hardswish Hardtanh LeakyReLU
    LogSigmoid Mish PReLU ReLU ReLU6 RReLU SELU Sigmoid SiLU Softplus Softshrink Softsign Tanh
    Tanhshrink Threshold
    alpha_dropout celu dropout elu gelu hardshrink hardsigmoid hardswish hardtanh leaky_relu
    logsigmoid mish relu relu6 rrelu selu sigmoid silu softplus softshrink softsign tanh tanhshrink
    threshold
""".split()  # noqa: SIM905 - a list would be a page long
ANY_SHAPE = {
    *ELEMENTWISE,
    "Identity",  # it returns what it is given
    *("Embedding", "embedding"),  # there may be any number of numbers
    *("Softmin", "softmin"),  # without a dimension, torch's old rule finds one
    "pairwise_distance",  # its vectors broadcast
}
"""Layers and functions that take tensors of any number of dimensions."""


MANY = 30
"""From how many elements on they are not moved one by one, but all of a tensor at once."""


@pytest.fixture(scope="session", params=ON)
def backend_name(request: pytest.FixtureRequest) -> str:
    """Each backend in turn."""
    name: str = request.param
    return name


@pytest.mark.parametrize("call", [call for call in CALLS if call.smooth], ids=str)
def test_gradients_agree_with_finite_differences(call: Call) -> None:
    function, parameters = prepared(call, "float64")
    inputs, options = leaves_of(call.inputs, "float64"), leaves_of(call.options, "float64")
    keywords = {**options, **(leaves_of(call.settings, "float64") if call.is_function else {})}
    leaves = [x for x in arrays_of([*inputs, keywords]) if x.requires_grad] + parameters
    buffers = dict(function.named_buffers()) if isinstance(function, nn.Module) else {}
    state = {name: buffer.clone() for name, buffer in buffers.items()}

    def again(*_: mt.Tensor) -> Any:
        """Call it as if for the first time."""
        for name, buffer in buffers.items():
            buffer.copy_(state[name])
        mt.manual_seed(0)
        results = [r for r in arrays_of(function(*inputs, **keywords)) if r.requires_grad]
        return results[0] if len(results) == 1 else tuple(results)

    at_once = sum(leaf.numel() for leaf in leaves) > MANY
    assert mt.gradcheck(again, leaves, fast_mode=at_once)


def with_input(call: Call, other: Any) -> Call:
    """Return a call whose first tensor is another one."""
    first, *rest = call.inputs
    if isinstance(first, np.ndarray):
        return dataclasses.replace(call, inputs=(other, *rest))
    return dataclasses.replace(call, inputs=(type(first)([other, *first[1:]]), *rest))


FIRST = {call.name: call for call in reversed(CALLS)}
"""The first row of each layer and function."""


@pytest.mark.parametrize("name", FIRST)
def test_other_numbers_of_dimensions_raise(name: str) -> None:
    array = next(arrays_of(FIRST[name].inputs))
    others = [np.ones((), array.dtype), array[None, None], array.reshape(1, -1)[0]]
    refusals = []
    for other in (other for other in others if other.ndim != array.ndim):
        try:
            outcome(with_input(FIRST[name], other), "float32")
        except (nn.NetworkError, TensorError) as error:
            refusals.append(str(error))
    assert bool(refusals) == (name.removeprefix("functional.") not in ANY_SHAPE)
    for message in refusals:
        assert re.search("shape|dimension|size|size|expects", message)


@pytest.mark.parametrize("name", [name for name in FIRST if name != "Identity"])
def test_non_tensors_raise(name: str) -> None:
    call = FIRST[name]
    array = next(arrays_of(call.inputs))
    function, _ = prepared(call, "float32")
    keywords = {**call.options, **(call.settings if call.is_function else {})}
    for wrong in (None, array.tolist(), [None], "tensor"):
        inputs = with_input(call, wrong).inputs
        with pytest.raises((TypeError, nn.NetworkError), match="takes? tensors|tensor"):
            function(*leaves_of(inputs, "float32"), **leaves_of(keywords, "float32"))


def test_every_layer_and_function_is_in_a_table() -> None:
    def public(module: Any, prefix: str) -> set[str]:
        return {
            prefix + name
            for name in module.__all__
            if callable(getattr(module, name)) and getattr(module, name).__module__[:6] == "mt_nn."
        }

    layers = {
        name
        for name in public(nn, "")
        if isinstance(getattr(nn, name), type) and issubclass(getattr(nn, name), nn.Module)
    }
    tested = {call.name for call in CALLS} | WITHOUT_ROWS.keys()
    wanted = (layers - {"Module"}) | public(nn.functional, "functional.")
    assert sorted(wanted - tested) == []
