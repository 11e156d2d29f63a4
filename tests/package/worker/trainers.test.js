// @build each
// Trainers in workers: every method does what it does on this thread, bit for bit, and refuses what cannot be.
import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { charactersTokenizer, load } from 'qkv/models';
import { init as here } from 'qkv/train';
import { init } from 'qkv/worker';
import { expectRejects } from '../../support/js/check.js';
import { batchOf, config, how, pairsOf, translating } from '../../support/js/trainers.js';
import { overPort, workerOf } from '../../support/js/workers.js';

let engine;
let local;
before(async () => {
  [engine, local] = await Promise.all([init({ train: true }), here()]);
});
after(async () => {
  await engine.dispose();
  local.dispose();
});

/** The same of a worker and of this thread. */
async function expectAlike(inWorker, onThisThread) {
  assert.deepEqual(await inWorker, onThisThread);
}

describe('worker: a trainer', () => {
  test('of a language model does what it does on this thread, bit for bit', async () => {
    const far = await engine.languageModel(config, how);
    const near = local.languageModel(config, how);
    assert.equal(far.parameterCount, near.parameterCount);
    assert.deepEqual(far.model.config, near.model.config);
    const [arrays, expected] = [far.parameters(), near.parameters()];
    assert.deepEqual(arrays.names, expected.names);
    const name = 'layers.1.attention.wq';
    await expectAlike(far.step(batchOf(1)), near.step(batchOf(1)));
    assert.equal(far.steps, 1);
    await expectAlike(arrays.gradient(name), expected.gradient(name));
    await expectAlike(far.evaluate(batchOf(2)), near.evaluate(batchOf(2)));
    await expectAlike(far.differentiate(batchOf(3)), near.differentiate(batchOf(3)));
    await expectAlike(arrays.gradient(name), expected.gradient(name));
    const value = expected.value(name);
    value.data[0] += 1;
    await arrays.set(name, value);
    near.parameters().set(name, value);
    await expectAlike(arrays.value(name), value);
    for (const options of [undefined, { optimizer: true, format: 'bf16' }]) {
      await expectAlike(far.save(options), near.save(options));
    }
  });

  test('of a language model has its model, read between steps', async () => {
    const far = await engine.languageModel(config, how);
    const near = local.languageModel(config, how);
    await far.step(batchOf(1));
    near.step(batchOf(1));
    const ids = [1, 2, 3, 4, 5, 6];
    const asked = { batch: 2, inspect: { weights: true, projections: true } };
    await expectAlike(far.model.forward(ids, asked), near.model.forward(ids, asked));
    await expectAlike(far.model.loss(ids, { batch: 2 }), near.model.loss(ids, { batch: 2 }));
    const reads = { answer: 3, read: [{ site: 'residual', layers: [1] }] };
    const [there, expected] = [
      await far.model.gradients(ids, reads),
      near.model.gradients(ids, reads),
    ];
    assert.equal(there.value, expected.value);
    for (const part of ['activations', 'gradients']) {
      assert.deepEqual(there[part].get('residual', 1), expected[part].get('residual', 1));
    }
    const patch = { clean: ids, corrupt: [2, 2, 3, 4, 5, 6], answer: 3, instead: 4, site: 'z' };
    await expectAlike(far.model.attributionPatching(patch), near.model.attributionPatching(patch));
  });

  test('that translates does what it does on this thread, bit for bit', async () => {
    const far = await engine.seq2seq(translating, how);
    const near = local.seq2seq(translating, how);
    for (const step of [1, 2]) await expectAlike(far.step(pairsOf(step)), near.step(pairsOf(step)));
    const asked = { start: 0, end: 1, maxLength: 4 };
    await expectAlike(
      far.model.translate([1, 2, 3], asked),
      near.model.translate([1, 2, 3], asked),
    );
    await expectAlike(far.model.reach([1, 2, 3]), near.model.reach([1, 2, 3]));
    await far.run({ batches: [3, 4].map(pairsOf), steps: 2 });
    for (const step of [3, 4]) near.step(pairsOf(step));
    await expectAlike(far.save({ optimizer: true }), near.save({ optimizer: true }));
  });

  test('loads a file, and its steps are known here then', async () => {
    const far = await engine.languageModel(config, how);
    await far.run({ batches: batchOf, steps: 3 });
    const file = await far.save({ optimizer: true });
    const other = await engine.languageModel(config, { ...how, deviation: 0.2 });
    await other.load(file);
    assert.equal(other.steps, 3);
    await expectAlike(other.save({ optimizer: true }), file);
    await expectAlike(other.step(batchOf(4)), await far.step(batchOf(4)));
  });

  test('leaves a file that a model is loaded from in the same worker', async () => {
    const far = await engine.languageModel(config, how);
    const { logits } = await far.model.forward([1, 2, 3]);
    const model = await engine.loadModel({ weights: new Blob([await far.save()]) });
    const { logits: again } = await model.forward([1, 2, 3]);
    assert.deepEqual(again.shape, logits.shape);
    assert.ok(again.data.every((x, i) => Math.abs(x - logits.data[i]) < 1e-5));
  });

  test('trains a model that the worker has loaded further, whole or by adapters', async () => {
    const file = local.languageModel(config, how).save();
    const [there, known] = await Promise.all([
      engine.loadModel({ weights: new Blob([file]) }),
      load(local, { weights: new Blob([file]) }),
    ]);
    for (const options of [{}, { lora: { rank: 2 }, learningRate: 1e-2 }]) {
      const far = await engine.languageModel.from(there, options);
      const near = local.languageModel.from(known, options);
      assert.equal(far.parameterCount, near.parameterCount);
      await far.run({ batches: batchOf, steps: 3 });
      for (const step of [1, 2, 3]) near.step(batchOf(step));
      await expectAlike(far.save(), near.save());
      await expectAlike(far.model.loss([1, 2, 3]), near.model.loss([1, 2, 3]));
      for (const each of [far, near]) await each.dispose();
    }
    await expectRejects(
      engine.languageModel.from(3),
      'languageModel.from',
      'invalid_argument',
      'model is 3',
    );
    await there.dispose();
    known.dispose();
  });

  test('adds gradients of parts to those of the next step', async () => {
    const far = await engine.languageModel(config, how);
    const near = local.languageModel(config, how);
    await expectAlike(far.accumulate(batchOf(1)), near.accumulate(batchOf(1)));
    await expectAlike(far.step(batchOf(2)), near.step(batchOf(2)));
    await expectAlike(far.save(), near.save());
  });

  test('is given back with what it had', async (t) => {
    // Trainers of the other tests, which nothing refers to, may be collected at any time: this engine has none of them.
    const own = await init({ train: true });
    t.after(() => own.dispose());
    const { handles } = await own.memory();
    const far = await own.languageModel(config, how);
    assert.equal((await own.memory()).handles, handles + 1);
    await far.dispose();
    await far.dispose();
    assert.equal((await own.memory()).handles, handles);
    await expectRejects(
      far.step(batchOf(1)),
      'Trainer.step',
      'disposed',
      'this is a disposed trainer',
    );
  });

  test('moves what it loads if it shall', async () => {
    const far = await engine.languageModel(config, how);
    const file = await far.save();
    await far.load(file, { transfer: true });
    assert.equal(file.length, 0);
  });
});

