// What the panel "Watch it learn" says of its runs, in Node: how they stand, how they differ, and what became of a question.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { judgedAt, runsOf } from '../support/learn_runs.js';
import { openWindow } from '../support/window.js';

openWindow(); // some of what is asked here draws, too
const { modules } = await import('../support/engine.js');
const web = await modules(
  'state/state',
  ...[
    'page/status_texts',
    'page/settings_diff',
    'page/guess_outcome',
    'page/run_record',
    'page/settings_of_state',
    'shared/run_settings',
  ].map((name) => `features/learn/${name}`),
);

const { settingsFor, recordOf } = runsOf(web);

const f32 = (...values) => Float32Array.from(values);

test('learn: percent has a digit more just below all', () => {
  const told = [0, 0.004, 0.005, 0.5, 0.994, 0.995, 0.9951, 0.9999, 1, 1.5].map(web.percent);
  assert.deepEqual(told, ['0', '0', '1', '50', '99', '99.5', '99.5', '99.9', '100', '150']);
});

test('learn: how a run stands', () => {
  const settings = settingsFor('induction');
  const birth = (score, layer, head, step) => ({ score, layer, head, step });
  const begun = recordOf(settings, { step: 0, judged: judgedAt(0.04) });
  assert.equal(
    web.beginningOf(begun),
    'Random weights, 12,345 of them. On held-out rows: loss 3.00, accuracy 4%.',
  );
  const record = recordOf(settings, {
    ...{ step: 2, judged: judgedAt(0.04, 0.25), loss: f32(3.2, 2.75), accuracy: f32(0.1, 0.997) },
    births: [birth('previous', 0, 3, 0), birth('induction', 1, 0, 5)],
    seconds: 12.3456,
  });
  assert.equal(
    web.statusOf(record),
    'Step 2 · training loss 2.75, accuracy 99.7% · held-out: loss 1.50, accuracy 25% · 30 steps/s · 12,345 weights',
  );
  assert.equal(web.spokenOf(record), 'Step 2: loss 1.50, accuracy 25 percent on held-out rows.');
  assert.deepEqual(web.birthsOf(record), [
    'previous token: layer 1, head 4 passes 0.5 at step 0.',
    'induction: layer 2, head 1 passes 0.5 at step 5, 12.3 s after Play.',
  ]);
  // Of 24 tokens every one but the first has one before it; with a mask it reads as many as its place.
  const places = Array.from({ length: 23 }, (_, i) => 1 / (i + 2));
  const masked = places.reduce((sum, part) => sum + part) / 23;
  for (const [causal, even] of [
    [true, masked],
    [false, 1 / 24],
  ]) {
    const story = web.scoresStory(settingsFor('copy', { causal }));
    assert.ok(story.startsWith(`Score “prev”: the mean weight on the token before the query (equal weights: ${even.toFixed(2)}).`)); // prettier-ignore
  }
});

test('learn: how runs differ', () => {
  const base = settingsFor('induction');
  const patches = [
    [{ layers: 1 }, 'Layers: 1'],
    [{ heads: 8, width: 16 }, 'Heads: 8, Width d_model: 16'],
    [{ positions: 'none' }, 'Positions: none'],
    [{ causal: false }, 'Causal mask: off'],
    [{ norm: 'post', temperature: 0.5 }, 'Layer norm: after each part (post-norm), Attention temperature: 0.5'],
    [{ seed: 2 }, 'Seed: 2'],
    [{ samples: 64 }, 'Training rows: 64'],
    [{ task: 'copy' }, 'Task: copy'],
    [{ text: 'another' }, 'Text to learn'],
    [{}, ''],
  ];
  const sameRows = ['layers', 'heads', 'positions', 'causal', 'norm'];
  for (const [patch, words] of patches) {
    const other = { ...base, ...patch };
    assert.equal(web.differences(recordOf(other), recordOf(base)), words);
    const [name] = Object.keys(patch);
    assert.equal(web.sameBatches(base, other), name === undefined || sameRows.includes(name), name);
  }
  const own = { rate: 1, batch: 32, dropout: 0 };
  const tunedTo = (...all) => recordOf(base, { step: 9, tuned: all.map(([step, patch]) => ({ ...own, ...patch, step })) });
  const steady = tunedTo([0, {}]);
  for (const [tuned, words] of [
    [[[0, { batch: 8 }]], 'Rows per step: 8'],
    [[[0, { rate: 3 }], [0, {}]], ''],
    [[[0, {}], [4, { rate: 10 }], [6, { rate: 10, dropout: 0.3 }], [8, { rate: 0.1 }]],
      'Learning rate: × 1, × 10 from step 4, × 0.1 from step 8, Dropout: 0, 0.3 from step 6, 0 from step 8'],
  ]) assert.equal(web.differences(tunedTo(...tuned), steady), words);
  const [now, a, b, c] = [{}, { layers: 1 }, { heads: 8 }, { seed: 2 }].map((patch) => recordOf({ ...base, ...patch }, { step: 3 }));
  const said = (current, ...kept) => web.comparison({ current, kept });
  assert.equal(said(null, a) + said(now), '', 'of one run there is nothing to say');
  assert.equal(said(now, a), 'Now: Layers: 2. A (dashed): Layers: 1. All of them have the same seed and read the same rows in the same order.');
  assert.match(said(now, c, b, a), /^Now: Layers: 2\. A \(dashed\): Layers: 1\. B \(purple\): Heads: 8\. C \(black, dashed\): Seed: 2\. They do not read the same rows\.$/);
}); // prettier-ignore

