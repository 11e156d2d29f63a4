// @build each
// qkv/models: on which engines it works, what it exports, and what it shares.
import assert from 'node:assert/strict';
import { cpSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { test } from 'node:test';
import * as qkv from 'qkv';
import * as inline from 'qkv/inline';
import * as models from 'qkv/models';
import * as train from 'qkv/train';
import { expectRejects, expectSame, expectThrows } from '../../support/js/check.js';
import { root } from '../../support/js/files.js';
import { kinds, rowsOf } from '../../support/js/model-kinds.js';
import { randomWeights } from '../../support/js/model-oracle.js';

const { create, load } = models;
const config = kinds.gpt2;
const weights = randomWeights(config, 2);
const ids = rowsOf(config, 8);
const logitsOf = (engine) => {
  const model = create(engine, config, weights);
  const { logits } = model.forward(ids);
  model.dispose();
  return logits.data;
};
const expected = logitsOf(await qkv.init({ deterministic: true }));

for (const [name, entry] of Object.entries({ 'qkv/inline': inline, 'qkv/train': train })) {
  test(`models: an engine of ${name} does as well, with the same bits`, async () => {
    const engine = await entry.init({ deterministic: true });
    expectSame(logitsOf(engine), expected, 'logit');
    // And what it had before it has still.
    const { data } = engine.layerNorm({ data: Float32Array.of(1, 3), shape: [1, 2] });
    assert.deepEqual(Array.from(data, Math.round), [-1, 1]);
    engine.dispose();
  });
}

test('models: trainers train as before on an engine that has models, and are the same models', async () => {
  const engine = await train.init({ deterministic: true });
  const before = engine.languageModel(config, { seed: 3, deviation: 0.2 });
  logitsOf(engine);
  const trainer = engine.languageModel(config, { seed: 3, deviation: 0.2 });
  const batch = { ids, targets: ids.slice(1).concat(-1), batch: 1 };
  assert.deepEqual(trainer.step(batch), before.step(batch));
  const { names, value } = trainer.parameters();
  const trained = Object.fromEntries(names.map((name) => [name, value(name)]));
  const model = create(engine, trainer.model.config, trained);
  const [own, same] = [model, trainer.model].map((of) => of.forward(ids).logits.data);
  own.forEach((x, i) => assert.ok(Math.abs(x - same[i]) < 1e-5, `logit ${i}: ${x}, ${same[i]}`));
  assert.equal(model.parameterCount, trainer.parameterCount);
  assert.ok(Math.abs(model.loss(ids) - trainer.model.loss(ids)) < 1e-5);
  // A config that was filled in is one that a trainer takes.
  engine.languageModel(model.config).dispose();
  for (const one of [model, trainer, before]) one.dispose();
  engine.dispose();
});

test('models: a file that a trainer saved is loaded without a config', async () => {
  const engine = await train.init();
  const trainer = engine.languageModel(config, { seed: 3, deviation: 0.2 });
  for (const [format, bound] of [
    ['f32', 1e-5],
    ['bf16', 0.05],
  ]) {
    // prettier-ignore
    const bytes = trainer.save({ format, optimizer: format === 'f32' });
    const model = await load(engine, { weights: bytes.buffer });
    assert.equal(model.format, format);
    const [own, same] = [model, trainer.model].map((of) => of.forward(ids).logits.data);
    own.forEach((x, i) => assert.ok(Math.abs(x - same[i]) < bound, `logit ${i}: ${x}, ${same[i]}`));
    model.dispose();
  }
  trainer.dispose();
  engine.dispose();
});

test('models: what is no engine of this copy of the package is refused', async (t) => {
  const folder = mkdtempSync(join(tmpdir(), 'qkv-copy-'));
  t.after(() => rmSync(folder, { recursive: true, force: true }));
  cpSync(join(root, 'dist'), folder, {
    recursive: true,
    filter: (path) => !/\.d\.ts$|[/\\]web$/.test(path),
  });
  const other = await import(pathToFileURL(join(folder, 'index.js')));
  const engine = await qkv.init();
  const foreign = await other.init();
  const wrong = [
    [undefined, 'undefined'],
    [null, 'null'],
    [3, '3'],
    [{}, 'Object'],
    [foreign, 'Object'],
    [{ ...engine }, 'Object'],
    [Object.create(engine), 'Object'],
    [new Proxy(engine, {}), 'Object'],
    [{ [Symbol.for('qkv.inline')]: () => 3 }, 'Object'],
  ];
  for (const [given, was] of wrong) {
    const says = [`engine is ${was}`, 'qkv, qkv/inline or qkv/train', 'this copy'];
    expectThrows(() => create(given, config, weights), 'create', 'invalid_argument', ...says);
    await expectRejects(load(given, { weights: new Blob() }), 'load', 'invalid_argument', ...says);
  }
  foreign.dispose();
});

test('models: a disposed engine is refused by name', async () => {
  const engine = await qkv.init({ shared: false });
  engine.dispose();
  expectThrows(() => create(engine, config, weights), 'create', 'disposed', 'the engine');
  await expectRejects(load(engine, { weights: new Blob() }), 'load', 'disposed', 'the engine');
});

test('models: the class of errors is that of qkv, and so are the functions that make arrays', () => {
  assert.equal(models.QkvError, qkv.QkvError);
  assert.equal(models.array, qkv.array);
  assert.deepEqual(Object.keys(models).sort(), [
    ...['QkvError', 'array', 'charactersTokenizer', 'cosineSimilarity', 'create'],
    ...[
      'huggingFaceTokenizer',
      'jsonTokenizer',
      'llama2cTokenizer',
      'load',
      'modelCache',
      'nearest',
    ],
    ...['random', 'sample', 'toNested', 'zeros'],
  ]);
});

test('models: nothing that is private can be reached on a model or a session', async () => {
  const engine = await qkv.init();
  const model = create(engine, config, weights);
  const session = model.session();
  const dispose = [String(Symbol.dispose ?? Symbol.for('Symbol.dispose')), 'dispose'];
  const tag = 'Symbol(Symbol.toStringTag)';
  const namesOf = (value) => {
    const names = new Set();
    for (let at = value; at && at !== Object.prototype; at = Object.getPrototypeOf(at)) {
      for (const name of Reflect.ownKeys(at)) names.add(String(name));
    }
    return [...names].filter((name) => name !== 'constructor').sort();
  };
  const methods = [
    ...['forward', 'session', 'generate', 'loss', 'embed', 'score', 'fillMask', 'save'],
    ...['attribute', 'sweep', 'headScores', 'normWeights', 'lens'],
    ...['chat', 'chatPrompt', 'encode', 'decode', 'generateAll', 'beams', 'withAdapters'],
  ];
  const fields = [
    ...['config', 'parameterCount', 'bytes', 'format', 'tokenizer', 'tokenizerProblem'],
    ...['pooling', 'ignored', 'chatTemplates'],
  ];
  assert.deepEqual(namesOf(model), [...methods, ...fields, tag, ...dispose].sort());
  const moves = ['truncate', 'remove', 'fork', 'save'];
  const own = ['length', 'capacity', 'bytes', ...moves, tag, ...dispose];
  assert.deepEqual(namesOf(session), own.sort());
  assert.throws(() => (model.config = 1), TypeError);
  assert.throws(() => (session.length = 1), TypeError);
  assert.ok(Object.isFrozen(model.config));
  model.dispose();
  session.dispose();
});
