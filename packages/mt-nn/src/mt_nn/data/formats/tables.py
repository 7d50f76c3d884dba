"""Tables of comma-separated values: columns of numbers, and perhaps one of classes."""

from __future__ import annotations

import csv
import itertools
import math
from array import array
from collections.abc import Collection, Iterable, Iterator
from dataclasses import dataclass

import numpy as np

from mt_nn.core.settings import integer
from mt_nn.data.formats.texts import lines_of
from mt_nn.errors import FileError, SettingError
from mt_nn.files.reading import PathLike, Source, opened
from mt_tensor import Tensor, tensor

LARGEST = float(np.finfo(np.float32).max)
MISSING = {"", "?", "n/a", "na", "nan", "none", "null"}
LONGEST_CLASS_NUMBER = 100


@dataclass(frozen=True)
class Table:
    """What a file of comma-separated values holds; `TensorDataset(table.inputs, table.labels)`.

    Attributes:
        columns: the names of the columns of numbers; empty if the file has no header.
        inputs: float32, shape (rows, columns).
        labels: the class of each row, int64 of shape (rows,); None if there is no such column.
        classes: what stands in the file for each class, in alphabetical order,
            or by size if they are integers.
    """

    columns: list[str]
    inputs: Tensor
    labels: Tensor | None
    classes: list[str]


def read_csv(
    path: PathLike,
    label: str | int | None = None,
    header: bool = True,
    delimiter: str = ",",
) -> Table:
    """Return the numbers and classes in a file of comma-separated values.

    Args:
        path: where the file is, UTF-8, plain or packed with gzip.
        label: the column of classes: its name, or its number from 0, negative ones from the end;
            None for none. Every other column holds numbers.
        header: whether the first line names the columns.
        delimiter: the character between the columns.

    Raises:
        FileError: it cannot be read, is damaged, no UTF-8, or takes more than `mt_nn.limits` allow;
            it has no rows, or no such column; a row has too many or too few values, or one is
            missing, no number, not finite, or too large for float32. Line and column are named.
        SettingError: an invalid setting.
    """
    if len(delimiter) != 1 or delimiter in '\r\n"':
        raise SettingError(f"delimiter is one character; got {delimiter!r}.")
    if isinstance(label, str) and not header:
        raise SettingError(
            f"a column is called {label!r} by a header only: give its number, or header=True."
        )
    with opened(path) as source:
        records = _records(path, source, delimiter)
        line, first = next(records, (0, []))
        if not line:
            raise FileError(f"{path} is empty: it holds no table.")
        names = [name.strip() for name in first] if header else []
        titles = [repr(name) for name in names] or [str(number) for number in range(len(first))]
        classed = None if label is None else _class_column(path, label, names, len(first))
        rows = records if header else itertools.chain([(line, first)], records)
        inputs, marks, known = _gathered(path, source, titles, classed, rows)
    if classed is None:
        return Table(names, inputs, None, [])
    if names:
        del names[classed]
    classes = _in_order(known)
    places = np.argsort([known[name] for name in classes])
    return Table(names, inputs, tensor(places[np.array(marks)]), classes)


def _gathered(
    path: PathLike,
    source: Source,
    titles: list[str],
    classed: int | None,
    rows: Iterable[tuple[int, list[str]]],
) -> tuple[Tensor, array[int], dict[str, int]]:
    """Return the numbers, the classes, and the number of each class in the order they come."""
    numbers, marks = array("f"), array("q")
    known: dict[str, int] = {}
    count = 0
    for line, values in rows:
        if len(values) != len(titles):
            raise FileError(
                f"{path}, line {line}: {len(titles)} value(s) are wanted, as on the first line, "
                f"{len(values)} found."
            )
        for column, (title, text) in enumerate(zip(titles, values, strict=True)):
            cell = _Cell(path, line, title, text)
            if column == classed:
                mark = cell.mark()
                if mark not in known:
                    known[mark] = len(known)
                    source.keep(mark)
                marks.append(known[mark])
            else:
                numbers.append(cell.number())
        source.allowance.take("memory", 2 * 4 * len(values))  # once more in the array below
        count += 1
    if not count:
        raise FileError(f"{path} holds a header but no rows.")
    inputs = np.array(numbers, np.float32).reshape(count, len(numbers) // count)
    return tensor(inputs), marks, known


def _records(path: PathLike, source: Source, delimiter: str) -> Iterator[tuple[int, list[str]]]:
    """Yield the values of each row that is not empty, and the number of its last line."""
    lines = csv.reader(
        (line + "\n" for _, line in lines_of(path, source)), delimiter=delimiter, strict=True
    )
    try:
        for values in lines:
            if values:
                yield lines.line_num, values
    except csv.Error as error:
        raise FileError(f"{path}, line {lines.line_num}: no row of a table ({error}).") from error


def _class_column(path: PathLike, label: str | int, names: list[str], count: int) -> int:
    """Return the number of the column of classes."""
    if isinstance(label, str):
        if names.count(label) != 1:
            raise FileError(
                f"{path} has {names.count(label)} columns called {label!r}; its columns are "
                f"{', '.join(names)[:200]}."
            )
        return names.index(label)
    number = integer("label", label, -count)
    if number >= count:
        raise SettingError(f"label is column {number}, but there are columns 0 to {count - 1}.")
    return number % count


def _in_order(marks: Collection[str]) -> list[str]:
    """Return the names of classes in alphabetical order, integers by their size."""
    if all(mark.isdecimal() and len(mark) < LONGEST_CLASS_NUMBER for mark in marks):
        return sorted(marks, key=lambda mark: (int(mark), mark))
    return sorted(marks)


@dataclass(frozen=True)
class _Cell:
    """A value and where it stands, for errors."""

    path: PathLike
    line: int
    column: str
    text: str

    def mark(self) -> str:
        """Return the name of a class."""
        name = self.text.strip()
        if not name:
            raise self._error("the class is missing")
        return name

    def number(self) -> float:
        """Return a number that float32 can hold."""
        text = self.text.strip()
        if text.lower() in MISSING:
            raise self._error(f"the number is missing ({text!r})")
        try:
            value = float(text)
        except ValueError:
            value = math.nan
        if "_" in text or not abs(value) <= LARGEST:
            raise self._error(f"{text[:80]!r} is no finite number of float32")
        return value

    def _error(self, problem: str) -> FileError:
        return FileError(f"{self.path}, line {self.line}, column {self.column}: {problem}.")
