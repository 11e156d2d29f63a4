// What the panel "Watch it learn" trains, in Node: its tasks, scores and runs against what is written here by their definitions.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { pathToFileURL } from 'node:url';
import { join } from 'node:path';
import { root } from '../../support/js/files.js';
import { modules, packageModule } from '../support/engine.js';

const { init } = await import(pathToFileURL(join(root, 'dist/train.js')).href);
const qkv = await init();
const names = [
  ...['worker/attention_temperature', 'shared/tasks', 'shared/head_scores', 'worker/run'],
  ...[
    'worker/noise_study',
    'worker/tunable_trainer',
    'shared/noise_levels',
    'page/run_record',
    'page/guess_outcome',
  ],
];
const web = await modules('domain/random_ints', ...names.map((name) => `features/learn/${name}`));

const TEXT = 'the quick brown fox jumps over the lazy dog, and the dog sleeps on.';

function settingsFor(task, patch = {}) {
  const { defaults } = web.taskOf(task, TEXT);
  const { layers, heads, width, positions, causal } = defaults;
  return {
    ...{ task, seed: 1, layers, heads, width, positions, causal },
    ...{ norm: 'pre', temperature: 1, samples: null, text: TEXT, ...patch },
  };
}

/** Rows as strings: what is read, and what should be answered, `.` where there is no target. */
function rowsOf(id, count, kind = 'train') {
  const task = web.taskOf(id, TEXT);
  const random = web.dice(3);
  return Array.from({ length: count }, () => {
    const { ids, targets } = task[kind](random);
    assert.equal(ids.length, task.length);
    assert.equal(targets.length, task.length);
    for (const each of [...ids, ...targets]) assert.ok(each >= -1 && each < task.vocabulary);
    return {
      read: ids.map((token) => task.words[token]).join(''),
      targets: targets.map((token) => (token < 0 ? '.' : task.answers[token])),
    };
  });
}

test('learn: copying asks for the letters before the bar', () => {
  for (const { read, targets } of rowsOf('copy', 200)) {
    const [letters, again] = read.split('|');
    assert.equal(letters.length, 12);
    assert.equal(again, letters.slice(0, -1));
    assert.equal(targets.join(''), '.'.repeat(12) + letters);
  }
});

test('learn: reversal asks for the letters backwards', () => {
  for (const { read, targets } of rowsOf('reverse', 200)) {
    assert.equal(targets.join(''), [...read].reverse().join(''));
  }
});

test('learn: who gets it: of two people the one who is not named again, and pairs that are held out', () => {
  const task = web.taskOf('names', '');
  const isName = (word) => /^[A-Z]/.test(word) && !['When', 'Then', 'After', 'At'].includes(word);
  const pairs = { train: new Set(), heldOut: new Set() };
  for (const kind of ['train', 'heldOut']) {
    const random = web.dice(3);
    for (let i = 0; i < 300; i += 1) {
      const { ids, targets } = task[kind](random);
      const words = ids.map((id) => task.words[id]);
      const [x, y, again] = words.filter(isName);
      assert.deepEqual([words.length, words.at(-1)], [14, 'to']);
      assert.deepEqual(targets.slice(0, -1), Array(13).fill(-1), 'only the last one has a target');
      const gets = task.answers[targets.at(-1)];
      assert.deepEqual([x, y].sort(), [gets, again].sort());
      pairs[kind].add([x, y].sort().join());
      // The scores of its heads: where the answer was named, and the second mention of the other one.
      const at = (score) => web.keysOf(score, { ids, targets }).at(-1);
      assert.deepEqual(at('gets'), [words.indexOf(gets)]);
      assert.deepEqual(at('gives'), [words.lastIndexOf(again)]);
    }
  }
  assert.deepEqual([...pairs.heldOut].filter((pair) => pairs.train.has(pair)), []);
  assert.ok(pairs.train.size > 100 && pairs.heldOut.size > 20);
}); // prettier-ignore

