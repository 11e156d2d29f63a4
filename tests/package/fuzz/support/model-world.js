// Worlds with language models, and with trainers.
import { charactersTokenizer, create, load, sample } from 'qkv/models';
import { kinds, pairs } from '../../../support/js/model-kinds.js';
import { randomWeights } from '../../../support/js/model-oracle.js';
import { World } from './world.js';

export const letters = Array.from('abcdefghijklmnopqrs');

/** A model of classes, and one of masked tokens. */
const heads = {
  scorer: { ...kinds.bert, head: true, headTransform: 'tanh', headPooling: 'first', classes: 3 },
  masked: { ...kinds.bert, head: true, tiedEmbeddings: true, headBias: true },
};

/** Each model is made once, so that a session among the arguments is of the model that has the method. */
export class ModelWorld extends World {
  #models = new Map();

  /** What has the functions that make models. */
  package() {
    return { create, load, sample };
  }
  self() {
    return this.engine;
  }
  model(name = 'llama') {
    let model = this.#models.get(name);
    if (!model) {
      const tokenizer = name === 'llama' ? charactersTokenizer(letters) : undefined;
      const config = kinds[name] ?? pairs[name] ?? heads[name];
      model = this.keep(create(this.engine, config, randomWeights(config, 4), { tokenizer }));
      this.#models.set(name, model);
    }
    return model;
  }
  session(options) {
    const session = this.keep(this.model().session(options));
    this.model().forward([1, 2, 3], { session });
    return session;
  }
}

const sizes = { vocabulary: 6, dModel: 8, numHeads: 2, maxLength: 5 };
const batches = {
  languageModel: { batch: 1, ids: [1, 2, 3], targets: [2, 3, 4] },
  seq2seq: { batch: 1, ids: [1, 2, 3], targets: [2, 3, -1], source: [4, 5] },
};

export class TrainWorld extends World {
  #trainers = new Map();

  trainer(kind) {
    let trainer = this.#trainers.get(kind);
    if (!trainer) {
      const config = kind === 'seq2seq' ? { kind: 'gru_attention' } : { numLayers: 1, dFeedForward: 12 }; // prettier-ignore
      trainer = this.keep(this.engine[kind]({ ...sizes, ...config }, { seed: 3, dropout: 0.1 }));
      trainer.step(batches[kind]);
      this.#trainers.set(kind, trainer);
    }
    return trainer;
  }
  trained(kind) {
    return this.trainer(kind).model;
  }
  parameters(kind) {
    return this.trainer(kind).parameters();
  }
}
