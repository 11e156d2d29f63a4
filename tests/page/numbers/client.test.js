// The page's side of the conversation with its worker, in Node: what is asked when, and which answer counts. The worker
// is a puppet that answers when the test says so.
import assert from 'node:assert/strict';
import { beforeEach, describe, test } from 'node:test';
import { join } from 'node:path';
import { build } from 'esbuild';
import { root } from '../../support/js/files.js';
import { workersBeside } from '../support/engine.js';

const { outputFiles } = await build({
  entryPoints: [join(root, 'web/src/worker/client.ts')],
  ...{ bundle: true, write: false, format: 'esm' },
  plugins: [workersBeside],
});
const { EngineClient } = await import(
  `data:text/javascript,${encodeURIComponent(outputFiles[0].text)}`
);

class PuppetWorker extends EventTarget {
  static all = [];
  sent = [];
  ended = false;
  constructor() {
    super();
    PuppetWorker.all.push(this);
  }
  postMessage(message) {
    this.sent.push(message);
  }
  terminate() {
    this.ended = true;
  }
  say(data) {
    this.dispatchEvent(new MessageEvent('message', { data }));
  }
  /** What was asked for, in its order. */
  get runs() {
    return this.sent.filter(({ type }) => type === 'run');
  }
}

class Canvas {
  width = 0;
  height = 0;
  put = [];
  cloneNode() {
    return new Canvas();
  }
  replaceWith(fresh) {
    this.replaced = fresh;
  }
  getContext() {
    return { putImageData: (image) => this.put.push(image.data) };
  }
}
globalThis.Worker = PuppetWorker;
globalThis.HTMLCanvasElement = Canvas; // without transferControlToOffscreen: the pixels come back
globalThis.ImageData = class {
  constructor(data, width, height) {
    Object.assign(this, { data, width, height });
  }
};

const info = { variant: 'simd' };
const frameOf = (id, more = {}) => ({ type: 'frame', news: { id, info, ...more }, pixels: {} });
const failure = { code: 'unexpected', message: 'why' };

/** A client whose engine is ready, its worker, and what it has told the page. */
function ready() {
  const told = { status: [], frames: [], reports: [], studies: [] };
  const client = new EngineClient({
    onStatus: (status) => told.status.push(status),
    onFrame: (frame) => told.frames.push(frame),
    onReport: (report) => told.reports.push(report),
    onStudies: (news) => told.studies.push(news),
  });
  client.start();
  const worker = PuppetWorker.all.at(-1);
  worker.say({ type: 'ready', info });
  return { client, worker, told };
}

/** What it comes to by now; a puppet has answered by then, or never will. */
const within = (promise) =>
  Promise.race([promise, new Promise((resolve) => setImmediate(resolve, 'nothing yet'))]);

beforeEach(() => (PuppetWorker.all = []));

