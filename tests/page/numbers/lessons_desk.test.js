// The desk that puts lessons onto the page and takes them off again, in Node, with the list of lessons and the lessons themselves.
import assert from 'node:assert/strict';
import { afterEach, beforeEach, describe, mock, test } from 'node:test';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { root } from '../../support/js/files.js';
import { until } from '../../support/js/patience.js';
import { openWindow } from '../support/window.js';

const { written, rest, leave } = openWindow();
const { bundled } = await import('../support/engine.js');
const features = join(root, 'web/src/features');
const json = (path) => JSON.parse(readFileSync(join(features, path), 'utf8'));
/** The files that Vite would fetch, of which panels are none here. */
globalThis.globOf = (pattern) =>
  new Proxy(
    {},
    {
      get(_none, path) {
        if (pattern.endsWith('panel.ts')) return undefined;
        return async () => (
          fetched.push(path),
          json(path.replace('../content', 'lessons/content'))
        );
      },
    },
  );
let fetched = [];
const contents = [
  ...[
    'lessons/page/lesson_controller',
    'lessons/page/builtin_lessons',
    'lessons/page/reader',
    'lessons/page/lesson_codec',
    'index',
  ].map((name) => `features/${name}`),
  ...['i18n/i18n', 'state/state'],
].map((path) => `export * from './${path}';`);
const web = await import(
  await bundled('lessons', {
    stdin: { contents: contents.join('\n'), resolveDir: join(root, 'web/src'), loader: 'ts' },
    define: { 'import.meta.glob': 'globOf' },
  })
);
const { Desk, allLessons, initialState, formatFragment, setLanguage, addTexts, t } = web;
for (const language of web.LANGUAGES) {
  for (const of of ['i18n', 'chapters']) addTexts(language, json(`../${of}/${language}.json`));
}

let main;
let host;
let desk;
let begun;
beforeEach(() => {
  setLanguage('en');
  document.documentElement.lang = 'en';
  [fetched, begun] = [[], []];
  history.replaceState(null, '', 'https://page.example/?embed=lesson&lesson=order');
  written.length = 0;
  document.body.innerHTML = `<main><section class="hero">failures</section><section class="instruments"></section>
    <section class="sentence"></section><section id="map"></section><section id="row"></section></main>`;
  main = document.querySelector('main');
  let state = initialState('en');
  host = {
    hold: null,
    settled: true,
    client: {},
    view: () => ({ state, list: { tokens: [] } }),
    begin(next) {
      begun.push(formatFragment(next));
      state = next;
      setLanguage(next.language);
      document.documentElement.lang = next.language;
    },
    show() {},
    panelAdded() {},
  };
  desk = new Desk(host);
  mock.method(globalThis, 'scrollTo', (...at) => (scrolled = at));
  scrolled = null;
});
let scrolled;
afterEach(async () => {
  await rest();
  leave();
  mock.restoreAll();
  delete document.documentElement.dataset.lesson;
});
const ADDRESS = { name: 'index', code: null, step: 1, language: null };
const open = async (more) => {
  await desk.open({ ...ADDRESS, ...more });
  await rest();
};
const names = (element) =>
  [...element.children].map(({ localName, id, className }) => id || className || localName);
const reader = () => document.querySelector('qkv-lesson');
const mark = () => document.documentElement.dataset.lesson;
const lead = 'https://page.example/?embed=lesson';

test('lessons: the list has every lesson that the page has, with its texts', async () => {
  for (const language of ['en', 'zh']) {
    const content = json(`lessons/content_${language}.json`);
    const all = await allLessons(language);
    for (const { name, lesson } of all) {
      const { title, goals, steps } = content[name];
      const questions = (of) => of.map(({ exercises }) => exercises.map(({ text }) => text));
      assert.deepEqual([lesson.title, lesson.goals], [title, goals]);
      assert.deepEqual(questions(lesson.steps), questions(steps), name);
    }
    assert.ok(all.length >= 7);
  }
  assert.deepEqual(fetched, ['../content_en.json', '../content_zh.json']);
});

