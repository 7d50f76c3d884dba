"""What a GPU executes of a kernel: its machine code, taken apart by NVIDIA's disassembler.

How fast a kernel can be at best is seen in its innermost loop, without a GPU: how many of the
instructions that are issued there multiply and add, how many bytes one of them moves, and whether
registers sufficed. No figure here is a time.
"""

from __future__ import annotations

import functools
import re
import subprocess
import tempfile
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from mt_cuda.core.errors import KernelError

MULTIPLY_AND_ADD = ("FFMA", "DFMA", "HFMA2", "HMMA")
"""Instructions that multiply and add: of floats of 32, 64 and 16 bits, and of whole matrices."""

MOVES = {"LDG": "LDG", "LD": "LDG", "STG": "STG", "ST": "STG", "LDS": "LDS", "STS": "STS"}
"""Instructions that read and write memory, and what they count as: where the compiler does not know
which memory is meant, it is taken for the GPU's."""

SPILLS = ("LDL", "STL")
"""Instructions that read and write what belongs to a thread, but lies in memory."""

_INSTRUCTION = re.compile(r"/\*[0-9a-f]{4,}\*/\s+(?:@!?U?P\w+ )?([A-Z][\w.]*)(.*?);")
_LABEL = re.compile(r"^(\.L_x_\d+):")
_TARGET = re.compile(r"`\((\.L_x_\d+)\)")


@dataclass(frozen=True, slots=True)
class Loop:
    """Instructions that are repeated.

    Attributes:
        instructions: how many.
        multiplied: how many of them multiply and add.
        moved: how many bytes of global memory those of each kind move, `LDG` or `STG`.
    """

    instructions: int
    multiplied: int
    moved: dict[str, int]

    @property
    def share(self) -> float:
        """The share of instructions that multiply and add."""
        return self.multiplied / self.instructions


@dataclass(frozen=True, slots=True)
class Sass:
    """The machine code of a kernel.

    Attributes:
        instructions: the names of its instructions, with what follows a point.
        loops: those that no other loop is inside of; all instructions, if there is none.
        registers: how many a thread has.
        shared: the bytes of shared memory that a block has.
    """

    instructions: tuple[str, ...]
    loops: tuple[Loop, ...]
    registers: int
    shared: int

    @property
    def spills(self) -> int:
        """Instructions that move what did not fit into registers, or was indexed there."""
        return sum(name.split(".")[0] in SPILLS for name in self.instructions)

    @property
    def wide(self) -> dict[str, int]:
        """How many instructions move 16 bytes, by what they do: `{"LDG.128": 2, ...}`."""
        found = Counter(
            f"{MOVES[name.split('.')[0]]}.128"
            for name in self.instructions
            if name.split(".")[0] in MOVES and "128" in name.split(".")
        )
        return dict(sorted(found.items()))

    @property
    def tensor_cores(self) -> int:
        """Instructions that multiply whole matrices."""
        return sum(name.startswith("HMMA") for name in self.instructions)

    @property
    def product(self) -> Loop:
        """The loop that multiplies most; of several the shortest."""
        return max(self.loops, key=lambda loop: (loop.multiplied, -loop.instructions))

    @property
    def stream(self) -> Loop:
        """The loop that moves most of global memory; of several the shortest."""
        return max(self.loops, key=lambda loop: (sum(loop.moved.values()), -loop.instructions))


def disassembled(cubin: bytes) -> dict[str, Sass]:
    """Take the machine code of kernels apart, and return it by their names.

    Raises:
        KernelError: the disassembler is missing, or it refuses the code.
    """
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "kernel.cubin"
        file.write_bytes(cubin)
        run = subprocess.run(
            [_disassembler(), "-ndf", str(file)], capture_output=True, text=True, check=False
        )
    if run.returncode:
        raise KernelError(f"nvdisasm refuses a kernel: {run.stderr.strip()}")
    return {name: _read(name, text, run.stdout) for name, text in _sections(run.stdout)}


def _sections(text: str) -> Iterator[tuple[str, str]]:
    """Yield the name of each kernel, and the text from its first instruction on."""
    for found in re.finditer(
        r"^\.text\.(\w+):\n(.*?)(?=^//-----|\Z)", text, re.MULTILINE | re.DOTALL
    ):
        yield found[1], found[2]


def _read(kernel: str, code: str, text: str) -> Sass:
    """Read what the disassembler has written: the code of a kernel, and about it elsewhere."""
    instructions: list[tuple[str, str]] = []
    labels: dict[str, int] = {}
    for line in code.splitlines():
        if label := _LABEL.match(line):
            labels[label[1]] = len(instructions)
        elif found := _INSTRUCTION.search(line):
            instructions.append((found[1], found[2]))
    backwards = []
    for end, (name, operands) in enumerate(instructions):
        target = _TARGET.search(operands)
        begin = labels.get(target[1]) if target and name.startswith("BRA") else None
        if begin is not None and begin < end:
            backwards.append((begin, end))
    inner = [
        (begin, end)
        for begin, end in backwards
        if not any((b, e) != (begin, end) and begin <= b and e <= end for b, e in backwards)
    ]
    names = [name for name, _ in instructions]
    parts = [names[begin : end + 1] for begin, end in inner] or [names]
    registers = re.search(
        rf"EIATTR_REGCOUNT\n(?:(?!EIATTR).)*?index@\({kernel}\)\n.*?(0x[0-9a-f]{{8}})",
        text,
        re.DOTALL,
    )
    shared = re.search(rf"^\.nv\.shared\.{kernel}:\n\s+\.zero\s+(\d+)", text, re.MULTILINE)
    if registers is None:
        raise KernelError(f"nvdisasm does not say how many registers {kernel} has.")
    return Sass(
        tuple(names),
        tuple(map(_loop, parts)),
        int(registers[1], 16),
        int(shared[1]) if shared else 0,
    )


def _loop(names: list[str]) -> Loop:
    """Count the instructions of a loop."""
    moved = {"LDG": 0, "STG": 0}
    for name in names:
        kind, *rest = name.split(".")
        if MOVES.get(kind) in moved:
            moved[MOVES[kind]] += _bits(rest) // 8
    multiplied = sum(name.split(".")[0] in MULTIPLY_AND_ADD for name in names)
    return Loop(len(names), multiplied, moved)


def _bits(suffixes: list[str]) -> int:
    """Return how many bits an instruction moves: 32, unless it says otherwise."""
    widths = [int(digits[1]) for s in suffixes if (digits := re.fullmatch(r"[US]?(\d+)", s))]
    return widths[0] if widths else 32


@functools.cache
def _disassembler() -> str:
    """Return where nvdisasm is."""
    try:
        from cuda.pathfinder import find_nvidia_binary_utility
    except ImportError:
        found = None
    else:
        found = find_nvidia_binary_utility("nvdisasm")
    if found is None:
        raise KernelError(
            "machine code is taken apart by nvdisasm, which is not there. Install it: "
            "pip install 'mt-cuda[ptx]'."
        )
    return str(found)
