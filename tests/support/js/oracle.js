// What attention, the layer and the encodings should give: their formulas in float64, one plain loop after another,
// and how far float32 may be from that. The bounds are those of the documentation (wasm/src/api/types.ts for the output,
// core/include/qkv/attention.hpp and multi_head_attention.hpp for the rest).

/** Unit roundoff of float32. */
export const u = 2 ** -24;
const smallestNormal = 2 ** -126;

/**
 * The error function: 2 / sqrt(pi) exp(-x^2) sum_n 2^n x^(2n+1) / (2n+1)!!, whose terms have one sign, so that nothing cancels. From 6
 * on it is 1 to 2e-17.
 */
export function erf(x) {
  if (Math.abs(x) > 6) return Math.sign(x);
  let [sum, term] = [0, x];
  for (let n = 0; Math.abs(term) > 1e-17 * Math.abs(sum); ++n) {
    sum += term;
    term *= (2 * x * x) / (2 * n + 3);
  }
  return (2 / Math.sqrt(Math.PI)) * Math.exp(-x * x) * sum;
}

/** Heads of [B, H, T, d], [B, T, H*d] or [T, H*d] seen as (b, h, t) -> index of the first of d. */
export function headsOf({ data, shape }, heads) {
  if (shape.length === 4) {
    const [batch, own, tokens, width] = shape;
    return {
      data,
      batch,
      heads: own,
      tokens,
      width,
      at: (b, h, t) => ((b * own + h) * tokens + t) * width,
    };
  }
  const [batch, tokens, columns] = shape.length === 3 ? shape : [1, ...shape];
  const width = columns / heads;
  return {
    data,
    batch,
    heads,
    tokens,
    width,
    at: (b, h, t) => (b * tokens + t) * columns + h * width,
  };
}

/** Element (b, h, i, j) of a mask that broadcasts right-aligned. */
function maskAt({ data, shape }, position) {
  let index = 0;
  shape.forEach((extent, axis) => {
    index = index * extent + (extent === 1 ? 0 : position[4 - shape.length + axis]);
  });
  return data[index];
}

/** What a mask or bias adds to a score; -Infinity excludes. */
function maskTerm(mask, position) {
  if (!mask) return 0;
  const value = maskAt(mask, position);
  return mask.data instanceof Uint8Array ? (value === 0 ? -Infinity : 0) : value;
}

/** The offset of a batch row. */
const offsetOf = ({ causalOffset = 0 }, b) =>
  typeof causalOffset === 'number' ? causalOffset : causalOffset[b];

/** The terms that are added to the score of key j; undefined where the query may not read it. */
function termsAt({ causal, window: [left, right] = [-1, -1], ...options }, [b, h, i, j]) {
  const distance = i + offsetOf(options, b) - j;
  const { mask, bias, keyLengths } = options;
  const isBefore = (causal && distance < 0) || (right >= 0 && -distance > right);
  if (isBefore || (left >= 0 && distance > left) || (keyLengths && j >= keyLengths[b]))
    return undefined;
  const ofBias = {
    alibi: () => -bias.slopes[h] * Math.abs(distance),
    distance: () => bias.of(h, -distance),
  }[bias?.kind];
  const terms = [maskTerm(mask, [b, h, i, j]), ofBias ? ofBias() : maskTerm(bias, [b, h, i, j])];
  return terms.includes(-Infinity) ? undefined : terms;
}

/**
 * One query row: its weights, output, log-sum-exp and entropy, and the sizes that bounds are made of:
 * A, the largest sum of |scale q_d k_d| + |mask| + |bias| over temperature, and V, the largest |v|. `kept(b, h, i, j)` is what dropout multiplies a weight by.
 */
export function attentionRow(problem, b, h, i) {
  const { q, k, v, options = {}, kept = () => 1, change = () => {} } = problem;
  const kv = Math.floor(h / (q.heads / k.heads));
  const { scale = 1 / Math.sqrt(q.width), temperature = 1, softcap = 0, sinks } = options;
  const scores = new Float64Array(k.tokens).fill(-Infinity);
  /** Keys that are not excluded, which `change` may change. */
  const open = new Set();
  let [A, V, most] = [0, 0, -Infinity];
  for (let j = 0; j < k.tokens; ++j) {
    const terms = termsAt(options, [b, h, i, j]);
    if (!terms) continue;
    open.add(j);
    let [dot, size] = [0, 0];
    for (let d = 0; d < q.width; ++d) {
      const product = q.data[q.at(b, h, i) + d] * k.data[k.at(b, kv, j) + d];
      dot += product;
      size += Math.abs(product);
    }
    const capped = softcap > 0 ? softcap * Math.tanh((scale * dot) / softcap) : scale * dot;
    scores[j] = (capped + terms[0] + terms[1]) / temperature;
    most = Math.max(most, scores[j]);
    const added = Math.abs(terms[0]) + Math.abs(terms[1]);
    A = Math.max(A, (Math.abs(scale) * size + added) / temperature);
  }
  const isOpen = (j) => open.has(j);
  change('scores', [b, h, i], scores, isOpen);
  most = scores.reduce((a, s) => Math.max(a, s), -Infinity);
  const weights = new Float64Array(k.tokens);
  const out = new Float64Array(v.width);
  if (most === -Infinity) return { weights, out, lse: -Infinity, entropy: 0, A, V, allowed: 0 };
  const sink = sinks?.[h] ?? -Infinity;
  if (sinks) A = Math.max(A, Math.abs(sink));
  most = Math.max(most, sink);
  const sum = scores.reduce((total, s) => total + Math.exp(s - most), Math.exp(sink - most));
  let [entropy, allowed] = [0, 0];
  scores.forEach((s, j) => {
    if (s === -Infinity) return;
    allowed += 1;
    weights[j] = Math.exp(s - most) / sum;
    if (weights[j] > 0) entropy -= weights[j] * (s - most - Math.log(sum));
  });
  change('weights', [b, h, i], weights, isOpen);
  scores.forEach((s, j) => {
    if (!isOpen(j)) return;
    for (let d = 0; d < v.width; ++d) {
      const value = v.data[v.at(b, kv, j) + d];
      out[d] += weights[j] * kept(b, h, i, j) * value;
      V = Math.max(V, Math.abs(value));
    }
  });
  return { weights, out, lse: most + Math.log(sum), entropy, A, V, allowed };
}

