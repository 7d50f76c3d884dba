"""Tests of the examples in documentation.

Each package's tests call these functions with its README and its modules.
"""

from __future__ import annotations

import contextlib
import doctest
import importlib
import io
import pkgutil
import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType

BLOCK = re.compile(
    r"^```python\n(?P<source>.*?)^```$(?:\n\n```\n(?P<output>.*?)^```$)?", re.MULTILINE | re.DOTALL
)
COMMAND = re.compile(
    r"^```console\n\$ python (?P<arguments>[^\n]*)\n(?P<output>.*?)^```$", re.MULTILINE | re.DOTALL
)
PROMISE = re.compile(r"^ *print\(.*\) *# (.*)$", re.MULTILINE)


def run_readme(path: Path) -> int:
    """Run all commands of a Markdown file, and in a separate process all of its Python blocks.

    A `console` block shows one command, `$ python ...`, and its output.

    Returns:
        The number of Python blocks that were run.

    Raises:
        AssertionError: a block failed, or its output differs from the one shown.
    """
    for shown in COMMAND.finditer(path.read_text(encoding="utf-8")):
        _run_command(shown["arguments"].split(), shown["output"])
    command = [sys.executable, "-W", "error", "-m", "mt_operators.testing.documentation", str(path)]
    result = subprocess.run(command, capture_output=True, text=True, check=False)
    if result.returncode:
        raise AssertionError(result.stderr)
    return int(result.stdout)


def _run_command(arguments: list[str], promised: str) -> None:
    """Run a command, which must succeed and print the expected output."""
    result = subprocess.run(
        [sys.executable, *arguments], capture_output=True, text=True, check=False
    )
    if result.returncode or result.stdout != promised:
        raise AssertionError(
            f"`python {' '.join(arguments)}` should print:\n{promised}\nbut exits with status "
            f"{result.returncode} and prints:\n{result.stdout}{result.stderr}"
        )


def run_blocks(path: Path) -> int:
    """Run all Python blocks of a Markdown file in this process, in order and in one namespace.

    The comment of a line `print(...)  # text` is the expected output of that line. A following
    block without a language is the expected output of the entire block.

    Returns:
        The number of blocks that were run.

    Raises:
        AssertionError: the output of a block differs from the expected one.
        Exception: any exception that a block raises; its traceback shows the lines of the file.
    """
    namespace: dict[str, object] = {"__name__": "readme"}
    text = path.read_text(encoding="utf-8")
    blocks = list(BLOCK.finditer(text))
    for block in blocks:
        source = block["source"]
        lines_before = text.count("\n", 0, block.start("source"))
        printed = io.StringIO()
        with contextlib.redirect_stdout(printed):
            exec(compile("\n" * lines_before + source, str(path), "exec"), namespace)
        actual = printed.getvalue().splitlines()
        promised = block["output"].splitlines() if block["output"] else PROMISE.findall(source)
        if promised and promised != actual:
            raise AssertionError(
                f"{path.name}, line {lines_before + 1}: the block should print {promised}, but "
                f"prints {actual}:\n{source}"
            )
    return len(blocks)


def run_docstrings(package: ModuleType) -> int:
    """Run the `>>>` examples in the docstrings of a package and of all its modules.

    Returns:
        The number of examples that were run.

    Raises:
        AssertionError: the result of an example differs from the one shown; details are printed.
    """
    attempted = 0
    for module in _modules(package):
        result = doctest.testmod(module)
        if result.failed:
            raise AssertionError(f"{result.failed} example(s) of {module.__name__} failed.")
        attempted += result.attempted
    return attempted


def _modules(package: ModuleType) -> Iterator[ModuleType]:
    yield package
    for module in pkgutil.walk_packages(package.__path__, f"{package.__name__}."):
        if "__main__" not in module.name and ".test_" not in module.name:
            yield importlib.import_module(module.name)


if __name__ == "__main__":
    print(run_blocks(Path(sys.argv[1])))
