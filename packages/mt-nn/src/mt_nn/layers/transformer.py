"""Transformers: stacks of attention and feedforward networks (Vaswani et al. 2017)."""

from __future__ import annotations

import copy
from collections.abc import Callable
from typing import Any, ClassVar

from mt_nn import functional, init
from mt_nn.core.containers import Sequential
from mt_nn.core.dropout import Dropout
from mt_nn.core.linear import Linear
from mt_nn.core.module import Module
from mt_nn.core.settings import integer
from mt_nn.errors import InputError, SettingError
from mt_nn.layers.attention import MultiheadAttention, causal_mask
from mt_nn.layers.key_value_cache import KeyValueCache
from mt_nn.layers.normalization import LayerNorm
from mt_nn.utils.factory import DeclaredLayer
from mt_tensor import Tensor
from mt_tensor.extending import Backend, Device, require_tensors

Activation = str | Callable[[Tensor], Tensor]

ACTIVATIONS: dict[str, Callable[[Tensor], Tensor]] = {
    "relu": functional.relu,
    "gelu": functional.gelu,
}


class TransformerLayer(DeclaredLayer):
    """Base class of encoder and decoder layers: attention, then a feedforward network.

    The output of each sublayer is added to its input, and the sum is normalized.
    """

    attentions: ClassVar[tuple[str, ...]] = ()
    """The names of the attention sublayers, in order."""
    d_model: int
    nhead: int
    dim_feedforward: int = 2048
    dropout: Any = 0.1
    activation: Activation = functional.relu
    layer_norm_eps: float = 1e-5
    batch_first: bool = False
    norm_first: bool = False
    bias: bool = True

    def _check(self) -> None:
        d_model, dropout, bias = self.d_model, self.dropout, self.bias
        activation = _activation(self.activation)
        del self.activation  # if it is a module, it is registered after the others
        for name in self.attentions:
            attention = MultiheadAttention(
                d_model, self.nhead, dropout, bias, batch_first=self.batch_first
            )
            self.add_module(name, attention)
        self.linear1 = Linear(d_model, self.dim_feedforward, bias)
        self.dropout = Dropout(dropout)
        self.linear2 = Linear(self.dim_feedforward, d_model, bias)
        numbers = range(1, len(self.attentions) + 2)
        for number in numbers:
            self.add_module(f"norm{number}", LayerNorm(d_model, self.layer_norm_eps, bias=bias))
        for number in numbers:
            self.add_module(f"dropout{number}", Dropout(dropout))
        self.activation = activation

    def _residual(self, number: int, x: Tensor, sublayer: Callable[[Tensor], Tensor]) -> Tensor:
        """Add the output of a sublayer to its input, and normalize."""
        norm, dropout = getattr(self, f"norm{number}"), getattr(self, f"dropout{number}")
        if self.norm_first:
            return x + dropout(sublayer(norm(x)))  # type: ignore[no-any-return]
        return norm(x + dropout(sublayer(x)))  # type: ignore[no-any-return]

    def _feedforward(self, x: Tensor) -> Tensor:
        """Apply the feedforward network to each position."""
        activation: Any = self.activation
        out: Tensor = self.linear2(self.dropout(activation(self.linear1(x))))
        return out


class TransformerEncoderLayer(TransformerLayer):
    """Self-attention, then a feedforward network.

    The output of each sublayer is added to its input, and the sum is normalized. The arguments are
    those of `Transformer`.
    """

    attentions = ("self_attn",)

    def forward(
        self,
        src: Tensor,
        src_mask: Tensor | None = None,
        src_key_padding_mask: Tensor | None = None,
        is_causal: bool = False,
        *,
        cache: KeyValueCache | None = None,
    ) -> Tensor:
        """Return a sequence of the same shape.

        Args:
            src: shape (steps, batch, d_model), or (steps, d_model) without a batch.
            src_mask: the `attn_mask` of `MultiheadAttention.forward`.
            src_key_padding_mask: the `key_padding_mask`.
            is_causal: a hint that `src_mask` is causal.
            cache: keys and values of earlier steps; see `MultiheadAttention.forward`.

        Raises:
            InputError: a shape or dtype is invalid.
        """

        def self_attention(x: Tensor) -> Tensor:
            masks = (src_key_padding_mask, False, src_mask)
            out: Tensor = self.self_attn(
                x, x, x, *masks, is_causal=is_causal, **_with_cache(cache)
            )[0]
            return out

        return self._residual(2, self._residual(1, src, self_attention), self._feedforward)


