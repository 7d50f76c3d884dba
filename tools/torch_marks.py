"""A pytest plugin that marks every test that compares with torch.

Such a test is skipped if torch is not installed, because torch is not a dependency of the tests.
`pytest -m torch` runs just these tests. The mark is derived: a test has it if its module cannot be
imported without torch, if the test itself or a function of its module that it calls refers to
torch, or if torch is one of its parameters.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from types import CodeType, FunctionType
from typing import Any

import pytest

NEEDED = re.compile(r"(?m)^(torch = pytest\.importorskip|import torch$|from \S*\bin_torch\b)")
"""An unindented line of modules that cannot be imported without torch."""


@cache
def _needs_torch(module: Path) -> bool:
    return NEEDED.search(module.read_text(encoding="utf-8")) is not None


def _words(code: CodeType) -> Iterator[Any]:
    """Yield the names and constants of a function and of its inner functions."""
    yield from code.co_names
    for constant in code.co_consts:
        yield from _words(constant) if isinstance(constant, CodeType) else [constant]


@cache
def _names_torch(function: FunctionType) -> bool:
    """Return whether a function, or a function of its module that it calls, refers to torch."""
    reached, waiting = {function}, [function]
    while waiting:
        current = waiting.pop()
        for word in _words(current.__code__):
            if isinstance(word, str) and re.fullmatch(r"torch(\.\w+)*", word):
                return True
            called = current.__globals__.get(word) if isinstance(word, str) else None
            if (
                isinstance(called, FunctionType)
                and called not in reached
                and called.__module__ == current.__module__
            ):
                reached.add(called)
                waiting.append(called)
    return False


def compares(item: pytest.Item) -> bool:
    """Return whether a test compares with torch."""
    if not isinstance(item, pytest.Function):
        return False
    property_of_examples = getattr(item.function, "hypothesis", None)
    function = getattr(property_of_examples, "inner_test", item.function)
    parameters = item.callspec.id if hasattr(item, "callspec") else ""
    return (
        _needs_torch(item.path)
        or re.search(r"\btorch\b|Torch", parameters) is not None
        or (isinstance(function, FunctionType) and _names_torch(function))
    )


def pytest_ignore_collect(collection_path: Path, config: pytest.Config) -> bool | None:
    """Ignore modules that do not mention torch if only tests that need it are selected."""
    if config.option.markexpr != "torch" or collection_path.suffix != ".py":
        return None
    return "torch" not in collection_path.read_text(encoding="utf-8").lower() or None


@pytest.hookimpl(tryfirst=True)  # before tests are selected by their marks
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Mark every test that compares with torch."""
    for item in items:
        if compares(item):
            item.add_marker("torch")
