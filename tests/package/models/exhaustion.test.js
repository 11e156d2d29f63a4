// @build any
// Memory that runs out while a model is loaded, asked and goes on talking, at every place where it may: a typed error, nothing
// changed, nothing lost, and the next call right.
import assert from 'node:assert/strict';
import { after, describe, test } from 'node:test';
import { charactersTokenizer, create, load } from 'qkv/models';
import { zeros } from '../../support/js/arrays.js';
import { expectSame } from '../../support/js/check.js';
import { checkpoint, checkpointConfig } from '../../support/js/checkpoints.js';
import { wasmFile } from '../../support/js/files.js';
import { full, leaveToFullRun } from '../../support/js/full.js';
import { kinds, rowsOf } from '../../support/js/model-kinds.js';
import { randomWeights } from '../../support/js/model-oracle.js';
import { initWithin, leave } from '../../support/js/small-memory.js';
import { bitsOf, pages, starve } from '../../support/js/starve.js';
import { files } from './support/small-files.js';

const engine = await initWithin(pages, { wasm: wasmFile('simd') });
after(() => engine.dispose());

/** A model that has nothing to do with any of this, and what it says. */
const bystander = create(engine, kinds.gpt2, randomWeights(kinds.gpt2, 1));
const said = bystander.forward(rowsOf(kinds.gpt2, 9)).logits.data;

const config = { ...kinds.gemma2, maxLength: 40 };
const weights = randomWeights(config, 3);
const ids = rowsOf(config, 9);
const tokenizer = charactersTokenizer(Array.from('abcdefghijklmnopqrs'));
const everything = {
  ...{ weights: true, entropy: true, residuals: true, logitLens: true, projections: true },
  ablate: [[0, 1]],
};
const places = ['q', 'scores', 'z', 'heads', 'neurons', 'residual'].map((site) => ({ site }));
const changes = [
  { site: 'scores', layer: 0, rows: [4, 5], keys: [1, 2], value: -Infinity },
  { site: 'z', layer: 1, head: 1, value: 0 },
  { site: 'residual', layer: 0, add: new Float32Array(16).fill(0.5) },
];
const drawn = { maxTokens: 6, temperature: 1, seed: 3, repetitionPenalty: 1.1 };

const readingsOf = (layers) =>
  [...layers.values()].flatMap((read) => Object.values(read).map(({ data }) => data));

async function tokensOf(iterable, tokens = []) {
  for await (const token of iterable) tokens.push(token);
  const numbers = tokens.flatMap(({ id, logProbability }) => [id, logProbability]);
  const read = tokens.flatMap(({ layers }) => (layers ? readingsOf(layers) : []));
  return bitsOf(Float32Array.from(numbers), ...read);
}

/** A whole load, up to what the model says. */
const loading = (name, options) => ({
  fns: ['load', 'LanguageModel.forward'],
  prepare: () => ({
    async call() {
      const { source, tokens } = files[name];
      const model = await load(engine, source, options);
      try {
        const { logits, hidden } = model.forward(tokens, { hidden: true });
        return `${model.format} ${bitsOf(logits.data, hidden.data)}`;
      } finally {
        model.dispose();
      }
    },
  }),
});

/** A call of a model that is there, in this format. */
const asking = (fn, call, { of = config, from = weights, ...options } = {}) => ({
  fns: [fn],
  prepare() {
    const model = create(engine, of, from, options);
    return { call: () => call(model), dispose: () => model.dispose() };
  },
});

/** A call that may change a session, which holds some tokens already. */
const inSession = (fn, format, call) => ({
  fns: [fn],
  prepare() {
    const model = create(engine, config, weights, { format: 'int8' });
    const session = model.session({ format });
    model.forward(ids, { session });
    return {
      call: () => call(model, session),
      state: () => session.length,
      dispose() {
        session.dispose();
        model.dispose();
      },
    };
  },
});

const bert = { of: kinds.bert, from: randomWeights(kinds.bert, 2) };
const scoring = {
  ...{ ...kinds.bert, head: true, headBias: true, headTransform: 'tanh', headPooling: 'first' },
  classes: 5,
};
const scorer = { of: scoring, from: randomWeights(scoring, 2) };
const long = { ...config, maxLength: 600 };

const everyday = ['llama2.c', 'safetensors of a trainer in int8', 'GGUF in Q8_0'];
const loaded = full ? Object.keys(files) : everyday;
if (!full) leaveToFullRun('loads of other formats for which there is too little memory');

