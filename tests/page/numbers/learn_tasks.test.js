// @about web/src/features/learn/
// What the panel "Watch it learn" trains on, in Node: all that its tasks say of themselves, the rows that seeds decide, and what
// a link, a task and an experiment make of a run.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { modules } from '../support/engine.js';
import { requireWritten } from '../support/operate.js';

const web = await modules(
  'domain/random_ints',
  ...[
    'shared/tasks',
    'shared/text_task',
    'shared/head_scores',
    'page/settings_of_state',
    'state',
    'page/experiments',
    'shared/run_settings',
    'worker/snapshots',
  ].map((name) => `features/learn/${name}`),
);

const listed = (value) => JSON.stringify(value, (_key, part) => part ?? null);
/** A batch, or a row, by the first of its numbers and a sum in which each has its own part. */
function summed(numbers) {
  const sum = numbers.reduce((all, number, i) => (all * 31 + number + i + 2) % 1000003, 7);
  return `${Array.from(numbers.slice(0, 24))}… of ${numbers.length}: ${sum}`;
}

const TEXTS = {
  '': 'an empty text',
  'ab cd ef gh': 'eleven characters',
  'ab cd ef ghi': 'twelve characters',
  '  ab\t\ncd  ef\r\ngh ij \n': 'white space',
  'é e\u0301 🙂👨‍👩‍👧 猫 é e\u0301 🙂': 'characters of several code units',
  [Array.from('the quick brown fox jumps over the lazy dog; '.repeat(5)).join('')]: 'a long text',
  [Array.from({ length: 160 }, (_, i) => String.fromCharCode(97 + ((i * i) % 23))).join('')]: '160',
};

/** What a task says of itself, and the rows that it draws. */
function linesOfTask(task) {
  const lines = Object.entries(task).flatMap(([name, value]) =>
    typeof value === 'function' ? [] : [`${name} ${listed(value)}`],
  );
  for (const kind of ['train', 'heldOut', 'shown']) {
    const random = web.dice(11);
    for (let i = 0; i < 3; i += 1) lines.push(`${kind} ${listed(task[kind](random))}`);
  }
  const { ids, targets, batch } = web.heldOut(task);
  lines.push(`judged by ${batch}: ${summed(ids)} ${summed(targets)}`);
  lines.push(`probe ${listed(web.probe(task))}`);
  lines.push(...web.prompts(task, 3).map((row) => `prompt ${listed(row)}`));
  return lines;
}

test('learn: what each task is, and what its seeds draw', () => {
  const lines = [];
  for (const id of web.TASKS.filter((each) => each !== 'characters')) {
    lines.push(`=== ${id}`, ...linesOfTask(web.taskOf(id, '')));
  }
  for (const [text, name] of Object.entries(TEXTS)) {
    lines.push(`=== ${name}`, ...linesOfTask(web.taskOf('characters', text)));
  }
  requireWritten('learn-tasks', lines);
});

test('learn: engines without segmenters read the characters of a text, too', () => {
  const { Segmenter } = Intl;
  const wordsOf = (text) => web.taskOf('characters', text).words;
  const all = Object.keys(TEXTS).map(wordsOf);
  try {
    Intl.Segmenter = undefined;
    assert.deepEqual(Object.keys(TEXTS).map(wordsOf), all);
  } finally {
    Intl.Segmenter = Segmenter;
  }
});

test('learn: batches of every size, and of few rows', () => {
  const lines = [];
  for (const [id, seed, samples] of [
    ...[
      ['copy', 0, null],
      ['copy', 1, null],
      ['addition', 1, null],
      ['addition', 1, 4],
    ],
    ...[4, 31, 32, 33, 64, 100].map((count) => ['reverse', 2, count]),
  ]) {
    lines.push(`=== ${id} ${seed} ${samples}`);
    const source = web.batches(web.taskOf(id, ''), seed, samples);
    for (let i = 0; i < 4; i += 1) {
      const { ids, targets, batch } = source.next().value;
      lines.push(`${batch} rows: ${summed(ids)} ${summed(targets)}`);
    }
  }
  requireWritten('learn-batches', lines);
});

test('learn: the keys that each score is about, and what even reading has', () => {
  const lines = [];
  const row = { ids: [2, 1, 2, 2, 0, 1], targets: [-1, 0, 1, 2, 1, 2] };
  for (const score of ['previous', 'induction', 'source', 'mirror', 'same']) {
    const keys = web.keysOf(score, row);
    const even = [true, false].map((causal) => web.evenScore(keys, causal).toFixed(5));
    lines.push(`${score} ${listed(keys)} even ${even}`);
    const weights = Float32Array.from({ length: 80 }, (_, i) => ((i * 7) % 13) / 13);
    lines.push(`  ${[0, 36, 40].map((from) => web.scoreOf(keys, weights, from).toFixed(5))}`);
    assert.equal(web.scoreOf(keys, weights), web.scoreOf(keys, weights, 0));
  }
  lines.push(listed(web.SCORES_OF), `${web.BORN}`);
  lines.push(`none ${web.scoreOf([[], []], new Float32Array(4))} ${web.evenScore([], true)}`);
  requireWritten('learn-scores', lines);
});

