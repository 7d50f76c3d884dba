"""Points of the plane in two classes: the data sets of the library, under the name users know."""

from mt_operators.library.datasets import (
    DATASETS as DATASETS,
    Dataset as Dataset,
    Point as Point,
    circle as circle,
    diag as diag,
    moons as moons,
    simple as simple,
    spiral as spiral,
    split as split,
    xor as xor,
)
