// Parts of the page around its panels, in Node: its head, a failure, what is fetched as it comes near, a page in a frame,
// and a page without a network.
import assert from 'node:assert/strict';
import { afterEach, beforeEach, describe, mock, test } from 'node:test';
import { join } from 'node:path';
import { root } from '../../support/js/files.js';
import { openWindow } from '../support/window.js';

const { rest, delays, leave } = openWindow();
const { bundled, modules } = await import('../support/engine.js');
const web = await modules(
  ...['app/header', 'app/failure', 'app/link_note', 'app/panel_watcher', 'app/embed', 'app/drops'],
  ...['state/state', 'features/index'],
);
const { TopPanel, FailurePanel, initialState, setLanguage } = web;
customElements.define('qkv-top', TopPanel);
customElements.define('qkv-failure', FailurePanel);
customElements.define('qkv-link-note', web.LinkNotePanel);
const page = document.documentElement;

beforeEach(() => setLanguage('en'));
afterEach(async () => {
  await rest();
  leave();
  mock.restoreAll();
  delete page.dataset.embed;
});

/** A part on the page, and all that it asks for, as [name, detail]. */
function put(part, ...names) {
  const asked = [];
  document.body.append(part);
  for (const name of names) {
    document.addEventListener(name, ({ detail }) => asked.push([name, detail ?? null]));
  }
  return asked;
}

describe('app: the head of the page', () => {
  const viewOf = (patch, theme = 'auto') => ({ state: { ...initialState('en'), ...patch }, theme });
  test('says where the weights come from, and what each button does next', () => {
    const top = new TopPanel();
    put(top);
    for (const [patch, theme, ...said] of [
      [{}, 'auto', 'weights built by hand', 'Present', 'Theme: follow system'],
      [{ controls: false, source: 'random', seed: 12 }, 'light', 'random weights, seed 12', 'End presentation', 'Theme: light'],
      [{ source: 'yours', language: 'zh' }, 'dark', '你自己的数字', '演示', '主题：深色'],
      [{ source: 'trained' }, 'auto', 'weights learned by a trained model', 'Present', 'Theme: follow system'],
    ]) {
      const language = patch.language ?? 'en';
      setLanguage(language);
      top.update(viewOf(patch, theme));
      const one = (name) => top.querySelector(name);
      const themeButton = one('.theme');
      assert.deepEqual([one('.badge').textContent, one('.teacher').textContent, themeButton.title], said);
      assert.equal(themeButton.getAttribute('aria-label'), themeButton.title);
      assert.equal(one('.language').lang, language === 'zh' ? 'en' : 'zh-CN');
      assert.match(one('.lessons').getAttribute('href'), new RegExp(`lang=${language}&lesson=index`));
    } // prettier-ignore
  });

  for (const { what, button, say, text, label } of [
    {
      what: 'what became of the link',
      ...{ button: '.share', say: (top) => top.say('done'), text: 'done', label: 'Share' },
    },
    {
      what: 'that the other language did not arrive',
      ...{ button: '.language', say: (top) => top.sayNotLoaded() },
      ...{ text: 'Translation could not be loaded', label: '中文' },
    },
  ]) {
    test(`says for two seconds ${what}`, async () => {
      const top = new TopPanel();
      put(top);
      const said = () =>
        [button, '[role=status]'].map((part) => top.querySelector(part).textContent);
      delays.clear();
      say(top);
      assert.deepEqual([said(), [...delays]], [[text, text], [2000]]);
      await rest();
      assert.deepEqual(said(), [label, text]);
    });
  }
});

test('app: a failure is told in words and in those of the engine, until it is over', () => {
  const panel = new FailurePanel();
  const asked = put(panel, 'engine-retry');
  const box = panel.querySelector('[role=alert]');
  for (const [code, reason] of [
    ['load_failed', /^The page could not load the WebAssembly file\. Check the connection/],
    ['unsupported', /^This browser lacks something the engine needs/],
    ['out_of_memory', /^The engine ran out of memory\. Try a shorter text\.$/],
    ['internal', /^An unexpected error occurred/],
  ]) {
    panel.update({ engine: { kind: 'failed', failure: { code, message: 'its words' } } });
    assert.equal(box.hidden, false);
    assert.match(panel.querySelector('.reason').textContent, reason);
    assert.equal(panel.querySelector('code').textContent, `${code}: its words`);
  }
  for (const kind of ['loading', 'ready']) {
    panel.update({ engine: { kind } });
    assert.equal(box.hidden, true);
  }
  panel.querySelector('button').click();
  assert.deepEqual(asked, [['engine-retry', null]]);
});

