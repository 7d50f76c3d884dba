"""Recurrent networks: the layers `RNN`, `GRU` and `LSTM`, and cells for single steps."""

from __future__ import annotations

import math
import warnings
from typing import Any, ClassVar

import numpy as np

from mt_nn import functional, init
from mt_nn.core.dropout import check_probability
from mt_nn.core.module import Module
from mt_nn.core.parameter import Parameter
from mt_nn.core.settings import integer
from mt_nn.errors import InputError, SettingError
from mt_nn.layers import recurrent_steps as recurrent
from mt_nn.utils.declared import Declared
from mt_nn.utils.factory import DeclaredLayer
from mt_nn.utils.rnn import PackedSequence, pad_packed_sequence
from mt_nn.utils.settings import check_flags, choice
from mt_tensor import Tensor, cat, stack, tensor, zeros
from mt_tensor.extending import require_tensors

States = tuple[Tensor, ...]
"""The hidden state and, for an LSTM, the cell state."""

Outputs = tuple[Tensor, States]
"""The output of a layer, and its states after the last step."""

Order = tuple[Tensor | None, bool]
"""The lengths of the sequences, or None if all are equal; and whether they are read in reverse."""


class RNNBase(DeclaredLayer):
    """Base class of recurrent networks: parameters, layers and directions.

    Attributes:
        gates: number of values that a step computes for each element of the hidden state.
    """

    gates: ClassVar[int]
    input_size: int
    hidden_size: int
    num_layers: int = 1

    def _check(self) -> None:
        self.input_size = integer("input_size", self.input_size, 1)
        self.hidden_size = hidden_size = integer("hidden_size", self.hidden_size, 1)
        self.num_layers = integer("num_layers", self.num_layers, 1)
        self.proj_size = proj_size = integer("proj_size", vars(self).get("proj_size", 0), 0)
        if proj_size and not isinstance(self, LSTM):
            raise SettingError(f"{type(self).__name__} needs proj_size=0: only LSTM supports it.")
        if proj_size >= hidden_size:
            raise SettingError(
                f"LSTM: proj_size must be smaller than hidden_size; got {proj_size} and "
                f"{hidden_size}."
            )
        check_probability(type(self).__name__, self.dropout)
        check_flags(bias=self.bias, batch_first=self.batch_first, bidirectional=self.bidirectional)
        if self.dropout and self.num_layers == 1:
            warnings.warn(
                f"dropout={self.dropout} has no effect with one layer: it acts between layers.",
                stacklevel=5,
            )
        self.dropout: float = float(self.dropout)
        self._output_size = proj_size or hidden_size
        rows = self.gates * hidden_size
        shapes = {
            "weight_hh": (rows, self._output_size),
            "bias_ih": (rows,) if self.bias else None,
            "bias_hh": (rows,) if self.bias else None,
            "weight_hr": (proj_size, hidden_size) if proj_size else None,
        }
        for layer, suffixes in enumerate(self._suffixes()):
            features = self._output_size * len(suffixes) if layer else self.input_size
            for suffix in suffixes:
                for name, shape in {"weight_ih": (rows, features), **shapes}.items():
                    if shape is not None:
                        setattr(self, f"{name}_{suffix}", Parameter(zeros(*shape)))
        _initialize(self, hidden_size)

    def forward(self, input: Tensor | PackedSequence, hx: Any = None) -> tuple[Any, Any]:
        """Return the output of the last layer, and the final hidden states of all layers.

        Args:
            input: shape (steps, batch, input_size), (steps, input_size) without a batch, or packed
                (`mt_nn.utils.rnn`).
            hx: the initial hidden states, shape (layers * directions, batch, hidden_size), without
                the batch if the input has none; zeros if None.

        Returns:
            The hidden states after each step, shape (steps, batch, directions * hidden_size), or
            packed if the input is; and the final hidden states, of the shape of `hx`.

        Raises:
            InputError: a shape or dtype is invalid.
        """
        output, (last,) = self._run(input, None if hx is None else (hx,))
        return output, last

    def flatten_parameters(self) -> None:
        """Do nothing; for compatibility with torch, which moves the parameters into one buffer."""

    def _suffixes(self) -> list[list[str]]:
        """Return the suffixes of parameter names, for each layer and each of its directions."""
        directions = ("", "_reverse") if self.bidirectional else ("",)
        return [[f"l{layer}{name}" for name in directions] for layer in range(self.num_layers)]

    def _state_sizes(self) -> tuple[int, ...]:
        """Return the number of features of each of the states."""
        return (self._output_size,)

    def _over_time(self, projected: Tensor, start: States, suffix: str, order: Order) -> Outputs:
        """Run all steps of one layer in one direction; return its output and final states.

        Args:
            projected: the result of `_projected`.
            start: the initial states, shape (batch, features) each.
            suffix: the suffix of the parameter names.
            order: the lengths of the sequences, and whether to read them in reverse.
        """
        raise NotImplementedError

    def _projected(self, input: Tensor, suffix: str) -> Tensor:
        """Return the products of the inputs of all steps with their weight, plus all biases."""
        bias = self._parameter("bias_ih", suffix)
        if bias is not None:
            bias = bias + self._parameter("bias_hh", suffix)
        return functional.linear(input, self._parameter("weight_ih", suffix), bias)

    def _parameter(self, name: str, suffix: str) -> Any:
        """Return the parameter of one layer and direction, or None if there is none."""
        return self._parameters.get(f"{name}_{suffix}")

    def _run(self, input: Tensor | PackedSequence, hx: States | None) -> tuple[Any, States]:
        """Return the output of the last layer, and the final states of all layers.

        Args:
            input: shape (steps, batch, features), (steps, features), or packed.
            hx: the initial states, zeros if None.
        """
        if isinstance(input, PackedSequence):
            return self._run_packed(input, hx)
        self._check_input(input)
        is_batched = input.ndim == 3
        steps = input if is_batched else input.unsqueeze(1)
        if is_batched and self.batch_first:
            steps = input.transpose(0, 1)
        if not steps.shape[0]:
            raise InputError(
                f"{type(self).__name__} takes sequences of at least one step; shape {input.shape} "
                "was given."
            )
        start = self._initial_states(steps, hx, is_batched)
        output, states = self._all_layers(steps, start, None)
        if not is_batched:
            return output.squeeze(1), tuple(state.squeeze(1) for state in states)
        return (output.transpose(0, 1) if self.batch_first else output), states

    def _run_packed(
        self, input: PackedSequence, hx: States | None
    ) -> tuple[PackedSequence, States]:
        """Run on padded sequences; the padding has no influence on the result."""
        self._check_input(input.data.unsqueeze(0))
        order, back = input.sorted_indices, input.unsorted_indices
        steps, _ = pad_packed_sequence(PackedSequence(input.data, input.batch_sizes))
        start = self._initial_states(steps, hx, True)
        if order is not None:
            order = order.to(steps.backend)
            start = tuple(tuple(x.index_select(0, order) for x in states) for states in start)
        lengths = input.lengths()
        output, states = self._all_layers(steps, start, tensor(lengths, backend=steps.backend))
        at, rows = np.nonzero(np.arange(len(steps))[:, None] < lengths)
        data = output[tensor(at, backend=steps.backend), tensor(rows, backend=steps.backend)]
        if back is not None:
            back = back.to(steps.backend)
            states = tuple(state.index_select(1, back) for state in states)
        return input._replace(data=data), states

    def _all_layers(
        self, input: Tensor, start: tuple[States, ...], lengths: Tensor | None
    ) -> tuple[Tensor, States]:
        """Return the output of the last layer, and the final states of all layers.

        Args:
            input: shape (steps, batch, features).
            start: for each kind of state, the initial states of all layers and directions, shape
                (batch, features) each.
            lengths: the lengths of the sequences, or None if all are equal.
        """
        last: list[States] = []
        for layer, suffixes in enumerate(self._suffixes()):
            if layer:
                input = functional.dropout(input, self.dropout, self.training)
            outputs = []
            for direction, suffix in enumerate(suffixes):
                first = tuple(states[len(last)] for states in start)
                projected = self._projected(input, suffix)
                order = (lengths, direction == 1)
                output, states = self._over_time(projected, first, suffix, order)
                outputs.append(output)
                last.append(states)
            input = cat(outputs, -1) if len(outputs) > 1 else outputs[0]
        if len(last) == 1:  # the final state is a view of the output, so copy it
            return input, tuple(state.clone().unsqueeze(0) for state in last[0])
        return input, tuple(stack(states) for states in zip(*last, strict=True))

    def _check_input(self, input: Tensor) -> None:
        require_tensors(type(self).__name__, input)
        dtype = self.weight_ih_l0.dtype
        if input.ndim not in (2, 3) or input.shape[-1] != self.input_size or input.dtype != dtype:
            raise InputError(
                f"{type(self).__name__} takes sequences of shape (steps, batch, features), or "
                f"(steps, features), with {self.input_size} features of {dtype.name}; shape "
                f"{input.shape} and {input.dtype.name} were given."
            )

    def _initial_states(
        self, steps: Tensor, given: States | None, is_batched: bool
    ) -> tuple[States, ...]:
        """Check the initial states, and split them by layer and direction; zeros if None."""
        count = self.num_layers * (2 if self.bidirectional else 1)
        batch = steps.shape[1]
        if given is None:
            shapes = [(batch, features) for features in self._state_sizes()]
            return tuple((steps._full(shape, 0.0, steps.dtype),) * count for shape in shapes)
        for state, features in zip(given, self._state_sizes(), strict=True):
            shape = (count, batch, features) if is_batched else (count, features)
            _check_state(self, state, shape, steps)
        return tuple((x if is_batched else x.unsqueeze(1)).unbind() for x in given)

    def extra_repr(self) -> str:
        """Return the sizes, and the settings that differ from their defaults."""
        names = ("proj_size", "num_layers", "bias", "batch_first", "dropout", "bidirectional")
        return _non_default_settings(self, *names)