test('learn: a file of a run is the one of its trainer, with the texts of its tokens', async () => {
  const { run } = runFor(settingsFor('names', { width: 16, heads: 1 }), 2);
  const { load } = await packageModule('models');
  const engine = await (await packageModule('index')).init();
  const model = await load(engine, { weights: run.file() });
  const text = 'When Mary and John went to the shop, John gave a book to';
  const ids = [...model.tokenizer.encode(text)];
  assert.deepEqual(ids.map((id) => run.task.words[id]), text.replace(',', ' ,').split(' '));
  assert.equal(model.tokenizer.decode(ids), ` ${text}`);
  model.dispose();
  run.dispose();
}); // prettier-ignore

test('learn: induction repeats different letters, and asks from the second time on', () => {
  const periods = new Set();
  for (const { read, targets } of rowsOf('induction', 400)) {
    const period = [...read].findIndex((letter, i) => i > 0 && letter === read[0]);
    periods.add(period);
    assert.equal(new Set(read).size, period);
    for (let i = 0; i < read.length; i += 1) {
      assert.equal(read[i], read[i % period]);
      assert.equal(targets[i], i + 1 > period ? read[(i + 1) % period] : '.');
    }
  }
  assert.deepEqual(
    [...periods].sort((a, b) => a - b),
    [6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16],
  );
});

test('learn: sums are right, from their ones on, and none is trained on and judged by', () => {
  const seen = { train: new Set(), heldOut: new Set() };
  for (const kind of ['train', 'heldOut']) {
    for (const { read, targets } of rowsOf('addition', 1000, kind)) {
      const [, a, b] = /^(\d\d)\+(\d\d)=\d\d$/.exec(read);
      seen[kind].add(`${a}+${b}`);
      const sum = String(Number(a) + Number(b)).padStart(3, '0');
      assert.equal(targets.join(''), `.....${[...sum].reverse().join('')}`);
    }
  }
  assert.ok([...seen.heldOut].every((sum) => !seen.train.has(sum)));
});

test('learn: sums that are held out are those whose hash is below a tenth', () => {
  const hash = (a, b) => Number((BigInt(100 * a + b + 1) * 0x9e3779b1n) % 2n ** 32n) / 2 ** 32;
  const all = Array.from({ length: 10_000 }, (_, n) => [Math.floor(n / 100), n % 100]);
  const wanted = all.filter(([a, b]) => hash(a, b) < 0.1).map((pair) => pair.join('+'));
  const drawn = new Set(
    rowsOf('addition', 20_000, 'heldOut').map(({ read }) =>
      read.slice(0, 5).split('+').map(Number).join('+'),
    ),
  );
  assert.deepEqual([...drawn].sort(), wanted.sort());
});

test('learn: the histogram asks how often each letter occurs', () => {
  for (const { read, targets } of rowsOf('histogram', 200)) {
    assert.deepEqual(
      targets,
      [...read].map((letter) => String(read.split(letter).length - 1)),
    );
  }
});

test('learn: characters ask for the next one, and the last fifth is not trained on', () => {
  const shown = TEXT.replaceAll(' ', '␣');
  const cut = Math.ceil(TEXT.length * 0.8);
  for (const kind of ['train', 'heldOut']) {
    const within = kind === 'train' ? shown.slice(0, cut) : shown.slice(cut);
    for (const { read, targets } of rowsOf('characters', 100, kind)) {
      assert.ok(within.includes(read + targets.at(-1)));
      assert.equal(targets.join(''), (read + targets.at(-1)).slice(1));
    }
  }
  for (const text of ['', 'a', 'ab', '猫', '🙂🙂', 'x'.repeat(1000)]) {
    const task = web.taskOf('characters', text);
    assert.ok(task.length >= 1 && task.vocabulary >= 1, text);
    assert.equal(web.probe(task).ids.length, task.length);
  }
});