test('app: a link that is not understood is told in words, which can be closed', () => {
  const panel = new web.LinkNotePanel();
  const asked = put(panel, 'link-note-read');
  const said = (linkProblem) => {
    panel.update({ linkProblem });
    return panel.querySelector('.link-note').hidden ? null : panel.querySelector('p').textContent;
  };
  assert.equal(said(null), null);
  assert.match(said({ kind: 'version', version: '2' }), /^This link was made by another version of this page \(version 2 of links\)/); // prettier-ignore
  assert.match(said({ kind: 'version', version: '' }), /^This link is incomplete/);
  const parts = ['src=quantum', `zz=${'9'.repeat(99)}`, 'a=1', 'b=2'];
  assert.equal(
    said({ kind: 'unread', parts }),
    `This page does not understand a part of the link (src=quantum, zz=${'9'.repeat(37)}, a=1). It shows the rest.`,
  );
  panel.querySelector('button').click();
  assert.deepEqual(asked, [['link-note-read', null]]);
  setLanguage('zh');
  assert.match(said({ kind: 'unread', parts }), /无法理解（src=quantum/);
});

describe('app: files that are dropped beside everything', () => {
  const heard = [];
  beforeEach(() => {
    heard.length = 0;
    document.body.innerHTML = '<h1>title</h1><section id="model"><p>panel</p></section>';
    for (const name of ['state-change', 'model-tell']) {
      document.addEventListener(name, ({ detail }) => heard.push(detail));
    }
    web.catchDrops();
  });
  const file = new File(['GGUF'], 'a.gguf');
  function drag(type, types = ['Files'], target = 'h1') {
    const event = new Event(type, { bubbles: true, cancelable: true });
    Object.assign(event, { dataTransfer: { types, files: [file] } });
    document.querySelector(target).dispatchEvent(event);
    return event.defaultPrevented;
  }

  test('do not take the place of the page: they are loaded as a model', async () => {
    let shown = 0;
    document.getElementById('model').getClientRects = () => [{}];
    document.getElementById('model').scrollIntoView = () => shown++;
    assert.deepEqual([drag('dragover'), drag('drop')], [true, true]);
    await rest();
    assert.equal(shown, 1, 'where the reader sees what comes of it');
    const files = { kind: 'files', files: [file] };
    assert.deepEqual(heard, [{ modelOut: [], modelAt: null, modelNear: null, modelHead: null }, { kind: 'load', files }]); // prettier-ignore
  });

  test('only files are caught, once, and where there is no such panel nothing is loaded', async () => {
    assert.deepEqual([drag('dragover', ['text/plain']), drag('drop', ['text/plain'])], [false, false]); // prettier-ignore
    document.getElementById('model').getClientRects = () => [{}];
    document.querySelector('p').addEventListener('drop', (event) => event.preventDefault());
    drag('drop', ['Files'], 'p');
    await rest();
    assert.deepEqual(heard, [], 'the panel hears of it itself');
    document.getElementById('model').getClientRects = () => [];
    assert.equal(drag('drop'), true, 'it is caught all the same');
    await rest();
    assert.deepEqual(heard, []);
  });
});

describe('app: in a frame', () => {
  const at = (search) => history.replaceState(null, '', `https://page.example/${search}`);
  test('it is one panel, or a lesson', () => {
    for (const [search, framed, panel] of [
      ['', false, null],
      ['?embed', true, null],
      ['?embed=lesson', true, null],
      ['?embed=cost', true, 'cost'],
      ['?lesson=order', false, null],
    ]) {
      at(search);
      assert.deepEqual([web.isEmbedded(), web.embedded()], [framed, panel], search);
    }
    assert.equal(page.dataset.embed, undefined);
    web.showLesson();
    assert.equal(page.dataset.embed, 'lesson');
  });
});

describe('app: without a network', () => {
  const top = globalThis.top;
  afterEach(() => {
    globalThis.top = top;
    delete navigator.serviceWorker;
  });
  /** What is registered at once, and after the page is loaded twice. */
  async function registered({
    mode = 'production',
    readyState = 'complete',
    framed = false,
    has = true,
  }) {
    const { keepOffline } = await import(
      await bundled(`offline-${mode}`, {
        entryPoints: [join(root, 'web/src/app/offline.ts')],
        define: { 'import.meta.env.MODE': JSON.stringify(mode) },
      })
    );
    const asked = [];
    const register = (file) => (asked.push(file), Promise.reject(new Error('forbidden')));
    if (has)
      Object.defineProperty(navigator, 'serviceWorker', {
        value: { register },
        configurable: true,
      });
    globalThis.top = framed ? {} : globalThis;
    mock.getter(document, 'readyState', () => readyState);
    keepOffline();
    const first = [...asked];
    for (let i = 0; i < 2; i++) window.dispatchEvent(new Event('load'));
    await rest();
    return [first, asked];
  }
  const file = 'service-worker.js';

  test('what is fetched does not stand in the way of the first view', async () => {
    assert.deepEqual(await registered({}), [[file], [file]]);
    assert.deepEqual(await registered({ readyState: 'interactive' }), [[], [file]]);
  });

  test('the page is kept only where it is its own, and built', async () => {
    const none = [[], []];
    assert.deepEqual(await registered({ mode: 'development' }), none);
    assert.deepEqual(await registered({ framed: true }), none);
    assert.deepEqual(await registered({ has: false }), none);
  });
});
