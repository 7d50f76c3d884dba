"""`mt mutate`: mutation testing.

mt mutate --sample 300 --seed 1       300 mutants of all packages, at least 40 of each
mt mutate mt-tensor --sample 300      those of them in one package
mt mutate mt-tensor --again           those that survived the last time
mt mutate mt-tensor --show 3fa92c01   print a mutation
mt mutate mt-tensor --run 3fa92c01    run one mutant alone
mt mutate mt-tensor --unchanged       the tests for each mutant, without the mutation: all must pass
"""

from __future__ import annotations

import argparse
import hashlib
import json
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import asdict, dataclass
from queue import SimpleQueue

import pytest

from mt.arguments import parser_of
from mt.errors import ToolError, reported
from mt.mutate.equivalents import equivalent, key
from mt.mutate.faults import Fault, effective
from mt.mutate.tests_of import WORK, Recording
from mt.mutate.tree import Done, Tree
from mt.workspace import ROOT, Stage, Workspace

EXCLUDED = frozenset({"conformance", "testing", "__main__"})
"""Kits, samples and `__main__`, which are not mutated."""

LEAST = 40
"""The minimum number of faults from a package."""

FAILED = {pytest.ExitCode.TESTS_FAILED, pytest.ExitCode.INTERRUPTED, pytest.ExitCode.INTERNAL_ERROR}


@dataclass(frozen=True)
class Outcome:
    """The outcome of a fault.

    Attributes:
        caught: whether a test detected it.
        how: the test that did, or the number of tests that passed.
    """

    caught: bool
    how: str


def main(arguments: Sequence[str]) -> int:
    """Plant faults, and print how many were caught, and those that survived."""
    options = _parser().parse_args(arguments)
    with reported("mutate"):
        workspace = Workspace.read()
        stages = [workspace[name] for name in options.package or workspace.stages]
        if options.show:
            for fault in _named(stages, options.show):
                print(fault.difference)
            return 0
        if options.run:
            chosen = _named(stages, options.run)
            faults: dict[str, list[Fault]] = {
                stage.name: [
                    fault for fault in chosen if (ROOT / fault.file).is_relative_to(stage.folder)
                ]
                for stage in stages
            }
        else:
            faults = _sample(workspace, options.sample, options.seed)
        table = [_campaign(s, faults[s.name], options) for s in stages if faults[s.name]]
    print("\n".join(table))
    return 0


def _places(stage: Stage) -> list[list[Fault]]:
    return list(effective(stage.source, ROOT, EXCLUDED))


def _named(stages: Sequence[Stage], names: Sequence[str]) -> list[Fault]:
    """Return faults by their names.

    Raises:
        ToolError: there is no fault of a name.
    """
    known = {fault.name: fault for stage in stages for place in _places(stage) for fault in place}
    unknown = [name for name in names if name not in known]
    if unknown:
        inside = ", ".join(stage.name for stage in stages)
        raise ToolError(f"unknown faults in {inside}: {', '.join(unknown)}")
    return [known[name] for name in names]


def _sample(workspace: Workspace, count: int, seed: int) -> dict[str, list[Fault]]:
    """Draw faults from all packages."""
    places = {str(name): _places(stage) for name, stage in workspace.stages.items()}
    sizes = _sizes({name: len(found) for name, found in places.items()}, count)
    return {name: drawn(found, sizes[name], seed) for name, found in places.items()}