class RNN(RNNBase):
    """A plain recurrent network (Elman 1990).

    Each step is `h = tanh(weight_ih @ x + bias_ih + weight_hh @ h + bias_hh)`.

    Args:
        input_size: number of features of the input.
        hidden_size: number of features of the hidden state.
        num_layers: number of stacked layers; each reads the output of the layer below.
        nonlinearity: "tanh" or "relu".
        bias: whether to add biases.
        batch_first: whether input and output have shape (batch, steps, features).
        dropout: probability of zeroing an element between two layers, in training mode.
        bidirectional: whether each layer also reads the sequence in reverse.
        device, dtype: those of the parameters.

    Attributes:
        weight_ih_l0: for layer 0, shape (hidden_size, input_size). Later layers have the size of
            their input instead. Names of the reverse direction end in `_reverse`.
        weight_hh_l0: shape (hidden_size, hidden_size).
        bias_ih_l0, bias_hh_l0: shape (hidden_size,); only with `bias`.
    """

    gates = 1

    nonlinearity: str = "tanh"
    bias: bool = True
    batch_first: bool = False
    dropout: float = 0.0
    bidirectional: bool = False

    def _check(self) -> None:
        super()._check()
        choice("nonlinearity", self.nonlinearity, ("tanh", "relu"))

    def _over_time(self, projected: Tensor, start: States, suffix: str, order: Order) -> Outputs:
        weight, is_relu = self._parameter("weight_hh", suffix), self.nonlinearity == "relu"
        states = recurrent.rnn(projected, start[0], weight, *order, is_relu)
        return states, (recurrent.final(states, order[1]),)


