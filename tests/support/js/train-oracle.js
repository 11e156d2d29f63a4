// Functions with gradients, beside attention, in float64, one plain loop after another. The gradients themselves are central
// differences of these and of oracle.js (tests/package/train/gradients.test.js).
import { sizeOf } from './arrays.js';
import * as forward from './oracle.js';
import { erf, u } from './oracle.js';

/** The weights that dropout leaves, as what each is multiplied by: from those that a call has returned. */
export function keptBy(weights, { rate = 0 } = {}) {
  const [, heads, tq, tk] = weights.shape;
  return (b, h, i, j) =>
    weights.data[((b * heads + h) * tq + i) * tk + j] > 0 ? 1 / (1 - rate) : 0;
}

/** y = x W + b; w is [in, out]. */
export const linear = ({ x, w, b }, shape) => forward.linear(x, null, { data: w, shape }, b).data;

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

const sigmoid = (x) => 1 / (1 + Math.exp(-x));
const cubic = (x) => 2 * Math.sqrt(2 / Math.PI) * (x + 0.044715 * x ** 3);
/** Activations by their names. */
export const activations = {
  relu: (x) => Math.max(x, 0),
  gelu: (x) => (x / 2) * (1 + erf(x / Math.SQRT2)),
  gelu_tanh: (x) => x * sigmoid(cubic(x)),
  silu: (x) => x * sigmoid(x),
  relu2: (x) => Math.max(x, 0) ** 2,
};

/** Angles per position of the pairs of a rotation. */
function frequencies({ rotaryDim, base = 10000, scaling }) {
  return Array.from({ length: rotaryDim / 2 }, (_, i) => {
    const w = base ** ((-2 * i) / rotaryDim);
    if (!scaling) return w;
    if (scaling.type === 'linear') return w / scaling.factor;
    if (scaling.type === 'factors') return w / Math.fround(scaling.factors[i]);
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
  const size = options.scaling?.attentionFactor ?? 1;
  const y = Float64Array.from(x);
  for (let row = 0; row * width < x.length; ++row) {
    const position = positions?.[row % tokens] ?? offset + (row % tokens);
    turns.forEach((w, c) => {
      const angle = sign * position * w;
      const pair = interleaved ? [2 * c, 2 * c + 1] : [c, rotaryDim / 2 + c];
      const [one, other] = pair.map((column) => row * width + column);
      y[one] = size * (Math.cos(angle) * x[one] - Math.sin(angle) * x[other]);
      y[other] = size * (Math.sin(angle) * x[one] + Math.cos(angle) * x[other]);
    });
  }
  return y;
}

export const embedding = (table, ids, width) =>
  Float64Array.from({ length: ids.length * width }, (_, at) => {
    return table[ids[Math.floor(at / width)] * width + (at % width)];
  });

/** The loss and the two counts. */
export function crossEntropy(logits, targets, { ignoreIndex = -1, labelSmoothing = 0 } = {}) {
  const classes = logits.length / targets.length;
  const counted = targets.filter((target) => target !== ignoreIndex).length;
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
      loss -= q * (value - most - Math.log(sum));
    });
  });
  const mean = (sum) => (counted > 0 ? sum / counted : 0);
  return { loss: mean(loss), lossBound: mean(bound), correct, counted };
}

/** One step of a GRU for one batch row. */
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
    return (1 - z) * candidate + z * before;
  });
}

/** [B, T, hidden]; arrays hold plain numbers, `sizes` is [batch, tokens, in, hidden]. */
export function gru({ x, h0, ...weights }, [batch, tokens, width, hidden]) {
  const out = new Float64Array(batch * tokens * hidden);
  for (let b = 0; b < batch; ++b) {
    let h = Array.from(h0.slice(b * hidden, (b + 1) * hidden));
    for (let t = 0; t < tokens; ++t) {
      const at = (b * tokens + t) * width;
      h = gruStep(weights, Array.from(x.slice(at, at + width)), h);
      out.set(h, (b * tokens + t) * hidden);
    }
  }
  return out;
}
