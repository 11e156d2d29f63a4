// What gradients should be: the formulas of wasm/src/api/train-types.ts in float64, one plain loop after another, and how
// far float32 may be from them, each as { data, bound }. tests/package/train/gradients.test.js holds them to central
// differences of the forward functions, which are here and in oracle.js.
import { sizeOf } from './arrays.js';
import * as forward from './oracle.js';
import { attentionRow, erf, headsOf, u } from './oracle.js';

const pair = (length) => ({ data: new Float64Array(length), bound: new Float64Array(length) });

/** Where element (b, h, i, j) of the scores counts in an array that is broadcast to them. */
function broadcastIndex(shape, position) {
  return shape.reduce(
    (index, extent, axis) =>
      index * extent + (extent === 1 ? 0 : position[4 - shape.length + axis]),
    0,
  );
}

/** The weights that dropout leaves, as what each is multiplied by: from those that a call has returned. */
export function keptBy(weights, { rate = 0 } = {}) {
  const [, heads, tq, tk] = weights.shape;
  return (b, h, i, j) =>
    weights.data[((b * heads + h) * tq + i) * tk + j] > 0 ? 1 / (1 - rate) : 0;
}

/** Gradients of attention, laid out as the arrays are. A dropout comes as `kept`. */
export function attentionGradients({ q: qArray, k: kArray, v: vArray, dOutput }, options, kept) {
  const { numHeads, numKvHeads = numHeads, dropout: { rate = 0 } = {} } = options;
  const q = headsOf(qArray, numHeads);
  const [k, v] = [headsOf(kArray, numKvHeads), headsOf(vArray, numKvHeads)];
  const from = headsOf(dOutput, numHeads);
  const { scale = 1 / Math.sqrt(q.width), temperature: tau = 1, bias, sinks } = options;
  const biasShape = bias?.shape ?? [0];
  const to = {
    dq: pair(qArray.data.length),
    dk: pair(kArray.data.length),
    dv: pair(vArray.data.length),
    dBias: pair(sizeOf(biasShape)),
    dSinks: pair(sinks?.length ?? 0),
  };
  const add = ({ data, bound }, at, value, size) => {
    data[at] += value;
    bound[at] += size;
  };
  const group = q.heads / k.heads;
  for (let b = 0; b < q.batch; ++b) {
    for (let h = 0; h < q.heads; ++h) {
      for (let i = 0; i < q.tokens; ++i) {
        const row = attentionRow({ q, k, v, options, kept }, b, h, i);
        const kv = Math.floor(h / group);
        const e = u * (4 * (q.width + 20) * row.A + 2 * v.width + 5 * k.tokens + 200);
        const dO = dOutput.data.slice(from.at(b, h, i), from.at(b, h, i) + v.width);
        const sizeOfRow = (dO.reduce((sum, x) => sum + Math.abs(x), 0) * row.V) / (1 - rate);
        // D is sum_j P M (dO . v), which is dO . out.
        const D = dO.reduce((sum, x, dv) => sum + x * row.out[dv], 0);
        row.weights.forEach((p, j) => {
          if (p === 0) return;
          const m = kept?.(b, h, i, j) ?? 1;
          let [dP, size] = [0, 0];
          dO.forEach((x, dv) => {
            const product = x * v.data[v.at(b, kv, j) + dv];
            dP += product;
            size += Math.abs(product);
          });
          const dS = (p * (m * dP - D)) / tau;
          const n = (p * (size + sizeOfRow)) / (1 - rate) / tau;
          const through = dS * row.slopes[j];
          for (let c = 0; c < q.width; ++c) {
            const [atQ, atK] = [q.at(b, h, i) + c, k.at(b, kv, j) + c];
            const [ofQ, ofK] = [q.data[atQ], k.data[atK]];
            add(to.dq, atQ, scale * through * ofK, Math.abs(scale * ofK) * n * (e + u * k.tokens));
            const terms = e + u * q.tokens * group;
            add(to.dk, atK, scale * through * ofQ, Math.abs(scale * ofQ) * n * terms);
          }
          dO.forEach((x, dv) => {
            const terms = e + u * q.tokens * group;
            add(to.dv, v.at(b, kv, j) + dv, p * m * x, ((p * Math.abs(x)) / (1 - rate)) * terms);
          });
          if (!bias?.shape) return;
          const summed = (q.batch * q.heads * q.tokens * k.tokens) / sizeOf(biasShape);
          add(to.dBias, broadcastIndex(biasShape, [b, h, i, j]), dS, n * (e + u * summed));
        });
        if (sinks && row.allowed > 0) {
          const terms = e + u * q.batch * q.tokens;
          add(to.dSinks, h, -row.sink * D, row.sink * sizeOfRow * terms);
        }
      }
    }
  }
  return to;
}

