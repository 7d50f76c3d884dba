"""A deep convolutional GAN that draws blobs: two networks with an optimizer each."""

import argparse

import numpy as np
import torch
import torch.nn as nn
import torch.optim as optim

parser = argparse.ArgumentParser()
parser.add_argument("--niter", type=int, default=20, help="number of batches")
parser.add_argument("--batchSize", type=int, default=16)
parser.add_argument("--nz", type=int, default=12, help="size of the latent vector")
parser.add_argument("--ngf", type=int, default=8)
parser.add_argument("--ndf", type=int, default=8)
parser.add_argument("--lr", type=float, default=0.002)
parser.add_argument("--beta1", type=float, default=0.5)
parser.add_argument("--out", default=None)
opt = parser.parse_args()

rng = np.random.default_rng(999)
device = torch.device("cuda:0" if torch.cuda.is_available() else "cpu")


def real_images(count):
    """Return images of soft round blobs on a dark background, from -1 to 1."""
    y, x = np.mgrid[0:16, 0:16]
    cy, cx = rng.uniform(5, 11, (2, count, 1, 1))
    width = rng.uniform(4, 10, (count, 1, 1))
    images = 2 * np.exp(-((y - cy) ** 2 + (x - cx) ** 2) / width) - 1
    return torch.from_numpy(images[:, None]).float()


def latent(count):
    return torch.from_numpy(rng.standard_normal((count, opt.nz, 1, 1))).float().to(device)


def weights_init(m):
    classname = m.__class__.__name__
    if classname.find("Conv") != -1:
        m.weight.data.copy_(torch.from_numpy(rng.normal(0.0, 0.05, m.weight.shape)))
    elif classname.find("BatchNorm") != -1:
        m.weight.data.copy_(torch.from_numpy(rng.normal(1.0, 0.02, m.weight.shape)))
        m.bias.data.fill_(0)


class Generator(nn.Module):
    def __init__(self, nz, ngf):
        super(Generator, self).__init__()
        self.main = nn.Sequential(
            nn.ConvTranspose2d(nz, ngf * 4, 4, 1, 0, bias=False),
            nn.BatchNorm2d(ngf * 4),
            nn.ReLU(True),
            # 4 x 4
            nn.ConvTranspose2d(ngf * 4, ngf * 2, 4, 2, 1, bias=False),
            nn.BatchNorm2d(ngf * 2),
            nn.ReLU(True),
            # 8 x 8
            nn.ConvTranspose2d(ngf * 2, 1, 4, 2, 1, bias=False),
            nn.Tanh(),
        )

    def forward(self, input):
        return self.main(input)


class Discriminator(nn.Module):
    def __init__(self, ndf):
        super(Discriminator, self).__init__()
        self.main = nn.Sequential(
            nn.Conv2d(1, ndf, 4, 2, 1, bias=False),
            nn.LeakyReLU(0.2, inplace=True),
            nn.Conv2d(ndf, ndf * 2, 4, 2, 1, bias=False),
            nn.BatchNorm2d(ndf * 2),
            nn.LeakyReLU(0.2, inplace=True),
            nn.Conv2d(ndf * 2, 1, 4, 1, 0, bias=False),
            nn.Sigmoid(),
        )

    def forward(self, input):
        output = self.main(input)
        return output.view(-1, 1).squeeze(1)


netG = Generator(opt.nz, opt.ngf).to(device)
netG.apply(weights_init)
netD = Discriminator(opt.ndf).to(device)
netD.apply(weights_init)
criterion = nn.BCELoss()
fixed_noise = latent(8)
real_label, fake_label = 1, 0
optimizerD = optim.Adam(netD.parameters(), lr=opt.lr, betas=(opt.beta1, 0.999))
optimizerG = optim.Adam(netG.parameters(), lr=opt.lr, betas=(opt.beta1, 0.999))

d_losses, g_losses = [], []
for i in range(opt.niter):
    # maximize log(D(x)) + log(1 - D(G(z)))
    netD.zero_grad()
    real = real_images(opt.batchSize).to(device)
    label = torch.full((opt.batchSize,), real_label, dtype=real.dtype, device=device)
    output = netD(real)
    errD_real = criterion(output, label)
    errD_real.backward()
    D_x = output.mean().item()

    fake = netG(latent(opt.batchSize))
    label.fill_(fake_label)
    output = netD(fake.detach())
    errD_fake = criterion(output, label)
    errD_fake.backward()
    errD = errD_real + errD_fake
    optimizerD.step()

    # maximize log(D(G(z)))
    netG.zero_grad()
    label.fill_(real_label)
    output = netD(fake)
    errG = criterion(output, label)
    errG.backward()
    optimizerG.step()
    d_losses.append(errD.item())
    g_losses.append(errG.item())
    if i % 5 == 0:
        print(
            "[%d/%d] Loss_D: %.4f Loss_G: %.4f D(x): %.4f D(G(z)): %.4f"
            % (i, opt.niter, d_losses[-1], g_losses[-1], D_x, output.mean().item())
        )

netG.eval()
with torch.no_grad():
    fake = netG(fixed_noise).detach().cpu()
for row in (fake[0, 0] + 1).div(2).clamp(0, 1).numpy()[::2]:
    print("".join(" .:*#"[int(4.99 * p)] for p in row))
if opt.out:
    np.savez(opt.out, loss=d_losses, generator=g_losses, images=fake.numpy())
