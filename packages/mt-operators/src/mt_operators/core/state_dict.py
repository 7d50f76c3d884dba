"""Loading a state dictionary: which names and values fit, and all of them or none.

Between what modules hold and the tree of them. What a state dictionary holds for each name is the
business of `mt_operators.core.parameter`.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple

from mt_operators.core.errors import StateDictError
from mt_operators.core.parameter import Holder


class IncompatibleKeys(NamedTuple):
    """The names on which a module and a state dictionary disagree."""

    missing_keys: list[str]
    unexpected_keys: list[str]


def load(
    owner: str, own: Mapping[str, Holder], state: Mapping[str, Any], strict: bool
) -> IncompatibleKeys:
    """Let holders take over the values of a state dictionary. If anything does not fit, none does.

    Args:
        owner: what the holders belong to, for messages.
        own: the holders by dotted name.
        state: the values by dotted name.
        strict: whether the names must match exactly; otherwise only common ones are loaded.

    Raises:
        StateDictError: names are missing or unexpected, or a value does not fit.
    """
    _check_names(state)
    keys = IncompatibleKeys(
        [name for name in own if name not in state], [name for name in state if name not in own]
    )
    if strict and any(keys):
        raise _keys_do_not_fit(owner, keys)
    fitting = {}
    for name, holder in own.items():  # all are prepared before the first is changed
        if name in state:
            try:
                fitting[name] = holder.fitting(state[name])
            except StateDictError as error:
                raise StateDictError(f"{name}: {error}") from error
    for name, value in fitting.items():
        own[name].load(value)
    return keys


def _check_names(state: object) -> None:
    if not isinstance(state, Mapping):
        raise TypeError(
            f"load_state_dict() takes a dictionary of values by name; {type(state).__name__} was "
            "given. Pass what state_dict() of another model returned."
        )
    for name in state:
        if not isinstance(name, str):
            raise StateDictError(
                f"the names in a state dictionary are strings; {name!r} is none. Pass what "
                "state_dict() of another model returned."
            )


def _keys_do_not_fit(owner: str, keys: IncompatibleKeys) -> StateDictError:
    problems = [
        f"{kind}: {', '.join(names)}"
        for kind, names in zip(("missing", "unexpected"), keys, strict=True)
        if names
    ]
    return StateDictError(
        f"the state dictionary does not fit {owner}: {'; '.join(problems)}. Load "
        "it into the architecture it was saved from, or pass strict=False to load what fits."
    )
