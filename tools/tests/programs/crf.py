"""A linear-chain conditional random field on top of a convolution finds names in sentences."""

import argparse
from typing import List, Tuple

import numpy as np
import torch
from torch import LongTensor, Tensor
from torch import nn as nn

TAGS = ["O", "B", "I"]


def sentences(count: int, rng) -> Tuple[LongTensor, LongTensor, torch.BoolTensor]:
    """Return words, tags and a mask; word 5 begins a name, and words above 20 continue it."""
    words = rng.integers(1, 30, (count, 12))
    words[rng.random(words.shape) < 0.2] = 5
    tags = np.zeros_like(words)
    for row, found in zip(words, tags):
        for i, word in enumerate(row):
            if word == 5:
                found[i] = 1
            elif word > 20 and i > 0 and found[i - 1] > 0:
                found[i] = 2
    mask = np.arange(12)[None] < rng.integers(5, 13, count)[:, None]
    return torch.from_numpy(words), torch.from_numpy(tags), torch.from_numpy(mask)


class CRF(nn.Module):
    def __init__(self, num_tags: int) -> None:
        super().__init__()
        self.start = nn.Parameter(torch.zeros(num_tags))
        self.end = nn.Parameter(torch.zeros(num_tags))
        self.transitions = nn.Parameter(torch.zeros(num_tags, num_tags))

    def forward(self, emissions: Tensor, tags: LongTensor, mask: Tensor) -> Tensor:
        """Return the negative logarithm of the tags' probability, the mean over the batch."""
        return (self._partition(emissions, mask) - self._score(emissions, tags, mask)).mean()

    def _score(self, emissions, tags, mask):
        rows = torch.arange(len(tags))
        each = emissions.gather(2, tags.unsqueeze(2)).squeeze(2) * mask
        moves = self.transitions[tags[:, :-1], tags[:, 1:]] * mask[:, 1:]
        last = mask.long().sum(dim=1) - 1
        return self.start[tags[:, 0]] + each.sum(1) + moves.sum(1) + self.end[tags[rows, last]]

    def _partition(self, emissions, mask):
        score = self.start + emissions[:, 0]
        for i in range(1, emissions.size(1)):
            following = score.unsqueeze(2) + self.transitions + emissions[:, i].unsqueeze(1)
            score = torch.where(mask[:, i].unsqueeze(1), following.logsumexp(dim=1), score)
        return torch.logsumexp(score + self.end, dim=1)

    @torch.no_grad()
    def decode(self, emissions: Tensor, mask: Tensor) -> List[List[int]]:
        score = self.start + emissions[:, 0]
        history = []
        for i in range(1, emissions.shape[1]):
            best, index = (score[:, :, None] + self.transitions).max(dim=1)
            history.append(index)
            score = torch.where(mask[:, i, None], best + emissions[:, i], score)
        paths = []
        for b, length in enumerate(mask.sum(1).tolist()):
            path = [int((score[b] + self.end).argmax())]
            for index in reversed(history[: length - 1]):
                path.append(index[b][path[-1]].item())
            paths.append(path[::-1])
        return paths


class Model(nn.Module):
    def __init__(self, words: int = 30, dim: int = 16) -> None:
        super().__init__()
        self.embedding = nn.Embedding(words, dim)
        self.conv = nn.Conv1d(dim, 32, kernel_size=3, padding=1)
        self.norm = nn.LayerNorm(32)
        self.linear = nn.Linear(32, len(TAGS))
        self.crf = CRF(len(TAGS))

    def emissions(self, words: LongTensor) -> Tensor:
        x = self.embedding(words).permute(0, 2, 1)
        return self.linear(self.norm(torch.relu(self.conv(x)).permute(0, 2, 1)))


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--epochs", type=int, default=4)
    parser.add_argument("--out")
    args = parser.parse_args()
    rng = np.random.default_rng(12)
    words, tags, mask = sentences(160, rng)
    model = Model()
    state = model.state_dict()
    for name in sorted(state):
        if not name.startswith(("crf", "norm")):
            drawn = rng.normal(0, 0.3, tuple(state[name].shape))
            state[name].copy_(torch.from_numpy(drawn))  # the model's own memory
    optimizer = torch.optim.NAdam(model.parameters(), lr=2e-2)
    losses = []
    for epoch in range(args.epochs):
        for batch in torch.from_numpy(rng.permutation(128)).chunk(4):
            loss = model.crf(model.emissions(words[batch]), tags[batch], mask[batch])
            model.zero_grad()
            loss.backward()
            optimizer.step()
            losses.append(loss.item())
        paths = model.crf.decode(model.emissions(words[128:]), mask[128:])
        rows = zip(paths, tags[128:].tolist())
        hits = [a == b for path, row in rows for a, b in zip(path, row)]
        print(f"epoch {epoch + 1}: loss {losses[-1]:.4f}, {np.mean(hits):.1%} right")
    print(" ".join(TAGS[t] for t in paths[0]))
    if args.out:
        lengths = [len(path) for path in paths]
        np.savez(
            args.out,
            loss=losses,
            transitions=model.crf.transitions.data.numpy(),
            lengths=lengths,
            paths=sum(paths, []),
        )


if __name__ == "__main__":
    main()
