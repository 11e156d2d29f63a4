// Loads of a trained model that are given up, refused or overtaken by another one, and what a model writes until it is stopped or
// another takes its place, as the worker tells it, in Node; and what the page keeps of every message.
import assert from 'node:assert/strict';
import { afterEach, before, describe, mock, test } from 'node:test';
import { safetensors } from '../../package/models/support/files.js';
import { ownMetadata, ownModel } from '../../package/models/support/own.js';
import { until } from '../../support/js/patience.js';
import { modules, packageModule } from '../support/engine.js';

const web = await modules(
  'features/model/worker/{model_host,open_model}',
  'features/model/shared/model_view',
);

const bytes = safetensors(ownModel().tensors, ownMetadata());
const own = () => new File([bytes], 'own.safetensors');
let qkv;
let prototype;
before(async () => {
  qkv = await (await packageModule('index')).init();
  const options = { signal: new AbortController().signal, onProgress: () => undefined };
  const { model } = await web.open(qkv, { kind: 'files', files: [own()] }, options);
  prototype = Object.getPrototypeOf(model);
  model.dispose();
});
afterEach(() => mock.restoreAll());

/** A host, and what it says; `react` is called at once. */
function hosted() {
  const said = [];
  const found = { react: () => undefined };
  const host = new web.ModelHost(qkv, (message) => {
    said.push(message);
    found.react(message);
  });
  const kinds = () => said.map(({ kind }) => kind).filter((kind) => kind !== 'progress');
  return Object.assign(found, {
    ...{ said, kinds },
    tell: (message) => host.receive(message),
    load: (file = own()) => host.receive({ kind: 'load', files: { kind: 'files', files: [file] } }),
    heard: (test) => until(() => said.some(test)),
  });
}
const isLoaded = ({ kind }) => kind === 'loaded';
const turns = async (count = 20) => {
  for (let i = 0; i < count; i++) await new Promise((resolve) => setTimeout(resolve));
};

/** A file that does something when it is read so often. */
class Watched extends File {
  reads = 0;
  at = Infinity;
  act = () => undefined;
  slice(...range) {
    if (this.reads++ === this.at) this.act();
    return super.slice(...range);
  }
}
const watched = (at, act) => Object.assign(new Watched([bytes], 'own.safetensors'), { at, act });

describe('model: a load', () => {
  test('takes the time from the press on, and gives the model before it back', async () => {
    const { load, heard, said, tell } = hosted();
    tell({ kind: 'abort' }); // there is nothing to give up
    const disposed = mock.method(prototype, 'dispose');
    let now = 1000;
    mock.method(performance, 'now', () => now);
    load();
    now = 1250;
    await heard(isLoaded);
    assert.deepEqual([said.at(-1).info.time, said.at(-1).info.id], [250, 1]);
    assert.equal(disposed.mock.callCount(), 0);
    said.length = 0;
    load();
    await heard(isLoaded);
    assert.deepEqual([said.at(-1).info.time, said.at(-1).info.id], [0, 2]);
    assert.equal(disposed.mock.callCount(), 1);
  });

  test('tells how much has arrived from the thirtieth millisecond on, and at the end', async () => {
    for (const [now, parts] of [
      [29, 1],
      [30, 2],
    ]) {
      mock.method(performance, 'now', () => now);
      const body = new ReadableStream({
        start(controller) {
          for (const part of [bytes.slice(0, 9), bytes.slice(9)]) controller.enqueue(part);
          controller.close();
        },
      });
      const headers = { 'content-length': String(bytes.length) };
      mock.method(globalThis, 'fetch', async () => new Response(body, { headers }));
      const { tell, heard, said } = hosted();
      const files = { kind: 'address', name: 'austen', url: 'https://a.example/m' };
      tell({ kind: 'load', files });
      await heard(isLoaded);
      assert.equal(said.filter(({ kind }) => kind === 'progress').length, parts);
      mock.restoreAll();
    }
  });

  test('that is given up is told so, and the model of before is there', async () => {
    const { load, heard, tell, kinds, said } = hosted();
    load();
    await heard(isLoaded);
    said.length = 0;
    load();
    tell({ kind: 'abort' });
    await heard(({ kind }) => kind === 'aborted');
    await turns();
    assert.deepEqual(kinds(), ['aborted']);
    tell({
      kind: 'ask',
      ask: { text: '1', length: null, at: null, ablated: [], near: null, sampling: {} },
    });
    await heard(({ news }) => news?.reading);
  });

  test('that is given up when all is read gives its model back', async () => {
    const { load, heard, tell, kinds } = hosted();
    const whole = watched();
    load(whole);
    await heard(isLoaded);
    const { reads } = whole;
    const other = hosted();
    const disposed = mock.method(prototype, 'dispose');
    other.load(watched(reads - 1, () => other.tell({ kind: 'abort' })));
    await other.heard(({ kind }) => kind === 'aborted');
    await turns();
    assert.deepEqual(other.kinds(), ['aborted']);
    assert.equal(disposed.mock.callCount(), 1);
    // And one that is given up after that is there.
    tell({ kind: 'abort' });
    await turns();
    assert.deepEqual(kinds(), ['loaded']);
  });

  test('that another one overtakes is told no more, whatever becomes of it', async () => {
    for (const late of [own(), new File(['nothing'], 'a.safetensors')]) {
      const { load, heard, kinds, said } = hosted();
      load(late);
      load();
      await heard(isLoaded);
      await turns();
      assert.deepEqual([kinds(), said.at(-1).info.id], [['loaded'], 1]);
    }
  });

  test('that is refused is told with its sentence, and is no reason to refuse the next', async () => {
    const { load, heard, kinds, said } = hosted();
    load(new File(['nothing'], 'a.safetensors'));
    await heard(({ kind }) => kind === 'refused');
    assert.equal(said.at(-1).failure.code, 'invalid_argument');
    load();
    await heard(isLoaded);
    assert.deepEqual(kinds(), ['refused', 'loaded']);
  });
});

