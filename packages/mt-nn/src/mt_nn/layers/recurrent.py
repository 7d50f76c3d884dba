"""Recurrent networks: layers that read sequences step by step, and remember."""

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
from mt_nn.utils.rnn import PackedSequence, pad_packed_sequence
from mt_nn.utils.settings import check_flags
from mt_tensor import Tensor, cat, stack, tensor, zeros
from mt_tensor.extending import require_tensors

NONLINEARITIES = ("tanh", "relu")

States = tuple[Tensor, ...]
"""What a network remembers from step to step: h, and of an LSTM also c."""

Outputs = tuple[Tensor, States]
"""The output of a layer, and its states after the last step."""

Order = tuple[Tensor | None, bool]
"""The lengths of sequences, None if all are as long, and whether they are read backwards."""


class RNNBase(Module):
    """What recurrent networks share: their parameters, and the way through layers and directions.

    Args:
        input_size: features of the input.
        hidden_size: features of the state.
        num_layers: how many networks there are, each reading what the one before puts out.
        bias: whether to add biases.
        batch_first: whether input and output have shape (batch, steps, features) instead of
            (steps, batch, features).
        dropout: the probability that an element between two layers is left out in training.
        bidirectional: whether each layer also reads backwards, with parameters of its own, and puts
            out both results side by side.
        proj_size: how many features are shown of the state; all of them if 0.

    Attributes:
        gates: how many values each step computes for each element of the state.
        weight_ih_l0: for layer 0, shape (gates * hidden_size, input_size); that of later layers is
            for their input. All names have an end `_reverse` for the direction backwards.
        weight_hh_l0: shape (gates * hidden_size, shown features).
        bias_ih_l0, bias_hh_l0: shape (gates * hidden_size,); only with `bias`.
        weight_hr_l0: shape (proj_size, hidden_size); only with `proj_size`.
    """

    gates: ClassVar[int]

    def __init__(
        self,
        input_size: int,
        hidden_size: int,
        num_layers: int = 1,
        bias: bool = True,
        batch_first: bool = False,
        dropout: float = 0.0,
        bidirectional: bool = False,
        proj_size: int = 0,
    ) -> None:
        super().__init__()
        self.input_size = input_size = integer("input_size", input_size, 1)
        self.hidden_size = hidden_size = integer("hidden_size", hidden_size, 1)
        self.num_layers = integer("num_layers", num_layers, 1)
        self.proj_size = integer("proj_size", proj_size, 0)
        if proj_size and not isinstance(self, LSTM):
            raise SettingError(f"proj_size is for LSTM only; {type(self).__name__} has none.")
        if proj_size >= hidden_size:
            raise SettingError(
                f"proj_size must be smaller than hidden_size; got {proj_size} and {hidden_size}."
            )
        check_probability(dropout)
        check_flags(bias=bias, batch_first=batch_first, bidirectional=bidirectional)
        if dropout and num_layers == 1:
            warnings.warn(
                f"dropout={dropout} acts between layers, and there is but one.",
                stacklevel=2 if type(self).__init__ is RNNBase.__init__ else 3,
            )
        self.bias, self.batch_first, self.bidirectional = bias, batch_first, bidirectional
        self.dropout = float(dropout)
        self._shown = proj_size or hidden_size
        gates = self.gates
        shapes = {
            "weight_hh": (gates * hidden_size, self._shown),
            "bias_ih": (gates * hidden_size,) if bias else None,
            "bias_hh": (gates * hidden_size,) if bias else None,
            "weight_hr": (proj_size, hidden_size) if proj_size else None,
        }
        for ends in self._ends():
            for end in ends:
                features = input_size if ends[0] == "l0" else self._shown * len(ends)
                all_shapes = {"weight_ih": (gates * hidden_size, features), **shapes}
                for name, shape in all_shapes.items():
                    if shape is not None:
                        setattr(self, f"{name}_{end}", Parameter(zeros(*shape)))
        _start(self, hidden_size)

    def forward(self, input: Tensor | PackedSequence, hx: Any = None) -> tuple[Any, Any]:
        """Return the states of the last layer after each step, and the last ones of all layers.

        Args:
            input: shape (steps, batch, input_size), (steps, input_size) without a batch, or packed
                (`mt_nn.utils.rnn`).
            hx: the first states, shape (layers * directions, batch, hidden_size), without the batch
                if the input has none; zeros if None.

        Returns:
            The output, shape (steps, batch, directions * hidden_size) or packed as the input is,
            and the last states, of the shape of `hx`.

        Raises:
            InputError: shapes or types do not fit.
        """
        output, (last,) = self._run(input, None if hx is None else (hx,))
        return output, last

    def flatten_parameters(self) -> None:
        """Do nothing: it is here for programs written for torch.

        There it moves the parameters into one piece of memory, as a library for GPUs wants them.
        """

    def _ends(self) -> list[list[str]]:
        """Return what names of parameters end in, for each layer and each of its directions."""
        directions = ("", "_reverse") if self.bidirectional else ("",)
        return [[f"l{layer}{way}" for way in directions] for layer in range(self.num_layers)]

    def _states(self) -> tuple[int, ...]:
        """Return how many features each of the states has."""
        return (self._shown,)

    def _over_time(self, projected: Tensor, start: States, end: str, order: Order) -> Outputs:
        """Return the output of one layer in one direction, and all states after its last step.

        Args:
            projected: what `_projected` returned.
            start: the states before the first step, shape (batch, features) each.
            end: what the names of the parameters end in.
            order: the lengths of the sequences, or None if all have as many steps as there are;
                and whether it reads backwards.
        """
        raise NotImplementedError

    def _projected(self, input: Tensor, end: str) -> Tensor:
        """Return the products of the inputs of all steps with their weight, and all biases."""
        bias = self._of("bias_ih", end)
        if bias is not None:
            bias = bias + self._of("bias_hh", end)
        return functional.linear(input, self._of("weight_ih", end), bias)

    def _of(self, name: str, end: str) -> Any:
        """Return the parameter of one layer and direction, or None if there is none."""
        return self._parameters.get(f"{name}_{end}")

    def _run(self, input: Tensor | PackedSequence, hx: States | None) -> tuple[Any, States]:
        """Return the output of the last layer, and the last states of all layers.

        Args:
            input: shape (steps, batch, features), (steps, features), or packed.
            hx: the first states, zeros if None.
        """
        if isinstance(input, PackedSequence):
            return self._run_packed(input, hx)
        self._check_input(input)
        is_batched = input.ndim == 3
        steps = input if is_batched else input.unsqueeze(1)
        if is_batched and self.batch_first:
            steps = input.transpose(0, 1)
        if not steps.shape[0]:
            raise InputError(f"a sequence must have at least one step; {input.shape} has none.")
        start = self._first_states(steps, hx, is_batched)
        output, states = self._all_layers(steps, start, None)
        if not is_batched:
            return output.squeeze(1), tuple(state.squeeze(1) for state in states)
        return (output.transpose(0, 1) if self.batch_first else output), states

    def _run_packed(
        self, input: PackedSequence, hx: States | None
    ) -> tuple[PackedSequence, States]:
        """Run on padded sequences; what comes after the end of one has no influence."""
        self._check_input(input.data.unsqueeze(0))
        order, back = input.sorted_indices, input.unsorted_indices
        steps, _ = pad_packed_sequence(PackedSequence(input.data, input.batch_sizes))
        start = self._first_states(steps, hx, True)
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
        """Return the output of the last layer, and the last states of all.

        Args:
            input: shape (steps, batch, features).
            start: each of the first states, for all layers and directions, shape (batch, features).
            lengths: those of the sequences, or None if all have as many steps as there are.
        """
        last: list[States] = []
        for layer, ends in enumerate(self._ends()):
            if layer:
                input = functional.dropout(input, self.dropout, self.training)
            outputs = []
            for way, end in enumerate(ends):
                first = tuple(states[len(last)] for states in start)
                projected = self._projected(input, end)
                output, states = self._over_time(projected, first, end, (lengths, way == 1))
                outputs.append(output)
                last.append(states)
            input = cat(outputs, -1) if len(outputs) > 1 else outputs[0]
        if len(last) == 1:  # copied as well, for they are part of the output
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

    def _first_states(
        self, steps: Tensor, given: States | None, is_batched: bool
    ) -> tuple[States, ...]:
        """Return each of the first states for all layers and directions, checked; zeros if None."""
        count = self.num_layers * (2 if self.bidirectional else 1)
        batch = steps.shape[1]
        if given is None:
            shapes = [(batch, features) for features in self._states()]
            return tuple((steps._full(shape, 0.0, steps.dtype),) * count for shape in shapes)
        for state, features in zip(given, self._states(), strict=True):
            shape = (count, batch, features) if is_batched else (count, features)
            _check_state(self, state, shape, steps)
        return tuple((x if is_batched else x.unsqueeze(1)).unbind() for x in given)

    def extra_repr(self) -> str:
        """Show the settings that are not as usual."""
        usual: dict[str, Any] = {
            "proj_size": 0,
            "num_layers": 1,
            "bias": True,
            "batch_first": False,
            "dropout": 0.0,
            "bidirectional": False,
        }
        return _shown_settings(self, usual)


