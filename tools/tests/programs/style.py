"""Style transfer: L-BFGS changes the pixels of a picture until its features match a texture."""

import argparse
import copy

import numpy as np
import torch
import torch.nn as nn
import torch.nn.functional as F
import torch.optim as optim


class ContentLoss(nn.Module):
    """Pass features on, and keep their distance from those of the content."""

    def __init__(self, target):
        super(ContentLoss, self).__init__()
        self.target = target.detach()

    def forward(self, input):
        self.loss = F.mse_loss(input, self.target)
        return input


def gram_matrix(input):
    a, b, c, d = input.size()
    features = input.view(a * b, c * d)
    G = torch.mm(features, features.t())
    return G.div(a * b * c * d)


class StyleLoss(nn.Module):
    def __init__(self, target_feature):
        super(StyleLoss, self).__init__()
        self.target = gram_matrix(target_feature).detach()

    def forward(self, input):
        G = gram_matrix(input)
        self.loss = F.mse_loss(G, self.target)
        return input


class Normalization(nn.Module):
    def __init__(self, mean, std):
        super(Normalization, self).__init__()
        self.mean = torch.as_tensor(mean).view(-1, 1, 1)
        self.std = torch.as_tensor(std).view(-1, 1, 1)

    def forward(self, img):
        return (img - self.mean) / self.std


def features(rng):
    """Return a network of random filters, in place of a pretrained one."""
    layers, channels = [], 3
    for width in (8, 8, 12):
        conv = nn.Conv2d(channels, width, 3, padding=1)
        fan = conv.weight[0].numel()
        conv.weight.data.copy_(torch.from_numpy(rng.normal(0, (2 / fan) ** 0.5, conv.weight.shape)))
        conv.bias.data.copy_(torch.from_numpy(rng.normal(0, 0.1, width)))
        layers += [conv, nn.ReLU(inplace=True)]
        channels = width
    layers.insert(4, nn.MaxPool2d(kernel_size=2, stride=2))
    return nn.Sequential(*layers).eval().requires_grad_(False)


def get_style_model_and_losses(cnn, normalization, style_img, content_img):
    cnn = copy.deepcopy(cnn)
    content_losses, style_losses = [], []
    model = nn.Sequential(normalization)
    i = 0
    for layer in cnn.children():
        if isinstance(layer, nn.Conv2d):
            i += 1
            name = "conv_{}".format(i)
        elif isinstance(layer, nn.ReLU):
            name = "relu_{}".format(i)
            layer = nn.ReLU(inplace=False)  # the losses read the input of the layer
        elif isinstance(layer, nn.MaxPool2d):
            name = "pool_{}".format(i)
            layer = nn.AvgPool2d(layer.kernel_size, layer.stride)
        else:
            raise RuntimeError("Unrecognized layer: {}".format(layer.__class__.__name__))
        model.add_module(name, layer)
        if name == "conv_2":
            content_loss = ContentLoss(model(content_img).detach())
            model.add_module("content_loss_{}".format(i), content_loss)
            content_losses.append(content_loss)
        if name.startswith("conv"):
            style_loss = StyleLoss(model(style_img).detach())
            model.add_module("style_loss_{}".format(i), style_loss)
            style_losses.append(style_loss)
    return model, style_losses, content_losses


def pictures(size, rng):
    """Return a picture of a disc, and one of a texture of stripes: [1, 3, size, size] twice."""
    y, x = np.mgrid[0:size, 0:size]
    disc = ((y - size / 2) ** 2 + (x - size / 2) ** 2 < size**2 / 10)[None] * 0.6 + 0.2
    colors = np.array([0.9, 0.5, 0.3])[:, None, None]
    stripes = 0.5 + 0.4 * np.sin(x + 0.7 * y)[None] * colors
    noise = 0.05 * rng.random((2, 3, size, size))
    content, style = np.broadcast_to(disc, (3, size, size)) + noise[0], stripes + noise[1]
    return (torch.tensor(p[None], dtype=torch.float32) for p in (content, style))


if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    parser.add_argument("--num_steps", type=int, default=4)
    parser.add_argument("--style_weight", type=float, default=30)
    parser.add_argument("--content_weight", type=float, default=1.0)
    parser.add_argument("--out")
    args = parser.parse_args()
    rng = np.random.default_rng(15)
    cnn = features(rng)
    content_img, style_img = pictures(16, rng)
    input_img = content_img.clone()
    normalization = Normalization([0.485, 0.456, 0.406], [0.229, 0.224, 0.225])
    model, style_losses, content_losses = get_style_model_and_losses(
        cnn, normalization, style_img, content_img
    )
    input_img.requires_grad_(True)
    model.eval()
    model.requires_grad_(False)
    optimizer = optim.LBFGS([input_img], lr=0.5, max_iter=3)
    losses, evaluations = [], []

    def closure():
        with torch.no_grad():
            input_img.clamp_(0, 1)
        optimizer.zero_grad()
        model(input_img)
        style_score = args.style_weight * sum(sl.loss for sl in style_losses)
        content_score = args.content_weight * sum(cl.loss for cl in content_losses)
        variation = input_img.diff(dim=-1).abs().mean() + input_img.diff(dim=-2).abs().mean()
        loss = style_score + content_score + 0.1 * variation
        loss.backward()
        evaluations.append(loss.item())
        return loss

    for step in range(args.num_steps):
        losses.append(optimizer.step(closure).item())
        print("run {}: loss {:.4f}".format(step + 1, evaluations[-1]))
    with torch.no_grad():
        input_img.clamp_(0, 1)
    if args.out:
        picture = input_img.detach().numpy()
        np.savez(args.out, loss=losses, evaluations=evaluations, picture=picture)
