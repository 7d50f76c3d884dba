"""Recurrent networks: kernels, dropout, and sequences of different lengths."""

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import mt_nn as nn
import mt_tensor as mt
from mt_nn.conformance.calls.call import arrays_of
from mt_nn.conformance.drawing import draw
from mt_nn.conformance.kernels import SAMPLES
from mt_nn.layers import recurrent_steps as recurrent
from mt_nn.utils.rnn import (
    PackedSequence,
    pack_padded_sequence,
    pack_sequence,
    pad_packed_sequence,
    pad_sequence,
    unpad_sequence,
)
from mt_tensor.backends import backends
from mt_tensor.errors import BackendMismatchError
from mt_tensor.extending import FUSED

KINDS = ["RNN", "GRU", "LSTM"]
BACKENDS = [name for name in ("simple", "numpy", "fast") if name in backends()]
SAMPLED = [
    (name, sample)
    for name in ("rnn", "gru", "lstm", "lstm_cell")
    for sample in SAMPLES[name]()
    if sample[0].size < 300  # larger samples are for vectorized kernels
]


def leaves(sample: Any) -> list[Any]:
    return [
        x
        if not isinstance(x, np.ndarray)
        else mt.tensor(x.astype("f8"), requires_grad=True)
        if x.dtype.kind == "f"
        else mt.tensor(x)
        for x in sample
    ]


def operation(name: str) -> Callable[..., mt.Tensor]:
    function: Callable[..., Any] = getattr(recurrent, name)
    if name == "lstm":
        return lambda *x: mt.cat([part.flatten() for part in function(*x)])
    return (lambda *x: mt.stack(function(*x))) if name == "lstm_cell" else function


def gradients(function: Callable[..., mt.Tensor], sample: Any) -> tuple[Any, list[Any]]:
    arguments = leaves(sample)
    result = function(*arguments)
    (result * mt.arange(result.numel()).view(*result.shape).double().cos()).sum().backward()
    tensors = [x for x in arguments if isinstance(x, mt.Tensor) and x.requires_grad]
    return result.detach().numpy(), [x.grad.numpy() for x in tensors if x.grad is not None]


@pytest.mark.parametrize("backend", BACKENDS)
@pytest.mark.parametrize(("name", "sample"), SAMPLED)
def test_kernel_agrees_with_its_composition(backend: str, name: str, sample: Any) -> None:
    with mt.use_backend(backend):
        value, grads = gradients(operation(name), sample)
        expected, expected_grads = gradients(FUSED[name], sample)
    np.testing.assert_allclose(value, expected, rtol=1e-12)
    assert len(grads) >= 3
    for ours, theirs in zip(grads, expected_grads, strict=True):
        np.testing.assert_allclose(ours, theirs, rtol=1e-9, atol=1e-12)


@pytest.mark.parametrize(("name", "sample"), SAMPLED[::2])
def test_recurrent_operation_passes_gradgradcheck(name: str, sample: Any) -> None:
    arguments = leaves(sample)
    tensors = [x for x in arguments if isinstance(x, mt.Tensor) and x.requires_grad]

    def function(*values: mt.Tensor) -> mt.Tensor:
        remaining = list(values)
        return operation(name)(
            *[remaining.pop(0) if any(x is y for y in tensors) else x for x in arguments]
        )

    assert mt.gradgradcheck(function, tensors, fast_mode=True)


@pytest.mark.parametrize("kind", KINDS)
def test_cell_equals_one_step_of_the_network(kind: str) -> None:
    cell, network = getattr(nn, f"{kind}Cell")(3, 4), getattr(nn, kind)(3, 4)
    network.load_state_dict({f"{name}_l0": x for name, x in cell.state_dict().items()})
    x = mt.tensor(draw(5, 2, 3))
    output, last = network(x)
    state = None
    for step in x.unbind():
        state = cell(step, state)
    for ours, theirs in zip(arrays_of([last]), arrays_of([state]), strict=True):
        np.testing.assert_allclose(ours[0].detach(), theirs.detach(), rtol=1e-5, atol=1e-6)
    assert output.shape == (5, 2, 4)


@pytest.mark.parametrize("kind", KINDS)
def test_cell_with_tensors_of_two_backends_raises(kind: str) -> None:
    cell, x = getattr(nn, f"{kind}Cell")(3, 4).to("numpy"), mt.tensor(draw(2, 3), backend="numpy")
    state = cell(x)
    moved = [part.to("simple") for part in (state if isinstance(state, tuple) else [state])]
    for arguments in ((x.to("simple"), state), (x, moved[0] if kind != "LSTM" else tuple(moved))):
        with pytest.raises(BackendMismatchError, match="was given tensors of backends"):
            cell(*arguments)


