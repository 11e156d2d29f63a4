// The address of a lesson, in Node: who leaves before the lesson is there has the page.
import assert from 'node:assert/strict';
import { afterEach, beforeEach, describe, test } from 'node:test';
import { join } from 'node:path';
import { build } from 'esbuild';
import { root } from '../../support/js/files.js';
import { until } from '../../support/js/patience.js';
import { openWindow } from '../support/window.js';

const { written, goTo, rest, leave } = openWindow();
const { modules } = await import('../support/engine.js');
afterEach(async () => {
  await rest();
  leave();
  delete document.documentElement.dataset.lesson;
});

const { Desk, writeCode } = await modules(
  ...['features/lessons/page/lesson_controller', 'features/lessons/page/lesson_codec'],
);

const INDEX = { name: 'index', code: null, step: 1 };

describe('lessons: the desk', () => {
  let main;
  let host;
  const shown = () => [...main.children].map(({ localName }) => localName);
  beforeEach(() => {
    main = document.createElement('main');
    main.innerHTML = '<section></section>'; // the page, whose place a lesson takes
    document.body.append(main);
    const state = { language: 'en' };
    host = { hold: null, begun: [], begin: (to) => host.begun.push(to), view: () => ({ state }) };
    host.language = (to) => (state.language = to);
  });

  test('opens a lesson when the page has its language', async () => {
    const opening = new Desk(host).open({ ...INDEX, language: 'zh' });
    await until(() => host.begun.length > 0);
    assert.deepEqual(written, []);
    host.language('zh');
    await opening;
    assert.equal(written.length, 1);
    assert.match(written[0], /#v=1&lang=zh&lesson=index$/);
    assert.notEqual(host.hold, null);
  });

  test('opens none for those who leave before the page has its language', async () => {
    const desk = new Desk(host);
    const opening = desk.open({ ...INDEX, language: 'zh' });
    await until(() => host.begun.length > 0);
    await desk.open(null);
    host.language('zh');
    await opening;
    assert.deepEqual([written, shown(), host.hold], [[], ['section'], null]);
  });

  test('does not wait on for a language that nobody wants any more', async () => {
    const desk = new Desk(host);
    const opening = desk.open({ ...INDEX, language: 'zh' });
    await until(() => host.begun.length > 0);
    await desk.open(null);
    let frames = 0;
    const { requestAnimationFrame } = globalThis;
    globalThis.requestAnimationFrame = (draw) => {
      frames++;
      return requestAnimationFrame(draw);
    };
    await opening;
    globalThis.requestAnimationFrame = requestAnimationFrame;
    assert.equal(frames, 0);
    assert.deepEqual([shown(), host.hold], [['section'], null]);
  });

  test('has the lesson that is open follow the reader to another language, and not the desk itself', async () => {
    const desk = new Desk(host);
    await desk.open({ ...INDEX, language: 'en' });
    const locks = main.lastElementChild;
    const draw = (language) => {
      host.language(language);
      locks.told(language);
    };
    const opening = desk.open({ ...INDEX, language: 'zh' });
    await until(() => host.begun.length > 0);
    draw('zh');
    await opening;
    assert.equal(written.length, 2, 'opened once in each language');
    draw('en');
    await until(() => written.length === 3);
    assert.match(written[2], /lang=en/);
  });

  test('opens a lesson in another language at its own step, not at that of the open one', async () => {
    const desk = new Desk(host);
    Object.assign(host, { show() {}, panelAdded() {} });
    const steps = ['one', 'two', 'three'].map((text) => ({ text }));
    const lesson = { name: null, code: await writeCode({ title: 'any', steps }) };
    await desk.open({ ...lesson, step: 1, language: 'en' });
    host.begun.length = 0;
    const opening = desk.open({ ...lesson, step: 3, language: 'zh' });
    await until(() => host.begun.length > 0);
    host.language('zh');
    main.lastElementChild.told('zh');
    await opening;
    await rest();
    assert.match(written.at(-1), /lang=zh&L=[\w-]+&step=3$/);
  });
});

describe('lessons: the address', () => {
  const mark = () => document.documentElement.dataset.lesson;
  /** app/lesson_loader.ts with a desk that comes when `fetched` says so. */
  async function watched(fetched) {
    globalThis.fetchDesk = fetched;
    // Another address every time: a module is fetched once.
    const desk = `export const { Desk } = await fetchDesk(); // ${Math.random()}`;
    const url = `data:text/javascript,${encodeURIComponent(desk)}`;
    const { outputFiles } = await build({
      entryPoints: [join(root, 'web/src/app/lesson_loader.ts')],
      ...{ bundle: true, write: false, format: 'esm' },
      plugins: [
        {
          name: 'desk of the test',
          setup: ({ onResolve }) =>
            onResolve({ filter: /lessons\/page\/lesson_controller$/ }, () => ({
              path: url,
              external: true,
            })),
        },
      ],
    });
    return import(`data:text/javascript,${encodeURIComponent(outputFiles[0].text)}`);
  }
  /** Keeps the addresses that it was asked to open. */
  function deskOf(opened) {
    return class {
      open(address) {
        opened.push(address?.name ?? null);
        if (!address) delete document.documentElement.dataset.lesson;
        return Promise.resolve();
      }
    };
  }

  test('is read when the code of lessons is there: who has gone back meanwhile has the page', async () => {
    const opened = [];
    let come;
    const fetching = new Promise((resolve) => (come = resolve));
    const { expectLesson, watchLessons } = await watched(() => fetching);
    history.replaceState(null, '', '#v=1&lesson=order');
    assert.ok(expectLesson());
    watchLessons({});
    goTo('#v=1&lang=en');
    come({ Desk: deskOf(opened) });
    await until(() => opened.length > 0);
    assert.deepEqual(opened, [null]);
    assert.equal(mark(), undefined);
    goTo('#v=1&lesson=reads');
    await until(() => opened.length > 1);
    assert.deepEqual(opened, [null, 'reads']);
  });
});
