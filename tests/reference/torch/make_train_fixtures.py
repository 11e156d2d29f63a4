#!/usr/bin/python3
"""Writes tests/reference/torch/fixtures/training.json: what PyTorch's autograd and AdamW make of inputs in float64.

Run by hand like make_fixtures.py, which it takes its tools from. tests/core/train/torch_training_test.cpp holds the core to
these numbers.
"""

import math

import torch
from torch import nn
from torch.nn import functional

from make_fixtures import FOLDER, array, arrays, causal, draw, prepared, state, text, torch_version

D_MODEL, HEADS, D_FEED_FORWARD, VOCABULARY, LAYERS, LENGTH = 8, 2, 16, 7, 2, 6
LEARNING_RATE, DECAY, CLIP, EPSILON = 2e-3, 0.1, 0.5, 1e-5
STEPS = 100


def leaf(tensor):
    return tensor.double().requires_grad_()


def attention_case(name, q, k, v, is_causal=False, bias=None, cap=0.0):
    """Gradients of softmax(cap tanh(q k^T / sqrt(d) / cap) + bias) v, the heads of k and v repeated for groups."""
    q64, k64, v64 = leaf(q), leaf(k), leaf(v)
    bias64 = None if bias is None else leaf(bias)
    group = q.shape[1] // k.shape[1]
    scores = q64 @ k64.repeat_interleave(group, 1).transpose(-2, -1) / math.sqrt(q.shape[-1])
    if cap:
        scores = cap * torch.tanh(scores / cap)
    if bias is not None:
        scores = scores + bias64
    if is_causal:
        scores = scores.masked_fill(causal(q.shape[-2]), -math.inf)
    output = torch.softmax(scores, dim=-1) @ v64.repeat_interleave(group, 1)
    d_output = draw(*output.shape)
    output.backward(d_output.double())
    extra = {} if bias is None else arrays(bias=bias, d_bias=bias64.grad)
    return {'name': name, 'causal': is_causal, 'softcap': cap, **extra,
            **arrays(q=q, k=k, v=v, d_output=d_output, dq=q64.grad, dk=k64.grad, dv=v64.grad)}


def attention():
    return [
        attention_case('causal', *[draw(1, 2, 6, 4) for _ in range(3)], is_causal=True),
        attention_case('groups of two, bias', draw(2, 4, 3, 5), draw(2, 2, 7, 5), draw(2, 2, 7, 3),
                       bias=draw(4, 3, 7)),
        attention_case('softcap', *[draw(1, 1, 9, 8, size=2) for _ in range(3)], cap=2.0),
    ]


def gru():
    layer = prepared(nn.GRU(5, 4, batch_first=True))
    x, h0 = draw(2, 6, 5), draw(2, 4)
    x64, h64 = leaf(x), leaf(h0)
    output, _ = layer(x64, h64[None])
    d_output = draw(*output.shape)
    output.backward(d_output.double())
    gradients = {name: array(parameter.grad) for name, parameter in layer.named_parameters()}
    return {**arrays(x=x, h0=h0, d_output=d_output, output=output, dx=x64.grad, dh0=h64.grad),
            'state': state(layer), 'gradients': gradients}


def cross_entropy():
    cases = []
    for name, smoothing in (('plain', 0.0), ('smoothed', 0.1)):
        logits, targets = draw(6, 9, size=2), torch.tensor([3, -1, 8, 0, -1, 3])
        logits64 = leaf(logits)
        loss = functional.cross_entropy(logits64, targets, ignore_index=-1, label_smoothing=smoothing)
        loss.backward()
        cases.append({'name': name, 'smoothing': smoothing, 'targets': targets.tolist(),
                      'loss': loss.item(), **arrays(logits=logits, d_logits=logits64.grad)})
    return cases


class Model(nn.Module):
    """The GPT-2 kind: learned positions, pre-norm blocks, a last norm, logits without a bias."""

    def __init__(self):
        super().__init__()
        self.embedding = nn.Embedding(VOCABULARY, D_MODEL)
        self.positions = nn.Embedding(LENGTH, D_MODEL)
        self.layers = nn.ModuleList(
            nn.TransformerEncoderLayer(D_MODEL, HEADS, D_FEED_FORWARD, dropout=0.0, activation='gelu',
                                       batch_first=True, norm_first=True) for _ in range(LAYERS))
        self.norm = nn.LayerNorm(D_MODEL)
        self.head = nn.Linear(D_MODEL, VOCABULARY, bias=False)

    def forward(self, ids):
        x = self.embedding(ids) + self.positions.weight[:ids.shape[1]]
        for layer in self.layers:
            x = layer(x, src_mask=causal(ids.shape[1]))
        return self.head(self.norm(x))


def model():
    made = prepared(Model()).train()  # without dropout, and without the fused paths of eval mode
    ids = torch.randint(VOCABULARY, (3, LENGTH))
    targets = torch.randint(VOCABULARY, (3, LENGTH))
    targets[1, 4:] = -1
    first = state(made)
    decays = [p for n, p in made.named_parameters()
              if p.dim() == 2 and n not in ('embedding.weight', 'positions.weight')]
    rest = [p for p in made.parameters() if not any(p is q for q in decays)]
    optimizer = torch.optim.AdamW(
        [{'params': decays, 'weight_decay': DECAY}, {'params': rest, 'weight_decay': 0.0}],
        lr=LEARNING_RATE, betas=(0.9, 0.95), eps=EPSILON)
    losses, norms, gradients = [], [], None
    for _ in range(STEPS):
        optimizer.zero_grad()
        loss = functional.cross_entropy(made(ids).flatten(0, 1), targets.flatten(), ignore_index=-1)
        loss.backward()
        gradients = gradients or {n: array(p.grad) for n, p in made.named_parameters()}
        losses.append(loss.item())
        norms.append(nn.utils.clip_grad_norm_(made.parameters(), CLIP).item())
        optimizer.step()
    last = {n: array(p) for n, p in made.named_parameters()}
    options = {'learning_rate': LEARNING_RATE, 'weight_decay': DECAY, 'clip_norm': CLIP,
               'epsilon': EPSILON, 'beta2': 0.95}
    return {'num_heads': HEADS, 'ids': ids.tolist(), 'targets': targets.tolist(), 'options': options,
            'losses': losses, 'norms': norms, 'state': first, 'gradients': gradients, 'last': last}


def main():
    torch.manual_seed(20)
    provenance = {'torch': torch_version(), 'script': 'tests/reference/torch/make_train_fixtures.py',
                  'seed': 20, 'computed_in': 'float64'}
    content = {'attention': attention(), 'gru': gru(), 'cross_entropy': cross_entropy(),
               'model': model()}
    (FOLDER / 'training.json').write_text(text({'provenance': provenance, **content}) + '\n')


if __name__ == '__main__':
    main()
