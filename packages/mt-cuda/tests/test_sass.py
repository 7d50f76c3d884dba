"""What GPUs execute: no spills, 16 bytes at a time, and products that do little else."""

import json
import re

import pytest

from mt_cuda import bench
from mt_cuda.bench import sass as report
from mt_cuda.core.errors import KernelError
from mt_cuda.core.kernel import define, numbers, operand
from mt_cuda.cubins.nvrtc import cubin
from mt_cuda.inspection import kernels as inspection
from mt_cuda.inspection import sass
from mt_cuda.matrices import tensor_cores, tiles
from mt_cuda.matrices.product import Product
from mt_cuda.matrices.strips import Factor
from mt_tensor import bfloat16, float16, float32


@pytest.fixture(scope="module")
def rows():
    """The figures of some kernels, by name; `python -m mt_cuda.bench sass` shows those of all."""
    return {row["kernel"]: row for row in report.rows(report.representative(), [(9, 0)])}


def test_nothing_spills_and_what_is_promised_moves_16_bytes(rows):
    assert len(rows) >= 15
    for name, row in rows.items():
        assert row["spills"] == 0, name
        assert set(row["promised"]) <= set(row["wide"]), name
    assert sum("LDG.128" in row["promised"] for row in rows.values()) >= 5


def test_products_multiply_and_add(rows):
    products = {name: row for name, row in rows.items() if name.startswith("product_")}
    assert len(products) == 4
    for name, row in products.items():
        if "float16" in name:
            assert row["tensor_cores"] == 32  # 4 by 4 pieces, at two positions of a strip
        else:
            assert row["tensor_cores"] == 0
            assert row["share"] >= (0.88 if "wide" in name else 0.8), name
            assert row["instructions_an_element"] <= 1.25


@pytest.mark.parametrize("dtype", [float16, bfloat16], ids=str)
def test_tensor_cores_multiply_where_there_are_some(dtype):
    tile = tiles.TILES[3]
    for by_inner in (True, False):
        way = Factor(by_inner, wide=True)
        kernel = tensor_cores.best(Product(dtype, dtype, tile, way, way, wide=False, batch=1))
        for gpu, count in (((7, 5), 0), ((10, 0), 32)):
            (row,) = report.rows([kernel], [gpu])
            assert row["tensor_cores"] == count
            assert row["spills"] == 0
            assert set(row["promised"]) <= set(row["wide"])


@pytest.mark.parametrize("gpu", [(8, 0), (12, 0)])
def test_old_and_new_gpus_alike(gpu):
    (row,) = report.rows([next(report.products())], [gpu])
    assert row["share"] >= 0.88
    assert row["spills"] == 0
    assert set(row["promised"]) <= set(row["wide"])


@pytest.mark.parametrize(
    ("kernel", "most"),
    [
        ("add_float32_vector", 7),
        ("add_float32_rows", 9),
        ("tanh_float32_contiguous", 45),
        ("mul_float32_strided", 50),
    ],
)
def test_instructions_an_element(rows, kernel, most):
    (row,) = (row for name, row in rows.items() if name.startswith(kernel))
    assert 3 <= row["instructions_an_element"] <= most


def code_of(kernel):
    """Return the machine code of one kernel."""
    (code,) = sass.disassembled(cubin(kernel, (9, 0))).values()
    return code


def test_a_thread_that_needs_memory_of_its_own_is_found():
    body = [
        "own = cuda.local.array(64, float32)",
        "i = 0",
        "while i < 64:",
        "    own[(i * n) % 64] = x[i]",
        "    i += 1",
        "x[0] = own[n]",
    ]
    kernel = define("indexed", [*numbers("n"), *operand("x", float32)], body)
    assert code_of(kernel).spills > 0


def test_loops_are_found_and_counted():
    code = code_of(inspection.kernel("add", layout="vector"))
    assert code.stream.moved == {"LDG": 32, "STG": 16}
    assert code.wide == {"LDG.128": 2, "STG.128": 1}
    assert 4 * 5 <= code.stream.instructions <= 4 * 8
    straight = define("one", [*numbers("n"), *operand("x", float32)], ["x[n] = x[n] + x[n + 1]"])
    (everything,) = code_of(straight).loops
    assert everything.moved == {"LDG": 8, "STG": 4}


def test_the_report_for_programs_and_for_people(capsys, monkeypatch):
    monkeypatch.setattr(report, "kernels", lambda: list(report.representative()))
    command = ["sass", "--gpu", "9.0", "--kernel", "^add_float32_vector"]
    assert bench.main([*command, "--json"]) == 0
    (row,) = json.loads(capsys.readouterr().out)
    assert row["kernel"] == "add_float32_vector"
    assert row["capability"] == "9.0"
    assert row["share"] is None
    assert bench.main(command) == 0
    assert re.search(r"2 LDG.128, 1 STG.128 +add_float32_vector for 9.0", capsys.readouterr().out)


def test_the_report_says_why_there_is_none(capsys, monkeypatch):
    assert bench.main(["sass", "--gpu", "1.0"]) == 1
    assert "1.0 is none of 7.5, 8.0" in capsys.readouterr().err

    def missing():
        raise KernelError("nvdisasm is not there")

    monkeypatch.setattr(sass, "_disassembler", missing)
    monkeypatch.setattr(report, "kernels", lambda: [inspection.kernel("tanh")])
    assert bench.main(["sass", "--gpu", "9.0"]) == 1
    assert "nvdisasm is not there" in capsys.readouterr().err


def test_steps_give_the_kernels(monkeypatch):
    import mt_tensor as mt

    def make():
        x = mt.ones(4, 4)
        return lambda: x @ x

    monkeypatch.setattr(report, "steps", lambda: {"products": make})
    assert [kernel.name.partition("_")[0] for kernel in report.kernels()] == ["product"]
    monkeypatch.setattr(report, "steps", dict)
    assert len(report.kernels()) > 10