test('learn: batches depend on task, seed and samples alone, and samples come round', () => {
  const task = web.taskOf('induction', '');
  const take = (seed, samples, count) => {
    const source = web.batches(task, seed, samples);
    return Array.from({ length: count }, () => source.next().value);
  };
  assert.deepEqual(take(5, null, 3), take(5, null, 3));
  assert.notDeepEqual(take(5, null, 1), take(6, null, 1));
  const rows = (batch) =>
    Array.from({ length: batch.batch }, (_, i) => batch.ids.slice(32 * i, 32 * (i + 1)).join());
  for (const samples of [4, 48, 128]) {
    const seen = take(5, samples, samples).flatMap(rows);
    const counts = new Map();
    for (const row of seen) counts.set(row, (counts.get(row) ?? 0) + 1);
    assert.equal(counts.size, samples);
    const often = [...counts.values()];
    assert.ok(Math.max(...often) - Math.min(...often) <= 1, `${often}`);
  }
});

test('learn: scores are the mean weights on the keys of their definitions', () => {
  const ids = [3, 1, 3, 1, 2, 3];
  const targets = [-1, 3, 1, 2, 3, 1];
  const side = ids.length;
  const weights = Float32Array.from({ length: side * side }, (_, i) => ((i * 37) % 101) / 101);
  const at = (query, key) => weights[query * side + key];
  const mean = (values) => values.reduce((a, b) => a + b, 0) / values.length;
  const expected = {
    previous: mean([1, 2, 3, 4, 5].map((i) => at(i, i - 1))),
    // The token of query 2 was at 0, that of 3 at 1, that of 5 at 0 and 2.
    induction: mean([at(2, 1), at(3, 2), at(5, 1) + at(5, 3)]),
    // The answer of query 1 is 3, which is at 0; and so on.
    source: mean([at(1, 0), at(2, 1), 0, at(4, 0) + at(4, 2), at(5, 1) + at(5, 3)].filter(Boolean)),
    mirror: mean([0, 1, 2, 3, 4, 5].map((i) => at(i, 5 - i))),
    same: mean([at(0, 2) + at(0, 5), at(1, 3), at(2, 0) + at(2, 5), at(3, 1), at(5, 0) + at(5, 2)]),
  };
  for (const [score, value] of Object.entries(expected)) {
    const got = web.scoreOf(web.keysOf(score, { ids, targets }), weights);
    assert.ok(Math.abs(got - value) < 1e-6, `${score}: ${got}, ${value}`);
  }
  const even = web.evenScore(web.keysOf('previous', { ids, targets }), true);
  assert.ok(Math.abs(even - mean([2, 3, 4, 5, 6].map((n) => 1 / n))) < 1e-6);
});

const ownTuning = ({ task, text }) => ({
  ...{ rate: 1, dropout: 0 },
  batch: web.taskOf(task, text).defaults.batch,
});
const begun = (settings, tuning) =>
  new web.Run(qkv, settings, { ...ownTuning(settings), ...tuning });

/** A run after so many steps, with all its news as a record of the page. */
function runFor(settings, steps) {
  const run = begun(settings);
  const record = new web.RunRecord(1, settings);
  for (let i = 0; i < steps; i += 1) run.step();
  record.add(run.news(run.writing()), null);
  return { run, record };
}

test('learn: a head of induction forms, and the maps are those of the model', () => {
  const settings = settingsFor('induction', { heads: 1, positions: 'learned' });
  const { run, record } = runFor(settings, 90);
  assert.ok(record.lastJudged.accuracy >= 0.95, `${record.lastJudged.accuracy}`);
  const born = record.births.find(({ score }) => score === 'induction');
  assert.ok(
    born?.layer === 1 && born.head === 0 && born.step % web.JUDGED_EVERY === 0,
    JSON.stringify(born),
  );
  assert.equal(record.loss.length, 90);
  const { weights, scores, answers } = record.latest;
  assert.equal(weights.length, 2 * 32 * 32);
  for (let row = 0; row < weights.length / 32; row += 1) {
    const all = weights.subarray(32 * row, 32 * (row + 1));
    assert.ok(Math.abs(all.reduce((a, b) => a + b) - 1) < 1e-5);
    for (const later of all.subarray((row % 32) + 1)) assert.equal(later, 0);
  }
  const probe = web.probe(web.taskOf('induction', ''));
  const keys = web.keysOf('induction', probe);
  assert.equal(scores[2 + 1], Math.fround(web.scoreOf(keys, weights, 32 * 32)));
  const right = probe.targets.filter((target, i) => target === answers[i]).length;
  assert.ok(right >= 0.9 * probe.targets.filter((target) => target >= 0).length);
  assert.ok(record.writing.accuracy > 0.9, `${record.writing.accuracy}`);
  assert.equal(web.outcomeOf('first', [record], 400).step, record.births[0].step);
  run.dispose();
});

