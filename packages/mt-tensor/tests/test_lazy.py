"""lazy: tensors are computed when they are needed, and only those that are needed."""

from __future__ import annotations

import contextlib
import threading
from typing import Any

import numpy as np
import pytest

import mt_tensor as mt
from mt_tensor.errors import IndexingError

BACKENDS = pytest.mark.parametrize("backend", ["numpy", "simple"])


def program_calls(block: Any) -> list[list[str]]:
    """Return the names of the calls of each program that a block has run."""
    return [[each.name for each in program.instructions] for program in block.programs]


@BACKENDS
def test_realize_computes_a_lazy_tensor_once(backend: str) -> None:
    with mt.use_backend(backend):
        x = mt.tensor([1.0, 2.0])
        with mt.lazy() as block:
            y = (x.exp() + x).tanh()
            assert y.shape == (2,)
            assert not block.programs
            assert y.realize() is y
            assert program_calls(block) == [["exp_add_tanh"]]
            y.realize()
        assert len(block.programs) == 1
        np.testing.assert_allclose(y.numpy(), np.tanh(np.exp(x.numpy()) + x.numpy()), 1e-6)


def test_unreferenced_tensors_are_never_computed() -> None:
    x = mt.ones(3)
    with mt.lazy() as block:
        for _ in range(3):
            y = x.exp()
        del y
    assert not block.programs


def test_reading_a_tensor_computes_only_its_dependencies() -> None:
    x = mt.ones(2, 2)
    expected = (x.exp() @ x.exp()).tolist()
    with mt.lazy() as block:
        y, z = x.sum(0), x.exp()
        y.realize()
        assert program_calls(block) == [["reduce"]]
        w = z @ z
        assert w.tolist() == expected
        assert sorted(program_calls(block)[1]) == ["exp", "matmul"]
    assert len(block.programs) == 2


def test_pending_calls_of_unreferenced_tensors_are_dropped() -> None:
    x = mt.ones(2)
    with mt.lazy() as block:
        for _ in range(5):
            (x.exp() + 1).sum()
            mt.ones(2).realize()
        y = x * 3
        y.realize()
        assert {call.name for call in block._pending} <= {"full"}  # numbers are cached as tensors
        assert len(block._lazy) == len(block._pending)
    assert all("exp" not in call for program in program_calls(block) for call in program)


def test_deleted_intermediate_is_kept_while_needed() -> None:
    x = mt.ones(2)
    with mt.lazy() as block:
        y = x.exp()
        z = y * 3
        y.realize()
        del y
        z.realize()
        assert [len(each) for each in program_calls(block)] == [1, 2]
    assert z.tolist() == pytest.approx([3 * np.e] * 2)


def test_end_of_block_computes_referenced_tensors() -> None:
    with mt.lazy() as block:
        y = mt.arange(3.0) * 2
        assert not block.programs
    assert len(block.programs) == 1
    assert y.tolist() == [0, 2, 4]


def test_in_place_changes_run_after_earlier_reads() -> None:
    x = mt.tensor([1.0, 2.0])
    with mt.lazy():
        y = x * 2
        x.add_(10)
        z = x * 2
        x[0] = 7
        part = x[1:]
        part.mul_(0)
        w = x + 0
    assert y.tolist() == [2, 4]
    assert z.tolist() == [22, 24]
    assert w.tolist() == x.tolist() == [7, 0]


def test_gradients_are_lazy() -> None:
    weight = mt.tensor([[0.5], [-0.5]], requires_grad=True)
    x = mt.tensor([[1.0, 2.0], [3.0, 0.0]])

    def gradient() -> Any:
        weight.grad = None
        (x @ weight).tanh().square().mean().backward()
        return weight.grad

    expected = gradient().tolist()
    with mt.lazy() as block:
        found = gradient()
        assert not block.programs
        assert found.tolist() == expected
    assert len(block.programs) >= 1


def test_lazy_training_steps_have_the_same_losses_as_eager_ones() -> None:
    def losses(block: Any) -> list[float]:
        weight = mt.tensor([1.0, -2.0], requires_grad=True)
        found = []
        with block:
            for _ in range(4):
                weight.grad = None
                loss = (weight * weight).sum()
                loss.backward()
                with mt.no_grad():
                    weight.sub_(weight.grad, alpha=0.1)
                found.append(loss.item())
        return found

    assert losses(mt.lazy()) == losses(mt.enable_grad())


def test_shape_errors_are_raised_by_the_call() -> None:
    with mt.lazy(), pytest.raises(IndexingError):
        mt.ones(2) + mt.ones(3)


def test_tensors_can_be_computed_after_an_error_in_the_block() -> None:
    with contextlib.suppress(ZeroDivisionError), mt.lazy():
        y = mt.ones(2) * 3
        _ = 1 // (y.ndim - 1)
    assert y.tolist() == [3, 3]
    assert (y + 1).tolist() == [4, 4]


def test_shapes_and_views_need_no_computation() -> None:
    with mt.lazy() as block:
        x = mt.arange(6.0).view(2, 3) * 2
        y = mt.cat([x.T, x.T[:1]], 0)
        assert y.shape == (4, 2)
        assert y[3].shape == (2,)
        assert not block.programs
        assert y[3].tolist() == [0, 6]


def test_lazy_block_does_not_affect_other_threads() -> None:
    found: list[Any] = []
    x = mt.ones(2)
    with mt.lazy() as block:
        pending = x * 2

        def work() -> None:
            found.append((x + 1)._tensor)
            found.append(pending.tolist())

        thread = threading.Thread(target=work)
        thread.start()
        thread.join()
        assert type(found[0]).__name__ == "TensorData"
        assert found[1] == [2, 2]
        assert len(block.programs) == 1


def test_nested_blocks_and_compiled_functions_join_the_outer_block() -> None:
    compiled = mt.compile(lambda x: (x + 1) * 2)
    x = mt.ones(2)
    compiled(x)
    with mt.lazy() as block:
        with mt.lazy() as inner:
            y = compiled(x)
        assert not inner.programs
        assert not block.programs
        assert y.tolist() == [4, 4]
        assert len(block.programs) == 1
    compiled_block = mt.compile(_triple_lazily)
    for _ in range(2):
        assert compiled_block(x).tolist() == [3, 3]
    assert compiled_block.programs


def _triple_lazily(x: mt.Tensor) -> mt.Tensor:
    with mt.lazy():
        return x * 3


def test_lazy_random_numbers_equal_eager_ones() -> None:
    def drawn() -> list[Any]:
        mt.manual_seed(3)
        return [(mt.rand(2) * 2).tolist(), mt.randn(2).tolist(), mt.randint(0, 9, (2,)).tolist()]

    expected = drawn()
    with mt.lazy():
        assert drawn() == expected


def test_lazy_block_keeps_only_the_last_16_programs() -> None:
    with mt.lazy() as block:
        for number in range(20):
            (mt.ones(1) * number).realize()
    assert len(block.programs) == 16


def test_realize_of_a_computed_tensor_returns_it() -> None:
    x = mt.ones(2)
    assert x.realize() is x
