"""The list of operators in the README of mt-operators, as the table has them."""

from __future__ import annotations

import textwrap

BEGIN, END = "<!-- operators: `hatch run mt declare` writes this list -->", "<!-- end -->"
"""The lines of the README between which the list stands."""

RESULTS = {
    "number": "numbers, integers where all arguments are",
    "real": "real numbers",
    "bool": "bools",
    "integer": "integers, which the arguments must be too",
}
"""What operators return, by the `result` of their rows."""


def with_operators(readme: str) -> str:
    """Return the text of the README with the names of the operators of today.

    Raises:
        ValueError: it has no place for them.
    """
    from mt_operators import OPERATORS

    before, begin, rest = readme.partition(BEGIN)
    _, end, after = rest.partition(END)
    if not (begin and end):
        raise ValueError(f"the README needs the lines {BEGIN} and {END}, for the operators.")
    lines = []
    for result, returns in RESULTS.items():
        names = " ".join(name for name, row in OPERATORS.items() if row.result == result)
        lines += textwrap.wrap(f"- {returns}: `{names}`", 100, subsequent_indent="  ")
    return "\n".join([before + begin, "", *lines, "", end + after])
