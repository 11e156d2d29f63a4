// The page's own state, in Node: what is requested of the worker and drawn after each event, what is in sight, its query, and a
// trained model. The worker is a puppet that answers when the test says so, and the panels of the page write down what
// they are handed.
import assert from 'node:assert/strict';
import { beforeEach, describe, test } from 'node:test';
import {
  Noting,
  answer,
  app,
  asked,
  comes,
  rest,
  run,
  say,
  views,
  worker,
  web,
} from '../support/app_stage.js';

const { initialState, tokenize, defaultText } = web;
const section = () => document.getElementById('map');

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

describe('app: what is in sight', () => {
  test('only a panel on the screen has its canvases painted', async () => {
    run();
    assert.deepEqual(asked.at(-1).surfaces, {});
    assert.equal(app.sees('map'), false);
    const show = (visible) => comes(() => app.show(section(), visible));
    assert.match(await show(true), /^0 1/);
    assert.deepEqual(asked.at(-1).surfaces, { map: { width: 10, height: 20 } });
    assert.equal(app.sees('map'), true);
    assert.match(await show(true), /^0 0/, 'it was there already');
    assert.match(await show(false), /^0 1/);
    assert.deepEqual([asked.at(-1).surfaces, app.sees('map')], [{}, false]);
    assert.match(await show(false), /^0 0/);
  });

  test('a panel of an open lesson is painted wherever it is', () => {
    app.hold = { allow: (patch) => patch, fragment: () => '#', panels: new Set(['map']) };
    app.show(section(), false);
    assert.equal(app.sees('map'), true);
    app.hold = { ...app.hold, panels: new Set(['row']) };
    app.show(section(), false);
    assert.equal(app.sees('map'), false);
  });
});

describe('app: the query', () => {
  test('is that of the state, the one at home, and never beyond the tokens', () => {
    const query = (patch) => {
      app.set(patch);
      return app.view().query;
    };
    assert.equal(app.view().query, 7, 'the word "it"');
    assert.equal(query({ query: 3 }), 3);
    assert.equal(query({ query: 0 }), 0);
    assert.equal(query({ query: 99 }), 10);
    assert.equal(query({ text: 'one two three .', query: null }), 2);
    assert.equal(
      query({ text: 'it is long', length: 12 }),
      0,
      'of the text, not of its repetition',
    );
    assert.equal(query({ text: '' }), -1);
    assert.equal(asked.at(-1).view.query, -1);
  });

  test('an example that nobody touched follows the language, a text of one’s own does not', async () => {
    app.set({ query: 3 });
    app.set({ language: 'zh' });
    await rest();
    assert.deepEqual([app.view().state.text, app.view().state.query], [defaultText('zh'), null]);
    app.set({ text: 'my own', query: 1 });
    app.set({ language: 'en' });
    await rest();
    assert.deepEqual([app.view().state.text, app.view().state.query], ['my own', 1]);
    app.set({ text: defaultText('en'), query: 2 });
    await rest();
    assert.deepEqual([app.view().state.query, app.view().state.text], [2, defaultText('en')]);
    const { text, tokenizer, length } = initialState('en');
    assert.deepEqual(app.view().list, tokenize(text, tokenizer, length));
  });
});

describe('app: a trained model', () => {
  const model = {
    ...{ id: 5, name: null, file: 'a.gguf' },
    ...{ notDrawn: null, numLayers: 2, numHeads: 3, causal: false },
  };
  const loaded = { kind: 'loaded', info: model };
  const receive = (message) => worker({ type: 'model', message });
  beforeEach(async () => {
    app.start();
    await rest();
  });

  test('is the one that the link names, whichever it named before', async () => {
    app.set({ model: 'tang' });
    receive(loaded);
    const named = () => [app.view().state.model, app.view().state.modelFile];
    assert.deepEqual(named(), [null, 'a.gguf']);
    assert.match(app.link(), /&lmf=a\.gguf/);
    assert.doesNotMatch(app.link(), /lmw=/);
    receive({ kind: 'loaded', info: { ...model, name: 'austen', file: 'austen.safetensors' } });
    assert.deepEqual(named(), ['austen', null]);
    assert.match(app.link(), /&lmw=austen/);
    receive({ kind: 'refused', failure: { code: 'no_weights', message: '' } });
    assert.deepEqual(named(), ['austen', null], 'a load that came to nothing changes nothing');
    await rest();
    assert.match(location.hash, /&lmw=austen/, 'the address, too');
  });
});
