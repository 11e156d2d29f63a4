// What a language model should give: its formulas in float64, one plain loop after another (core/include/qkv/language_model.hpp),
// and models of random weights to ask for it.
import { filled, random, sizeOf } from './arrays.js';
import { Sites } from './model-sites.js';
import { attentionRow, headsOf, sinusoid } from './oracle.js';
import { activations, embedding, linear, norm, rotate } from './train-oracle.js';

/** The config with its defaults. */
export function withDefaults(config) {
  const { dModel, numHeads, normType = 'layer', biases = normType === 'layer' } = config;
  return {
    ...{ numKvHeads: numHeads, dK: dModel / numHeads, causal: true, norm: 'pre', epsilon: 1e-5 },
    ...{ activation: 'gelu', positions: 'learned', qkNorm: false, parallelResidual: false },
    ...{ tiedEmbeddings: false, qkvBiases: biases, embeddingScale: 1, window: null },
    ...{ attentionScale: null, attentionSoftcap: 0, logitSoftcap: 0, postNorms: false },
    ...{ tokenTypes: 0, embeddingNorm: false, head: true, rotary: {}, family: '' },
    ...{ headBias: false, qkNormOf: 'head', firstNorm: true, symmetricWindow: false },
    ...{ relativeBuckets: 0, relativeMaxDistance: 128, encoderLayers: 0, startToken: 0 },
    ...{ numExperts: 0, expertsPerToken: 0, normalizedExperts: false },
    ...{ headTransform: 'none', headNorm: false, classes: 0, headPooling: 'none' },
    ...config,
    ...{ normType, biases },
  };
}

/** Names and shapes of the arrays, in the order of the core. */
export function arraysOf(given) {
  const config = withDefaults(given);
  const { dModel, dK, numHeads, numKvHeads, dFeedForward, biases, qkvBiases } = config;
  const hasBeta = biases && config.normType === 'layer';
  const [inner, outer] = [numHeads * dK, numKvHeads * dK];
  const arrays = [];
  const add = (name, ...shape) => arrays.push([name, shape]);
  const addNorm = (name, width = dModel, join = '.') => {
    const word = (of) => (join ? `${name}.${of}` : `${name}${of[0].toUpperCase()}${of.slice(1)}`);
    add(word('gamma'), width);
    if (hasBeta) add(word('beta'), width);
  };
  const addMap = (at, name, [from, to], isBiased) => {
    add(`${at}w${name}`, from, to);
    if (isBiased) add(`${at}b${name}`, to);
  };
  add('embedding', config.vocabulary, dModel);
  if (config.positions === 'learned') add('positions', config.maxLength, dModel);
  if (config.tokenTypes > 0) add('tokenTypes', config.tokenTypes, dModel);
  if (config.embeddingNorm) addNorm('embeddingNorm');
  const isAfter = config.norm === 'after';
  const addPost = (name) => (config.postNorms || isAfter) && addNorm(name);
  const ofNorms = { head: [dK, dK], rotated: [dK, dK], whole: [inner, outer] }[config.qkNormOf];
  const addAttention = (at) => {
    addMap(at, 'q', [dModel, inner], qkvBiases);
    addMap(at, 'k', [dModel, outer], qkvBiases);
    addMap(at, 'v', [dModel, outer], qkvBiases);
    if (config.qkNorm) ['q', 'k'].forEach((name, i) => addNorm(`${at}${name}`, ofNorms[i], ''));
    addMap(at, 'o', [inner, dModel], biases);
  };
  const addLayer = (at, layer, crosses) => {
    if (!isAfter && (layer > 0 || config.firstNorm)) addNorm(`${at}norm1`);
    addAttention(`${at}attention.`);
    addPost(`${at}postNorm1`);
    if (crosses) {
      addNorm(`${at}normCross`);
      addAttention(`${at}cross.`);
    }
    if (dFeedForward === 0) return;
    if (!isAfter) addNorm(`${at}norm2`);
    const addMaps = (of, isBiased) => {
      addMap(of, '1', [dModel, dFeedForward], isBiased);
      if (config.activation.includes('glu')) addMap(of, 'Gate', [dModel, dFeedForward], isBiased);
      addMap(of, '2', [dFeedForward, dModel], isBiased);
    };
    if (config.numExperts === 0) addMaps(`${at}feedForward.`, biases);
    else add(`${at}feedForward.router`, dModel, config.numExperts);
    for (let e = 0; e < config.numExperts; ++e) addMaps(`${at}feedForward.experts.${e}.`, false);
    addPost(`${at}postNorm2`);
  };
  const addStack = (of, layers, crosses) => {
    if (config.relativeBuckets > 0) add(`${of}relativeBias`, config.relativeBuckets, numHeads);
    for (let layer = 0; layer < layers; ++layer) addLayer(`${of}layers.${layer}.`, layer, crosses);
    if (config.norm !== 'post') addNorm(`${of}norm`);
  };
  addStack('', config.numLayers, config.encoderLayers > 0);
  if (config.headTransform !== 'none') {
    addMap('headTransform.', '', [dModel, dModel], biases);
    if (config.headNorm) addNorm('headTransform.norm');
  }
  const outputs = config.classes || config.vocabulary;
  if (config.head && !config.tiedEmbeddings) add('head', dModel, outputs);
  if (config.headBias) add('headBias', outputs);
  if (config.encoderLayers > 0) addStack('encoder.', config.encoderLayers, false);
  return arrays;
}

