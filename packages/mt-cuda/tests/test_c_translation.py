"""Translation of kernels to C, and errors for unsupported statements."""

import textwrap

import pytest

from mt_cuda.c.translation import to_c
from mt_cuda.core import indexed
from mt_cuda.core.elements import operand
from mt_cuda.core.errors import KernelError
from mt_cuda.core.kernel import Kernel, Parameter, define, numbers
from mt_cuda.inspection import kernels as inspection
from mt_operators import OPERATORS
from mt_operators.core.lowering import expanded
from mt_operators.core.tracing import graph_of
from mt_tensor import bfloat16, float16, float32, int32, int64


def body_in_c(body, *operands):
    """Return the body of a kernel with these lines, in C."""
    text = to_c(define("some", [*numbers("n"), *(p for o in operands for p in operand(*o))], body))
    return textwrap.dedent(text.partition("{\n")[2].rpartition("}\n")[0])


def test_tanh_kernel_is_translated_to_c():
    assert to_c(inspection.kernel("tanh")) == textwrap.dedent("""\
        DEVICE float32 element_float32(float32 a0)
        {
            float32 t0 = tanh(a0);
            return t0;
        }

        KERNEL void tanh_float32_contiguous(
            int64 n,
            GLOBAL float32 *x0,
            int64 x0_at,
            GLOBAL float32 *y0,
            int64 y0_at)
        {
            int64 i = GRID_INDEX;
            int64 step = GRID_SIZE;
            while (i < n) {
                y0[y0_at + i] = element_float32(x0[x0_at + i]);
                i += step;
            }
        }
        """)


@pytest.mark.parametrize(
    ("python", "c"),
    [
        ("x[0] = y[0] * (y[1] + y[2])", "x[0] = y[0] * (y[1] + y[2]);"),
        ("x[0] = y[0] - (y[1] - y[2])", "x[0] = y[0] - (y[1] - y[2]);"),
        ("x[0] = -y[0] if y[0] < 0 else abs(y[0])", "x[0] = y[0] < 0.0f ? -y[0] : fabs(y[0]);"),
        ("x[0] = float32(0.5)", "x[0] = 0.5f;"),
        ("x[0] = float32(-inf)", "x[0] = -INFINITY;"),
        ("x[0] = float32(n // 2)", "x[0] = (float32)floor_quotient(n, 2);"),
        ("x[0] = math.exp(n)", "x[0] = exp((float64)n);"),
        ("x[0] = libdevice.rintf(y[0])", "x[0] = rint(y[0]);"),
        ("x[0] = y[0] + n", "x[0] = (float64)y[0] + (float64)n;"),
        ("i[0] = i[1] + i[2]", "i[0] = (int64)i[1] + (int64)i[2];"),
        ("h[0] = float16(y[0] * y[1])", "h[0] = half_of_float32(y[0] * y[1]);"),
        ("x[0] = float32(h[0])", "x[0] = float_of_half(h[0]);"),
        ("b[0] = bfloat16(y[0] * y[1])", "b[0] = bfloat16_of_float32(y[0] * y[1]);"),
        ("b[0] = bfloat16(i[0])", "b[0] = bfloat16_of_float64((float64)i[0]);"),
        ("x[0] = float_of_bfloat16(b[0])", "x[0] = float_of_bfloat16(b[0]);"),
        ("x[n % 3] += y[0]", "x[floor_remainder(n, 3)] += y[0];"),
        ("x[0] -= y[0] - y[1]", "x[0] -= (y[0] - y[1]);"),
        ("e = cuda.threadIdx.x // 16", "index32 e = THREAD / 16;"),
        ("e = min(n, 7)", "int64 e = n < 7 ? n : 7;"),
        ("e = (n < 3) | (n > 7)", "bool e = (n < 3) | (n > 7);"),
        ("e = cuda.shared.array((4, 5), float32)", "SHARED LANES float32 e[4][5];"),
        ("e = x[n + 1:]", "GLOBAL float32 *e = x + (n + 1);"),
        ("cuda.syncthreads()", "BARRIER;"),
        ("cuda.atomic.add(x, n + 1, y[0])", "atomic_add_float32(x + (n + 1), y[0]);"),
    ],
)
def test_statement_is_translated_to_c(python, c):
    operands = (("x", float32), ("y", float32), ("i", int32), ("h", float16), ("b", bfloat16))
    assert body_in_c([python], *operands).strip() == c


def test_integer_formula_wraps_around():
    body = ["def f(a):", "    return -a * 3 + abs(a)", "i[0] = f(i[0])"]
    text = to_c(define("some", operand("i", int64), body))
    assert "(int64)((uint64)" in text
    assert "(int64)(0 - (uint64)a)" in text


@pytest.mark.parametrize("dtype", [int32, int64], ids=["int32", "int64"])
def test_integer_reduction_wraps_around(dtype):
    graph = expanded(graph_of(OPERATORS["mul"].value))
    text = to_c(indexed.scatter_lines("mul", graph, dtype, 1, "index32"))
    function, _, kernel = text.partition("KERNEL")
    assert f"({dtype.name})" in function
    assert "(uint64)" in function
    assert f"out[at] = combine_{dtype.name}(a, b);" in kernel


