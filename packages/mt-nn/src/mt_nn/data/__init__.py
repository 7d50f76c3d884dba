"""Data sets, and loaders that serve them in batches."""

from mt_nn.data.dataset import Dataset, Subset, TensorDataset, random_split
from mt_nn.data.digits import digits
from mt_nn.data.idx import read_idx
from mt_nn.data.loader import DataLoader

__all__ = [
    "DataLoader",
    "Dataset",
    "Subset",
    "TensorDataset",
    "digits",
    "random_split",
    "read_idx",
]