test('learn: the same settings are the same run, whatever is looked at meanwhile', () => {
  const settings = settingsFor('copy', { width: 16, heads: 2 });
  const { run: a } = runFor(settings, 12);
  const b = begun(settings);
  for (let i = 0; i < 12; i += 1) {
    b.step();
    b.news(b.writing());
  }
  assert.deepEqual(a.snapshot(), b.snapshot());
  a.dispose();
  b.dispose();
});

test('learn: a temperature divides the scores, and what a step adds to the queries', () => {
  const settings = settingsFor('reverse', { width: 16, heads: 2 });
  const warm = begun({ ...settings, temperature: 2 });
  const plain = begun(settings);
  const [half, whole] = [warm.snapshot().weights, plain.snapshot().weights];
  for (let row = 0; row < half.length / 16; row += 1) {
    // softmax(s / 2) is the root of softmax(s), normalised.
    const roots = whole.slice(16 * row, 16 * (row + 1)).map(Math.sqrt);
    const sum = roots.reduce((x, y) => x + y);
    roots.forEach((root, i) => assert.ok(Math.abs(half[16 * row + i] - root / sum) < 1e-5));
  }
  for (const run of [warm, plain]) run.dispose();

  // The first step of Adam moves every number by the learning rate.
  const config = {
    vocabulary: 26,
    numLayers: 1,
    dModel: 16,
    numHeads: 2,
    dFeedForward: 0,
    maxLength: 16,
  };
  const options = { seed: 1, learningRate: 3e-3, clipNorm: 0, weightDecay: 0, deviation: 0.08 };
  const trainer = qkv.languageModel(config, options);
  const tempered = new web.Tempered(trainer, 4);
  const names = ['layers.0.attention.wq', 'layers.0.attention.wk'];
  const values = () => names.map((name) => trainer.parameters().value(name).data);
  const before = values();
  tempered.step(web.batches(web.taskOf('reverse', ''), 1, null).next().value);
  const moved = values().map((data, i) =>
    Math.max(...data.map((to, j) => Math.abs(to - before[i][j]))),
  );
  assert.ok(Math.abs(moved[0] / (3e-3 / 4) - 1) < 0.01, `${moved}`);
  assert.ok(Math.abs(moved[1] / 3e-3 - 1) < 0.01, `${moved}`);
  trainer.dispose();
});

