// When lessons come onto the page and go, in Node, and what is shown when they do not come.
import assert from 'node:assert/strict';
import { afterEach, describe, mock, test } from 'node:test';
import { until } from '../../support/js/patience.js';
import { openWindow } from '../support/window.js';

const { goTo, rest, leave } = openWindow();
const { modules } = await import('../support/engine.js');
const { expectLesson, watchLessons } = await modules('app/lesson_loader', 'state/state');
const page = document.documentElement;
afterEach(async () => {
  await rest();
  leave();
  mock.restoreAll();
  delete page.dataset.lesson;
});

describe('app: lessons', () => {
  const at = (hash) => history.replaceState(null, '', `https://page.example/${hash}`);

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