/** y = x W + b; w is [in, out]. */
export const linear = ({ x, w, b }, shape) => forward.linear(x, null, { data: w, shape }, b).data;

export function linearGradients({ x, w }, dy, [inner, outer]) {
  const rows = x.length / inner;
  const to = { x: pair(x.length), w: pair(w.length), b: pair(outer) };
  const add = ({ data, bound }, at, value, factor) => {
    data[at] += value;
    bound[at] += factor * Math.abs(value);
  };
  for (let r = 0; r < rows; ++r) {
    for (let o = 0; o < outer; ++o) {
      const d = dy[r * outer + o];
      add(to.b, o, d, u * 2 ** -20);
      for (let i = 0; i < inner; ++i) {
        add(to.x, r * inner + i, d * w[i * outer + o], u * (outer + 2));
        add(to.w, i * outer + o, d * x[r * inner + i], u * (rows + 2));
      }
    }
  }
  to.b.bound = to.b.bound.map((bound, o) => bound + u * Math.abs(to.b.data[o]));
  return to;
}

/** The rows of an array along an axis: where the elements of each are. */
export function rowsAlong(shape, axis) {
  const [n, inner] = [shape[axis], sizeOf(shape.slice(axis + 1))];
  const rows = sizeOf(shape) / n;
  return Array.from({ length: rows }, (_, row) => {
    const first = Math.floor(row / inner) * n * inner + (row % inner);
    return Array.from({ length: n }, (_, i) => first + i * inner);
  });
}

export function softmax(x, { shape, axis, temperature = 1 }) {
  const y = new Float64Array(x.length);
  for (const row of rowsAlong(shape, axis)) {
    const most = Math.max(...row.map((at) => x[at]));
    const sum = row.reduce((total, at) => total + Math.exp((x[at] - most) / temperature), 0);
    for (const at of row) y[at] = Math.exp((x[at] - most) / temperature) / sum;
  }
  return y;
}

/** From y as it is given, not from x. */
export function softmaxGradient(y, dy, { shape, axis, temperature = 1 }) {
  const dx = pair(y.length);
  for (const row of rowsAlong(shape, axis)) {
    const sum = row.reduce((total, at) => total + y[at] * dy[at], 0);
    const size = row.reduce((total, at) => total + y[at] * Math.abs(dy[at]), 0);
    for (const at of row) {
      dx.data[at] = (y[at] * (dy[at] - sum)) / temperature;
      dx.bound[at] = (4 * u * y[at] * (Math.abs(dy[at]) + size)) / temperature;
    }
  }
  return dx;
}

/** The mean and the divisor s of a row; RMS norm subtracts nothing. */
function statistics(row, centre, epsilon) {
  const mean = centre ? row.reduce((sum, x) => sum + x, 0) / row.length : 0;
  const variance = row.reduce((sum, x) => sum + (x - mean) ** 2, 0) / row.length;
  return { mean, s: Math.sqrt(variance + epsilon) };
}

/** Layer norm, or RMS norm without `centre`, of rows of gamma.length elements. */
export function norm({ x, gamma, beta }, { centre, epsilon }) {
  const n = gamma.length;
  const y = new Float64Array(x.length);
  for (let r = 0; r < x.length; r += n) {
    const { mean, s } = statistics(x.slice(r, r + n), centre, epsilon);
    for (let i = 0; i < n; ++i) y[r + i] = ((x[r + i] - mean) / s) * gamma[i] + (beta?.[i] ?? 0);
  }
  return y;
}

