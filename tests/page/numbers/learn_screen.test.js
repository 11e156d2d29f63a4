// @about web/src/features/learn/
// The panel "Watch it learn" while a run goes on, in Node, in a window without a browser: what is otherwise after each press and
// after each word of its worker, which says what is said here.
import assert from 'node:assert/strict';
import { afterEach, mock, test } from 'node:test';
import { differences, enter, fire, linesOf, named, requireWritten } from '../support/operate.js';
import { openWindow } from '../support/window.js';

const { told, workers, rest, layOut, leave } = openWindow();
const { modules } = await import('../support/engine.js');
const web = await modules(
  ...[
    'state/state',
    'features/learn/panel',
    'features/learn/page/settings_of_state',
    'features/learn/page/head_maps',
  ],
);
let panel;
afterEach(() => {
  leave();
  mock.restoreAll();
  web.setLanguage('en');
});

const initial = { ...web.initialState('en'), learnTask: 'copy', learnLayers: 2, learnHeads: 2 };
const clock = { now: 0 };

/** All of the panel in lines, with less of what learn_parts.test.js and learn_maps.test.js look at. */
const linesNow = () => {
  const fold = ({ className }) => (className === 'learn-tokens' ? 'short' : 'open');
  return linesOf(panel, { fold }).map((line) => line.replace(/ drawn \d+ calls .*/, ' drawn'));
};

/** The panel in this state, and `did(what, act)`, which writes down in `lines` all that came of an act. */
async function put(patch = {}) {
  clock.now = 10_000;
  mock.method(performance, 'now', () => clock.now);
  const lines = [];
  const said = [];
  let state = { ...initial, ...patch };
  let look = 1;
  panel = document.createElement('qkv-panel-learn');
  document.body.addEventListener('surface-resized', () => said.push('surface-resized'));
  panel.addEventListener('state-change', ({ detail }) => {
    said.push(`asks ${JSON.stringify(detail)}`);
    state = { ...state, ...detail };
    panel.update({ state, look });
  });
  document.body.append(panel);
  await rest();
  panel.update({ state, look });
  await rest();
  let before = linesNow();
  const did = async (what, act) => {
    said.length = 0;
    told.length = 0;
    const came = act();
    await rest();
    const messages = told.map((message) =>
      message.settings
        ? `run ${message.run} with ${message.settings.heads} heads`
        : JSON.stringify(message),
    );
    const now = linesNow();
    lines.push(`--- ${what}${typeof came === 'string' ? `: ${came}` : ''}`, ...said, ...messages);
    lines.push(...differences(before, now));
    before = now;
  };
  const find = (selector) => panel.querySelector(selector);
  return {
    ...{ lines, did, find },
    state: () => state,
    press: (selector) => did(`press ${selector}`, () => find(selector).click()),
    set: (more) =>
      did(`set ${JSON.stringify(more)}`, () => {
        state = { ...state, ...more };
        if (more.language) web.setLanguage(more.language);
        panel.update({ state, look: ++look });
      }),
    enter: (name, value) => did(`${name} ${value}`, () => enter(find(`[name=${name}]`), value)),
    /** What the worker says. */
    news: (run, step, more) =>
      did(`news of run ${run} at ${step}`, () => {
        const { settings } = panel.training.current;
        workers.at(-1).say({ type: 'news', run, news: newsOf(settings, step, more) });
      }),
    say: (data) => did(`${data.type}`, () => workers.at(-1).say(data)),
    moment: (run, step) =>
      did(`moment of run ${run} at ${step}`, () => {
        const { kept, current } = panel.training;
        const { settings } = [current, ...kept].find(({ id }) => id === run);
        workers.at(-1).say({ type: 'moment', run, snapshot: snapshotOf(settings, step) });
      }),
  };
}

/** What heads read after so many steps. */
function snapshotOf({ task, text, layers, heads }, step) {
  const { row } = web.probeOf({ task, text });
  const side = row.ids.length;
  const count = layers * heads * side * side;
  return {
    step,
    weights: Float32Array.from({ length: count }, (_, i) => ((i * (step + 3)) % 97) / 97),
    scores: Float32Array.from({ length: 3 * layers * heads }, (_, i) => ((i + step) % 9) / 8),
    answers: Int32Array.from(row.targets, (id, i) => (i % 3 === step % 3 ? 2 : Math.max(0, id))),
    certainty: new Float32Array(side),
  };
}