describe('worker: a trainer that is refused', () => {
  test('says why as it does on this thread, and changes nothing', async () => {
    await expectRejects(
      engine.languageModel({ ...config, numHeads: 5 }),
      'languageModel',
      'out_of_range',
      'dModel is 12',
    );
    await expectRejects(
      engine.languageModel(config, { learnRate: 1 }),
      'languageModel',
      'invalid_argument',
      'learnRate',
    );
    await expectRejects(
      engine.languageModel(config, { worker: 1 }),
      'languageModel',
      'out_of_range',
      'worker is 1',
    );
    await expectRejects(
      engine.seq2seq({ ...translating, kind: 'gru2' }),
      'seq2seq',
      'invalid_argument',
      'kind is',
    );
    const far = await engine.languageModel(config, how);
    const state = await far.save({ optimizer: true });
    const wrong = { ...batchOf(1), ids: batchOf(1).ids.map(() => 99) };
    await expectRejects(far.step(wrong), 'Trainer.step', 'out_of_range', 'ids');
    const late = { ...batchOf(1), ids: Promise.resolve([]) };
    await expectRejects(far.step(late), 'Trainer.step', 'invalid_argument', 'batch.ids is');
    await expectRejects(
      far.parameters().value('w'),
      'parameters.value',
      'invalid_argument',
      'name is "w"',
    );
    await expectRejects(far.load(new Uint8Array(3)), 'Trainer.load', 'invalid_argument', 'bytes');
    await expectRejects(far.model.forward([99]), 'TrainedModel.forward', 'out_of_range', 'ids');
    assert.deepEqual(await far.save({ optimizer: true }), state);
  });

  test('where the workers cannot train, says what can', async () => {
    const plain = await init();
    for (const method of ['languageModel', 'seq2seq']) {
      await expectRejects(
        plain[method](config),
        method,
        'unsupported',
        'init({ train: true })',
        'qkv/train',
      );
    }
    await plain.dispose();
  });

  test('init() says what train may be', async () => {
    await expectRejects(
      init({ train: 1 }),
      'init',
      'invalid_argument',
      'train is 1, expected a boolean',
    );
    const { port1, port2 } = new MessageChannel();
    await expectRejects(
      init({ train: true, worker: port1 }),
      'init',
      'invalid_argument',
      'train and worker',
    );
    for (const port of [port1, port2]) port.close();
  });

  test('a message may name no method of a model but those of one', async () => {
    const { engine: far, port2, close } = await overPort({}, here);
    const trainer = await far.languageModel(config);
    const { postMessage } = port2;
    port2.postMessage = (message, transfer) => {
      const args = message.method === 'ofModel' ? ['constructor'] : message.args;
      postMessage.call(port2, { ...message, args }, transfer);
    };
    await expectRejects(
      trainer.model.loss([1, 2]),
      'worker',
      'invalid_argument',
      '"constructor" is no method',
    );
    await close();
  });
});

