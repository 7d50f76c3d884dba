"""`python -m mt_operators [NAME ...]` prints the operator table, or the named rows of it.

Formulas and derivatives are generated from the rows.
"""

from __future__ import annotations

import argparse
import math

from mt_operators.core.errors import UnknownOperatorError
from mt_operators.core.row import EVERYWHERE, Operator
from mt_operators.core.table import OPERATORS
from mt_operators.text import partial_formulas, value_formula


def describe(operator: Operator) -> str:
    """Return a paragraph with an operator's note, formula, derivatives and domain."""
    names = operator.parameters
    lines = [
        f"{operator.name}({', '.join(names)}): {operator.note}",
        f"  value  {value_formula(operator)}",
    ]
    for name, partial in zip(names, partial_formulas(operator), strict=True):
        lines.append(f"  d/d{name}  ".ljust(9) + partial)
    for name, (low, high) in zip(names, operator.domain, strict=True):
        if (low, high) != EVERYWHERE:
            end = "" if math.isinf(high) else f" <= {high:g}"
            lines.append(f"  domain {low:g} <= {name}{end}")
    if operator.result == "integer":
        lines.append("  domain integers")
    return "\n".join(lines)


def main(arguments: list[str] | None = None) -> None:
    """Print the named operators, or all operators."""
    parser = argparse.ArgumentParser(
        prog="python -m mt_operators", description="Show operators with their derivatives."
    )
    parser.add_argument("names", nargs="*", metavar="NAME", help="an operator (default: all)")
    names = parser.parse_args(arguments).names or OPERATORS
    try:
        print("\n\n".join(describe(OPERATORS[name]) for name in names))
    except UnknownOperatorError as error:
        parser.error(str(error))


if __name__ == "__main__":
    main()
