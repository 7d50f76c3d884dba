"""Compile C to the machine code of a GPU with NVRTC, CUDA's compiler as a library.

It takes a tenth of the time of Numba, needs neither driver nor GPU, and produces a *cubin*: machine
code for one kind of GPU, which any driver of the same CUDA version runs, and which the next process
reads from disk (see `mt_cuda.cubins.cache`).

The prelude before the source of a kernel defines the macros and functions of its C for CUDA.
"""

from __future__ import annotations

import functools
from typing import Any

from mt_cuda.c.translation import to_c
from mt_cuda.core.compiler import HOPPER, Capability
from mt_cuda.core.errors import KernelError
from mt_cuda.core.gpu import EXTRAS
from mt_cuda.core.kernel import Kernel

PRELUDE = """\
typedef signed char int8;
typedef short int16;
typedef int int32;
typedef long long int64;
typedef unsigned char uint8;
typedef unsigned short uint16;
typedef unsigned int uint32;
typedef unsigned long long uint64;
typedef unsigned int index32;
typedef unsigned short float16;  // its bits: it is computed with as float32
typedef float float32;
typedef double float64;

#define INFINITY __int_as_float(0x7f800000)
#define NAN __int_as_float(0x7fffffff)

#define KERNEL extern "C" __global__
#define DEVICE static __device__ __forceinline__
#define GLOBAL
#define SHARED __shared__
#define SHARED_POINTER
#define BARRIER __syncthreads()
#define UNROLL _Pragma("unroll")

#define THREAD threadIdx.x
#define THREADS blockDim.x
#define BLOCK_X blockIdx.x
#define BLOCK_Y blockIdx.y
#define BLOCKS_X gridDim.x
#define BLOCKS_Y gridDim.y
#define GRID_INDEX ((int64)blockIdx.x * blockDim.x + threadIdx.x)
#define GRID_SIZE ((int64)gridDim.x * blockDim.x)

#define LANES __align__(16)  // elements that are moved together, 16 bytes at a time
#define LOAD_LANES(space, lanes, place) (*(uint4 *)(lanes) = *(const uint4 *)(place))
#define STORE_LANES(space, place, lanes) (*(uint4 *)(place) = *(const uint4 *)(lanes))

DEVICE int64 floor_quotient(int64 x, int64 y)
{
    return x / y - ((x % y != 0) & ((x < 0) != (y < 0)));
}

DEVICE int64 floor_remainder(int64 x, int64 y)
{
    return x - floor_quotient(x, y) * y;
}

DEVICE float32 float_of_half(float16 bits)
{
    float32 x;
    asm("cvt.f32.f16 %0, %1;" : "=f"(x) : "h"(bits));
    return x;
}

DEVICE float16 half_of_float32(float32 x)
{
    float16 bits;
    asm("cvt.rn.f16.f32 %0, %1;" : "=h"(bits) : "f"(x));
    return bits;
}

DEVICE float16 half_of_float64(float64 x)
{
    float16 bits;
    asm("cvt.rn.f16.f64 %0, %1;" : "=h"(bits) : "d"(x));
    return bits;
}

DEVICE float32 float_of_bfloat16(uint16 bits)
{
    return __uint_as_float((uint32)bits << 16);
}

DEVICE uint16 bfloat16_of_float32(float32 x)
{
#if __CUDA_ARCH__ >= 800
    uint16 upper;
    asm("cvt.rn.bf16.f32 %0, %1;" : "=h"(upper) : "f"(x));
    return upper;
#else
    uint32 bits = __float_as_uint(x);
    return x != x ? 0x7fc0 : (bits + 0x7fff + (bits >> 16 & 1)) >> 16;
#endif
}

DEVICE uint16 bfloat16_of_float64(float64 x)
{
    float32 wide = __double2float_rz(x);  // with its last bit set if anything was lost
    wide = __uint_as_float(__float_as_uint(wide) | (wide != x & x == x));
    return bfloat16_of_float32(wide);
}

#define ATOMIC(way, call, kind, bits) \\
    DEVICE void atomic_##way##_##kind(kind *place, kind x) { call((bits *)place, (bits)x); }
ATOMIC(add, atomicAdd, int32, int32)
ATOMIC(add, atomicAdd, int64, uint64)
ATOMIC(add, atomicAdd, float32, float32)
ATOMIC(add, atomicAdd, float64, float64)
ATOMIC(max, atomicMax, int32, int32)
ATOMIC(max, atomicMax, int64, int64)
ATOMIC(min, atomicMin, int32, int32)
ATOMIC(min, atomicMin, int64, int64)

"""
"""The definitions before every kernel."""


