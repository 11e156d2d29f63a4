#!/usr/bin/python3
"""Writes tests/reference/torch/fixtures/*.json: inputs, and what PyTorch makes of them in float64.

Run by hand, only when a case is added:

    apt-get install --no-install-recommends python3-torch python3-numpy    # Debian 12: torch 1.13.1
    /usr/bin/python3 tests/reference/torch/make_fixtures.py

tests/reference/torch/torch.test.js and tests/core/torch_test.cpp hold the package and the core to these
numbers. Inputs and weights are decimals of four digits, rounded to float32 and printed so that they read
back as the same float32; the outputs are float64, so that the error that tests measure is all ours.
Parameters keep the names of PyTorch's state_dict() and its [out, in] layout, and masks its conventions:
in nn.MultiheadAttention True leaves a key out, in attention() it lets it in. JSON has no infinities, so
they are words.

Modules are in eval mode. Gradients stay enabled, because otherwise eval mode takes fused "fast paths" of
its own; here every module runs the formula that its documentation states.
"""

import json
import math
import pathlib
import subprocess

import torch
from torch import nn
from torch.nn import functional

FOLDER = pathlib.Path(__file__).parent / 'fixtures'
D_MODEL, HEADS, D_FEED_FORWARD = 12, 3, 20


def draw(*shape, mean=0.0, size=1.0):
    """Normal numbers of four decimals, as float32."""
    values = torch.randn(*shape, dtype=torch.float64) * size + mean
    return values.mul(1e4).round().div(1e4).float()


def array(tensor):
    """What the JSON holds of a tensor: float32 and float64 in the fewest digits that read back as it."""
    if tensor.dtype == torch.bool:
        return {'dtype': 'bool', 'shape': list(tensor.shape), 'data': tensor.flatten().int().tolist()}
    flat = tensor.detach().flatten().numpy()
    shortest = [float(str(x)) for x in flat]
    assert all(x == flat.dtype.type(y) for x, y in zip(flat, shortest))
    data = [x if math.isfinite(x) else str(x) for x in shortest]
    return {'shape': list(tensor.shape), 'data': data}


def arrays(**tensors):
    return {name: array(tensor) for name, tensor in tensors.items()}


def state(module):
    return {name: array(parameter.float()) for name, parameter in module.state_dict().items()}


def prepared(module):
    """The module in float64, its parameters drawn anew: PyTorch starts biases at 0 and gains at 1."""
    module = module.double().eval()
    for name, parameter in module.named_parameters():
        if parameter.dim() == 2:
            values = draw(*parameter.shape, size=parameter.shape[1] ** -0.5)
        else:
            values = draw(*parameter.shape, size=0.25, mean=1 if is_gain(module, name) else 0)
        parameter.data = values.double()
    return module


def is_gain(module, name):
    owner, _, leaf = name.rpartition('.')
    return leaf == 'weight' and isinstance(module.get_submodule(owner), nn.LayerNorm)


def causal(length):
    """True above the diagonal: keys that nn modules leave out."""
    return torch.ones(length, length, dtype=torch.bool).triu(1)


def padding(lengths, longest):
    """True at and past each length."""
    return torch.arange(longest)[None, :] >= torch.tensor(lengths)[:, None]


# ------------------------------------------------------------------------------------------- the cases


def attention_case(name, q, k, v, mask=None, is_causal=False):
    """softmax(q k^T / sqrt(d) + mask) v, which must be PyTorch's own attention function too."""
    q64, k64, v64 = q.double(), k.double(), v.double()
    scores = q64 @ k64.transpose(-2, -1) / math.sqrt(q.shape[-1])
    if is_causal:
        scores = scores.masked_fill(causal(q.shape[-2]), -math.inf)
    if mask is not None and mask.dtype == torch.bool:
        scores = scores.masked_fill(~mask, -math.inf)
    elif mask is not None:
        scores = scores + mask.double()
    weights = torch.softmax(scores, dim=-1)
    output = weights @ v64
    own_mask = mask if mask is None or mask.dtype == torch.bool else mask.double()
    if own_mask is not None:
        own_mask = own_mask.expand(scores.shape)
    own, _ = functional._scaled_dot_product_attention(
        q64, k64, v64, attn_mask=own_mask, is_causal=is_causal)
    assert torch.allclose(own, output, rtol=0, atol=1e-14)
    given = arrays(q=q, k=k, v=v) | ({} if mask is None else arrays(mask=mask))
    results = arrays(output=output) | (arrays(weights=weights) if weights.numel() < 500 else {})
    return {'name': name, 'causal': is_causal, **given, **results}


