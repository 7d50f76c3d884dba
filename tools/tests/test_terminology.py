"""Code and documents use the terms of NumPy and PyTorch."""

import re
import subprocess
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]

WORDS = {
    r"whole numbers?": "integer",
    r"element types?": "dtype",
    r"truth values?": "bool",
    r"extents?": "size",
    r"spelling|spelt": "lowering, or name",
    r"lifted|lifting": "elementwise, or vectorized",
    r"widening": "bfloat16 emulation",
    r"run_quietly": "errstate",
    r"try_row": "validate",
    r"surroundings": "guards",
    r"cures?|mends?|ails": "fix, advice or problem",
    r"whoever|whosoever|nobody": "users, callers, or none",
    r"for want of": "without",
    r"thereby|whereby|wherein|therein": "so, or where",
    r"fuzz(ed|er|ing)?": "differential tests",
}
"""Words of an earlier dialect, and what to write instead."""

ALLOWED = {
    "dataLim.extents": "an attribute of matplotlib",
    "extent=(": "an argument of matplotlib",
    "data.lifted": "an attribute of Numba",
}
"""Names that may contain such a word."""

SUFFIXES = {".py", ".md", ".toml", ".yml", ".txt", ".js", ".css"}


def documents() -> list[Path]:
    """Return the code and documents in the repository, without this file."""
    names = subprocess.run(
        ["git", "ls-files", "-z"], cwd=ROOT, capture_output=True, text=True, check=True
    ).stdout.split("\0")
    files = (ROOT / name for name in names if name)
    return [file for file in files if file.suffix in SUFFIXES and file != Path(__file__)]


def uses(text: str) -> list[str]:
    """Return the words of a text that match `WORDS`, each with the number of its line."""
    found = []
    pattern = re.compile(rf"\b(?:{'|'.join(f'(?:{word})' for word in WORDS)})\b", re.IGNORECASE)
    for allowed in ALLOWED:
        text = text.replace(allowed, "")
    for number, line in enumerate(text.splitlines(), 1):
        found += [f"{number}: {match[0]}" for match in pattern.finditer(line)]
    return found


@pytest.mark.parametrize(
    ("line", "found"),
    [
        ("the element type of a tensor", ["1: element type"]),
        ("Nobody reads whole numbers.", ["1: Nobody", "1: whole numbers"]),
        ("axes.dataLim.extents", []),
        ("a mended cured_meat spellings", []),
    ],
)
def test_words_to_avoid_are_found_with_line_numbers(line: str, found: list[str]) -> None:
    assert uses(line) == found


def test_repository_uses_the_words_of_numpy_and_torch() -> None:
    files = documents()
    assert len(files) > 1000
    found = [
        f"{file.relative_to(ROOT)}:{use}"
        for file in files
        for use in uses(file.read_text(encoding="utf-8"))
    ]
    assert not found, "\n".join(found)
