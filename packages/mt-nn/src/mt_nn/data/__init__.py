"""Data sets, batch loaders, image transforms, downloads, and readers of common file formats."""

# fmt: off
from mt_nn.core.dataset import Dataset, TensorDataset
from mt_nn.core.loader import DataLoader
from mt_nn.core.samplers import BatchSampler, RandomSampler, Sampler, SequentialSampler
from mt_nn.data import transforms
from mt_nn.data.collate import default_collate, default_convert
from mt_nn.data.datasets import (
    ConcatDataset, IterableDataset, Subset, SubsetRandomSampler, TransformedDataset,
    WeightedRandomSampler, random_split,
)
from mt_nn.data.downloads.download import download
from mt_nn.data.downloads.published import PUBLISHED, fetch
from mt_nn.data.formats.images import cifar10, digits, mnist, read_idx
from mt_nn.data.formats.texts import read_movie_reviews, read_penn_treebank, read_sst2, read_text
from mt_nn.data.vocabulary import BPTTWindows, Vocabulary, batchify, tokenize

__all__ = [
    "PUBLISHED", "BPTTWindows", "BatchSampler", "ConcatDataset", "DataLoader", "Dataset",
    "IterableDataset", "RandomSampler", "Sampler", "SequentialSampler", "Subset",
    "SubsetRandomSampler", "TensorDataset", "TransformedDataset", "Vocabulary",
    "WeightedRandomSampler", "batchify", "cifar10", "default_collate", "default_convert", "digits",
    "download", "fetch", "mnist", "random_split", "read_idx", "read_movie_reviews",
    "read_penn_treebank", "read_sst2", "read_text", "tokenize", "transforms",
]
