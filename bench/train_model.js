// The training step that is timed: a causal language model, pre-norm, with learned positions and biases, Adam without
// decay and clipping. Its sizes, its arrays, and its forward pass for libraries that have no such model of their own.
import { random } from './random.js';

const sizes = { layers: 2, model: 64, heads: 4, tokens: 32, batch: 32, vocabulary: 64 };

/** Losses of so many steps from the same weights are compared. */
export const COMPARED = 3;
export const adam = { rate: 1e-3, beta1: 0.9, beta2: 0.999, epsilon: 1e-8 };

/** A step with feed-forward layers of this width, 0 for none. */
export function trainStep(name, hidden) {
  const { layers, model, tokens, batch, vocabulary } = sizes;
  const weights = layers * (4 * model * model + 2 * model * hidden) + vocabulary * model;
  const products = 2 * batch * tokens * weights;
  const attention = 4 * layers * batch * model * ((tokens * (tokens + 1)) / 2);
  return {
    ...{ name, op: 'train', hidden, ...sizes },
    // Backward does every product twice: for the inputs and for the weights.
    flops: 3 * (products + attention),
    bytes: 0,
    tolerance: 1e-5,
  };
}

/** The shapes of the arrays, by the names that this library has for them. */
function shapesOf({ layers, model, hidden, tokens, vocabulary }) {
  const norm = (name) => ({ [`${name}.gamma`]: [model], [`${name}.beta`]: [model] });
  const shapes = { embedding: [vocabulary, model], positions: [tokens, model] };
  for (let l = 0; l < layers; l += 1) {
    const at = `layers.${l}.`;
    Object.assign(shapes, norm(`${at}norm1`));
    for (const which of 'qkvo') {
      shapes[`${at}attention.w${which}`] = [model, model];
      shapes[`${at}attention.b${which}`] = [model];
    }
    if (hidden === 0) continue;
    Object.assign(shapes, norm(`${at}norm2`));
    shapes[`${at}feedForward.w1`] = [model, hidden];
    shapes[`${at}feedForward.b1`] = [hidden];
    shapes[`${at}feedForward.w2`] = [hidden, model];
    shapes[`${at}feedForward.b2`] = [model];
  }
  return { ...shapes, ...norm('norm'), head: [model, vocabulary] };
}

const whole = (seed, count, below) =>
  Int32Array.from(random(seed, count), (x) => Math.floor(((x + 1) / 2) * below));

/** Ids, targets and weights: { ids, targets, weights: { name: { data, shape } } }. */
export function trainInputs(entry) {
  const { tokens, batch, vocabulary } = entry;
  const weights = Object.fromEntries(
    Object.entries(shapesOf(entry)).map(([name, shape], i) => {
      const data = random(
        10 + i,
        shape.reduce((n, extent) => n * extent),
      );
      const gain = name.endsWith('gamma') ? 1 : 0;
      return [name, { data: data.map((x) => gain + 0.1 * x), shape }];
    }),
  );
  return {
    ids: whole(1, batch * tokens, vocabulary),
    targets: whole(2, batch * tokens, vocabulary),
    weights,
  };
}

/** Rows with a one: tfjs-wasm has no gradient of a gather, so tokens are looked up by a product. */
export function oneHot(ids, vocabulary) {
  const rows = new Float32Array(ids.length * vocabulary);
  ids.forEach((id, i) => (rows[i * vocabulary + id] = 1));
  return { data: rows, shape: [ids.length, vocabulary] };
}

/** 0 where a token may read and -1e9 where it may not. */
export function causalMask(tokens) {
  const data = new Float32Array(tokens * tokens);
  for (let i = 0; i < tokens; i += 1) data.fill(-1e9, i * tokens + i + 1, (i + 1) * tokens);
  return { data, shape: [tokens, tokens] };
}

/**
 * The mean loss, written with the operators of a library: `ops` has matMul(a, b), turned(a, b) for a b^T, add, sub, mul,
 * scale(a, number), softmax, logSoftmax, relu, mean and variance over the last axis (kept), rsqrt, reshape, swap (axes 1 and
 * 2 of four) and total. `x` and `y` are one-hot rows.
 */
export function lossOf(ops, entry, w, { x, y, mask }) {
  const { layers, model, heads, tokens, batch, hidden } = entry;
  const rows = batch * tokens;
  const affine = (a, name, which) =>
    ops.add(ops.matMul(a, w[`${name}.w${which}`]), w[`${name}.b${which}`]);
  const norm = (a, name) => {
    const centred = ops.sub(a, ops.mean(a));
    const unit = ops.mul(centred, ops.rsqrt(ops.shift(ops.mean(ops.mul(centred, centred)), 1e-5)));
    return ops.add(ops.mul(unit, w[`${name}.gamma`]), w[`${name}.beta`]);
  };
  const split = (a) => ops.swap(ops.reshape(a, [batch, tokens, heads, model / heads]));
  const embedded = ops.reshape(ops.matMul(x, w.embedding), [batch, tokens, model]);
  let h = ops.reshape(ops.add(embedded, w.positions), [rows, model]);
  for (let l = 0; l < layers; l += 1) {
    const at = `layers.${l}.`;
    const a = norm(h, `${at}norm1`);
    const [q, k, v] = ['q', 'k', 'v'].map((which) => split(affine(a, `${at}attention`, which)));
    const scores = ops.add(ops.scale(ops.turned(q, k), 1 / Math.sqrt(model / heads)), mask);
    const attended = ops.reshape(ops.swap(ops.matMul(ops.softmax(scores), v)), [rows, model]);
    h = ops.add(h, affine(attended, `${at}attention`, 'o'));
    if (hidden === 0) continue;
    const active = ops.relu(affine(norm(h, `${at}norm2`), `${at}feedForward`, 1));
    h = ops.add(h, affine(active, `${at}feedForward`, 2));
  }
  const logits = ops.matMul(norm(h, 'norm'), w.head);
  return ops.scale(ops.total(ops.mul(ops.logSoftmax(logits), y)), -1 / rows);
}
