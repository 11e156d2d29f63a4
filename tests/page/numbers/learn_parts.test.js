// Parts of the panel "Watch it learn", in Node, in a window without a browser: the guess before a run, the answers token by token,
// what was written, and what the controls request and show.
import assert from 'node:assert/strict';
import { afterEach, test } from 'node:test';
import { judgedAt, runsOf } from '../support/learn_runs.js';
import { putPart } from '../support/part.js';
import { openWindow } from '../support/window.js';

const { leave } = openWindow();
const { modules } = await import('../support/engine.js');
const parts = ['run_record', 'settings_of_state', 'run_guess', 'answers', 'controls', 'head_maps'];
const web = await modules(
  ...['state/state', '../../node_modules/lit-html/lit-html'],
  ...parts.map((name) => `features/learn/page/${name}`),
);
afterEach(leave);

const { settingsFor, recordOf } = runsOf(web);

test('learn: a guess before the run, and afterwards what became of it', () => {
  const { part, one, texts } = putPart('div');
  let changes = 0;
  const guess = new web.RunGuess(() => changes++);
  const draw = (settings, record = null) =>
    web.render(guess.render(settings, record ? [record] : []), part);
  const first = settingsFor('induction');
  const learns = settingsFor('copy');
  draw(first);
  assert.equal(one('legend').textContent, 'Which kind of head will pass the score 0.5 first, within 400 steps?'); // prettier-ignore
  assert.deepEqual(texts('label').map((text) => text.trim()), ['a previous-token head', 'an induction head', 'neither']); // prettier-ignore
  const made = one('fieldset');
  draw({ ...first });
  assert.equal(one('fieldset'), made, 'the same settings are no reason to make it anew');
  one('[value=neither]').focus();
  one('[value=neither]').click();
  draw(first);
  const focused = document.activeElement;
  assert.deepEqual([changes, one(':checked').value, focused.value], [1, 'neither', 'neither']);
  const question = 'Which kind of head will pass the score 0.5 first, within 400 steps?';
  const births = [{ score: 'induction', layer: 0, head: 0, step: 2 }];
  for (const [known, found] of [
    [{ step: 1 }, 'Still open; it will be settled by step 400.'],
    [
      { step: 3, births, judged: judgedAt(0.1) },
      'In this run an induction head came first, at step 2. At that step the largest previous-token score was 0.25 and the largest induction score 0.50. The line at 0.5 is arbitrary, and several heads can share the work of marking the previous token: compare both curves of scores.',
    ],
    [{ step: 400 }, 'In this run neither had formed by step 400.'],
  ]) {
    draw(first, recordOf(first, known));
    assert.equal(part.textContent, `${question} You said: neither. ${found}`);
  }
  draw(first, recordOf(first, { step: 0 }));
  assert.equal(one(':checked').value, 'neither', 'before its first step a run is not begun');
  draw(learns);
  assert.deepEqual([one('legend').textContent, one(':checked')], ['Will it reach 95% within 400 steps?', null]); // prettier-ignore
  draw(learns, recordOf(learns, { step: 400, judged: judgedAt(0.5, 0.96) }));
  assert.equal(part.textContent, 'Will it reach 95% within 400 steps? In this run it reached 95% at step 5.'); // prettier-ignore
});

test('learn: the probe token by token, and how many answers are right', () => {
  const { part, one, all, texts } = putPart('ol');
  const copy = settingsFor('copy');
  const { row, words } = web.probeOf(copy);
  const { words: letters } = web.taskCalled('copy', '');
  const draw = (of) => {
    const snapshot = of && { step: 1, answers: Int32Array.from(of) };
    web.render(web.tokensOf(copy, snapshot), part);
    return snapshot && web.rightOf(copy, snapshot);
  };
  const count = row.targets.filter((target) => target >= 0).length;
  draw(null);
  assert.deepEqual(texts('.learn-read'), words);
  assert.deepEqual(texts('.learn-right'), row.targets.map((target) => (target < 0 ? '' : letters[target]))); // prettier-ignore
  assert.deepEqual(texts('.has-target .learn-answer'), new Array(count).fill('·'));
  assert.equal(one('.is-wrong'), null, 'nothing is wrong before there is an answer');
  // The right one, another one, and one that means nothing, in turn.
  const other = (target) => (target + 1) % 16;
  const some = row.targets.map((target, i) => [target, other(target), 99][i % 3]);
  const right = row.targets.filter((target, i) => target >= 0 && i % 3 === 0).length;
  assert.deepEqual(draw(some), { right, count });
  assert.equal(all('.is-right').length, right);
  assert.equal(all('.is-wrong').length, count - right);
  all('li.has-target').forEach((item) => {
    const [read, answer, wanted] = Array.from(item.children, ({ textContent }) => textContent);
    assert.ok(words.includes(read) && (letters.includes(answer) || answer === '?'));
    assert.equal(item.classList.contains('is-right'), answer === wanted);
  });
  const item = one('li');
  assert.deepEqual(draw(row.targets), { right: count, count });
  assert.equal(one('li'), item, 'other answers are no reason to make it anew');
});