class _GatedRNN(RNNBase):
    """Base class of `GRU` and `LSTM`."""

    bias: bool = True
    batch_first: bool = False
    dropout: float = 0.0
    bidirectional: bool = False
    proj_size: int = 0


class GRU(_GatedRNN):
    """A network of gated recurrent units (Cho et al. 2014).

    Each step is, with `*` elementwise,

        r = sigmoid(W_ir x + b_ir + W_hr h + b_hr)
        z = sigmoid(W_iz x + b_iz + W_hz h + b_hz)
        n = tanh(W_in x + b_in + r * (W_hn h + b_hn))
        h = (1 - z) * n + z * h

    Args:
        input_size: number of features of the input.
        hidden_size: number of features of the hidden state.
        num_layers: number of stacked layers; each reads the output of the layer below.
        bias: whether to add biases.
        batch_first: whether input and output have shape (batch, steps, features).
        dropout: probability of zeroing an element between two layers, in training mode.
        bidirectional: whether each layer also reads the sequence in reverse.
        proj_size: must be 0, since only `LSTM` has projections.
        device, dtype: those of the parameters.

    Attributes:
        weight_ih_l0: for layer 0, shape (3 * hidden_size, input_size): the rows for r, z and n.
            Later layers have the size of their input instead. Names of the reverse direction end
            in `_reverse`.
        weight_hh_l0: shape (3 * hidden_size, hidden_size).
        bias_ih_l0, bias_hh_l0: shape (3 * hidden_size,); only with `bias`.
    """

    gates = 3

    def _projected(self, input: Tensor, suffix: str) -> Tensor:
        """Return the products plus `bias_ih` only, since r multiplies the term with `bias_hh`."""
        return functional.linear(
            input, self._parameter("weight_ih", suffix), self._parameter("bias_ih", suffix)
        )

    def _over_time(self, projected: Tensor, start: States, suffix: str, order: Order) -> Outputs:
        weight, bias = self._parameter("weight_hh", suffix), self._parameter("bias_hh", suffix)
        states = recurrent.gru(projected, start[0], weight, bias, *order)
        return states, (recurrent.final(states, order[1]),)


