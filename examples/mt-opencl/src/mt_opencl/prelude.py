"""OpenCL definitions of the names in translated kernels: types, indices, barriers, atomics."""

from __future__ import annotations

_TYPES = {
    "int8": "char",
    "int16": "short",
    "int32": "int",
    "int64": "long",
    "uint8": "uchar",
    "uint16": "ushort",
    "uint32": "uint",
    "uint64": "ulong",
    "index32": "uint",
    "float16": "ushort",
    "float32": "float",
    "float64": "double",
}
"""The types of elements. They are macros, since some of the names are vector types in OpenCL."""

_MACROS = """\
#pragma OPENCL EXTENSION cl_khr_fp64 : enable
#pragma OPENCL EXTENSION cl_khr_int64_base_atomics : enable
#pragma OPENCL EXTENSION cl_khr_int64_extended_atomics : enable

#define KERNEL __kernel
#define DEVICE static inline
#define GLOBAL __global
#define SHARED __local
#define SHARED_POINTER __local
#define BARRIER barrier(CLK_LOCAL_MEM_FENCE)
#define UNROLL __attribute__((opencl_unroll_hint))
#define THREAD ((uint)get_local_id(0))
#define THREADS ((uint)get_local_size(0))
#define BLOCK_X ((uint)get_group_id(0))
#define BLOCK_Y ((uint)get_group_id(1))
#define BLOCKS_X ((uint)get_num_groups(0))
#define BLOCKS_Y ((uint)get_num_groups(1))
#define GRID_INDEX ((long)get_global_id(0))
#define GRID_SIZE ((long)get_global_size(0))
#define LANES __attribute__((aligned(16)))
#define LOAD_LANES(space, lanes, place) (*(uint4 *)(lanes) = *(space uint4 *)(place))
#define STORE_LANES(space, place, lanes) (*(space uint4 *)(place) = *(uint4 *)(lanes))
"""

_HALVES = """
static inline float float_of_half(ushort bits) { return vload_half(0, (half *)&bits); }

static inline ushort half_of_float32(float x)
{
    ushort bits;
    vstore_half_rte(x, 0, (half *)&bits);
    return bits;
}

static inline ushort half_of_float64(double x)
{
    ushort bits;
    vstore_half_rte(x, 0, (half *)&bits);
    return bits;
}
"""

_BFLOATS = """
static inline float float_of_bfloat16(ushort bits) { return as_float((uint)bits << 16); }

static inline ushort bfloat16_of_float32(float x)
{
    uint bits = as_uint(x);
    return x != x ? 0x7fc0 : (bits + 0x7fff + (bits >> 16 & 1)) >> 16;
}

static inline ushort bfloat16_of_float64(double x)
{
    float wide = (float)x;  // rounded to the nearest; now towards zero, with the last bit set
    uint bits = as_uint(wide) - (fabs((double)wide) > fabs(x)) | (wide != x && x == x);
    return bfloat16_of_float32(as_float(bits));
}
"""

_QUOTIENTS = """
static inline long floor_quotient(long x, long y)
{
    return x / y - ((x % y != 0) & ((x < 0) != (y < 0)));
}

static inline long floor_remainder(long x, long y)
{
    return x - floor_quotient(x, y) * y;
}
"""

_WHOLE_ATOMICS = """
static inline void atomic_add_int32(__global int *at, int x) { atomic_add(at, x); }
static inline void atomic_max_int32(__global int *at, int x) { atomic_max(at, x); }
static inline void atomic_min_int32(__global int *at, int x) { atomic_min(at, x); }
static inline void atomic_add_int64(__global long *at, long x) { atom_add(at, x); }
static inline void atomic_max_int64(__global long *at, long x) { atom_max(at, x); }
static inline void atomic_min_int64(__global long *at, long x) { atom_min(at, x); }
"""

_FLOAT_ATOMIC = """
static inline void atomic_add_{kind}(__global {type} *at, {type} x)
{{
    {bits} before, after;
    do {{  // until no other thread has changed it meanwhile
        before = *(volatile __global {bits} *)at;
        after = as_{bits}(as_{type}(before) + x);
    }} while ({exchange}((volatile __global {bits} *)at, before, after) != before);
}}
"""

PRELUDE = "".join(
    [
        _MACROS,
        *(f"#define {name} {meant}\n" for name, meant in _TYPES.items()),
        _HALVES,
        _BFLOATS,
        _QUOTIENTS,
        _WHOLE_ATOMICS,
        _FLOAT_ATOMIC.format(kind="float32", type="float", bits="uint", exchange="atomic_cmpxchg"),
        _FLOAT_ATOMIC.format(kind="float64", type="double", bits="ulong", exchange="atom_cmpxchg"),
        "\n",
    ]
)
"""The text before every kernel."""