class TransformerDecoderLayer(TransformerLayer):
    """Self-attention, then attention to the memory, then a feedforward network.

    The output of each sublayer is added to its input, and the sum is normalized. The arguments are
    those of `Transformer`.
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
        *,
        cache: KeyValueCache | None = None,
    ) -> Tensor:
        """Return a sequence of the shape of `tgt`.

        Args:
            tgt: shape (steps, batch, d_model), or (steps, d_model) without a batch.
            memory: the output of an encoder, shape (other steps, batch, d_model).
            tgt_mask: the `attn_mask` of self-attention; see `MultiheadAttention.forward`.
            memory_mask: the `attn_mask` of the attention to `memory`.
            tgt_key_padding_mask: the `key_padding_mask` of self-attention.
            memory_key_padding_mask: the `key_padding_mask` of the attention to `memory`.
            tgt_is_causal: a hint that `tgt_mask` is causal.
            memory_is_causal: a hint that `memory_mask` is causal.
            cache: keys and values of earlier steps of `tgt`; see `MultiheadAttention.forward`.

        Raises:
            InputError: a shape or dtype is invalid.
        """

        def self_attention(x: Tensor) -> Tensor:
            masks, is_causal = (tgt_key_padding_mask, False, tgt_mask), tgt_is_causal
            out: Tensor = self.self_attn(
                x, x, x, *masks, is_causal=is_causal, **_with_cache(cache)
            )[0]
            return out

        def cross_attention(x: Tensor) -> Tensor:
            masks = (memory_key_padding_mask, False, memory_mask)
            attend = self.multihead_attn
            out: Tensor = attend(x, memory, memory, *masks, is_causal=memory_is_causal)[0]
            return out

        out = self._residual(2, self._residual(1, tgt, self_attention), cross_attention)
        return self._residual(3, out, self._feedforward)


def _with_cache(cache: KeyValueCache | None) -> dict[str, Any]:
    """Return a cache as a keyword argument, which custom layers may not accept."""
    return {} if cache is None else {"cache": cache}


def _activation(given: Activation) -> Callable[[Tensor], Tensor]:
    """Return an activation function, given directly or by name."""
    if isinstance(given, str) and given in ACTIVATIONS:
        return ACTIVATIONS[given]
    if callable(given):
        return given
    raise SettingError(f"activation must be 'relu', 'gelu' or a function; {given!r} was given.")


# --- Stacks -------------------------------------------------------------------------------------


class _Stack(Module):
    """Base class of encoder and decoder: copies of a layer, and an optional normalization."""

    def __init__(self, layer: Module, num_layers: int, norm: Module | None) -> None:
        super().__init__()
        copies = range(integer("num_layers", num_layers, 1))
        self.layers = Sequential(*[copy.deepcopy(layer) for _ in copies])
        self.num_layers, self.norm = num_layers, norm

    def _normalized(self, x: Tensor) -> Tensor:
        out: Tensor = x if self.norm is None else self.norm(x)
        return out


class TransformerEncoder(_Stack):
    """A stack of encoder layers.

    Args:
        encoder_layer: the layer to copy.
        num_layers: number of copies.
        norm: a module to apply to the output of the last layer, or None.
        enable_nested_tensor: ignored; for compatibility with torch.
        mask_check: ignored; for compatibility with torch.
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
        *,
        cache: KeyValueCache | None = None,
    ) -> Tensor:
        """Return a sequence of the same shape; see `TransformerEncoderLayer.forward`."""
        for layer in self.layers:
            src = layer(src, mask, src_key_padding_mask, bool(is_causal), **_with_cache(cache))
        return self._normalized(src)