class LSTM(_GatedRNN):
    """A network with long short-term memory (Hochreiter and Schmidhuber 1997).

    Each step is, with `*` elementwise,

        i = sigmoid(W_ii x + b_ii + W_hi h + b_hi)
        f = sigmoid(W_if x + b_if + W_hf h + b_hf)
        g = tanh(W_ig x + b_ig + W_hg h + b_hg)
        o = sigmoid(W_io x + b_io + W_ho h + b_ho)
        c = f * c + i * g
        h = o * tanh(c)

    and `h = W_hr (o * tanh(c))` with `proj_size` (Sak et al. 2014).

    Args:
        input_size: number of features of the input.
        hidden_size: number of features of the cell state c, and of h without `proj_size`.
        num_layers: number of stacked layers; each reads the output of the layer below.
        bias: whether to add biases.
        batch_first: whether input and output have shape (batch, steps, features).
        dropout: probability of zeroing an element between two layers, in training mode.
        bidirectional: whether each layer also reads the sequence in reverse.
        proj_size: number of features of h, less than `hidden_size`; 0 for no projection.
        device, dtype: those of the parameters.

    Attributes:
        weight_ih_l0: for layer 0, shape (4 * hidden_size, input_size): the rows for i, f, g and o.
            Later layers have the size of their input instead. Names of the reverse direction end
            in `_reverse`.
        weight_hh_l0: shape (4 * hidden_size, proj_size or hidden_size).
        bias_ih_l0, bias_hh_l0: shape (4 * hidden_size,); only with `bias`.
        weight_hr_l0: shape (proj_size, hidden_size); only with `proj_size`.
    """

    gates = 4

    def forward(
        self, input: Tensor | PackedSequence, hx: tuple[Tensor, Tensor] | None = None
    ) -> tuple[Any, tuple[Tensor, Tensor]]:
        """Return the output of the last layer, and the final states of all layers.

        Args:
            input: shape (steps, batch, input_size), (steps, input_size) without a batch, or packed
                (`mt_nn.utils.rnn`).
            hx: the initial h and c, shape (layers * directions, batch, features) each, without the
                batch if the input has none; zeros if None.

        Returns:
            h after each step, shape (steps, batch, directions * features of h), or packed if the
            input is; and the final h and c, of the shapes of `hx`.

        Raises:
            InputError: a shape or dtype is invalid.
        """
        _check_pair(self, hx)
        output, (hidden, cell) = self._run(input, hx)
        return output, (hidden, cell)

    def _state_sizes(self) -> tuple[int, ...]:
        return self._output_size, self.hidden_size

    def _over_time(self, projected: Tensor, start: States, suffix: str, order: Order) -> Outputs:
        weights = (self._parameter("weight_hh", suffix), self._parameter("weight_hr", suffix))
        hidden, cell = start
        states, cell = recurrent.lstm(projected, hidden, cell, *weights, *order)
        return states, (recurrent.final(states, order[1]), cell)


