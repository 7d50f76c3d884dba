"""Declarations of the OpenCL functions that kernels use, instead of clang's complete header.

PoCL parses that header of 18,000 lines for every program, which takes ten times as long as the
kernel. Its guard leaves it out.
"""

from __future__ import annotations

from itertools import product

OPTION = "-D_OPENCL_H_"
"""The guard of the header."""

_ONE = [
    "acos",
    "acosh",
    "asin",
    "asinh",
    "atan",
    "atanh",
    "ceil",
    "cos",
    "cosh",
    "erf",
    "erfc",
    "exp",
    "exp2",
    "expm1",
    "fabs",
    "floor",
    "log",
    "log10",
    "log1p",
    "log2",
    "rint",
    "sin",
    "sinh",
    "sqrt",
    "tan",
    "tanh",
    "trunc",
]
_TWO = ("atan2", "fmod", "hypot", "pow")
_SIZES = ("global_id", "global_size", "group_id", "local_id", "local_size", "num_groups")

_OTHERS = """\
#define OVER __attribute__((overloadable))
void OVER __attribute__((convergent)) barrier(cl_mem_fence_flags);
float OVER vload_half(size_t, const half *);
void OVER vstore_half_rte(float, size_t, half *);
void OVER vstore_half_rte(double, size_t, half *);
uint OVER atomic_cmpxchg(volatile __global uint *, uint, uint);
ulong OVER atom_cmpxchg(volatile __global ulong *, ulong, ulong);
#define as_uint(x) __builtin_astype(x, uint)
#define as_ulong(x) __builtin_astype(x, ulong)
#define as_float(x) __builtin_astype(x, float)
#define as_double(x) __builtin_astype(x, double)
"""

DECLARATIONS = "".join(
    [
        _OTHERS,
        *(f"size_t OVER get_{name}(uint);\n" for name in _SIZES),
        *(f"{t} OVER {name}({t});\n" for name, t in product(_ONE, ("float", "double"))),
        *(f"{t} OVER {name}({t}, {t});\n" for name, t in product(_TWO, ("float", "double"))),
        *(
            f"{t} OVER {atom}_{way}(volatile __global {t} *, {t});\n"
            for (atom, t), way in product(
                (("atomic", "int"), ("atom", "long")), ("add", "max", "min")
            )
        ),
        "\n",
    ]
)
