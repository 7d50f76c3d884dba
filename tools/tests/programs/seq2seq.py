"""Sequence to sequence with attention: sort letters, with teacher forcing at first."""

import argparse
import random

import numpy as np
import torch
import torch.nn as nn
import torch.nn.functional as F

SOS, EOS, LETTERS = 0, 1, "abcdefgh"


class Encoder(nn.Module):
    def __init__(self, tokens, hidden):
        super(Encoder, self).__init__()
        self.embedding = nn.Embedding(tokens, hidden)
        self.gru = nn.GRU(hidden, hidden, bidirectional=True)

    def forward(self, source):
        outputs, hidden = self.gru(self.embedding(source))
        forward, backward = outputs.chunk(2, dim=-1)
        return forward + backward, hidden.sum(0)


class Attention(nn.Module):
    """Bahdanau attention: score each source position from the query and its key."""

    def __init__(self, hidden):
        super(Attention, self).__init__()
        self.Wa, self.Ua = nn.Linear(hidden, hidden), nn.Linear(hidden, hidden)
        self.Va = nn.Linear(hidden, 1)

    def forward(self, query, keys):
        scores = self.Va(torch.tanh(self.Wa(query).unsqueeze(0) + self.Ua(keys)))
        weights = F.softmax(scores.squeeze(2).t(), dim=-1)
        return torch.bmm(weights.unsqueeze(1), keys.transpose(0, 1)).squeeze(1), weights


class Decoder(nn.Module):
    def __init__(self, tokens, hidden):
        super(Decoder, self).__init__()
        self.embedding = nn.Embedding(tokens, hidden)
        self.attention = Attention(hidden)
        self.cell = nn.GRUCell(2 * hidden, hidden)
        self.out = nn.Linear(hidden, tokens)

    def forward(self, token, hidden, keys):
        context, weights = self.attention(hidden, keys)
        hidden = self.cell(torch.cat((self.embedding(token), context), dim=1), hidden)
        return F.log_softmax(self.out(hidden), dim=1), hidden, weights


def batch_of_words(size, rng):
    """Return sources and targets of equal length, as integers of shape [time, batch]."""
    length = int(rng.integers(3, 6))
    words = rng.integers(2, 2 + len(LETTERS), size=(length, size))
    ends = np.full((1, size), EOS)
    source = torch.from_numpy(np.concatenate([words, ends]))
    return source, torch.from_numpy(np.concatenate([np.sort(words, axis=0), ends]))


def decode(decoder, hidden, keys, target, force):
    token = torch.full((target.size(1),), SOS, dtype=torch.long, device=target.device)
    steps, maps = [], []
    for t in range(target.size(0)):
        scores, hidden, weights = decoder(token, hidden, keys)
        token = target[t] if force else scores.topk(1)[1].squeeze(-1).detach()
        steps.append(scores)
        maps.append(weights)
    return torch.stack(steps), torch.stack(maps, dim=1)


def spell(numbers):
    return "".join(LETTERS[n - 2] for n in numbers if n >= 2)


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--iters", type=int, default=60)
    parser.add_argument("--hidden", type=int, default=32)
    parser.add_argument("--out")
    args = parser.parse_args()
    random.seed(8)
    rng = np.random.default_rng(8)
    encoder = Encoder(2 + len(LETTERS), args.hidden)
    decoder = Decoder(2 + len(LETTERS), args.hidden)
    parameters = list(encoder.parameters()) + list(decoder.parameters())
    flat = torch.from_numpy(rng.uniform(-0.18, 0.18, sum(map(torch.numel, parameters))))
    nn.utils.vector_to_parameters(flat.float(), parameters)

    optimizer = torch.optim.Adam(parameters, lr=0.01)
    plateau = torch.optim.lr_scheduler.ReduceLROnPlateau(optimizer, factor=0.5, patience=1)
    criterion = nn.NLLLoss()
    losses, rates = [], []
    for i in range(1, args.iters + 1):
        source, target = batch_of_words(24, rng)
        keys, hidden = encoder(source)
        scores, _ = decode(decoder, hidden, keys, target, force=random.random() < 0.7)
        loss = criterion(scores.view(-1, scores.size(2)), target.reshape(-1))
        optimizer.zero_grad()
        loss.backward()
        torch.nn.utils.clip_grad_value_(parameters, 0.5)
        optimizer.step()
        losses.append(loss.item())
        if i % 10 == 0:
            recent = sum(losses[-10:]) / 10
            plateau.step(recent)
            rates.append(optimizer.param_groups[-1]["lr"])
            print(f"({i} {100 * i // args.iters}%) {recent:.4f}")

    encoder.eval(), decoder.eval()
    with torch.no_grad():
        source, target = batch_of_words(5, rng)
        keys, hidden = encoder(source)
        scores, maps = decode(decoder, hidden, keys, target, force=False)
    guessed = scores.argmax(-1)
    for word, right, guess in zip(source.T.tolist(), target.T.tolist(), guessed.T.tolist()):
        print(f"{spell(word):6s} -> {spell(guess):6s} ({spell(right)})")
    if args.out:
        np.savez(args.out, loss=losses, rates=rates, scores=scores, attention=maps.numpy())


if __name__ == "__main__":
    main()