export function normGradients({ x, gamma }, dy, { centre, epsilon }) {
  const n = gamma.length;
  const rows = x.length / n;
  const to = { x: pair(x.length), gamma: pair(n), beta: pair(n) };
  for (let r = 0; r < x.length; r += n) {
    const { mean, s } = statistics(x.slice(r, r + n), centre, epsilon);
    const z = Array.from({ length: n }, (_, i) => (x[r + i] - mean) / s);
    const g = z.map((_, i) => dy[r + i] * gamma[i]);
    const average = (value) => z.reduce((sum, _, i) => sum + value(i), 0) / n;
    const ofG = centre ? average((i) => g[i]) : 0;
    const ofGz = average((i) => g[i] * z[i]);
    const [sizeG, sizeGz] = [average((i) => Math.abs(g[i])), Math.abs(ofGz)];
    const most = Math.max(...g.map(Math.abs));
    const q = (1 + (2 * u * Math.abs(mean)) / s) ** 2;
    for (let i = 0; i < n; ++i) {
      const size = Math.abs(z[i]);
      const G = Math.abs(g[i]) + sizeG + size * sizeGz;
      to.x.data[r + i] = (g[i] - ofG - z[i] * ofGz) / s;
      to.x.bound[r + i] = (u * (40 + 40 * size) * q * (G + (1 + size) * most)) / s;
      to.gamma.data[i] += dy[r + i] * z[i];
      to.gamma.bound[i] += u * Math.abs(dy[r + i]) * (26 + 26 * size + (64 + rows / 64) * size) * q;
      to.beta.data[i] += dy[r + i];
      to.beta.bound[i] += u * (66 + rows / 64) * Math.abs(dy[r + i]);
    }
  }
  return to;
}

const sigmoid = (x) => 1 / (1 + Math.exp(-x));
const phi = (x) => Math.exp((-x * x) / 2) / Math.sqrt(2 * Math.PI);
const cubic = (x) => 2 * Math.sqrt(2 / Math.PI) * (x + 0.044715 * x ** 3);
const cubicSlope = (x) => 2 * Math.sqrt(2 / Math.PI) * (1 + 3 * 0.044715 * x * x);

/** Activations with their derivatives. `near` is what the bound of the derivative has besides its size. */
export const activations = {
  relu: { f: (x) => Math.max(x, 0), slope: (x) => Number(x > 0) },
  gelu: {
    f: (x) => (x / 2) * (1 + erf(x / Math.SQRT2)),
    slope: (x) => (1 + erf(x / Math.SQRT2)) / 2 + x * phi(x),
  },
  gelu_tanh: {
    f: (x) => x * sigmoid(cubic(x)),
    slope: (x) => sigmoid(cubic(x)) * (1 + x * cubicSlope(x) * sigmoid(-cubic(x))),
  },
  silu: {
    f: (x) => x * sigmoid(x),
    slope: (x) => sigmoid(x) * (1 + x * sigmoid(-x)),
    near: (x) => Math.exp(-Math.abs(x) / 2),
  },
};

const slopeBound = ({ slope, near = (x) => Math.exp((-x * x) / 4) }, x) =>
  u * (6 + 2 * Math.abs(x)) * (Math.abs(slope(x)) + near(x));

export function activationGradient(kind, x, dy) {
  const of = activations[kind];
  return {
    data: x.map((value, i) => dy[i] * of.slope(value)),
    bound: x.map((value, i) => Math.abs(dy[i]) * slopeBound(of, value)),
  };
}

export function gateGradients(kind, { x, y }, dy) {
  const of = activations[kind];
  const dx = activationGradient(
    kind,
    x,
    dy.map((d, i) => d * y[i]),
  );
  const f = x.map(of.f);
  return {
    x: { data: dx.data, bound: dx.bound.map((bound, i) => bound + 2 * u * Math.abs(dx.data[i])) },
    y: {
      data: f.map((value, i) => dy[i] * value),
      bound: f.map((value, i) => u * Math.abs(dy[i] * value) * (24 + x[i] ** 2 / 2)),
    },
  };
}