class RNN(RNNBase):
    """The plain recurrent network (Elman, 1990).

    Each step is `h = tanh(weight_ih @ x + bias_ih + weight_hh @ h + bias_hh)`.

    Args:
        input_size: features of the input.
        hidden_size: features of the state.
        num_layers: how many networks there are, each reading what the one before puts out.
        nonlinearity: "tanh" or "relu".
        bias: whether to add biases.
        batch_first: whether input and output have shape (batch, steps, features).
        dropout: the probability that an element between two layers is left out in training.
        bidirectional: whether each layer also reads backwards.

    Attributes: see `RNNBase`; there is one gate.
    """

    gates = 1

    def __init__(
        self,
        input_size: int,
        hidden_size: int,
        num_layers: int = 1,
        nonlinearity: str = "tanh",
        bias: bool = True,
        batch_first: bool = False,
        dropout: float = 0.0,
        bidirectional: bool = False,
    ) -> None:
        super().__init__(
            input_size, hidden_size, num_layers, bias, batch_first, dropout, bidirectional
        )
        self.nonlinearity = _checked_nonlinearity(nonlinearity)

    def _over_time(self, projected: Tensor, start: States, end: str, order: Order) -> Outputs:
        weight, is_relu = self._of("weight_hh", end), self.nonlinearity == "relu"
        states = recurrent.rnn(projected, start[0], weight, *order, is_relu)
        return states, (_last(states, order),)


