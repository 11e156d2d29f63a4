#!/usr/bin/python3
"""Writes tests/reference/torch/fixtures/models.json: what language models of three kinds, written in plain operations of PyTorch, make
of tokens in float64.

Run by hand like make_fixtures.py, which it takes its tools from. tests/core/torch_models_test.cpp holds LanguageModel to these
numbers. Arrays have the names of LanguageModel; matrices are [out, in], as nn.Linear keeps them. `site` is told what is at every place
of a pass, by the names of qkv/models, and returns what the pass goes on with; make_site_fixtures.py reads and changes them there.
"""

import math

import torch
from torch.nn import functional

from make_fixtures import FOLDER, array, causal, draw, padding, text, torch_version

VOCABULARY, D_MODEL, HEADS, D_FEED_FORWARD, LAYERS, LENGTH = 11, 12, 3, 20, 2, 6


class Weights(dict):
    """Arrays that are drawn when they are first asked for, in float64."""

    def get_or_draw(self, name, *shape):
        if name not in self:
            gain = name.endswith('amma')
            matrix = len(shape) == 2 and 'mbedding' not in name
            size = shape[1] ** -0.5 if matrix else 1.0 if len(shape) == 2 else 0.25
            self[name] = draw(*shape, size=size, mean=1 if gain else 0).double()
        return self[name]

    def linear(self, name, x, out, bias=None):
        b = self.get_or_draw(bias, out) if bias else None
        return functional.linear(x, self.get_or_draw(name, out, x.shape[-1]), b)

    def layer_norm(self, name, x, epsilon):
        n = x.shape[-1]
        return functional.layer_norm(x, (n,), self.get_or_draw(name + '.gamma', n),
                                     self.get_or_draw(name + '.beta', n), epsilon)

    def rms_norm(self, name, x, epsilon):
        scale = torch.rsqrt(x.pow(2).mean(-1, keepdim=True) + epsilon)
        return self.get_or_draw(name + '.gamma', x.shape[-1]) * (x * scale)


def split(x, heads):
    return x.unflatten(-1, (heads, -1)).transpose(1, 2)


def unchanged(name, layer, x):
    return x


def attend(q, k, v, excluded, site=unchanged, layer=0):
    """softmax(q k^T / sqrt(d)) v with the heads of k and v repeated for groups; heads side by side."""
    q, k, v = (site(name, layer, x) for name, x in (('q', q), ('k', k), ('v', v)))
    group = q.shape[1] // k.shape[1]
    scores = q @ k.repeat_interleave(group, 1).transpose(-2, -1) / math.sqrt(q.shape[-1])
    scores = site('scores', layer, scores.masked_fill(excluded, -math.inf))
    weights = site('weights', layer, torch.softmax(scores, dim=-1))
    return site('z', layer, weights @ v.repeat_interleave(group, 1)).transpose(1, 2).flatten(2)


def heads(w, name, z, site, layer):
    """What each head gives: its columns of W_O times its z."""
    parts = w[name].unflatten(1, (-1, z.shape[-1]))  # [D_MODEL, heads, d]
    site('heads', layer, torch.einsum('bhtd,mhd->bhtm', z, parts))


def attention(w, at, x, excluded, site=unchanged, layer=0):
    """Of as many heads for keys as for queries, with biases."""
    q, k, v = (split(w.linear(f'{at}w{n}', x, D_MODEL, f'{at}b{n}'), HEADS) for n in 'qkv')
    z = attend(q, k, v, excluded, site, layer)
    y = w.linear(at + 'wo', z, D_MODEL, at + 'bo')
    heads(w, at + 'wo', split(z, HEADS), site, layer)
    return site('attention', layer, y)


def gpt2(w, ids, site=unchanged):
    """Radford et al. 2019: learned positions, norms before, tied embeddings, the tanh form of GELU."""
    x = functional.embedding(ids, w.get_or_draw('embedding', VOCABULARY, D_MODEL))
    x = site('embed', 0, x + w.get_or_draw('positions', LENGTH, D_MODEL)[:ids.shape[1]])
    for n in range(LAYERS):
        at = f'layers.{n}.'
        x = x + attention(w, at + 'attention.', w.layer_norm(at + 'norm1', x, 1e-5),
                          causal(ids.shape[1]), site, n)
        x = site('middle', n, x)
        h = w.linear(at + 'feedForward.w1', w.layer_norm(at + 'norm2', x, 1e-5), D_FEED_FORWARD,
                     at + 'feedForward.b1')
        h = site('neurons', n, functional.gelu(h, approximate='tanh'))
        y = w.linear(at + 'feedForward.w2', h, D_MODEL, at + 'feedForward.b2')
        x = site('residual', n, x + site('feedForward', n, y))
    return functional.linear(site('final', 0, w.layer_norm('norm', x, 1e-5)), w['embedding'])


LLAMA = {'heads': 4, 'kv_heads': 2, 'd_k': 8, 'base': 500000.0, 'factor': 8.0, 'low': 1.0, 'high': 4.0,
         'original_length': 64, 'epsilon': 1e-6}