describe('engine: requests', () => {
  test('wait until the engine is there, and then only the latest is sent', () => {
    const client = new EngineClient({ onStatus() {}, onFrame() {}, onReport() {}, onStudies() {} });
    client.start();
    const [worker] = PuppetWorker.all;
    client.request({ name: 'first' });
    client.request({ name: 'second' });
    assert.deepEqual(worker.runs, []);
    worker.say({ type: 'ready', info });
    assert.deepEqual(worker.runs, [{ type: 'run', id: 1, request: { name: 'second' } }]);
  });

  test('are preceded by what the engine does: it loads, then it is ready', () => {
    const { client, told } = ready();
    assert.deepEqual(told.status, [{ kind: 'loading' }, { kind: 'ready', info }]);
    client.start();
    assert.deepEqual(told.status.slice(2), [{ kind: 'loading' }], 'at each start');
  });

  test('are under way one at a time: of those that come meanwhile the latest wins', () => {
    const { client, worker, told } = ready();
    for (const name of ['one', 'two', 'three']) client.request({ name });
    assert.deepEqual(
      worker.runs.map(({ request }) => request.name),
      ['one'],
    );
    worker.say(frameOf(1));
    assert.deepEqual(
      worker.runs.map(({ id, request }) => [id, request.name]),
      [
        [1, 'one'],
        [2, 'three'],
      ],
    );
    worker.say(frameOf(2));
    assert.equal(worker.runs.length, 2);
    assert.deepEqual(
      told.frames.map(({ id, request }) => [id, request.name]),
      [
        [1, 'one'],
        [2, 'three'],
      ],
    );
  });

  test('that are asked for twice are computed once, unless their picture would be another', () => {
    const { client, worker } = ready();
    const names = () => worker.runs.map(({ request }) => request.name);
    client.request({ name: 'one' });
    client.request({ name: 'one' });
    worker.say(frameOf(1));
    assert.deepEqual(names(), ['one'], 'one that is under way');
    client.request({ name: 'one' });
    assert.deepEqual(names(), ['one', 'one'], 'what was answered may be asked again');
    for (const name of ['two', 'two', 'one', 'two']) client.request({ name });
    worker.say(frameOf(2));
    assert.deepEqual(names(), ['one', 'one', 'two'], 'one that waits');
    worker.say(frameOf(3));
    for (const change of [
      () => (client.palette = { hatch: 1 }),
      () => client.give('map', new Canvas()),
    ]) {
      // prettier-ignore
      const before = names().length;
      client.request({ name: 'three' });
      change();
      client.request({ name: 'three' });
      worker.say(frameOf(worker.runs.at(-1).id));
      assert.equal(names().length - before, 2, 'with other colours, or on another canvas');
      worker.say(frameOf(worker.runs.at(-1).id));
    }
    client.request({ name: 'four' });
    worker.say({ type: 'run-failed', id: worker.runs.at(-1).id, failure });
    const before = names().length;
    client.request({ name: 'four' });
    assert.equal(names().length - before, 1, 'one that failed');
  });

  test('may fail, and the next is computed all the same', () => {
    const { client, worker, told } = ready();
    client.request({ name: 'one' });
    client.request({ name: 'two' });
    worker.say({ type: 'run-failed', id: 1, failure });
    assert.deepEqual(told.status.at(-1), { kind: 'failed', during: 'run', failure });
    assert.equal(worker.runs.at(-1).request.name, 'two');
    worker.say(frameOf(2));
    assert.equal(told.status.at(-1).kind, 'ready');
  });

  test('are answered where work in the background for an earlier one fails meanwhile', () => {
    const { client, worker, told } = ready();
    client.request({ name: 'one' });
    worker.say(frameOf(1));
    client.request({ name: 'two' });
    client.request({ name: 'three' });
    worker.say({ type: 'run-failed', id: 1, failure });
    assert.equal(worker.runs.length, 2, 'the second is under way');
    worker.say(frameOf(2));
    worker.say(frameOf(3));
    const names = told.frames.map(({ request }) => request.name);
    assert.deepEqual(names, ['one', 'two', 'three']);
  });
});