test('learn: which question is put before a run', () => {
  const question = (task, patch) => web.questionOf(settingsFor(task, patch));
  for (const patch of [{}, { layers: 3 }, { heads: 1 }]) assert.equal(question('induction', patch), 'first');
  for (const patch of [{ layers: 1 }, { positions: 'none' }, { causal: false }]) {
    assert.equal(question('induction', patch), 'learns', 'such a model has no such heads');
  }
  for (const layers of [1, 2, 3]) {
    const expected = layers < 3 ? 'layers' : 'learns';
    assert.equal(question('names', { layers }), expected);
  }
  for (const task of web.TASKS.filter((id) => id !== 'induction' && id !== 'names')) {
    assert.equal(question(task), 'learns');
  }
}); // prettier-ignore

test('learn: what became of a question, within 20 steps', () => {
  const birth = (score, step) => ({ score, layer: 0, head: 0, step });
  const of = (question, task, known) => {
    const { answer, step } = web.outcomeOf(question, [recordOf(settingsFor(task), known)], 20) ?? {};
    return answer && `${answer} ${step}`;
  };
  for (const [births, at19, at20] of [
    [[], undefined, 'neither 20'],
    [[birth('previous', 5), birth('induction', 5)], 'previous 5', 'previous 5'],
    [[birth('induction', 10), birth('previous', 15)], 'induction 10', 'induction 10'],
    [[birth('previous', 20)], 'previous 20', 'previous 20'],
    [[birth('induction', 21)], undefined, 'neither 20'],
  ]) {
    assert.equal(of('first', 'induction', { step: 19, births }), at19);
    assert.equal(of('first', 'induction', { step: 20, births }), at20);
  }
  // Judged at steps 0, 5, 10 ...; 95 % is enough.
  for (const [accuracies, at19, at20] of [
    [[], undefined, 'no 20'],
    [[0.9, 0.94, 0.949], undefined, 'no 20'],
    [[0.95], 'yes 0', 'yes 0'],
    [[0.2, 0.95, 1], 'yes 5', 'yes 5'],
    [[0, 0, 0, 0, 0.96], 'yes 20', 'yes 20'],
    [[0, 0, 0, 0, 0, 0.96], undefined, 'no 20'],
  ]) {
    const judged = judgedAt(...accuracies);
    assert.equal(of('learns', 'reverse', { step: 19, judged }), at19);
    assert.equal(of('learns', 'reverse', { step: 20, judged }), at20);
    assert.equal(of('learns', 'reverse', { step: 20, accuracy: f32(1) }), 'no 20', 'on held-out rows');
  }
  // What the other kind of head scored then is said, too.
  const [first] = [{ step: 12, births: [birth('induction', 5)], judged: judgedAt(0, 0) }];
  const told = web.outcomeOf('first', [recordOf(settingsFor('induction'), first)], 20);
  assert.deepEqual(told, { answer: 'induction', step: 5, scores: { previous: 0.25, induction: 0.5 } });
  const layers = (...runs) => {
    const records = runs.map(([count, ...accuracies]) =>
      recordOf(settingsFor('names', { layers: count }), { step: 20, judged: judgedAt(...accuracies) }));
    const { answer, step } = web.outcomeOf('layers', records, 20) ?? {};
    return answer && `${answer} ${step}`;
  };
  assert.equal(layers([1, 0.5]), undefined);
  assert.equal(layers([2, 0.5, 1]), undefined);
  assert.equal(layers([1, 0, 0, 0.97]), 'one 10');
  assert.equal(layers([1, 0.5], [2, 0.5, 1]), 'two 5');
  assert.equal(layers([1, 0.5], [2, 0.5]), 'more 20');
  const passesAt = (step) => Float32Array.from({ length: 23 }, (_, i) => Number(i >= step));
  assert.equal(of('learns', 'characters', { step: 22, accuracy: passesAt(20) }), 'yes 20', 'of text the rows it learned');
  assert.equal(of('learns', 'characters', { step: 22, accuracy: passesAt(21) }), 'no 20');
}); // prettier-ignore

test('learn: a run keeps all of its news', () => {
  const record = new web.RunRecord(7, settingsFor('copy'));
  assert.deepEqual([record.id, record.step, record.rate, record.parameters], [7, 0, 0, 0]);
  const all = [];
  const news = (count, more) => {
    const loss = Float32Array.from({ length: count }, (_, i) => all.length + i + 0.5);
    all.push(...loss);
    const said = { step: all.length, loss, accuracy: loss.map((value) => value / 2) };
    record.add(
      {
        ...{
          judged: [],
          births: [],
          tuned: [],
          snapshot: null,
          writing: null,
          rate: 3,
          parameters: 4,
        },
        ...said,
        ...more,
      },
      1.5,
    );
    assert.deepEqual([...record.loss], all);
    assert.deepEqual(
      [...record.accuracy],
      all.map((value) => value / 2),
    );
  };
  for (const count of [0, 1023, 1, 1, 3000, 1, 2049]) news(count);
  const [snapshot, writing] = [{ step: 1 }, { step: 2 }];
  news(1, { snapshot, writing, judged: judgedAt(0.5, 0.6), births: [{ score: 'same', step: 3 }] });
  news(1, { judged: [{ step: 10, loss: 1, accuracy: 0.75 }] });
  assert.equal(record.latest, snapshot);
  assert.equal(record.writing, writing);
  assert.deepEqual([record.step, record.rate, record.parameters], [all.length, 3, 4]);
  assert.deepEqual(record.births, [{ score: 'same', step: 3, seconds: 1.5 }]);
  assert.equal(record.lastJudged.accuracy, 0.75);
  const at = [-1, 0, 4, 5, 9, 10, 99].map((step) => record.judgedAt(step)?.accuracy);
  assert.deepEqual(at, [undefined, 0.5, 0.5, 0.6, 0.6, 0.75, 0.75]);
});
