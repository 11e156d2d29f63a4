// What the page writes into its address and takes out of it, in Node: links, panels, languages, and an open lesson.
import assert from 'node:assert/strict';
import { exampleSaid } from '../support/texts.js';
import { afterEach, beforeEach, describe, mock, test } from 'node:test';
import { openWindow } from '../support/window.js';

const { written, goTo, rest, delays, leave } = openWindow();
globalThis.matchMedia = () => Object.assign(new EventTarget(), { matches: false });
const { modules } = await import('../support/engine.js');
const { App, Panel, initialState, formatFragment, parseFragment } = await modules(
  ...['app/app', 'features/panel', 'state/state', 'features/index'],
);

class Noting extends Panel {
  drawn = 0;
  template() {
    return '<p data-t="bar.share"></p>';
  }
  update() {
    this.drawn++;
  }
}
customElements.define('qkv-panel-map', Noting);

let app;
beforeEach(() => {
  document.body.innerHTML =
    '<section id="map"><qkv-panel-map data-panel></qkv-panel-map></section>';
  app = new App();
  delays.clear();
});
afterEach(async () => {
  await rest();
  leave();
  mock.restoreAll();
});
const panel = () => document.querySelector('qkv-panel-map');
const stateOf = (patch) => ({ ...initialState('en'), ...patch });
/** A page that is opened at this address. */
function openedAt(hash, language = 'en-GB') {
  history.replaceState(null, '', hash);
  written.length = 0;
  mock.getter(navigator, 'language', () => language);
  return new App();
}

describe('app: the language', () => {
  test('is that of the browser, or that of the address', () => {
    for (const [hash, browser, language] of [
      ['', 'en-GB', 'en'],
      ['', 'zh', 'zh'],
      ['', 'ZH-TW', 'zh'],
      ['', 'zha', 'en'],
      ['', 'fr-zh', 'en'],
      ['#v=1&lang=zh', 'en-GB', 'zh'],
      ['#v=1&lang=en', 'zh-CN', 'en'],
      ['?lesson=order&lang=zh', 'en-GB', 'zh'],
      ['?lesson=order', 'zh-CN', 'zh'],
    ]) {
      assert.equal(openedAt(hash, browser).language, language, `${hash} ${browser}`);
      history.replaceState(null, '', 'https://page.example/');
    }
  });
});

describe('app: a change of the state', () => {
  test('is written into the address once, 300 ms after the last one', async () => {
    history.replaceState(null, '', '?embed=map');
    written.length = 0;
    app.set({ seed: 3 });
    app.set({ head: 2 });
    assert.deepEqual([written, [...delays]], [[], [300]]);
    await rest();
    assert.deepEqual(written, [`?embed=map#v=1&lang=en&${exampleSaid()}&seed=3&h=2`]);
  });

  test('is not written over a link that was followed, of which the browser has yet to tell', async () => {
    app.set({ seed: 3 });
    history.replaceState(null, '', '#v=1&lang=en&seed=5');
    written.length = 0;
    await rest();
    assert.deepEqual(written, []);
    app.set({ head: 2 });
    await rest();
    assert.deepEqual(written, [`#v=1&lang=en&${exampleSaid()}&seed=3&h=2`], 'the next change is');
  });

  test('takes the panel out of the link', async () => {
    app.begin(stateOf({ panel: 'learn' }));
    assert.equal(app.view().state.panel, 'learn');
    app.set({ seed: 3 });
    assert.equal(app.view().state.panel, null);
    app.set({ panel: 'cost' });
    assert.equal(app.view().state.panel, 'cost', 'unless it says so');
  });

  test('a beginning is not written into the address, and replaces all', async () => {
    app.set({ seed: 3, head: 2 });
    await rest();
    written.length = 0;
    app.begin(stateOf({ temperature: 2 }));
    await rest();
    assert.deepEqual([app.view().state, written], [stateOf({ temperature: 2 }), []]);
  });

  test('of two beginnings the later one counts, whichever language arrives first', async () => {
    app.begin({ ...initialState('zh'), seed: 1 });
    app.begin(stateOf({ seed: 2 }));
    await rest();
    assert.deepEqual([app.language, app.view().state.seed], ['en', 2]);
    app.begin({ ...initialState('zh'), seed: 3 });
    app.set({ head: 1 });
    await rest();
    assert.deepEqual([app.language, app.view().state.seed], ['zh', 3], 'a change is no beginning');
    app.begin(stateOf({}));
    app.begin({ ...initialState('zh'), seed: 4 });
    goTo(formatFragment(app.view().state));
    app.begin({ ...initialState('zh'), seed: 5 });
    await rest();
    assert.deepEqual([app.language, app.view().state.seed], ['zh', 5]);
  });
});

describe('app: another address', () => {
  test('is not taken over by a language that was chosen before it', async () => {
    app.set({ language: 'zh' });
    goTo('#v=1&lang=en&seed=5');
    await rest();
    assert.deepEqual([app.language, app.view().state.seed], ['en', 5]);
  });

  test('that says the same as the page draws nothing, and calls off a language under way', async () => {
    app.start();
    await rest();
    const { drawn } = panel();
    goTo('#v=1&lang=en');
    await rest();
    assert.equal(panel().drawn, drawn);
    goTo('#v=1&lang=zh');
    goTo('#v=1&lang=en');
    await rest();
    assert.equal(app.language, 'en');
  });
});

