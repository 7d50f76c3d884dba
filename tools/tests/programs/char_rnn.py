"""A character-level RNN from scratch: cell, initial weights, clipping and Adagrad."""

import argparse

import numpy as np
import torch
from torch.nn.functional import one_hot

TEXT = (
    "she sells sea shells by the sea shore; the shells she sells are sea shells for sure. "
    "so if she sells shells on the sea shore, then i am sure she sells sea shore shells. "
) * 8


class Vocabulary:
    def __init__(self, text):
        self.letters = sorted(set(text))
        self.number = {letter: i for i, letter in enumerate(self.letters)}

    def __len__(self):
        return len(self.letters)

    def encode(self, text):
        return torch.tensor([self.number[letter] for letter in text])

    def decode(self, numbers):
        return "".join(self.letters[int(i)] for i in numbers)


class RNN:
    """h = tanh(Wxh x + Whh h + bh), y = Why h + by."""

    def __init__(self, vocab_size, hidden_size, rng):
        self.vocab_size, self.hidden_size = vocab_size, hidden_size

        def weights(*shape):
            drawn = torch.tensor(rng.standard_normal(shape) * 0.1, dtype=torch.float32)
            return drawn.requires_grad_()

        self.Wxh = weights(hidden_size, vocab_size)
        self.Whh = weights(hidden_size, hidden_size)
        self.Why = weights(vocab_size, hidden_size)
        self.bh = torch.zeros(hidden_size, 1, requires_grad=True)
        self.by = torch.zeros(vocab_size, 1, requires_grad=True)

    def parameters(self):
        return [self.Wxh, self.Whh, self.Why, self.bh, self.by]

    def step(self, letter, h):
        x = one_hot(torch.tensor([letter]), self.vocab_size).t().float()
        h = torch.tanh(self.Wxh.mm(x) + self.Whh.mm(h) + self.bh)
        return self.Why.mm(h) + self.by, h

    def loss(self, inputs, targets, h):
        total = 0
        for letter, target in zip(inputs.tolist(), targets):
            y, h = self.step(letter, h)
            p = torch.exp(y - y.max()) / torch.sum(torch.exp(y - y.max()))
            total += -torch.log(p[target, 0])
        return total, h

    @torch.no_grad()
    def sample(self, h, letter, n):
        letters = []
        for _ in range(n):
            y, h = self.step(letter, h)
            letter = y.argmax().item()
            letters.append(letter)
        return letters


class Adagrad:
    def __init__(self, params, lr):
        self.params, self.lr = list(params), lr
        self.memory = [torch.zeros_like(p) for p in self.params]

    def zero_grad(self):
        for p in self.params:
            if p.grad is not None:
                p.grad.zero_()

    def step(self):
        with torch.no_grad():
            for p, mem in zip(self.params, self.memory):
                mem += p.grad * p.grad
                p -= self.lr * p.grad / torch.sqrt(mem + 1e-8)


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--iterations", type=int, default=24)
    parser.add_argument("--hidden-size", type=int, default=32)
    parser.add_argument("--seq-length", type=int, default=16)
    parser.add_argument("--out", default="")
    args = parser.parse_args()
    rng = np.random.default_rng(3)
    vocabulary = Vocabulary(TEXT)
    data = vocabulary.encode(TEXT)
    print(f"data has {len(data)} characters, {len(vocabulary)} unique.")

    rnn = RNN(len(vocabulary), args.hidden_size, rng)
    optimizer = Adagrad(rnn.parameters(), lr=0.05)
    smooth_loss = -np.log(1.0 / len(vocabulary)) * args.seq_length
    position, losses = 0, []
    for n in range(args.iterations):
        if position + args.seq_length + 1 >= len(data) or n == 0:
            h, position = torch.zeros(args.hidden_size, 1), 0
        inputs = data[position : position + args.seq_length]
        targets = data[position + 1 : position + args.seq_length + 1]
        loss, h = rnn.loss(inputs, targets, h.detach())
        optimizer.zero_grad()
        loss.backward()
        for p in rnn.parameters():
            p.grad.data.clamp_(-5, 5)
        optimizer.step()
        losses.append(loss.item())
        smooth_loss = smooth_loss * 0.95 + losses[-1] * 0.05
        position += args.seq_length
        if n % 8 == 7:
            print(f"iter {n + 1}, loss: {smooth_loss:.4f}")

    written = rnn.sample(torch.zeros(args.hidden_size, 1), vocabulary.number["s"], 40)
    print(f"----\ns{vocabulary.decode(written)}\n----")
    if args.out:
        np.savez(args.out, loss=losses, hidden=h.detach().numpy(), Whh=rnn.Whh.detach().numpy())


if __name__ == "__main__":
    main()
