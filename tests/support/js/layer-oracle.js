// The multi-head attention layer in float64, and how far float32 may be from it.
import { attentionRow, headsOf, rowBounds, u } from './oracle.js';

/**
 * y = x W + b for rows of x, with W as [in, out], and how far float32 may be from it when x is off by
 * `xBound`: that error goes through W, and rounding adds u (in + 2) (sum |x'| |W| + |b|).
 */
function linear(x, xBound, { data: w, shape: [inner, outer] }, bias) {
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
