"""PTX of every kernel, compiled for Hopper without a GPU: loads, registers, source, errors."""

import importlib.util
import re
import subprocess
from pathlib import Path

import pytest

import mt_cuda
from mt_cuda.core.compiler import compile_kernel
from mt_cuda.core.errors import KernelError
from mt_cuda.core.kernel import Kernel, Parameter
from mt_cuda.cubins import nvrtc
from mt_cuda.inspection import kernels as inspection
from mt_operators import OPERATORS
from mt_operators.core.errors import UnknownOperatorError
from mt_tensor.extending import DTYPES

NOT_OPERATORS = (
    "gather",
    "matmul",
    *(f"scatter_{update}" for update in ("set", "add", "maximum", "minimum")),
    *(f"scatter_lines_{update}" for update in ("add", "mul", "maximum", "minimum")),
)
"""Kernels that belong to no operator."""

REDUCED_IN_FLOAT64 = re.compile(r"(sin|cos|tan|sinc|lgamma|digamma)(_gradient_0)?_float(16|32)_")
"""CUDA's functions of float32 that reduce huge angles in float64."""


def group(name):
    """Return the operator of a kernel, or its name in `NOT_OPERATORS`."""
    return re.split(r"_(?:gradient|bool|b?float|u?int)", name)[0]


def formula_dtype_and_pattern(name):
    """Return the operation of a kernel, its dtype, and its memory access pattern."""
    return re.fullmatch(rf"(.*?)_({'|'.join(DTYPES)})(?:_\d)?_(.*)", name).groups()


@pytest.fixture(scope="session")
def covering_kernels(every_kernel):
    """Return the names of kernels that cover each formula and each access pattern.

    Each formula is covered in every dtype that it computes in, and each access pattern in every
    dtype and with every number of parameters. A formula has the same text in every pattern, and
    16-bit dtypes compute in float32, so that other combinations would test nothing new.
    """
    traits = {name: set(traits_of(kernel)) for name, kernel in every_kernel.items()}
    chosen, known = set(), set()
    for least in (3, 2, 1):  # start with kernels that cover most
        for name, found in traits.items():
            if len(found - known) >= least:
                chosen.add(name)
                known |= found
    return chosen


def traits_of(kernel):
    """Yield the properties of a kernel that must be covered once."""
    formula, dtype, pattern = formula_dtype_and_pattern(kernel.name)
    yield formula, "float32" if dtype in ("float16", "bfloat16") else dtype
    yield pattern, dtype
    yield pattern, len(kernel.parameters)


def accesses(ptx, kind):
    """Return the instructions that start with `kind`, such as `ld.global`, without operands."""
    return [line.split()[0] for line in ptx.splitlines() if line.strip().startswith(kind)]


def test_reduction_kernels_exist_for_bool_or_every_numeric_dtype(every_kernel):
    numbers = set(DTYPES) - {"uint16", "uint32"}  # these are like uint8
    for name, types in (("logical_and", {"bool"}), ("logical_xor", {"bool"}), ("add", numbers)):
        for pattern in ("rows", "columns"):
            folds = [
                re.fullmatch(rf"{name}_(\w+?)_{pattern}_1_1", kernel) for kernel in every_kernel
            ]
            assert {match[1] for match in folds if match} == types


@pytest.mark.slow
@pytest.mark.parametrize("kind", [*OPERATORS, *NOT_OPERATORS])
def test_kernel_compiles_without_calls_and_float64_arithmetic(kind, every_kernel, covering_kernels):
    found = [every_kernel[name] for name in covering_kernels if group(name) == kind]
    assert found
    for kernel in found:
        ptx = nvrtc.ptx(kernel)
        assert ".target sm_90" in ptx
        assert "call" not in re.sub(r"//.*", "", ptx).split(), f"{kernel.name} calls a function"
        double = ptx.count(".f64")
        if "float64" in kernel.name or re.match("(is_close|signbit)_int", kernel.name):
            continue
        if re.match("id_(bool|u?int[0-9]+)_bfloat16", kernel.name):  # integers round only once
            continue
        if REDUCED_IN_FLOAT64.match(kernel.name):
            assert double <= 40, f"{kernel.name} computes in float64"
        else:
            assert not double, f"{kernel.name} computes in float64"


def test_kernels_cover_every_operator_and_template(every_kernel):
    assert {group(name) for name in every_kernel} == {*OPERATORS, *NOT_OPERATORS}
    for operator in OPERATORS.values():
        for layout in inspection.ELEMENTWISE:
            names = [n for n in every_kernel if re.match(rf"{operator.name}_(float|bool|int)", n)]
            templates = ("strided", "contiguous") if operator.result == "bool" else (layout,)
            if operator.name != "where":
                assert any(template in n for n in names for template in templates), operator.name
    for name in ("matmul", "gather", "scatter_set", "scatter_add", "scatter_lines_mul"):
        assert any(kernel.startswith(name) for kernel in every_kernel), name


@pytest.mark.parametrize(
    ("name", "dtype", "width", "reads", "writes"),
    [
        ("tanh", "float32", "v4.f32", 1, 1),
        ("add", "float32", "v4.f32", 2, 1),
        ("add", "float64", "v2.f64", 2, 1),
        ("add", "int32", "v4.u32", 2, 1),
        ("exp", "float16", "v4.u32", 1, 1),
        ("mul", "bfloat16", "v4.u32", 2, 1),
        ("add", "int8", "v4.u32", 2, 1),
        ("logical_and", "bool", "v4.u32", 2, 1),
    ],
)
def test_vector_kernel_moves_16_bytes_at_a_time(name, dtype, width, reads, writes):
    ptx = mt_cuda.compile_ptx(name, dtype=dtype, layout="vector")
    assert accesses(ptx, "ld.global").count(f"ld.global.{width}") == reads
    assert accesses(ptx, "st.global").count(f"st.global.{width}") == writes


