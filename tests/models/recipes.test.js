// npm run train: recipes, the native trainer behind them, and their logs.
import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { existsSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { promisify } from 'node:util';
import { recipes } from '../../models/recipes/index.js';
import { batches } from '../../models/recipes/random.js';
import { headNames, headScores, withoutHeads } from '../../models/trainer/heads.js';
import { languageModel, seq2seq, trainerOf } from '../../models/trainer/native.js';
import { csv, trainOnce } from '../../models/trainer/run.js';
import { draw, sample } from '../../models/trainer/sample.js';
import { root } from '../../tools/environment.js';

const { induction } = recipes;
const two = induction.variants['two layers'];

test('train: two layers learn induction, as the recipe says', async () => {
  const run = await trainOnce(induction, two, { seed: 1, steps: 200, threads: 1 });
  const { heldOutAccuracy, step } = run.log.at(-1);
  assert.equal(step, 200);
  assert.ok(heldOutAccuracy >= two.expect.atLeast, `${heldOutAccuracy}`);
  assert.ok(run.reached <= 200);
  assert.ok(run.log[0].heldOutLoss > 3, 'it knew nothing at first');
  const lines = csv(run, {
    name: 'induction',
    variantName: 'two layers',
    config: two.config,
    commit: 'abc',
  });
  const [about, config, options, head, ...rows] = lines.trim().split('\n');
  assert.match(about, /^# recipe induction, two layers; commit abc; \w+$/);
  assert.deepEqual(JSON.parse(config.replace('# config ', '')), two.config);
  assert.equal(JSON.parse(options.replace('# options ', '')).seed, 1);
  assert.equal(rows.length, run.log.length);
  for (const row of rows) assert.equal(row.split(',').length, head.split(',').length);
});

test('train: a seed gives the same run again, another seed another', async () => {
  const end = async (seed) => {
    const { log } = await trainOnce(induction, two, { seed, steps: 5, threads: 1 });
    return log.map(({ loss, gradientNorm }) => [loss, gradientNorm]);
  };
  const first = await end(1);
  assert.deepEqual(await end(1), first);
  assert.notDeepEqual(await end(2), first);
});

test('train: every recipe that makes its data makes rows that its models take', async () => {
  const made = Object.entries(recipes).filter(([, { data }]) => !data);
  assert.equal(made.length, 6);
  for (const [name, recipe] of made) {
    for (const [variant, { config }] of Object.entries(recipe.variants)) {
      const trainer = await trainerOf(config, { ...recipe.options, seed: 3 });
      const next = batches({ seed: 3, batch: 4, row: recipe.row });
      const { loss } = await trainer.step(next());
      // Before it has learned anything, a model spreads its guesses over the vocabulary.
      const even = Math.log(config.vocabulary);
      assert.ok(
        Math.abs(loss - even) < 1.5,
        `${name}, ${variant}: ${loss} at first, even is ${even}`,
      );
      trainer.dispose();
    }
  }
});

test('train: a run goes on from its numbers to the same bits', async () => {
  const make = () => languageModel(two.config, { ...induction.options, seed: 4 });
  const [whole, half, rest] = [await make(), await make(), await make()];
  const next = batches({ seed: 4, batch: 8, row: induction.row });
  const data = Array.from({ length: 6 }, () => next());
  for (const batch of data) await whole.step(batch);
  for (const batch of data.slice(0, 3)) await half.step(batch);
  for (let i = 0; i < half.arrays.length; ++i) {
    for (const part of ['value', 'first', 'second']) {
      await rest.write(i, part, await half.read(i, part));
    }
  }
  await rest.setSteps(3);
  for (const batch of data.slice(3)) await rest.step(batch);
  for (let i = 0; i < whole.arrays.length; ++i) {
    assert.deepEqual(await rest.read(i), await whole.read(i), whole.arrays[i].name);
  }
  const { logits, weights } = await whole.forward([1, 2, 3], { layers: [1] });
  assert.equal(logits.length, 3 * two.config.vocabulary);
  assert.deepEqual([...weights[0].subarray(0, 3)], [1, 0, 0], 'the first token reads itself');
  for (const trainer of [whole, half, rest]) trainer.dispose();
});

test('train: a seq2seq model says what it has learned, and how far its gradient reaches', async () => {
  const config = { kind: 'gru_attention', vocabulary: 6, dModel: 16, maxLength: 6 };
  const trainer = await seq2seq(config, { learningRate: 1e-2, deviation: 0.1, seed: 2 });
  // The one pair of 3 4 5 and its end, 1, said after 0.
  const pair = { source: [3, 4, 5], ids: [0, 5, 4, 3], targets: [5, 4, 3, 1], batch: 1 };
  const first = await trainer.evaluate(pair);
  for (let i = 0; i < 60; ++i) await trainer.step(pair);
  const { loss, accuracy } = await trainer.evaluate(pair);
  assert.ok(loss < first.loss / 10 && accuracy === 1, `${first.loss} -> ${loss}`);
  const [said] = await trainer.translate(pair.source, { start: 0, end: 1, most: 6 });
  assert.deepEqual([...said], [5, 4, 3]);
  const norms = await trainer.reach(pair.source);
  assert.equal(norms.length, 3);
  assert.ok(norms.every((norm) => norm > 0));
  await assert.rejects(trainer.step({ ...pair, source: [3, 4, 9] }), /source\[2\] is 9/);
  trainer.dispose();
});

test('sample: a token is drawn by its probability', () => {
  const logits = Float32Array.of(0, Math.log(2), -Infinity, 0); // 1/4, 1/2, 0, 1/4
  for (const [drawn, token] of [[0, 0], [0.24, 0], [0.26, 1], [0.74, 1], [0.76, 3], [0.999, 3]]) {
    assert.equal(draw(logits, 1, drawn), token, `${drawn}`);
  }
  // Half the temperature squares the probabilities: 1/6, 4/6, 0, 1/6.
  for (const [drawn, token] of [[0.16, 0], [0.17, 1], [0.83, 1], [0.84, 3]]) {
    assert.equal(draw(logits, 0.5, drawn), token, `${drawn}`);
  }
}); // prettier-ignore

test('sample: rows end at a token or when they are long enough, the same for a seed', async () => {
  const config = { vocabulary: 4, numLayers: 1, dModel: 8, numHeads: 1, dFeedForward: 0 };
  const trainer = await languageModel({ ...config, maxLength: 12 }, { deviation: 1, seed: 5 });
  const how = { prompt: [1, 2], count: 20, most: 10, end: 0, temperature: 1, seed: 7 };
  const said = await sample(trainer, how);
  assert.equal(said.length, 20);
  const lengths = said.map(({ length }) => length);
  assert.ok(Math.max(...lengths) <= 8 && new Set(lengths).size > 2, `${lengths}`);
  assert.ok(said.every((ids) => !ids.includes(0)));
  assert.deepEqual(await sample(trainer, how), said);
  assert.notDeepEqual(await sample(trainer, { ...how, seed: 8 }), said);
  trainer.dispose();
});

test('train: what the trainer refuses is an error with its sentence', async () => {
  const refused = (config, options, message) =>
    assert.rejects(trainerOf(config, options), { message });
  await refused({ ...two.config, numHeads: 5 }, {}, /d_model is 64, expected a multiple/);
  await refused({ ...two.config, heads: 5 }, {}, 'config has no heads');
  await refused({ ...two.config, norm: 'last' }, {}, 'norm is last, which is unknown');
  await refused(two.config, { learningRate: -1 }, /schedule.peak is -1/);
  await refused({ kind: 'gru', layers: 2 }, {}, 'config has no layers');
  await refused({ kind: 'lstm' }, {}, 'kind is lstm, which is unknown');
  const trainer = await languageModel(two.config);
  const batch = { ids: [1, 2, 99], targets: [1, 1, 1], batch: 1 };
  await assert.rejects(trainer.step(batch), /ids\[2\] is 99, expected \[0, 32\)/);
  await assert.rejects(trainer.read(99), /there is no array 99/);
  trainer.dispose();
});

test('train: the command names what it does not know', async () => {
  const command = (...args) =>
    promisify(execFile)(process.execPath, ['models/trainer/train.js', ...args], { cwd: root });
  await assert.rejects(command('alchemy'), /unknown recipe alchemy, expected induction, reversal/);
  await assert.rejects(
    command('induction', '--variant', 'ten layers'),
    /unknown variant ten layers, expected two layers, one layer/,
  );
});

test('train: a run that was interrupted resumes to the same bits', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'qkv-train-'));
  const checkpoint = join(folder, 'run');
  const how = { seed: 6, steps: 6, threads: 1 };
  const whole = await trainOnce(induction, two, how);
  let rows = 0;
  const interrupted = trainOnce(induction, two, {
    ...{ ...how, checkpoint },
    onRow: () => {
      if ((rows += 1) === 4) throw new Error('interrupted');
    },
  });
  await assert.rejects(interrupted, { message: 'interrupted' });
  assert.ok(existsSync(checkpoint));
  const seen = [];
  const rest = await trainOnce(induction, two, {
    ...{ ...how, checkpoint },
    onRow: ({ step }) => seen.push(step),
  });
  assert.deepEqual(seen, [4, 5, 6], 'three steps were written down');
  for (const [name, { data }] of whole.weights) {
    assert.deepEqual(rest.weights.get(name).data, data, name);
  }
  const told = ({ log }) => log.map(({ step, loss, heldOutLoss }) => [step, loss, heldOutLoss]);
  assert.deepEqual(told(rest), told(whole));
  assert.ok(!existsSync(checkpoint), 'a run that has ended leaves none');
  rmSync(folder, { recursive: true });
});

