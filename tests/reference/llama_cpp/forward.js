// The families of models.js in float64, from the formulas of their papers, one token after the other, nothing shared with
// the package: what tells whether llama.cpp's numbers mean what we think.

import { erf } from '../../support/js/oracle.js';

const dot = (a, b) => a.reduce((sum, x, i) => sum + x * b[i], 0);
const add = (a, b) => a.map((x, i) => x + b[i]);
const scaled = (a, factor) => a.map((x) => x * factor);
const softcap = (x, cap) => (cap ? cap * Math.tanh(x / cap) : x);
const mean = (rows) => scaled(rows.reduce(add), 1 / rows.length);
const silu = (x) => x / (1 + Math.exp(-x));
const geluTanh = (x) => 0.5 * x * (1 + Math.tanh(Math.sqrt(2 / Math.PI) * (x + 0.044715 * x ** 3)));
/** x Phi(x). */
export const gelu = (x) => (x / 2) * (1 + erf(x / Math.SQRT2));

function softmax(scores) {
  const largest = Math.max(...scores);
  const e = scores.map((x) => Math.exp(x - largest));
  const total = e.reduce((sum, x) => sum + x);
  return e.map((x) => x / total);
}

/** Weights by their names: rows of a matrix, a product, a norm. */
function reader(weights) {
  const has = (name) => name in weights;
  const vector = (name) => Array.from(weights[name].data);
  const row = (name, i) => {
    const [, columns] = weights[name].shape;
    return Array.from(weights[name].data.subarray(i * columns, (i + 1) * columns));
  };
  const rows = (name) => Array.from({ length: weights[name].shape[0] }, (_, i) => row(name, i));
  const biased = (name, x) => (has(`${name}.bias`) ? add(x, vector(`${name}.bias`)) : x);
  return {
    has,
    vector,
    row,
    linear: (name, x) =>
      biased(
        name,
        rows(`${name}.weight`).map((r) => dot(r, x)),
      ),
    /** RMSNorm, or LayerNorm where there is a bias; epsilon 1e-5. */
    norm(name, x) {
      const layer = has(`${name}.bias`);
      const mean = layer ? x.reduce((sum, value) => sum + value) / x.length : 0;
      const centred = x.map((value) => value - mean);
      const factor = 1 / Math.sqrt(dot(centred, centred) / x.length + 1e-5);
      const gamma = vector(`${name}.weight`);
      return biased(
        name,
        centred.map((value, i) => value * factor * gamma[i]),
      );
    },
  };
}

/** Turns pairs of a head: neighbours (Su et al. 2021, as GGUF stores Llama), or the halves of the turned part (GPT-NeoX). */
function rotate(x, position, { base, width, neighbours = false, factors }) {
  const y = [...x];
  for (let i = 0; i < width / 2; i += 1) {
    const angle = (position * base ** ((-2 * i) / width)) / (factors?.[i] ?? 1);
    const [a, b] = neighbours ? [2 * i, 2 * i + 1] : [i, i + width / 2];
    y[a] = x[a] * Math.cos(angle) - x[b] * Math.sin(angle);
    y[b] = x[a] * Math.sin(angle) + x[b] * Math.cos(angle);
  }
  return y;
}

const split = (x, heads) =>
  Array.from({ length: heads }, (_, h) =>
    x.slice((h * x.length) / heads, ((h + 1) * x.length) / heads),
  );

/** What the families differ in, beside which tensors they have. */
const kinds = {
  llama: { rotary: { base: 10000, width: 16, neighbours: true }, activation: silu },
  llama3: { rotary: { base: 500000, width: 16, neighbours: true }, activation: silu },
  qwen2: { rotary: { base: 1000000, width: 16 }, activation: silu },
  qwen3: { rotary: { base: 1000000, width: 24 }, activation: silu },
  gemma: { rotary: { base: 10000, width: 24 }, activation: geluTanh, scaledEmbedding: true },
  gemma2: {
    ...{ rotary: { base: 10000, width: 24 }, activation: geluTanh, scaledEmbedding: true },
    // Of tokens that a query reads, itself among them, in every other layer, from the first on.
    ...{ attentionCap: 5, logitCap: 3, window: (layer) => (layer % 2 === 0 ? 4 : Infinity) },
  },
  gpt2: { activation: geluTanh },
  gptneox: { rotary: { base: 10000, width: 4 }, activation: geluTanh, parallel: true },
  bert_mean: { activation: geluTanh, post: true, pool: mean },
  bert_cls: { activation: geluTanh, post: true, pool: ([first]) => first },
};

