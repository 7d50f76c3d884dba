"""Train a U-Net to segment circles and squares.

This example shows an encoder and a decoder of convolutions with skip connections (`cat`), batch
normalization, upsampling, and cross-entropy per pixel with weights for rare classes. The images are
generated: circles and squares on noise, and lines that belong to neither.

After about twenty seconds the intersection over union of circles and squares, in images that the
network has not seen, is about three quarters.

    python examples/segmentation.py --backend fast
"""

import argparse

from rich.columns import Columns
from rich.console import Console
from rich.text import Text

import mt_nn as nn
import mt_tensor as mt
from mt_nn import functional as F

SIZE = 24
CLASSES = (("·", "bright_black"), ("O", "cyan"), ("#", "yellow"))
CONSOLE = Console()


def pictures(count: int) -> tuple[mt.Tensor, mt.Tensor]:
    """Return noisy images (count, 1, SIZE, SIZE), and the class of each pixel."""
    rows, columns = mt.arange(SIZE).view(1, -1, 1), mt.arange(SIZE).view(1, 1, -1)

    def where() -> tuple[mt.Tensor, mt.Tensor, mt.Tensor]:
        """Return coordinates relative to a random center in each image, and a random size."""
        down, right = mt.randint(4, SIZE - 4, (2, count, 1, 1))
        return rows - down, columns - right, mt.randint(3, 6, (count, 1, 1))

    y, x, radius = where()
    circle = y.square() + x.square() <= radius.square()
    y, x, half = where()
    square = mt.maximum(y.abs(), x.abs()) < half
    y, x, _ = where()
    line = (y == 0) | (x == 0)
    classes = mt.zeros(count, SIZE, SIZE).long().masked_fill(square, 2).masked_fill(circle, 1)
    images = (line | square | circle).float() + 0.3 * mt.randn(count, SIZE, SIZE)
    return images.unsqueeze(1), classes


def convolutions(inside: int, outside: int) -> nn.Sequential:
    """Return two convolutions that keep the size, each with batch normalization and ReLU."""
    layers = []
    for channels in (inside, outside):
        layers += [
            nn.Conv2d(channels, outside, 3, padding=1, bias=False),
            nn.BatchNorm2d(outside),
            nn.ReLU(inplace=True),
        ]
    return nn.Sequential(*layers)


class UNet(nn.Module):
    """A U-Net that returns scores for the classes of each pixel, from three resolutions."""

    def __init__(self, width: int = 8) -> None:
        super().__init__()
        self.near = convolutions(1, width)
        self.farther = nn.Sequential(nn.MaxPool2d(2), convolutions(width, 2 * width))
        self.far = nn.Sequential(nn.MaxPool2d(2), convolutions(2 * width, 4 * width))
        self.enlarge = nn.ConvTranspose2d(4 * width, 2 * width, 2, stride=2)
        self.back = convolutions(4 * width, 2 * width)
        self.upsample = nn.Upsample(scale_factor=2, mode="bilinear", align_corners=False)
        self.home = convolutions(3 * width, width)
        self.scores = nn.Conv2d(width, len(CLASSES), 1)

    def forward(self, images: mt.Tensor) -> mt.Tensor:
        near = self.near(images)
        farther = self.farther(near)
        back = self.back(mt.cat([farther, self.enlarge(self.far(farther))], dim=1))
        found: mt.Tensor = self.scores(self.home(mt.cat([near, self.upsample(back)], dim=1)))
        return found


def overlap(found: mt.Tensor, classes: mt.Tensor) -> float:
    """Return the intersection over union of circles and squares, the mean of both."""
    shares: list[float] = [
        (
            ((found == kind) & (classes == kind)).sum()
            / ((found == kind) | (classes == kind)).sum()
        ).item()
        for kind in (1, 2)
    ]
    return sum(shares) / len(shares)


def drawn(classes: mt.Tensor) -> Text:
    """Return an image of classes as text, with every second row left out."""
    text = Text()
    for row in classes[::2].tolist():
        for kind in row:
            text.append(*CLASSES[kind])
        text.append("\n")
    return text


def main(arguments: list[str] | None = None) -> float:
    """Train, print a true and a predicted image, and return the overlap in unseen images."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n", 1)[0])
    parser.add_argument("--steps", type=int, default=300)
    parser.add_argument("--backend", help="the backend (default: the current one)")
    options = parser.parse_args(arguments)
    with mt.use_backend(mt.get_backend(options.backend)):
        mt.manual_seed(0)
        model = UNet()
        optimizer = nn.optim.AdamW(model.parameters(), lr=1e-2)
        schedule = nn.optim.lr_scheduler.OneCycleLR(optimizer, 1e-2, total_steps=options.steps)
        weight = mt.tensor([0.3, 1.0, 1.0])
        for step in range(1, options.steps + 1):
            images, classes = pictures(16)
            loss = F.cross_entropy(model(images), classes, weight=weight)
            optimizer.zero_grad(set_to_none=True)
            loss.backward()
            optimizer.step()
            schedule.step()
            if step % 50 == 0:
                CONSOLE.print(f"step {step:3d}   loss {loss.item():.3f}")
        images, classes = pictures(64)
        model.eval()
        with mt.no_grad():
            found = model(images).argmax(1)
        share = overlap(found, classes)
        CONSOLE.print("\ntrue and predicted classes:\n")
        CONSOLE.print(Columns([drawn(classes[0]), drawn(found[0])], padding=(0, 4)))
        CONSOLE.print(f"intersection over union: {share:.2f}")
    return share


if __name__ == "__main__":
    main()
