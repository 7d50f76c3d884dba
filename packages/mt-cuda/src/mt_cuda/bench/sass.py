"""What GPUs execute of the kernels of training steps: seen in machine code, without a GPU.

Each kernel is compiled for each kind of GPU and taken apart. A row of the report says how many
registers a thread has, whether they sufficed, which instructions move 16 bytes at a time and which
the kernel's text promises, and for the innermost loop how many instructions one element takes: one
that is stored, or else read. For a product that is a single multiplication, and `share` is its
counterpart, how many of the instructions multiply and add; so it is for other loops that move
nothing. Of tensor cores, which multiply 64 times in one instruction, these are counted.
"""

from __future__ import annotations

import ast
import json
import multiprocessing
import os
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from concurrent.futures import ProcessPoolExecutor
from typing import Any

from mt_cuda.bench.launches import recorded, steps
from mt_cuda.c.translation import to_c
from mt_cuda.core.compiler import Capability
from mt_cuda.core.kernel import Kernel
from mt_cuda.cubins.nvrtc import together
from mt_cuda.inspection.kernels import kernel
from mt_cuda.inspection.sass import Loop, Sass, disassembled
from mt_cuda.matrices.product import Product, product
from mt_cuda.matrices.strips import Factor
from mt_cuda.matrices.tensor_cores import best
from mt_cuda.matrices.tiles import TILES
from mt_tensor import float16, float32
from mt_tensor.extending import as_dtype

CAPABILITIES: tuple[Capability, ...] = ((7, 5), (8, 0), (8, 6), (8, 9), (9, 0), (10, 0), (12, 0))
"""Turing, Ampere (of servers, of desktops), Ada, Hopper, Blackwell (of servers, of desktops)."""

TOGETHER = 16
"""So many kernels are taken apart at once: the disassembler takes a second to begin with."""

PRODUCTS = re.compile("product_|matmul_")


def kernels() -> list[Kernel]:
    """Return the kernels of the steps that installed packages offer, or a few if none does."""
    found = {
        launch.kernel.name: launch.kernel
        for make in steps().values()
        for launch in recorded(make).launches
    }
    return list(found.values()) or list(representative())


def representative() -> Iterator[Kernel]:
    """Yield a kernel of every template of the lesson, and products of several layouts."""
    for name, layout in (("add", "vector"), ("tanh", "contiguous"), ("mul", "strided")):
        yield kernel(name, layout=layout)
        yield kernel(name, layout=layout, gradient=True)
    yield kernel("add", layout="rows")
    yield kernel("maximum", layout="columns")
    yield from (kernel(name) for name in ("gather", "scatter", "matmul"))
    yield from products()


def products() -> Iterator[Kernel]:
    """Yield products of large matrices, of gradients, of narrow numbers, and of any layout."""
    for dtype, by_inner in ((float32, True), (float32, False), (float16, True)):
        a, b = Factor(by_inner, wide=True), Factor(not by_inner, wide=True)
        yield best(Product(dtype, float32, TILES[0], a, b, wide=True, batch=0))
    anyhow = Factor(by_inner=True, wide=False)
    yield product(Product(float32, float32, TILES[0], anyhow, anyhow, wide=False, batch=1))


def row(kernel: Kernel, capability: Capability, code: Sass) -> dict[str, Any]:
    """Return the figures of a kernel on one kind of GPU, as they are printed."""
    is_product = PRODUCTS.match(kernel.name) is not None
    share = code.product.share if is_product and not code.tensor_cores else None
    each = None if share else _an_element(kernel, code.stream)
    if each is None and code.product.multiplied:
        each = 1 / code.product.share
    return {
        "kernel": kernel.name,
        "capability": ".".join(map(str, capability)),
        "registers": code.registers,
        "shared": code.shared,
        "spills": code.spills,
        "share": round(share, 3) if share else None,
        "tensor_cores": code.tensor_cores,
        "wide": code.wide,
        "promised": promised(kernel.native if code.tensor_cores else to_c(kernel)),
        "instructions_an_element": round(each, 2) if each else None,
    }