/** Queries, keys and values of a token, in heads. */
function project(w, at, x, { heads, kvHeads }) {
  const counts = [heads, kvHeads, kvHeads];
  const parts = w.has(`${at}attn_qkv.weight`)
    ? split(w.linear(`${at}attn_qkv`, x), 3)
    : ['q', 'k', 'v'].map((which) => w.linear(`${at}attn_${which}`, x));
  return parts.map((part, i) => split(part, counts[i]));
}

/** One layer's attention over all rows. */
function attend(w, at, rows, { kind, sizes, layer }) {
  const factors = w.has('rope_freqs.weight') ? w.vector('rope_freqs.weight') : undefined;
  const turn = (name) => (x, position) => {
    const head = w.has(`${at}${name}.weight`) ? w.norm(`${at}${name}`, x) : x;
    return kind.rotary ? rotate(head, position, { factors, ...kind.rotary }) : head;
  };
  const all = rows.map((x, t) => {
    const [q, k, v] = project(w, at, x, sizes);
    return {
      q: q.map((head) => turn('attn_q_norm')(head, t)),
      k: k.map((head) => turn('attn_k_norm')(head, t)),
      v,
    };
  });
  const window = kind.window?.(layer) ?? Infinity;
  const group = sizes.heads / sizes.kvHeads;
  return all.map(({ q }, t) => {
    const read = all.filter((_, s) => kind.post || (s <= t && t - s < window));
    const heads = q.map((head, h) => {
      const of = Math.floor(h / group);
      const scores = read.map(({ k }) =>
        softcap(dot(head, k[of]) / Math.sqrt(head.length), kind.attentionCap),
      );
      return softmax(scores).reduce(
        (sum, p, s) => add(sum, scaled(read[s].v[of], p)),
        head.map(() => 0),
      );
    });
    return w.linear(`${at}attn_output`, heads.flat());
  });
}

function feedForward(w, at, x, { activation }) {
  const up = w.linear(`${at}ffn_up`, x);
  const gated = w.has(`${at}ffn_gate.weight`);
  const gate = gated ? w.linear(`${at}ffn_gate`, x).map(activation) : up.map(activation);
  return w.linear(`${at}ffn_down`, gated ? gate.map((g, i) => g * up[i]) : gate);
}

function block(w, at, rows, about) {
  const { kind } = about;
  const after = (name, x) => (w.has(`${at}${name}.weight`) ? w.norm(`${at}${name}`, x) : x);
  const before = (name, x) => (kind.post ? x : w.norm(`${at}${name}`, x));
  const attended = attend(
    w,
    at,
    rows.map((x) => before('attn_norm', x)),
    about,
  );
  return rows.map((x, t) => {
    const heard = after('post_attention_norm', attended[t]);
    const h = after('attn_output_norm', add(x, heard));
    const fed = feedForward(w, at, before('ffn_norm', kind.parallel ? x : h), kind);
    return after('layer_output_norm', add(h, after('post_ffw_norm', fed)));
  });
}

/** The logits of every token, or, of an encoder, the row it makes of all: a list of rows; `changed` replaces what kinds say. */
export function forward(family, { weights, tokens, sizes, changed = {} }) {
  const kind = { ...kinds[family], ...changed };
  const w = reader(weights);
  let rows = tokens.map((id, t) => {
    let x = w.row('token_embd.weight', id);
    if (kind.scaledEmbedding) x = scaled(x, Math.sqrt(sizes.dModel));
    if (w.has('token_types.weight')) x = add(x, w.row('token_types.weight', 0));
    if (w.has('position_embd.weight')) x = add(x, w.row('position_embd.weight', t));
    return w.has('token_embd_norm.weight') ? w.norm('token_embd_norm', x) : x;
  });
  for (let layer = 0; layer < sizes.layers; layer += 1) {
    rows = block(w, `blk.${layer}.`, rows, { kind, sizes, layer });
  }
  if (kind.pool) return [kind.pool(rows)];
  const head = w.has('output.weight') ? 'output' : 'token_embd';
  return rows.map((x) =>
    w.linear(head, w.norm('output_norm', x)).map((y) => softcap(y, kind.logitCap)),
  );
}
