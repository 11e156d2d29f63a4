// @ts-check
// The operators of language models for inference, and the arguments of each, written as ../schema.js says. Every .wasm has
// them, by the numbers after those of `qkv`; in JavaScript qkv/models alone knows their layout.

/** What the header of the arguments reads besides, for the objects below. */
export const headers = ['models/conversation.hpp'];

/** Fields that several of these operators have, those of `qkv/train` included. */
export const groups = /** @type {const} */ ({
  // In place of the scaling of `rotary`.
  llama3Scaling: {
    factor: 'number',
    lowFrequencyFactor: 'number',
    highFrequencyFactor: 'number',
    originalLength: 'whole',
  },
  modelRotary: {
    rotary: { group: 'rotary' },
    llama3: { group: 'llama3Scaling', optional: true },
    // Likewise, with an attention factor of its own.
    factors: 'floats',
    factorsAttention: 'number',
  },
  modelConfig: {
    vocabulary: 'whole',
    numLayers: 'whole',
    dModel: 'whole',
    numHeads: 'whole',
    numKvHeads: 'whole',
    dK: 'whole',
    dFeedForward: 'whole',
    maxLength: 'whole',
    causal: 'flag',
    norm: { choice: ['pre', 'post', 'after'], of: 'NormPlacement' },
    normType: { choice: ['layer', 'rms'], of: 'NormType' },
    epsilon: 'number',
    activation: {
      choice: ['relu', 'gelu', 'gelu_tanh', 'silu', 'swiglu', 'geglu', 'geglu_tanh', 'relu2'],
      of: 'ModelActivation',
    },
    positions: {
      choice: ['none', 'learned', 'sinusoidal', 'rotary', 'alibi'],
      of: 'ModelPositions',
    },
    rotary: { group: 'modelRotary' },
    secondRotary: { group: 'modelRotary', optional: true, caller: 'rotary' },
    rotations: { kind: 'ints', caller: 'rotary' },
    qkNorm: 'flag',
    parallelResidual: 'flag',
    tiedEmbeddings: 'flag',
    biases: 'flag',
    qkvBiases: 'flag',
    embeddingScale: 'number',
    window: 'whole',
    windows: { kind: 'ints', caller: 'window' },
    attentionScale: 'number?',
    attentionSoftcap: 'number',
    logitSoftcap: 'number',
    postNorms: 'flag',
    tokenTypes: 'whole',
    embeddingNorm: 'flag',
    head: 'flag',
    headBias: 'flag',
    qkNormOf: { choice: ['head', 'rotated', 'whole'], of: 'QkNorm' },
    firstNorm: 'flag',
    symmetricWindow: 'flag',
    relativeBuckets: 'whole',
    relativeMaxDistance: 'whole',
    encoderLayers: 'whole',
    numExperts: 'whole',
    expertsPerToken: 'whole',
    normalizedExperts: 'flag',
    headTransform: {
      choice: ['none', 'relu', 'gelu', 'gelu_tanh', 'silu', 'tanh'],
      of: 'HeadTransform',
    },
    headNorm: 'flag',
    classes: 'whole',
    headPooling: { choice: ['none', 'first', 'mean', 'last'], of: 'HeadPooling' },
  },
  // What a pass reads and changes beside its results. Sites are numbered as ModelSite; an end below 0 is that of its axis.
  modelSites: {
    // Rows of 4: site, layer, first row, end of rows. Their arrays are one after another in `read`, each dense and of the
    // shape that ModelSite says.
    reads: 'ints',
    read: 'results',
    // Rows of 14: site, layer, head (below 0: all), begin and end of the batch, of rows, of keys and of columns; whether there
    // is a scale; what the value is: 0 none, 1 a number, 2 a row of the last axis, 3 all that is chosen; the same of what is
    // added. `numbers` has the scale, value and addend of each, one after another.
    edits: 'ints',
    numbers: 'floats',
    // Rows of 4: layer, tokens to tell, first row, end of rows. The tokens (int32) and probabilities of each are [batch, rows,
    // tokens], one after another.
    lenses: 'ints',
    guesses: 'results',
    probabilities: 'results',
  },
  // The stream before a layer, [batch, T, dModel], in place of the embeddings and of the layers before it.
  modelBegin: { stream: 'floats', layer: 'whole' },
  sampling: {
    temperature: 'number',
    topK: 'whole',
    topP: 'number',
    minP: 'number',
    repetitionPenalty: 'number',
    frequencyPenalty: 'number',
    presencePenalty: 'number',
    seed: 'number',
    step: 'number',
  },
  // What a choice of a token reads and writes beside logits; all may be left out.
  choice: {
    // Tokens so far, which the penalties are for.
    seen: 'ints',
    // Tokens, and what is added to the logit of each.
    biasIds: 'ints',
    biases: 'floats',
    // A bit for each token, in words of 32.
    allowed: 'ints',
    // The likeliest tokens (int32), and the logarithms of their probabilities: as many as `topIds` has elements.
    topIds: 'results',
    topLogProbabilities: 'results',
  },
});