/** How far the row may be from exact arithmetic. A row without keys is exact. */
export function rowBounds({ A, V, allowed }, dK, tk) {
  const on = allowed > 0 ? u : 0;
  const dots = (dK + 16) * A;
  return {
    output: on * V * (2 * dots + 3 * tk + 40),
    weight: (w) => (w > 0 ? w * Math.expm1(u * (2 * dots + tk + 40)) + smallestNormal : 0),
    lse: (exact) => (on ? u * (dots + tk + 40 + Math.abs(exact)) : 0),
    entropy: on * (2 * dots + 2 * tk + 80) * (Math.log(tk) + 2),
  };
}

const pair = (length) => ({ data: new Float64Array(length), bound: new Float64Array(length) });

/**
 * attention(q, k, v, options), each result as { data, bound }. The output is laid out as the query is;
 * weights are those of `rows`.
 */
export function attention(qArray, kArray, vArray, options = {}) {
  const { numHeads, numKvHeads = numHeads } = options;
  const q = headsOf(qArray, numHeads);
  const problem = { q, k: headsOf(kArray, numKvHeads), v: headsOf(vArray, numKvHeads), options };
  const { tokens: tk } = problem.k;
  const dV = problem.v.width;
  const [begin, end] = options.rows ?? [0, q.tokens];
  const vectors = q.batch * q.heads;
  const result = {
    output: pair(vectors * q.tokens * dV),
    weights: pair(vectors * (end - begin) * tk),
    lse: pair(vectors * q.tokens),
    entropy: pair(vectors * q.tokens),
  };
  const outShape = [...qArray.shape.slice(0, -1), qArray.shape.length === 4 ? dV : q.heads * dV];
  const out = headsOf({ data: null, shape: outShape }, q.heads);
  for (let b = 0; b < q.batch; ++b) {
    for (let h = 0; h < q.heads; ++h) {
      for (let i = 0; i < q.tokens; ++i) {
        const row = attentionRow(problem, b, h, i);
        const bounds = rowBounds(row, q.width, tk);
        result.output.data.set(row.out, out.at(b, h, i));
        result.output.bound.fill(bounds.output, out.at(b, h, i), out.at(b, h, i) + dV);
        const vector = b * q.heads + h;
        result.lse.data[vector * q.tokens + i] = row.lse;
        result.lse.bound[vector * q.tokens + i] = bounds.lse(row.lse);
        result.entropy.data[vector * q.tokens + i] = row.entropy;
        result.entropy.bound[vector * q.tokens + i] = bounds.entropy;
        if (i < begin || i >= end) continue;
        const at = (vector * (end - begin) + i - begin) * tk;
        result.weights.data.set(row.weights, at);
        result.weights.bound.set(row.weights.map(bounds.weight), at);
      }
    }
  }
  return result;
}

/**
 * y = x W + b for rows of x, with W as [in, out], and how far float32 may be from it when x is off by
 * `xBound`: that error goes through W, and rounding adds u (in + 2) (sum |x'| |W| + |b|).
 */
export function linear(x, xBound, { data: w, shape: [inner, outer] }, bias) {
  const rows = x.length / inner;
  const y = { data: new Float64Array(rows * outer), bound: new Float64Array(rows * outer) };
  for (let r = 0; r < rows; ++r) {
    for (let o = 0; o < outer; ++o) {
      let value = bias?.[o] ?? 0;
      let size = Math.abs(value);
      let passed = 0;
      for (let i = 0; i < inner; ++i) {
        const weight = w[i * outer + o];
        const off = xBound?.[r * inner + i] ?? 0;
        value += x[r * inner + i] * weight;
        size += (Math.abs(x[r * inner + i]) + off) * Math.abs(weight);
        passed += off * Math.abs(weight);
      }
      y.data[r * outer + o] = value;
      y.bound[r * outer + o] = passed + u * (inner + 2) * size;
    }
  }
  return y;
}

