"""The conformance tables of calls: finite differences, invalid tensors, and completeness."""

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

INSTALLED = [name for name in ("simple", "numpy", "fast") if name in backends()]

WITHOUT_ROWS: dict[str, str] = {
    **dict.fromkeys(
        [name for name in nn.__all__ if name.startswith("Lazy")],
        "becomes the regular layer: test_lazy.py",
    ),
    "ModuleDict": "holds modules: test_containers.py",
    "ModuleList": "holds modules: test_containers.py",
    "ParameterDict": "holds parameters: test_containers.py",
    "ParameterList": "holds parameters: test_containers.py",
    "QuantizedLinear": "has no default weights: test_quantization.py",
    "Sequential": "calls its modules: test_containers.py",
    "functional.gumbel_softmax": "draws random numbers: test_activation.py",
    "CTCLoss": "torch's gradient is with respect to the scores: test_losses.py",
    "functional.ctc_loss": "torch's gradient is with respect to the scores: test_losses.py",
    "functional.windows": "torch only has Tensor.unfold: test_functional.py",
    "functional.accuracy": "not in torch: test_functional.py",
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
    "Identity",  # returns its input
    *("Embedding", "embedding"),  # indices may have any shape
    *("Softmin", "softmin"),  # without dim, torch's old rule chooses one
    "pairwise_distance",  # broadcasts its inputs
}
"""Layers and functions that accept tensors of any number of dimensions."""


FAST_MODE_FROM = 30
"""From this number of elements, gradcheck perturbs all elements of a tensor at once."""


@pytest.fixture(scope="session", params=INSTALLED)
def backend_name(request: pytest.FixtureRequest) -> str:
    name: str = request.param
    return name


@pytest.mark.parametrize("call", [call for call in CALLS if call.smooth], ids=str)
def test_gradients_of_calls_agree_with_finite_differences(call: Call) -> None:
    function, parameters = prepared(call, "float64")
    inputs, options = leaves_of(call.inputs, "float64"), leaves_of(call.options, "float64")
    keywords = {**options, **(leaves_of(call.settings, "float64") if call.is_function else {})}
    leaves = [x for x in arrays_of([*inputs, keywords]) if x.requires_grad] + parameters
    buffers = dict(function.named_buffers()) if isinstance(function, nn.Module) else {}
    state = {name: buffer.clone() for name, buffer in buffers.items()}

    def call_again(*_: mt.Tensor) -> Any:
        """Call the function with its initial buffers and seed."""
        for name, buffer in buffers.items():
            buffer.copy_(state[name])
        mt.manual_seed(0)
        results = [r for r in arrays_of(function(*inputs, **keywords)) if r.requires_grad]
        return results[0] if len(results) == 1 else tuple(results)

    fast_mode = sum(leaf.numel() for leaf in leaves) > FAST_MODE_FROM
    assert mt.gradcheck(call_again, leaves, fast_mode=fast_mode)


def with_input(call: Call, replacement: Any) -> Call:
    """Return the call with its first tensor replaced."""
    first, *rest = call.inputs
    if isinstance(first, np.ndarray):
        return dataclasses.replace(call, inputs=(replacement, *rest))
    return dataclasses.replace(call, inputs=(type(first)([replacement, *first[1:]]), *rest))


FIRST = {call.name: call for call in reversed(CALLS)}
"""The first row of each layer and function."""


@pytest.mark.parametrize("name", FIRST)
def test_input_with_wrong_number_of_dimensions_raises(name: str) -> None:
    array = next(arrays_of(FIRST[name].inputs))
    replacements = [np.ones((), array.dtype), array[None, None], array.reshape(1, -1)[0]]
    messages = []
    for replacement in (r for r in replacements if r.ndim != array.ndim):
        try:
            outcome(with_input(FIRST[name], replacement), "float32")
        except (nn.NetworkError, TensorError) as error:
            messages.append(str(error))
    assert bool(messages) == (name.removeprefix("functional.") not in ANY_SHAPE)
    for message in messages:
        assert re.search("shape|dimension|size|expects", message)


@pytest.mark.parametrize("name", [name for name in FIRST if name != "Identity"])
def test_non_tensor_input_raises(name: str) -> None:
    call = FIRST[name]
    array = next(arrays_of(call.inputs))
    function, _ = prepared(call, "float32")
    keywords = {**call.options, **(call.settings if call.is_function else {})}
    for wrong in (None, array.tolist(), [None], "tensor"):
        inputs = with_input(call, wrong).inputs
        with pytest.raises((TypeError, nn.NetworkError), match="tensor"):
            function(*leaves_of(inputs, "float32"), **leaves_of(keywords, "float32"))


def test_every_public_layer_and_function_has_a_row_or_another_test() -> None:
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
    required = (layers - {"Module"}) | public(nn.functional, "functional.")
    assert sorted(required - tested) == []