const newsOf = (settings, step, more) => ({
  step,
  loss: step === 0 ? new Float32Array() : Float32Array.of(3 / step, 2.5 / step),
  accuracy: step === 0 ? new Float32Array() : Float32Array.of(0.25, 1 - 1 / (step + 1)),
  judged: step % 5 === 0 ? [{ step, loss: 3 / (step + 1), accuracy: step / (step + 2) }] : [],
  ...{
    births: [],
    writing: null,
    rate: 31.7,
    parameters: 2345,
    snapshot: snapshotOf(settings, step),
  },
  ...more,
});

const writing = {
  step: 5,
  given: [0, 1, 16],
  written: [2, 3],
  right: [2, 4],
  accuracy: 0.5,
  rows: 16,
};
const birth = (score, step) => ({ score, layer: 1, head: 0, step });

test('learn: a run on the page, from the first press to another run beside it', async () => {
  const { lines, did, press, set, enter, news, moment, find } = await put();
  await press('[data-do=play]');
  await news(1, 0, { snapshot: null, judged: [] });
  await news(1, 0);
  await news(1, 5, { writing, births: [birth('previous', 5)] });
  await did('news of nothing new', () => undefined);
  await enter('scrub', '2');
  await moment(1, 3);
  await enter('scrub', '4');
  await enter('scrub', '5');
  await enter('scrub', '1');
  await press('[data-do=live]');
  await press('.learn-map:nth-child(2)');
  await did('a cell', () => {
    fire(find('.matrix-plot'), 'keydown', KeyboardEvent, { key: 'ArrowUp' });
  });
  await press('.learn-layer:nth-child(2) .learn-map');
  await press('.learn-layer:nth-child(2) .learn-map');
  await set({ learnMap: 2 });
  await set({ learnMap: 16 });
  await set({ learnMap: 9 });
  await news(1, 6);
  await press('[data-do=play]');
  await news(1, 7, { snapshot: null });
  await set({ learnHeads: 1 });
  await press('[name=compare]');
  await press('[data-do=play]');
  await news(2, 0);
  await moment(1, 0);
  await news(2, 5, { writing: { ...writing, written: [2, 4] } });
  await moment(1, 3);
  await set({ learnHeads: 2 });
  await set({ learnHeads: 1, language: 'zh' });
  await set({ language: 'en' });
  await press('[data-do=forget]');
  await press('[data-do=step]');
  await press('[data-do=restart]');
  await news(3, 0);
  requireWritten('learn-on-the-page', lines);
});

test('learn: a step that is looked at is that of the maps and of the judgement, or both are named', async () => {
  const { press, news, moment, enter, find } = await put();
  await press('[data-do=step]');
  for (let step = 0; step <= 40; step += 5) await news(1, step);
  const said = () => {
    const text = find('.learn-looked span').textContent;
    assert.equal(find('[name=scrub]').getAttribute('aria-valuetext'), text);
    return text.split(', accuracy')[0];
  };
  await enter('scrub', '20');
  assert.equal(said(), 'Maps of step 40. Held-out rows at step 20: loss 0.143', 'maps to come');
  await moment(1, 16);
  assert.equal(said(), 'Maps of step 16. Held-out rows at step 20: loss 0.143');
  await enter('scrub', '32');
  assert.equal(
    said(),
    'Maps of step 16. Held-out rows at step 30: loss 0.0968',
    'the maps are of before',
  );
  await moment(1, 32);
  assert.equal(said(), 'Maps of step 32. Held-out rows at step 30: loss 0.0968');
  await enter('scrub', '25');
  await moment(1, 25);
  assert.equal(said(), 'Step 25. Judged: loss 0.115');
});