test('worker: a file with a tokenizer goes on in a worker, bit for bit', async () => {
  const near = local.languageModel(config, how);
  near.step(batchOf(1));
  const tokenizer = charactersTokenizer(Array.from('abcdefghijk'));
  const file = near.save({ optimizer: true, tokenizer });
  const far = await engine.languageModel.fromFile(file, how);
  assert.equal(far.steps, 1);
  await expectAlike(far.save({ optimizer: true }), file);
  await expectAlike(far.step(batchOf(2)), near.step(batchOf(2)));
  const plain = await engine.languageModel(config, how);
  await plain.load(file);
  await expectAlike(plain.save({ optimizer: true, tokenizer }), file);
  // Options may be inherited, beside a tokenizer too.
  const inherited = Object.create({ optimizer: true, format: 'bf16', tokenizer });
  await expectAlike(far.save(inherited), near.save(inherited));
  const wrong = {
    toJSON() {
      throw new Error('not today');
    },
  };
  await expectRejects(
    plain.save({ tokenizer: wrong }),
    ...['Trainer.save', 'invalid_argument', 'tokenizer cannot be read (Error: not today)'],
  );
  await expectRejects(engine.languageModel.fromFile(Uint8Array.of(1)), 'languageModel.fromFile', 'invalid_argument', 'bytes are 1'); // prettier-ignore
  await Promise.all([far.dispose(), plain.dispose()]);
  near.dispose();
});

test('worker: adapters go out and in, and into a model, bit for bit', async () => {
  const own = local.languageModel(config, how);
  const weights = new Blob([own.save()]);
  const [far, near] = [await engine.loadModel({ weights }), await load(local, { weights })];
  const given = { lora: { rank: 2 }, seed: 4 };
  const [there, here] = [await engine.languageModel.from(far, given), local.languageModel.from(near, given)]; // prettier-ignore
  there.step(batchOf(1));
  here.step(batchOf(1));
  const files = here.saveAdapters({ base: 'a/b' });
  await expectAlike(there.saveAdapters({ base: 'a/b' }), files);
  const again = await engine.languageModel.from(far, { lora: { adapters: files } });
  await expectAlike(again.saveAdapters(), files);
  const [tuned, expected] = [await far.withAdapters(files), near.withAdapters(files)];
  await expectAlike(tuned.forward([1, 2, 3]), expected.forward([1, 2, 3]));
  assert.deepEqual(tuned.config, far.config);
  await expectRejects(far.withAdapters({}), 'LanguageModel.withAdapters', 'invalid_argument', 'adapter_config.json'); // prettier-ignore
  const whole = await engine.languageModel(config, how);
  await expectRejects(whole.saveAdapters(), 'Trainer.saveAdapters', 'invalid_argument', 'whole weights'); // prettier-ignore
  for (const each of [tuned, again, there, whole, far]) await each.dispose();
  for (const each of [expected, here, near, own]) each.dispose();
});

test('worker: a worker of yours trains with init of qkv/train', async () => {
  const worker = workerOf(`
    import { parentPort } from 'node:worker_threads';
    import { init } from 'train.js';
    import { serve } from 'worker.js';
    serve(parentPort, init);
  `);
  try {
    const far = await init({ worker });
    const trainer = await far.languageModel(config, how);
    const near = local.languageModel(config, how);
    await trainer.run({ batches: batchOf, steps: 5 });
    for (let step = 1; step <= 5; ++step) near.step(batchOf(step));
    await expectAlike(trainer.save({ optimizer: true }), near.save({ optimizer: true }));
    await far.dispose();
  } finally {
    await worker.terminate();
  }
});
