// What all panels are made of, in Node: numbers in words, questions to guess, themes, and the class that every panel extends.
import assert from 'node:assert/strict';
import { afterEach, beforeEach, describe, test } from 'node:test';
import { openWindow } from '../support/window.js';

const { leave } = openWindow();
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
