// What a first visitor is told, in Node: to whom it comes, what each act brings, and how it goes away.
import assert from 'node:assert/strict';
import { afterEach, beforeEach, describe, mock, test } from 'node:test';
import { fire } from '../support/operate.js';
import { openWindow } from '../support/window.js';

const { leave } = openWindow();
const { modules } = await import('../support/engine.js');
const { FirstMinutePanel, initialState, setLanguage } = await modules(
  ...['app/first_minute', 'state/state', 'app/embed'],
);
customElements.define('qkv-first-minute', FirstMinutePanel);

const PANELS = ['pair', 'learn', 'use'];
/** Timers that go off when the test says so. */
const timers = new Map();
let made = 0;
let places;
let scrolled;
let focused;
beforeEach(() => {
  timers.clear();
  mock.method(globalThis, 'setTimeout', (act, delay) => {
    timers.set(++made, { act, delay });
    return made;
  });
  mock.method(globalThis, 'clearTimeout', (timer) => timers.delete(timer));
  places = [];
  globalThis.IntersectionObserver = class {
    constructor(act) {
      this.act = act;
    }
    observe(target) {
      places.push([target, this.act]);
    }
  };
  [scrolled, focused] = [[], []];
  mock.method(Element.prototype, 'scrollIntoView', function (how) {
    scrolled.push([this.className, how]);
  });
  mock.method(HTMLElement.prototype, 'focus', function (how) {
    focused.push([this.id, how]);
  });
  localStorage.clear();
  setLanguage('en');
});
afterEach(() => {
  mock.restoreAll();
  leave();
  delete document.documentElement.dataset.introduction;
});

const waiting = () => [...timers.values()].map(({ delay }) => delay);
const goOff = () => {
  const due = [...timers.values()];
  timers.clear();
  for (const { act } of due) act();
};
/** A row of two weights that the temperature brings together; the first word has only itself. */
const frameOf = ({ query, temperature, text }) => {
  const row = query ?? 9;
  const weight = row === 0 ? 1 : 1 / (1 + Math.exp(-2 / temperature));
  return {
    query: { row, weights: Float32Array.of(weight, 1 - weight) },
    request: { layer: { temperature, tokens: [text] } },
  };
};
const viewOf = (patch = {}, more = {}) => {
  const state = { ...initialState('en'), ...patch };
  return { state, frame: frameOf(state), ...{ list: { tokens: ['one'] }, ...more } };
};
const open = (address = '') => {
  history.replaceState(null, '', `https://page.example/${address}`);
  document.body.innerHTML = PANELS.map((id) => `<section id="${id}"></section>`).join('');
  const panel = new FirstMinutePanel();
  document.body.append(panel);
  return panel;
};
const part = (panel, selector) => panel.querySelector(selector);
const shown = () => document.documentElement.dataset.introduction;
const say = (name) => document.dispatchEvent(new Event(name));
const press = (key, target = document.body) => fire(target, 'keydown', KeyboardEvent, { key });

describe('first minute: who is told', () => {
  const isTold = (address) => {
    open(address).update(viewOf());
    const told = shown() === 'tap';
    delete document.documentElement.dataset.introduction;
    return told;
  };

  test('those who come to the page itself', () => {
    for (const address of ['', '?', '?embed=nothing', '?other=1']) assert.ok(isTold(address));
    for (const address of ['#v=1', '#a', '?embed=map', '?lesson=order'])
      assert.ok(!isTold(address));
  });

  test('those who come for the first time', () => {
    localStorage.setItem('qkv-introduction', 'other');
    assert.equal(isTold(''), true);
    localStorage.setItem('qkv-introduction', 'seen');
    assert.equal(isTold(''), false);
  });

  test('nobody who forbids to remember it, which ends all the same', (t) => {
    const forbidden = () => {
      throw new Error('forbidden');
    };
    const before = globalThis.localStorage;
    t.after(() => (globalThis.localStorage = before));
    globalThis.localStorage = { getItem: forbidden, setItem: forbidden };
    assert.equal(isTold(''), false);
    const panel = open('');
    say('introduction-opened');
    assert.equal(shown(), 'tap');
    part(panel, '.first-minute-skip').click();
    assert.equal(shown(), undefined);
  });
});

