"""The history of training: the results of each epoch, and their curves, drawn with matplotlib."""

from __future__ import annotations

import io
from collections.abc import Mapping
from typing import Any

import numpy as np

from mt_nn.errors import SettingError, packages_needed

Row = dict[str, Any]


class History:
    """The results of training, by epoch.

    Attributes:
        rows: one dictionary per epoch: its number, the learning rate, the mean loss, the metrics,
            and the loss and metrics of the validation, whose names begin with `validation_`.
        losses: the loss of every batch.
    """

    def __init__(self) -> None:
        self.rows: list[Row] = []
        self.losses: list[float] = []

    def __len__(self) -> int:
        """Return the number of epochs."""
        return len(self.rows)

    def __getitem__(self, name: str) -> list[Any]:
        """Return a column: one value per epoch, None for epochs without a value.

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
        """Return the names of all columns, in order of appearance."""
        return list(dict.fromkeys(name for row in self.rows for name in row))

    def state_dict(self) -> dict[str, Any]:
        """Return rows and losses, for a checkpoint."""
        return {"rows": [dict(row) for row in self.rows], "losses": np.array(self.losses, float)}

    def load_state_dict(self, state: Mapping[str, Any]) -> None:
        """Load the result of `state_dict`."""
        rows, losses = [dict(row) for row in state["rows"]], np.asarray(state["losses"]).tolist()
        self.rows, self.losses = rows, losses

    def __repr__(self) -> str:
        """Return the number of epochs and the last epoch."""
        last = f", the last {self.rows[-1]}" if self.rows else ""
        return f"History({len(self)} epochs{last})"


# --- Curves ---------------------------------------------------------------------------------------


def draw_curves(history: History) -> bytes:
    """Return a PNG image with one plot for the loss and each metric, by epoch.

    Training and validation share a plot; the loss is also plotted for every batch. Metrics that are
    not numbers, such as confusion matrices, are skipped.

    Raises:
        MissingPackageError: matplotlib is not installed.
        SettingError: the history has no epochs.
    """
    if not history.rows:
        raise SettingError("draw_curves(): the history has no epochs yet.")
    with packages_needed("figures need matplotlib: pip install 'mt-nn[train]'."):
        from matplotlib.figure import Figure
    names = [
        name
        for name in history.names()
        if isinstance(history.rows[-1].get(name), int | float)
        and name != "epoch"
        and not name.startswith("validation_")
    ]
    figure = Figure(figsize=(6, 2.6 * len(names)), dpi=110, layout="constrained")
    for axes, name in zip(figure.subplots(len(names), squeeze=False)[:, 0], names, strict=True):
        _draw_curve(axes, history, name)
    content = io.BytesIO()
    figure.savefig(content, format="png")
    return content.getvalue()


def _draw_curve(axes: Any, history: History, name: str) -> None:
    """Plot a metric of training and validation by epoch; the loss also for every batch."""
    epochs = history["epoch"]
    if name == "loss" and history.losses:
        count = len(history.losses)
        x = [epochs[-1] * (batch + 1) / count for batch in range(count)]
        axes.plot(x, history.losses, color="0.8", linewidth=0.8, label="training, each batch")
    for column, label in ((name, "training"), (f"validation_{name}", "validation")):
        if column in history.names():
            values = [float("nan") if y is None else y for y in history[column]]
            axes.plot(epochs, values, ".-", label=label)
    axes.set(xlabel="epoch", ylabel=name.replace("_", " "))
    axes.grid(alpha=0.3)
    axes.legend()