def test_dropout_acts_between_layers_in_training_only() -> None:
    network, x = nn.GRU(3, 4, num_layers=2, dropout=0.5), mt.tensor(draw(5, 2, 3))
    first, second = (network(x) for _ in range(2))
    assert not mt.equal(first[0], second[0])
    assert mt.equal(first[1][0], second[1][0])  # no dropout before the first layer
    network.eval()
    assert mt.equal(network(x)[0], network(x)[0])
    with pytest.warns(UserWarning, match="between layers"):
        nn.LSTM(3, 4, dropout=0.5)


@pytest.mark.parametrize("backend", BACKENDS)
@pytest.mark.parametrize("kind", KINDS)
def test_output_modified_in_place_raises_in_backward(backend: str, kind: str) -> None:
    with mt.use_backend(backend):
        output, _ = getattr(nn, kind)(3, 4)(mt.tensor(draw(5, 2, 3)))
        loss = output.sum()
        output.detach().mul_(2.0)
        with pytest.raises(mt.errors.InPlaceError, match="in place"):
            loss.backward()


@pytest.mark.parametrize("backend", BACKENDS)
@pytest.mark.parametrize("kind", KINDS)
def test_final_states_do_not_share_memory_with_the_output(backend: str, kind: str) -> None:
    with mt.use_backend(backend):
        output, last = getattr(nn, kind)(3, 4)(mt.tensor(draw(5, 2, 3)))
        before = output.tolist()
        for state in arrays_of([last]):
            state.detach().zero_()
        assert output.tolist() == before
        output.sum().backward()


@pytest.mark.parametrize("backend", BACKENDS)
@pytest.mark.parametrize("kind", ["GRUCell", "LSTMCell"])
def test_hidden_state_of_a_cell_can_be_modified_in_place(backend: str, kind: str) -> None:
    results = []
    with mt.use_backend(backend):
        cell, x = getattr(nn, kind)(3, 4), mt.tensor(draw(5, 2, 3))
        for in_place in (False, True):
            state: Any = None
            for step in x.unbind():
                state = cell(step, state)
                hidden = state if kind == "GRUCell" else state[0]
                hidden = hidden.mul_(0.5) if in_place else hidden * 0.5
                state = hidden if kind == "GRUCell" else (hidden, state[1])
            cell.zero_grad()
            hidden.sum().backward()
            results.append([np.array(p.grad) for p in cell.parameters()])
    for ours, theirs in zip(*results, strict=True):
        np.testing.assert_allclose(ours, theirs, rtol=1e-6)


@pytest.mark.parametrize("kind", KINDS)
def test_flatten_parameters_changes_nothing(kind: str) -> None:
    network, x = getattr(nn, kind)(3, 4, num_layers=2), mt.tensor(draw(5, 2, 3))
    before, state = network(x)[0], {k: v.tolist() for k, v in network.state_dict().items()}
    network.flatten_parameters()
    assert mt.equal(network(x)[0], before)
    assert {k: v.tolist() for k, v in network.state_dict().items()} == state


def test_repr_shows_sizes_and_non_default_settings() -> None:
    assert repr(nn.LSTM(2, 3, 2, bias=False, proj_size=1)) == (
        "LSTM(2, 3, proj_size=1, num_layers=2, bias=False)"
    )
    assert repr(nn.GRU(2, 3, batch_first=True, bidirectional=True)) == (
        "GRU(2, 3, batch_first=True, bidirectional=True)"
    )
    assert repr(nn.RNNCell(2, 3, nonlinearity="relu")) == "RNNCell(2, 3, nonlinearity=relu)"


# --- Sequences of different lengths -------------------------------------------------------------

LENGTHS = [2, 4, 1]
SEQUENCES = [draw(length, 3, seed=length) for length in LENGTHS]


@pytest.mark.parametrize("batch_first", [False, True])
def test_unpad_sequence_inverts_pad_sequence(batch_first: bool) -> None:
    sequences = [mt.tensor(x, requires_grad=True) for x in SEQUENCES]
    padded = pad_sequence(sequences, batch_first, padding_value=7.0)
    assert padded.shape == ((3, 4, 3) if batch_first else (4, 3, 3))
    rows = padded if batch_first else padded.transpose(0, 1)
    for row, sequence in zip(rows.unbind(), SEQUENCES, strict=True):
        np.testing.assert_array_equal(row[: len(sequence)].detach(), sequence)
        assert (row[len(sequence) :] == 7.0).all()
    for ours, sequence in zip(unpad_sequence(padded, LENGTHS, batch_first), SEQUENCES, strict=True):
        np.testing.assert_array_equal(ours.detach(), sequence)
    padded.sum().backward()
    assert all(mt.equal(x.grad, mt.ones_like(x)) for x in sequences if x.grad is not None)
    left = pad_sequence([mt.tensor(x) for x in SEQUENCES], True, padding_side="left")
    np.testing.assert_array_equal(left[0, 2:], SEQUENCES[0])


