"""What a kernel for GPUs becomes when it is compiled, in numbers; no GPU is needed for it.

NVIDIA's compiler turns a kernel into PTX, instructions for any GPU of a capability; its assembler
`ptxas` into those that one kind executes, with so many registers for each thread.
"""

from __future__ import annotations

import importlib.util
import re
import subprocess
import tempfile
from pathlib import Path

from mt.concept.maps import GeneratedKernel

CAPABILITY = (9, 0)
"""The GPU that is compiled for."""

_INSTRUCTION = re.compile(r"^\s+(?:@!?%p\d+\s+)?([a-z][a-z0-9_]*(?:\.\w+)*)\s", re.MULTILINE)
_SHARED = re.compile(r"\.shared \.align \d+ \.b8 \w+\[(\d+)\]")


def compiled_facts(kernel: GeneratedKernel) -> str:
    """Return a sentence on what a kernel of mt-cuda becomes, or why it cannot be compiled here."""
    try:
        import mt_cuda

        layout = {"layout": kernel.layout} if kernel.layout else {}
        ptx = mt_cuda.compile_ptx(
            kernel.name, gradient=kernel.gradient, capability=CAPABILITY, **layout
        )
    except (ImportError, RuntimeError) as error:
        return f"not compiled here: {error}"
    names = _INSTRUCTION.findall(ptx)

    def count(start: str) -> int:
        return sum(name.startswith(start) for name in names)

    facts = [
        f"{len(names)} instructions of PTX",
        f"{count('ld.global')} loads from global memory",
        f"{count('st.global')} stores to it",
        f"{count('bar.sync')} barriers",
        f"{sum(map(int, _SHARED.findall(ptx))):,} bytes of shared memory",
    ]
    registers = _registers(ptx)
    if registers is not None:
        facts.append(f"{registers} registers for each thread")
    major, minor = CAPABILITY
    return f"Compiled for compute capability {major}.{minor}: {', '.join(facts)}."


def _registers(ptx: str) -> int | None:
    """Return how many registers a thread takes; None where there is no assembler."""
    assembler = _assembler()
    if assembler is None:
        return None
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "kernel.ptx"
        file.write_text(ptx, encoding="utf-8")
        major, minor = CAPABILITY
        command = [
            str(assembler),
            f"-arch=sm_{major}{minor}",
            "-v",
            str(file),
            "-o",
            f"{file}.cubin",
        ]
        done = subprocess.run(command, capture_output=True, text=True, check=False)
    found = re.search(r"Used (\d+) registers", done.stderr)
    return int(found.group(1)) if found else None


def _assembler() -> Path | None:
    """Return the assembler that the extra `ptx` of mt-cuda installs."""
    package = importlib.util.find_spec("nvidia")
    roots = package.submodule_search_locations if package else None
    found = [path for root in roots or () for path in Path(root).glob("**/bin/ptxas*")]
    return found[0] if found else None
