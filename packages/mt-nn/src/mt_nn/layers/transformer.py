"""Transformers: stacks of attention and small networks for each position (Vaswani et al., 2017)."""

from __future__ import annotations

import copy
from collections.abc import Callable
from typing import Any

from mt_nn import functional, init
from mt_nn.core.containers import Sequential
from mt_nn.core.dropout import Dropout
from mt_nn.core.linear import Linear
from mt_nn.core.module import Module
from mt_nn.core.settings import integer
from mt_nn.errors import InputError, SettingError
from mt_nn.layers.attention import MultiheadAttention, causal_mask
from mt_nn.layers.normalization import LayerNorm
from mt_tensor import Tensor
from mt_tensor.extending import Backend, Device, require_tensors

Activation = str | Callable[[Tensor], Tensor]

Masks = tuple[Tensor | None, Tensor | None, bool]
"""Which step must not see which, which steps none may see, and whether the first is causal."""

ACTIVATIONS: dict[str, Callable[[Tensor], Tensor]] = {
    "relu": functional.relu,
    "gelu": functional.gelu,
}


class TransformerLayer(Module):
    """What layers of encoders and decoders share: attentions, then a network for each position.

    What each of these parts returns is added to its input, and the sum is normalized.

    Args:
        d_model: features of input and output.
        nhead: number of heads; divides `d_model`.
        dim_feedforward: features between the two linear layers of the network.
        dropout: how likely an element is left out in training, of weights and of what is added.
        activation: between the two linear layers: "relu", "gelu" or a function of a tensor.
        layer_norm_eps: keeps the division of the normalization finite.
        batch_first: whether inputs and outputs have shape (batch, steps, features) instead of
            (steps, batch, features).
        norm_first: whether to normalize what the parts take, instead of the sums.
        bias: whether linear layers, attention and normalization add biases.
    """

    attentions: tuple[str, ...] = ()
    """Their names, in the order in which they are applied."""

    def __init__(
        self,
        d_model: int,
        nhead: int,
        dim_feedforward: int = 2048,
        dropout: float = 0.1,
        activation: Activation = functional.relu,
        layer_norm_eps: float = 1e-5,
        batch_first: bool = False,
        norm_first: bool = False,
        bias: bool = True,
    ) -> None:
        super().__init__()
        for name in self.attentions:
            attention = MultiheadAttention(d_model, nhead, dropout, bias, batch_first=batch_first)
            self.add_module(name, attention)
        self.linear1 = Linear(d_model, dim_feedforward, bias)
        self.dropout = Dropout(dropout)
        self.linear2 = Linear(dim_feedforward, d_model, bias)
        self.norm_first = norm_first
        parts = range(1, len(self.attentions) + 2)
        for number in parts:
            self.add_module(f"norm{number}", LayerNorm(d_model, layer_norm_eps, bias=bias))
        for number in parts:
            self.add_module(f"dropout{number}", Dropout(dropout))
        self.activation = _activation(activation)

    def _added(self, number: int, x: Tensor, part: Callable[[Tensor], Tensor]) -> Tensor:
        """Return what a part of the layer makes of its input, added to it and normalized."""
        norm, dropout = getattr(self, f"norm{number}"), getattr(self, f"dropout{number}")
        found: Tensor = (
            x + dropout(part(norm(x))) if self.norm_first else norm(x + dropout(part(x)))
        )
        return found

    def _feed(self, x: Tensor) -> Tensor:
        """Return what the network makes of each position."""
        inner: Tensor = self.dropout(self.activation(self.linear1(x)))
        found: Tensor = self.linear2(inner)
        return found


class TransformerEncoderLayer(TransformerLayer):
    """Attention of a sequence to itself, then a network for each position.

    The arguments are those of `TransformerLayer`.
    """

    attentions = ("self_attn",)

    def forward(
        self,
        src: Tensor,
        src_mask: Tensor | None = None,
        src_key_padding_mask: Tensor | None = None,
        is_causal: bool = False,
    ) -> Tensor:
        """Return a sequence of the same shape.

        Args:
            src: shape (steps, batch, d_model), or (steps, d_model) without a batch.
            src_mask: which step must not see which; see `MultiheadAttention.forward`.
            src_key_padding_mask: which steps none may see.
            is_causal: says that `src_mask` is the causal one.

        Raises:
            InputError: shapes or types do not fit.
        """

        def attend(x: Tensor) -> Tensor:
            return _attended(self.self_attn, x, x, (src_mask, src_key_padding_mask, is_causal))

        return self._added(2, self._added(1, src, attend), self._feed)


