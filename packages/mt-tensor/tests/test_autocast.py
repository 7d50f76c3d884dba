"""`autocast`: dtypes of results and gradients by torch's rules, nesting, caching and errors."""

import threading
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import mt_tensor as mt
from mt_tensor import errors
from mt_tensor.core.extensions import AUTOCAST_BLOCKS
from mt_tensor.mixed_precision.precision import active_precisions

MATRIX = np.random.default_rng(0).uniform(0.1, 0.9, (3, 3)).astype("f4")

CALLS: dict[str, Callable[[Any, Any], Any]] = {
    "matmul": lambda lib, x: x @ x,
    "mm": lambda lib, x: lib.mm(x, x),
    "matmul of a vector": lambda lib, x: x @ x[0],
    "bmm": lambda lib, x: x[None].bmm(x[None]),
    "addmm": lambda lib, x: lib.addmm(x, x, x),
    "baddbmm": lambda lib, x: lib.baddbmm(x[None], x[None], x[None]),
    "einsum": lambda lib, x: lib.einsum("ij,jk->ik", x, x),
    "add": lambda lib, x: x + x,
    "add to a product": lambda lib, x: x + x @ x,
    "exp": lambda lib, x: x.exp(),
    "exp of a product": lambda lib, x: (x @ x).exp(),
    "log of a product": lambda lib, x: (x @ x).log(),
    "power of a product": lambda lib, x: (x @ x) ** 2,
    "sum of a product": lambda lib, x: (x @ x).sum(),
    "softmax of a product": lambda lib, x: (x @ x).softmax(dim=-1),
    "where": lambda lib, x: lib.where(x > 0.5, x @ x, x @ x),
    "cat": lambda lib, x: lib.cat([x @ x, x]),
    "matmul of float64": lambda lib, x: x.double() @ x.double(),
    "matmul of int64": lambda lib, x: (x * 9).long() @ (x * 9).long(),
}


@pytest.mark.torch
@pytest.mark.parametrize("dtype", ["bfloat16", "float16"])
@pytest.mark.parametrize("name", CALLS)
def test_cpu_autocast_results_match_torch(name: str, dtype: str) -> None:
    torch = pytest.importorskip("torch")
    call = CALLS[name]
    with mt.autocast("cpu", getattr(mt, dtype)):
        ours = call(mt, mt.tensor(MATRIX))
    with torch.autocast("cpu", getattr(torch, dtype)):
        theirs = call(torch, torch.tensor(MATRIX))
    assert ours.dtype.name == str(theirs.dtype).removeprefix("torch.")
    np.testing.assert_allclose(ours.double().numpy(), theirs.double().numpy(), rtol=2e-2)


GPU_DTYPES = {
    **dict.fromkeys(["matmul", "mm", "matmul of a vector", "bmm", "einsum"], "float16"),
    **dict.fromkeys(["addmm", "baddbmm"], "float16"),
    **dict.fromkeys(["exp", "exp of a product", "log of a product"], "float32"),
    **dict.fromkeys(["power of a product", "sum of a product", "softmax of a product"], "float32"),
    "add": "float32",
    "add to a product": "float32",
    "where": "float16",
    "cat": "float32",
    "matmul of float64": "float64",
    "matmul of int64": "int64",
}
"""The dtypes of results under torch's autocast on a GPU."""


