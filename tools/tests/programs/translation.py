"""Translation of numbers into words, ones before tens: nn.Transformer with greedy decoding."""

import argparse
import math
import warnings

import numpy as np
import torch
import torch.nn as nn
from torch import Tensor
from torch.nn import Transformer
from torch.nn.utils.rnn import pad_sequence

warnings.filterwarnings("ignore", "enable_nested_tensor")  # the batch is not first

UNK_IDX, PAD_IDX, BOS_IDX, EOS_IDX = 0, 1, 2, 3
ONES = "nul ein zwei drei vier fuenf sechs sieben acht neun".split()
TENS = ["", "zehn", "zwanzig", "dreissig"]
VOCABULARY = ["<unk>", "<pad>", "<bos>", "<eos>", "und", *ONES, *TENS[1:]]


def translate_number(number):
    """Return a number below 40 in words, the ones before the tens."""
    tens, ones = divmod(number, 10)
    if tens == 0:
        return [ONES[ones]]
    return [ONES[ones], "und", TENS[tens]] if ones else [TENS[tens]]


def collate_fn(numbers):
    src_batch, tgt_batch = [], []
    for several in numbers:
        digits = [4 + int(d) for number in several for d in f"{number:d}"]
        words = [VOCABULARY.index(w) for number in several for w in translate_number(number)]
        src_batch.append(torch.tensor([BOS_IDX, *digits, EOS_IDX]))
        tgt_batch.append(torch.tensor([BOS_IDX, *words, EOS_IDX]))
    src_batch = pad_sequence(src_batch, padding_value=PAD_IDX)
    return src_batch, pad_sequence(tgt_batch, padding_value=PAD_IDX)


class PositionalEncoding(nn.Module):
    def __init__(self, emb_size: int, maxlen: int = 50):
        super(PositionalEncoding, self).__init__()
        den = torch.exp(-torch.arange(0, emb_size, 2) * math.log(10000) / emb_size)
        pos = torch.arange(0, maxlen).reshape(maxlen, 1)
        pos_embedding = torch.zeros((maxlen, emb_size))
        pos_embedding[:, 0::2] = torch.sin(pos * den)
        pos_embedding[:, 1::2] = torch.cos(pos * den)
        self.register_buffer("pos_embedding", pos_embedding.unsqueeze(-2))

    def forward(self, token_embedding: Tensor):
        return token_embedding + self.pos_embedding[: token_embedding.size(0), :]


class Seq2SeqTransformer(nn.Module):
    def __init__(self, emb_size: int, nhead: int, src_vocab: int, tgt_vocab: int):
        super(Seq2SeqTransformer, self).__init__()
        self.emb_size = emb_size
        self.transformer = Transformer(
            d_model=emb_size,
            nhead=nhead,
            num_encoder_layers=2,
            num_decoder_layers=2,
            dim_feedforward=2 * emb_size,
            dropout=0.0,
        )
        self.generator = nn.Linear(emb_size, tgt_vocab)
        self.src_tok_emb = nn.Embedding(src_vocab, emb_size)
        self.tgt_tok_emb = nn.Embedding(tgt_vocab, emb_size)
        self.positional_encoding = PositionalEncoding(emb_size)

    def embed(self, embedding, tokens: Tensor):
        return self.positional_encoding(embedding(tokens.long()) * math.sqrt(self.emb_size))

    def forward(self, src, trg, src_mask, tgt_mask, src_padding, tgt_padding):
        outs = self.transformer(
            self.embed(self.src_tok_emb, src),
            self.embed(self.tgt_tok_emb, trg),
            src_mask,
            tgt_mask,
            None,
            src_padding,
            tgt_padding,
            src_padding,
        )
        return self.generator(outs)

    def encode(self, src, src_mask):
        return self.transformer.encoder(self.embed(self.src_tok_emb, src), src_mask)

    def decode(self, tgt, memory, tgt_mask):
        return self.transformer.decoder(self.embed(self.tgt_tok_emb, tgt), memory, tgt_mask)


def generate_square_subsequent_mask(sz):
    return torch.triu(torch.full((sz, sz), True), diagonal=1)


def create_mask(src, tgt):
    tgt_mask = generate_square_subsequent_mask(tgt.shape[0])
    src_mask = torch.zeros((src.shape[0], src.shape[0])).type(torch.bool)
    return src_mask, tgt_mask, (src == PAD_IDX).transpose(0, 1), (tgt == PAD_IDX).transpose(0, 1)


def greedy_decode(model, src, max_len):
    memory = model.encode(src, torch.zeros(len(src), len(src)).type(torch.bool))
    ys = torch.ones(1, 1).fill_(BOS_IDX).type(torch.long)
    for _ in range(max_len - 1):
        out = model.decode(ys, memory, generate_square_subsequent_mask(ys.size(0)))
        _, next_word = torch.max(model.generator(out.transpose(0, 1)[:, -1]), dim=1)
        ys = torch.cat([ys, torch.ones(1, 1).type_as(src.data).fill_(next_word.item())], dim=0)
        if next_word == EOS_IDX:
            break
    return ys.flatten()


if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    parser.add_argument("--steps", type=int, default=20)
    parser.add_argument("--out")
    args = parser.parse_args()
    rng = np.random.default_rng(23)
    model = Seq2SeqTransformer(32, 4, 14, len(VOCABULARY))
    for p in model.parameters():
        if p.dim() > 1:
            bound = math.sqrt(6 / sum(p.shape))
            p.data.copy_(torch.from_numpy(rng.uniform(-bound, bound, p.shape)))
    for name, p in model.named_parameters():
        if name.endswith("bias"):
            nn.init.constant_(p, 0.0)
    loss_fn = nn.CrossEntropyLoss(ignore_index=PAD_IDX, label_smoothing=0.1)
    optimizer = torch.optim.Adam(model.parameters(), lr=2e-3, betas=(0.9, 0.98), eps=1e-9)
    losses = []
    for step in range(args.steps):
        src, tgt = collate_fn([rng.integers(0, 40, rng.integers(1, 3)) for _ in range(16)])
        tgt_input, tgt_out = tgt[:-1, :], tgt[1:, :]
        logits = model(src, tgt_input, *create_mask(src, tgt_input))
        optimizer.zero_grad()
        loss = loss_fn(logits.reshape(-1, logits.shape[-1]), tgt_out.reshape(-1))
        loss.backward()
        optimizer.step()
        losses.append(loss.item())
        if step % 5 == 4:
            print(f"Step: {step + 1}, Train loss: {losses[-1]:.3f}")
    model.eval()
    with torch.no_grad():
        words = greedy_decode(model, collate_fn([[37]])[0], max_len=8)
    print("37 ->", " ".join(VOCABULARY[w] for w in words.tolist()))
    if args.out:
        np.savez(args.out, loss=losses, logits=logits.detach().numpy(), words=words)
