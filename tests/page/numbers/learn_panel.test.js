// @about web/src/features/learn/
// What the panel "Watch it learn" does beside drawing, in Node, in a window without a browser: its links, when it speaks and how
// often it draws, and what it does before it is told anything.
import assert from 'node:assert/strict';
import { afterEach, mock, test } from 'node:test';
import { differences, enter, fire, linesOf, requireWritten } from '../support/operate.js';
import { openWindow } from '../support/window.js';

const { told, workers, rest, delays, leave } = openWindow();
const { modules } = await import('../support/engine.js');
const web = await modules('state/state', 'features/learn/panel');
afterEach(() => {
  leave();
  mock.restoreAll();
});

const initial = { ...web.initialState('en'), learnTask: 'reverse', learnHeads: 1, learnWidth: 16 };
const clock = { now: 10_000 };

/** The panel in this state, with what it asked for. */
async function put(patch = {}) {
  mock.method(performance, 'now', () => clock.now);
  const panel = document.createElement('qkv-panel-learn');
  const asked = [];
  let state = { ...initial, ...patch };
  panel.addEventListener('state-change', ({ detail }) => {
    asked.push(detail);
    state = { ...state, ...detail };
    panel.update({ state, look: 1 });
  });
  document.body.append(panel);
  panel.update({ state, look: 1 });
  await rest();
  const find = (selector) => panel.querySelector(selector);
  return {
    ...{ panel, find, asked },
    state: () => state,
    async press(selector) {
      find(selector).click();
      await rest();
    },
    /** News of the worker after so many steps. */
    async news(run, step) {
      const numbers = { loss: Float32Array.of(1), accuracy: Float32Array.of(0.5) };
      const news = { step, ...numbers, judged: [{ step, loss: 1, accuracy: 0.5 }], births: [] };
      const nothing = { snapshot: null, writing: null, rate: 1, parameters: 9 };
      workers.at(-1).say({ type: 'news', run, news: { ...news, ...nothing } });
      await rest();
    },
  };
}

test('learn: links of experiments are pressed here, or opened elsewhere', async () => {
  const { panel, find, asked, state } = await put({ learnSeed: 5 });
  const lines = [];
  const link = (name) => find(`[data-experiment="${name}"]`);
  const first = link('');
  panel.update({ state: state(), look: 1 });
  await rest();
  assert.equal(link(''), first, 'links made anew would lose the focus');
  for (const a of panel.querySelectorAll('.learn-links a')) {
    lines.push(`${a.textContent} ${a.getAttribute('href')} ${a.getAttribute('aria-current')}`);
  }
  const pressing = (more) => {
    const event = new MouseEvent('click', { bubbles: true, cancelable: true, ...more });
    link('oneLayer').dispatchEvent(event);
    return event.defaultPrevented ? 'prevented' : 'left alone';
  };
  const keys = ['ctrlKey', 'metaKey', 'shiftKey'].map((key) => pressing({ [key]: true }));
  assert.deepEqual([keys, asked], [['left alone', 'left alone', 'left alone'], []]);
  const pressed = link('oneLayer');
  pressed.focus();
  assert.equal(pressing({}), 'prevented');
  await rest();
  assert.ok(link('oneLayer') === pressed && document.activeElement === pressed, 'it has the focus');
  assert.equal(link('').getAttribute('aria-current'), null);
  assert.equal(link('oneLayer').getAttribute('aria-current'), 'true');
  web.setLanguage('zh');
  panel.update({ state: { ...state(), language: 'zh' }, look: 1 });
  await rest();
  web.setLanguage('en');
  assert.ok(link('oneLayer') === pressed, 'another language is no reason to make it anew');
  assert.equal(pressed.textContent, '一层够吗？');
  assert.match(pressed.getAttribute('href'), /lang=zh/);
  link('').click();
  lines.push(...asked.map((patch) => JSON.stringify(patch)));
  const sent = new Event('submit', { bubbles: true, cancelable: true });
  find('form').dispatchEvent(sent);
  assert.equal(sent.defaultPrevented, true);
  find('.learn-status').click();
  find('[data-do=step]').append('word');
  fire(find('[data-do=step]').lastChild, 'click');
  assert.deepEqual([asked.length, workers.length], [2, 0], 'nothing was pressed');
  requireWritten('learn-links', lines);
});

test('learn: it speaks when a run rests, and now and then while it trains', async () => {
  const { press, news, find } = await put();
  const spoken = () => find('[data-said]').textContent;
  await press('[data-do=play]');
  await news(1, 0);
  assert.equal(spoken(), '');
  await news(1, 1);
  assert.match(spoken(), /^Step 1: /);
  clock.now += 4999;
  await news(1, 2);
  assert.match(spoken(), /^Step 1: /);
  clock.now += 1;
  await news(1, 3);
  assert.match(spoken(), /^Step 3: /);
  await news(1, 4);
  await press('[data-do=play]');
  assert.match(spoken(), /^Step 4: /, 'it rests');
  clock.now += 9000;
  await news(1, 5);
  assert.match(spoken(), /^Step 4: /, 'it rested before');
  await press('[data-do=step]');
  await news(1, 6);
  assert.match(spoken(), /^Step 4: /);
});

test('learn: pictures that move are drawn seldom for those who do not want movement', async () => {
  const { press, news } = await put();
  const asked = [];
  mock.method(globalThis, 'matchMedia', (query) => {
    asked.push(query);
    return { matches: true };
  });
  const waiting = [];
  mock.method(window, 'setTimeout', (act, delay) => {
    if (delay > 0) waiting.push([act, delay]);
    return 7;
  });
  await press('[data-do=play]');
  await news(1, 0);
  await news(1, 1);
  assert.ok(asked.every((query) => query === '(prefers-reduced-motion: reduce)'));
  assert.deepEqual(
    waiting.map(([, delay]) => delay),
    [500],
  );
  told.length = 0;
  waiting[0][0]();
  assert.deepEqual(told.splice(0), [{ type: 'drawn' }]);
  await news(1, 2);
  assert.deepEqual(told, []);
  assert.equal(waiting.length, 2, 'and again');
  mock.restoreAll();
});

test('learn: before it is told anything it draws nothing and does nothing', async () => {
  const panel = document.createElement('qkv-panel-learn');
  document.body.append(panel);
  await rest();
  const before = linesOf(panel);
  for (const button of panel.querySelectorAll('[data-do]')) button.click();
  panel.training.look(null);
  enter(panel.querySelector('[name=scrub]'), '0');
  assert.equal(panel.training.looked, null);
  await rest();
  assert.deepEqual(differences(before, linesOf(panel)), []);
  assert.equal(workers.length, 0);
  assert.equal(await panel.figure(), null);
  panel.update({ state: initial, look: 1 });
  assert.equal((await panel.figure()).name, 'learn');
  assert.equal(panel.querySelector('.learn-status').textContent, '', 'with the next frame');
  await rest();
  assert.notEqual(panel.querySelector('.learn-status').textContent, '');
  panel.querySelector('[data-do=play]').click();
  panel.update({ state: { ...initial, learnSpeed: 'full' }, look: 1 });
  const [last] = told.slice(-1);
  assert.deepEqual(last, { type: 'play', perSecond: null, until: 400 });
  assert.ok(!delays.has(500));
});
