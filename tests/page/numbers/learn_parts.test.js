// @about web/src/features/learn/
// Parts of the panel "Watch it learn", in Node, in a window without a browser: the guess before a run, the answers token by token,
// what was written, and what the controls ask for and show.
import { afterEach, test } from 'node:test';
import { enter, fire, linesOf, requireWritten } from '../support/operate.js';
import { judgedAt, runsOf } from '../support/learn_runs.js';
import { openWindow } from '../support/window.js';

const { leave } = openWindow();
const { modules } = await import('../support/engine.js');
const web = await modules(
  'state/state',
  ...[
    'page/run_record',
    'page/settings_of_state',
    'page/run_guess',
    'page/answers',
    'page/controls',
    'page/head_maps',
  ].map((name) => `features/learn/${name}`),
);
afterEach(leave);

const { initial, settingsFor, recordOf } = runsOf(web);

test('learn: a guess before the run, and afterwards what became of it', () => {
  const lines = [];
  const root = document.createElement('div');
  document.body.append(root);
  let changes = 0;
  const guess = new web.RunGuess(root, () => changes++);
  let made;
  const draw = (what, settings, record, language = 'en') => {
    const same = root.firstChild === made && made !== null;
    guess.draw(settings, record, language);
    const again = same && root.firstChild === made ? 'as it was' : 'anew';
    made = root.firstChild;
    lines.push(`--- ${what}: ${again}`, ...(again === 'anew' ? linesOf(root) : []));
  };
  const choose = (value) => {
    root.querySelector(`[value=${value}]`).click();
    lines.push(`chosen ${value}, ${changes} changes`);
  };
  root.dispatchEvent(new Event('change'));
  const first = settingsFor('induction');
  const learns = settingsFor('copy');
  root.append(Object.assign(document.createElement('input'), { value: 'yes' }));
  fire(root.firstChild, 'change');
  lines.push(`${changes} changes before anything is asked`);
  draw('asked', first, null);
  draw('again', { ...first }, null);
  choose('induction');
  draw('chosen', first, null);
  root.querySelector('[value=neither]').focus();
  choose('neither');
  draw('chosen with a key', first, null);
  lines.push(`focus on ${document.activeElement.value}`);
  document.activeElement.blur();
  const outside = document.createElement('input');
  outside.value = 'yes';
  document.body.append(outside);
  outside.focus();
  draw('while something else has the focus', learns, null);
  lines.push(`focus outside: ${document.activeElement === outside}`);
  draw('as before', first, null);
  draw('before a step', first, recordOf(first, { step: 0 }));
  draw('after a step', first, recordOf(first, { step: 1 }));
  fire(root, 'change');
  draw('after another', first, recordOf(first, { step: 2 }));
  const births = [{ score: 'induction', layer: 0, head: 0, step: 2 }];
  draw('known', first, recordOf(first, { step: 3, births }));
  draw('late', first, recordOf(first, { step: 400 }));
  draw('other settings', learns, null);
  choose('yes');
  draw('chosen', learns, null);
  web.setLanguage('zh');
  draw('in Chinese', learns, null, 'zh');
  draw('open', learns, recordOf(learns, { step: 399, judged: judgedAt(0.5) }), 'zh');
  web.setLanguage('en');
  draw('not learned', learns, recordOf(learns, { step: 400, judged: judgedAt(0.5) }));
  draw('learned', learns, recordOf(learns, { step: 400, judged: judgedAt(0.5, 0.96) }));
  draw('the guess before is forgotten', first, null);
  requireWritten('learn-guess', lines);
});

/** A moment whose answers these are. */
const momentOf = (answers) => ({ step: 1, answers: Int32Array.from(answers) });

