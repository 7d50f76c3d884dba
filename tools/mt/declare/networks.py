"""The names of `mt_nn` as a stub: where each is defined, as the package itself says it."""

from __future__ import annotations

HEAD = '"""The names of `mt_nn`, for type checkers; `mt declare` writes this file."""'


def network_names() -> str:
    """Return the text of the stub of the package."""
    import mt_nn

    said = vars(mt_nn)
    imports = [f"from mt_nn import {name} as {name}" for name in said["_MODULES"].split()]
    imports += [
        f"from {module} import {name} as {name}"
        for module, names in said["_NAMES"].items()
        for name in names.split()
    ]
    listed = [f'    "{name}",' for name in sorted(said["__all__"])]
    return "\n".join([HEAD, "", *imports, "", "__all__ = [", *listed, "]", "__version__: str", ""])
