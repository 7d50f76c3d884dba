"""Tables as files that spreadsheets read."""

from __future__ import annotations

import csv
import io
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from mt_nn.files.writing import write_atomically


def write_table(path: Path, rows: Sequence[Sequence[Any]]) -> None:
    """Write rows as comma-separated values.

    Raises:
        FileError: the file cannot be written.
    """
    text = io.StringIO()
    csv.writer(text, lineterminator="\n").writerows(rows)
    write_atomically(path, text.getvalue().encode())