def attention():
    additive = draw(1, 2, 5, 7)
    additive[0, 0, 1, 2:5] = -math.inf
    boolean = torch.rand(2, 1, 5, 7) < 0.6
    boolean[..., 3] = True
    qkv = lambda *s: [draw(*s) for _ in range(3)]
    return [
        attention_case('no mask', *qkv(2, 3, 5, 8)),
        attention_case('causal', *qkv(1, 2, 6, 4), is_causal=True),
        attention_case('boolean mask', draw(2, 2, 5, 4), draw(2, 2, 7, 4), draw(2, 2, 7, 4), boolean),
        attention_case('additive mask', draw(1, 2, 5, 4), draw(1, 2, 7, 4), draw(1, 2, 7, 4), additive),
        attention_case('cross, Tq != Tk', draw(1, 2, 4, 8), draw(1, 2, 9, 8), draw(1, 2, 9, 8)),
        attention_case('odd d, another d_v', draw(1, 2, 5, 7), draw(1, 2, 5, 7), draw(1, 2, 5, 3)),
        attention_case('67 tokens, causal', *qkv(1, 1, 67, 5), is_causal=True),
    ]


def multi_head_case(name, x, context=None, bias=True, attn_mask=None, key_padding_mask=None):
    d_context = D_MODEL if context is None else context.shape[-1]
    # Given sizes of their own, PyTorch keeps three matrices; otherwise one in_proj_weight.
    sizes = {} if d_context == D_MODEL else {'kdim': d_context, 'vdim': d_context}
    layer = prepared(nn.MultiheadAttention(D_MODEL, HEADS, bias=bias, batch_first=True, **sizes))
    masks = {'attn_mask': attn_mask, 'key_padding_mask': key_padding_mask}
    masks = {key: mask for key, mask in masks.items() if mask is not None}
    as64 = {k: m if m.dtype == torch.bool else m.double() for k, m in masks.items()}
    kv = x if context is None else context
    output, weights = layer(
        x.double(), kv.double(), kv.double(), need_weights=True, average_attn_weights=False, **as64)
    given = arrays(x=x, **masks) | ({} if context is None else arrays(context=context))
    return {'name': name, **given, 'state': state(layer), **arrays(output=output, weights=weights)}


def multi_head_attention():
    per_head = draw(2 * HEADS, 5, 5)
    per_head[4, 2, 1] = -math.inf
    x = draw(2, 5, D_MODEL)
    return [
        multi_head_case('self', x),
        multi_head_case('no bias, causal attn_mask', x, bias=False, attn_mask=causal(5)),
        multi_head_case('additive attn_mask for each head', x, attn_mask=per_head),
        multi_head_case('key_padding_mask', x, key_padding_mask=padding([5, 3], 5)),
        multi_head_case('cross', draw(2, 4, D_MODEL), context=draw(2, 7, D_MODEL)),
        multi_head_case('cross, another width, padded', draw(2, 4, D_MODEL), context=draw(2, 7, 10),
                        key_padding_mask=padding([6, 2], 7)),
    ]


def layer_norm():
    cases = []
    for name, shape, axes, epsilon in [
        ('last axis', (2, 3, 7), 1, 1e-5),
        ('last two axes', (2, 3, 5), 2, 1e-5),
        ('epsilon 0.5', (4, 65), 1, 0.5),
    ]:
        norm = prepared(nn.LayerNorm(shape[-axes:], eps=epsilon))
        if axes > 1:  # drawn as matrices are
            norm.weight.data = draw(*shape[-axes:]).double()
        x = draw(*shape, size=3, mean=1.5)
        cases.append({'name': name, 'axis': -axes, 'epsilon': epsilon, 'state': state(norm),
                      **arrays(x=x, output=norm(x.double()))})
    return cases


def encoder_layer():
    x, parameters, cases = draw(2, 5, D_MODEL), None, []
    for norm_first in (True, False):
        for activation in ('relu', 'gelu'):
            layer = nn.TransformerEncoderLayer(
                D_MODEL, HEADS, D_FEED_FORWARD, activation=activation, batch_first=True,
                norm_first=norm_first)
            layer = prepared(layer)
            parameters = parameters or layer.state_dict()
            layer.load_state_dict(parameters)  # one set of parameters for all
            is_causal = activation == 'relu'
            output = layer(x.double(), src_mask=causal(5) if is_causal else None)
            cases.append({'name': f'{"pre" if norm_first else "post"}-norm, {activation}',
                          'norm_first': norm_first, 'activation': activation, 'causal': is_causal,
                          **arrays(output=output)})
    return {'x': array(x), 'state': state(layer), 'cases': cases}