def test_pad_packed_sequence_inverts_pack_padded_sequence() -> None:
    padded = pad_sequence([mt.tensor(x) for x in SEQUENCES])
    packed = pack_padded_sequence(padded, mt.tensor(LENGTHS), enforce_sorted=False)
    assert packed.batch_sizes.tolist() == [3, 2, 1, 1]
    assert packed.lengths().tolist() == [4, 2, 1]
    np.testing.assert_array_equal(packed.data[:3], padded[0][[1, 0, 2]])
    unpacked, lengths = pad_packed_sequence(packed)
    assert mt.equal(unpacked, padded)
    assert lengths.tolist() == LENGTHS
    longer, _ = pad_packed_sequence(packed, True, padding_value=-1.0, total_length=6)
    assert longer.shape == (3, 6, 3)
    assert (longer[:, 4:] == -1.0).all()
    in_order = [mt.tensor(SEQUENCES[i]) for i in (1, 0, 2)]
    assert mt.equal(pack_sequence(in_order).data, packed.data)
    assert pack_sequence(in_order).sorted_indices is None


def test_packed_sequences_keep_their_backend() -> None:
    sequences = [mt.tensor(x, backend="simple") for x in SEQUENCES]
    packed = pack_sequence(sequences, enforce_sorted=False)
    padded, lengths = pad_packed_sequence(packed)
    assert {part.backend.name for part in (*packed, padded, lengths)} == {"simple"}
    assert mt.equal(padded, pad_sequence(sequences))


@pytest.mark.parametrize("kind", KINDS)
def test_packed_sequences_give_the_results_of_single_ones(kind: str) -> None:
    network = getattr(nn, kind)(3, 4, num_layers=2, bidirectional=True)
    sequences = [mt.tensor(x) for x in SEQUENCES]
    shape = (4, 3, 4)
    start = (mt.tensor(draw(*shape)), mt.tensor(draw(*shape, seed=1)))
    packed = pack_sequence(sequences, enforce_sorted=False)
    output, last = network(packed, start if kind == "LSTM" else start[0])
    assert isinstance(output, PackedSequence)
    outputs = unpad_sequence(*pad_packed_sequence(output))
    for number, sequence in enumerate(sequences):
        state_of_one = tuple(state[:, number] for state in start)
        expected, final = network(sequence, state_of_one if kind == "LSTM" else state_of_one[0])
        np.testing.assert_allclose(
            outputs[number].detach(), expected.detach(), rtol=1e-5, atol=1e-6
        )
        for ours, theirs in zip(arrays_of([last]), arrays_of([final]), strict=True):
            np.testing.assert_allclose(
                ours[:, number].detach(), theirs.detach(), rtol=1e-5, atol=1e-6
            )


def test_padding_or_packing_with_invalid_arguments_raises() -> None:
    sequences = [mt.tensor(x) for x in SEQUENCES]
    padded = pad_sequence(sequences)
    for invalid in ([], [mt.tensor(1.0)], [sequences[0], mt.ones(2, 5)]):
        for function in (pad_sequence, pack_sequence):
            name = function.__name__
            with pytest.raises(nn.InputError, match=rf"{name}\(\): .*same features"):
                function(invalid)
    with pytest.raises(nn.SettingError, match="padding_side"):
        pad_sequence(sequences, padding_side="top")
    with pytest.raises(nn.InputError, match="not sorted"):
        pack_padded_sequence(padded, LENGTHS)
    for lengths in ([1, 2], [5, 1, 1], [2, 1, 0], [1.5, 1.0, 1.0], []):
        with pytest.raises(nn.InputError, match="takes one length per sequence"):
            pack_padded_sequence(padded, lengths, enforce_sorted=False)  # type: ignore[arg-type]
    packed = pack_sequence(sequences, enforce_sorted=False)
    with pytest.raises(nn.InputError, match="total_length=3"):
        pad_packed_sequence(packed, total_length=3)
    with pytest.raises(nn.InputError, match="with 2 features"):
        nn.GRU(2, 4)(packed)


def test_packed_sequences_and_lstm_match_torch() -> None:
    torch = pytest.importorskip("torch")
    rnn = torch.nn.utils.rnn
    theirs = rnn.pack_sequence([torch.tensor(x) for x in SEQUENCES], enforce_sorted=False)
    ours = pack_sequence([mt.tensor(x) for x in SEQUENCES], enforce_sorted=False)
    for mine, other in zip(ours, theirs, strict=True):
        np.testing.assert_array_equal(np.array(mine), other.numpy())
    network, their_network = (
        nn.LSTM(3, 4, bidirectional=True),
        torch.nn.LSTM(3, 4, bidirectional=True),
    )
    their_network.load_state_dict(
        {name: torch.tensor(x.tolist()) for name, x in network.state_dict().items()}
    )
    mine, (h, c) = network(ours)
    other, states = their_network(theirs)
    for actual, expected in zip((mine.data, h, c), (other.data, *states), strict=True):
        np.testing.assert_allclose(actual.detach(), expected.detach(), rtol=1e-5, atol=1e-6)
