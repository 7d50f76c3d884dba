"""A masked language model: words are hidden, replaced or kept, and predicted from their neighbors."""

import argparse
import math

import numpy as np
import torch
import torch.nn as nn
import torch.nn.functional as F
from torch.optim import AdamW
from torch.optim.lr_scheduler import LambdaLR

PAD, CLS, SEP, MASK, FIRST = 0, 1, 2, 3, 4
WORDS = 20


def pairs_of_sentences(count, length, rng):
    """Return pairs of counting sentences, and whether the second one continues the first."""
    tokens = np.full((count, length), PAD)
    segments = np.zeros((count, length), dtype=np.int64)
    is_next = rng.integers(0, 2, count)
    for i in range(count):
        n, m = rng.integers(3, 6, 2)
        start, stride = rng.integers(0, WORDS), rng.integers(1, 3)
        first = start + stride * np.arange(n)
        begin = first[-1] + stride if is_next[i] else rng.integers(0, WORDS)
        second = begin + stride * np.arange(m)
        row = [CLS, *(FIRST + first % WORDS), SEP, *(FIRST + second % WORDS), SEP]
        tokens[i, : len(row)] = row
        segments[i, n + 2 : len(row)] = 1
    return tokens, segments, is_next


def mask_tokens(tokens, rng, probability=0.25):
    """Return inputs and labels: -100 where nothing is to be predicted."""
    inputs, labels = tokens.clone(), tokens.clone()
    matrix = torch.full(labels.shape, probability)
    matrix.masked_fill_(labels < FIRST, value=0.0)
    masked = torch.from_numpy(rng.random(labels.shape)) < matrix
    labels[~masked] = -100
    replaced = torch.from_numpy(rng.random(labels.shape) < 0.8) & masked
    inputs[replaced] = MASK
    at_random = torch.from_numpy(rng.random(labels.shape) < 0.5) & masked & ~replaced
    random_words = torch.from_numpy(rng.integers(FIRST, FIRST + WORDS, labels.shape))
    inputs[at_random] = random_words[at_random]
    return inputs, labels


class BertEmbeddings(nn.Module):
    def __init__(self, vocabulary, hidden, positions):
        super().__init__()
        self.word_embeddings = nn.Embedding(vocabulary, hidden, padding_idx=PAD)
        self.position_embeddings = nn.Embedding(positions, hidden)
        self.token_type_embeddings = nn.Embedding(2, hidden)
        self.LayerNorm = nn.LayerNorm(hidden, eps=1e-12)
        self.register_buffer("position_ids", torch.arange(positions).expand((1, -1)))

    def forward(self, input_ids, token_type_ids):
        position_ids = self.position_ids[:, : input_ids.size(1)]
        embeddings = self.word_embeddings(input_ids) + self.token_type_embeddings(token_type_ids)
        embeddings += self.position_embeddings(position_ids)
        return self.LayerNorm(embeddings)


class Bert(nn.Module):
    def __init__(self, vocabulary, hidden=32, layers=2, heads=4, positions=16):
        super().__init__()
        self.embeddings = BertEmbeddings(vocabulary, hidden, positions)
        layer = nn.TransformerEncoderLayer(
            hidden, heads, 2 * hidden, dropout=0.0, activation="gelu", batch_first=True
        )
        self.encoder = nn.TransformerEncoder(layer, layers, enable_nested_tensor=False)
        self.pooler = nn.Sequential(nn.Linear(hidden, hidden), nn.Tanh(), nn.Linear(hidden, 2))
        self.transform = nn.Sequential(
            nn.Linear(hidden, hidden), nn.GELU(), nn.LayerNorm(hidden, eps=1e-12)
        )
        self.decoder = nn.Linear(hidden, vocabulary, bias=False)
        self.decoder.weight = self.embeddings.word_embeddings.weight
        self.bias = nn.Parameter(torch.zeros(vocabulary))

    def forward(self, input_ids, token_type_ids, attention_mask):
        x = self.embeddings(input_ids, token_type_ids)
        x = self.encoder(x, src_key_padding_mask=attention_mask == 0)
        return self.decoder(self.transform(x)) + self.bias, self.pooler(x[:, 0])


def get_linear_schedule_with_warmup(optimizer, warmup, total):
    def lr_lambda(step):
        if step < warmup:
            return float(step + 1) / float(max(1, warmup))
        return max(0.0, float(total - step) / float(max(1, total - warmup)))

    return LambdaLR(optimizer, lr_lambda, last_epoch=-1)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--steps", type=int, default=20)
    parser.add_argument("--out")
    args = parser.parse_args()
    rng = np.random.default_rng(12)
    model = Bert(FIRST + WORDS)
    for module in model.modules():
        if isinstance(module, (nn.Linear, nn.Embedding)):
            drawn = rng.normal(0, 0.5 / math.sqrt(module.weight.shape[1]), module.weight.shape)
            module.weight.data.copy_(torch.as_tensor(drawn))
        if isinstance(module, nn.MultiheadAttention):
            bound = math.sqrt(6 / sum(module.in_proj_weight.shape))
            drawn = rng.uniform(-bound, bound, module.in_proj_weight.shape)
            module.in_proj_weight.data.copy_(torch.as_tensor(drawn))
        if isinstance(module, nn.Linear) and module.bias is not None:
            module.bias.data.zero_()
    no_decay = ["bias", "norm", "LayerNorm.weight"]
    named = list(model.named_parameters())
    groups = [
        {"params": [p for n, p in named if not any(s in n for s in no_decay)]},
        {"params": [p for n, p in named if any(s in n for s in no_decay)], "weight_decay": 0.0},
    ]
    optimizer = AdamW(groups, lr=3e-3, weight_decay=0.01, eps=1e-8)
    scheduler = get_linear_schedule_with_warmup(optimizer, 5, args.steps)
    losses, next_losses = [], []
    for step in range(args.steps):
        tokens, segments, is_next = map(torch.from_numpy, pairs_of_sentences(16, 16, rng))
        input_ids, labels = mask_tokens(tokens, rng)
        scores, relation = model(input_ids, segments, attention_mask=(tokens != PAD).long())
        masked_lm_loss = F.cross_entropy(scores.view(-1, scores.size(-1)), labels.view(-1))
        next_sentence_loss = F.cross_entropy(relation, is_next)
        model.zero_grad()
        (masked_lm_loss + next_sentence_loss).backward()
        nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        optimizer.step()
        scheduler.step()
        losses.append(masked_lm_loss.item())
        next_losses.append(next_sentence_loss.item())
        if step % 4 == 3:
            print(f"{step + 1}: words {losses[-1]:.4f}, sentences {next_losses[-1]:.4f}")
    if args.out:
        np.savez(args.out, loss=losses, next=next_losses, scores=scores.detach().numpy())


if __name__ == "__main__":
    main()
