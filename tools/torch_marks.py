"""A pytest plugin: the mark `torch` of every test that compares with torch.

Such a test skips itself where torch is not installed, and torch is no dependency of the tests: a
newcomer's run does without. `pytest -m torch` runs just these, where torch is. Nobody writes the
mark: a test has it if its module needs torch to be imported, if the test itself or a function of
its module that it calls names torch, or if it has torch for a parameter.
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
"""A line of a module, not indented, without which it cannot be imported where torch is missing."""


@cache
def _needs_torch(module: Path) -> bool:
    return NEEDED.search(module.read_text(encoding="utf-8")) is not None


def _words(code: CodeType) -> Iterator[Any]:
    """Yield the names and constants of a function and of those that are written inside of it."""
    yield from code.co_names
    for constant in code.co_consts:
        yield from _words(constant) if isinstance(constant, CodeType) else [constant]


@cache
def _names_torch(function: FunctionType) -> bool:
    """Whether a function or one of its module that it calls, and so on, names torch."""
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
    """Whether a test compares with torch."""
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
    """Leave out modules that do not speak of torch, where only such tests are asked for."""
    if config.option.markexpr != "torch" or collection_path.suffix != ".py":
        return None
    return "torch" not in collection_path.read_text(encoding="utf-8").lower() or None


@pytest.hookimpl(tryfirst=True)  # before anybody chooses tests by their marks
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Give the mark to every test that compares with torch."""
    for item in items:
        if compares(item):
            item.add_marker("torch")
