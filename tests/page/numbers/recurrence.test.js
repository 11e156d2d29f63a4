// What the panel about recurrence computes, in Node: its task, its counts, its slopes, and the models it trains, against what the
// package says of the same rows.
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { pathToFileURL } from 'node:url';
import { gzipSync } from 'node:zlib';
import { recipes } from '../../../models/recipes/index.js';
import { batches } from '../../../models/recipes/random.js';
import { root } from '../../support/js/files.js';
import { modules } from '../support/engine.js';

const { init } = await import(pathToFileURL(join(root, 'dist/train.js')).href);
const qkv = await init({ deterministic: true });
const web = await modules(
  'features/recurrence/shared/{accuracy,model_configs,task}',
  'features/recurrence/worker/{training_loop,three_models}',
  'features/recurrence/page/sentences',
  'domain/random_ints',
);
const { recurrence } = recipes;
const card = JSON.parse(readFileSync(join(root, 'models/recurrence/card.json'), 'utf8'));
const fileOf = (kind) => readFileSync(join(root, `models/recurrence/${kind}.safetensors`));
const trained = () => ({
  files: Object.fromEntries(web.KINDS.map((kind) => [kind, fileOf(kind)])),
  ...{ seed: 1, steps: 1500 },
});

/** All that a desk has to tell until it has nothing more to do, or `enough` says so. */
function work(desk, enough = () => false) {
  const told = [];
  while (desk.busy) {
    told.push(...desk.turn());
    if (enough(told)) break;
  }
  return told;
}

test('recurrence: its rows and its models are those of the recipe', () => {
  const random = web.randomOf(7);
  const next = batches({ seed: 7, batch: recurrence.batch, row: recurrence.row });
  for (let n = 0; n < 3; n++) assert.deepEqual(web.nextRows(random), next());
  assert.deepEqual(web.KINDS, Object.keys(recurrence.variants));
  for (const kind of web.KINDS) {
    const { config, options, steps } = recurrence.variants[kind];
    assert.deepEqual(web.MODELS[kind].config, config);
    assert.deepEqual(web.MODELS[kind].learningRate, options.learningRate);
    assert.deepEqual([web.STEPS, web.DEVIATION], [steps, recurrence.options.deviation]);
  }
});

test('recurrence: what is trained here has the bits of the package, and one size', () => {
  const session = web.Session.begin(qkv, 5);
  const found = web.KINDS.map((kind) => {
    const { config, options } = recurrence.variants[kind];
    const own = qkv.seq2seq(config, { ...recurrence.options, ...options, seed: 5 });
    const next = batches({ seed: 5, batch: recurrence.batch, row: recurrence.row });
    const results = [0, 1].map(() => own.step(next()));
    const file = own.save();
    own.dispose();
    return { results, file, parameters: own.parameterCount };
  });
  for (let n = 0; n < 2; n++) session.step(() => 0);
  web.KINDS.forEach((kind, i) => {
    const { loss, accuracy, steps, parameters } = session.learners[kind];
    const last = found[i].results[1];
    assert.deepEqual([loss, accuracy, steps], [last.loss, last.accuracy, 2], kind);
    assert.equal(parameters, card.models[kind].parameters);
    assert.deepEqual(session.save(kind), found[i].file, kind);
  });
  const sizes = found.map(({ parameters }) => parameters);
  assert.ok(Math.max(...sizes) / Math.min(...sizes) <= 1.01, `${sizes}`);
  session.dispose();
});

