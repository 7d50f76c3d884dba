"""Sequences of different lengths in one batch, under torch's names."""

from mt_nn.library.utils.rnn import (
    PackedSequence as PackedSequence,
    pad_sequence as pad_sequence,
    unpad_sequence as unpad_sequence,
    pack_padded_sequence as pack_padded_sequence,
    pad_packed_sequence as pad_packed_sequence,
    pack_sequence as pack_sequence,
    unpack_sequence as unpack_sequence,
)