/** Random weights by name: gains near 1, maps that keep the size of what they map. */
export function randomWeights(config, seed) {
  const next = random(seed);
  return Object.fromEntries(
    arraysOf(config).map(([name, shape]) => {
      const isGain = /gamma$/i.test(name);
      const scale = shape.length === 2 && !/^(embedding|positions|tokenTypes|(encoder.)?relativeBias)$/.test(name); // prettier-ignore
      const size = scale ? 1.7 / Math.sqrt(shape[0]) : isGain ? 0.2 : 0.5;
      return [name, filled(shape, () => (isGain ? 1 : 0) + size * next())];
    }),
  );
}

/** The rotation of a layer; undefined where nothing is turned. */
function rotaryOf({ positions, rotary, maxLength }, layer) {
  const own = positions === 'rotary' ? (Array.isArray(rotary) ? rotary[layer] : rotary) : null;
  if (own?.scaling?.type !== 'longrope') return own ?? undefined;
  const { shortFactors, longFactors, originalLength, attentionFactor } = own.scaling;
  const factors = maxLength > originalLength ? longFactors : shortFactors;
  return { ...own, scaling: { type: 'factors', factors, attentionFactor } };
}

/** Rows of heads, [B, T, H * dK], turned by their positions. */
function rotated(x, heads, tokens, dK, rotary) {
  const positions = Array.from({ length: tokens * heads }, (_, row) => Math.floor(row / heads));
  return rotate(x, { ...rotary, tokens: positions.length, width: dK, positions });
}

/** The bucket of T5 for a key that is `distance` after the query (Raffel et al. 2020, and the code of the authors). */
function bucketOf(distance, { causal, relativeBuckets, relativeMaxDistance }) {
  const all = causal ? relativeBuckets : Math.floor(relativeBuckets / 2);
  const n = causal ? Math.max(-distance, 0) : Math.abs(distance);
  const side = !causal && distance > 0 ? all : 0;
  const exact = Math.floor(all / 2);
  if (n < exact) return side + n;
  const part = Math.log(n / exact) / Math.log(relativeMaxDistance / exact);
  // A power that is whole comes out a little below or above.
  return side + Math.min(all - 1, exact + Math.floor(part * (all - exact) + 1e-9));
}

/** The slopes of ALiBi for any number of heads (Press et al. 2022). */
function slopesOf(heads) {
  const power = 2 ** Math.floor(Math.log2(heads));
  const of = (n) => Array.from({ length: n }, (_, i) => 2 ** ((-8 * (i + 1)) / n));
  const more = of(2 * power).filter((_, i) => i % 2 === 0);
  return [...of(power), ...more].slice(0, heads);
}

/** Heads that lie side by side, one after another: [batch, heads, tokens, width]. */
const byHead = ({ data, batch, heads, tokens, width, at }) =>
  Float64Array.from({ length: batch * heads * tokens * width }, (_, i) => {
    const row = Math.floor(i / width);
    const head = Math.floor(row / tokens);
    return data[at(Math.floor(head / heads), head % heads, row % tokens) + (i % width)];
  });

class Oracle {
  constructor(config, weights) {
    this.config = withDefaults(config);
    this.weights = weights;
  }

  norm(x, name, join = '.') {
    const { normType, epsilon } = this.config;
    const word = (of) => (join ? `${name}.${of}` : `${name}${of[0].toUpperCase()}${of.slice(1)}`);
    const [gamma, beta] = ['gamma', 'beta'].map((of) => this.weights[word(of)]?.data);
    return norm(
      { x, gamma, beta },
      { centre: normType === 'layer', epsilon: Math.fround(epsilon) },
    );
  }