@pytest.mark.parametrize("name", CALLS)
def test_cuda_autocast_uses_torchs_gpu_rules(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(type(mt.get_backend("numpy")), "device", "cuda")
    with mt.autocast("cuda"):
        assert CALLS[name](mt, mt.tensor(MATRIX)).dtype.name == GPU_DTYPES[name]
        with mt.autocast("cpu"):  # does not apply to a GPU backend
            assert CALLS[name](mt, mt.tensor(MATRIX)).dtype.name == GPU_DTYPES[name]


def test_gradient_has_dtype_of_its_leaf() -> None:
    weight, x = mt.tensor(MATRIX, requires_grad=True), mt.tensor(MATRIX)
    with mt.autocast("cpu"):
        loss = ((x @ weight) @ weight).sum()
    assert loss.dtype is mt.bfloat16
    loss.backward()
    assert weight.grad is not None
    assert weight.grad.dtype is mt.float32
    reference = mt.tensor(MATRIX, requires_grad=True)
    ((x @ reference) @ reference).sum().backward()
    assert reference.grad is not None
    np.testing.assert_allclose(weight.grad.numpy(), reference.grad.numpy(), rtol=3e-2)


def test_autocast_converts_parameter_once_per_block(monkeypatch: pytest.MonkeyPatch) -> None:
    weight, x = mt.tensor(MATRIX, requires_grad=True), mt.tensor(MATRIX)
    for cached, count in ((None, 1), (True, 1), (False, 3)):
        with mt.autocast("cpu", cache_enabled=cached):
            with mt.autocast("cpu", cache_enabled=cached):
                first = x @ weight
            for _ in range(2):
                x @ weight
            precision = active_precisions.get()["cpu"]
            assert precision is not None
            assert (precision.cache is None) is (cached is False)
            assert len(precision.cache or ()) == (count if cached is not False else 0)
            before = (x @ weight).tolist()
            with mt.no_grad():
                weight.mul_(2)
            assert (x @ weight).tolist() != before
        first.sum().backward()
    assert not active_precisions.get()
    assert AUTOCAST_BLOCKS.count == 0


def test_autocast_blocks_nest_and_decorate_functions() -> None:
    x = mt.tensor(MATRIX)
    block = mt.autocast("cpu", dtype="float16")
    with block, block, mt.autocast("cpu", enabled=False):
        assert (x @ x).dtype is mt.float32
        with mt.autocast("cpu"):
            assert (x @ x).dtype is mt.bfloat16
            assert mt.is_autocast_enabled("cpu")
            assert not mt.is_autocast_enabled("cuda")
        assert not mt.is_autocast_enabled("cpu")
        assert mt.get_autocast_dtype("cpu") is mt.bfloat16

    @mt.autocast("cpu", mt.float16)
    def product(a: mt.Tensor, *, times: int) -> mt.Tensor:
        """Multiply."""
        return a @ a if times == 1 else product(a, times=times - 1) @ a

    assert product(x, times=3).dtype is mt.float16
    assert product.__doc__ == "Multiply."
    assert (x @ x).dtype is mt.float32
    with pytest.raises(ZeroDivisionError), mt.autocast("cpu"):
        _ = 1 / 0
    assert AUTOCAST_BLOCKS.count == 0


def test_autocast_is_local_to_its_thread() -> None:
    x, dtypes = mt.tensor(MATRIX), []
    with mt.autocast("cpu"):
        thread = threading.Thread(target=lambda: dtypes.append((x @ x).dtype))
        thread.start()
        thread.join()
        assert (x @ x).dtype is mt.bfloat16
    assert dtypes == [mt.float32]


@pytest.mark.parametrize(
    ("call", "error", "message"),
    [
        (lambda: mt.autocast("gpu"), errors.DomainError, "'cpu' and 'cuda'; 'gpu'"),
        (lambda: mt.autocast(mt.float16), TypeError, "device_type must be a string"),
        (lambda: mt.autocast("cpu", mt.float32), errors.DTypeError, "float32 was given"),
        (lambda: mt.autocast("cpu", mt.int16), errors.DTypeError, "int16 was given"),
        (lambda: mt.autocast("cpu", enabled=1), TypeError, "enabled must be True or False"),
        (lambda: mt.get_autocast_dtype("mps"), errors.DomainError, "'mps'"),
    ],
)
def test_autocast_rejects_bad_device_dtype_and_flag(
    call: Callable[[], Any], error: Any, message: str
) -> None:
    with pytest.raises(error, match=message):
        call()