/** Angles per position of the pairs of a rotation. */
function frequencies({ rotaryDim, base = 10000, scaling }) {
  return Array.from({ length: rotaryDim / 2 }, (_, i) => {
    const w = base ** ((-2 * i) / rotaryDim);
    if (!scaling) return w;
    if (scaling.type === 'linear') return w / scaling.factor;
    const { factor, lowFrequencyFactor: low = 1, highFrequencyFactor: high = 4 } = scaling;
    const turns = (scaling.originalLength * w) / (2 * Math.PI);
    const part = Math.min(1, Math.max(0, (turns - low) / (high - low)));
    return (1 - part) * (w / factor) + part * w;
  });
}

/** Rotations of [..., tokens, width] by positions; `sign` -1 is the transpose. */
export function rotate(x, { tokens, width, ...options }, sign = 1) {
  const { rotaryDim = width, offset = 0, positions, interleaved } = options;
  const turns = frequencies({ ...options, rotaryDim });
  const y = Float64Array.from(x);
  for (let row = 0; row * width < x.length; ++row) {
    const position = positions?.[row % tokens] ?? offset + (row % tokens);
    turns.forEach((w, c) => {
      const angle = sign * position * w;
      const pair = interleaved ? [2 * c, 2 * c + 1] : [c, rotaryDim / 2 + c];
      const [one, other] = pair.map((column) => row * width + column);
      y[one] = Math.cos(angle) * x[one] - Math.sin(angle) * x[other];
      y[other] = Math.sin(angle) * x[one] + Math.cos(angle) * x[other];
    });
  }
  return y;
}

/** The bound of a rotation, of the gradient too. */
export const rotationBound = (x, { width, rotaryDim = width }) =>
  Float64Array.from(x, (value, at) => {
    const column = at % width;
    if (column >= rotaryDim) return 0;
    const other = column < rotaryDim / 2 ? at + rotaryDim / 2 : at - rotaryDim / 2;
    return 3.1 * u * Math.hypot(value, x[other]);
  });

export const embedding = (table, ids, width) =>
  Float64Array.from({ length: ids.length * width }, (_, at) => {
    return table[ids[Math.floor(at / width)] * width + (at % width)];
  });

export function embeddingGradient(dy, ids, [vocabulary, width]) {
  const to = pair(vocabulary * width);
  ids.forEach((id, row) => {
    for (let d = 0; d < width; ++d) {
      const value = dy[row * width + d];
      to.data[id * width + d] += value;
      to.bound[id * width + d] += u * ids.length * Math.abs(value);
    }
  });
  return to;
}

/** The loss, its gradient and the two counts. */
export function crossEntropy(logits, targets, { ignoreIndex = -1, labelSmoothing = 0 } = {}) {
  const classes = logits.length / targets.length;
  const counted = targets.filter((target) => target !== ignoreIndex).length;
  const dLogits = pair(logits.length);
  let [loss, bound, correct] = [0, 0, 0];
  targets.forEach((target, r) => {
    if (target === ignoreIndex) return;
    const x = Array.from(logits.slice(r * classes, (r + 1) * classes));
    const most = Math.max(...x);
    correct += Number(x.indexOf(most) === target);
    const sum = x.reduce((total, value) => total + Math.exp(value - most), 0);
    bound += u * (3 * Math.log(classes) + 20 + Math.max(...x.map(Math.abs)) / 16);
    x.forEach((value, c) => {
      const q = (c === target ? 1 - labelSmoothing : 0) + labelSmoothing / classes;
      const p = Math.exp(value - most) / sum;
      loss -= q * (value - most - Math.log(sum));
      dLogits.data[r * classes + c] = (p - q) / counted;
      const ofP = p * (3 * (most - value + Math.log(classes)) + 30);
      dLogits.bound[r * classes + c] = (u * (ofP + 6 * q)) / counted + 2 ** -125;
    });
  });
  const mean = (sum) => (counted > 0 ? sum / counted : 0);
  return { loss: mean(loss), lossBound: mean(bound), correct, counted, dLogits };
}

