"""Indices checked on the device, with errors that are raised at the next synchronization.

Whether all indices are in range is known on the device only, and checking it on the host would
require waiting at every lookup. So a kernel makes indices safe: it counts negative ones from the
end, replaces an invalid one by 0, and notes it in a few words of memory, the `Notice`. The host
reads the notice together with its next download, and raises the error then.
"""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from typing import Any

import numpy as np

from mt_cuda.core.backend import CudaOps, Plan
from mt_cuda.core.elements import operand
from mt_cuda.core.kernel import Kernel, Lines, define, numbers, over_grid
from mt_cuda.core.layout import (
    index_type,
    merge,
    position,
    size_names,
    stride_names,
    take_apart,
    wide_suffix,
)
from mt_cuda.core.machine import Machine
from mt_cuda.core.tables import SPECIAL_CASES
from mt_tensor import DType, TensorData, int64, uint64
from mt_tensor.backends.extending import index_error
from mt_tensor.errors import IndexingError
from mt_tensor.extending import Array

WORDS = ("check", "lowest", "highest", "place", "least", "length")
"""The words of a notice: the number of the check that found something, 0 if none did; the smallest
and the largest invalid index; the number of the operation; and the range of valid indices."""

NOTED = ("check", "place")
"""The names of the integer parameters with which a kernel notes an invalid index."""

MOST_PLACES = 4096
"""The maximum number of pairs of operation and dimension that errors distinguish."""

_SOMEWHERE = ("an operation", "a dimension")
_LIMITS = np.iinfo(np.int64)


def noting(picked: str, least: str, length: str) -> Lines:
    """Return the lines that note an index if it is out of range.

    They need the numbers `NOTED` and the operand `notice`, an array of int64; see
    `launch_checking`.

    Args:
        picked: the variable with the index, an int64.
        least: the expression of the smallest valid index.
        length: the expression of the smallest index that is too large.
    """
    words = {"check": "check", "place": "place", "least": least, "length": length}
    return [
        f"if ({picked} < {least}) | ({picked} >= {length}):",
        "    seen = notice[notice_at]",
        "    if (seen == 0) | (seen == check):  # the first check that finds something",
        *(f"        notice[notice_at + {WORDS.index(w)}] = {value}" for w, value in words.items()),
        f"        cuda.atomic.min(notice, notice_at + {WORDS.index('lowest')}, {picked})",
        f"        cuda.atomic.max(notice, notice_at + {WORDS.index('highest')}, {picked})",
    ]


def safe(dtype: DType, rank: int, index: str) -> Kernel:
    """Return the kernel that copies indices as int64, and reports invalid ones.

    Args:
        dtype: the dtype of the indices.
        rank: the number of dimensions after merging.
        index: the integer type of index arithmetic.
    """
    given, out = (position(f"{each}_at", stride_names(each, rank)) for each in ("index", "out"))
    lines = [
        f"picked = int64(index[{given}])",
        *noting("picked", "least", "length"),
        "    picked = 0",
        "if picked < 0:",
        "    picked = picked + length",
        f"out[{out}] = picked",
    ]
    parameters = [
        *numbers("n", *size_names(rank)),
        *numbers(*(stride for each in ("index", "out") for stride in stride_names(each, rank))),
        *numbers("least", "length", *NOTED),
        *operand("index", dtype),
        *operand("out", int64),
        *operand("notice", int64, array=True),
    ]
    body = over_grid([*take_apart("i", size_names(rank), index), *lines])
    return define(f"safe_indices_{dtype.name}_{rank}{wide_suffix(index)}", parameters, body)