def llama3_frequencies():
    """Llama 3.1's rule: long wavelengths are divided by the factor, short ones stay, others are mixed."""
    d, c = LLAMA['d_k'], LLAMA
    frequencies = []
    for i in range(0, d, 2):
        f = c['base'] ** (-i / d)
        wavelength = 2 * math.pi / f
        if wavelength > c['original_length'] / c['low']:
            f = f / c['factor']
        elif wavelength >= c['original_length'] / c['high']:
            smooth = (c['original_length'] / wavelength - c['low']) / (c['high'] - c['low'])
            f = (1 - smooth) * f / c['factor'] + smooth * f
        frequencies.append(f)
    return torch.tensor(frequencies, dtype=torch.float64)


def rotate(x):
    """By halves: x cos + (-x2, x1) sin."""
    angles = torch.outer(torch.arange(x.shape[2], dtype=torch.float64), llama3_frequencies())
    angles = torch.cat((angles, angles), -1)
    first, second = x.chunk(2, -1)
    return x * angles.cos() + torch.cat((-second, first), -1) * angles.sin()


def llama(w, ids, site=unchanged):
    """Dubey et al. 2024: rotary embeddings, RMS norms, two heads of keys for four of queries, SwiGLU."""
    c = LLAMA
    x = site('embed', 0, functional.embedding(ids, w.get_or_draw('embedding', VOCABULARY, D_MODEL)))
    for n in range(LAYERS):
        at = f'layers.{n}.'
        y = w.rms_norm(at + 'norm1', x, c['epsilon'])
        q = rotate(split(w.linear(at + 'attention.wq', y, c['heads'] * c['d_k']), c['heads']))
        k = rotate(split(w.linear(at + 'attention.wk', y, c['kv_heads'] * c['d_k']), c['kv_heads']))
        v = split(w.linear(at + 'attention.wv', y, c['kv_heads'] * c['d_k']), c['kv_heads'])
        z = attend(q, k, v, causal(ids.shape[1]), site, n)
        y = w.linear(at + 'attention.wo', z, D_MODEL)
        heads(w, at + 'attention.wo', split(z, c['heads']), site, n)
        x = site('middle', n, x + site('attention', n, y))
        y = w.rms_norm(at + 'norm2', x, c['epsilon'])
        gate = functional.silu(w.linear(at + 'feedForward.wGate', y, D_FEED_FORWARD))
        h = site('neurons', n, gate * w.linear(at + 'feedForward.w1', y, D_FEED_FORWARD))
        x = site('residual', n, x + site('feedForward', n, w.linear(at + 'feedForward.w2', h, D_MODEL)))
    return w.linear('head', site('final', 0, w.rms_norm('norm', x, c['epsilon'])), VOCABULARY)


def bert(w, ids, types, lengths):
    """Devlin et al. 2019: segments, a norm on the embeddings, norms after, GELU; the stream is the result."""
    x = functional.embedding(ids, w.get_or_draw('embedding', VOCABULARY, D_MODEL))
    x = x + w.get_or_draw('positions', LENGTH, D_MODEL)[:ids.shape[1]]
    x = x + functional.embedding(types, w.get_or_draw('tokenTypes', 2, D_MODEL))
    x = w.layer_norm('embeddingNorm', x, 1e-12)
    excluded = padding(lengths, ids.shape[1])[:, None, None, :]
    for n in range(LAYERS):
        at = f'layers.{n}.'
        x = w.layer_norm(at + 'norm1', x + attention(w, at + 'attention.', x, excluded), 1e-12)
        h = w.linear(at + 'feedForward.w1', x, D_FEED_FORWARD, at + 'feedForward.b1')
        h = w.linear(at + 'feedForward.w2', functional.gelu(h), D_MODEL, at + 'feedForward.b2')
        x = w.layer_norm(at + 'norm2', x + h, 1e-12)
    return x


def case(name, run, **inputs):
    weights = Weights()
    ids = torch.randint(VOCABULARY, (2, LENGTH))
    output = run(weights, ids, **inputs)
    given = {key: x.tolist() if torch.is_tensor(x) else x for key, x in inputs.items()}
    # Every number was drawn as float32 and is written as one.
    state = {key: array(x.float()) for key, x in weights.items()}
    return {'name': name, 'ids': ids.tolist(), **given, 'output': array(output), 'state': state}


def main():
    torch.manual_seed(30)
    provenance = {'torch': torch_version(), 'script': 'tests/reference/torch/make_model_fixtures.py',
                  'seed': 30, 'computed_in': 'float64'}
    cases = [case('gpt2', gpt2), case('llama', llama),
             case('bert', bert, types=torch.randint(2, (2, LENGTH)), lengths=[LENGTH, 4])]
    (FOLDER / 'models.json').write_text(text({'provenance': provenance, 'cases': cases}) + '\n')


if __name__ == '__main__':
    main()