test('first minute: what is said after each act', () => {
  const texts = {
    tap: /^Tap a word\. It becomes the query/,
    slide: /^Slide the temperature τ in the settings above/,
    doors: /^Where do you want to go next\?$/,
  };
  const panel = open();
  const isAt = (step, why) => {
    assert.equal(shown(), step, why);
    const text = part(panel, '.first-minute-text').textContent;
    if (step) assert.match(text, texts[step], why);
    assert.equal(part(panel, '.first-minute').hidden, step === undefined, why);
    assert.equal(part(panel, '.first-minute-doors').hidden, step !== 'doors', why);
    const spoken = part(panel, '[role=status]').textContent;
    const hint = step === 'tap' ? ' Press Escape to skip the introduction.' : '';
    assert.equal(spoken, step ? text + hint : '', why);
    const close = part(panel, '.first-minute-skip').textContent;
    assert.equal(close, step === 'doors' ? 'Close' : 'Skip the introduction', why);
  };
  const see = (patch, step, why) => {
    panel.update(viewOf(patch));
    goOff();
    isAt(step, why);
  };
  see({}, 'tap', 'the first view');
  panel.update(viewOf({ query: 1 }));
  isAt('tap', 'the hand has not rested');
  see({ query: 1 }, 'slide', 'a word was tapped');
  see({ query: 1, temperature: 2 }, 'doors', 'the temperature was moved');
  setLanguage('zh');
  panel.update(viewOf({ language: 'zh', query: 1, temperature: 2 }));
  assert.equal(part(panel, '.first-minute-text').textContent, '接下来想看什么？');
  setLanguage('en');
  part(panel, '.first-minute-skip').click();
  see({ query: 2 }, undefined, 'it was closed');
  say('introduction-opened');
  see({ query: 2, temperature: 2 }, 'tap', 'it begins anew with what is there');
  see({ query: 2, temperature: 3 }, 'tap', 'the second thing is done before the first');
  see({ query: null, temperature: 3 }, 'tap', 'no word is chosen any more');
  see({ query: 3, temperature: 3 }, 'doors', 'both are done');
  assert.equal(
    localStorage.getItem('qkv-introduction'),
    'seen',
    'on the next visit it is not there',
  );
});

describe('first minute: the temperature', () => {
  /** A page whose reader has tapped this word and is to slide. */
  function sliding(query) {
    const panel = open();
    panel.update(viewOf());
    panel.update(viewOf({ query }));
    goOff();
    assert.equal(shown(), 'slide');
    const slide = (temperature) => {
      panel.update(viewOf({ query, temperature }));
      goOff();
      return shown();
    };
    return { panel, slide, text: () => part(panel, '.first-minute-text').textContent };
  }

  test('was moved when the boxes are seen to change, up or down', () => {
    const { slide } = sliding(3);
    assert.equal(slide(1.05), 'slide', 'nobody sees so little');
    assert.equal(slide(3), 'doors');
    assert.equal(sliding(3).slide(0.3), 'doors');
  });

  test('of a word that has only itself to read changes nothing, which is said', () => {
    const { panel, slide, text } = sliding(0);
    const before = text();
    assert.equal(slide(1.2), 'slide');
    assert.equal(text(), before);
    assert.equal(slide(9), 'slide');
    assert.match(text(), /^The boxes hardly change: .* tap another one\.$/);
    panel.update(viewOf({ query: 4, temperature: 9 }));
    goOff();
    assert.deepEqual([shown(), text()], ['slide', before], 'another word is another beginning');
    panel.update(viewOf({ query: 4, temperature: 1 }));
    goOff();
    assert.equal(shown(), 'doors');
  });

  test('that moves with another text is not what was moved', () => {
    const { panel } = sliding(3);
    panel.update(viewOf({ query: 3, text: 'other', temperature: 9 }));
    goOff();
    assert.equal(shown(), 'slide');
  });
});

describe('first minute: while it lasts', () => {
  test('a moment is counted from the last act, and ends with it', () => {
    const panel = open();
    panel.update(viewOf());
    panel.update(viewOf({ query: 1 }));
    panel.update(viewOf({ query: 2 }));
    assert.deepEqual(waiting(), [700]);
    part(panel, '.first-minute-skip').click();
    assert.deepEqual([waiting(), localStorage.getItem('qkv-introduction')], [[], 'seen']);
  });

  test('Escape ends it, but not where it has another use', () => {
    const panel = open();
    const begin = () => say('introduction-opened');
    document.body.insertAdjacentHTML(
      'beforeend',
      '<details open><summary>a</summary></details><details id="closed"><p>b</p></details><qkv-matrix><i></i></qkv-matrix>',
    );
    press('Escape');
    assert.equal(localStorage.getItem('qkv-introduction'), null, 'it was not there');
    begin();
    press('Enter');
    const details = document.querySelector('details');
    details.addEventListener('keydown', () => (details.open = false)); // as menus do
    press('Escape', document.querySelector('summary'));
    press('Escape', document.querySelector('qkv-matrix i'));
    assert.equal(shown(), 'tap');
    press('Escape', document.querySelector('#closed p'));
    assert.equal(shown(), undefined);
    begin();
    press('Escape', document);
    assert.equal(shown(), undefined);
    panel.update(viewOf());
    assert.equal(shown(), undefined);
  });
});
