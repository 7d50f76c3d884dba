"""Indices checked on the device: nobody waits for them, and an error comes when somebody waits.

Whether all indices are in range is known on the device only, and asking for it would make the host
wait at every lookup. So a kernel makes indices safe: it counts negative ones from the end, puts 0
in the place of a wrong one, and makes a note of that in a few words of memory, the `Notice`. The
host reads the notice together with whatever it downloads next, and raises the error then.
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
"""What a notice says: the number of the check that found something, 0 if none did; the extremes of
what it found; the number of the operation; and between which indices it asked for them to be."""

ASKED = ("check", "place")
"""The numbers that a kernel needs to note what it finds."""

MOST_PLACES = 4096
"""How many operations, each with what it counts, are told from each other."""

_SOMEWHERE = ("an operation", "a dimension")
_LIMITS = np.iinfo(np.int64)


def noting(picked: str, least: str, length: str) -> Lines:
    """Return the lines that note an index if it is out of range.

    They need the numbers `ASKED` and the operand `notice`, an array of int64; see
    `launch_checking`.

    Args:
        picked: the variable with the index, an int64.
        least: the expression of the least index that is in range.
        length: that of the least index that is beyond.
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
    """Return the kernel that copies indices as int64, and notes the wrong ones.

    Args:
        dtype: their type.
        rank: the number of dimensions after merging.
        index: the type in which positions are taken apart.
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
        *numbers("least", "length", *ASKED),
        *operand("index", dtype),
        *operand("out", int64),
        *operand("notice", int64, array=True),
    ]
    body = over_grid([*take_apart("i", size_names(rank), index), *lines])
    return define(f"safe_indices_{dtype.name}_{rank}{wide_suffix(index)}", parameters, body)


class Notice:
    """The words on the device in which a check notes what it has found, and what they mean.

    Attributes:
        pending: whether there was a check since they were last read.
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
        """The words, which begin with nothing found."""
        if self._words is None:
            nothing = np.array([0, _LIMITS.max, _LIMITS.min, 0, 0, 0], np.int64)
            self._words = TensorData(self.machine.upload(nothing), (len(WORDS),), dtype=int64)
        return self._words

    def place(self, where: tuple[str, str]) -> int:
        """Return the number of an operation and of what it counts."""
        if where not in self._places and len(self._places) >= MOST_PLACES:
            where = _SOMEWHERE
        return self._places.setdefault(where, next(self._numbers))

    def next_check(self) -> int:
        """Return the number of a new check."""
        return next(self._checks)

    def read(self, memory: Any, count: int) -> Array:
        """Download the first elements of a memory, and the words.

        Raises:
            IndexingError: an index was out of range, and nobody was told yet.
        """
        self.pending = False
        words = (self.words.storage, len(WORDS))
        values, found = self.machine.download_all([(memory, count), words])
        self._raise(found)
        return values

    def wait(self) -> None:
        """Wait for the device; raises as `read` does."""
        self.pending = False
        self._raise(self.machine.download(self.words.storage, len(WORDS)))

    def _raise(self, found: Array) -> None:
        check, lowest, highest, place, least, length = found.tolist()
        if not check:
            return
        self._words = None
        (where,) = (each for each, number in self._places.items() if number == place)
        error = index_error(where, lowest if lowest < least else highest, length)
        raise IndexingError(f"{error} It was found on the device, before this waited for it.")


def notice_of(ops: CudaOps) -> Notice:
    """Return where the checks of a backend note what they find."""
    if "notice" not in ops.state:
        ops.state.setdefault("notice", Notice(ops.machine))
    return ops.state["notice"]  # type: ignore[no-any-return]


def checked_indices(
    ops: CudaOps, index: TensorData, size: int, where: tuple[str, str], negative: bool
) -> TensorData | None:
    """Check on the device, if there is any index that can be right; else return None."""
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
    """Launch a kernel that notes wrong indices (see `noting`), the notice being its last view.

    Args:
        ops: the backend.
        plan: what was planned.
        views: the other views.
        where: the operation, and what it counts; see `checked_indices`.
        values: the numbers before `ASKED`.
    """
    notice = notice_of(ops)
    asked = (np.int64(notice.next_check()), np.int64(notice.place(where)))
    ops.launch(plan, (*views, notice.words), (*values, *asked))
    notice.pending = True


def download(ops: CudaOps, storage: Any, count: int) -> Array | None:
    """Download elements and what checks have noted; None if there was no check."""
    notice = notice_of(ops)
    return notice.read(storage, count) if notice.pending else None


def synchronize(ops: CudaOps) -> bool:
    """Wait for the device and read what checks have noted; False if there was no check."""
    notice = notice_of(ops)
    if not notice.pending:
        return False
    notice.wait()
    return True


SPECIAL_CASES["checked_indices"] = checked_indices
SPECIAL_CASES["download"] = download
SPECIAL_CASES["synchronize"] = synchronize