class GRU(RNNBase):
    """The network with gated recurrent units (Cho et al., 2014).

    Each step is, with `*` element by element,

        r = sigmoid(W_ir x + b_ir + W_hr h + b_hr)
        z = sigmoid(W_iz x + b_iz + W_hz h + b_hz)
        n = tanh(W_in x + b_in + r * (W_hn h + b_hn))
        h = (1 - z) * n + z * h

    Args:
        input_size: features of the input.
        hidden_size: features of the state.
        num_layers: how many networks there are, each reading what the one before puts out.
        bias: whether to add biases.
        batch_first: whether input and output have shape (batch, steps, features).
        dropout: the probability that an element between two layers is left out in training.
        bidirectional: whether each layer also reads backwards.

    Attributes: see `RNNBase`; the three gates r, z and n follow each other in this order.
    """

    gates = 3

    def _projected(self, input: Tensor, end: str) -> Tensor:
        """Return the products with the bias of the input alone: r stands before the other one."""
        return functional.linear(input, self._of("weight_ih", end), self._of("bias_ih", end))

    def _over_time(self, projected: Tensor, start: States, end: str, order: Order) -> Outputs:
        weight, bias = self._of("weight_hh", end), self._of("bias_hh", end)
        states = recurrent.gru(projected, start[0], weight, bias, *order)
        return states, (_last(states, order),)


