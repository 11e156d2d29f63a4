// @ts-check
// The operators of `qkv/train` besides those of `qkv`, and the arguments of each, written as ../schema.js says. They have
// the numbers after those of `qkv`, whose .wasm knows nothing of them.

/** Fields that several of these operators have. */
export const groups = /** @type {const} */ ({
  gruWeights: { wx: 'floats', wh: 'floats', bx: 'floats', bh: 'floats' },
});

/** One record for each operator. */
export const operators = /** @type {const} */ ({
  attentionBackward: {
    fields: {
      dOut: { kind: 'floats', caller: 'dOutput' },
      q: 'floats',
      k: 'floats',
      v: 'floats',
      out: 'floats',
      lse: 'floats',
      numHeads: 'whole',
      numKvHeads: 'whole',
      options: { group: 'attentionOptions' },
      dq: 'results',
      dk: 'results',
      dv: 'results',
      dBias: 'results',
      dSinks: 'results',
    },
  },
  linearBackward: {
    fields: {
      dOut: { kind: 'floats', caller: 'dOutput' },
      x: 'floats',
      w: 'floats',
      layout: { choice: ['in_out', 'out_in'], of: 'WeightLayout' },
      dx: 'results',
      dw: 'results',
      dBias: 'results',
    },
  },
  softmaxBackward: {
    fields: {
      dOut: { kind: 'floats', caller: 'dOutput' },
      out: 'floats',
      temperature: 'number',
      dx: 'results',
    },
  },
  layerNormBackward: {
    fields: {
      dOut: { kind: 'floats', caller: 'dOutput' },
      x: 'floats',
      gamma: 'floats',
      epsilon: 'number',
      dx: 'results',
      dGamma: 'results',
      dBeta: 'results',
    },
  },
  rmsNormBackward: {
    fields: {
      dOut: { kind: 'floats', caller: 'dOutput' },
      x: 'floats',
      gamma: 'floats',
      epsilon: 'number',
      dx: 'results',
      dGamma: 'results',
    },
  },
  activationBackward: {
    fields: {
      dOut: { kind: 'floats', caller: 'dOutput' },
      x: 'floats',
      activation: { choice: ['relu', 'gelu', 'gelu_tanh', 'silu'], of: 'Activation' },
      dx: 'results',
    },
  },
  gateBackward: {
    fields: {
      dOut: { kind: 'floats', caller: 'dOutput' },
      x: 'floats',
      // y of the core, a name by which layers have their output.
      gated: 'floats',
      activation: { choice: ['silu', 'gelu'], of: 'Activation' },
      dx: 'results',
      dy: 'results',
    },
  },
  rotaryEmbeddingBackward: {
    fields: {
      dOut: { kind: 'floats', caller: 'dOutput' },
      numHeads: 'whole',
      rotary: { group: 'rotary' },
      dx: 'results',
    },
  },
  embeddingBackward: {
    fields: {
      dOut: { kind: 'floats', caller: 'dOutput' },
      ids: 'ints',
      dTable: 'results',
    },
  },

  crossEntropy: {
    fields: {
      logits: 'floats',
      targets: 'ints',
      ignoreIndex: 'whole',
      labelSmoothing: 'number',
      dLogits: 'results',
      // The loss and two counts as float64, of two words each.
      found: 'results',
    },
  },

  gru: {
    fields: {
      x: 'floats',
      weights: { group: 'gruWeights' },
      h0: 'floats',
      out: 'results',
    },
  },
  gruBackward: {
    fields: {
      dOut: { kind: 'floats', caller: 'dOutput' },
      x: 'floats',
      weights: { group: 'gruWeights' },
      h0: 'floats',
      // That of the forward call; computed once more if it is left out.
      out: 'floats',
      dx: 'results',
      dh0: 'results',
      dwx: 'results',
      dwh: 'results',
      dbx: 'results',
      dbh: 'results',
    },
  },
});