def decoder_layer():
    x, memory, lengths = draw(2, 5, D_MODEL), draw(2, 7, D_MODEL), [7, 4]
    parameters, cases = None, []
    for norm_first, activation in ((True, 'gelu'), (False, 'relu')):
        layer = nn.TransformerDecoderLayer(
            D_MODEL, HEADS, D_FEED_FORWARD, activation=activation, batch_first=True,
            norm_first=norm_first)
        layer = prepared(layer)
        parameters = parameters or layer.state_dict()
        layer.load_state_dict(parameters)
        output = layer(x.double(), memory.double(), tgt_mask=causal(5),
                       memory_key_padding_mask=padding(lengths, 7))
        cases.append({'name': f'{"pre" if norm_first else "post"}-norm, {activation}',
                      'norm_first': norm_first, 'activation': activation, **arrays(output=output)})
    return {**arrays(x=x, memory=memory), 'memory_lengths': lengths, 'state': state(layer),
            'cases': cases}


def transformer():
    source, target, lengths = draw(2, 6, D_MODEL), draw(2, 4, D_MODEL), [6, 4]
    parameters, cases = None, []
    for norm_first in (True, False):
        model = nn.Transformer(
            D_MODEL, HEADS, 2, 2, D_FEED_FORWARD, activation='gelu', batch_first=True,
            norm_first=norm_first)
        model = prepared(model)
        parameters = parameters or model.state_dict()
        model.load_state_dict(parameters)
        padded = padding(lengths, 6)
        memory = model.encoder(source.double(), src_key_padding_mask=padded)
        output = model(source.double(), target.double(), tgt_mask=causal(4),
                       src_key_padding_mask=padded, memory_key_padding_mask=padded)
        assert torch.equal(output, model.decoder(
            target.double(), memory, tgt_mask=causal(4), memory_key_padding_mask=padded))
        cases.append({'name': f'{"pre" if norm_first else "post"}-norm', 'norm_first': norm_first,
                      **arrays(memory=memory, output=output)})
    return {**arrays(source=source, target=target), 'source_lengths': lengths, 'state': state(model),
            'cases': cases}


def embedding():
    table, ids = prepared(nn.Embedding(11, 6)), torch.tensor([3, 0, 10, 3, 7])
    return [{'name': 'rows', 'ids': ids.tolist(), 'state': state(table),
             'output': array(table(ids).float())}]


def gelu():
    x = torch.cat([torch.linspace(-6, 6, 49), draw(16, size=2)]).float()
    return [{'name': approximate, 'approximate': approximate,
             **arrays(x=x, output=functional.gelu(x.double(), approximate=approximate))}
            for approximate in ('none', 'tanh')]


# ------------------------------------------------------------------------------------------------ JSON


def text(value, indent=''):
    """JSON with one line for each array of numbers."""
    inner = indent + ' '
    if isinstance(value, dict) and 'data' not in value:
        lines = [f'{inner}{json.dumps(k)}: {text(v, inner)}' for k, v in value.items()]
        return '{\n' + ',\n'.join(lines) + f'\n{indent}}}'
    if isinstance(value, list) and value and isinstance(value[0], dict):
        return '[\n' + ',\n'.join(inner + text(v, inner) for v in value) + f'\n{indent}]'
    return json.dumps(value, separators=(',', ':'), allow_nan=False)


def torch_version():
    # Debian's 1.13.1 calls itself 1.13.0a0.
    query = ['dpkg-query', '-W', '-f', 'Debian python3-torch ${Version}', 'python3-torch']
    package = subprocess.run(query, capture_output=True, text=True, check=True).stdout
    return f'{torch.__version__} ({package})'


def main():
    for seed, (make, function) in enumerate([
        (attention, 'softmax(q k^T / sqrt(d) + mask) v'),
        (multi_head_attention, 'torch.nn.MultiheadAttention'),
        (layer_norm, 'torch.nn.LayerNorm'),
        (encoder_layer, 'torch.nn.TransformerEncoderLayer'),
        (decoder_layer, 'torch.nn.TransformerDecoderLayer'),
        (transformer, 'torch.nn.Transformer'),
        (embedding, 'torch.nn.Embedding'),
        (gelu, 'torch.nn.functional.gelu'),
    ], start=1):
        torch.manual_seed(seed)
        made = make()
        provenance = {'torch': torch_version(), 'script': 'tests/reference/torch/make_fixtures.py',
                      'function': function, 'seed': seed, 'computed_in': 'float64'}
        content = made if isinstance(made, dict) else {'cases': made}
        path = FOLDER / f'{make.__name__}.json'
        path.write_text(text({'provenance': provenance, **content}) + '\n')


if __name__ == '__main__':
    main()
