// The page's own state, in Node: what is asked of the worker and drawn after each event, and when. The worker is a puppet
// that answers when the test says so, and the one panel of the page writes down what it is handed.
import assert from 'node:assert/strict';
import { beforeEach, describe, test } from 'node:test';
import { Noting, answer, app, comes, rest, run, say, views, worker } from '../support/app_stage.js';

describe('app: what the worker says', () => {
  test('what a model that loads says many times in a second lays out nothing, and asks for no frame', async () => {
    run();
    app.set({ source: 'trained' });
    await rest();
    for (const kind of ['progress', 'generated', 'speed']) {
      const message = { kind, loaded: 1, total: 2 };
      assert.equal(await comes(() => worker({ type: 'model', message })), '0 0 0 0', kind);
    }
  });

  test('the time of a frame is the median of the last sixty, without the first four', async () => {
    run(1000);
    for (let id = 2; id <= 4; id++) {
      app.request();
      answer(1000);
    }
    assert.deepEqual(app.view().frameTime, NaN);
    for (let id = 5; id <= 200; id++) {
      app.request();
      answer(id);
      if (id === 5) assert.equal(app.view().frameTime, 5);
      if (id === 6) assert.equal(app.view().frameTime, 5.5);
    }
    assert.equal(app.view().frameTime, 170.5);
  });

  test('a load that failed takes the model away, a run that failed does not', async () => {
    run();
    worker({
      type: 'model',
      message: { kind: 'loaded', info: { id: 1, name: 'austen', notDrawn: null } },
    });
    const failure = { code: 'out_of_memory', message: 'no' };
    worker({ type: 'run-failed', failure });
    assert.equal(app.view().model.info.id, 1);
    assert.deepEqual(app.view().engine, { kind: 'failed', during: 'run', failure });
    const drawn = await comes(() => worker({ type: 'load-failed', failure }));
    assert.equal(drawn, '0 0 1 0');
    assert.equal(app.view().model.info, null);
    assert.deepEqual(views.at(-1).engine, { kind: 'failed', during: 'load', failure });
  });
});

describe('app: what panels and hands say', () => {
  beforeEach(async () => {
    run();
    await rest();
  });

  test('other tokens are drawn before the worker is asked', async () => {
    const before = app.view().list;
    await comes(() => say('state-change', { temperature: 3 }));
    assert.equal(app.view().list, before, 'the same tokens');
    for (const [patch, tokens] of [
      [{ text: 'one two' }, ['one', 'two']],
      [{ tokenizer: 'character' }, ['o', 'n', 'e', 't', 'w', 'o']],
      [{ length: 2 }, ['o', 'n']],
      [{ source: 'yours' }, ['x1', 'x2', 'x3']],
      [{ numbers: { q: [1, 2], k: [1, 2], v: [1, 2] } }, ['x1']],
      [{ source: 'trained' }, []],
    ]) {
      // Once at once, before the worker is asked; no frame of the screen is waited for.
      const order = [];
      const { update } = Noting.prototype;
      Noting.prototype.update = (view) => order.push(`drawn ${view.list.tokens.length}`);
      const { request } = app.client;
      app.client.request = (it) => order.push(`asked ${it.layer.tokens.length}`);
      say('state-change', patch);
      const count = tokens.length;
      assert.deepEqual(order, [`drawn ${count}`, `asked ${count}`], JSON.stringify(patch));
      app.client.request = request;
      Noting.prototype.update = update;
      assert.deepEqual(app.view().list.tokens, tokens);
    }
    assert.deepEqual(app.view().list, { tokens: [], own: 0, total: 0, textCut: false });
    app.set({ source: 'yours' });
    assert.deepEqual(app.view().list, { tokens: ['x1'], own: 1, total: 1, textCut: false });
  });
});
