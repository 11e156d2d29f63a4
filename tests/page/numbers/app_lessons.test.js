// When lessons come onto the page and go, in Node, and what is shown when they do not come.
import assert from 'node:assert/strict';
import { afterEach, describe, mock, test } from 'node:test';
import { until } from '../../support/js/patience.js';
import { openWindow } from '../support/window.js';

const { goTo, rest, leave } = openWindow();
const { modules } = await import('../support/engine.js');
const { expectLesson, watchLessons, initialState } = await modules(
  'app/lesson_loader',
  'state/state',
);
const page = document.documentElement;
afterEach(async () => {
  await rest();
  leave();
  mock.restoreAll();
  delete page.dataset.lesson;
});

describe('app: lessons', () => {
  /** A page that counts how often it is looked at: a desk does that once when it comes. */
  function newPage() {
    const state = initialState('en');
    return { looked: 0, hold: null, state, view() {
      this.looked++;
      return { state };
    }, begin() {} }; // prettier-ignore
  }
  const at = (hash) => history.replaceState(null, '', `https://page.example/${hash}`);

  test('a lesson is expected where the address names one', () => {
    at('');
    assert.equal(expectLesson(), false);
    assert.equal(page.dataset.lesson, undefined);
    at('?lesson=order');
    assert.equal(expectLesson(), true);
    assert.equal(page.dataset.lesson, 'coming');
  });

  test('come with the first address that names one, and go with the next of the page', async () => {
    document.body.innerHTML = '<main><section></section></main>';
    const children = () =>
      [...document.querySelector('main').children].map(({ localName }) => localName);
    at('');
    const app = newPage();
    watchLessons(app);
    goTo('#v=1&lang=en');
    goTo('#text');
    await rest();
    assert.equal(app.looked, 0, 'no desk');
    goTo('#v=1&lang=en&lesson=index');
    await until(() => document.activeElement.id === 'lesson-title');
    assert.equal(page.dataset.lesson, 'open');
    assert.ok(children().includes('qkv-lessons'));
    assert.notEqual(app.hold, null);
    goTo('#text');
    goTo('#xv=1');
    await rest();
    assert.equal(page.dataset.lesson, 'open', 'an anchor leaves it open');
    for (const address of ['', '#v=1&seed=3']) {
      goTo(address);
      await until(() => page.dataset.lesson === undefined);
      assert.deepEqual([children(), app.hold], [['section'], null]);
      goTo('#v=1&lang=en&lesson=index');
      await until(() => page.dataset.lesson === 'open');
    }
  });

  test('take the focus from the link to them, but not from a page that begins with one', async () => {
    document.body.innerHTML = '<main></main>';
    at('#v=1&lang=en&lesson=index');
    watchLessons(newPage());
    await until(() => page.dataset.lesson === 'open');
    await rest();
    assert.equal(document.activeElement, document.body);
  });

  test('that do not come are told of, and the page is shown', async () => {
    const logged = mock.method(console, 'error', () => {});
    at('#v=1&lesson=order');
    expectLesson();
    const broken = new Error('no network');
    const app = { view: () => { throw broken; } }; // prettier-ignore
    watchLessons(app);
    await until(() => logged.mock.callCount() === 1);
    assert.deepEqual([page.dataset.lesson, logged.mock.calls[0].arguments], [undefined, [broken]]);
    page.dataset.lesson = 'open';
    goTo('#v=1&lesson=reads');
    await until(() => logged.mock.callCount() === 2);
    assert.equal(page.dataset.lesson, 'open', 'the lesson of before');
  });
});
