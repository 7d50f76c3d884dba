"""A small character-level GPT: trained on counting words, then generating with a cache."""

import argparse
import math
from dataclasses import dataclass

import numpy as np
import torch
from torch import nn
from torch.nn import functional as F

TEXT = "one two three four five six seven eight nine ten " * 40


@dataclass
class Config:
    vocabulary: int
    block_size: int = 32
    layers: int = 2
    heads: int = 4
    width: int = 48


class Attention(nn.Module):
    def __init__(self, config):
        super().__init__()
        self.heads = config.heads
        self.qkv, self.proj = (nn.Linear(config.width, n * config.width) for n in (3, 1))
        mask = torch.tril(torch.ones(config.block_size, config.block_size, dtype=torch.bool))
        self.register_buffer("mask", mask[None, None], persistent=False)

    def forward(self, x, cache=None):
        b, t, c = x.shape
        q, k, v = self.qkv(x).view(b, t, 3, self.heads, c // self.heads).permute(2, 0, 3, 1, 4)
        if cache is not None:
            k, v = (torch.cat(pair, dim=2) for pair in zip(cache, (k, v)))
        total = k.size(2)
        scores = (q @ k.transpose(-2, -1)) * (1.0 / math.sqrt(k.size(-1)))
        scores = scores.masked_fill(~self.mask[:, :, total - t : total, :total], float("-inf"))
        y = (F.softmax(scores, dim=-1) @ v).transpose(1, 2).contiguous().view(b, t, c)
        return self.proj(y), (k, v)


class Block(nn.Module):
    def __init__(self, config):
        super().__init__()
        self.ln_1 = nn.LayerNorm(config.width)
        self.attn = Attention(config)
        self.ln_2 = nn.LayerNorm(config.width)
        self.c_fc = nn.Linear(config.width, 4 * config.width)
        self.c_proj = nn.Linear(4 * config.width, config.width)

    def forward(self, x, cache=None):
        y, cache = self.attn(self.ln_1(x), cache)
        x = x + y
        return x + self.c_proj(F.gelu(self.c_fc(self.ln_2(x)), approximate="tanh")), cache


class GPT(nn.Module):
    def __init__(self, config):
        super().__init__()
        self.config = config
        self.transformer = nn.ModuleDict()
        self.transformer["wte"] = nn.Embedding(config.vocabulary, config.width)
        self.transformer["wpe"] = nn.Embedding(config.block_size, config.width)
        self.transformer["h"] = nn.ModuleList([Block(config) for _ in range(config.layers)])
        self.transformer["ln_f"] = nn.LayerNorm(config.width)
        self.lm_head = nn.Linear(config.width, config.vocabulary, bias=False)
        self.lm_head.weight = self.transformer["wte"].weight  # tied

    def forward(self, idx, targets=None, caches=None):
        start = 0 if caches is None else caches[0][0].size(2)
        position = torch.arange(start, start + idx.size(1), device=idx.device)
        x = self.transformer["wte"](idx) + self.transformer["wpe"](position)
        kept = []
        for i, block in enumerate(self.transformer["h"]):
            x, cache = block(x, None if caches is None else caches[i])
            kept.append(cache)
        logits = self.lm_head(self.transformer["ln_f"](x))
        if targets is None:
            return logits, kept
        return logits, F.cross_entropy(logits.view(-1, logits.size(-1)), targets.view(-1))

    @torch.no_grad()
    def generate(self, idx, new_tokens):
        logits, caches = self(idx)
        for _ in range(new_tokens):
            chosen = logits[:, -1].argmax(dim=-1, keepdim=True)
            idx = torch.cat((idx, chosen), dim=1)
            logits, caches = self(chosen, caches=caches)
        return idx, logits


def get_batch(data, config, batch_size, rng):
    starts = rng.integers(0, len(data) - config.block_size - 1, size=batch_size)
    windows = torch.stack([data[i : i + config.block_size + 1] for i in starts])
    return windows[:, :-1], windows[:, 1:].contiguous()


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--steps", type=int, default=60)
    parser.add_argument("--out")
    args = parser.parse_args()
    rng = np.random.default_rng(1337)
    letters = sorted(set(TEXT))
    stoi = {c: i for i, c in enumerate(letters)}
    data = torch.tensor([stoi[c] for c in TEXT], dtype=torch.long)
    config = Config(vocabulary=len(letters))
    model = GPT(config)
    for module in model.modules():
        if isinstance(module, (nn.Linear, nn.Embedding)):
            drawn = rng.normal(0, 0.08, module.weight.shape)
            module.weight.data = torch.tensor(drawn, dtype=torch.float32)
        if getattr(module, "bias", None) is not None:
            nn.init.zeros_(module.bias)
    model.lm_head.weight = model.transformer["wte"].weight

    matrices = [p for p in model.parameters() if p.dim() >= 2]
    vectors = [p for p in model.parameters() if p.dim() < 2]
    groups = [{"params": matrices, "weight_decay": 0.1}, {"params": vectors, "weight_decay": 0.0}]
    optimizer = torch.optim.AdamW(groups, lr=3e-3, betas=(0.9, 0.95))

    scheduler = torch.optim.lr_scheduler.LambdaLR(
        optimizer, lambda step: min((step + 1) / 10, 0.55 + 0.45 * math.cos(step / args.steps))
    )
    losses, norms = [], []
    for step in range(args.steps):
        x, y = get_batch(data, config, 8, rng)
        _, loss = model(x, y)
        optimizer.zero_grad(set_to_none=True)
        loss.backward()
        norms.append(nn.utils.clip_grad_norm_(model.parameters(), 1.0).item())
        optimizer.step()
        scheduler.step()
        losses.append(loss.item())
        if step % 20 == 19:
            print(f"step {step:3d} loss {losses[-1]:.4f} lr {scheduler.get_last_lr()[0]:.2e}")
    model.eval()
    start = torch.tensor([[stoi[c] for c in "two three"]])
    written, logits = model.generate(start, 20)
    whole, _ = model(written)
    assert torch.allclose(whole[:, -1], logits[:, -1], atol=1e-4), "the cache changes the logits"
    print("".join(letters[i] for i in written[0].tolist()))
    if args.out:
        np.savez(args.out, loss=losses, norm=norms, logits=whole.detach().numpy())


if __name__ == "__main__":
    main()