describe('model: what is written', () => {
  const sampling = { temperature: 1, topK: 0, topP: 1 };
  const ask = { text: '1 2', length: null, at: null, ablated: [], near: null, sampling };
  const write = (more = {}) => ({ kind: 'generate', seed: 1, tokens: 3, pace: null, ...more });
  async function loaded() {
    const found = hosted();
    found.load();
    await found.heard(isLoaded);
    const ready = async (change = {}) => {
      found.tell({ kind: 'ask', ask: { ...ask, ...change } });
      await turns(2);
      await found.heard(({ kind }) => kind === 'answered' || kind === 'failed');
      found.said.length = 0;
    };
    return Object.assign(found, { ready });
  }
  const isDone = ({ generated }) => generated && !generated.running;

  test('is nothing before there is a model and a text', async () => {
    const { tell, said } = hosted();
    tell(write());
    await turns();
    assert.deepEqual(said, []);
    const other = await loaded();
    other.said.length = 0;
    other.tell(write());
    await turns();
    assert.deepEqual(other.said, []);
  });

  test('follows the text that was asked about, without the heads that are taken out', async () => {
    const { tell, heard, said, ready } = await loaded();
    await ready({ ablated: [[0, 1]] });
    const generate = mock.method(prototype, 'generate');
    tell(write({ seed: 7, tokens: 2 }));
    await heard(isDone);
    const [ids, { signal, session, ...options }] = generate.mock.calls[0].arguments;
    assert.ok(signal && session);
    assert.deepEqual([...ids], [1, 2]);
    assert.deepEqual(options, {
      ...sampling,
      seed: 7,
      maxTokens: 2,
      inspect: { ablate: [[0, 1]] },
    });
    const { generated } = said.at(-1);
    assert.deepEqual([generated.before, generated.tokens, generated.seed], ['1 2', 2, 7]);
  });

  test('ends when it is stopped, and that is no failure', async () => {
    const found = await loaded();
    const { tell, heard, kinds, said, ready } = found;
    tell({ kind: 'stop' });
    await ready();
    found.react = () => tell({ kind: 'stop' });
    tell(write({ tokens: 4, pace: 1000 }));
    await heard(isDone);
    await turns();
    assert.deepEqual(new Set(kinds()), new Set(['generated']));
    assert.equal(said.at(-1).generated.tokens, 1);
  });

  test('is that of the latest press alone', async () => {
    const found = await loaded();
    const { tell, heard, said, ready } = found;
    await ready();
    found.react = () => {
      found.react = () => undefined;
      tell(write({ seed: 2 }));
    };
    tell(write({ seed: 1, pace: 1000 }));
    await heard(isDone);
    await turns();
    const [first, ...others] = said.map(({ generated }) => generated.seed);
    assert.equal(first, 1);
    assert.ok(others.length > 0 && others.every((seed) => seed === 2), `${others}`);
  });

  test('is a failure where it cannot be done, unless another press came after it', async () => {
    const wrong = { sampling: { ...sampling, topP: 7 } };
    const { tell, heard, kinds, said, ready } = await loaded();
    await ready(wrong);
    tell(write());
    await heard(({ kind }) => kind === 'failed');
    assert.equal(said.at(-1).failure.code, 'out_of_range');
    said.length = 0;
    tell(write());
    tell({ kind: 'ask', ask });
    tell(write());
    await heard(isDone);
    await turns();
    assert.ok(!kinds().includes('failed'), kinds());
  });
});