class TransformerDecoderLayer(TransformerLayer):
    """Attention of a sequence to itself, then to another one, then a network for each position.

    The arguments are those of `TransformerLayer`.
    """

    attentions = ("self_attn", "multihead_attn")

    def forward(
        self,
        tgt: Tensor,
        memory: Tensor,
        tgt_mask: Tensor | None = None,
        memory_mask: Tensor | None = None,
        tgt_key_padding_mask: Tensor | None = None,
        memory_key_padding_mask: Tensor | None = None,
        tgt_is_causal: bool = False,
        memory_is_causal: bool = False,
    ) -> Tensor:
        """Return a sequence of the shape of `tgt`.

        Args:
            tgt: shape (steps, batch, d_model), or (steps, d_model) without a batch.
            memory: what an encoder returned, shape (other steps, batch, d_model).
            tgt_mask: which step must not see which; see `MultiheadAttention.forward`.
            memory_mask: which step must not see which one of `memory`.
            tgt_key_padding_mask: which steps none may see.
            memory_key_padding_mask: which ones of `memory` none may see.
            tgt_is_causal: says that `tgt_mask` is the causal one.
            memory_is_causal: says that `memory_mask` is.

        Raises:
            InputError: shapes or types do not fit.
        """

        def attend(x: Tensor) -> Tensor:
            return _attended(self.self_attn, x, x, (tgt_mask, tgt_key_padding_mask, tgt_is_causal))

        def look(x: Tensor) -> Tensor:
            masks = (memory_mask, memory_key_padding_mask, memory_is_causal)
            return _attended(self.multihead_attn, x, memory, masks)

        return self._added(3, self._added(2, self._added(1, tgt, attend), look), self._feed)


def _attended(attention: MultiheadAttention, x: Tensor, memory: Tensor, masks: Masks) -> Tensor:
    """Return what the steps of one sequence get of those of another one, or of its own."""
    mask, padding, is_causal = masks
    found: Tensor = attention(
        x, memory, memory, padding, need_weights=False, attn_mask=mask, is_causal=is_causal
    )[0]
    return found


def _activation(given: Activation) -> Callable[[Tensor], Tensor]:
    """Return an activation that is given by its name, or itself."""
    if isinstance(given, str) and given in ACTIVATIONS:
        return ACTIVATIONS[given]
    if callable(given):
        return given
    raise SettingError(f"activation is 'relu', 'gelu' or a function; {given!r} was given.")


# --- Stacks -------------------------------------------------------------------------------------


class _Stack(Module):
    """Layers that begin as copies of one, and perhaps a normalization of the last one's output."""

    def __init__(self, layer: Module, num_layers: int, norm: Module | None) -> None:
        super().__init__()
        copies = range(integer("num_layers", num_layers, 1))
        self.layers = Sequential(*[copy.deepcopy(layer) for _ in copies])
        self.num_layers, self.norm = num_layers, norm

    def _normalized(self, x: Tensor) -> Tensor:
        found: Tensor = x if self.norm is None else self.norm(x)
        return found


class TransformerEncoder(_Stack):
    """Layers of an encoder, one after the other.

    Args:
        encoder_layer: what all layers begin as copies of.
        num_layers: how many there are.
        norm: what is applied to the output of the last one, or None.
        enable_nested_tensor, mask_check: for those who come from torch; of no effect, as there is
            one way to compute.
    """

    def __init__(
        self,
        encoder_layer: Module,
        num_layers: int,
        norm: Module | None = None,
        enable_nested_tensor: bool = True,
        mask_check: bool = True,
    ) -> None:
        super().__init__(encoder_layer, num_layers, norm)

    def forward(
        self,
        src: Tensor,
        mask: Tensor | None = None,
        src_key_padding_mask: Tensor | None = None,
        is_causal: bool | None = None,
    ) -> Tensor:
        """Return a sequence of the same shape; see `TransformerEncoderLayer.forward`."""
        for layer in self.layers:
            src = layer(src, mask, src_key_padding_mask, bool(is_causal))
        return self._normalized(src)


class TransformerDecoder(_Stack):
    """Layers of a decoder, one after the other, which all see the same memory.

    Args:
        decoder_layer: what all layers begin as copies of.
        num_layers: how many there are.
        norm: what is applied to the output of the last one, or None.
    """

    def __init__(self, decoder_layer: Module, num_layers: int, norm: Module | None = None) -> None:
        super().__init__(decoder_layer, num_layers, norm)

    def forward(
        self,
        tgt: Tensor,
        memory: Tensor,
        tgt_mask: Tensor | None = None,
        memory_mask: Tensor | None = None,
        tgt_key_padding_mask: Tensor | None = None,
        memory_key_padding_mask: Tensor | None = None,
        tgt_is_causal: bool | None = None,
        memory_is_causal: bool = False,
    ) -> Tensor:
        """Return a sequence of the shape of `tgt`; see `TransformerDecoderLayer.forward`."""
        masks = (tgt_mask, memory_mask, tgt_key_padding_mask, memory_key_padding_mask)
        for layer in self.layers:
            tgt = layer(tgt, memory, *masks, bool(tgt_is_causal), memory_is_causal)
        return self._normalized(tgt)