const scenarios = {
  ...Object.fromEntries(loaded.map((name) => [`load of ${name}`, loading(name)])),
  'load, kept as int8': loading('llama2.c', { format: 'int8' }),
  'load, kept as bf16': loading('llama2.c', { format: 'bf16' }),
  create: {
    fns: ['create', 'LanguageModel.loss'],
    prepare: () => ({
      call() {
        const model = create(engine, config, weights, { format: 'bf16' });
        try {
          return String(model.loss(ids));
        } finally {
          model.dispose();
        }
      },
    }),
  },
  'session of f32': asking('LanguageModel.session', (model) => {
    const session = model.session();
    session.dispose();
    return String(session.bytes);
  }),
  'session of bf16, three rows': asking('LanguageModel.session', (model) => {
    const session = model.session({ format: 'bf16', batch: 3 });
    session.dispose();
    return String(session.bytes);
  }),
  'forward with readings': asking('LanguageModel.forward', (model) => {
    const { logits, hidden, layers } = model.forward(ids, { hidden: true, inspect: everything });
    return bitsOf(logits.data, hidden.data, ...readingsOf(layers));
  }),
  'forward with places': asking('LanguageModel.forward', (model) => {
    const { logits, activations } = model.forward(ids, { read: places, edit: changes });
    return bitsOf(logits.data, ...places.map(({ site }) => activations.get(site, 1).data));
  }),
  attribute: asking('LanguageModel.attribute', (model) => {
    const { parts, total } = model.attribute(ids, { answer: 1, instead: 2, edit: changes });
    return JSON.stringify([parts, total]);
  }),
  lens: asking('LanguageModel.lens', (model) => JSON.stringify(model.lens(ids))),
  headScores: asking('LanguageModel.headScores', (model) =>
    JSON.stringify(model.headScores({ tokens: 8 })),
  ),
  'forward in a session': inSession('LanguageModel.forward', 'bf16', (model, session) =>
    bitsOf(model.forward(ids, { session, inspect: everything }).logits.data),
  ),
  loss: asking('LanguageModel.loss', (model) => String(model.loss(ids)), { format: 'bf16' }),
  embed: asking(
    'LanguageModel.embed',
    async (model) => bitsOf((await model.embed([ids, [1]])).data),
    bert,
  ),
  score: asking(
    'LanguageModel.score',
    async (model) => bitsOf((await model.score([ids, [1], [2, 3]])).data),
    scorer,
  ),
  generate: asking('LanguageModel.generate', (model) => tokensOf(model.generate(ids, drawn))),
  'generate from a text, with readings': asking(
    'LanguageModel.generate',
    (model) => tokensOf(model.generate('bdf', { ...drawn, inspect: everything })),
    { tokenizer },
  ),
  'generate after several pieces': asking(
    'LanguageModel.generate',
    (model) => tokensOf(model.generate(rowsOf(long, 590), drawn)),
    { of: long, from: randomWeights(long, 3) },
  ),
  'generate in a session': inSession('LanguageModel.generate', 'f32', async (model, session) => {
    const told = [];
    try {
      return await tokensOf(model.generate(ids, { ...drawn, session }), told);
    } finally {
      // The prompt, and whatever was told before memory ran out.
      assert.equal(session.length, told.length === 0 ? 9 : 9 + 9 + told.length);
      session.truncate(9);
    }
  }),
};

describe('out of memory: a hole of k bytes', () => {
  let [failed, places] = [0, 0];

  for (const [name, scenario] of Object.entries(scenarios)) {
    test(`out of memory: ${name}`, async () => {
      const found = await starve(engine, scenario);
      [failed, places] = [failed + found.failed, places + found.places.size];
      expectSame(bystander.forward(rowsOf(kinds.gpt2, 9)).logits.data, said, 'logit');
    });
  }

  test('out of memory: allocations did fail', (t) => {
    t.diagnostic(`${failed} calls failed at ${places} different allocations`);
    assert.ok(places > 2 * Object.keys(scenarios).length, `${places}`);
  });
});

test('out of memory: a model too large for the memory is refused, and what was there goes on', async () => {
  const before = engine.memory().handles;
  const wide = checkpointConfig({
    ...{ vocabulary: 2000, numLayers: 2, dModel: 512, numHeads: 4, dFeedForward: 64, maxLength: 8 },
  });
  const file = checkpoint(wide);
  for (let i = 0; i < 3; ++i) {
    await assert.rejects(load(engine, { weights: file }), { code: 'out_of_memory' });
    assert.equal(engine.memory().handles, before);
    expectSame(bystander.forward(rowsOf(kinds.gpt2, 9)).logits.data, said, 'logit');
  }
});

test('out of memory: a sweep for whose passes there is no room is rejected, and right with room', async () => {
  const model = create(engine, config, weights);
  const corrupt = ids.with(2, (ids[2] + 1) % 19);
  const options = { clean: ids, corrupt, answer: 1, instead: 2, site: 'z' };
  const { grid } = await model.sweep(options);
  let failed = 0;
  for (let hole = 0; hole < 2 ** 16; hole += 2 ** 12) {
    // The block that calls share is given back.
    assert.throws(() => engine.gelu(zeros([2 ** 21])), { code: 'out_of_memory' });
    const release = leave(engine, hole);
    const { error } = await model.sweep(options).then(() => ({}), (why) => ({ error: why })); // prettier-ignore
    release();
    if (error) {
      failed += 1;
      assert.equal(error.code, 'out_of_memory', error.stack);
      assert.match(error.message, /^LanguageModel\.sweep: /);
    }
    expectSame((await model.sweep(options)).grid.data, grid.data);
  }
  assert.ok(failed > 0);
  model.dispose();
});
