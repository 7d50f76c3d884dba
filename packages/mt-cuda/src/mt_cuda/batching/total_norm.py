"""The norm of many tensors as if they were one vector, for clipping: one launch per 16 tensors.

Each block sums the squares of its elements, and stores the sum. One more launch adds these sums,
always in the same order, and computes the square root.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from mt_cuda.batching import groups
from mt_cuda.batching.groups import TENSORS
from mt_cuda.core.elements import computed, load, operand
from mt_cuda.core.kernel import Kernel, define
from mt_cuda.rows.kernels import Operand, RowLayout, Rows, functions, planned
from mt_cuda.rows.teams import Team
from mt_cuda.tensors import elements_of, is_floating, new, ops_of, tensor_of
from mt_fast.extending import constant
from mt_tensor import DType, Tensor
from mt_tensor.extending import FusedKernel


def squares(dtype: DType, threads: int) -> Kernel:
    """Return the kernel in which each block stores the sum of the squares of its elements."""
    compute, team = computed(dtype), Team(threads, threads)
    body = [
        *functions("plus"),
        f"memory = cuda.shared.array({threads}, {compute.name})",
        "thread = cuda.threadIdx.x",
        "lane = thread",
        *groups.find(["x"]),
        f"total = {constant(0, compute)}",
        *groups.visit(
            threads, [f"element = {load('x[i]', dtype, compute)}", "total += element * element"]
        ),
        *team.fold([("total", "plus", "memory")]),
        "if lane == 0:",
        "    partial[partial_at + block] = total",
    ]
    parameters = [*groups.counts(), *groups.storages([("x", dtype)]), *operand("partial", compute)]
    return define(f"squares_{dtype.name}", parameters, body)


def root_of_sum(dtype: DType, team: Team) -> Rows:
    """Return the kernel that adds the sums of blocks, and stores the square root of the total."""
    compute = computed(dtype)
    operands = {"partial": Operand(compute), "out": Operand(dtype, "row")}
    rows = Rows("root_of_sum", operands, team, compute)
    return rows.sums(total="{partial}").store("out", "math.sqrt(total)")


class TotalNorm(FusedKernel):
    """The norm of all elements; the arguments are a tensor, other tensors and the order.

    It has no gradient, and is used only if no gradient is required.
    """

    def fits(self, *arguments: Any) -> bool:
        """Return whether the order is 2, and non-empty tensors share a float dtype and backend."""
        first, others, p = arguments
        return (
            p == 2
            and is_floating(first, *others)
            and all(x.backend is first.backend for x in others)
        )

    def value(self, needs: Sequence[bool], *arguments: Any) -> tuple[Tensor, tuple[Any, ...]]:
        """Return the norm, a zero-dimensional tensor."""
        first, others, _ = arguments
        ops, dtype = ops_of(first), first.dtype
        threads = ops.machine.size.threads
        given = [elements_of(x) for x in (first, *others)]
        blocks = [groups.blocks_of(x.size, threads) for x in given]
        partial, out = new(first, (sum(blocks),), computed(dtype)), new(first, ())
        place = 0
        for k in range(0, len(given), TENSORS):
            some = given[k : k + TENSORS]
            sizes = [x.size for x in some]

            def plan(sizes: list[int] = sizes) -> Any:
                numbers, count = groups.counts_of(sizes, threads)
                return ops.plan(squares(dtype, threads), (count, 1), threads, numbers)

            filled = [*some, *[some[-1]] * (TENSORS - len(some))]
            target = partial.like((1,), (1,), place)
            ops.launch(ops.remembered(("squares", dtype, *sizes), plan), [*filled, target])
            place += sum(blocks[k : k + TENSORS])

        root = planned(ops, (root_of_sum, dtype), RowLayout(1, partial.size))
        ops.launch(root, [partial, out])
        return tensor_of(out, first), ()


KERNELS = {"total_norm": TotalNorm()}
"""For `mt_tensor.extending.register_kernels`."""
