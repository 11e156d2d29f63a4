// The panels that have a worker of their own, in Node: what a reader is told when what the worker needs does not load, and that the
// next press begins with another worker. The workers are puppets that say what the test has them say.
import assert from 'node:assert/strict';
import { beforeEach, test } from 'node:test';
import { rest, told, viewOf, web, workers } from '../support/scene.js';

/** Of each panel: what a reader presses, where it says how it stands, and what the worker is asked by the press. */
const LABS = [
  ['learn', '[data-do=play]', '.learn-status', 'run play'],
  ['recurrence', '[data-press=play]', '.recurrence-badge', 'source begin'],
  ['block', '.block-run', '.block-status', 'run'],
  ['cost', '.bench-run', '.bench-status', 'run'],
];
const notLoaded = {
  code: 'load_failed',
  message: 'init: qkv-train-simd.wasm did not load; tell init({ wasm }) where they are',
};
const FETCH = {
  en: 'A file that it needs could not be fetched. Check the connection, then press the button again.',
  zh: '所需的文件没有下载成功。请检查网络，然后再按一次按钮。',
};

async function open(id, patch = {}) {
  document.body.innerHTML = `<section id="${id}"><qkv-panel-${id} data-panel></qkv-panel-${id}></section>`;
  const panel = document.querySelector(`qkv-panel-${id}`);
  const state = { ...web.initialState('en'), ...patch };
  web.setLanguage(state.language);
  panel.update(await viewOf(`qkv-panel-${id}`, patch, state, 1));
  await rest();
  return (selector) => panel.querySelector(selector);
}

beforeEach(() => {
  told.length = workers.length = 0;
});

for (const [id, button, status, asked] of LABS) {
  for (const language of ['en', 'zh']) {
    test(`${id}: what did not load is said to readers in ${language}, and another press begins anew`, async () => {
      const find = await open(id, { language });
      find(button).click();
      await rest();
      const first = workers.at(-1);
      first.say({ type: 'failed', failure: notLoaded });
      await rest();
      assert.equal(told.at(-1), 'ended', 'the worker that cannot load is given up');
      assert.ok(find(status).textContent.endsWith(FETCH[language]), find(status).textContent);
      assert.doesNotMatch(find(status).textContent, /init|wasm/);
      find(button).click();
      await rest();
      assert.equal(workers.length, 2);
      const [name, ...messages] = workers[1].heard;
      assert.equal(name, id);
      assert.equal(messages.map(({ type }) => type).join(' '), asked);
      assert.ok(!find(status).textContent.endsWith(FETCH[language]), 'what failed is forgotten');
      workers[1].say({ type: 'failed', failure: { code: 'internal', message: 'it broke' } });
      await rest();
      assert.match(find(status).textContent, /(What went wrong: |出错信息：)it broke$/);
    });
  }

  test(`${id}: a worker that was ended says nothing more, its death neither`, async () => {
    const find = await open(id);
    find(button).click();
    await rest();
    workers[0].say({ type: 'failed', failure: notLoaded });
    find(button).click();
    await rest();
    const before = find(status).textContent;
    workers[0].dispatchEvent(new Event('error'));
    workers[0].say({ type: 'failed', failure: notLoaded });
    await rest();
    assert.equal(find(status).textContent, before);
    assert.equal(told.filter((one) => one === 'ended').length, 1, 'the second worker goes on');
  });
}

test('learn: what the lost worker had is asked of no other, and the noise study does not hide that', async () => {
  const find = await open('learn');
  find('[data-do=play]').click();
  workers[0].say({ type: 'failed', failure: notLoaded });
  const panel = document.querySelector('qkv-panel-learn');
  for (const act of [() => panel.training.look(3), () => panel.training.forgetKept(), () => panel.training.drawn()]) act(); // prettier-ignore
  await rest();
  assert.equal(workers.length, 1, 'no worker is started for it');
  panel.training.learnNoise(1);
  await rest();
  find('[data-do=play]').click();
  await rest();
  const types = workers[1].heard.slice(1).map(({ type }) => type);
  assert.deepEqual(types, ['noise', 'forget', 'run', 'play'], 'the run begins anew');
});