  map(x, at, name) {
    const { data, shape } = this.weights[`${at}w${name}`];
    const bias = this.weights[`${at}b${name}`]?.data ?? new Float64Array(shape[1]);
    return linear({ x, w: data, b: bias }, shape);
  }

  attention(x, layer, { batch, tokens, keyLengths, ablate, sites }) {
    const { config } = this;
    const { numHeads, numKvHeads, dK, window, attentionScale, attentionSoftcap } = config;
    const at = `layers.${layer}.attention.`;
    const heads = { q: numHeads, k: numKvHeads, v: numKvHeads };
    const rotary = rotaryOf(config, layer);
    const parts = Object.fromEntries(
      Object.entries(heads).map(([name, count]) => {
        let rows = this.map(x, at, name);
        const normal = (when) => {
          if (name !== 'v' && config.qkNorm && when) rows = this.norm(rows, `${at}${name}`, '');
        };
        normal(config.qkNormOf !== 'rotated');
        if (name !== 'v' && rotary) rows = rotated(rows, count, tokens, dK, rotary);
        normal(config.qkNormOf === 'rotated');
        const lying = headsOf({ data: rows, shape: [batch, tokens, count * dK] }, count);
        sites.heads(name, layer, lying);
        return [name, lying];
      }),
    );
    const left = (Array.isArray(window) ? window[layer] : window) ?? -1;
    const right = config.symmetricWindow ? left : -1;
    const { relativeBias } = this.weights;
    const byDistance = (h, distance) =>
      relativeBias.data[bucketOf(distance, config) * numHeads + h];
    const options = {
      ...{ causal: config.causal, window: [left, right], softcap: attentionSoftcap, keyLengths },
      scale: attentionScale ?? 1 / Math.sqrt(dK),
      ...(config.positions === 'alibi' && { bias: { kind: 'alibi', slopes: slopesOf(numHeads) } }),
      ...(relativeBias && { bias: { kind: 'distance', of: byDistance } }),
    };
    const wide = new Float64Array(batch * tokens * numHeads * dK);
    const weights = [];
    const entropy = [];
    const size = { batch, heads: numHeads, tokens };
    const change = (site, at, row, isOpen) => sites.row(site, layer, at, size, row, isOpen);
    for (let b = 0; b < batch; ++b) {
      for (let h = 0; h < numHeads; ++h) {
        for (let i = 0; i < tokens; ++i) {
          const row = attentionRow({ ...parts, options, change }, b, h, i);
          weights.push(...row.weights);
          entropy.push(row.entropy);
          if (ablate.some(([l, own]) => l === layer && own === h)) continue;
          wide.set(row.out, ((b * tokens + i) * numHeads + h) * dK);
        }
      }
    }
    const [q, k, v] = ['q', 'k', 'v'].map((name) => byHead(parts[name]));
    const z = headsOf({ data: wide, shape: [batch, tokens, numHeads * dK] }, numHeads);
    sites.heads('z', layer, z);
    sites.arrays.set(`heads ${layer}`, this.heads(z, `${at}wo`));
    return { y: this.map(wide, at, 'o'), weights, entropy, q, k, v };
  }

  /** What each head gives: its z through its rows of W_O. */
  heads(z, name) {
    const { dModel } = this.config;
    const { data } = this.weights[name];
    const y = new Float64Array(z.batch * z.heads * z.tokens * dModel);
    y.forEach((_, n) => {
      const row = Math.floor(n / dModel);
      const [vector, i] = [Math.floor(row / z.tokens), row % z.tokens];
      const h = vector % z.heads;
      const from = z.at(Math.floor(vector / z.heads), h, i);
      for (let d = 0; d < z.width; ++d) {
        y[n] += z.data[from + d] * data[(h * z.width + d) * dModel + (n % dModel)];
      }
    });
    return y;
  }

  /** Attention of the stream to all rows of a source. */
  cross(x, layer, { batch, tokens, read }) {
    const { numHeads, numKvHeads, dK, attentionScale, attentionSoftcap } = this.config;
    const at = `layers.${layer}.cross.`;
    const of = (rows, name, count) => {
      const data = this.map(rows, at, name);
      return headsOf({ data, shape: [batch, data.length / batch / count / dK, count * dK] }, count);
    };
    const parts = {
      ...{ q: of(x, 'q', numHeads), k: of(read, 'k', numKvHeads), v: of(read, 'v', numKvHeads) },
      options: {
        ...{ causal: false, window: [-1, -1], softcap: attentionSoftcap },
        scale: attentionScale ?? 1 / Math.sqrt(dK),
      },
    };
    const wide = new Float64Array(batch * tokens * numHeads * dK);
    for (let row = 0; row < batch * tokens; ++row) {
      for (let h = 0; h < numHeads; ++h) {
        const { out } = attentionRow(parts, Math.floor(row / tokens), h, row % tokens);
        wide.set(out, (row * numHeads + h) * dK);
      }
    }
    return this.map(wide, at, 'o');
  }

