"""What training needs beside layers: sequences of different lengths in one batch."""

from mt_nn.utils import rnn

__all__ = ["rnn"]