class LSTM(RNNBase):
    """The network with long short-term memory (Hochreiter and Schmidhuber, 1997).

    Each step is, with `*` element by element,

        i = sigmoid(W_ii x + b_ii + W_hi h + b_hi)
        f = sigmoid(W_if x + b_if + W_hf h + b_hf)
        g = tanh(W_ig x + b_ig + W_hg h + b_hg)
        o = sigmoid(W_io x + b_io + W_ho h + b_ho)
        c = f * c + i * g
        h = o * tanh(c)

    and `h = W_hr (o * tanh(c))` with `proj_size` (Sak et al., 2014).

    Args:
        input_size: features of the input.
        hidden_size: features of the memory c, and of h without `proj_size`.
        num_layers: how many networks there are, each reading what the one before puts out.
        bias: whether to add biases.
        batch_first: whether input and output have shape (batch, steps, features).
        dropout: the probability that an element between two layers is left out in training.
        bidirectional: whether each layer also reads backwards.
        proj_size: features of h, fewer than `hidden_size`; 0 for as many, without W_hr.

    Attributes: see `RNNBase`; the four gates i, f, g and o follow each other in this order.
    """

    gates = 4

    def forward(
        self, input: Tensor | PackedSequence, hx: tuple[Tensor, Tensor] | None = None
    ) -> tuple[Any, tuple[Tensor, Tensor]]:
        """Return what the last layer shows after each step, and the last states of all layers.

        Args:
            input: shape (steps, batch, input_size), (steps, input_size) without a batch, or packed
                (`mt_nn.utils.rnn`).
            hx: the first h and c, shape (layers * directions, batch, features) each, without the
                batch if the input has none; zeros if None.

        Returns:
            The output, shape (steps, batch, directions * features of h) or packed as the input is,
            and the last h and c, of the shapes of `hx`.

        Raises:
            InputError: shapes or types do not fit.
        """
        _check_two(self, hx)
        output, (hidden, cell) = self._run(input, hx)
        return output, (hidden, cell)

    def _states(self) -> tuple[int, ...]:
        return self._shown, self.hidden_size

    def _over_time(self, projected: Tensor, start: States, end: str, order: Order) -> Outputs:
        weight, shrink = self._of("weight_hh", end), self._of("weight_hr", end)
        hidden, cell = start
        states, cell = recurrent.lstm(projected, hidden, cell, weight, shrink, *order)
        return states, (_last(states, order), cell)


# --- Single steps -------------------------------------------------------------------------------


class RNNCellBase(Module):
    """Base of the cells: their parameters.

    Args:
        input_size: features of the input.
        hidden_size: features of the state.
        bias: whether to add biases.

    Attributes:
        gates: how many values each step computes for each element of the state.
        weight_ih: shape (gates * hidden_size, input_size).
        weight_hh: shape (gates * hidden_size, hidden_size).
        bias_ih, bias_hh: shape (gates * hidden_size,), or None.
    """

    gates: ClassVar[int]

    def __init__(self, input_size: int, hidden_size: int, bias: bool = True) -> None:
        super().__init__()
        gates = self.gates
        self.input_size = input_size = integer("input_size", input_size, 1)
        self.hidden_size = hidden_size = integer("hidden_size", hidden_size, 1)
        self.bias = bias
        self.weight_ih = Parameter(zeros(gates * hidden_size, input_size))
        self.weight_hh = Parameter(zeros(gates * hidden_size, hidden_size))
        self.bias_ih = Parameter(zeros(gates * hidden_size)) if bias else None
        self.bias_hh = Parameter(zeros(gates * hidden_size)) if bias else None
        _start(self, hidden_size)

    def _checked(self, input: Tensor, *states: Tensor | None) -> list[Tensor]:
        """Return all states, zeros if they are None, once the shapes and types are found to fit."""
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

    def _both_biases(self) -> Tensor | None:
        """Return the sum of the biases, or None if there are none."""
        return None if self.bias_ih is None else self.bias_ih + self.bias_hh

    def extra_repr(self) -> str:
        """Show the settings that are not as usual."""
        return _shown_settings(self, {"bias": True, "nonlinearity": "tanh"})