def promised(text: str) -> list[str]:
    """Return which instructions shall move 16 bytes, by the text of a kernel in C."""
    named = {"LOAD_LANES(GLOBAL": "LDG", "LOAD_LANES(SHARED": "LDS"}
    named |= {"STORE_LANES(GLOBAL": "STG", "STORE_LANES(SHARED": "STS"}
    named |= {"*(const uint4 *)": "LDG", "*(uint4 *)": "STS"}
    return [f"{name}.128" for call, name in named.items() if call in text]


def _an_element(kernel: Kernel, loop: Loop) -> float | None:
    """Return how many instructions of a loop one element takes; None if it moves none."""
    for kind, names in (("STG", _stored(kernel)), ("LDG", _read(kernel))):
        sizes = [as_dtype(p.type).itemsize for p in kernel.parameters if p.name in names]
        if loop.moved[kind] and sizes:
            return loop.instructions * sum(sizes) / loop.moved[kind]
    return None


def _stored(kernel: Kernel) -> set[str]:
    """Return the names of what a kernel stores into."""
    names = set()
    for node in ast.walk(ast.parse(kernel.source)):
        if isinstance(node, ast.Subscript) and isinstance(node.ctx, ast.Store):
            names.add(ast.unparse(node.value))
        if isinstance(node, ast.Call) and re.match(r"store\d|cuda\.atomic", ast.unparse(node.func)):
            names.add(ast.unparse(node.args[0]))
    return names


def _read(kernel: Kernel) -> set[str]:
    """Return the names of the storages that a kernel only reads from."""
    storages = {p.name for p in kernel.parameters if p.passed != "value"}
    return storages - _stored(kernel)


def rows(chosen: Iterable[Kernel], capabilities: Iterable[Capability]) -> Iterator[dict[str, Any]]:
    """Yield the rows of the report: of each kernel, for each kind of GPU.

    Raises:
        KernelError: NVRTC or nvdisasm are missing.
    """
    chosen = list(chosen)
    return rows_of(dict.fromkeys(capabilities, chosen))


def rows_of(chosen: Mapping[Capability, Sequence[Kernel]]) -> Iterator[dict[str, Any]]:
    """Yield the rows of kernels chosen for each kind of GPU.

    Processors share the work, if it is more than a little.

    Raises:
        KernelError: NVRTC or nvdisasm are missing.
    """
    jobs = [
        (kernels[k : k + TOGETHER], capability)
        for capability, kernels in chosen.items()
        for k in range(0, len(kernels), TOGETHER)
    ]
    if len(jobs) < 2:
        for job in jobs:
            yield from _rows(*job)
        return
    spawn = multiprocessing.get_context("spawn")  # what is forked may wait for a thread's lock
    with ProcessPoolExecutor(min(len(jobs), os.cpu_count() or 1), mp_context=spawn) as pool:
        for found in pool.map(_rows, *zip(*jobs, strict=True)):
            yield from found


def _rows(part: Sequence[Kernel], capability: Capability) -> list[dict[str, Any]]:
    """Return the rows of kernels that are compiled and taken apart together."""
    codes = disassembled(together(part, capability))
    return [row(each, capability, codes[each.name]) for each in part]


def report(as_json: bool, capabilities: Iterable[Capability], name: str) -> Iterator[str]:
    """Yield the lines of the report.

    Args:
        as_json: as JSON, for programs.
        capabilities: the kinds of GPU.
        name: a regular expression; only kernels whose name it finds.
    """
    chosen = [each for each in kernels() if re.search(name, each.name)]
    found = rows(chosen, capabilities)
    if as_json:
        yield json.dumps(list(found), indent=2)
        return
    yield "registers  spills  share  instructions an element  wide  kernel"
    for each in found:
        share = f"{each['share']:.1%}" if each["share"] else ""
        wide = ", ".join(f"{count} {move}" for move, count in each["wide"].items())
        yield (
            f"{each['registers']:9}  {each['spills']:6}  {share:>5}  "
            f"{each['instructions_an_element'] or '':>23}  {wide or '-':<30}  "
            f"{each['kernel']} for {each['capability']}"
        )