/** One record for each operator. Numbers that they find are float64, of two words each. */
export const operators = /** @type {const} */ ({
  createModel: {
    fields: {
      config: { group: 'modelConfig' },
      format: { choice: ['f32', 'bf16', 'int8', 'f16', 'int4', 'q4_k'], of: 'WeightFormat' },
      // Of each array, by its place in this list.
      formats: 'ints',
    },
  },
  destroyModel: { fields: { object: { object: 'LanguageModel' } } },
  // Arrays, parameters and bytes.
  countModel: { fields: { model: { object: 'LanguageModel' }, found: 'results' } },
  // The rank and two extents of array `index`, its type, rows and bytes of a row as readModel gives them; what the operator
  // made is its name.
  describeModelArray: {
    fields: { model: { object: 'LanguageModel' }, index: 'whole', found: 'results' },
  },
  // Rows where they are in memory.
  fillModel: {
    fields: {
      model: { object: 'LanguageModel' },
      index: 'whole',
      type: {
        choice: [
          ...['f32', 'f16', 'bf16', 'q8_0', 'int8', 'q4_0', 'q4_1', 'q5_0', 'q5_1', 'q2_k'],
          ...['q3_k', 'q4_k', 'q5_k', 'q6_k', 'iq4_nl', 'iq4_xs'],
        ],
        of: 'NumberType',
      },
      data: 'bytes',
      count: 'whole',
      rowBytes: 'whole',
      layout: { choice: ['in_out', 'out_in'], of: 'WeightLayout' },
      // float16.
      scales: 'bytes',
      scaleStride: 'whole',
      plus: 'number',
      factor: 'number',
    },
  },
  // Rows as they are kept, in memory that has room for them.
  readModel: {
    fields: {
      model: { object: 'LanguageModel' },
      index: 'whole',
      first: 'whole',
      count: 'whole',
      rows: 'results',
    },
  },
  finishModel: { fields: { model: { object: 'LanguageModel' } } },
  forwardModel: {
    fields: {
      model: { object: 'LanguageModel' },
      ids: 'ints',
      tokenTypes: 'ints',
      keyLengths: 'ints',
      session: { object: 'Conversation' },
      // In its place the addresses of sessions, one for each row.
      sessions: 'ints',
      logits: 'results',
      hidden: 'results',
      surprisal: 'results',
      sites: { group: 'modelSites' },
      begin: { group: 'modelBegin', optional: true },
    },
  },
  // What each part of the stream gives of a logit, or of one less another (`instead`, below 0: none), at a token (`row`, below 0:
  // the last) of a row of the batch. Numbers that are found are float64, of two words each: `parts` [layers, heads + 3] has the
  // heads, what else attention adds, cross-attention and the feed-forward layer; `rest` [3] the embedding, the rest and the total.
  attributeModel: {
    fields: {
      model: { object: 'LanguageModel' },
      ids: 'ints',
      tokenTypes: 'ints',
      keyLengths: 'ints',
      session: { object: 'Conversation' },
      // Its edits alone.
      sites: { group: 'modelSites' },
      begin: { group: 'modelBegin', optional: true },
      batch: 'whole',
      row: 'whole',
      answer: 'whole',
      instead: 'whole',
      parts: 'results',
      rest: 'results',
    },
  },
  // Of each token (`stream` [tokens, dModel], or its embedding) and head of a layer: the place of its own logit through the head,
  // from -1 to 1, [tokens, heads].
  copyingModel: {
    fields: {
      model: { object: 'LanguageModel' },
      layer: 'whole',
      ids: 'ints',
      stream: 'floats',
      scores: 'results',
    },
  },
  // A pass, and a token that follows the last of `ids`: it and the logarithm of its probability.
  generateToken: {
    fields: {
      model: { object: 'LanguageModel' },
      ids: 'ints',
      session: { object: 'Conversation' },
      sites: { group: 'modelSites' },
      sampling: { group: 'sampling' },
      choice: { group: 'choice' },
      found: 'results',
    },
  },
  // A pass for several sessions of one row each, and a token for each of them. `sessions` has their addresses. Of each row
  // `sampling` has the numbers of the group of this name as float64, two words each, in its order; `seen`, `biasIds` and
  // `biases` have the lists of all rows one after another, up to `seenEnds` and `biasEnds`; `allowed` has a row of words for
  // each, `topIds` and `topLogProbabilities` likewise; with `topAfterChanges` they are the likeliest after biases, penalties and
  // masks. Of each the token and the logarithm of its probability are found.
  generateTokens: {
    fields: {
      model: { object: 'LanguageModel' },
      ids: 'ints',
      sessions: 'ints',
      sampling: 'floats',
      seen: 'ints',
      seenEnds: 'ints',
      biasIds: 'ints',
      biases: 'floats',
      biasEnds: 'ints',
      allowed: 'ints',
      topIds: 'results',
      topLogProbabilities: 'results',
      topAfterChanges: 'flag',
      found: 'results',
    },
  },
  // The same of logits that the caller has, [vocabulary].
  sampleToken: {
    fields: {
      logits: 'floats',
      sampling: { group: 'sampling' },
      choice: { group: 'choice' },
      found: 'results',
    },
  },
  // The bytes of what it made.
  createSession: {
    fields: {
      model: { object: 'LanguageModel' },
      batch: 'whole',
      capacity: 'whole',
      format: { choice: ['f32', 'bf16', 'int8'], of: 'CacheFormat' },
      sourceCapacity: { kind: 'whole', caller: 'source' },
      found: 'results',
    },
  },
  // What the encoder reads for all tokens of a session.
  encodeSource: {
    fields: {
      model: { object: 'LanguageModel' },
      source: 'ints',
      session: { object: 'Conversation' },
      // Of the encoder's layers, without lenses.
      sites: { group: 'modelSites' },
    },
  },
  // Another session of the same tokens; the bytes of what it may take.
  forkSession: { fields: { session: { object: 'Conversation' }, found: 'results' } },
  // Forgets tokens [begin, end); those after them move down.
  removeTokens: {
    fields: {
      model: { object: 'LanguageModel' },
      session: { object: 'Conversation' },
      begin: 'whole',
      end: 'whole',
    },
  },
  // How many bytes saveSession writes.
  measureSession: { fields: { session: { object: 'Conversation' }, found: 'results' } },
  saveSession: {
    fields: {
      model: { object: 'LanguageModel' },
      session: { object: 'Conversation' },
      bytes: 'results',
    },
  },
  // Bytes, batch, capacity and length of what it made.
  restoreSession: {
    fields: {
      model: { object: 'LanguageModel' },
      from: 'bytes',
      capacity: 'whole',
      found: 'results',
    },
  },
  truncateSession: { fields: { session: { object: 'Conversation' }, length: 'whole' } },
  destroySession: { fields: { object: { object: 'Conversation' } } },
});