test('learn: what was drawn is not written again', async () => {
  const { press, news, find, state } = await put({ learnMap: 1 });
  assert.equal(find('.learn-large').hidden, true, 'there is no map yet');
  await press('[data-do=play]');
  await news(1, 5, { writing, births: [birth('previous', 5)] });
  await press('[data-do=play]');
  const written = [];
  const observer = new MutationObserver((records) => {
    written.push(...records.map(({ target }) => named(target)));
  });
  observer.observe(panel, { subtree: true, childList: true, characterData: true });
  const set = [];
  for (const [selector, name] of [
    ['[name=scrub]', 'max'],
    ['[name=scrub]', 'value'],
    ['[name=text]', 'value'],
  ]) {
    const element = find(selector);
    const value = element[name];
    Object.defineProperty(element, name, {
      get: () => value,
      set() {
        set.push(`${name} of ${selector}`);
      },
    });
  }
  panel.update({ state: state(), look: 1 });
  await rest();
  observer.disconnect();
  // Scores and the cell of the matrix are small, and written with each drawing.
  assert.deepEqual([...new Set(written)].sort(), ['div#matrix-cell', 'span', 'span.born']);
  assert.deepEqual(set, []);
});

test('learn: experiments, a run without a mask, and a text of the reader', async () => {
  const { lines, did, press, set, enter, news, say, find } = await put();
  await set({ learnExperiment: 'leak', learnTask: 'addition', learnCausal: false });
  await press('[data-do=step]');
  await news(1, 0, { writing });
  await news(1, 5, { writing });
  await news(1, 10, { writing });
  await set({ learnExperiment: 'overfit', learnTask: 'histogram' });
  await press('[data-do=heads]');
  await news(2, 1);
  await news(2, 400);
  await news(3, 0);
  await set({ learnExperiment: 'noise' });
  await press('[data-do=noise]');
  const errors = { learned: 0.25, optimal: 0.125, mean: 0.0625 };
  const noise = {
    step: 9,
    done: false,
    learned: [0.5, 0.3, 0.2, 0],
    optimal: [0.7, 0.2, 0.1, 0],
    errors,
  };
  await say({ type: 'noise', news: noise });
  await say({ type: 'noise', news: { ...noise, step: 600, done: true } });
  await set({ learnExperiment: null, learnTask: 'characters' });
  await enter('text', 'abc def ghi jkl');
  await enter('text', '');
  const area = find('[name=text]');
  await did('while it is typed', () => {
    area.focus();
    area.value = 'half a te';
  });
  await set({ learnText: 'another text of the link' });
  await did('left', () => area.blur());
  await set({ learnText: 'another text of the link again' });
  await say({ type: 'failed', failure: { code: 'out_of_memory', message: 'no *room*' } });
  await press('[data-do=step]');
  requireWritten('learn-other-runs', lines);
});

test('learn: in a series a button says that others wait, and another one names all runs that it removes', async () => {
  const { press, news, set, find } = await put();
  const said = () => find('[data-do=heads]').textContent;
  const forget = () => find('[data-do=forget]');
  const offer = said();
  await press('[data-do=heads]');
  const [offers, removed] = [[], []];
  for (const run of [1, 2, 3, 4]) {
    offers.push(said() === offer);
    removed.push(forget().hidden ? '' : forget().textContent);
    await news(run, 100_000); // more steps than any task has
  }
  assert.deepEqual(offers, [false, false, false, true]);
  assert.deepEqual(removed, ['', 'Remove A', 'Remove A and B', 'Remove A, B and C']);
  await set({ language: 'zh' });
  assert.equal(forget().textContent, '去掉 A、B 和 C');
});

test('learn: a guess is drawn at once, and told when the run has begun', async () => {
  const { press, news, find } = await put();
  const drawn = mock.method(panel.training, 'drawn');
  await press('.learn-guess [value=no]');
  assert.equal(drawn.mock.callCount(), 1);
  assert.equal(find('.learn-guess [value=no]').checked, true);
  await press('[data-do=step]');
  await news(1, 1);
  assert.match(find('.learn-guess').textContent, /You said: no\./);
});

test('learn: the plots are as wide as their places, and wait for them', async () => {
  layOut({ width: 0, height: 0 });
  const { lines, did, press, news, find } = await put();
  await press('[data-do=step]');
  await news(1, 5);
  assert.equal(find('svg.plot'), null);
  await did('400.6 wide', () => layOut({ width: 400.6, height: 320 }));
  await did('410 wide', () => layOut({ width: 410, height: 320 }));
  const before = find('svg.plot');
  await did('the same again', () => layOut({ width: 410.2, height: 320 }));
  assert.equal(find('svg.plot'), before);
  requireWritten('learn-wide', lines);
});