class Notice:
    """The words on the device in which checks note invalid indices.

    Attributes:
        pending: whether there was a check since the words were last read.
    """

    def __init__(self, machine: Machine) -> None:
        self.machine = machine
        self.pending = False
        self._words: TensorData | None = None
        self._checks = itertools.count(1)
        self._numbers = itertools.count()
        self._places: dict[tuple[str, str], int] = {}

    @property
    def words(self) -> TensorData:
        """The words, initially without an invalid index."""
        if self._words is None:
            nothing = np.array([0, _LIMITS.max, _LIMITS.min, 0, 0, 0], np.int64)
            self._words = TensorData(self.machine.upload(nothing), (len(WORDS),), dtype=int64)
        return self._words

    def place(self, where: tuple[str, str]) -> int:
        """Return the number assigned to an operation and its dimension."""
        if where not in self._places and len(self._places) >= MOST_PLACES:
            where = _SOMEWHERE
        return self._places.setdefault(where, next(self._numbers))

    def next_check(self) -> int:
        """Return the number of a new check."""
        return next(self._checks)

    def read(self, memory: Any, count: int) -> Array:
        """Download the first elements of an allocation, and the words.

        Raises:
            IndexingError: an index was out of range, and the error has not been raised yet.
        """
        self.pending = False
        words = (self.words.storage, len(WORDS))
        values, found = self.machine.download_all([(memory, count), words])
        self._raise(found)
        return values

    def wait(self) -> None:
        """Wait for the device, and read the words.

        Raises:
            IndexingError: as in `read`.
        """
        self.pending = False
        self._raise(self.machine.download(self.words.storage, len(WORDS)))

    def _raise(self, found: Array) -> None:
        check, lowest, highest, place, least, length = found.tolist()
        if not check:
            return
        self._words = None
        (where,) = (each for each, number in self._places.items() if number == place)
        error = index_error(where, lowest if lowest < least else highest, length)
        raise IndexingError(f"{error} The device detected it in an earlier call.")


def notice_of(ops: CudaOps) -> Notice:
    """Return the notice of a backend."""
    if "notice" not in ops.state:
        ops.state.setdefault("notice", Notice(ops.machine))
    return ops.state["notice"]  # type: ignore[no-any-return]


def checked_indices(
    ops: CudaOps, index: TensorData, size: int, where: tuple[str, str], negative: bool
) -> TensorData | None:
    """Check indices on the device; return None for uint64, no indices or an empty dimension."""
    if index.dtype is uint64 or not size or not index.size:
        return None
    once = tuple(e if s else 1 for e, s in zip(index.shape, index.strides, strict=True))
    given = index if once == index.shape else index.like(once, index.strides, index.offset)
    out = ops.empty(once, int64)

    def plan() -> Plan:
        layout = merge(once, (given.strides, out.strides))
        kernel = safe(index.dtype, layout.rank, index_type(layout.size))
        flat = (stride for strides in layout.strides for stride in strides)
        return ops.plan_over_grid(kernel, layout.size, (*layout.shape[1:], *flat))

    key = ("indices", index.dtype, once, given.strides)
    values = (np.int64(-size if negative else 0), np.int64(size))
    launch_checking(ops, ops.remembered(key, plan), (given, out), where, values)
    return out.expand(index.shape)


def launch_checking(
    ops: CudaOps,
    plan: Plan,
    views: Sequence[TensorData],
    where: tuple[str, str],
    values: Sequence[np.generic] = (),
) -> None:
    """Launch a kernel that notes invalid indices (see `noting`); the notice is its last view.

    Args:
        ops: the backend.
        plan: the launch.
        views: the other views.
        where: the operation, and its dimension; see `checked_indices`.
        values: the numbers before `NOTED`.
    """
    notice = notice_of(ops)
    noted = (np.int64(notice.next_check()), np.int64(notice.place(where)))
    ops.launch(plan, (*views, notice.words), (*values, *noted))
    notice.pending = True


def download(ops: CudaOps, storage: Any, count: int) -> Array | None:
    """Download elements and the notice; None if there was no check."""
    notice = notice_of(ops)
    return notice.read(storage, count) if notice.pending else None


def synchronize(ops: CudaOps) -> bool:
    """Wait for the device and read the notice; False if there was no check."""
    notice = notice_of(ops)
    if not notice.pending:
        return False
    notice.wait()
    return True


SPECIAL_CASES["checked_indices"] = checked_indices
SPECIAL_CASES["download"] = download
SPECIAL_CASES["synchronize"] = synchronize
