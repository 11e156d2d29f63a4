// @about web/src/features/learn/
// What the panel "Watch it learn" says of its runs, in Node: how they stand, how they differ, and what became of a question.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { requireWritten } from '../support/operate.js';
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

/** Does this in both languages. */
function inBoth(lines, act) {
  for (const language of web.LANGUAGES) {
    web.setLanguage(language);
    lines.push(`=== ${language}`);
    act(language);
  }
  web.setLanguage('en');
}

test('learn: percent has a digit more just below all', () => {
  const told = [0, 0.004, 0.005, 0.5, 0.994, 0.995, 0.9951, 0.9999, 1, 1.5].map(web.percent);
  assert.deepEqual(told, ['0', '0', '1', '50', '99', '100', '99.5', '100.0', '100', '150']);
});

test('learn: how a run stands', () => {
  const lines = [];
  const settings = settingsFor('induction');
  const birth = (score, layer, head, step) => ({ score, layer, head, step });
  const records = [
    recordOf(settings, { step: 0 }),
    recordOf(settings, { step: 0, judged: judgedAt(0.04) }),
    recordOf(settings, {
      ...{ step: 2, judged: judgedAt(0.04, 0.25), loss: f32(3.2, 2.75), accuracy: f32(0.1, 0.997) },
      births: [birth('previous', 0, 3, 0), birth('induction', 1, 0, 5)],
      seconds: 12.3456,
    }),
    recordOf(settings, {
      ...{ step: 1, loss: f32(3.2), accuracy: f32(0.1), rate: 1e6, parameters: 7 },
      births: [birth('mirror', 3, 7, 1)],
    }),
  ];
  inBoth(lines, () => {
    for (const record of records) {
      lines.push(web.statusOf(record), web.beginningOf(record), web.spokenOf(record));
      lines.push(...web.birthsOf(record));
    }
    for (const task of web.TASKS) {
      for (const causal of [true, false])
        lines.push(web.scoresStory(settingsFor(task, { causal })));
    }
  });
  requireWritten('learn-status', lines);
});

test('learn: how runs differ', () => {
  const lines = [];
  const base = settingsFor('induction');
  const others = [
    {},
    ...[{ layers: 1 }, { heads: 8 }, { width: 16 }, { positions: 'none' }, { causal: false }],
    ...[{ norm: 'post' }, { temperature: 0.5 }, { seed: 2 }, { samples: 64 }, { task: 'copy' }],
    { text: 'another' },
    { task: 'reverse', seed: 3, heads: 1, causal: false, samples: 8, norm: 'post', layers: 4 },
  ].map((patch) => ({ ...base, ...patch }));
  const runs = others.map((settings) => recordOf(settings, { step: 3 }));
  inBoth(lines, () => {
    for (const other of others) {
      lines.push(`${web.differences(other, base)} | ${web.differences(base, other)}`);
      lines.push(String(web.sameBatches(base, other)));
    }
    const [now, a, b, c] = runs;
    for (const [current, ...kept] of [
      [null],
      [null, a],
      [now],
      ...[1, 2, 5, 8, 9, 10, 11, 12].map((i) => [now, runs[i]]),
      ...[
        [now, a, b],
        [now, a, b, c],
        [runs[8], a, b],
        [now, runs[8], b],
        [now, a, runs[9], c],
      ],
    ]) {
      lines.push(web.comparison({ current, kept }));
    }
  });
  requireWritten('learn-differences', lines);
});

test('learn: which question is asked, and what became of it', () => {
  const lines = [];
  const asked = [
    ...[{}, { layers: 1 }, { layers: 2 }, { layers: 3 }, { positions: 'none' }],
    ...[{ causal: false }, { heads: 1 }],
  ];
  for (const patch of asked) {
    lines.push(`${JSON.stringify(patch)} ${web.questionOf(settingsFor('induction', patch))}`);
  }
  for (const task of web.TASKS) lines.push(`${task} ${web.questionOf(settingsFor(task))}`);
  lines.push(JSON.stringify(web.ANSWERS));
  const birth = (score, step) => ({ score, layer: 0, head: 0, step });
  const say = (question, task, known) => {
    const outcome = web.outcomeOf(question, recordOf(settingsFor(task), known), 20);
    const of = JSON.stringify(known, (_key, part) =>
      part.score ? `${part.score} ${part.step}` : part.accuracy >= 0 ? part.accuracy : part,
    );
    lines.push(`${question} ${task} ${of}: ${JSON.stringify(outcome)}`);
  };
  for (const births of [
    [],
    [birth('previous', 5), birth('induction', 5)],
    [birth('induction', 10), birth('previous', 15)],
    [birth('previous', 20)],
    [birth('induction', 21)],
  ]) {
    for (const step of [19, 20, 21]) say('first', 'induction', { step, births });
  }
  for (const task of ['reverse', 'characters']) {
    for (const accuracies of [
      [],
      [0.9, 0.94, 0.949],
      [0.95],
      [0.2, 0.95, 1],
      [0, 0, 0, 0, 0.96],
      [0, 0, 0, 0, 0, 0.96],
    ]) {
      const judged = judgedAt(...accuracies);
      for (const step of [19, 20, 21]) {
        say('learns', task, { step, judged });
        say('learns', task, { step, judged: [], accuracy: f32(...accuracies, 0.951) });
      }
    }
  }
  const late = Float32Array.from({ length: 23 }, (_, i) => (i < 21 ? 0 : 1));
  const just = Float32Array.from({ length: 23 }, (_, i) => (i < 20 ? 0 : 1));
  for (const accuracy of [late, just, f32(0, 0)])
    say('learns', 'characters', { step: 22, accuracy });
  requireWritten('learn-outcomes', lines);
});

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
        ...{ judged: [], births: [], snapshot: null, writing: null, rate: 3, parameters: 4 },
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