def test_fused_gradient_reads_each_input_once():
    ptx = mt_cuda.compile_ptx("div", layout="vector", gradient=True)
    assert accesses(ptx, "ld.global").count("ld.global.v4.f32") <= 4
    assert accesses(ptx, "st.global").count("st.global.v4.f32") == 2


def test_strided_kernel_divides_indices_in_32_bits():
    ptx = mt_cuda.compile_ptx("add", layout="strided")
    loop = ptx[ptx.index("ld.global") - 3000 : ptx.index("ld.global")]
    assert "div.u32" in loop


def test_scatter_add_uses_hardware_atomics(every_kernel):
    for dtype, instruction in (
        ("float32", ".add.f32"),
        ("float64", ".add.f64"),
        ("int64", ".add.u64"),
        ("int32", ".add.u32"),
    ):
        ptx = compile_kernel(every_kernel[f"scatter_add_{dtype}_2"]).ptx
        assert re.search(rf"(atom|red)\.global{re.escape(instruction)}", ptx), dtype


def ptxas():
    """Return the path of the assembler, which the extra `ptx` installs."""
    roots = importlib.util.find_spec("nvidia").submodule_search_locations
    found = [path for root in roots for path in Path(root).glob("**/bin/ptxas*")]
    assert found, "ptxas is missing: install the extra `ptx`"
    return found[0]


@pytest.mark.parametrize(
    "pattern",
    [
        r"matmul_float32_(128|32)_[rc]{2}_",
        r"(add|maximum)_float(32|64)_(rows|columns)",
        r"(div|pow|sigmoid)_float32",
        r"(div|pow|sigmoid)_gradient_\d+_float32",
        r"(gather|scatter_\w+)_float32",
    ],
)
def test_kernel_spills_no_registers(pattern, tmp_path, every_kernel):
    names = [name for name in every_kernel if re.match(pattern, name)]
    assert len(names) > 6
    for name in names:
        check_registers(every_kernel[name], tmp_path)


def check_registers(kernel, folder):
    name, file = kernel.name, folder / f"{kernel.name}.ptx"
    file.write_text(nvrtc.ptx(kernel))
    run = subprocess.run(
        [ptxas(), "-arch=sm_90", "-v", file, "-o", file.with_suffix(".cubin")],
        capture_output=True,
        text=True,
        check=True,
    )
    assert "0 bytes stack frame, 0 bytes spill stores, 0 bytes spill loads" in run.stderr, name
    registers = int(re.search(r"Used (\d+) registers", run.stderr).group(1))
    assert registers <= (255 if "matmul" in name else 64), name


# --- Selecting kernels --------------------------------------------------------------------------


def test_source_depends_on_layout_dtype_and_gradient():
    text = mt_cuda.source("tanh")
    assert text.startswith("def tanh_float32_contiguous(n, x0, x0_at, y0, y0_at):")
    assert "math.tanh(a0)" in text
    assert "float32(1.0) - t0" in mt_cuda.source("tanh", gradient=True)
    assert "cuda.syncthreads()" in mt_cuda.source("add", layout="rows")
    assert "a_tile" in mt_cuda.source("matmul", dtype="float64")


@pytest.mark.parametrize(
    ("name", "layout", "operands", "rank"),
    [
        ("tanh", "contiguous", set(), 0),
        ("tanh", "vector", set(), 0),
        ("tanh", "strided", {"x0", "y0"}, 2),
        ("copy", "contiguous", {"x0", "y0"}, 2),
        ("gather", "contiguous", {"source", "index", "out"}, 2),
        ("scatter", "contiguous", {"source", "index", "out"}, 2),
        ("add", "rows", {"kept", "folded", "out"}, 1),
        ("add", "columns", {"kept", "folded", "out"}, 1),
    ],
)
def test_source_has_one_stride_per_operand_and_dimension(name, layout, operands, rank):
    head = mt_cuda.source(name, layout=layout).splitlines()[0]
    strides = set(re.findall(r"(\w+)_stride(\d)", head))
    assert strides == {(operand, str(d)) for operand in operands for d in range(rank)}


def test_source_of_invalid_kernel_raises():
    with pytest.raises(UnknownOperatorError, match="Did you mean 'sigmoid'"):
        mt_cuda.source("sigmod")
    with pytest.raises(KernelError, match="layout must be one of contiguous"):
        mt_cuda.source("tanh", layout="diagonal")
    with pytest.raises(KernelError, match="cannot be a reduction"):
        mt_cuda.source("tanh", layout="rows")
    with pytest.raises(KernelError, match="has no gradient"):
        mt_cuda.source("lt", gradient=True)
    for form in ({"layout": "rows"}, {"layout": "diagonal"}, {"gradient": True}):
        with pytest.raises(KernelError, match="matmul has a single kernel"):
            mt_cuda.source("matmul", **form)
    with pytest.raises(KernelError, match="add has no fused backward with layout 'rows'"):
        mt_cuda.source("add", layout="rows", gradient=True)


def test_compiler_error_names_the_kernel():
    broken = Kernel("broken", "def broken(n):\n    unknown(n)\n", (Parameter("n"),))
    with pytest.raises(KernelError, match=r"(?s)broken does not compile.*unknown\(n\)"):
        compile_kernel(broken)