class TransformerDecoder(_Stack):
    """A stack of decoder layers, which attend to the same memory.

    Args:
        decoder_layer: the layer to copy.
        num_layers: number of copies.
        norm: a module to apply to the output of the last layer, or None.
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
        *,
        cache: KeyValueCache | None = None,
    ) -> Tensor:
        """Return a sequence of the shape of `tgt`; see `TransformerDecoderLayer.forward`."""
        masks = (tgt_mask, memory_mask, tgt_key_padding_mask, memory_key_padding_mask)
        for layer in self.layers:
            hints = bool(tgt_is_causal), memory_is_causal
            tgt = layer(tgt, memory, *masks, *hints, **_with_cache(cache))
        return self._normalized(tgt)


class Transformer(DeclaredLayer):
    """An encoder of a source sequence, and a decoder that maps it to a target sequence.

    Args:
        d_model: number of features of all inputs and outputs.
        nhead: number of heads; divides `d_model`.
        num_encoder_layers: number of layers of the encoder.
        num_decoder_layers: number of layers of the decoder.
        dim_feedforward: number of features between the two linear layers of each layer.
        dropout: probability of zeroing weights of attention and outputs of sublayers, in training.
        activation: the activation of the feedforward networks: "relu", "gelu" or a function.
        custom_encoder: an encoder instead of the default one.
        custom_decoder: a decoder instead of the default one.
        layer_norm_eps: the `eps` of the layer normalizations.
        batch_first: whether inputs and outputs have shape (batch, steps, features) instead of
            (steps, batch, features).
        norm_first: whether to normalize the inputs of the sublayers, instead of the sums.
        bias: whether linear layers, attention and normalization add biases.
        device, dtype: those of the parameters.
    """

    d_model: int = 512
    nhead: int = 8
    num_encoder_layers: int = 6
    num_decoder_layers: int = 6
    dim_feedforward: int = 2048
    dropout: float = 0.1
    activation: Activation = functional.relu
    custom_encoder: Module | None = None
    custom_decoder: Module | None = None
    layer_norm_eps: float = 1e-5
    batch_first: bool = False
    norm_first: bool = False
    bias: bool = True

    def _check(self) -> None:
        encoder, decoder, activation = self.custom_encoder, self.custom_decoder, self.activation
        del self.custom_encoder, self.custom_decoder, self.activation  # may be modules
        settings: Any = (
            *(self.d_model, self.nhead, self.dim_feedforward, self.dropout, activation),
            *(self.layer_norm_eps, self.batch_first, self.norm_first, self.bias),
        )
        if encoder is None:
            layer = TransformerEncoderLayer(*settings)
            norm = LayerNorm(self.d_model, self.layer_norm_eps, bias=self.bias)
            encoder = TransformerEncoder(layer, self.num_encoder_layers, norm)
        if decoder is None:
            decoder_layer = TransformerDecoderLayer(*settings)
            norm = LayerNorm(self.d_model, self.layer_norm_eps, bias=self.bias)
            decoder = TransformerDecoder(decoder_layer, self.num_decoder_layers, norm)
        self.encoder, self.decoder = encoder, decoder
        for parameter in self.parameters():
            if parameter.value.ndim > 1:
                init.xavier_uniform_(parameter.value)

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
        """Return the output of the decoder, of the shape of `tgt`.

        Args:
            src: shape (steps, batch, d_model), or (steps, d_model) without a batch.
            tgt: shape (other steps, batch, d_model), or (other steps, d_model).
            src_mask: the `attn_mask` of the encoder; see `MultiheadAttention.forward`.
            tgt_mask: the `attn_mask` of self-attention in the decoder.
            memory_mask: the `attn_mask` of the attention to the output of the encoder.
            src_key_padding_mask: the `key_padding_mask` of the encoder.
            tgt_key_padding_mask: the `key_padding_mask` of self-attention in the decoder.
            memory_key_padding_mask: that of the attention to the output of the encoder.
            src_is_causal: a hint that `src_mask` is causal.
            tgt_is_causal: a hint that `tgt_mask` is causal.
            memory_is_causal: a hint that `memory_mask` is causal.

        Raises:
            InputError: a shape or dtype is invalid.
        """
        require_tensors("Transformer", src, tgt)
        if {src.shape[-1:], tgt.shape[-1:]} != {(self.d_model,)} or src.ndim != tgt.ndim:
            raise InputError(
                f"Transformer takes two sequences with {self.d_model} features, both with or "
                f"without a batch; shapes {src.shape} and {tgt.shape} were given."
            )
        memory = self.encoder(src, src_mask, src_key_padding_mask, src_is_causal)
        masks = (tgt_mask, memory_mask, tgt_key_padding_mask, memory_key_padding_mask)
        out: Tensor = self.decoder(tgt, memory, *masks, tgt_is_causal, memory_is_causal)
        return out

    @staticmethod
    def generate_square_subsequent_mask(
        sz: int, device: Device = None, dtype: Any = None, *, backend: Backend = None
    ) -> Tensor:
        """Return a causal mask to add to scores: -infinity above the diagonal.

        Args:
            sz: the number of steps.
            device: the device of the mask.
            dtype: the dtype of the mask.
            backend: a backend instead of a device; the current one if both are None.

        Returns:
            Shape (sz, sz).
        """
        return causal_mask(sz, dtype, backend=backend, device=device)