describe('engine: frames', () => {
  test('keep what is not news, and bear the request they answer', () => {
    const { client, worker, told } = ready();
    client.request({ name: 'one' });
    client.request({ name: 'two' });
    worker.say(frameOf(1, { encoding: 'kept', query: 'of one' }));
    worker.say(frameOf(2, { query: 'of two' }));
    const [first, second] = told.frames;
    assert.deepEqual([first.request.name, first.encoding, first.query], ['one', 'kept', 'of one']);
    assert.deepEqual([second.request.name, second.encoding], ['two', 'kept']);
    assert.equal(second.query, 'of two');
  });

  test('put their pixels on the canvases of their names', () => {
    const { client, worker } = ready();
    const [map, other] = [new Canvas(), new Canvas()];
    client.give('map', map);
    client.give('masks', other);
    client.request({});
    const data = new Uint8ClampedArray(24).fill(7);
    worker.say({ ...frameOf(1), pixels: { map: { width: 3, height: 2, data } } });
    assert.deepEqual([map.width, map.height], [3, 2]);
    assert.deepEqual(map.put, [data]);
    assert.deepEqual(other.put, []);
  });

  test('are told of once; reports and studies reach those who asked', () => {
    const { client, worker, told } = ready();
    client.request({});
    worker.say(frameOf(1));
    worker.say(frameOf(1)); // nobody asked for it
    assert.equal(told.frames.length, 1);
    worker.say({ type: 'report', report: { id: 1 }, pixels: {} });
    worker.say({ type: 'studies', news: { scale: 3 } });
    assert.deepEqual([told.reports, told.studies], [[{ id: 1 }], [{ scale: 3 }]]);
  });

  test('have tensors, which come to those who asked in the order in which they did', async () => {
    const { client, worker } = ready();
    await assert.rejects(client.tensors(), /nothing was computed/);
    client.request({});
    worker.say(frameOf(1));
    const asked = [client.tensors(), client.tensors()];
    worker.say({ type: 'tensors', tensors: 'first' });
    worker.say({ type: 'tensors', tensors: 'second' });
    assert.deepEqual(await Promise.all(asked), ['first', 'second']);
  });

  test('have tensors of the heads that are wanted; if there is no room for them, who asked hears it', async () => {
    const { client, worker } = ready();
    client.request({});
    worker.say(frameOf(1));
    const asked = [client.tensors('shown'), client.tensors()];
    const told = worker.sent.filter(({ type }) => type === 'tensors');
    assert.deepEqual(
      told.map(({ wanted }) => wanted),
      ['shown', 'all'],
    );
    worker.say({
      type: 'tensors-failed',
      failure: { code: 'out_of_memory', message: 'no room' },
    });
    worker.say({ type: 'tensors', tensors: 'second' });
    await assert.rejects(asked[0], { code: 'out_of_memory', message: 'no room' });
    assert.equal(await asked[1], 'second');
    assert.equal(worker.ended, false, 'the engine stays');
  });
});

describe('engine: a worker that dies', () => {
  test('is told as a load that failed, and another gets canvases, colours and requests', () => {
    const { client, worker, told } = ready();
    const canvas = new Canvas();
    client.give('map', canvas);
    client.palette = { hatch: 1 };
    client.request({ name: 'one' });
    worker.dispatchEvent(Object.assign(new Event('error'), { message: 'it broke' }));
    assert.equal(worker.ended, true);
    const last = told.status.at(-1);
    assert.deepEqual(
      [last.kind, last.during, last.failure.message],
      ['failed', 'load', 'it broke'],
    );
    client.request({ name: 'two' });
    client.start();
    const next = PuppetWorker.all.at(-1);
    assert.notEqual(next, worker);
    assert.ok(canvas.replaced instanceof Canvas);
    assert.deepEqual(
      next.sent.map(({ type, name }) => name ?? type),
      ['map', 'palette', 'start'],
    );
    next.say({ type: 'ready', info });
    assert.deepEqual(
      next.runs.map(({ request }) => request.name),
      ['two'],
    );
  });

  test('owes nobody tensors: the next one answers those who ask it', async () => {
    const { client, worker } = ready();
    client.request({});
    worker.say(frameOf(1));
    const lost = assert.rejects(client.tensors(), /it broke/);
    worker.dispatchEvent(Object.assign(new Event('error'), { message: 'it broke' }));
    await lost;
    const nothing = /nothing was computed/;
    await assert.rejects(within(client.tensors()), nothing, 'while there is none');
    assert.equal(PuppetWorker.all.length, 1, 'no worker starts that nobody has told to');
    client.start();
    const next = PuppetWorker.all.at(-1);
    await assert.rejects(within(client.tensors()), nothing, 'before the first frame of the next');
    next.say({ type: 'ready', info });
    client.request({});
    next.say(frameOf(2));
    const asked = client.tensors();
    assert.equal(next.sent.filter(({ type }) => type === 'tensors').length, 1);
    next.say({ type: 'tensors', tensors: 'of the next' });
    assert.equal(await within(asked), 'of the next');
  });

  test('before it was there leaves a load that can be tried again', () => {
    const client = new EngineClient({ onStatus() {}, onFrame() {}, onReport() {}, onStudies() {} });
    client.start();
    const [worker] = PuppetWorker.all;
    worker.say({ type: 'load-failed', failure });
    client.request({ name: 'one' });
    client.start();
    assert.deepEqual(
      worker.sent.map(({ type }) => type),
      ['start', 'start'],
    );
    worker.say({ type: 'ready', info });
    assert.equal(worker.runs.length, 1);
  });
});
