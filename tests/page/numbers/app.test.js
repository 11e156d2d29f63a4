// The page's own state, in Node: what is asked of the worker and drawn after each event, and when. The worker is a puppet
// that answers when the test says so, and the one panel of the page writes down what it is handed.
import assert from 'node:assert/strict';
import { beforeEach, describe, test } from 'node:test';
import {
  Noting,
  answer,
  app,
  asked,
  comes,
  info,
  queries,
  rest,
  run,
  say,
  told,
  views,
  worker,
  web,
} from '../support/app_stage.js';

const { App } = web;

describe('app: the first moment', () => {
  test('draws, starts the engine and asks for a frame, in that order', async () => {
    const came = await comes(() => app.start());
    assert.match(came, /^1 2 /, 'requested once as it is drawn and once on its own account');
    assert.deepEqual(
      told.map(({ type }) => type),
      ['palette', 'start'],
    );
    assert.deepEqual(views[0].engine, { kind: 'loading' });
    const { frame, report, studies, frameTime, theme, query, look, model } = views[0];
    assert.deepEqual([frame, report, studies], [null, null, { temperature: null, scale: null }]);
    assert.deepEqual([frameTime, theme, query, look], [NaN, 'auto', 7, 1]);
    assert.equal(model.info, null);
    worker({ type: 'ready', info });
    await rest();
    assert.deepEqual(views.at(-1).engine, { kind: 'ready', info });
    assert.deepEqual(told.at(-1).type, 'run');
  });

  test('has the theme that the reader chose', () => {
    localStorage.setItem('qkv-theme', 'dark');
    assert.equal(new App().view().theme, 'dark');
    assert.equal(document.documentElement.dataset.theme, 'dark');
  });

  test('a page without its controls says so when it is drawn', () => {
    const { classList } = document.documentElement;
    app.start();
    assert.equal(classList.contains('no-controls'), false);
    app.set({ controls: false, text: 'one two' });
    assert.equal(classList.contains('no-controls'), true);
    app.set({ controls: true, text: 'one' });
    assert.equal(classList.contains('no-controls'), false);
  });
});

describe('app: what the worker says', () => {
  test('a frame, a report and studies are each drawn with the next frame of the screen', async () => {
    run(3);
    await rest();
    const { id } = told.at(-1);
    assert.equal(views.at(-1).frame.id, id);
    for (const [data, of] of [
      [{ type: 'report', pixels: {}, report: { heads: [] } }, 'report'],
      [{ type: 'studies', news: { scale: 'widths' } }, 'studies'],
      [{ type: 'studies', news: { temperature: 'curves' } }, 'studies'],
    ]) {
      assert.equal(await comes(() => worker(data)), '0 0 1 0');
      assert.ok(views.at(-1)[of]);
    }
    assert.deepEqual(views.at(-1).report, { heads: [] });
    assert.deepEqual(views.at(-1).studies, { temperature: 'curves', scale: 'widths' });
    await comes(() => {
      worker({ type: 'studies', news: {} });
      worker({ type: 'studies', news: {} });
    });
    assert.equal(views.at(-1).frame.time, 3);
  });

  test('what a model that loads says many times in a second lays out nothing, and asks for no frame', async () => {
    run();
    app.set({ source: 'trained' });
    await rest();
    for (const kind of ['progress', 'generated', 'speed']) {
      const message = { kind, loaded: 1, total: 2 };
      assert.equal(await comes(() => worker({ type: 'model', message })), '0 0 0 0', kind);
    }
  });

  test('many words within one frame of the screen are drawn once', async () => {
    run();
    await rest();
    const twice = () => [1, 2].forEach(() => worker({ type: 'studies', news: {} }));
    assert.equal(await comes(twice), '0 0 1 0');
    assert.equal(await comes(twice), '0 0 1 0');
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

  test('a change of the state is drawn later and asked for at once', async () => {
    assert.equal(await comes(() => say('state-change', { temperature: 2 })), '0 1 1 1');
    assert.deepEqual([views.at(-1).state.temperature, asked.at(-1).layer.temperature], [2, 2]);
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

  test('a canvas goes to the worker under its name', () => {
    const canvas = document.createElement('canvas');
    say('canvas-given', { name: 'own', canvas });
    const { type, name } = told.at(-1);
    assert.deepEqual([type, name], ['surface', 'own']);
  });

  test('the row under the crosshair, a hand on the temperature and another size are asked for', async () => {
    assert.deepEqual([asked.at(-1).view.told, asked.at(-1).view.dragging], [7, false]);
    for (const [name, detail, view] of [
      ['row-told', 2, { told: 2, dragging: false }],
      ['temperature-held', true, { told: 2, dragging: true }],
      ['temperature-held', false, { told: 2, dragging: false }],
      ['row-told', null, { told: 7, dragging: false }],
      ['surface-resized', undefined, { told: 7, dragging: false }],
    ]) {
      assert.equal(await comes(() => say(name, detail)), '0 1 0 1');
      const { told: row, dragging } = asked.at(-1).view;
      assert.deepEqual({ told: row, dragging }, view, name);
    }
  });

  test('another try starts the engine and asks again', async () => {
    told.length = 0;
    assert.match(await comes(() => say('engine-retry')), /^\d 1 /);
    assert.equal(told[0].type, 'start');
    assert.deepEqual(views.at(-1).engine, { kind: 'loading' });
  });

  test('another theme has another look and other colours', async () => {
    const { look } = app.view();
    const palettes = () => told.filter(({ type }) => type === 'palette');
    const [first] = palettes();
    assert.equal(await comes(() => say('theme-change', 'dark')), '0 1 1 1');
    assert.deepEqual([views.at(-1).theme, views.at(-1).look], ['dark', look + 1]);
    assert.equal(document.documentElement.dataset.theme, 'dark');
    assert.equal(palettes().length, 2);
    assert.notEqual(palettes()[1].palette, first.palette);
  });

  test('other colours of the system are taken, too', async () => {
    const { look } = app.view();
    const scheme = queries.get('(prefers-color-scheme: dark)');
    scheme.matches = true;
    const change = () => scheme.dispatchEvent(new Event('change'));
    assert.equal(await comes(change), '0 1 1 1');
    assert.deepEqual([app.view().theme, app.view().look], ['auto', look + 1]);
    assert.equal(document.documentElement.dataset.theme, 'dark');
  });

  test('a word to the model is passed on and drawn', async () => {
    const message = { kind: 'load', files: { kind: 'address', name: 'austen', url: 'a' } };
    assert.equal(await comes(() => say('model-tell', message)), '0 0 1 0');
    assert.deepEqual(told.at(-1), { type: 'model', message });
    assert.equal(views.at(-1).model.loading.what, 'austen');
  });
});