def test_variable_is_declared_at_its_first_assignment():
    body = [
        "total = float32(0)",
        "while n > 1:",
        "    twice = 2 * n",
        "    total = total + float32(twice)",
        "    n -= 1",
        "while n > 0:",
        "    twice = y[n]",
        "    n -= 1",
        "for twice in range(2):",
        "    total += float32(twice)",
        "y[0] = total",
    ]
    lines = [line.strip() for line in body_in_c(body, ("y", float32)).splitlines()]
    assert lines[0] == "float32 total = 0.0f;"
    assert "total = total + (float32)twice;" in lines
    assert "int64 twice = 2 * n;" in lines
    assert "float32 twice = y[n];" in lines


def test_function_with_several_results_writes_through_pointers():
    body = ["def f(a):", "    return a, a < 0", "r, s = f(y[0])", "y[1] = r if s else y[0]"]
    text = to_c(define("some", operand("y", float32), body))
    assert "DEVICE void f_float32(float32 a, float32 *result0, bool *result1)" in text
    assert "f_float32(y[0], &r, &s);" in text


def test_load4_and_store4_name_their_memory_space():
    body = ["s = cuda.shared.array(8, float32)", "p = s[4:]", "q = load4(p, 0)", "p = p[n:]"]
    body += ["store4(s, n, (q[0], q[1], q[2], q[3]))", "store4(x, 0, (q[0], q[1], q[2], q[3]))"]
    assert body_in_c(body, ("x", float32)) == textwrap.dedent("""\
        SHARED LANES float32 s[8];
        SHARED_POINTER float32 *p = s + 4;
        LANES float32 q[4];
        LOAD_LANES(SHARED_POINTER, q, p + 0);
        p = p + n;
        {
            LANES float32 lanes[4] = {q[0], q[1], q[2], q[3]};
            STORE_LANES(SHARED_POINTER, s + n, lanes);
        }
        {
            LANES float32 lanes[4] = {q[0], q[1], q[2], q[3]};
            STORE_LANES(GLOBAL, x + 0, lanes);
        }
        """)


def test_every_kernel_translates_to_c(every_kernel):
    for kernel in every_kernel.values():
        text = to_c(kernel)
        assert text.count("{") == text.count("}"), kernel.name


@pytest.mark.parametrize(
    "line",
    [
        "y[0] = [1, 2][0]",
        "y[0] = unknown(n)",
        "y[0] = never",
        "y[0] = n[0]",
        "y[0] = cuda.warpsize",
        "y[0] = 'text'",
        "print(n)",
        "a, b = n",
        "for i in y: pass",
        "import math",
        "y[0] = not n",
        "y[0] = uint64(n) + n",
        "if n > 0:\n        e = n\n    y[0] = e",
        "e = y[n:n]",
        "e = n; e = y[n:]",
        "e = cuda.local.array(8, float32); f = e[n:]",
        "e = cuda.local.array(8, float32); f = load4(e, 0)",
        "y[0] = y[1] if 0 < n < 5 else y[2]",
        "y[0] = y[1] if n is 5 else y[2]",
        "y[0] = y[1] if n in (1, 2) else y[2]",
        "y[0] = y[1] ** 2",
        "y[0] **= 2",
        "y[0] = float32()",
        "y[0] = float32(n, n)",
        "y[0] = bfloat16(n, n)",
        "y[0] = float_of_bfloat16(n, n)",
        "y[0] = abs(n, n)",
        "y[0] = max(n)",
        "y[0] = max(n, 1, 2)",
        "y[0] = max(n, 1, key=abs)",
        "y[0] = cuda.grid(2)",
        "for i in range(1, 5): y[i] = n",
        "for i in range(5): y[i] = n\n    else: y[0] = n",
        "while n > 5: n -= 1\n    else: y[0] = n",
        "a = b = n",
        "a, b = unknown(n)",
        "e = cuda.local.array(8)",
        "e = cuda.local.array(n, float32)",
        "e = load4(y)",
        "store4(y, (n, n, n, n))",
        "cuda.atomic.add(y, 0)",
    ],
)
def test_unsupported_statement_raises_and_is_quoted(line):
    with pytest.raises(KernelError, match="kernel some cannot be written in C: `"):
        body_in_c([line], ("y", float32))


@pytest.mark.parametrize(
    ("body", "line"),
    [
        ("return a, a", "y[0] = f(n)"),
        ("return a, a", "a, b, c = f(n)"),
        ("return a", "a, b = f(n)"),
        ("return a", "y[0] = f(n, n)"),
        ("return a", "y[0] = f(a=n)"),
        ("return a, a", "a, b = f(n, n)"),
        ("b = a", "y[0] = f(n)"),
        ("if a > 0:\n            return a\n        return a, a", "y[0] = f(n)"),
    ],
)
def test_call_with_wrong_number_of_arguments_or_results_raises(body, line):
    with pytest.raises(KernelError, match="kernel some cannot be written in C: `"):
        body_in_c(["def f(a):", f"    {body}", line], ("y", float32))


def test_kernel_parameters_are_pointers_and_integers():
    kernel = Kernel(
        "k", "def k(n, x):\n    x[0] = n", (Parameter("n"), Parameter("x", "uint8", "pointer"))
    )
    assert to_c(kernel).startswith("KERNEL void k(int64 n, GLOBAL uint8 *x)\n{\n")
