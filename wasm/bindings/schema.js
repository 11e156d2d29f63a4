// @ts-check
// The operators of the raw module and the arguments of each: the one place that says what a call carries.
//
// tools/abi.js makes from it the C++ structs and the table of operators (abi.hpp), the layout that the TypeScript
// writer walks, and the table of methods of qkv/worker; wasm/src/memory/abi.ts takes its types from here. The .wasm
// carries a hash of the layout, so that a file of another schema is refused.
//
// A record has `fields` in the order of their words. A field is one of these kinds:
//
//   floats, ints, bytes   an array that the operator reads: float32, int32, uint8; may be left out
//   results               an array of float32 that the operator writes; may be left out
//   number, number?       a double; one that may be left out
//   whole, whole?         a whole number, which the core takes as an Index; one that may be left out
//   flag                  a boolean, false when it is left out
//   object                the address of an object of this C++ class, 0 for none
//   choice                one of these words: the enumerators kRaw, kCapped, ... of the C++ enum `of`;
//                         `optional` says that it may be left out
//   group                 the fields of a group below; `optional` says that it may be left out
//
// The core calls a field by its name in snake case. `caller` is what messages call it where the caller's word is
// another one. `method` is a method of the engine that runs the operator, with its `parameters`: in `options` the
// worker finds the options of every call too, and `call` stands for those alone.

/** Fields that several operators have. */
export const groups = /** @type {const} */ ({
  rotary: {
    offset: 'whole',
    positions: 'ints',
    base: 'number',
    rotaryDim: 'whole',
    interleaved: 'flag',
    scaling: { choice: ['none', 'linear', 'ntk', 'yarn'], of: 'RotaryScaling::Type' },
    factor: 'number',
    originalLength: 'whole',
    betaFast: 'number',
    betaSlow: 'number',
    attentionFactor: 'number?',
    cos: 'floats',
    sin: 'floats',
  },
  attentionOptions: {
    scale: 'number?',
    softcap: 'number',
    temperature: 'number',
    causal: 'flag',
    causalOffset: 'whole?',
    causalOffsets: { kind: 'ints', caller: 'causalOffset' },
    windowLeft: 'whole',
    windowRight: 'whole',
    keyLengths: 'ints',
    mask: 'bytes',
    additiveMask: { kind: 'floats', caller: 'mask' },
    bias: 'floats',
    alibiSlopes: { kind: 'floats', caller: 'bias.slopes' },
    sinks: 'floats',
    dropoutRate: 'number',
    dropoutSeed: 'number',
  },
  extras: {
    weights: 'results',
    logits: 'results',
    logitStage: { choice: ['raw', 'capped', 'biased'], of: 'LogitStage' },
    rowBegin: 'whole',
    rowEnd: 'whole',
    lse: 'results',
    entropy: 'results',
  },
  layerConfig: {
    dModel: 'whole',
    numHeads: 'whole',
    numKvHeads: 'whole',
    dK: 'whole',
    dV: 'whole',
    dContext: 'whole',
    weightLayout: { choice: ['in_out', 'out_in'], of: 'WeightLayout' },
    rotary: { group: 'rotary', optional: true },
    qkNorm: { choice: ['layer', 'rms'], of: 'NormType', optional: true },
    qkEpsilon: 'number',
  },
  layerWeights: {
    wq: 'floats',
    wk: 'floats',
    wv: 'floats',
    wqkv: 'floats',
    wo: 'floats',
    bq: 'floats',
    bk: 'floats',
    bv: 'floats',
    bqkv: 'floats',
    bo: 'floats',
    qGamma: 'floats',
    kGamma: 'floats',
    qBeta: 'floats',
    kBeta: 'floats',
  },
  linearWeights: {
    w: 'floats',
    bias: 'floats',
    layout: { choice: ['in_out', 'out_in'], of: 'WeightLayout' },
  },
  normWeights: { gamma: 'floats', beta: 'floats' },
  feedForwardWeights: {
    w1: 'floats',
    b1: 'floats',
    w2: 'floats',
    b2: 'floats',
    wGate: 'floats',
    bGate: 'floats',
  },
  sinusoid: {
    base: 'number',
    layout: { choice: ['interleaved', 'concatenated'], of: 'SinusoidLayout' },
  },
});