# --- Single steps -------------------------------------------------------------------------------


class RNNCellBase(DeclaredLayer):
    """Base class of the cells: their parameters.

    Attributes:
        gates: number of values that a step computes for each element of the hidden state.
    """

    gates: ClassVar[int]
    input_size: int
    hidden_size: int
    bias: bool = True

    def _check(self) -> None:
        self.input_size = integer("input_size", self.input_size, 1)
        self.hidden_size = integer("hidden_size", self.hidden_size, 1)
        rows = self.gates * self.hidden_size
        self.weight_ih = Parameter(zeros(rows, self.input_size))
        self.weight_hh = Parameter(zeros(rows, self.hidden_size))
        self.bias_ih = Parameter(zeros(rows)) if self.bias else None
        self.bias_hh = Parameter(zeros(rows)) if self.bias else None
        _initialize(self, self.hidden_size)

    def _checked(self, input: Tensor, *states: Tensor | None) -> list[Tensor]:
        """Check shapes and dtypes; return all states, with zeros for None."""
        require_tensors(type(self).__name__, input)
        if input.ndim not in (1, 2) or input.shape[-1] != self.input_size:
            raise InputError(
                f"{type(self).__name__} takes an input of shape (batch, {self.input_size}) or "
                f"({self.input_size},); shape {input.shape} was given."
            )
        shape = (*input.shape[:-1], self.hidden_size)
        for state in states:
            if state is not None:
                _check_state(self, state, shape, input)
        return [input._full(shape, 0.0, input.dtype) if x is None else x for x in states]

    def extra_repr(self) -> str:
        """Return the sizes, and the settings that differ from their defaults."""
        return _non_default_settings(self, "bias", "nonlinearity")


class RNNCell(RNNCellBase):
    """One step of an `RNN`.

    Args:
        input_size: number of features of the input.
        hidden_size: number of features of the hidden state.
        bias: whether to add biases.
        nonlinearity: "tanh" or "relu".
        device, dtype: those of the parameters.

    Attributes:
        weight_ih: shape (hidden_size, input_size).
        weight_hh: shape (hidden_size, hidden_size).
        bias_ih, bias_hh: shape (hidden_size,), or None.
    """

    gates = 1
    nonlinearity: str = "tanh"

    def _check(self) -> None:
        super()._check()
        choice("nonlinearity", self.nonlinearity, ("tanh", "relu"))

    def forward(self, input: Tensor, hx: Tensor | None = None) -> Tensor:
        """Return the next hidden state.

        Args:
            input: shape (batch, input_size), or (input_size,).
            hx: the hidden state, shape (batch, hidden_size) or (hidden_size,); zeros if None.

        Raises:
            InputError: a shape or dtype is invalid.
        """
        (hidden,) = self._checked(input, hx)
        bias = None if self.bias_ih is None else self.bias_ih + self.bias_hh
        projected = functional.linear(input, self.weight_ih, bias)
        product = functional.linear(hidden, self.weight_hh)
        return recurrent.activation(projected + product, self.nonlinearity == "relu")


