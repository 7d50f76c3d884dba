"""`History`: what each epoch of a training gave, and the loss of every batch."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

import numpy as np

from mt_nn.errors import SettingError

Row = dict[str, Any]


class History:
    """What came of a training so far.

    >>> history = History()
    >>> history.add({"epoch": 1, "loss": 0.7})
    >>> history.add({"epoch": 2, "loss": 0.4})
    >>> history["loss"]
    [0.7, 0.4]

    Attributes:
        rows: for each epoch a dictionary: its number, the learning rate, the mean loss, the
            metrics, and those of the validation, whose names begin with `validation_`.
        losses: the loss of every batch.
    """

    def __init__(self) -> None:
        self.rows: list[Row] = []
        self.losses: list[float] = []

    def add(self, row: Row) -> None:
        """Note an epoch."""
        self.rows.append(row)

    def __len__(self) -> int:
        """Return how many epochs there are."""
        return len(self.rows)

    def __iter__(self) -> Iterator[Row]:
        """Iterate over the epochs."""
        return iter(self.rows)

    def __getitem__(self, name: str) -> list[Any]:
        """Return a column: one value for each epoch, None for one that has none.

        Raises:
            SettingError: no epoch has a value of that name.
        """
        names = self.names()
        if name not in names:
            raise SettingError(
                f"the history has no {name!r}; it has {', '.join(names) or 'no epochs yet'}."
            )
        return [row.get(name) for row in self.rows]

    def names(self) -> list[str]:
        """Return the names of all columns, in the order in which they came up."""
        return list(dict.fromkeys(name for row in self.rows for name in row))

    def state_dict(self) -> dict[str, Any]:
        """Return everything, for a checkpoint."""
        return {"rows": [dict(row) for row in self.rows], "losses": np.array(self.losses, float)}

    def load_state_dict(self, state: Mapping[str, Any]) -> None:
        """Take over what `state_dict` has returned."""
        rows, losses = [dict(row) for row in state["rows"]], np.asarray(state["losses"]).tolist()
        self.rows, self.losses = rows, losses

    def __repr__(self) -> str:
        """Show the last epoch."""
        last = f", the last {self.rows[-1]}" if self.rows else ""
        return f"History({len(self)} epochs{last})"
