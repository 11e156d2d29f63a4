// What the page writes into its address and takes out of it, in Node: links, panels, languages, and an open lesson.
import assert from 'node:assert/strict';
import { exampleSaid } from '../support/texts.js';
import { afterEach, beforeEach, describe, mock, test } from 'node:test';
import { openWindow } from '../support/window.js';

const { written, goTo, rest, delays, leave } = openWindow();
globalThis.matchMedia = () => Object.assign(new EventTarget(), { matches: false });
const { modules } = await import('../support/engine.js');
const { App, Panel, initialState, formatFragment, parseFragment, t } = await modules(
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
const hold = (more = {}) => ({
  ...{ allow: (patch) => patch, fragment: () => '#v=1&lesson=order', panels: new Set() },
  ...more,
});
/** A page that is opened at this address. */
function openedAt(hash, language = 'en-GB') {
  history.replaceState(null, '', hash);
  written.length = 0;
  mock.getter(navigator, 'language', () => language);
  return new App();
}

describe('app: the language', () => {
  const root = document.documentElement;
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

  test('is that of the document, its title and its texts', async () => {
    app.start();
    const button = () => panel().querySelector('p').textContent;
    const { look } = app.view();
    assert.deepEqual([root.lang, document.title, button()], ['en', t('page.title'), t('bar.share')]); // prettier-ignore
    app.set({ language: 'zh' });
    assert.equal(app.language, 'en', 'its texts are on their way');
    await rest();
    assert.deepEqual([root.lang, app.language, app.view().look], ['zh-CN', 'zh', look + 1]);
    assert.deepEqual([document.title, button()], [t('page.title'), t('bar.share')]);
    assert.match(document.title + button(), /\p{Script=Han}/u);
    app.set({ seed: 3 });
    assert.equal(app.view().look, look + 1, 'the language is the same');
    app.set({ language: 'en' });
    await rest();
    assert.deepEqual([root.lang, app.view().look], ['en', look + 2]);
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

  test('goes through as far as an open lesson allows', async () => {
    const asked = [];
    const allow = (patch) => (asked.push(patch), { seed: patch.seed });
    app.hold = hold({ allow });
    app.set({ seed: 9, head: 3 });
    const { seed, head } = app.view().state;
    assert.deepEqual([seed, head, asked], [9, 0, [{ seed: 9, head: 3 }]]);
    await rest();
    assert.deepEqual(written, ['#v=1&lesson=order'], 'the lesson stays in the address');
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

  test('is a state, whose panel comes into sight', async () => {
    let shown = 0;
    document.getElementById('map').scrollIntoView = () => shown++;
    app.set({ seed: 4 }); // waits to be written, and is not
    goTo('#v=1&lang=en&h=3&p=map');
    await rest();
    assert.deepEqual([app.view().state.head, app.view().state.seed, written], [3, 7, []]);
    assert.ok(shown > 0);
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

  test('that is bare is the first state; a lesson keeps its own', async () => {
    app.set({ seed: 4 });
    await rest();
    app.hold = hold();
    goTo('');
    assert.equal(app.view().state.seed, 4);
    app.hold = null;
    goTo('#v=1&lang=en&seed=4');
    goTo('');
    assert.equal(app.view().state.seed, 7);
  });

  test('that names a lesson leaves the state to the lesson', () => {
    app.set({ seed: 4 });
    goTo('#v=1&lang=en&lesson=order&seed=9');
    assert.equal(app.view().state.seed, 4);
    app.hold = hold();
    goTo('#v=1&lang=en&seed=9');
    assert.equal(app.view().state.seed, 9);
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

  test('leaves an open lesson in it', async () => {
    app.hold = hold();
    for (const anchor of ['#text', '#learn']) {
      goTo(anchor);
      await rest();
      assert.equal(location.hash, '#v=1&lesson=order');
    }
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

  test('is let go when nothing has grown for three seconds', async () => {
    const { shown } = opened(() => openedAt('#v=1&lang=en&p=map').start());
    assert.equal(shown(), 1);
    await rest(); // timers go off at once here
    assert.ok(delays.has(3000));
    look();
    assert.equal(shown(), 1);
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

  test('is not waited for when there is none', async () => {
    observers.clear();
    openedAt('#v=1&lang=en').start();
    openedAt('#v=1&lang=en&p=row').start(); // the page has no such section
    assert.equal(observers.size, 0);
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

  test('is that of an open lesson, of which a panel alone says nothing', () => {
    app.hold = hold();
    const page = 'https://page.example/';
    assert.equal(app.link(), `${page}#v=1&lesson=order`);
    assert.equal(app.link('row'), page + formatFragment(stateOf({ panel: 'row' })));
    assert.equal(app.link(null, '?embed=row'), `${page}?embed=row#v=1&lang=en&${exampleSaid()}`);
  });
});
