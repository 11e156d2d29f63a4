// What all panels are made of, in Node: numbers in words, questions to guess, themes, and the class that every panel extends.
import assert from 'node:assert/strict';
import { afterEach, beforeEach, describe, test } from 'node:test';
import { openWindow, SIZE } from '../support/window.js';

const { rest, leave } = openWindow();
const media = [];
let dark = false;
globalThis.matchMedia = (query) => {
  const one = { query, matches: dark && query.includes('dark'), heard: [] };
  one.addEventListener = (name, act, options) => one.heard.push({ name, act, options });
  media.push(one);
  return one;
};
const { modules } = await import('../support/engine.js');
const web = await modules('ui/{token_chip,guess,theme,temperature_slider}', 'features/panel');
afterEach(leave);

test('tokens: a chip has the share of its weight, and its slider a logarithmic scale', () => {
  for (const [share, said] of [
    [0, '.000'],
    [0.0004, '.000'],
    [0.12345, '.123'],
    [1, '1.000'],
  ]) {
    assert.deepEqual([web.shareOf(share, false), web.shareOf(share, true)], [said, '–']);
  }
  assert.deepEqual([0.01, 0.05, 1, 3, 20, 1e3].map(web.toSlider), [-200, -130, 0, 48, 130, 300]);
  assert.deepEqual([-130, -100, 0, 48, 130].map(web.fromSlider), [0.0501, 0.1, 1, 3.02, 20]);
  const chip = web.chipHtml({ position: 3, token: 'a&amp;b', share: '.25', weight: 0.25 });
  assert.match(chip, /value="3"[^]*y="0\.75"[^]*a&amp;b[^]*"position">3<[^]*"share">\.25</);
});

// ---- questions ----

test('guess: what it asks, says and asks for', async () => {
  const guess = document.createElement('qkv-guess');
  document.body.append(guess);
  const heard = [];
  for (const name of ['guessed', 'guess-again']) {
    document.addEventListener(name, ({ type, detail }) => heard.push([type, detail]));
  }
  const choices = [
    { value: 'a', label: 'First' },
    { value: 'b', label: '<Second>' },
  ];
  const find = (selector) => guess.querySelector(selector);
  const labels = () => [...guess.querySelectorAll('[data-guess]')].map(({ textContent }) => textContent);
  guess.ask('Which?', choices);
  assert.deepEqual([find('.guess').hidden, find('.guess-question').textContent], [false, 'Which?']);
  assert.deepEqual(labels().slice(0, 2), ['First', '<Second>']);
  const button = find('[data-guess=a]');
  guess.ask('Which?', [...choices]);
  assert.ok(find('[data-guess=a]') === button, 'the same question keeps its buttons');
  for (const name of ['a', 'b', 'show']) find(`[data-guess=${name}]`).click();
  assert.deepEqual(heard.splice(0), [['guessed', 'a'], ['guessed', 'b'], ['guessed', null]]);
  find('.guess-question').click();
  assert.deepEqual(heard, [], 'a press beside');
  guess.ask(null);
  assert.equal(find('.guess').hidden, true);
  guess.ask('Really?');
  assert.equal(labels().length, 1, 'without choices it can be shown');
  for (const [act, answer, again] of [
    [() => guess.tell('Right'), 'Right', true],
    [() => guess.tell(''), '', false],
    [() => guess.tell('So', false), 'So', false],
    [() => guess.tell('', true), '', true],
  ]) {
    act();
    assert.deepEqual([find('.guess-answer').textContent, find('.guess-again').hidden], [answer, !again]);
  }
  find('.guess-again').click();
  assert.deepEqual(heard, [['guess-again', null]]);
  let prevented;
  find('[data-guess=show]').focus = (options) => (prevented = options);
  guess.focusFirst();
  await rest();
  assert.deepEqual(prevented, { preventScroll: true });
}); // prettier-ignore

// ---- themes ----