class Transformer(Module):
    """An encoder that reads one sequence, and a decoder that makes another one of it.

    Args:
        d_model: features of all inputs and outputs.
        nhead: number of heads; divides `d_model`.
        num_encoder_layers: how many layers the encoder has.
        num_decoder_layers: how many the decoder has.
        dim_feedforward: features between the two linear layers of each.
        dropout: the probability that an element is left out in training.
        activation: between the two linear layers: "relu", "gelu" or a function of a tensor.
        custom_encoder: an encoder instead of the usual one.
        custom_decoder: a decoder instead of the usual one.
        layer_norm_eps: keeps the division of the normalization finite.
        batch_first: whether inputs and outputs have shape (batch, steps, features) instead of
            (steps, batch, features).
        norm_first: whether to normalize what the parts of layers take, instead of the sums.
        bias: whether linear layers, attention and normalization add biases.
    """

    def __init__(
        self,
        d_model: int = 512,
        nhead: int = 8,
        num_encoder_layers: int = 6,
        num_decoder_layers: int = 6,
        dim_feedforward: int = 2048,
        dropout: float = 0.1,
        activation: Activation = functional.relu,
        custom_encoder: Module | None = None,
        custom_decoder: Module | None = None,
        layer_norm_eps: float = 1e-5,
        batch_first: bool = False,
        norm_first: bool = False,
        bias: bool = True,
    ) -> None:
        super().__init__()
        settings: Any = (
            *(d_model, nhead, dim_feedforward, dropout, activation),
            *(layer_norm_eps, batch_first, norm_first, bias),
        )
        if custom_encoder is None:
            layer = TransformerEncoderLayer(*settings)
            norm = LayerNorm(d_model, layer_norm_eps, bias=bias)
            custom_encoder = TransformerEncoder(layer, num_encoder_layers, norm)
        if custom_decoder is None:
            last = TransformerDecoderLayer(*settings)
            norm = LayerNorm(d_model, layer_norm_eps, bias=bias)
            custom_decoder = TransformerDecoder(last, num_decoder_layers, norm)
        self.encoder, self.decoder = custom_encoder, custom_decoder
        for parameter in self.parameters():
            if parameter.value.ndim > 1:
                init.xavier_uniform_(parameter.value)
        self.d_model, self.nhead, self.batch_first = d_model, nhead, batch_first

    def forward(
        self,
        src: Tensor,
        tgt: Tensor,
        src_mask: Tensor | None = None,
        tgt_mask: Tensor | None = None,
        memory_mask: Tensor | None = None,
        src_key_padding_mask: Tensor | None = None,
        tgt_key_padding_mask: Tensor | None = None,
        memory_key_padding_mask: Tensor | None = None,
        src_is_causal: bool | None = None,
        tgt_is_causal: bool | None = None,
        memory_is_causal: bool = False,
    ) -> Tensor:
        """Return a sequence of the shape of `tgt`, made of `src` and what is known of it so far.

        Args:
            src: shape (steps, batch, d_model), or (steps, d_model) without a batch.
            tgt: shape (other steps, batch, d_model), or (other steps, d_model).
            src_mask: which step of `src` must not see which; see `MultiheadAttention.forward`.
            tgt_mask: which step of `tgt` must not see which.
            memory_mask: which step of `tgt` must not see which one of the encoder's output.
            src_key_padding_mask: which steps of `src` the encoder must not see.
            tgt_key_padding_mask: which steps of `tgt` none may see.
            memory_key_padding_mask: which ones of the encoder's output the decoder must not see.
            src_is_causal: says that `src_mask` is the causal one.
            tgt_is_causal: says that `tgt_mask` is.
            memory_is_causal: says that `memory_mask` is.

        Raises:
            InputError: shapes or types do not fit.
        """
        require_tensors("Transformer", src, tgt)
        if {src.shape[-1:], tgt.shape[-1:]} != {(self.d_model,)} or src.ndim != tgt.ndim:
            raise InputError(
                f"Transformer takes two sequences with {self.d_model} features, both with or "
                f"without a batch; shapes {src.shape} and {tgt.shape} were given."
            )
        memory = self.encoder(src, src_mask, src_key_padding_mask, src_is_causal)
        masks = (tgt_mask, memory_mask, tgt_key_padding_mask, memory_key_padding_mask)
        found: Tensor = self.decoder(tgt, memory, *masks, tgt_is_causal, memory_is_causal)
        return found

    @staticmethod
    def generate_square_subsequent_mask(
        sz: int, device: Device = None, dtype: Any = None, *, backend: Backend = None
    ) -> Tensor:
        """Return the causal mask to be added: minus infinity where a step would see a later one.

        Args:
            sz: the number of steps.
            device: where its elements are.
            dtype: their type.
            backend: a backend instead of a device; the current one if both are None.

        Returns:
            Shape (sz, sz).
        """
        return causal_mask(sz, dtype, backend=backend, device=device)
