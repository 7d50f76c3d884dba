"""A vision transformer, written with einops, predicts which half of a picture is brighter."""

import argparse

import numpy as np
import torch
import torch.nn.functional as F
from einops import pack, rearrange, reduce, repeat, unpack
from einops.layers.torch import Rearrange
from torch import einsum, nn


def pair(t):
    return t if isinstance(t, tuple) else (t, t)


class PreNorm(nn.Module):
    def __init__(self, dim, fn):
        super().__init__()
        self.norm = nn.LayerNorm(dim)
        self.fn = fn

    def forward(self, x, **kwargs):
        return self.fn(self.norm(x), **kwargs)


class FeedForward(nn.Module):
    def __init__(self, dim, hidden_dim):
        super().__init__()
        self.net = nn.Sequential(nn.Linear(dim, hidden_dim), nn.GELU(), nn.Linear(hidden_dim, dim))

    def forward(self, x):
        return self.net(x)


class Attention(nn.Module):
    def __init__(self, dim, heads=4, dim_head=8):
        super().__init__()
        self.heads = heads
        self.scale = dim_head**-0.5
        self.attend = nn.Softmax(dim=-1)
        self.to_qkv = nn.Linear(dim, 3 * heads * dim_head, bias=False)
        self.to_out = nn.Linear(heads * dim_head, dim)

    def forward(self, x):
        qkv = self.to_qkv(x).chunk(3, dim=-1)
        q, k, v = map(lambda t: rearrange(t, "b n (h d) -> b h n d", h=self.heads), qkv)
        dots = einsum("b h i d, b h j d -> b h i j", q, k) * self.scale
        out = einsum("b h i j, b h j d -> b h i d", self.attend(dots), v)
        return self.to_out(rearrange(out, "b h n d -> b n (h d)"))


class Transformer(nn.Module):
    def __init__(self, dim, depth, mlp_dim):
        super().__init__()
        self.layers = nn.ModuleList([])
        for _ in range(depth):
            attention, feed_forward = Attention(dim), FeedForward(dim, mlp_dim)
            self.layers.append(nn.ModuleList([PreNorm(dim, attention), PreNorm(dim, feed_forward)]))

    def forward(self, x):
        for attn, ff in self.layers:
            x = attn(x) + x
            x = ff(x) + x
        return x


class ViT(nn.Module):
    def __init__(self, *, image_size, patch_size, num_classes, dim, depth, mlp_dim, pool="cls"):
        super().__init__()
        (height, width), (patch_height, patch_width) = pair(image_size), pair(patch_size)
        assert height % patch_height == 0 and width % patch_width == 0
        num_patches = (height // patch_height) * (width // patch_width)
        self.to_patch_embedding = nn.Sequential(
            Rearrange("b c (h p1) (w p2) -> b (h w) (p1 p2 c)", p1=patch_height, p2=patch_width),
            nn.Linear(patch_height * patch_width, dim),
        )
        self.pos_embedding = nn.Parameter(torch.zeros(1, num_patches + 1, dim))
        self.cls_token = nn.Parameter(torch.zeros(dim))
        self.transformer = Transformer(dim, depth, mlp_dim)
        self.pool = pool
        self.mlp_head = nn.Sequential(nn.LayerNorm(dim), nn.Linear(dim, num_classes))

    def forward(self, img):
        x = self.to_patch_embedding(img)
        cls_tokens = repeat(self.cls_token, "d -> b d", b=len(img))
        x, packed_shapes = pack([cls_tokens, x], "b * d")
        x = self.transformer(x + self.pos_embedding)
        cls_tokens, x = unpack(x, packed_shapes, "b * d")
        x = reduce(x, "b n d -> b d", "mean") if self.pool == "mean" else cls_tokens
        return self.mlp_head(x)


def pictures(count, rng):
    """Return noise whose left, right, upper or lower half is brighter, and the labels."""
    labels = rng.integers(0, 4, count)
    halves = np.zeros((4, 16, 16))
    halves[0, :, :8] = halves[1, :, 8:] = halves[2, :8] = halves[3, 8:] = 1
    images = halves[labels] + rng.normal(0, 1.0, (count, 16, 16))
    return torch.from_numpy(images[:, None]).float(), torch.from_numpy(labels)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--steps", type=int, default=20)
    parser.add_argument("--out")
    args = parser.parse_args()
    rng = np.random.default_rng(31)
    v = ViT(image_size=16, patch_size=4, num_classes=4, dim=32, depth=2, mlp_dim=48)
    for name, p in v.named_parameters():
        if p.ndim > 1 or name == "cls_token":
            drawn = torch.from_numpy(rng.standard_normal(p.shape)).to(p)
            p.data = drawn / p.shape[-1] ** 0.5 if "weight" in name else 0.02 * drawn
        elif "bias" in name:
            nn.init.zeros_(p)
    optimizer = torch.optim.Adam(v.parameters(), lr=2e-3)
    scheduler = torch.optim.lr_scheduler.StepLR(optimizer, step_size=10, gamma=0.7)
    losses = []
    for step in range(args.steps):
        images, labels = pictures(24, rng)
        preds = v(images)
        loss = F.cross_entropy(preds, labels)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        scheduler.step()
        losses.append(loss.item())
        if step % 4 == 3:
            acc = (preds.argmax(dim=1) == labels).float().mean()
            print(f"step {step + 1} - loss : {losses[-1]:.4f} - acc: {acc:.4f}")
    v.pool = "mean"
    with torch.no_grad():
        pooled = v.eval()(images)
    small = reduce(images, "b c (h 4) (w 4) -> b h (w c)", "max")
    if args.out:
        np.savez(args.out, loss=losses, preds=preds.detach(), pooled=pooled, small=small)


if __name__ == "__main__":
    main()
