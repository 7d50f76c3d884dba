"""Cubins on disk: what one process has compiled, the next one hands to the driver.

NVRTC takes a twelfth of a second for a kernel and more, and a training step has dozens. Each cubin
is in a file that is named by a hash of all that went into it: the kernel's text, the modules that
make C of it, the kind of GPU, the version of the compiler. So a file is never out of date, and
needs no lock; one that is damaged, or that others could have written, is compiled anew. What was
not used for longest makes room where there is too much.
"""

from __future__ import annotations

import contextlib
import functools
from pathlib import Path

from mt_cuda import c
from mt_cuda.core.compiler import Capability
from mt_cuda.core.gpu import Gpu, Loaded
from mt_cuda.core.kernel import Kernel
from mt_cuda.core.tables import GPU
from mt_cuda.cubins import nvrtc
from mt_fast.extending import Folder, hashed

FOLDER = Folder("mt-cuda", "MT_CUDA_CACHE")
"""Where the cubins are."""

MOST = 2**28
"""How many bytes of them are kept; a cubin has about ten thousand."""


def cubin(kernel: Kernel, capability: Capability) -> bytes:
    """Return a kernel as machine code for GPUs of one compute capability, from disk if it is there.

    Raises:
        KernelError: NVRTC is missing, or the kernel does not compile.
        BackendUnavailableError: `MT_CUDA_CACHE` names a folder of a user whom nobody knows.
    """
    entry = _entry(kernel, capability)
    code = FOLDER.read(entry)
    if code is None:
        code = nvrtc.cubin(kernel, capability)
        FOLDER.write(entry, code)
        _make_room(FOLDER.path())
    return code


def _entry(kernel: Kernel, capability: Capability) -> str:
    """Return the name of the file of a kernel."""
    told = repr((kernel.parameters, nvrtc.options(capability), nvrtc.version()))
    digest = hashed(kernel.source, kernel.native, told, _meaning()).hex()
    return f"{kernel.name[:80]}-{digest[:32]}.cubin"


@functools.cache
def _meaning() -> bytes:
    """Return a hash of what makes C of a kernel's text, which takes longer than reading a cubin."""
    modules = [Path(nvrtc.__file__), *sorted(Path(c.__file__).parent.glob("*.py"))]
    return hashed(*(module.read_bytes() for module in modules))


@functools.cache
def _make_room(folder: Path | None) -> None:
    """Once in a process, remove what was not used for longest, until a quarter is free."""
    if folder is None:
        return
    with contextlib.suppress(OSError):  # others may be at it, too
        files = [(file, file.stat()) for file in folder.glob("*.cubin*")]
        size = sum(status.st_size for _, status in files)
        if size <= MOST:
            return
        for file, status in sorted(files, key=lambda each: max(each[1].st_atime, each[1].st_mtime)):
            if size <= MOST * 3 // 4:
                return
            file.unlink()
            size -= status.st_size


def load(gpu: Gpu, kernel: Kernel) -> Loaded:
    """Hand a kernel as machine code to the driver; it takes all memory as addresses."""
    code = gpu.core.ObjectCode.from_cubin(cubin(kernel, gpu.capability), name=kernel.name)
    return Loaded(kernel, gpu.handle(code, kernel.name), arrays=False)


GPU["load"] = load
