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
import { inFullRun } from '../../support/js/full.js';
import { modules } from '../support/engine.js';

const { init } = await import(pathToFileURL(join(root, 'dist/train.js')).href);
const qkv = await init({ deterministic: true });
const folder = 'features/recurrence/';
const web = await modules(
  ...[
    'shared/accuracy',
    'page/crossing',
    'worker/training_loop',
    'shared/model_configs',
    'worker/three_models',
    'shared/timing_settings',
    'shared/task',
    'page/panel_html',
    'worker/layer_timing',
    'page/sentences',
  ].map((name) => folder + name),
  ...['domain/power_fit', 'domain/random_ints'],
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

test('recurrence: digits are right at their places, and only there', () => {
  assert.deepEqual(web.marks([1, 2, 3], [3, 2, 1]), [true, true, true]);
  assert.deepEqual(web.marks([1, 2, 3], [3, 1]), [true, false, false]);
  const [tally, other] = web.emptyTallies();
  web.count(tally, [[1, 2, 3, 4], [5, 6, 7, 8]], [[4, 3, 2, 1, 1], [8, 7, 0, 5]]); // prettier-ignore
  assert.deepEqual(tally, { length: 4, sequences: 2, right: 7, whole: 0 });
  assert.equal(web.accuracyOf(tally), 7 / 8);
  web.count(other, [[1, 1, 1, 1, 1, 1]], [[1, 1, 1, 1, 1, 1]]);
  assert.equal(other.whole, 1);
  const tallies = [tally, other];
  assert.equal(
    web.accuracyWhere(tallies, () => true),
    13 / 14,
  ); // each digit once
  assert.ok(Number.isNaN(web.accuracyOf(web.emptyTallies()[3])));
  assert.deepEqual(web.readSource('3.14 一2'), [3, 1, 4, 2]);
  assert.equal(web.readSource('9'.repeat(99)).length, 40);
});

test('recurrence: slopes, their errors and crossings are those of the formulas', () => {
  const xs = [1, 2, 4, 8];
  const line = web.fitPower(
    xs,
    xs.map((x) => 3 * x ** 1.5),
  );
  assert.ok(Math.abs(line.slope - 1.5) < 1e-12 && Math.abs(line.factor - 3) < 1e-12);
  assert.ok(line.spread < 1e-12);
  // By hand, in powers of two: u = 0 1 2 3, v = 0 1 3 4; slope 7/5, rest 1/5, error sqrt(1/5 / 2 / 5).
  const bent = web.fitPower(xs, [1, 2, 8, 16]);
  assert.ok(Math.abs(bent.slope - 1.4) < 1e-12, `${bent.slope}`);
  assert.ok(Math.abs(bent.spread - Math.sqrt(0.02)) < 1e-12, `${bent.spread}`);
  assert.ok(Number.isNaN(web.fitPower([1, 2], [1, 2]).spread));
  // x and x^2 / 3 cross at 3.
  const second = xs.map((x) => x ** 2 / 3);
  assert.ok(Math.abs(web.crossing(xs, xs, second) - 3) < 1e-12);
  assert.equal(web.crossing(xs, xs, xs.map((x) => 2 * x)), null); // prettier-ignore
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
  const [progress] = desk.take({ type: 'load', ...trained() });
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

inFullRun('a hundred steps of the panel on recurrence', () => {
  test('recurrence: while models learn, every hundred steps tell how far gradients reach, and what is right of every other length', () => {
    const desk = new web.Desk(qkv);
    desk.take({ type: 'begin', seed: 3, running: true });
    const told = work(desk, (news) => news.filter(({ type }) => type === 'counted').length > 0);
    const reached = told.filter(({ type }) => type === 'reached').map(({ steps }) => steps);
    assert.deepEqual(reached, [0, 100]);
    const { tallies, steps } = told.at(-1);
    const asked = tallies.gru.map(({ sequences }) => sequences > 0);
    const everyOther = asked.map((_, i) => i % 2 === 0);
    assert.deepEqual([steps, asked], [100, everyOther]);
    desk.session.dispose();
  });
});

test('recurrence: one digit is a source, and is said again every twenty steps', () => {
  const desk = new web.Desk(qkv);
  desk.take({ type: 'begin', seed: 3, running: true });
  desk.take({ type: 'source', source: [7] });
  const spokenOf = (news) => news.filter(({ type }) => type === 'spoken');
  const said = spokenOf(work(desk, (news) => spokenOf(news).length === 2));
  assert.deepEqual(
    said.map(({ source, steps }) => [source, steps]),
    [[[7], 0], [[7], 20]], // prettier-ignore
  );
  desk.session.dispose();
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

test('recurrence: what is measured are medians of both at every length', () => {
  // A clock that goes on by 4 ms at each look: a timing is over after two passes, and looks four times.
  let clock = 0;
  const all = [...web.timings(qkv, () => (clock += 4), [16, 32])];
  assert.equal(all.length, 2 * web.REPEATS);
  const last = all.at(-1);
  assert.deepEqual(last.map(({ length }) => length), [16, 32]); // prettier-ignore
  for (const { gru, attention } of last) {
    assert.deepEqual([gru.median, attention.median, gru.low, gru.high], [6, 6, 6, 6]);
  }
});

test('recurrence: the files of trained weights are as small as the button says', () => {
  const bytes = web.KINDS.map((kind) => gzipSync(fileOf(kind), { level: 9 }).length);
  const sum = bytes.reduce((a, b) => a + b);
  assert.equal(Math.round(sum / 1000), web.TRAINED_KB);
  assert.ok(sum <= 150_000);
});

/** Tallies of all lengths with a part of the digits right; lengths above `last` are not counted yet. */
const talliesOf = (part, last = 40) =>
  web.emptyTallies().map((tally) => {
    const { length } = tally;
    if (length > last) return tally;
    return { ...tally, sequences: 8, right: Math.round(8 * length * part(length)) };
  });

test('recurrence: sentences say what was counted, and nothing before', () => {
  const parts = { gru: 0.5, gru_attention: 1, transformer: 1 };
  const counted = (last, far) => ({
    steps: 300,
    tallies: Object.fromEntries(
      web.KINDS.map((kind) => [
        kind,
        talliesOf((length) => (length > 20 ? far : parts[kind]), last),
      ]),
    ),
  });
  web.setLanguage('en');
  const some = web.accuracyWords(counted(26, 0.25), false);
  assert.equal(some.length, 2, 'not of the longer lengths, which are not all there');
  assert.match(some[0], /vector 50%, GRU with attention 100%, transformer 100%/);
  assert.match(some[1], /Counted after 300 steps: 8 random/);
  const all = web.accuracyWords(counted(40, 0.25), true);
  assert.match(all[1], /22 to 40.*vector 25%, GRU with attention 25%, transformer 25%/);
  assert.match(all[2], /All three are worse/);
  assert.match(all[3], /loaded weights/);
  assert.equal(web.accuracyWords(counted(40, 0.5), false).length, 3, 'not all three drop');
  web.setLanguage('zh');
  assert.match(web.accuracyWords(counted(40, 0.25), false)[1], /22 到 40.*固定向量的 GRU 25%/);
  web.setLanguage('en');
});

test('recurrence: sentences say how times grow, and which is faster where', () => {
  const timings = (gru, attention) => {
    const spread = (value) => ({ median: value, low: value, high: value });
    return web.LENGTHS.map((length) => ({
      ...{ length, gru: spread(gru(length)), attention: spread(attention(length)) },
    }));
  };
  const words = (...layers) => web.costWords(timings(...layers)).join(' ');
  const linear = (length) => length / 100;
  assert.match(
    words(linear, (length) => length ** 2 / 20000),
    /T = 256 to 2048.*GRU 1\.00 ± 0\.00, attention 2\.00 ± 0\.00\. Attention is faster up to about T = 200;/,
  );
  assert.match(
    words(linear, (length) => length / 200),
    /Attention is faster at every length/,
  );
  assert.match(
    words(linear, (length) => length / 50),
    /The GRU is faster at every length/,
  );
  assert.match(
    words((length) => length ** 2 / 20000, linear),
    /GRU is faster up to about T = 200;/,
  );
  assert.deepEqual(web.costWords(timings(linear, linear).slice(1)), [], 'only when all are there');
  const norms = Float64Array.from({ length: 40 }, (_, distance) => 3 * 0.5 ** distance);
  const flat = new Float64Array(40).fill(0.2);
  const of = { gru: norms, gru_attention: norms, transformer: flat };
  const [first, now] = web.reachWords({ first: of, now: of });
  assert.match(first, /by 0\.50 in the GRU and by 0\.50 .*distance 39 is 1\.0 times/);
  assert.match(now, /vector 3\.8×10⁻⁶, .*transformer 1\.0\.$/);
});

test('recurrence: sizes differ by as many per cent as the largest has more than the smallest', () => {
  const spread = (...sizes) =>
    web.spreadOfSizes({
      learners: Object.fromEntries(web.KINDS.map((kind, i) => [kind, { parameters: sizes[i] }])),
    });
  assert.equal(spread(1000, 1004, 1200), '20');
  // 9.94: a hundredth more of it is 10.
  assert.equal(spread(10994, 10500, 10000), '9.9');
  assert.equal(spread(10000, 10000, 10149), '1.5');
});
