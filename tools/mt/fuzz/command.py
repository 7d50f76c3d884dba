"""`mt fuzz`: compare random programs with torch, after every step.

mt fuzz --programs 2000                 2,000 programs on the backend numpy
mt fuzz --backend fast -j 2 --seed 7    others on mt-fast, in two processes
mt fuzz --seed 7 --only 1234            one of them, in full
mt fuzz --compile                       compiled and eager; see `compiled.py`
"""

from __future__ import annotations

import argparse
from collections.abc import Sequence

import mt_tensor as mt
from mt.arguments import parser_of
from mt.errors import reported
from mt.fuzz.campaign import WAYS, Counts, count_all, least, limited
from mt.fuzz.compiled import COMPILED
from mt.fuzz.differences import KINDS, Difference
from mt.fuzz.judging import judgements
from mt.fuzz.operations import catalogue
from mt.fuzz.programs import Step, listing

SHOWN = 10
"""The number of differences to shrink and print; others, and crashes, are only listed."""


def main(arguments: Sequence[str]) -> int:
    """Run programs, and return 1 if there is a difference that is not known."""
    parser = parser_of("mt fuzz", __doc__)
    parser.add_argument("--programs", type=int, default=1000, help="the number of programs (1000)")
    parser.add_argument("--seed", type=int, default=0, help="the seed of the programs (0)")
    parser.add_argument("--only", type=int, help="run only the program with this number")
    parser.add_argument("--backend", default="numpy", help="the backend (numpy)")
    parser.add_argument("-j", type=int, default=1, dest="processes", help="processes (1)")
    parser.add_argument("--table", action="store_true", help="count runs and errors")
    parser.add_argument(
        "--compile", dest="way", action="store_const", const="compiled", default="torch",
        help="compare compiled with eager execution",
    )  # fmt: skip
    options = parser.parse_args(arguments)
    with reported("fuzz"):
        judgements()
        if options.only is not None:
            return _show(options, options.only)
        return _campaign(options)


def _campaign(options: argparse.Namespace) -> int:
    numbers = range(options.programs)
    counts = count_all(options.seed, numbers, options.backend, options.way, options.processes)
    first: dict[tuple[str, str], tuple[int, int]] = {}
    for number, operation, difference in sorted(counts.unjudged):
        known, times = first.get((operation, difference.kind), (number, 0))
        first[operation, difference.kind] = known, times + 1
    for i, ((operation, kind), (number, times)) in enumerate(first.items()):
        print(f"{operation}: {KINDS[kind]}, {times} times: --only {number}")
        if i < SHOWN and kind != "crash":
            _show(options, number)
    return _summary(counts, options)


def _summary(counts: Counts, options: argparse.Namespace) -> int:
    if options.table:
        for name in catalogue():
            print(f"{name:45}{counts.done[name]:8} run{counts.refused[name]:8} errors")
    if options.way == "torch":
        for judgement in judgements():
            print(f"known {counts.judged[judgement.name]:6} times: {judgement.name}")
        judged = f"{counts.judged.total()} known differences, {len(counts.unjudged)} others"
    else:
        for name in COMPILED:
            print(f"{counts.judged[name]:6} programs {name}")
        judged = f"{len(counts.unjudged)} differ when they are compiled"
    never = [name for name in catalogue() if not counts.done[name]]
    print(
        f"{counts.programs} programs of seed {options.seed} on {options.backend}: "
        f"{counts.done.total()} steps run and {counts.refused.total()} errors, of "
        f"{len(catalogue())} operations; {judged}"
    )
    if never and counts.programs >= 1000:
        print(f"never run: {', '.join(never)}")
    return 1 if counts.unjudged else 0


def _show(options: argparse.Namespace, number: int) -> int:
    with mt.use_backend(options.backend), limited():
        program, difference = WAYS[options.way].made_up(options.seed, number)
        if difference is None:
            met = "".join(f"# {name}\n" for name in program.met)
            print(listing(program.steps) + (met or "# no difference\n"))
            return 0
        steps, difference = least(program, difference, options.way)
        sides = ("here", "torch") if options.way == "torch" else ("compiled", "eager")
        print(_described(steps, difference, sides))
    return 1


def _described(steps: Sequence[Step], difference: Difference, sides: tuple[str, str]) -> str:
    lines = [f"# {KINDS[difference.kind]}: {difference.value}".rstrip(": ")]
    for who, said in zip(sides, (difference.ours, difference.theirs), strict=True):
        lines += [f"# {who}:", *(f"#   {line}" for line in said.splitlines())]
    return listing(steps) + "\n".join(lines) + "\n"
