"""`hatch run mt`: the stages side by side."""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path

from rich.console import Console
from stages import Workspace, WorkspaceError

from mt.concept import printing
from mt.concept.maps import ConceptError, concept_of, read_map
from mt.concept.view import view
from mt.diff.comparison import compared
from mt.diff.printing import show
from mt.doctor import report
from mt.doctor.report import examined
from mt.site.build import SiteError, build
from mt.source.symbols import Symbols, UnknownSymbolError


def diff(options: argparse.Namespace) -> None:
    """Show what one stage adds to another."""
    workspace = Workspace.read()
    before, after = workspace[options.before], workspace[options.after]
    symbols = Symbols(workspace.library())
    comparison = compared(workspace, symbols, before, after, run=not options.no_run)
    if options.json:
        print(json.dumps(comparison.as_json(), indent=1))
    else:
        show(comparison, Console(), code=options.code)


def concept(options: argparse.Namespace) -> None:
    """Show one idea in every stage and backend, or which ideas there are."""
    concepts = read_map()
    if options.name is None:
        for known in concepts.values():
            print(f"{known.name}: {known.text}")
        return
    symbols = Symbols(Workspace.read().library())
    found = view(concept_of(concepts, options.name), symbols, run=not options.no_run)
    if options.json:
        print(json.dumps(found.as_json(), indent=1))
    else:
        printing.show(found, Console())


def site(options: argparse.Namespace) -> None:
    """Write everything as a site."""
    count = build(options.out, run=not options.no_run)
    print(f"{count} pages: open {options.out / 'index.html'}")


def doctor(options: argparse.Namespace) -> None:
    """Show what this machine and environment are like."""
    findings = list(examined(Workspace.read()))
    if options.json:
        print(json.dumps([asdict(finding) for finding in findings], indent=1))
    else:
        report.show(findings, Console())
    if any(finding.state == "fault" for finding in findings):
        raise SystemExit(1)


def main(arguments: Sequence[str] | None = None) -> int:
    """Run a command, and return its exit status."""
    parser = argparse.ArgumentParser(prog="mt", description=__doc__)
    commands = parser.add_subparsers(required=True, metavar="COMMAND")
    command = commands.add_parser("diff", help="what stage AFTER adds to stage BEFORE")
    command.add_argument("before", help="a stage: mt-operators, or operators")
    command.add_argument("after", help="another one")
    command.add_argument("--code", action="store_true", help="show every function, too")
    command.add_argument("--json", action="store_true", help="print everything as JSON")
    command.add_argument("--no-run", action="store_true", help="do not run the experiment")
    command.set_defaults(run=diff)
    command = commands.add_parser("concept", help="one idea in every stage and backend")
    command.add_argument("name", nargs="?", help="the idea; without it, all are listed")
    command.add_argument("--json", action="store_true", help="print everything as JSON")
    command.add_argument("--no-run", action="store_true", help="do not run its input")
    command.set_defaults(run=concept)
    command = commands.add_parser("site", help="all of this as pages for a browser")
    command.add_argument("--out", type=Path, required=True, metavar="DIR", help="where")
    command.add_argument("--no-run", action="store_true", help="run nothing")
    command.set_defaults(run=site)
    command = commands.add_parser("doctor", help="what ails this machine, and the cure")
    command.add_argument("--json", action="store_true", help="print everything as JSON")
    command.set_defaults(run=doctor)
    options = parser.parse_args(arguments)
    try:
        options.run(options)
    except (ConceptError, SiteError, UnknownSymbolError, WorkspaceError) as error:
        print(f"mt: {error}", file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