test('learn: the probe token by token, and what was written', () => {
  const lines = [];
  const list = document.createElement('ol');
  document.body.append(list);
  const answers = new web.Answers(list);
  const draw = (what, settings, snapshot, language = 'en') => {
    const made = list.firstChild;
    const observer = new MutationObserver(() => undefined);
    observer.observe(list, { subtree: true, characterData: true, childList: true });
    const counts = answers.draw(settings, snapshot, language);
    const writes = observer.takeRecords().length;
    observer.disconnect();
    const again = made !== null && list.firstChild === made ? `as it was, ${writes} texts` : 'anew';
    lines.push(`--- ${what}: ${counts}, ${again}`, ...linesOf(list).map((line) => line.trim()));
  };
  const copy = settingsFor('copy');
  const { row } = web.probeOf(copy);
  draw('no answers yet', copy, null);
  const some = row.targets.map((target, i) => (i % 3 === 0 ? target : i % 3 === 1 ? 2 : 99));
  draw('some right', copy, momentOf(some));
  draw('the same', copy, momentOf(some));
  draw('fewer than places', copy, momentOf(row.targets.slice(0, 20)));
  draw('all right', { ...copy, seed: 2 }, momentOf(row.targets));
  draw('none again', copy, null);
  draw('in Chinese', copy, null, 'zh');
  draw('another task', settingsFor('reverse'), momentOf([1, 2, 3]));
  draw('a text', settingsFor('characters'), null);
  draw('another text', settingsFor('characters', { text: 'abc def ghi jkl mno' }), null);
  const root = document.createElement('p');
  for (const [settings, given, written, right] of [
    [copy, [0, 1, 16], [2, 3, 16, 99], [2, 4, 16, 99]],
    [settingsFor('addition'), [3, 7, 10, 8, 5, 11], [2, 2, 1], [2, 2, 1]],
    [settingsFor('addition'), [99], [], []],
  ]) {
    root.replaceChildren(...web.writingNodes(settings, { given, written, right }));
    lines.push('--- written', ...linesOf(root), web.rightText(settings, { right }));
  }
  requireWritten('learn-answers', lines);
});

test('learn: what the controls of a run are, ask for and show', () => {
  const lines = [];
  const form = document.createElement('form');
  form.innerHTML = `${web.TASK_CONTROLS}${web.MODEL_CONTROLS}<input name="other"><textarea name="seed"></textarea>`;
  document.body.append(form);
  lines.push(...linesOf(form));
  const patches = [];
  web.listen(form, (patch) => patches.push(JSON.stringify(patch)));
  const put = (name, value) => {
    patches.length = 0;
    enter(form.querySelector(`[name=${name}]`), value);
    lines.push(`${name} ${value}: ${patches}`);
  };
  for (const select of form.querySelectorAll('select')) {
    for (const { value } of select.options) put(select.name, value);
  }
  for (const value of ['12', '12.6', '-3', '1e7', '']) put('seed', value);
  for (const value of ['2.3456', '0', '99', '']) put('temperature', value);
  put('other', '5');
  patches.length = 0;
  enter(form.querySelector('textarea'), '5');
  fire(form, 'change');
  lines.push(`a text area: ${patches}`);
  const state = { ...initial, learnSpeed: 'full' };
  const shown = () =>
    [...form.querySelectorAll('select, input')]
      .map(({ name, value }) => `${name}=${value}`)
      .join(' ');
  const show = (what, settings) => {
    web.show(form, settings, state);
    lines.push(`${what}: ${shown()}`);
  };
  show('first', settingsFor('induction'));
  show(
    'second',
    settingsFor('copy', {
      seed: 9,
      temperature: 0.5,
      samples: 64,
      causal: false,
      layers: 4,
      heads: 8,
      width: 16,
      norm: 'post',
      positions: 'none',
    }),
  );
  const seed = form.querySelector('[name=seed]');
  seed.focus();
  seed.value = '77';
  show('while a seed is typed', settingsFor('copy', { seed: 10 }));
  form.querySelector('[name=heads]').focus();
  show('while a list is open', settingsFor('copy', { seed: 11, heads: 1 }));
  const set = [];
  for (const element of form.querySelectorAll('select, input')) {
    const { value } = element;
    Object.defineProperty(element, 'value', {
      get: () => value,
      set() {
        set.push(element.name);
      },
      configurable: true,
    });
  }
  web.show(form, settingsFor('copy', { seed: 11, heads: 1 }), state);
  lines.push(`set again: ${set}`);
  requireWritten('learn-controls', lines);
});
