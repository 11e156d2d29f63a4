#!/usr/bin/python3
"""Writes tests/reference/torch/fixtures/adapters.json: losses of language models with adapters of low rank (LoRA), and what PyTorch's
autograd makes of the gradients of the adapters, in float64.

Run by hand like make_fixtures.py, after make_model_fixtures.py, whose models and weights these are but for Gemma 2, and for the head that BERT
has for masked tokens. tests/reference/torch/adapters.test.js holds qkv/train to these numbers. A map x W + b of a model is
x W + b + (ALPHA / RANK) (x A) B here, A and B as the names of qkv/train have them: <map>.loraA [in, RANK], <map>.loraB [RANK, out].

Two models lie in 8 and in 4 bits. Their matrices are those of models.json, moved to numbers that the format keeps exactly, so that the
gradients of the same function are compared.
"""

import json
import math

import torch
from torch.nn import functional

from make_fixtures import FOLDER, array, causal, draw, text, torch_version
from make_model_fixtures import (D_FEED_FORWARD, D_MODEL, LAYERS, LENGTH, VOCABULARY, Weights, bert, gpt2, llama,
                                 split)

RANK, ALPHA = 2, 5.0


class Adapted(Weights):
    """Weights whose maps of these names have adapters, drawn when they are first used."""

    def __init__(self, maps, given=()):
        super().__init__(given)
        self.maps = maps
        self.adapters = {}

    def linear(self, name, x, out, bias=None):
        y = super().linear(name, x, out, bias)
        if name.split('.')[-1] not in self.maps:
            return y
        a = self.adapter(name + '.loraA', x.shape[-1], RANK)
        b = self.adapter(name + '.loraB', RANK, out)
        return y + ALPHA / RANK * (x @ a) @ b

    def adapter(self, name, *shape):
        if name not in self.adapters:
            self.adapters[name] = draw(*shape, size=shape[0] ** -0.5).double().requires_grad_()
        return self.adapters[name]


def masked_bert(w, ids, types, lengths):
    """The stream through a map, GELU and a norm; the head is the embedding, with a bias."""
    h = w.linear('headTransform.w', bert(w, ids, types, lengths), D_MODEL, 'headTransform.b')
    h = w.layer_norm('headTransform.norm', functional.gelu(h), 1e-12)
    return functional.linear(h, w['embedding'], w.get_or_draw('headBias', VOCABULARY))


GEMMA = {'heads': 3, 'epsilon': 1e-6, 'scale': 0.25, 'score_cap': 2.0, 'logit_cap': 1.5, 'window': 2}


def turned(x):
    """Rotated by halves with base 10,000."""
    frequencies = 1e4 ** -(torch.arange(0, x.shape[-1], 2, dtype=torch.float64) / x.shape[-1])
    angles = torch.outer(torch.arange(x.shape[2], dtype=torch.float64), frequencies).repeat(1, 2)
    first, second = x.chunk(2, -1)
    return x * angles.cos() + torch.cat((-second, first), -1) * angles.sin()


def cap(x, most):
    return most * torch.tanh(x / most)


def gemma2(w, ids):
    """Gemma Team 2024: softcaps on scores and logits, norms around sub-layers, a gate of gelu_tanh, a window in the first layer."""
    c, length = GEMMA, ids.shape[1]
    far = torch.ones(length, length).tril(-c['window'] - 1).bool()
    x = functional.embedding(ids, w.get_or_draw('embedding', VOCABULARY, D_MODEL)) * 3.5
    for n in range(LAYERS):
        at = f'layers.{n}.'
        y = w.rms_norm(at + 'norm1', x, c['epsilon'])
        q, k, v = (split(w.linear(f'{at}attention.w{m}', y, D_MODEL), c['heads']) for m in 'qkv')
        scores = cap(c['scale'] * turned(q) @ turned(k).transpose(-2, -1), c['score_cap'])
        excluded = causal(length) | far if n == 0 else causal(length)
        z = torch.softmax(scores.masked_fill(excluded, -math.inf), dim=-1) @ v
        y = w.linear(at + 'attention.wo', z.transpose(1, 2).flatten(2), D_MODEL)
        x = x + w.rms_norm(at + 'postNorm1', y, c['epsilon'])
        y = w.rms_norm(at + 'norm2', x, c['epsilon'])
        gate = functional.gelu(w.linear(at + 'feedForward.wGate', y, D_FEED_FORWARD), approximate='tanh')
        h = gate * w.linear(at + 'feedForward.w1', y, D_FEED_FORWARD)
        x = x + w.rms_norm(at + 'postNorm2', w.linear(at + 'feedForward.w2', h, D_MODEL), c['epsilon'])
    return cap(functional.linear(w.rms_norm('norm', x, c['epsilon']), w['embedding']), c['logit_cap'])


