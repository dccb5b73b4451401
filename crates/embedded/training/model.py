"""The encoder as in crates/encoder, its heads, and the file format that the program reads."""
import math
import struct

import numpy as np
import torch
from torch import nn
import torch.nn.functional as F

VOCABULARY, POSITIONS, HIDDEN, INTERMEDIATE, LAYERS, HEADS = 30522, 512, 384, 1536, 6, 12
PANEL = 16
EPSILON = 1e-12


class Reader:
    def __init__(self, data):
        self.data, self.at = data, 0

    def section(self, dtype, count):
        self.at = -(-self.at // 64) * 64
        size = np.dtype(dtype).itemsize * count
        out = np.frombuffer(self.data[self.at:self.at + size], dtype=dtype)
        self.at += size
        return out

    def linear(self, inputs, outputs):
        scales = self.section("<f4", outputs)
        bias = self.section("<f4", outputs)
        packed = self.section("i1", inputs * outputs)
        whole = packed.reshape(outputs // PANEL, inputs // 2, PANEL, 2).transpose(0, 2, 1, 3).reshape(outputs, inputs)
        return torch.tensor(whole.astype(np.float32) * scales[:, None]), torch.tensor(bias.copy())

    def norm(self):
        return torch.tensor(self.section("<f4", HIDDEN).copy()), torch.tensor(self.section("<f4", HIDDEN).copy())


class Layer(nn.Module):
    def __init__(self):
        super().__init__()
        self.qkv = nn.Linear(HIDDEN, 3 * HIDDEN)
        self.out = nn.Linear(HIDDEN, HIDDEN)
        self.norm1 = nn.LayerNorm(HIDDEN, eps=EPSILON)
        self.up = nn.Linear(HIDDEN, INTERMEDIATE)
        self.down = nn.Linear(INTERMEDIATE, HIDDEN)
        self.norm2 = nn.LayerNorm(HIDDEN, eps=EPSILON)

    def forward(self, x, mask, dropout):
        b, n, _ = x.shape
        q, k, v = self.qkv(x).view(b, n, 3, HEADS, HIDDEN // HEADS).permute(2, 0, 3, 1, 4)
        a = F.scaled_dot_product_attention(q, k, v, attn_mask=mask, dropout_p=dropout if self.training else 0.0)
        a = self.out(a.transpose(1, 2).reshape(b, n, HIDDEN))
        x = self.norm1(x + F.dropout(a, dropout, self.training))
        y = self.down(F.gelu(self.up(x)))
        return self.norm2(x + F.dropout(y, dropout, self.training))


class Encoder(nn.Module):
    def __init__(self, path):
        super().__init__()
        data = open(path, "rb").read()
        assert data[:8] == b"LANGOENC"
        r = Reader(data)
        r.at = 8 + 4 * 7 + 4
        scales = r.section("<f4", VOCABULARY)
        words = r.section("i1", VOCABULARY * HIDDEN).reshape(VOCABULARY, HIDDEN).astype(np.float32) * scales[:, None]
        self.words = nn.Parameter(torch.tensor(words), requires_grad=False)
        self.places = nn.Parameter(torch.tensor(r.section("<f4", POSITIONS * HIDDEN).reshape(POSITIONS, HIDDEN).copy()),
                                   requires_grad=False)
        self.norm = nn.LayerNorm(HIDDEN, eps=EPSILON)
        self.norm.weight.data, self.norm.bias.data = r.norm()
        self.layers = nn.ModuleList()
        for _ in range(LAYERS):
            layer = Layer()
            layer.qkv.weight.data, layer.qkv.bias.data = r.linear(HIDDEN, 3 * HIDDEN)
            layer.out.weight.data, layer.out.bias.data = r.linear(HIDDEN, HIDDEN)
            layer.norm1.weight.data, layer.norm1.bias.data = r.norm()
            layer.up.weight.data, layer.up.bias.data = r.linear(HIDDEN, INTERMEDIATE)
            layer.down.weight.data, layer.down.bias.data = r.linear(INTERMEDIATE, HIDDEN)
            layer.norm2.weight.data, layer.norm2.bias.data = r.norm()
            self.layers.append(layer)
        assert r.at == len(data), (r.at, len(data))
        for p in self.norm.parameters():
            p.requires_grad = False

    def forward(self, ids, mask, dropout=0.1):
        x = self.norm(self.words[ids] + self.places[: ids.shape[1]])
        x = F.dropout(x, dropout, self.training)
        attend = mask[:, None, None, :].bool()
        for layer in self.layers:
            x = layer(x, attend, dropout)
        return x

    @staticmethod
    def pooled(states, mask):
        m = mask[..., None].to(states.dtype)
        return (states * m).sum(1) / m.sum(1)


class EmbeddedModel(nn.Module):
    """The encoder with three heads: who, which tool, where in the text."""

    def __init__(self, path, agents):
        super().__init__()
        self.encoder = Encoder(path)
        self.agent = nn.Linear(HIDDEN, len(agents))
        self.ask = nn.Linear(HIDDEN, HIDDEN)
        self.ask.weight.data = torch.eye(HIDDEN)
        self.ask.bias.data.zero_()
        self.offer = nn.Linear(HIDDEN, HIDDEN)
        self.offer.weight.data = torch.eye(HIDDEN)
        self.offer.bias.data.zero_()
        self.sharpness = nn.Parameter(torch.tensor(math.log(14.0)))
        self.span = nn.Linear(HIDDEN, 2)

    def tool_scores(self, request, cards):
        q = F.normalize(self.ask(request), dim=-1)
        t = F.normalize(self.offer(cards), dim=-1)
        return q @ t.T * self.sharpness.exp()


def read(model, path):
    """Takes over layers and heads from a file that `write` made."""
    data = open(path, "rb").read()
    assert data[:8] == b"LANGOBOX"
    r = Reader(data)
    r.at = 8 + 4 * 6
    for layer in model.encoder.layers:
        layer.qkv.weight.data, layer.qkv.bias.data = r.linear(HIDDEN, 3 * HIDDEN)
        layer.out.weight.data, layer.out.bias.data = r.linear(HIDDEN, HIDDEN)
        layer.norm1.weight.data, layer.norm1.bias.data = r.norm()
        layer.up.weight.data, layer.up.bias.data = r.linear(HIDDEN, INTERMEDIATE)
        layer.down.weight.data, layer.down.bias.data = r.linear(INTERMEDIATE, HIDDEN)
        layer.norm2.weight.data, layer.norm2.bias.data = r.norm()
    for head in (model.agent, model.ask, model.offer, model.span):
        n = head.bias.shape[0]
        head.weight.data = torch.tensor(r.section("<f4", n * HIDDEN).reshape(n, HIDDEN).copy())
        head.bias.data = torch.tensor(r.section("<f4", n).copy())
    model.sharpness.data = torch.tensor(math.log(r.section("<f4", 3)[0]))


def rounded(weight):
    """A matrix as 8-bit rows, as the program has it."""
    scale = weight.abs().amax(1, keepdim=True) / 127.0
    scale[scale == 0] = 1.0
    whole = (weight / scale).round().clamp(-127, 127)
    return whole, scale.squeeze(1)


def round_in_place(model):
    """Every matrix of the layers as the program will have it."""
    with torch.no_grad():
        for layer in model.encoder.layers:
            for linear in (layer.qkv, layer.out, layer.up, layer.down):
                whole, scale = rounded(linear.weight.data)
                linear.weight.data = whole * scale[:, None]


def write(model, path, agents, offers, weights):
    """The layers, heads, and the vectors of the known tools' cards. Words, places and the first normalisation are those
    of the encoder's file."""
    out = bytearray(b"LANGOBOX" + struct.pack("<6I", 1, HIDDEN, INTERMEDIATE, LAYERS, len(agents), len(offers)))

    def section(data):
        out.extend(b"\0" * (-len(out) % 64))
        out.extend(data)

    def floats(t):
        section(t.detach().float().cpu().numpy().astype("<f4").tobytes())

    def linear(l):
        whole, scale = rounded(l.weight.data.float().cpu())
        floats(scale)
        floats(l.bias)
        n, m = whole.shape
        packed = whole.numpy().astype(np.int8).reshape(n // PANEL, PANEL, m // 2, 2).transpose(0, 2, 1, 3)
        section(np.ascontiguousarray(packed).tobytes())

    for layer in model.encoder.layers:
        linear(layer.qkv)
        linear(layer.out)
        floats(layer.norm1.weight)
        floats(layer.norm1.bias)
        linear(layer.up)
        linear(layer.down)
        floats(layer.norm2.weight)
        floats(layer.norm2.bias)
    for head in (model.agent, model.ask, model.offer, model.span):
        floats(head.weight)
        floats(head.bias)
    floats(torch.tensor([model.sharpness.exp().item(), *weights]))
    floats(offers)
    open(path, "wb").write(out)
