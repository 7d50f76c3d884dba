"""Tag the words of sentences with a bidirectional LSTM over packed sequences.

The language is made up: a word's tag depends on the word and on the one before it.
"""

import argparse

import numpy as np
import torch
import torch.nn as nn
import torch.nn.functional as F
from torch.nn.utils.rnn import pack_padded_sequence, pad_packed_sequence, pad_sequence
from torch.utils.data import DataLoader, Dataset

PAD = 0


class Sentences(Dataset):
    def __init__(self, count, vocabulary, tags, rng):
        self.samples = []
        for _ in range(count):
            words = rng.integers(1, vocabulary, size=rng.integers(3, 13))
            left = np.concatenate([[0], words[:-1]])
            self.samples.append((words, (words + left) % tags))

    def __len__(self):
        return len(self.samples)

    def __getitem__(self, index):
        words, tags = self.samples[index]
        return torch.from_numpy(words), torch.as_tensor(tags, dtype=torch.long)


def collate(batch):
    """Pad sentences to the longest of the batch; tags of padding are ignored by the loss."""
    words, tags = zip(*batch)
    lengths = torch.tensor([len(w) for w in words])
    words = pad_sequence(words, batch_first=True, padding_value=PAD)
    return words, pad_sequence(tags, batch_first=True, padding_value=-100), lengths


class Tagger(nn.Module):
    def __init__(self, vocabulary, tags, dim=24, hidden=32):
        super().__init__()
        self.embedding = nn.Embedding(vocabulary, dim, padding_idx=PAD)
        self.lstm = nn.LSTM(dim, hidden, num_layers=2, bidirectional=True, batch_first=True)
        self.out = nn.Linear(2 * hidden, tags)

    def forward(self, words, lengths):
        packed = pack_padded_sequence(
            self.embedding(words), lengths, batch_first=True, enforce_sorted=False
        )
        output, _ = self.lstm(packed)
        output, _ = pad_packed_sequence(output, batch_first=True, total_length=words.size(1))
        return self.out(output)


def initialize(model, rng):
    """Draw the first weights with NumPy, so that a run can be repeated anywhere."""
    with torch.no_grad():
        for name, p in model.named_parameters():
            scale = 0.0 if "bias" in name else 0.2
            p.copy_(torch.from_numpy(scale * rng.standard_normal(tuple(p.shape))))
        model.embedding.weight[PAD].zero_()


def accuracy(model, loader, device):
    model.eval()
    right = total = 0
    with torch.no_grad():
        for words, tags, lengths in loader:
            predicted = model(words.to(device), lengths).argmax(dim=-1).cpu()
            mask = tags != -100
            right += (predicted == tags)[mask].sum().item()
            total += mask.sum().item()
    return right / total


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--epochs", type=int, default=4)
    parser.add_argument("--batch-size", type=int, default=16)
    parser.add_argument("--lr", type=float, default=1e-2)
    parser.add_argument("--out", default=None, help="write the results to this .npz file")
    args = parser.parse_args()

    device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
    rng = np.random.default_rng(0)
    train = DataLoader(Sentences(240, 12, 3, rng), args.batch_size, collate_fn=collate)
    test = DataLoader(Sentences(48, 12, 3, rng), args.batch_size, collate_fn=collate)
    model = Tagger(12, 3).to(device)
    initialize(model, rng)
    optimizer = torch.optim.Adam(model.parameters(), lr=args.lr)

    losses = []
    for epoch in range(args.epochs):
        model.train()
        for words, tags, lengths in train:
            words, tags = words.to(device), tags.to(device)
            scores = model(words, lengths)
            loss = F.cross_entropy(scores.flatten(0, 1), tags.flatten(), ignore_index=-100)
            optimizer.zero_grad()
            loss.backward()
            nn.utils.clip_grad_norm_(model.parameters(), 5.0)
            optimizer.step()
            losses.append(loss.item())
        share = accuracy(model, test, device)
        print(f"epoch {epoch + 1}: loss {np.mean(losses[-10:]):.4f}, accuracy {share:.3f}")

    words, _, lengths = next(iter(test))
    with torch.no_grad():
        scores = model(words.to(device), lengths)
    if args.out:
        np.savez(args.out, loss=losses, accuracy=share, scores=scores.cpu().numpy())


if __name__ == "__main__":
    main()