  feedForward(x, layer, pass) {
    const { numExperts, expertsPerToken, normalizedExperts, dModel } = this.config;
    const at = `layers.${layer}.feedForward.`;
    if (numExperts === 0)
      return this.maps(x, at, (y) => pass.sites.rows('neurons', layer, y, pass));
    const { data: w, shape } = this.weights[`${at}router`];
    const logits = linear({ x, w, b: new Float64Array(numExperts) }, shape);
    const made = Array.from({ length: numExperts }, (_, e) => this.maps(x, `${at}experts.${e}.`));
    const y = new Float64Array(x.length);
    for (let row = 0; row * dModel < x.length; ++row) {
      const all = logits.slice(row * numExperts, (row + 1) * numExperts);
      const total = all.reduce((sum, logit) => sum + Math.exp(logit), 0);
      const used = Array.from(all, (logit, e) => [Math.exp(logit) / total, e])
        .sort(([a], [b]) => b - a)
        .slice(0, expertsPerToken);
      const scale = normalizedExperts ? used.reduce((sum, [share]) => sum + share, 0) : 1;
      for (const [share, e] of used)
        for (let i = row * dModel; i < (row + 1) * dModel; ++i)
          y[i] += (share / scale) * made[e][i];
    }
    return y;
  }

  maps(x, at, change = (y) => y) {
    const { activation } = this.config;
    const up = this.map(x, at, '1');
    const plain = { swiglu: 'silu', geglu: 'gelu', geglu_tanh: 'gelu_tanh' }[activation];
    const f = activations[plain ?? activation];
    const gate = plain && this.map(x, at, 'Gate');
    return this.map(change(gate ? gate.map((g, i) => f(g) * up[i]) : up.map(f)), at, '2');
  }

  embed(ids, { tokens, tokenTypes }) {
    const { weights, config } = this;
    const { dModel, embeddingScale, positions } = config;
    let x = embedding(weights.embedding.data, ids, dModel).map(
      (e) => e * Math.fround(embeddingScale),
    );
    if (config.tokenTypes > 0) {
      const types = tokenTypes ?? ids.map(() => 0);
      const more = embedding(weights.tokenTypes.data, types, dModel);
      x = x.map((e, i) => e + more[i]);
    }
    const at = (i) => [Math.floor(i / dModel) % tokens, i % dModel];
    if (positions === 'learned') {
      x = x.map((e, i) => e + weights.positions.data[at(i)[0] * dModel + at(i)[1]]);
    }
    if (positions === 'sinusoidal') x = x.map((e, i) => e + sinusoid(...at(i), dModel));
    return config.embeddingNorm ? this.norm(x, 'embeddingNorm') : x;
  }

  /** The stream after the last norm. */
  last(x) {
    return this.config.norm === 'post' ? x : this.norm(x, 'norm');
  }

  /** The rows of the stream of which there are logits: all of each row of the batch, or one. */
  pooled(hidden, { batch, tokens, keyLengths }) {
    const { headPooling, dModel } = this.config;
    if (headPooling === 'none') return hidden;
    const rows = Array.from({ length: batch }, (_, b) => {
      const count = keyLengths?.[b] ?? tokens;
      const row = (t) => hidden.slice((b * tokens + t) * dModel, (b * tokens + t + 1) * dModel);
      if (headPooling !== 'mean') return row(headPooling === 'first' ? 0 : count - 1);
      const all = Array.from({ length: count }, (_, t) => row(t));
      return row(0).map((_, i) => all.reduce((sum, each) => sum + each[i], 0) / count);
    });
    return Float64Array.from(rows.flatMap((row) => [...row]));
  }

  /** What the head makes of rows of the stream before its last map. */
  transformed(hidden) {
    const { headTransform, headNorm, dModel } = this.config;
    if (headTransform === 'none') return hidden;
    const { 'headTransform.w': w, 'headTransform.b': b } = this.weights;
    const bias = b?.data ?? new Float64Array(dModel);
    const y = linear({ x: hidden, w: w.data, b: bias }, [dModel, dModel]);
    const f = headTransform === 'tanh' ? Math.tanh : activations[headTransform];
    return headNorm
      ? this.norm(
          y.map((e) => f(e)),
          'headTransform.norm',
        )
      : y.map((e) => f(e));
  }