test('recurrence: the trained weights are right where the card says, and no longer beyond', () => {
  const desk = new web.Desk(qkv);
  desk.take({ type: 'source', source: [3, 1, 4, 1, 5, 9] });
  const [begun, progress] = desk.take({ type: 'load', ...trained() });
  assert.deepEqual(begun, { type: 'begun' });
  assert.equal(progress.origin, 'before');
  assert.deepEqual([progress.done, progress.running], [true, false]);
  const told = work(desk, (news) => news.filter(({ type }) => type === 'counted').length === 11);
  const { said } = told.find(({ type }) => type === 'spoken');
  for (const kind of web.KINDS) assert.deepEqual(said[kind].ids, [9, 5, 1, 4, 1, 3], kind);
  // Rows of weights add up to 1, and read the mirrored place most.
  assert.deepEqual([said.gru.heads, said.gru_attention.heads, said.transformer.heads], [0, 1, 2]);
  const { weights, rows } = said.gru_attention;
  for (let row = 0; row < rows; row++) {
    const sum = weights.subarray(row * 6, row * 6 + 6).reduce((a, b) => a + b);
    assert.ok(Math.abs(sum - 1) < 1e-5);
  }
  const mean = [0, 1, 2, 3, 4, 5].reduce((sum, row) => sum + weights[row * 6 + 5 - row] / 6, 0);
  assert.ok(Math.abs(web.mirrored([3, 1, 4, 1, 5, 9], said.gru_attention, 0)[0] - mean) < 1e-6);
  const next = [1, 2, 3, 4, 5].reduce((sum, row) => sum + weights[row * 6 + 6 - row] / 6, 0);
  assert.ok(mean + next > 0.8, `${mean} and ${next}`);
  const { tallies } = told.findLast(({ type }) => type === 'counted');
  for (const kind of web.KINDS) {
    for (const { length, accuracy } of card.models[kind].byLength.slice(0, 11)) {
      const tally = tallies[kind].find((each) => each.length === length);
      assert.equal(tally.sequences, 8);
      // 8 sequences here and 100 there: four standard deviations of their difference, which is that of whole sequences.
      const bound = 4 * Math.sqrt(accuracy * (1 - accuracy) * (1 / 8 + 1 / 100)) + 0.05;
      assert.ok(Math.abs(web.accuracyOf(tally) - accuracy) <= bound, `${kind} ${length}`);
    }
  }
  const { first, now } = told.find(({ type }) => type === 'reached');
  // Before training a GRU forgets by the same factor at every step, and a transformer does not.
  assert.ok(web.factorOf(first.gru) < 0.75 && first.gru[39] < 1e-5);
  assert.ok(web.factorOf(first.transformer) > 0.95 && first.transformer[39] > 1e-2);
  assert.ok(now.gru[19] > 100 * first.gru[19]);
  desk.session.dispose();
});

test('recurrence: norms are those of the package, averaged on a logarithmic scale', () => {
  const session = web.Session.begin(qkv, 5);
  const { config, options } = recurrence.variants.gru;
  const own = qkv.seq2seq(config, { ...recurrence.options, ...options, seed: 5 });
  const random = web.randomOf(0x40000000);
  const all = [0, 1, 2, 3].map(() => own.model.reach(web.sequence(random, 40)));
  session.reach('gru').forEach((norm, distance) => {
    const product = all.reduce((a, norms) => a * norms[distance], 1);
    assert.ok(Math.abs(norm / product ** (1 / 4) - 1) < 1e-9, `${distance}`);
  });
  own.dispose();
  session.dispose();
});

test('recurrence: a run pauses, goes on, and is begun again with the same bits', () => {
  const desk = new web.Desk(qkv);
  const order = (type) => desk.take({ type, seed: 3, running: true }).at(-1);
  assert.equal(order('begin').running, true);
  // Nobody waits for what untrained models say: after the reach of their gradients come steps.
  for (let n = 0; n < 2; n++) desk.turn();
  assert.ok(desk.session.steps > 0);
  while (desk.session.steps < 2) desk.turn();
  const paused = order('pause');
  assert.equal(paused.running, false);
  const { steps } = desk.session;
  for (let n = 0; n < 4; n++) desk.turn();
  assert.equal(desk.session.steps, steps, 'it rests');
  assert.equal(order('step').learners.gru.steps, steps + 1);
  const file = desk.session.save('transformer');
  order('begin');
  order('pause');
  for (let n = 0; n <= steps; n++) order('step');
  assert.deepEqual(desk.session.save('transformer'), file);
  desk.session.dispose();
});

test('recurrence: the files of trained weights are as small as the button says', () => {
  const bytes = web.KINDS.map((kind) => gzipSync(fileOf(kind), { level: 9 }).length);
  const sum = bytes.reduce((a, b) => a + b);
  assert.equal(Math.round(sum / 1000), web.TRAINED_KB);
  assert.ok(sum <= 150_000);
});
