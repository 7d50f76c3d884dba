"""The transitive dependencies of requirements, from the metadata of installed distributions."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from packaging.requirements import Requirement
from packaging.utils import NormalizedName, canonicalize_name


def closure(
    roots: Iterable[Requirement], installed: Mapping[NormalizedName, Sequence[Requirement]]
) -> set[NormalizedName]:
    """Return all distributions that these requirements need.

    Args:
        roots: The requirements to install.
        installed: The installed distributions, each with its own requirements.

    Returns:
        The distributions, whether they are installed or not.
    """
    reached: set[tuple[NormalizedName, str]] = set()
    pending = [(canonicalize_name(r.name), extra) for r in roots for extra in ("", *r.extras)]
    while pending:
        requirement = pending.pop()
        if requirement in reached:
            continue
        reached.add(requirement)
        name, extra = requirement
        pending += [
            (canonicalize_name(r.name), its_extra)
            for r in installed.get(name, ())
            if r.marker is None or r.marker.evaluate({"extra": extra})
            for its_extra in ("", *r.extras)
        ]
    return {name for name, _ in reached}