  logits(stream) {
    const { tiedEmbeddings, classes, dModel, logitSoftcap: cap } = this.config;
    const vocabulary = classes || this.config.vocabulary;
    const hidden = this.transformed(stream);
    const { head, embedding: table } = this.weights;
    const w = tiedEmbeddings
      ? Float64Array.from({ length: sizeOf(table.shape) }, (_, i) => {
          return table.data[(i % vocabulary) * dModel + Math.floor(i / vocabulary)];
        })
      : head.data;
    const b = this.weights.headBias?.data ?? new Float64Array(vocabulary);
    const y = linear({ x: hidden, w, b }, [dModel, vocabulary]);
    return cap > 0 ? y.map((e) => cap * Math.tanh(e / cap)) : y;
  }

  layer(x, layer, pass) {
    const { norm: placement, parallelResidual, postNorms, dFeedForward } = this.config;
    const at = `layers.${layer}.`;
    const [isPre, isPost] = [placement === 'pre', placement === 'post'];
    const add = (one, other) => one.map((e, i) => e + other[i]);
    const hasFirst = isPre && (layer > 0 || this.config.firstNorm);
    const own = this.attention(hasFirst ? this.norm(x, `${at}norm1`) : x, layer, pass);
    const hasAfter = postNorms || placement === 'after';
    const post = (y, name) => (hasAfter ? this.norm(y, `${at}${name}`) : y);
    const change = (site, y) => pass.sites.rows(site, layer, y, pass);
    let after = add(x, change('attention', post(own.y, 'postNorm1')));
    if (isPost) after = this.norm(after, `${at}norm1`);
    if (dFeedForward > 0 && !parallelResidual) after = change('middle', after);
    if (pass.read) {
      const y = this.cross(this.norm(after, `${at}normCross`), layer, pass);
      after = add(after, change('cross', y));
    }
    if (dFeedForward > 0) {
      const read = parallelResidual ? x : after;
      const y = this.feedForward(isPre ? this.norm(read, `${at}norm2`) : read, layer, pass);
      after = add(after, change('feedForward', post(y, 'postNorm2')));
      if (isPost) after = this.norm(after, `${at}norm2`);
    }
    after = change('residual', after);
    return { ...own, x: after };
  }
}

/** What the encoder of a model makes of a source: a model of its own. */
function encoded(config, weights, source, options) {
  const own = Object.entries(weights).flatMap(([name, array]) =>
    name.startsWith('encoder.') ? [[name.slice(8), array]] : [],
  );
  const arrays = { embedding: weights.embedding, ...Object.fromEntries(own) };
  const alone = { ...config, numLayers: config.encoderLayers, causal: false, head: false };
  return modelForward(alone, arrays, source, options);
}

/**
 * logits, hidden and of each layer weights, entropy, residual, logits, q, k and v, for rows of ids; `sites` by place, and `sourceSites` of
 * the encoder, which `sourceEdit` changes.
 */
export function modelForward(config, weights, ids, options = {}) {
  const { batch = 1, keyLengths, tokenTypes, ablate = [], source, edit, sourceEdit } = options;
  const sites = new Sites(edit);
  const oracle = new Oracle(config, weights);
  const tokens = ids.length / batch;
  const encoder = source && encoded(config, weights, source, { batch, edit: sourceEdit });
  const read = encoder?.hidden;
  const pass = { batch, tokens, keyLengths, tokenTypes, ablate, read, sites };
  let x = sites.rows('embed', 0, oracle.embed(Array.from(ids), pass), pass);
  const layers = [];
  const hasLogits = oracle.config.head;
  for (let layer = 0; layer < oracle.config.numLayers; ++layer) {
    const after = oracle.layer(x, layer, pass);
    x = after.x;
    const { weights: rows, entropy, q, k, v } = after;
    const logits = hasLogits ? oracle.logits(oracle.last(x)) : undefined;
    layers.push({ weights: rows, entropy, residual: x, logits, q, k, v });
  }
  const hidden = oracle.last(x);
  sites.rows('final', 0, hidden, pass);
  const logits = hasLogits ? oracle.logits(oracle.pooled(hidden, pass)) : undefined;
  return { hidden, logits, layers, sites, sourceSites: encoder?.sites };
}

/** ln of the probabilities of a row of logits. */
export function logProbabilities(row) {
  const most = Math.max(...row);
  const sum = Array.from(row).reduce((total, x) => total + Math.exp(x - most), 0);
  return Array.from(row, (x) => x - most - Math.log(sum));
}