describe('themes', () => {
  beforeEach(() => {
    media.length = 0;
    localStorage.clear();
  });

  test('follow the system unless the reader chose one', () => {
    for (const [system, theme, shown] of [
      ...[
        [false, 'auto', 'light'],
        [true, 'auto', 'dark'],
      ],
      ...[
        [true, 'light', 'light'],
        [false, 'dark', 'dark'],
      ],
    ]) {
      dark = system;
      web.applyTheme(theme);
      assert.equal(document.documentElement.dataset.theme, shown);
      assert.equal(localStorage.getItem('qkv-theme'), theme);
      assert.equal(web.storedTheme(), theme);
    }
    assert.deepEqual(
      [...new Set(media.map(({ query }) => query))],
      ['(prefers-color-scheme: dark)'],
    );
    localStorage.setItem('qkv-theme', 'Dark');
    assert.equal(web.storedTheme(), 'auto');
    dark = false;
  });

  test('change without us: by the system, by high contrast, and by every zoom', () => {
    let calls = 0;
    globalThis.devicePixelRatio = 1.5;
    web.onAppearanceChange(() => ++calls);
    const queries = () => media.splice(0).map(({ query, heard: [first] }) => ({ query, ...first }));
    const [colours, contrast, ratio, ...more] = queries();
    assert.deepEqual(
      [colours, contrast, ratio].map(({ query, name }) => `${query} ${name}`),
      [
        '(prefers-color-scheme: dark) change',
        '(forced-colors: active) change',
        '(resolution: 1.5dppx) change',
      ],
    );
    assert.deepEqual([more, ratio.options], [[], { once: true }]);
    colours.act();
    contrast.act();
    assert.deepEqual([calls, media.length], [2, 0]);
    globalThis.devicePixelRatio = 2;
    ratio.act();
    assert.equal(calls, 3);
    const [next] = queries();
    assert.equal(next.query, '(resolution: 2dppx)');
    next.act();
    assert.deepEqual([calls, media.length], [4, 1]);
    globalThis.devicePixelRatio = 1;
  });
});

// ---- the class of all panels ----

class Sample extends web.Panel {
  built = [];
  template() {
    this.built.push('template');
    return '<p class="a"></p><p class="b" data-t="page.comma"></p>';
  }
  adopt() {
    this.built.push(`adopt ${this.textContent}`);
  }
  ready() {
    this.built.push(`ready ${this.querySelector('.b').textContent}`);
  }
  update(view) {
    this.given = view;
  }
}
customElements.define('qkv-test-sample', Sample);
class Pair extends web.CompositePanel {
  template() {
    return '<qkv-test-sample class="one"></qkv-test-sample><qkv-test-sample></qkv-test-sample>';
  }
  ready() {
    this.parts = [...this.querySelectorAll('qkv-test-sample')];
  }
}
customElements.define('qkv-test-pair', Pair);

describe('panels', () => {
  test('are built once, of what the HTML gave them', () => {
    const panel = document.createElement('qkv-test-sample');
    panel.textContent = 'given';
    document.body.append(panel);
    document.body.append(panel);
    assert.deepEqual(panel.built, ['adopt given', 'template', `ready ${web.t('page.comma')}`]);
    assert.deepEqual(panel.surfaces(), {});
  });

  test('know what has changed, and say what they want', () => {
    const panel = document.createElement('qkv-test-sample');
    document.body.append(panel);
    const same = {};
    const steps = [[1, same], [1, same], [2, same], [2, {}], [2], [2], [], [], [NaN], [NaN]];
    assert.deepEqual(
      steps.map((inputs) => panel.changed(...inputs)),
      [true, false, true, true, true, false, true, false, true, true],
    );
    const heard = [];
    for (const name of ['state-change', 'canvas-given', 'surface-resized']) {
      document.addEventListener(name, ({ detail }) => heard.push([name, detail]));
    }
    const canvas = document.createElement('canvas');
    panel.change({ seed: 1 });
    panel.give('map', canvas);
    panel.resized();
    assert.deepEqual(heard, [
      ['state-change', { seed: 1 }],
      ['canvas-given', { name: 'map', canvas }],
      ['surface-resized', null],
    ]);
    assert.throws(() => panel.find('.c', HTMLElement), /nothing here is a HTMLElement \.c/);
  });

  test('made of others hand on their view and collect their surfaces', () => {
    const panel = document.createElement('qkv-test-pair');
    document.body.append(panel);
    const [one, two] = panel.parts;
    one.surfaces = () => ({ a: SIZE });
    two.surfaces = () => ({ b: SIZE });
    const view = {};
    panel.update(view);
    assert.deepEqual([one.given, two.given], [view, view]);
    assert.deepEqual(panel.surfaces(), { a: SIZE, b: SIZE });
  });

  test('know whether a frame is of the tokens on the page', () => {
    const list = ['a', 'b'];
    const current = (tokens, of = list) =>
      web.isCurrent({
        frame: tokens && { request: { layer: { tokens } } },
        list: { tokens: of },
      });
    assert.equal(current(null), false);
    assert.equal(current(list), true);
    assert.equal(current(['a', 'b']), true);
    for (const other of [['a'], ['a', 'c'], ['c', 'b'], ['a', 'b', 'c'], []]) {
      assert.equal(current(other), false);
    }
    assert.equal(current([], []), true);
  });
});