test('heads: scores by their definition, and without a head its part of the output is gone', async () => {
  const config = { vocabulary: 6, numLayers: 2, dModel: 8, numHeads: 2, dFeedForward: 0, maxLength: 8 }; // prettier-ignore
  const trainer = await languageModel(config, { deviation: 1, seed: 9 });
  const ids = [1, 2, 3, 1, 2, 3];
  const { weights } = await trainer.forward(ids, { layers: [1] });
  const at = (query, key) => weights[0][36 + 6 * query + key];
  const found = (await headScores(trainer, ids)).find(({ name }) => name === '1.1');
  const mean = (all) => all.reduce((a, b) => a + b) / all.length;
  const near = (x, y) => assert.ok(Math.abs(x - y) < 1e-6, `${x}, ${y}`);
  near(found.previous, mean([1, 2, 3, 4, 5].map((query) => at(query, query - 1))));
  near(found.induction, mean([at(3, 1), at(4, 2), at(5, 3)]));
  // Without both heads of both layers the stream is that of the embeddings: each token for itself.
  const logits = async (list) => (await trainer.forward(list)).logits.slice(-6);
  const none = (list) => withoutHeads(trainer, headNames(config), () => logits(list));
  const before = await logits(ids);
  assert.deepEqual(await none([1, 2, 3]), await none([5, 4, 3]));
  assert.deepEqual(await logits(ids), before, 'the weights are back');
  trainer.dispose();
});
