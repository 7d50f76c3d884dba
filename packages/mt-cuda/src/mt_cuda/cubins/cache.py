"""Cubins on disk, shared by processes.

NVRTC takes a twelfth of a second or more per kernel, and a training step has dozens. Each cubin is
in a file that is named by a hash of everything that determines it: the kernel's source, the modules
that translate it to C, the kind of GPU, the version of the compiler. So a file is never out of
date, and needs no lock; one that is damaged, or that other users could have written, is compiled
again.
"""

from __future__ import annotations

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
"""The folder of the cubins."""


def cubin(kernel: Kernel, capability: Capability) -> bytes:
    """Return a kernel as machine code for GPUs of one compute capability, from disk if possible.

    Raises:
        KernelError: NVRTC is missing, or the kernel does not compile.
        BackendUnavailableError: `MT_CUDA_CACHE` names the home of a user who does not exist.
    """
    entry = _entry(kernel, capability)
    code = FOLDER.read(entry)
    if code is None:
        code = nvrtc.cubin(kernel, capability)
        FOLDER.write(entry, code)
    return code


def _entry(kernel: Kernel, capability: Capability) -> str:
    """Return the file name of a kernel."""
    settings = repr((kernel.parameters, nvrtc.options(capability), nvrtc.version()))
    digest = hashed(kernel.source, kernel.native, settings, _meaning()).hex()
    return f"{kernel.name[:80]}-{digest[:32]}.cubin"


@functools.cache
def _meaning() -> bytes:
    """Return a hash of the modules that translate kernels to C; translating would take longer."""
    modules = [Path(nvrtc.__file__), *sorted(Path(c.__file__).parent.glob("*.py"))]
    return hashed(*(module.read_bytes() for module in modules))


def load(gpu: Gpu, kernel: Kernel) -> Loaded:
    """Load the machine code of a kernel; it takes all memory as addresses."""
    code = gpu.core.ObjectCode.from_cubin(cubin(kernel, gpu.capability), name=kernel.name)
    return Loaded(kernel, gpu.handle(code, kernel.name), arrays=False)


GPU["load"] = load
