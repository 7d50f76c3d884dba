"""Curves of a training, drawn with matplotlib."""

from __future__ import annotations

import io
import warnings
from typing import Any

from mt_nn.errors import MissingPackageError, SettingError
from mt_nn.train.history import History

DPI = 110


def draw_curves(history: History) -> bytes:
    """Return a PNG picture with one diagram for the loss and each metric, by epoch.

    Training and validation share a diagram; the loss of every batch lies behind that of the epochs.
    What is no number, as a confusion matrix, is left out.

    Raises:
        MissingPackageError: matplotlib is not installed.
        SettingError: there is no epoch yet.
    """
    if not len(history):
        raise SettingError("there are no curves to draw: the history has no epochs yet.")
    names = [name for name in history.names() if _is_number(history.rows[-1].get(name))]
    names = [name for name in names if name != "epoch" and not name.startswith("validation_")]
    figure = make_figure(6, 2.6 * len(names))
    for axes, name in zip(figure.subplots(len(names), squeeze=False)[:, 0], names, strict=True):
        draw_curve(axes, history, name)
        axes.set(xlabel="epoch")
    return as_png(figure)


def _is_number(value: object) -> bool:
    return isinstance(value, (int, float))


def make_figure(width: float, height: float) -> Any:
    """Return an empty figure, in inches.

    Raises:
        MissingPackageError: matplotlib is not installed.
    """
    try:
        from matplotlib.figure import Figure
    except ImportError as error:
        raise MissingPackageError(
            "curves are drawn with matplotlib: pip install 'mt-nn[train]'."
        ) from error
    return Figure(figsize=(width, height), dpi=DPI, layout="constrained")


def draw_curve(axes: Any, history: History, name: str) -> None:
    """Draw a number of training and validation by epoch, and the loss of every batch behind it.

    Args:
        axes: where to; matplotlib's.
        history: has at least one epoch.
        name: what is drawn, a name in the history.
    """
    epochs = history["epoch"]
    if name == "loss" and history.losses:
        count = len(history.losses)
        at = [epochs[-1] * (batch + 1) / count for batch in range(count)]
        axes.plot(at, history.losses, color="0.8", linewidth=0.8, label="training, each batch")
    for column, label in ((name, "training"), (f"validation_{name}", "validation")):
        if column in history.names():
            values = [float("nan") if y is None else y for y in history[column]]
            axes.plot(epochs, values, ".-", label=label)
    axes.set(ylabel=name.replace("_", " "))
    axes.grid(alpha=0.3)
    axes.legend()


def as_png(figure: Any) -> bytes:
    """Return a figure as the content of a PNG file; letters that the font lacks are boxes in it.

    Where a figure has a layout, `savefig` draws all of it twice, the first time for nothing but the
    layout: that is made here.
    """
    content = io.BytesIO()
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", "Glyph .* missing from font", UserWarning)
        figure.get_layout_engine().execute(figure)
        figure.set_layout_engine(None)
        figure.savefig(content, format="png")
    return content.getvalue()