/** One step of a GRU for one batch row: h, and the gates that its gradient is made of. */
function gruStep({ wx, wh, bx, bh }, x, h) {
  const n = h.length;
  const product = (from, weights, bias) =>
    Array.from({ length: 3 * n }, (_, c) =>
      from.reduce((sum, value, i) => sum + value * weights[i * 3 * n + c], bias[c]),
    );
  const [ofX, ofH] = [product(x, wx, bx), product(h, wh, bh)];
  const gate = (i, at) => sigmoid(ofX[at * n + i] + ofH[at * n + i]);
  return h.map((before, i) => {
    const [r, z, un] = [gate(i, 0), gate(i, 1), ofH[2 * n + i]];
    const candidate = Math.tanh(ofX[2 * n + i] + r * un);
    return { r, z, un, candidate, h: (1 - z) * candidate + z * before };
  });
}

/** [B, T, hidden]; arrays hold plain numbers, `sizes` is [batch, tokens, in, hidden]. */
export function gru({ x, h0, ...weights }, [batch, tokens, width, hidden]) {
  const out = new Float64Array(batch * tokens * hidden);
  for (let b = 0; b < batch; ++b) {
    let h = Array.from(h0.slice(b * hidden, (b + 1) * hidden));
    for (let t = 0; t < tokens; ++t) {
      const at = (b * tokens + t) * width;
      h = gruStep(weights, Array.from(x.slice(at, at + width)), h).map((unit) => unit.h);
      out.set(h, (b * tokens + t) * hidden);
    }
  }
  return out;
}

/** Back through all steps. Each adds its roundings to what the steps after it have handed on. */
export function gruGradients({ x, h0, ...weights }, dOut, sizes) {
  const [batch, tokens, width, hidden] = sizes;
  const out = gru({ x, h0, ...weights }, sizes);
  const to = { x: pair(x.length), h0: pair(h0.length) };
  for (const [name, array] of Object.entries(weights)) to[name] = pair(array.length);
  const gates = 3 * hidden;
  for (let b = 0; b < batch; ++b) {
    let carry = Array(hidden).fill(0);
    for (let t = tokens - 1; t >= 0; --t) {
      const row = b * tokens + t;
      const own = Array.from(x.slice(row * width, (row + 1) * width));
      const before = Array.from(
        t > 0
          ? out.slice((row - 1) * hidden, row * hidden)
          : h0.slice(b * hidden, (b + 1) * hidden),
      );
      const next = Array(hidden).fill(0);
      gruStep(weights, own, before).forEach(({ r, z, un, candidate }, i) => {
        const d = carry[i] + dOut[row * hidden + i];
        const dn = d * (1 - z) * (1 - candidate * candidate);
        const ofX = [dn * un * r * (1 - r), d * (before[i] - candidate) * z * (1 - z), dn];
        const ofH = [ofX[0], ofX[1], dn * r];
        next[i] += d * z;
        for (let gate = 0; gate < 3; ++gate) {
          const c = gate * hidden + i;
          to.bx.data[c] += ofX[gate];
          to.bh.data[c] += ofH[gate];
          own.forEach((value, e) => {
            to.wx.data[e * gates + c] += value * ofX[gate];
            to.x.data[row * width + e] += weights.wx[e * gates + c] * ofX[gate];
          });
          before.forEach((value, e) => {
            to.wh.data[e * gates + c] += value * ofH[gate];
            next[e] += weights.wh[e * gates + c] * ofH[gate];
          });
        }
      });
      carry = next;
    }
    to.h0.data.set(carry, b * hidden);
  }
  for (const { data, bound } of Object.values(to)) {
    const most = data.reduce((largest, value) => Math.max(largest, Math.abs(value)), 0);
    bound.fill(u * most * (tokens * (width + hidden + 20) + batch));
  }
  return to;
}