/** [out, in] as [in, out]. */
export function transposed({ data, shape: [rows, columns] }) {
  const result = new Float32Array(data.length);
  data.forEach((value, at) => (result[(at % columns) * rows + Math.floor(at / columns)] = value));
  return { data: result, shape: [columns, rows] };
}

/** Largest of sum_d |q_d| ek_d + eq_d |k_d| + eq_d ek_d over the keys the row gives weight to. */
function scoreShift({ q, k, eq, ek, weights }, b, h, i) {
  const kv = Math.floor(h / (q.heads / k.heads));
  let most = 0;
  for (let j = 0; j < k.tokens; ++j) {
    if (weights[j] === 0) continue;
    let shift = 0;
    for (let d = 0; d < q.width; ++d) {
      const [atQ, atK] = [q.at(b, h, i) + d, k.at(b, kv, j) + d];
      shift +=
        Math.abs(q.data[atQ]) * ek[atK] + eq[atQ] * Math.abs(k.data[atK]) + eq[atQ] * ek[atK];
    }
    most = Math.max(most, shift);
  }
  return most;
}

/**
 * The layer's results as { data, bound }: output, weights, lse and entropy.
 *
 * The projections are off by eq, ek and ev. attention() is then within its own bound of the attention of
 * what it was given, whose scores are off by at most D = |scale| scoreShift / temperature. A softmax whose
 * scores move by D keeps every weight within a factor of exp(2 D), so with r = exp(2 D) - 1 the output
 * moves by at most max ev + r V, a weight p by r p, lse by D, entropy by r H + 2 D. The kernel's own
 * bounds are taken at A + D and V + max ev.
 *
 * @param {object} given config with every size, weights as [in, out], x, context (x itself for
 *   self-attention) as [B, T, width], options.
 */
export function layer({ config, weights: w, x, context = x, options = {} }) {
  const { numHeads, numKvHeads = numHeads } = config;
  const [batch, tq] = x.shape;
  const tk = context.shape[1];
  const projected = {
    q: linear(x.data, null, w.wq, w.bq),
    k: linear(context.data, null, w.wk, w.bk),
    v: linear(context.data, null, w.wv, w.bv),
  };
  const heads = ({ data }, tokens, count) =>
    headsOf({ data, shape: [batch, tokens, data.length / (batch * tokens)] }, count);
  const q = heads(projected.q, tq, numHeads);
  const k = heads(projected.k, tk, numKvHeads);
  const v = heads(projected.v, tk, numKvHeads);
  const evMost = projected.v.bound.reduce((most, e) => Math.max(most, e), 0);
  const { scale = 1 / Math.sqrt(q.width), temperature = 1 } = options;

  const wide = { data: new Float64Array(batch * tq * numHeads * v.width) };
  wide.bound = new Float64Array(wide.data.length);
  const o = headsOf({ data: wide.data, shape: [batch, tq, numHeads * v.width] }, numHeads);
  const extras = { weights: [], lse: [], entropy: [] };
  const push = (name, value, bound) => extras[name].push({ value, bound });
  for (let b = 0; b < batch; ++b) {
    for (let h = 0; h < numHeads; ++h) {
      for (let i = 0; i < tq; ++i) {
        const row = attentionRow({ q, k, v, options }, b, h, i);
        const parts = { q, k, eq: projected.q.bound, ek: projected.k.bound, weights: row.weights };
        const shift = (Math.abs(scale) * scoreShift(parts, b, h, i)) / temperature;
        const ratio = Math.expm1(2 * shift);
        const near = { ...row, A: row.A + shift, V: row.V + evMost };
        const kernel = rowBounds(near, q.width, tk);
        const some = Number(row.allowed > 0);
        const at = o.at(b, h, i);
        wide.data.set(row.out, at);
        wide.bound.fill(some * (evMost + ratio * row.V) + kernel.output, at, at + v.width);
        row.weights.forEach((p) => push('weights', p, ratio * p + kernel.weight((1 + ratio) * p)));
        push('lse', row.lse, shift + kernel.lse(Math.abs(row.lse) + shift));
        push('entropy', row.entropy, some * (ratio * row.entropy + 2 * shift) + kernel.entropy);
      }
    }
  }
  const split = (list) => ({ data: list.map((e) => e.value), bound: list.map((e) => e.bound) });
  return {
    output: linear(wide.data, wide.bound, w.wo, w.bo),
    weights: split(extras.weights),
    lse: split(extras.lse),
    entropy: split(extras.entropy),
  };
}

/** Element (p, column) of the sinusoidal encoding; `column` counts within a row of dModel. */
export function sinusoid(p, column, dModel, { base = 10000, layout = 'interleaved' } = {}) {
  const sines = Math.ceil(dModel / 2);
  const interleaved = layout === 'interleaved';
  const i = interleaved ? Math.floor(column / 2) : column % sines;
  const angle = p * base ** ((-2 * i) / dModel);
  const sine = interleaved ? column % 2 === 0 : column < sines;
  return sine ? Math.sin(angle) : Math.cos(angle);
}