class RNNCell(RNNCellBase):
    """One step of an `RNN`.

    Args:
        input_size: features of the input.
        hidden_size: features of the state.
        bias: whether to add biases.
        nonlinearity: "tanh" or "relu".

    Attributes: see `RNNCellBase`; there is one gate.
    """

    gates = 1

    def __init__(
        self, input_size: int, hidden_size: int, bias: bool = True, nonlinearity: str = "tanh"
    ) -> None:
        super().__init__(input_size, hidden_size, bias)
        self.nonlinearity = _checked_nonlinearity(nonlinearity)

    def forward(self, input: Tensor, hx: Tensor | None = None) -> Tensor:
        """Return the next state.

        Args:
            input: shape (batch, input_size), or (input_size,).
            hx: the state, shape (batch, hidden_size) or (hidden_size,); zeros if None.

        Raises:
            InputError: shapes or types do not fit.
        """
        (hidden,) = self._checked(input, hx)
        projected = functional.linear(input, self.weight_ih, self._both_biases())
        product = functional.linear(hidden, self.weight_hh)
        return recurrent.activated(projected + product, self.nonlinearity == "relu")


class GRUCell(RNNCellBase):
    """One step of a `GRU`.

    Args:
        input_size: features of the input.
        hidden_size: features of the state.
        bias: whether to add biases.

    Attributes: see `RNNCellBase`; the three gates are those of `GRU`.
    """

    gates = 3

    def forward(self, input: Tensor, hx: Tensor | None = None) -> Tensor:
        """Return the next state; see `RNNCell.forward`."""
        (hidden,) = self._checked(input, hx)
        projected = functional.linear(input, self.weight_ih, self.bias_ih)
        return recurrent.gru_cell(projected, hidden, self.weight_hh, self.bias_hh)


class LSTMCell(RNNCellBase):
    """One step of an `LSTM`.

    Args:
        input_size: features of the input.
        hidden_size: features of the states.
        bias: whether to add biases.

    Attributes: see `RNNCellBase`; the four gates are those of `LSTM`.
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
            InputError: shapes or types do not fit.
        """
        _check_two(self, hx)
        hidden, cell = self._checked(input, *(hx or (None, None)))
        weights, biases = (self.weight_ih, self.weight_hh), (self.bias_ih, self.bias_hh)
        return recurrent.lstm_cell(input, hidden, cell, *weights, *biases)


# --- What both have in common -------------------------------------------------------------------


def _start(module: Module, hidden_size: int) -> None:
    """Fill all parameters with even numbers up to `1 / sqrt(hidden_size)` in size."""
    bound = 1.0 / math.sqrt(hidden_size)
    for parameter in module.parameters():
        init.uniform_(parameter.value, -bound, bound)


def _checked_nonlinearity(name: str) -> str:
    if name not in NONLINEARITIES:
        raise SettingError(f"nonlinearity is 'tanh' or 'relu'; {name!r} was given.")
    return name


def _check_two(module: Module, hx: Any) -> None:
    """Raise InputError unless the states of an LSTM are given as two tensors, or not at all."""
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


def _last(states: Tensor, order: Order) -> Tensor:
    """Return the state after the step that was done last."""
    return states[0 if order[1] else -1]


def _shown_settings(module: Any, usual: dict[str, Any]) -> str:
    """Return the sizes, and the settings that differ from the usual ones."""
    settings = {name: getattr(module, name, value) for name, value in usual.items()}
    unusual = [f"{name}={value}" for name, value in settings.items() if value != usual[name]]
    return ", ".join([str(module.input_size), str(module.hidden_size), *unusual])