/** One record for each operator. */
export const operators = /** @type {const} */ ({
  attention: {
    method: 'attention',
    parameters: ['q', 'k', 'v', 'options'],
    fields: {
      q: 'floats',
      k: 'floats',
      v: 'floats',
      out: 'results',
      numHeads: 'whole',
      numKvHeads: 'whole',
      options: { group: 'attentionOptions' },
      extras: { group: 'extras' },
      cache: { object: 'KvCache' },
    },
  },

  createLayer: {
    method: 'multiHeadAttention',
    parameters: ['config', 'weights', 'call'],
    fields: { config: { group: 'layerConfig' }, weights: { group: 'layerWeights' } },
  },
  forwardLayer: {
    fields: {
      layer: { object: 'MultiHeadAttention' },
      x: 'floats',
      context: 'floats',
      y: { kind: 'results', caller: 'out' },
      options: { group: 'attentionOptions' },
      extras: { group: 'extras' },
      cache: { object: 'KvCache' },
    },
  },
  destroyLayer: { fields: { object: { object: 'MultiHeadAttention' } } },

  createBlock: {
    method: 'transformerBlock',
    parameters: ['config', 'weights', 'call'],
    fields: {
      config: { group: 'layerConfig' },
      dFeedForward: 'whole',
      norm: { choice: ['pre', 'post'], of: 'NormPlacement' },
      normType: { choice: ['layer', 'rms'], of: 'NormType' },
      activation: {
        choice: ['relu', 'gelu', 'gelu_tanh', 'silu', 'swiglu'],
        of: 'FeedForwardActivation',
      },
      crossAttention: 'flag',
      epsilon: 'number',
      attention: { group: 'layerWeights' },
      cross: { group: 'layerWeights' },
      norm1: { group: 'normWeights' },
      normCross: { group: 'normWeights' },
      norm2: { group: 'normWeights' },
      feedForward: { group: 'feedForwardWeights' },
    },
  },
  forwardBlock: {
    fields: {
      block: { object: 'TransformerBlock' },
      x: 'floats',
      context: 'floats',
      contextKeyLengths: 'ints',
      y: { kind: 'results', caller: 'out' },
      options: { group: 'attentionOptions' },
      extras: { group: 'extras' },
      cache: { object: 'KvCache' },
    },
  },
  destroyBlock: { fields: { object: { object: 'TransformerBlock' } } },

  createCache: {
    method: 'kvCache',
    parameters: ['options'],
    fields: {
      batch: 'whole',
      numKvHeads: 'whole',
      capacity: 'whole',
      dK: 'whole',
      dV: 'whole',
      format: { choice: ['f32', 'bf16', 'int8'], of: 'CacheFormat' },
    },
  },
  appendCache: {
    fields: { cache: { object: 'KvCache' }, keys: 'floats', values: 'floats', numKvHeads: 'whole' },
  },
  truncateCache: { fields: { cache: { object: 'KvCache' }, length: 'whole' } },
  readKeys: { fields: { cache: { object: 'KvCache' }, keys: 'results' } },
  readValues: { fields: { cache: { object: 'KvCache' }, values: 'results' } },
  destroyCache: { fields: { object: { object: 'KvCache' } } },

  linear: {
    method: 'linear',
    parameters: ['x', 'w', 'options'],
    fields: {
      x: 'floats',
      weights: { group: 'linearWeights' },
      out: 'results',
    },
  },
  createLinear: {
    method: 'linearLayer',
    parameters: ['w', 'options'],
    fields: { weights: { group: 'linearWeights' } },
  },
  forwardLinear: { fields: { layer: { object: 'Linear' }, x: 'floats', out: 'results' } },
  destroyLinear: { fields: { object: { object: 'Linear' } } },

  sinusoidalEncoding: {
    method: 'sinusoidalEncoding',
    parameters: ['length', 'dModel', 'options'],
    fields: { out: 'results', offset: 'whole', sinusoid: { group: 'sinusoid' } },
  },
  sinusoidalShift: {
    method: 'sinusoidalShift',
    parameters: ['k', 'dModel', 'options'],
    fields: { out: 'results', k: 'whole', dModel: 'whole', sinusoid: { group: 'sinusoid' } },
  },
  rotaryEmbedding: {
    method: 'rotaryEmbedding',
    parameters: ['x', 'options'],
    fields: { x: 'floats', out: 'results', numHeads: 'whole', rotary: { group: 'rotary' } },
  },

  alibiSlopes: {
    method: 'alibiSlopes',
    parameters: ['numHeads', 'call'],
    fields: { out: 'results' },
  },
  t5RelativeBias: {
    method: 't5RelativeBias',
    parameters: ['table', 'queryLength', 'keyLength', 'options'],
    fields: {
      table: 'floats',
      out: 'results',
      bidirectional: 'flag',
      maxDistance: 'whole',
      offset: 'whole',
    },
  },
  transformerXlBias: {
    method: 'transformerXlBias',
    parameters: ['q', 'r', 'v', 'call'],
    fields: { q: 'floats', r: 'floats', v: 'floats', out: 'results' },
  },

  layerNorm: {
    method: 'layerNorm',
    parameters: ['x', 'options'],
    fields: { x: 'floats', gamma: 'floats', beta: 'floats', epsilon: 'number', out: 'results' },
  },
  rmsNorm: {
    method: 'rmsNorm',
    parameters: ['x', 'options'],
    fields: { x: 'floats', gamma: 'floats', epsilon: 'number', out: 'results' },
  },
  gelu: {
    method: 'gelu',
    parameters: ['x', 'options'],
    fields: {
      x: 'floats',
      activation: { choice: ['gelu', 'gelu_tanh'], of: 'Activation' },
      out: 'results',
    },
  },
  softmax: {
    method: 'softmax',
    parameters: ['x', 'options'],
    fields: { x: 'floats', temperature: 'number', out: 'results' },
  },

  embedding: {
    method: 'embedding',
    parameters: ['table', 'ids', 'call'],
    fields: { table: 'floats', ids: 'ints', out: 'results' },
  },
  learnedEncoding: {
    method: 'learnedEncoding',
    parameters: ['table', 'length', 'options'],
    fields: {
      table: 'floats',
      offset: 'whole',
      outOfRange: { choice: ['error', 'clamp'], of: 'OutOfRange' },
      out: 'results',
    },
  },

  entropy: {
    method: 'entropy',
    parameters: ['weights', 'call'],
    fields: { weights: 'floats', out: 'results' },
  },
  headStatistics: {
    method: 'headStatistics',
    parameters: ['weights', 'call'],
    fields: {
      weights: 'floats',
      entropy: 'results',
      distance: 'results',
      maxWeight: 'results',
      firstKey: 'results',
    },
  },
  attentionRollout: {
    method: 'attentionRollout',
    parameters: ['weights', 'call'],
    fields: { weights: 'floats', out: 'results' },
  },
});

/** The method of the engine that runs no operator. */
export const otherMethods = /** @type {const} */ ({ tensor: ['shape', 'data', 'call'] });
