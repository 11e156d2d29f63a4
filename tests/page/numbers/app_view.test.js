// What the page asks of its worker and draws, in Node: what is in sight, when it rests, its query, and a trained model. The worker
// is a puppet that answers when the test says so, and the panels of the page write down what they are handed.
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
  told,
  views,
  worker,
  web,
} from '../support/app_stage.js';

const { initialState, tokenize, defaultText } = web;
const section = () => document.getElementById('map');

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

  test('a panel that is not there, or has no code, is not seen', () => {
    const element = document.createElement('section');
    element.innerHTML = '<qkv-panel-row data-panel></qkv-panel-row>';
    document.body.append(element);
    app.show(element, true);
    assert.deepEqual([app.sees('row'), app.sees('cost')], [false, false]);
    const loose = document.querySelector('qkv-panel-map');
    document.body.append(loose);
    assert.deepEqual([app.sees('map'), asked.at(-1).surfaces], [false, {}], 'in no section');
  });

  test('a new panel is asked for and drawn', async () => {
    run();
    await rest();
    assert.equal(await comes(() => app.panelAdded()), '0 1 1 1');
  });

  test('a canvas that drawing brings onto the screen is asked for then', async () => {
    run();
    app.show(section(), true);
    await rest();
    const count = asked.length;
    Noting.size = { width: 11, height: 20 };
    app.set({ order: 'entropy' });
    assert.equal(asked.length, count + 1);
    Noting.size = { width: 12, height: 20 };
    await rest();
    assert.equal(asked.length, count + 2);
    assert.deepEqual(asked.at(-1).surfaces, { map: { width: 12, height: 20 } });
    assert.equal(asked.at(-1).ratio, 1);
  });
});

test('app: it rests when all is answered and drawn, and no language is under way', async () => {
  assert.equal(app.settled, false, 'nothing was asked');
  run();
  assert.equal(app.settled, false, 'the frame is not drawn');
  await rest();
  answer();
  await rest();
  assert.equal(app.settled, true);
  app.set({ language: 'zh' });
  assert.equal(app.settled, false, 'texts are on their way');
  await rest();
  answer();
  await rest();
  assert.equal(app.settled, true);
  say('model-tell', { kind: 'load', files: { kind: 'address', name: 'austen', url: 'a' } });
  await rest();
  assert.equal(app.settled, false, 'a model is on its way');
  worker({ type: 'model', message: { kind: 'aborted' } });
  await rest();
  assert.equal(app.settled, true);
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
  const reading = { kind: 'answers', news: { reading: { ids: [4, 2], labels: ['one', 'two'] } } };
  const speed = { kind: 'speed', speed: { points: [1] } };
  const receive = (message) => worker({ type: 'model', message });
  beforeEach(async () => {
    app.start();
    await rest();
  });
  /** How often the panels were drawn and the worker asked by each of these: at once, and in all. */
  async function come(...messages) {
    const counts = [];
    for (const message of messages) counts.push(await comes(() => receive(message)));
    return counts;
  }

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

  test('of another source is drawn later; what comes often is drawn in its own panel alone', async () => {
    assert.deepEqual(await come(loaded, reading, speed), ['0 0 1 0', '0 0 1 0', '0 0 0 0']);
    document.body.insertAdjacentHTML('beforeend', '<qkv-panel-model data-panel></qkv-panel-model>');
    assert.deepEqual(await come(speed), ['0 0 1 0']);
    assert.deepEqual(views.at(-1).model.speed.points, [1]);
    const more = [2, 3].map((point) => ({ ...speed, speed: { points: [point] } }));
    assert.match(await comes(() => more.forEach(receive)), /1 0$/, 'once in a frame');
    assert.deepEqual(views.at(-1).model.speed.points, [3]);
    const both = [reading, speed];
    assert.match(await comes(() => both.forEach(receive)), /2 0$/, 'both panels of the page');
    assert.deepEqual(await come(speed), ['0 0 1 0'], 'and again');
  });

  test('that the page shows brings its tokens at once', async () => {
    app.set({ source: 'trained' });
    await rest();
    assert.deepEqual(await come(loaded), ['1 1 1 1']);
    const trainedHeads = { layers: 2, perLayer: 3 };
    assert.deepEqual(app.view().heads, { source: 'trained', trainedHeads });
    assert.deepEqual(await come(reading), ['1 1 1 1']);
    assert.deepEqual(app.view().list.tokens, ['one', 'two']);
    const { layer } = asked.at(-1);
    assert.deepEqual([layer.trained, layer.mask], [{ model: 5, ids: [4, 2] }, 'none']);
    const next = { kind: 'answers', news: { next: {} } };
    assert.deepEqual(await come(next, speed), ['0 0 1 0', '0 0 0 0']);
    app.set({ source: 'random' });
    await rest();
    const other = { kind: 'answers', news: { reading: { ids: [1], labels: ['three'] } } };
    assert.deepEqual(await come(other), ['0 0 1 0'], 'other tokens than those on the page');
  });

  test('hears of a change that it is asked about', () => {
    receive(loaded);
    const asks = () => told.filter(({ message }) => message?.kind === 'ask').length;
    app.set({ modelAt: 1 });
    const count = asks();
    app.set({ seed: 3 });
    assert.equal(asks(), count);
    app.set({ modelTopK: 3 });
    assert.equal(asks(), count + 1);
  });
});