def cubin(kernel: Kernel, capability: Capability = HOPPER) -> bytes:
    """Compile a kernel for GPUs of one compute capability; no driver is needed.

    Raises:
        KernelError: NVRTC is missing, or the kernel does not compile.
    """
    return _compiled(kernel, capability, "CUBIN")


def ptx(kernel: Kernel, capability: Capability = HOPPER) -> str:
    """Compile a kernel to PTX; the arguments and errors are those of `cubin`."""
    return _compiled(kernel, capability, "PTX").decode()


def _compiled(kernel: Kernel, capability: Capability, target: str) -> bytes:
    """Compile a kernel with NVRTC, to "CUBIN" or "PTX"."""
    release = ".".join(map(str, version()))  # raises if NVRTC is missing
    from cuda.bindings import nvrtc

    source, name = text(kernel, capability).encode(), kernel.name.encode()
    _, program = nvrtc.nvrtcCreateProgram(source, name, 0, [], [])
    try:
        (status,) = nvrtc.nvrtcCompileProgram(program, 1, [options(capability).encode()])
        if status == nvrtc.nvrtcResult.NVRTC_SUCCESS:
            return _read(nvrtc, target, program)
        reason = _read(nvrtc, "ProgramLog", program).decode()
    finally:
        nvrtc.nvrtcDestroyProgram(program)
    if "invalid value for --gpu-architecture" in reason:
        raise KernelError(
            f"NVRTC of CUDA {release} does not support GPUs of compute capability "
            f"{'.'.join(map(str, capability))}. Install the newest version that the driver "
            f"supports: {EXTRAS}."
        )
    raise KernelError(f"kernel {kernel.name} does not compile ({status.name}: {reason}).")


def _read(nvrtc: Any, what: str, program: Any) -> bytes:
    """Return an output of a program; text without its final zero byte."""
    _, size = getattr(nvrtc, f"nvrtcGet{what}Size")(program)
    content: bytes = b" " * size
    getattr(nvrtc, f"nvrtcGet{what}")(program, content)
    return content if what == "CUBIN" else content.rstrip(b"\0")


AMPERE: Capability = (8, 0)
"""The lowest compute capability that has the instructions of native kernels."""


def text(kernel: Kernel, capability: Capability) -> str:
    """Return the C source of a kernel for NVRTC, with the prelude."""
    return PRELUDE + (kernel.native if kernel.native and capability >= AMPERE else to_c(kernel))


def options(capability: Capability) -> str:
    """Return the options for NVRTC."""
    return f"--gpu-architecture=sm_{capability[0]}{capability[1]}"


@functools.cache
def version() -> tuple[int, int]:
    """Return the CUDA version of the compiler.

    Raises:
        KernelError: NVRTC is missing.
    """
    try:
        from cuda.bindings import nvrtc

        _, major, minor = nvrtc.nvrtcVersion()
    except (ImportError, RuntimeError) as error:
        reason = str(error).splitlines()[0]
        raise KernelError(
            f"kernels are compiled by NVRTC, which is missing ({reason}). Install it: {EXTRAS}."
        ) from error
    return major, minor
