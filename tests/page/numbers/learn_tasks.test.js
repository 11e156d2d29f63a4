// What the panel "Watch it learn" trains on, in Node: what a link, a task and an experiment make of a run, and rows that links of
// every version show. learn.test.js has the rows of each task by their definitions.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { modules } from '../support/engine.js';

const names = ['shared/tasks', 'page/settings_of_state', 'state', 'page/experiments', 'shared/run_settings', 'worker/snapshots']; // prettier-ignore
const web = await modules(...names.map((name) => `features/learn/${name}`));

const PROBES = {
  copy: 'diikjmpiklec|diikjmpikle',
  reverse: 'gonqptyorshewpds',
  induction: 'onrcuyqtonrcuyqtonrcuyqtonrcuyqt',
  addition: '29+18=74',
  histogram: 'beefegheff',
  names: 'ThenJackandEmmawereatthemarket.Emmashowedaletterto',
  characters: 'ick␣bro',
};

test('learn: the row that is shown of a task is the same in links of every version', () => {
  for (const [id, shown] of Object.entries(PROBES)) {
    const task = web.taskOf(id, 'the quick brown fox jumps over the lazy dog');
    const { ids } = web.probe(task);
    assert.equal(ids.map((token) => task.words[token]).join(''), shown);
    assert.deepEqual(web.prompts(task, 3)[0].ids, ids, 'it is the first that the model continues');
  }
});

test('learn: the characters of a text are what a reader counts, with and without a segmenter', () => {
  const { Segmenter } = Intl;
  const family = '👨‍👩‍👧';
  const wordsOf = (text) => web.taskOf('characters', text).words;
  try {
    for (const segmenter of [Segmenter, undefined]) {
      Intl.Segmenter = segmenter;
      const words = wordsOf(`é e\u0301 🙂${family} 猫 é e\u0301 🙂 ab cd`);
      for (const one of ['é', 'e\u0301', '🙂', family, '猫']) assert.ok(words.includes(one), one);
      const white = wordsOf('  ab\t\ncd  ef\r\ngh ij \n');
      assert.deepEqual(
        [...white].sort(),
        [...'abcdefghij␣'].sort(),
        'white space is one character',
      );
    }
  } finally {
    Intl.Segmenter = Segmenter;
  }
});

test('learn: a batch is as large as its task says, or as there are rows', () => {
  for (const [id, samples, size] of [
    ['copy', null, 32],
    ['addition', null, 64],
    ['addition', 4, 4],
    ['reverse', 31, 31],
    ['reverse', 33, 32],
  ]) {
    const source = web.batches(web.taskOf(id, ''), 2, samples);
    for (let i = 0; i < 3; i += 1) assert.equal(source.next().value.batch, size);
  }
});

test('learn: what a link reads', () => {
  const own = { '': undefined, x: undefined };
  for (const [name, read] of Object.entries({
    learnSeed: { '-1': 0, '1.5': 2, '999999': 999999, '1000000': 999999, ...own },
    learnLayers: { 0: 1, '2.4': 2, 5: 4, ...own },
    // The nearest power of two, by ratio.
    learnHeads: { 0: 1, '1.4': 1, '2.9': 4, 5: 4, 6: 8, 9: 8, ...own },
    learnWidth: { 1: 16, 22: 16, 23: 32, 90: 64, 91: 128, 999: 128, ...own },
    learnSamples: { 0: 4, 5: 4, 6: 8, 362: 256, 363: 512, '1e9': 512, ...own },
    learnTemperature: { '-3': 0.1, '0.12345': 0.123, '1.006': 1.01, 11: 10, ...own },
    learnCausal: { 0: false, 1: true, 2: undefined, ...own },
    learnCompare: { 0: false, 1: true, 2: undefined, ...own },
    learnMap: { '-1': 0, 31: 31, 32: 31, ...own },
    learnTask: { copy: 'copy', sort: undefined },
    learnSpeed: { full: 'full', 2: undefined },
    learnNorm: { post: 'post', rms: undefined },
    learnPositions: { rotary: 'rotary', alibi: undefined },
    learnExperiment: { noise: 'noise', own: undefined, ...own },
    learnText: { '': '', 'a\ud800b': 'a\uFFFDb', [`${'x'.repeat(999)}🙂`]: `${'x'.repeat(999)}\uFFFD` },
  })) {
    const field = web.learnFields[name];
    for (const [raw, value] of Object.entries(read)) {
      assert.equal(field.read(raw), value, `${name} ${raw.slice(0, 9)}`);
      if (value !== undefined) assert.equal(field.read(field.write(value)), value, `${name}: it comes back`);
    }
  }
  const keys = Object.values(web.learnFields).map(({ key }) => key);
  assert.deepEqual(keys.join(' '), 'lt ls lv ll lh ld lp lc ln lta lf lr lb lo lx lk le lm', 'as links have them');
}); // prettier-ignore