test('learn: what a link reads, and what it writes', () => {
  const raws = {
    learnSeed: ['-1', '0', '1.5', '999999', '1000000', '', 'a'],
    learnLayers: ['0', '1', '2.4', '4', '5', ''],
    learnHeads: ['0', '1', '1.4', '2.9', '3', '5', '6', '8', '9', 'x'],
    learnWidth: ['1', '16', '22', '23', '90', '91', '128', '999', ''],
    learnSamples: ['0', '4', '5', '6', '362', '363', '512', '1e9', ''],
    learnTemperature: ['0', '0.05', '0.1', '0.12345', '1.006', '9.996', '10', '11', '-3', ''],
    learnCausal: ['0', '1', '2', ''],
    learnCompare: ['0', '1', '2', ''],
    learnMap: ['-1', '0', '31', '32', ''],
    learnExperiment: ['birth', 'noise', 'own', ''],
    learnPositions: ['none', 'rotary', 'alibi'],
    ...{ learnTask: ['copy', 'sort'], learnSpeed: ['1', 'full', '2'], learnNorm: ['pre', 'rms'] },
    learnText: ['', 'x'.repeat(999), 'x'.repeat(1000), `${'x'.repeat(1000)}y`, 'a\ud800b', '🙂'],
  };
  const lines = Object.entries(web.learnFields).flatMap(([name, field]) => {
    const { key, initial, limits, options } = field;
    const read = raws[name].map((raw) => {
      const value = field.read(raw);
      const short = (value) =>
        String(value).length > 20 ? `${value.length} long` : (JSON.stringify(value) ?? 'nothing');
      return `${short(raw)} -> ${short(value)}`;
    });
    const written = [initial, field.read(raws[name][1])].map((value) => field.write(value).length);
    return [
      `${name} ${listed({ key, initial, limits, options })}`,
      `  ${read.join('; ')}`,
      `  writes ${written}`,
    ];
  });
  const text = web.learnFields.learnText;
  assert.equal(text.read(`${'x'.repeat(999)}🙂`), `${'x'.repeat(999)}\uFFFD`);
  assert.equal(text.read('\udc00a\ud800'), '\uFFFDa\uFFFD');
  assert.equal(text.write(`${'x'.repeat(1000)}y`), 'x'.repeat(1000));
  requireWritten('learn-link', lines);
});

test('learn: experiments set all that they need, and take back what was set', () => {
  const lines = [];
  for (const experiment of [null, ...web.EXPERIMENTS]) {
    lines.push(`${experiment}: ${listed(web.changesFor(experiment))}`);
  }
  for (const task of web.TASKS) lines.push(`${task}: ${listed(web.changesForTask(task))}`);
  lines.push(listed(web.HEADS_TRIED), listed(web.SPEEDS), listed(web.NORMS), listed(web.POSITIONS));
  requireWritten('learn-experiments', lines);
});

const initial = Object.fromEntries(
  Object.entries(web.learnFields).map(([name, field]) => [name, field.initial]),
);

test('learn: what the reader set is what is trained, and the rest is of the task', () => {
  const set = {
    ...{ learnSeed: 7, learnLayers: 3, learnHeads: 8, learnWidth: 16, learnPositions: 'none' },
    ...{ learnCausal: false, learnNorm: 'post', learnTemperature: 2.5, learnSamples: 64 },
  };
  const lines = web.TASKS.flatMap((learnTask) =>
    [{}, set, { learnText: 'my own text' }, { learnText: '', learnCausal: true }].map(
      (patch) =>
        `${listed(web.settingsOf({ ...initial, learnTask, ...patch }, "the page's text"))}`,
    ),
  );
  requireWritten('learn-settings', lines);
  const called = (id, text) => web.taskCalled(id, text);
  assert.equal(called('characters', 'abc def ghi jkl'), called('characters', 'abc def ghi jkl'));
  assert.deepEqual(called('characters', 'abc').words, web.taskOf('characters', 'abc').words);
  assert.equal(called('copy', 'abc').id, 'copy');
  assert.equal(called('reverse', 'abc').id, 'reverse');
  const settings = web.settingsOf(initial, '');
  assert.equal(web.sameSettings(settings, { ...settings }), true);
  assert.equal(web.sameSettings(settings, { ...settings, seed: 2 }), false);
});

test('learn: of moments the nearest is found, and of two the earlier', () => {
  const history = new web.History(4);
  assert.equal(history.nearest(3), undefined);
  for (const step of [0, 1, 2, 3]) history.add({ step });
  assert.deepEqual(history.steps, [0, 1, 2, 3]);
  history.add({ step: 4 });
  assert.deepEqual(history.steps, [0, 2, 4]);
  assert.deepEqual(
    [5, 6].map((step) => history.takes(step)),
    [false, true],
  );
  history.add({ step: 5 });
  for (const step of [6, 8, 10]) history.add({ step });
  assert.deepEqual(history.steps, [0, 4, 8]);
  assert.deepEqual(
    [-5, 0, 1, 2, 3, 5, 6, 7, 99].map((step) => history.nearest(step).step),
    [0, 0, 0, 0, 4, 4, 4, 8, 8],
  );
});
