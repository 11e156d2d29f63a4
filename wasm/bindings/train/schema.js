// @ts-check
// The operators of `qkv/train` besides those of `qkv`, and the arguments of each, written as ../schema.js says. They have
// the numbers after those of `qkv` and qkv/models, whose .wasm knows nothing of them.

/** What the header of the arguments reads besides, for the objects and choices below. */
export const headers = ['train/trainer.hpp'];

/** Fields that several of these operators have. */
export const groups = /** @type {const} */ ({
  gruWeights: { wx: 'floats', wh: 'floats', bx: 'floats', bh: 'floats' },
  trainerOptions: {
    seed: 'number',
    peak: 'number',
    warmup: 'number',
    // The step at which the rate has fallen to `last`.
    decay: 'number',
    last: 'number',
    beta1: 'number',
    beta2: 'number',
    epsilon: 'number',
    weightDecay: 'number',
    clipNorm: 'number',
    dropout: 'number',
    deviation: 'number',
  },
  // Rows of 4: site, layer, first row, end of rows. Their arrays are one after another in `read`, as in modelSites.
  siteReads: { reads: 'ints', read: 'results' },
  // The maps are numbers of AdaptedMap.
  lora: { rank: 'whole', alpha: 'number', maps: 'ints', dropout: 'number' },
  trainerBatch: {
    ids: 'ints',
    targets: 'ints',
    keyLengths: 'ints',
    tokenTypes: 'ints',
    source: 'ints',
    sourceLengths: 'ints',
  },
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
      activation: { choice: ['silu', 'gelu', 'gelu_tanh'], of: 'Activation' },
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

  createLanguageModel: {
    fields: {
      config: { group: 'modelConfig' },
      options: { group: 'trainerOptions' },
    },
  },
  // All weights of a model, or adapters.
  createFromModel: {
    fields: {
      model: { object: 'LanguageModel' },
      options: { group: 'trainerOptions' },
      lora: { group: 'lora', optional: true },
    },
  },
  createSeq2Seq: {
    fields: {
      kind: { choice: ['gru', 'gru_attention', 'transformer'], of: 'train::Seq2SeqKind' },
      vocabulary: 'whole',
      dModel: 'whole',
      numHeads: 'whole',
      numLayers: 'whole',
      dFeedForward: 'whole',
      maxLength: 'whole',
      score: { choice: ['additive', 'dot'], of: 'train::Seq2SeqScore' },
      options: { group: 'trainerOptions' },
    },
  },
  destroyTrainer: { fields: { object: { object: 'Trainer' } } },
  // Numbers that these find are float64, of two words each.
  stepTrainer: {
    fields: {
      trainer: { object: 'Trainer' },
      batch: { group: 'trainerBatch' },
      found: 'results',
    },
  },
  evaluateTrainer: {
    fields: {
      trainer: { object: 'Trainer' },
      batch: { group: 'trainerBatch' },
      gradients: 'flag',
      found: 'results',
    },
  },
  // A batch of the step to come.
  accumulateTrainer: {
    fields: {
      trainer: { object: 'Trainer' },
      batch: { group: 'trainerBatch' },
      found: 'results',
    },
  },
  countTrainer: { fields: { trainer: { object: 'Trainer' }, found: 'results' } },
  // The rank and two extents of array `index`; what the operator made is its name.
  describeArray: {
    fields: { trainer: { object: 'Trainer' }, index: 'whole', found: 'results' },
  },
  readArray: {
    fields: {
      trainer: { object: 'Trainer' },
      index: 'whole',
      part: { choice: ['value', 'gradient', 'first', 'second'], of: 'TrainerPart' },
      out: 'results',
    },
  },
  // Array `index` of the model under adapters, with these added.
  readMergedArray: {
    fields: { trainer: { object: 'Trainer' }, index: 'whole', out: 'results' },
  },
  writeArray: {
    fields: {
      trainer: { object: 'Trainer' },
      index: 'whole',
      part: { choice: ['value', 'gradient', 'first', 'second'], of: 'TrainerPart' },
      x: 'floats',
    },
  },
  setTrainerSteps: { fields: { trainer: { object: 'Trainer' }, steps: 'number' } },
  readLanguageModel: {
    fields: {
      trainer: { object: 'Trainer' },
      ids: 'ints',
      keyLengths: 'ints',
      tokenTypes: 'ints',
      logits: 'results',
      layers: 'ints',
      weights: 'results',
      entropy: 'results',
      residual: 'results',
      q: 'results',
      k: 'results',
      v: 'results',
    },
  },
  // The difference of two logits (`instead` below 0: one logit) after the token `row` (below 0: the last) of one row of tokens: a
  // float64, of two words.
  differentiateLogit: {
    fields: {
      trainer: { object: 'Trainer' },
      ids: 'ints',
      row: 'whole',
      answer: 'whole',
      instead: 'whole',
      activations: { group: 'siteReads' },
      gradients: { group: 'siteReads' },
      found: 'results',
    },
  },
  readSeq2Seq: {
    fields: {
      trainer: { object: 'Trainer' },
      source: 'ints',
      sourceLengths: 'ints',
      ids: 'ints',
      logits: 'results',
      weights: 'results',
    },
  },
  // `said` and `lengths` are whole numbers in the words of results.
  translate: {
    fields: {
      trainer: { object: 'Trainer' },
      source: 'ints',
      sourceLengths: 'ints',
      start: 'whole',
      end: 'whole',
      said: 'results',
      lengths: 'results',
    },
  },
  reach: { fields: { trainer: { object: 'Trainer' }, source: 'ints', norms: 'results' } },
});
