"""Activation patching of a Llama with random weights in PyTorch, with float32 and forward hooks. A line of JSON in, a line out.

{a shape of shapes.js, "threads"} answers with { version }; then { call, clean, corrupt } with one of

    pass       milliseconds of a pass over `clean`, up to the logits of its last token
    sweep      { ms }: the stream after every layer at every token of `clean` put into `corrupt`, a pass for each
    batches    { ms }: the same with a pass for each layer, whose rows are the patches of all tokens
"""
import json
import math
import sys
import time

import torch
from torch import nn
from torch.nn import functional as F


class Norm(nn.Module):
    def __init__(self, width, epsilon):
        super().__init__()
        self.gain, self.epsilon = nn.Parameter(torch.ones(width)), epsilon

    def forward(self, x):
        return x * torch.rsqrt(x.pow(2).mean(-1, keepdim=True) + self.epsilon) * self.gain


class Layer(nn.Module):
    def __init__(self, s):
        super().__init__()
        width, hidden = s['dModel'], s['dFeedForward']
        self.heads = s['heads']
        self.norm1, self.norm2 = Norm(width, s['epsilon']), Norm(width, s['epsilon'])
        self.qkv, self.o = nn.Linear(width, 3 * width, bias=False), nn.Linear(width, width, bias=False)
        self.gate_up, self.down = nn.Linear(width, 2 * hidden, bias=False), nn.Linear(hidden, width, bias=False)

    def forward(self, x, cos, sin, mask):
        q, k, v = (part.unflatten(-1, (self.heads, -1)).transpose(1, 2)
                   for part in self.qkv(self.norm1(x)).chunk(3, -1))
        q, k = (part * cos + torch.cat((-part.chunk(2, -1)[1], part.chunk(2, -1)[0]), -1) * sin for part in (q, k))
        weights = torch.softmax(q @ k.transpose(2, 3) / math.sqrt(q.shape[-1]) + mask, -1)
        x = x + self.o((weights @ v).transpose(1, 2).flatten(2))
        gate, up = self.gate_up(self.norm2(x)).chunk(2, -1)
        return x + self.down(F.silu(gate) * up)


class Model(nn.Module):
    def __init__(self, s):
        super().__init__()
        self.embedding = nn.Embedding(s['vocabulary'], s['dModel'])
        self.layers = nn.ModuleList(Layer(s) for _ in range(s['layers']))
        self.norm = Norm(s['dModel'], s['epsilon'])
        d = s['dModel'] // s['heads']
        self.frequencies = s['ropeBase'] ** (-torch.arange(0, d, 2) / d)

    def forward(self, ids):
        length = ids.shape[1]
        angles = torch.outer(torch.arange(length), self.frequencies).repeat(1, 2)
        mask = torch.full((length, length), -math.inf).triu(1)
        x = self.embedding(ids)
        for layer in self.layers:
            x = layer(x, angles.cos(), angles.sin(), mask)
        return F.linear(self.norm(x)[:, -1], self.embedding.weight)


def streams(model, ids):
    """The stream after every layer."""
    kept = []
    hooks = [layer.register_forward_hook(lambda _, __, y: kept.append(y[0].clone())) for layer in model.layers]
    model(ids)
    for hook in hooks:
        hook.remove()
    return kept


def patched(model, ids, layer, put):
    hook = model.layers[layer].register_forward_hook(put)
    logits = model(ids)
    hook.remove()
    return logits[:, 0] - logits[:, 1]


def sweep(model, clean, corrupt, batches):
    kept = streams(model, clean)
    model(corrupt)
    tokens = clean.shape[1]
    for layer, stream in enumerate(kept):
        if batches:
            def put(_, __, y):
                every = torch.arange(tokens)
                y[every, every] = stream
                return y
            patched(model, corrupt.expand(tokens, -1), layer, put)
            continue
        for token in range(tokens):
            def put(_, __, y):
                y[:, token] = stream[token]
                return y
            patched(model, corrupt, layer, put)


def answer(model, call, clean, corrupt):
    begin = time.perf_counter()
    if call == 'pass':
        model(clean)
    else:
        sweep(model, clean, corrupt, call == 'batches')
    ms = 1000 * (time.perf_counter() - begin)
    return ms if call == 'pass' else {'ms': ms}


def main():
    shape = json.loads(sys.stdin.readline())
    torch.set_num_threads(shape['threads'])
    torch.set_grad_enabled(False)
    model = Model(shape).eval()
    print(json.dumps({'version': torch.__version__}), flush=True)
    for line in sys.stdin:
        request = json.loads(line)
        clean, corrupt = (torch.tensor([request[name]]) for name in ('clean', 'corrupt'))
        print(json.dumps(answer(model, request['call'], clean, corrupt)), flush=True)


main()