test('learn: another learning rate acts from the next step on, on the same weights and moments', () => {
  const config = { vocabulary: 26, numLayers: 1, dModel: 16, numHeads: 2, dFeedForward: 0, maxLength: 16 };
  const fixed = { seed: 1, clipNorm: 0, weightDecay: 0, deviation: 0.08 };
  const making = {
    make: (options) => qkv.languageModel(config, { ...fixed, ...options }),
    ...{ learningRate: { peak: 4e-3, warmup: 2, steps: 50, final: 2e-4 }, temperature: 2 },
  };
  const own = { rate: 1, batch: 32, dropout: 0 };
  const rows = web.batches(web.taskOf('reverse', ''), 1, null);
  const [held, next, ...first] = Array.from({ length: 6 }, () => rows.next().value);
  const [a, b] = [1, 2].map(() => new web.TunableTrainer(making, own));
  for (const batch of first) for (const each of [a, b]) each.step(batch);
  const read = ({ current }) => current.parameters().names.map((name) => current.parameters().value(name).data);
  const before = read(a);
  b.tune({ ...own, rate: 0.1, dropout: 0.5 });
  b.tune({ ...own, rate: 10 });
  assert.deepEqual(read(b), before);
  assert.deepEqual(b.current.evaluate(held), a.current.evaluate(held));
  const [one, ten] = [a.step(next), b.step(next)];
  assert.deepEqual([ten.loss, ten.step], [one.loss, one.step]);
  assert.ok(Math.abs(ten.learningRate / one.learningRate - 10) < 1e-4, 'the schedule goes on');
  // A step of AdamW is proportional to the rate, in the folded queries, too.
  const [slow, fast] = [read(a), read(b)];
  before.forEach((data, i) => data.forEach((from, j) => {
    const [small, large] = [slow[i][j] - from, fast[i][j] - from];
    assert.ok(Math.abs(large - 10 * small) < 2e-6, `${large}, ${small}`);
  }));
  for (const each of [a, b]) each.dispose();
}); // prettier-ignore

test('learn: rows per step and dropout change while a run goes on, and its news say from which step', () => {
  const settings = settingsFor('copy', { width: 16, heads: 2 });
  const a = begun(settings, { batch: 8, dropout: 0.3 });
  const b = begun(settings);
  b.tune({ rate: 1, batch: 8, dropout: 0.3 });
  for (let i = 0; i < 4; i += 1) for (const run of [a, b]) run.step();
  assert.deepEqual(a.snapshot(), b.snapshot(), 'as if it had begun so');
  b.tune({ rate: 1, batch: 128, dropout: 0 });
  b.step();
  const { tuned, learningRate } = b.news(null);
  assert.deepEqual(tuned.map(({ step, batch, dropout }) => [step, batch, dropout]), [[0, 32, 0], [0, 8, 0.3], [4, 128, 0]]);
  assert.ok(Math.abs(learningRate - 3e-3) < 1e-8);
  assert.deepEqual(b.news(null).tuned, []);
  for (const run of [a, b]) run.dispose();
  // The rows that come do not depend on how many come at a time.
  for (const samples of [null, 12]) {
    let size = 3;
    const task = web.taskOf('copy', '');
    const [some, all] = [web.batches(task, 5, samples, () => size), web.batches(task, 5, samples, () => 12)];
    const taken = [3, 1, 8].flatMap((count) => {
      size = count;
      const { ids, batch } = some.next().value;
      assert.equal(batch, count);
      return [...ids];
    });
    assert.deepEqual(taken, [...all.next().value.ids]);
  }
}); // prettier-ignore

test('learn: without a mask it looks answers up, and cannot write', () => {
  const { run, record } = runFor(settingsFor('addition', { causal: false }), 40);
  assert.ok(record.accuracy.at(-1) > 0.9, `${record.accuracy.at(-1)}`);
  assert.ok(record.writing.accuracy < 0.6, `${record.writing.accuracy}`);
  run.dispose();
});

test('learn: attention finds the weights of the best estimate', () => {
  const study = new web.NoiseStudy(qkv, 1);
  const { learned: begin, errors: first } = study.news();
  assert.ok(Math.max(...begin) < 0.4);
  while (!study.done) study.step();
  const { learned, optimal, errors } = study.news();
  const precision = web.LEVELS.map((sigma) => sigma ** -2);
  const sum = precision.reduce((a, b) => a + b);
  learned.forEach((weight, i) => {
    assert.ok(Math.abs(optimal[i] - precision[i] / sum) < 1e-9);
    assert.ok(Math.abs(weight - optimal[i]) < 0.03, `${web.LEVELS[i]}: ${weight}, ${optimal[i]}`);
  });
  assert.ok(errors.learned < 1.05 * errors.optimal && errors.optimal < errors.mean);
  assert.ok(first.learned > 3 * errors.learned);
});