def _sizes(counts: dict[str, int], sample: int) -> dict[str, int]:
    """Return the number of faults to draw from each package, by the number of its places."""
    rest = max(sample - LEAST * len(counts), 0)
    least = min(LEAST, sample // len(counts))
    total = sum(counts.values())
    return {name: least + round(rest * count / total) for name, count in counts.items()}


def drawn(places: Sequence[Sequence[Fault]], count: int, seed: int) -> list[Fault]:
    """Draw a fault from each of `count` random places.

    The draw depends only on the name of a fault and the seed, so that after a change of the source
    the remaining faults are drawn again.
    """

    def chance(fault: Fault) -> bytes:
        return hashlib.sha256(f"{seed} {fault.name}".encode()).digest()

    return sorted((min(place, key=chance) for place in places), key=chance)[:count]


def _campaign(stage: Stage, faults: list[Fault], options: argparse.Namespace) -> str:
    """Run the tests on the faults of a package, and return its row of the table."""
    known = equivalent(stage.name)
    effective = [fault for fault in faults if key(fault) not in known]
    kept = WORK / stage.name / "outcomes.json"
    before = json.loads(kept.read_text("utf-8")) if kept.is_file() else {}
    if options.again:
        outcomes = {f.name: Outcome(**before[f.name]) for f in effective if f.name in before}
    else:
        outcomes = {}
    pending = [f for f in effective if f.name not in outcomes or not outcomes[f.name].caught]
    print(f"{stage.name}: {len(pending)} faults to try, {len(faults)} drawn", flush=True)
    recording = Recording.of(stage, options.processes)
    if recording.failed:
        print("these fail without a fault, and are excluded:", *recording.failed, sep="\n  ")
    for fault, outcome in _tried(stage, pending, recording, options):
        outcomes[fault.name] = outcome
        mark = "caught  " if outcome.caught else "SURVIVED"
        print(
            f"{fault.name} {mark} {fault.file}:{fault.number} {fault.change} {outcome.how}",
            flush=True,
        )
        if not options.unchanged:
            before[fault.name] = asdict(outcome)
            kept.write_text(json.dumps(before, indent=1), encoding="utf-8")
    survivors = [fault for fault in effective if not outcomes[fault.name].caught]
    for fault in survivors:
        print(f"\n{fault.name} in {fault.function or 'the module'}: {outcomes[fault.name].how}")
        print(fault.difference)
    caught = len(effective) - len(survivors)
    share = 100 * caught / max(len(effective), 1)
    return (
        f"{stage.name:14}{caught:5} of {len(effective):4} caught, {share:.1f} %; "
        f"{len(faults) - len(effective)} more are equivalent"
    )


def _tried(
    stage: Stage, faults: Sequence[Fault], recording: Recording, options: argparse.Namespace
) -> Iterator[tuple[Fault, Outcome]]:
    """Yield the outcome of each fault, several at a time."""
    trees: SimpleQueue[Tree] = SimpleQueue()
    for _ in range(options.processes):
        trees.put(Tree())

    def attempt(fault: Fault) -> tuple[Fault, Outcome]:
        tree = trees.get()
        try:
            tests = recording.tests_for(fault, options.budget, options.thorough)
            return fault, _outcome(tree, stage, fault, tests, recording, options.unchanged)
        finally:
            trees.put(tree)

    try:
        with ThreadPoolExecutor(options.processes) as pool:
            yield from pool.map(attempt, faults)
    finally:
        for _ in range(options.processes):
            trees.get().__exit__(None, None, None)


def _outcome(
    tree: Tree,
    stage: Stage,
    fault: Fault,
    tests: Sequence[str],
    recording: Recording,
    unchanged: bool,
) -> Outcome:
    """Plant a fault in a tree, run tests, and remove it again.

    Raises:
        ToolError: the file has changed since the fault was drawn.
    """
    if (tree.root / fault.file).read_bytes() != fault.source:
        raise ToolError(f"{fault.file} has changed since the faults were drawn: draw them again.")
    limits = {test: 30 + 20 * recording.seconds[test] for test in tests}
    listed = tree.folder / "tests.json"
    listed.write_text(json.dumps(limits), encoding="utf-8")
    variables = {}
    if stage.name == "mt-fast":  # the kernel cache may itself be faulty
        variables["MT_FAST_CACHE"] = str(tree.folder / "scratch" / "kernels")
    tree.write(fault.file, fault.source if unchanged else fault.planted)
    try:
        done = tree.pytest(
            *("-x", "--tb=line", "-p", "mt.mutate.trial", f"--tests={listed}"),
            *dict.fromkeys(test.partition("[")[0] for test in tests),
            seconds=600 + 20 * sum(recording.seconds[test] for test in tests),
            **variables,
        )
    finally:
        tree.write(fault.file, fault.source)
    return _read(done, len(tests))


def _read(done: Done, count: int) -> Outcome:
    """Return the outcome of a fault from a run of pytest.

    Raises:
        ToolError: pytest has not run any test.
    """
    if done.status is None or "Timeout (" in done.said:
        return Outcome(True, "by a time limit")
    if done.status == pytest.ExitCode.OK:
        return Outcome(False, f"passed {count} tests")
    broken = ("ERROR collecting", "ImportError while loading conftest")
    if done.status < 0 or done.status in FAILED or any(text in done.said for text in broken):
        lines = [line for line in done.said.splitlines() if line.startswith(("FAILED", "ERROR"))]
        return Outcome(True, f"by {lines[0][:160]}" if lines else f"with status {done.status}")
    raise ToolError(f"pytest could not run:\n{done.said[-3000:]}")


def _parser() -> argparse.ArgumentParser:
    parser = parser_of("mt mutate", __doc__)
    parser.add_argument("package", nargs="*", help="the packages to mutate (all)")
    parser.add_argument(
        "--sample", type=int, default=300, metavar="N", help="mutants of all packages (300)"
    )
    parser.add_argument("--seed", type=int, default=1, metavar="N", help="seed of the sample (1)")
    which = parser.add_mutually_exclusive_group()
    which.add_argument("--show", nargs="+", metavar="MUTANT", help="only print these")
    which.add_argument("--run", nargs="+", metavar="MUTANT", help="run only these")
    which.add_argument("--again", action="store_true", help="run only survivors of the last time")
    parser.add_argument("--unchanged", action="store_true", help="run the tests without mutations")
    parser.add_argument(
        "--budget", type=float, default=30, metavar="SECONDS", help="for each kind of tests (30)"
    )
    parser.add_argument(
        "--thorough", action="store_true", help="all tests of the package, if necessary"
    )
    parser.add_argument("-n", "--processes", type=int, default=2, metavar="N", help="processes (2)")
    return parser