def numbers_of(case):
    """The weights of a model of models.json."""
    return {name: torch.tensor(a['data'], dtype=torch.float32).reshape(a['shape']).double()
            for name, a in case['state'].items()}


def power_of_two(x):
    """The least that is not below x, for each row."""
    return torch.exp2(torch.ceil(torch.log2(x)))


def int8(w):
    """Rows of at most 32 numbers as Q8_0 keeps them: integers times the largest of a row over 127."""
    size, at = w.abs().max(1, keepdim=True)
    step = power_of_two(size / 127)
    return torch.round(w / step).scatter(1, at, 127 * torch.sign(w.gather(1, at))) * step


def int4(w):
    """Rows of at most 32 numbers as Q4_1 keeps them: 16 steps from the least of a row to the greatest."""
    least, first = w.min(1, keepdim=True)
    most, last = w.max(1, keepdim=True)
    step = power_of_two((most - least) / 15)
    offset = torch.round(least / step)
    steps = torch.clamp(torch.round(w / step) - offset, 0, 15)
    return (steps.scatter(1, first, 0.0).scatter(1, last, 15.0) + offset) * step


FORMATS = {'int8': int8, 'int4': int4}


def case(name, run, maps, given=None, kept=None, **inputs):
    given = given or {}
    rounded = {key: FORMATS[kept](x) for key, x in given.items() if kept and x.dim() == 2}
    weights = Adapted(maps, {**given, **rounded})
    ids = torch.randint(VOCABULARY, (2, LENGTH))
    targets = torch.randint(VOCABULARY, (2, LENGTH))
    targets[0, 2] = targets[1, 4:] = -1
    logits = run(weights, ids, **inputs)
    loss = functional.cross_entropy(logits.flatten(0, 1), targets.flatten(), ignore_index=-1)
    loss.backward()
    told = {key: x.tolist() if torch.is_tensor(x) else x for key, x in inputs.items()}
    if kept:
        told['format'] = kept
    new = {key: array(x.float()) for key, x in weights.items() if given.get(key) is not x}
    return {'name': name, 'maps': maps, 'ids': ids.tolist(), 'targets': targets.tolist(), **told,
            'loss': loss.item(), 'state': new,
            'adapters': {key: array(x.float()) for key, x in weights.adapters.items()},
            'gradients': {key: array(x.grad) for key, x in weights.adapters.items()}}


def main():
    models = json.loads((FOLDER / 'models.json').read_text())['cases']
    given = {each['name']: numbers_of(each) for each in models}
    torch.manual_seed(40)
    provenance = {'torch': torch_version(), 'script': 'tests/reference/torch/make_adapter_fixtures.py',
                  'seed': 40, 'computed_in': 'float64'}
    types = torch.randint(2, (2, LENGTH))
    cases = [
        case('gpt2', gpt2, ['wq', 'wv', 'w1', 'w2'], given['gpt2']),
        case('llama', llama, ['wq', 'wk', 'wv', 'wo', 'w1', 'wGate', 'w2'], given['llama']),
        case('bert', masked_bert, ['wq', 'wk', 'wo', 'w2'], given['bert'], types=types,
             lengths=[LENGTH, 4]),
        case('gemma2', gemma2, ['wq', 'wv', 'w1', 'wGate']),
        case('gpt2', gpt2, ['wq', 'wk', 'wv', 'w2'], given['gpt2'], 'int8'),
        case('llama', llama, ['wq', 'wv', 'wo', 'wGate'], given['llama'], 'int4'),
    ]
    content = {'provenance': provenance, 'rank': RANK, 'alpha': ALPHA, 'cases': cases}
    (FOLDER / 'adapters.json').write_text(text(content) + '\n')


if __name__ == '__main__':
    main()
