#!/usr/bin/python3
"""Writes tests/reference/torch/fixtures/sites.json: what is at every place of the language models of models.json, what changes of these
places make of the logits, and how much each part of the stream gives, in float64.

Run by hand like make_fixtures.py, after make_model_fixtures.py, whose models and weights these are.
tests/reference/torch/sites.test.js holds qkv/models to these numbers. Places and edits have the names of qkv/models.
"""

import json
import math

import torch

from make_fixtures import FOLDER, array, text, torch_version
from make_model_fixtures import LAYERS, Weights, gpt2, llama

NO_EDGE = '-inf'


def tensor(numbers):
    """Numbers as float32 has them."""
    if isinstance(numbers, list):
        return torch.tensor(numbers, dtype=torch.float32).double()
    return torch.tensor(float(numbers), dtype=torch.float32).double()


class Pass:
    """Keeps what is at every place, after it has been changed by the edits of that place."""

    def __init__(self, edits=()):
        self.edits = edits
        self.arrays = {}

    def __call__(self, site, layer, x):
        for edit in self.edits:
            if edit['site'] == site and edit.get('layer', 0) == layer:
                x = changed(x, edit)
        self.arrays.setdefault(site, {})[layer] = x
        return x


def changed(x, edit):
    """x scale, then value, then + add, of the chosen numbers of [batch, (heads,) tokens, width]."""
    every = [None, None]
    chosen = [slice(*edit.get('batch', every))]
    if x.dim() == 4:
        head = edit.get('head')
        chosen.append(slice(None) if head is None else slice(head, head + 1))
    chosen += [slice(*edit.get('rows', every)), slice(*edit.get('keys', edit.get('columns', every)))]
    x = x.clone()
    part = x[tuple(chosen)] * tensor(edit.get('scale', 1))
    if 'value' in edit:
        part = torch.zeros_like(part) + shaped(edit['value'], part)
    if 'add' in edit:
        part = part + shaped(edit['add'], part)
    x[tuple(chosen)] = part
    return x


def shaped(given, part):
    """A number or a vector spreads; else it has as many numbers as the part."""
    numbers = tensor(given)
    return numbers.reshape(part.shape) if numbers.numel() == part.numel() else numbers


def some(count, first):
    """Numbers that differ and that float32 has exactly."""
    return [(((first + 5 * i) % 17) - 8) / 16 for i in range(count)]


def edits_of(heads, d_k):
    """Several of every kind: alone each, and the last list together. Of the model with `heads` heads of width d_k."""
    single = [
        {'site': 'embed', 'rows': [0, 2], 'columns': [1, 5], 'add': some(4, 1)},
        {'site': 'q', 'layer': 0, 'head': heads - 1, 'scale': 0.5, 'add': 0.25},
        {'site': 'k', 'layer': 1, 'head': 1, 'rows': [1, 3], 'value': some(d_k, 3)},
        {'site': 'v', 'layer': 0, 'head': 0, 'batch': [1, 2], 'add': some(6 * d_k, 2)},
        {'site': 'scores', 'layer': 0, 'head': 1, 'rows': [4, 5], 'keys': [2, 3], 'value': NO_EDGE},
        {'site': 'weights', 'layer': 1, 'head': 0, 'rows': [3, 6], 'keys': [0, 2], 'scale': 0.5},
        {'site': 'z', 'layer': 0, 'head': 2, 'value': 0},
        {'site': 'z', 'layer': 1, 'head': 1, 'rows': [3, 5], 'value': some(4 * d_k, 5)},
        {'site': 'attention', 'layer': 0, 'rows': [1, 2], 'scale': 2, 'add': 0.125},
        {'site': 'middle', 'layer': 1, 'batch': [0, 1], 'add': some(12, 7)},
        {'site': 'neurons', 'layer': 0, 'columns': [3, 9], 'rows': [0, 4], 'value': 0.5},
        {'site': 'feedForward', 'layer': 1, 'rows': [5, 6], 'value': some(12, 4)},
        {'site': 'residual', 'layer': 0, 'rows': [2, 3], 'value': some(12, 6)},
        {'site': 'residual', 'layer': 0, 'add': some(12, 8)},
    ]
    return [[edit] for edit in single] + [single]


def attribution(run, w, ids, answer, instead):
    """
    How much of logit(answer) - logit(instead), at the last token, each part of the stream gives. The last norm is a leaf's function here:
    its input is the sum of the parts, its scale is a constant, and what a part gives is the part times the gradient.
    """
    read = Pass()
    run(w, ids, read)
    last = {site: {n: x[0, ..., -1, :].detach() for n, x in layers.items()}
            for site, layers in read.arrays.items() if site not in ('scores', 'weights')}
    parts = [({'part': 'embed'}, last['embed'][0])]
    for n in range(LAYERS):
        of_heads = last['heads'][n]
        parts += [({'part': 'head', 'layer': n, 'head': h}, x) for h, x in enumerate(of_heads)]
        parts.append(({'part': 'attentionBias', 'layer': n}, last['attention'][n] - of_heads.sum(0)))
        parts.append(({'part': 'feedForward', 'layer': n}, last['feedForward'][n]))
    leaves = [x.clone().requires_grad_() for _, x in parts]
    stream = sum(leaves)
    assert torch.allclose(stream, last['residual'][LAYERS - 1], rtol=0, atol=1e-13)
    if 'norm.beta' in w:
        centred = stream - stream.mean()
        scale = torch.sqrt(centred.pow(2).mean() + 1e-5).detach()
        normed = w['norm.gamma'] * centred / scale + w['norm.beta']
        table = w['embedding']
    else:
        scale = torch.sqrt(stream.pow(2).mean() + 1e-6).detach()
        normed = w['norm.gamma'] * stream / scale
        table = w['head']
    assert torch.allclose(normed, last['final'][0], rtol=0, atol=1e-13)
    total = normed @ (table[answer] - table[instead])
    gradients = torch.autograd.grad(total, leaves)
    values = [(leaf * gradient).sum().item() for leaf, gradient in zip(leaves, gradients)]
    contributions = [{**name, 'value': value} for (name, _), value in zip(parts, values)]
    contributions.append({'part': 'bias', 'value': total.item() - math.fsum(values)})
    return {'answer': answer, 'instead': instead, 'total': total.item(), 'parts': contributions}


def case(name, run, model, heads, d_k):
    w = Weights((key, torch.tensor(x['data'], dtype=torch.float64).reshape(x['shape']))
                for key, x in model['state'].items())
    ids = torch.tensor(model['ids'])
    first = ids[:1]
    read = Pass()
    run(w, first, read)
    arrays = {site: {str(n): array(x) for n, x in layers.items()} for site, layers in read.arrays.items()}
    edits = [{'edits': edits, 'logits': array(run(w, ids, Pass(edits)))} for edits in edits_of(heads, d_k)]
    return {'name': name, 'sites': arrays, 'edited': edits,
            'attribution': attribution(run, w, first, answer=4, instead=9)}


def main():
    models = json.loads((FOLDER / 'models.json').read_text())
    state = {model['name']: model for model in models['cases']}
    provenance = {'torch': torch_version(), 'script': 'tests/reference/torch/make_site_fixtures.py',
                  'weights': 'models.json', 'computed_in': 'float64'}
    cases = [case('gpt2', gpt2, state['gpt2'], heads=3, d_k=4), case('llama', llama, state['llama'], heads=4, d_k=8)]
    (FOLDER / 'sites.json').write_text(text({'provenance': provenance, 'cases': cases}) + '\n')


if __name__ == '__main__':
    main()