class GRUCell(RNNCellBase):
    """One step of a `GRU`.

    Args:
        input_size: number of features of the input.
        hidden_size: number of features of the hidden state.
        bias: whether to add biases.
        device, dtype: those of the parameters.

    Attributes:
        weight_ih: shape (3 * hidden_size, input_size): the rows for r, z and n of `GRU`.
        weight_hh: shape (3 * hidden_size, hidden_size).
        bias_ih, bias_hh: shape (3 * hidden_size,), or None.
    """

    gates = 3

    def forward(self, input: Tensor, hx: Tensor | None = None) -> Tensor:
        """Return the next hidden state.

        Args:
            input: shape (batch, input_size), or (input_size,).
            hx: the hidden state, shape (batch, hidden_size) or (hidden_size,); zeros if None.

        Raises:
            InputError: a shape or dtype is invalid.
        """
        (hidden,) = self._checked(input, hx)
        projected = functional.linear(input, self.weight_ih, self.bias_ih)
        return recurrent.gru_cell(projected, hidden, self.weight_hh, self.bias_hh)


class LSTMCell(RNNCellBase):
    """One step of an `LSTM`.

    Args:
        input_size: number of features of the input.
        hidden_size: number of features of both states.
        bias: whether to add biases.
        device, dtype: those of the parameters.

    Attributes:
        weight_ih: shape (4 * hidden_size, input_size): the rows for i, f, g and o of `LSTM`.
        weight_hh: shape (4 * hidden_size, hidden_size).
        bias_ih, bias_hh: shape (4 * hidden_size,), or None.
    """

    gates = 4

    def forward(
        self, input: Tensor, hx: tuple[Tensor, Tensor] | None = None
    ) -> tuple[Tensor, Tensor]:
        """Return the next h and c.

        Args:
            input: shape (batch, input_size), or (input_size,).
            hx: h and c, shape (batch, hidden_size) or (hidden_size,) each; zeros if None.

        Raises:
            InputError: a shape or dtype is invalid.
        """
        _check_pair(self, hx)
        hidden, cell = self._checked(input, *(hx or (None, None)))
        weights, biases = (self.weight_ih, self.weight_hh), (self.bias_ih, self.bias_hh)
        return recurrent.lstm_cell(input, hidden, cell, *weights, *biases)


# --- Helpers of layers and cells ----------------------------------------------------------------


def _initialize(module: Module, hidden_size: int) -> None:
    """Draw all parameters uniformly from -1 / sqrt(hidden_size) to 1 / sqrt(hidden_size)."""
    bound = 1.0 / math.sqrt(hidden_size)
    for parameter in module.parameters():
        init.uniform_(parameter.value, -bound, bound)


def _check_pair(module: Module, hx: Any) -> None:
    """Raise InputError unless the states of an LSTM are None or a pair."""
    if hx is None or (isinstance(hx, tuple | list) and len(hx) == 2):
        return
    raise InputError(
        f"{type(module).__name__} takes its states as a pair (h, c); {type(hx).__name__} was given."
    )


def _check_state(module: Module, state: Tensor, shape: tuple[int, ...], input: Tensor) -> None:
    require_tensors(type(module).__name__, state)
    if state.shape != shape or state.dtype != input.dtype:
        raise InputError(
            f"{type(module).__name__} expects a state of shape {shape} and {input.dtype.name} for "
            f"this input; shape {state.shape} and {state.dtype.name} were given."
        )


def _non_default_settings(module: Declared, *names: str) -> str:
    """Return the sizes, and those settings of a layer that differ from their defaults."""
    texts = [str(getattr(module, name)) for name in ("input_size", "hidden_size")]
    for name in names:
        parameter = module._signature.parameters.get(name)
        if parameter is not None and getattr(module, name) != parameter.default:
            texts.append(f"{name}={getattr(module, name)}")
    return ", ".join(texts)