const initial = Object.fromEntries(
  Object.entries(web.learnFields).map(([name, field]) => [name, field.initial]),
);

test('learn: an experiment sets all that it needs, and takes back what was set', () => {
  // Which run stays on the curves is the reader's, whatever else changes.
  const fresh = { ...initial };
  delete fresh.learnCompare;
  for (const [experiment, set] of Object.entries({
    birth: { learnTask: 'induction' },
    oneLayer: { learnTask: 'induction', learnLayers: 1 },
    noPositions: { learnTask: 'reverse', learnPositions: 'none' },
    leak: { learnTask: 'addition', learnCausal: false },
    names: { learnTask: 'names', learnSpeed: 'full' },
    overfit: { learnTask: 'histogram', learnSamples: 64, learnSpeed: 'full' },
    noise: {},
  })) {
    assert.deepEqual(web.changesFor(experiment), { ...fresh, ...set, learnExperiment: experiment });
  }
  assert.deepEqual(web.changesFor(null), fresh);
  for (const learnTask of web.TASKS) {
    assert.deepEqual(web.changesForTask(learnTask), { ...fresh, learnTask });
  }
});

test('learn: what the reader set is what is trained, and the rest is of the task', () => {
  const set = { seed: 7, layers: 3, heads: 8, width: 16, positions: 'none', causal: false, norm: 'post', temperature: 2.5, samples: 64 };
  const fields = Object.entries(set).map(([name, value]) => [`learn${name[0].toUpperCase()}${name.slice(1)}`, value]);
  for (const learnTask of web.TASKS) {
    const of = (patch) => web.settingsOf({ ...initial, learnTask, ...patch }, "the page's text");
    const isText = learnTask === 'characters';
    const text = isText ? "the page's text" : '';
    const { layers, heads, width, positions, causal } = web.taskOf(learnTask, text).defaults;
    const rest = { seed: 1, norm: 'pre', temperature: 1, samples: null };
    assert.deepEqual(of({}), { task: learnTask, layers, heads, width, positions, causal, ...rest, text });
    assert.deepEqual(of(Object.fromEntries(fields)), { task: learnTask, ...set, text });
    assert.equal(of({ learnText: 'my own text' }).text, isText ? 'my own text' : '');
    assert.equal(of({ learnText: '' }).text, '', 'a text of nothing is a text');
  }
  const settings = web.settingsOf(initial, '');
  assert.equal(web.sameSettings(settings, { ...settings }), true);
  assert.equal(web.sameSettings(settings, { ...settings, seed: 2 }), false);
}); // prettier-ignore

test('learn: of moments the nearest is found, and of two the earlier', () => {
  const history = new web.History(4);
  assert.equal(history.nearest(3), undefined);
  for (const step of [0, 1, 2, 3, 4]) history.add({ step });
  assert.deepEqual(history.steps, [0, 2, 4], 'more than four: every other one');
  for (const step of [5, 6, 8, 10]) history.add({ step });
  assert.deepEqual(history.steps, [0, 4, 8]);
  const at = [-5, 0, 2, 3, 5, 6, 7, 99].map((step) => history.nearest(step).step);
  assert.deepEqual(at, [0, 0, 0, 4, 4, 4, 8, 8]);
});