describe('app: an anchor of the page', () => {
  const inAddress = () => parseFragment(location.hash, 'en');

  test('gives way to the state again, and leaves the sentence in it', async () => {
    app.set({ text: 'my own words', temperature: 2 });
    await rest();
    for (const anchor of ['#text', '#elsewhere']) goTo(anchor);
    await rest();
    assert.equal(written.length, 2);
    const { text, temperature, panel } = inAddress();
    assert.deepEqual([text, temperature, panel], ['my own words', 2, null]);
    assert.deepEqual(app.view().state.text, 'my own words');
  });

  test('that is the name of a panel leads there again after a reload', async () => {
    app.set({ text: 'my own words' });
    goTo('#learn'); // before the words have come into the address
    await rest();
    const { text, panel } = inAddress();
    assert.deepEqual([written.length, text, panel], [1, 'my own words', 'learn']);
  });

  test('is forgotten when another address comes first', async () => {
    app.set({ seed: 5 });
    goTo('#learn');
    goTo('#v=1&lang=en&seed=7');
    await rest();
    assert.deepEqual(written, []);
    app.set({ head: 3 });
    await rest();
    const { seed, head, panel } = inAddress();
    assert.deepEqual([written.length, seed, head, panel], [1, 7, 3, null]);
  });
});

describe('app: a panel that the link leads to', () => {
  const section = () => document.getElementById('map');
  /** Opens the page at a panel, in a window that scrolls as the test says; returns how often it was brought into sight. */
  function opened(open = () => goTo('#v=1&lang=en&p=map')) {
    let shown = 0;
    const place = { page: 0, section: 400 };
    section().scrollIntoView = () => {
      shown++;
      place.page += place.section;
      place.section = 0;
    };
    section().getBoundingClientRect = () => ({ top: place.section });
    Object.defineProperty(globalThis, 'scrollY', { get: () => place.page, configurable: true });
    open();
    look();
    return { shown: () => shown, place };
  }
  const observers = new Set();
  const { ResizeObserver } = globalThis;
  beforeEach(() => {
    observers.clear();
    globalThis.ResizeObserver = class {
      constructor(act) {
        this.act = act;
        observers.add(this);
      }
      observe(target) {
        this.target = target;
      }
      disconnect() {
        this.target = null;
      }
    };
  });
  afterEach(() => (globalThis.ResizeObserver = ResizeObserver));
  const look = () => {
    for (const { target, act } of observers) if (target === document.body) act();
  };

  for (const name of ['wheel', 'touchstart', 'pointerdown', 'keydown']) {
    test(`is kept in sight while the page grows, until the reader stirs: ${name}`, () => {
      const { shown } = opened();
      assert.equal(shown(), 1);
      look();
      assert.equal(shown(), 2);
      window.dispatchEvent(new Event(name));
      look();
      assert.equal(shown(), 2);
    });
  }

  test('is let go when something else scrolls, and not when the page does it by itself', () => {
    const { shown, place } = opened();
    const scroll = () => window.dispatchEvent(new Event('scroll'));
    scroll(); // of its own
    place.section += 300; // what grows above pushes it down
    scroll();
    look();
    assert.equal(shown(), 2);
    place.page += 200; // the browser makes up for what grew
    scroll();
    look();
    assert.equal(shown(), 3);
    place.page -= 500; // a scroll bar, or a search in the page
    place.section += 500;
    scroll();
    look();
    assert.equal(shown(), 3);
  });

  test('is let go for another one, or for none', () => {
    const { shown } = opened();
    const count = () => [...observers].filter(({ target }) => target === document.body).length;
    assert.equal(count(), 1);
    goTo('#v=1&lang=en&p=map&seed=3');
    assert.equal(count(), 1, 'one at a time');
    goTo('#v=1&lang=en&seed=4');
    const before = shown();
    look();
    assert.deepEqual([count(), shown()], [0, before]);
  });
});

describe('app: a link that the page does not understand', () => {
  test('is told with the view until the reader has read it or follows another one', async () => {
    const problem = () => app.view().linkProblem;
    app = openedAt('#v=2&x=Hello+world');
    app.start();
    assert.deepEqual(problem(), { kind: 'version', version: '2' });
    document.dispatchEvent(new CustomEvent('link-note-read'));
    assert.equal(problem(), null);
    goTo('#v=1&seed=4&src=quantum');
    await rest();
    assert.deepEqual(problem(), { kind: 'unread', parts: ['src=quantum'] });
    assert.equal(app.view().state.seed, 4);
    goTo('#v=1&lang=en&seed=4');
    await rest();
    assert.equal(problem(), null);
  });
});

describe('app: its link', () => {
  test('is the whole state, or that of a panel, without what the address says', () => {
    history.replaceState(null, '', '?embed=map#text');
    app.set({ seed: 4 });
    const page = 'https://page.example/';
    assert.equal(app.link(), `${page}#v=1&lang=en&${exampleSaid()}&seed=4`);
    assert.equal(app.link('row'), `${page}#v=1&lang=en&p=row&${exampleSaid()}&seed=4`);
    assert.equal(
      app.link(null, '?embed=row'),
      `${page}?embed=row#v=1&lang=en&${exampleSaid()}&seed=4`,
    );
  });
});