describe('lessons: their list', () => {
  test('has each with its link and its goals, and says when one is missing', async () => {
    for (const language of ['en', 'zh']) {
      await open({ language });
      const entries = [...main.querySelectorAll('.lesson-list > li')];
      const lessons = await allLessons(language);
      assert.deepEqual(
        [...main.querySelectorAll('.by-chapter .lesson-kind')].map(
          ({ textContent }) => textContent,
        ),
        lessons.slice(1).map(({ chapter }) => t(`chapters.${chapter}.name`)),
      );
      assert.equal(main.querySelectorAll('.for-class > li').length, 1);
      assert.deepEqual(
        entries.map((entry) => [
          entry.querySelector('a').getAttribute('href'),
          entry.querySelectorAll('ul > li').length,
        ]),
        lessons.map(({ name, lesson }) => [
          `#v=1&lang=${language}&lesson=${name}`,
          lesson.goals.length,
        ]),
      );
      const { minutes, steps } = lessons[0].lesson;
      const values = { minutes, steps: steps.length };
      assert.equal(entries[0].querySelector('.hint').textContent, t('lessons.kindMinutes', values));
      const link = `${lead}#v=1&lang=${language}&lesson=${lessons[0].name}`;
      assert.equal(entries[0].querySelector('.lesson-link').textContent, link);
      assert.equal(document.title, `${t('lessons.title')} · qkv`);
      assert.equal(main.querySelector('.missing').hidden, true);
    }
    await open({ name: 'nothing' });
    assert.equal(main.querySelector('.missing').hidden, false);
  });

  test('takes the place of the page but for its failures, and gives it back', async () => {
    const before = names(main);
    await open();
    assert.deepEqual(names(main), ['hero', 'qkv-lessons', 'div', 'qkv-locks']);
    assert.deepEqual(names(main.querySelector(':scope > div')), before.slice(1));
    assert.deepEqual(
      [main.querySelector(':scope > div').hidden, main.querySelector('qkv-locks').hidden],
      [true, true],
    );
    assert.deepEqual([mark(), scrolled], ['open', [0, 0]]);
    assert.deepEqual(written, ['/?embed=lesson#v=1&lang=en&lesson=index']);
    assert.equal(host.hold.fragment(), '#v=1&lang=en&lesson=index');
    const patch = { seed: 1 };
    assert.deepEqual([host.hold.allow(patch), host.hold.panels], [patch, new Set()]);
    for (const name of ['qkv-lessons', 'qkv-locks'])
      assert.equal(main.querySelector(name).dataset.panel, '');
    await desk.open(null);
    assert.deepEqual(
      [names(main), host.hold, mark(), document.title],
      [before, null, undefined, t('page.title')],
    );
    await desk.open(null);
    assert.deepEqual(names(main), before);
  });
});

describe('lessons: one of them', () => {
  test('is not opened any more by those who leave while it is fetched', async () => {
    const opening = desk.open({ ...ADDRESS, name: 'reads' });
    await desk.open(null);
    await opening;
    await rest();
    assert.deepEqual([names(main).length, reader(), begun], [5, null, []]);
    const other = desk.open({ ...ADDRESS, name: 'reads', language: 'zh' });
    await desk.open(null);
    await other;
    await rest();
    assert.deepEqual(begun, [], 'nor is its language asked for');
  });
});

describe('lessons: their language', () => {
  test('is asked of the page before one is opened', async () => {
    await open({ name: 'reads', language: 'zh' });
    assert.equal(begun[0], formatFragment(initialState('zh')));
    assert.ok(fetched.includes('./lessons/zh.json'));
    begun.length = 0;
    await open({ name: 'reads', language: 'zh' });
    assert.equal(begun.length, 1, 'only the step begins');
  });

  test('is waited for, but not for longer than five seconds', async () => {
    let now = 0;
    mock.method(performance, 'now', () => now);
    host.begin = (state) => begun.push(state.language);
    let opened = false;
    const opening = open({ language: 'zh' }).then(() => (opened = true));
    await until(async () => begun.length > 0);
    await rest();
    now = 4999;
    await rest();
    assert.equal(opened, false);
    now = 5000;
    await opening;
    assert.ok(main.querySelector('qkv-lessons'));
  });

  test('that changes while a lesson is fetched leaves its step alone', async () => {
    await open();
    const opening = desk.open({ ...ADDRESS, name: 'reads', step: 3 });
    host.begin(initialState('zh'));
    main.querySelector('qkv-locks').onLanguage('zh');
    await opening;
    await until(() => reader() !== null);
    await rest();
    assert.equal(reader().at, 2);
    assert.match(location.hash, /lang=zh&lesson=reads&step=3$/);
  });
});
