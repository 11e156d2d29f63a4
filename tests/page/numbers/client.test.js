// The page's side of the conversation with its workers, in Node: what is sent when, which answer counts, who paints, and what
// becomes of a worker that dies. The workers are puppets that answer when the test says so.
import assert from 'node:assert/strict';
import { beforeEach, describe, test } from 'node:test';
import { modules } from '../support/engine.js';

class PuppetWorker extends EventTarget {
  static all = [];
  sent = [];
  ended = 0;
  constructor(url) {
    super();
    this.url = url;
    PuppetWorker.all.push(this);
  }
  postMessage(message, transfer) {
    this.sent.push([message, transfer]);
  }
  terminate() {
    this.ended++;
  }
  say(data) {
    this.dispatchEvent(new MessageEvent('message', { data }));
  }
  die(message) {
    this.dispatchEvent(Object.assign(new Event('error'), { message }));
  }
  get types() {
    return this.sent.map(([{ type }]) => type);
  }
  /** The requests that it was sent. */
  get runs() {
    return this.sent
      .filter(([{ type }]) => type === 'run')
      .map(([{ id, request }]) => [id, request]);
  }
}

/** A canvas that notes its sizes and what is put on it. */
class Canvas {
  done = [];
  #size = { width: 3, height: 2 };
  get width() {
    return this.#size.width;
  }
  set width(value) {
    this.done.push(['width', (this.#size.width = value)]);
  }
  get height() {
    return this.#size.height;
  }
  set height(value) {
    this.done.push(['height', (this.#size.height = value)]);
  }
  cloneNode = () => new this.constructor();
  replaceWith(fresh) {
    this.replaced = fresh;
  }
  getContext = () =>
    this.bare ? null : { putImageData: (image) => this.done.push(['put', image.data]) };
}
class HandedCanvas extends Canvas {
  transferControlToOffscreen() {
    return (this.offscreen = { of: this });
  }
}
globalThis.Worker = PuppetWorker;
globalThis.ImageData = class {
  constructor(data, width, height) {
    Object.assign(this, { data, width, height });
  }
};
globalThis.HTMLCanvasElement = Canvas;
const { EngineClient, Lab } = await modules(
  ...['worker/client', 'worker/panel_worker_client', 'domain/describe_failure'],
);

const info = { variant: 'simd' };
const failure = { code: 'unexpected', message: 'why' };
const frame = (id, more = {}, pixels = {}) => ({
  type: 'frame',
  news: { id, info, ...more },
  pixels,
});
const latest = () => PuppetWorker.all.at(-1);

let told;
beforeEach(() => {
  PuppetWorker.all = [];
  told = { status: [], frames: [], others: [] };
  globalThis.HTMLCanvasElement = Canvas;
});
const statusOf = ({ kind, during, failure }) =>
  [kind, during, failure?.message].filter(Boolean).join(' ');
const newClient = () =>
  new EngineClient({
    onStatus: (status) => told.status.push(statusOf(status)),
    onFrame: (one) => told.frames.push(one),
    ...{ onReport: (one) => told.others.push(one), onStudies: (one) => told.others.push(one) },
    onModel: (one) => told.others.push(one),
  });
/** A client whose engine is ready, and its worker. */
function ready() {
  const client = newClient();
  client.start();
  latest().say({ type: 'ready', info });
  return { client, worker: latest() };
}

/** What it comes to by now; a puppet has answered by then, or never will. */
const within = (promise) =>
  Promise.race([promise, new Promise((resolve) => setImmediate(resolve, 'nothing yet'))]);

describe('client: requests', () => {
  test('wait until the engine is there, and then only the latest is sent', () => {
    const client = newClient();
    client.start();
    for (const name of ['first', 'second']) client.request(name);
    assert.deepEqual(latest().sent, [[{ type: 'start' }, []]]);
    latest().say({ type: 'ready', info });
    assert.deepEqual(latest().runs, [[1, 'second']]);
    assert.deepEqual(told.status, ['loading', 'ready']);
  });

  test('are under way one at a time: of those that come meanwhile the latest wins', () => {
    const { client, worker } = ready();
    for (const name of ['one', 'two', 'three']) client.request(name);
    assert.deepEqual(worker.runs, [[1, 'one']]);
    worker.say(frame(1));
    assert.deepEqual(worker.runs.slice(1), [[2, 'three']]);
    worker.say(frame(2));
    worker.say(frame(2)); // nobody has requested it
    assert.deepEqual([worker.runs.length, told.frames.map(({ request }) => request)], [2, ['one', 'three']]); // prettier-ignore
  });

  test('that are made twice are computed once, unless their picture would be another', () => {
    const { client, worker } = ready();
    const sent = (...names) => {
      const before = worker.runs.length;
      for (const name of names) {
        if (typeof name === 'string') client.request(name);
        else name();
      }
      return worker.runs.slice(before).map(([, request]) => request);
    };
    const answer = () => worker.say(frame(worker.runs.at(-1)[0]));
    assert.deepEqual(sent('one', 'one', answer), ['one'], 'one that is under way');
    assert.deepEqual(
      sent('one', 'two', 'two', 'one', 'two', answer, answer),
      ['one', 'two'],
      'one that waits',
    );
    for (const change of [
      () => (client.palette = { hatch: 1 }),
      () => client.give('map', new Canvas()),
    ]) {
      assert.deepEqual(
        sent('three', change, 'three', answer, answer),
        ['three', 'three'],
        'other colours, another canvas',
      );
    }
    const fail = () => worker.say({ type: 'run-failed', id: worker.runs.at(-1)[0], failure });
    assert.deepEqual(sent('four', fail, 'four'), ['four', 'four'], 'one that failed');
  });

  test('may fail, and the next is computed all the same', () => {
    const { client, worker } = ready();
    for (const name of ['one', 'two']) client.request(name);
    worker.say({ type: 'run-failed', id: 1, failure });
    assert.equal(told.status.at(-1), 'failed run why');
    assert.deepEqual(worker.runs.at(-1), [2, 'two']);
    worker.say(frame(2));
    assert.equal(told.status.at(-1), 'ready');
  });

  test('are answered where work in the background for an earlier one fails meanwhile', () => {
    const { client, worker } = ready();
    client.request('one');
    worker.say(frame(1));
    for (const name of ['two', 'three']) client.request(name);
    worker.say({ type: 'run-failed', id: 1, failure });
    assert.equal(worker.runs.length, 2, 'the second is under way');
    for (const id of [2, 3]) worker.say(frame(id));
    assert.deepEqual(
      told.frames.map(({ request }) => request),
      ['one', 'two', 'three'],
    );
  });

  test('are at rest when the worker says so of the latest, and nothing waits', () => {
    const client = newClient();
    client.start();
    const say = (message) => () => latest().say(message);
    const rest = (id) => say({ type: 'rest', id });
    for (const [act, atRest, why] of [
      [() => undefined, false, 'nothing was requested'],
      [() => client.request('a'), false, 'it waits'],
      [say({ type: 'ready', info }), false, 'it is computed'],
      [say(frame(1)), false, 'its report is not there'],
      [rest(1), true],
      [() => client.request('b'), false],
      [() => client.request('c'), false],
      [rest(2), false, 'it runs, and another waits'],
      [say(frame(2)), false, 'of the one before'],
      [rest(2), false],
      [say(frame(3)), false],
      [rest(3), true],
    ]) {
      act();
      assert.equal(client.atRest, atRest, why);
    }
  });
});

describe('client: frames', () => {
  test('keep what is not news, and bear the request they answer', () => {
    const { client, worker } = ready();
    for (const name of ['one', 'two']) client.request(name);
    worker.say(frame(1, { encoding: 'kept', query: 'of one' }));
    worker.say(frame(2, { query: 'of two' }));
    assert.deepEqual(
      told.frames.map(({ request, encoding, query }) => [request, encoding, query]),
      [
        ['one', 'kept', 'of one'],
        ['two', 'kept', 'of two'],
      ],
    );
  });

  test('have tensors of the heads that are wanted, which come in the order of the calls', async () => {
    const { client, worker } = ready();
    await assert.rejects(client.tensors(), /nothing was computed/);
    client.request({});
    worker.say(frame(1));
    const asked = [client.tensors('shown'), client.tensors(), client.tensors()];
    const wanted = worker.sent
      .map(([{ type, wanted }]) => type === 'tensors' && wanted)
      .filter(Boolean);
    assert.deepEqual(wanted, ['shown', 'all', 'all']);
    const noRoom = { code: 'out_of_memory', message: 'no room' };
    worker.say({ type: 'tensors-failed', failure: noRoom });
    for (const tensors of ['second', 'third']) worker.say({ type: 'tensors', tensors });
    await assert.rejects(asked[0], noRoom);
    assert.deepEqual([await asked[1], await asked[2], worker.ended], ['second', 'third', 0]);
  });
});

describe('client: a worker that died', () => {
  test('is a load that failed, with what it said, or that it did not load', () => {
    const client = newClient();
    for (const [message, said] of [
      ['', 'the worker script did not load'],
      ['it broke', 'it broke'],
    ]) {
      client.start();
      latest().die(message);
      assert.deepEqual([latest().ended, told.status.at(-1)], [1, `failed load ${said}`]);
    }
    client.start();
    assert.deepEqual([PuppetWorker.all.length, latest().types], [3, ['start']]);
    latest().say({ type: 'load-failed', failure });
    client.request('one');
    client.start();
    assert.deepEqual(
      [PuppetWorker.all.length, latest().types],
      [3, ['start', 'start']],
      'one that lives tries again',
    );
    latest().say({ type: 'ready', info });
    assert.equal(latest().runs.length, 1);
  });

  test('is sent nothing before the page starts another, which gets canvases, colours and the request', () => {
    globalThis.HTMLCanvasElement = HandedCanvas;
    const { client, worker: first } = ready();
    const map = new HandedCanvas();
    client.give('map', map);
    client.request('a');
    first.die('it broke');
    const sent = first.sent.length;
    client.give('other', new HandedCanvas());
    client.palette = { hatch: 1 };
    client.request('b');
    assert.deepEqual([PuppetWorker.all.length, first.sent.length], [1, sent]);
    client.start();
    const next = latest();
    const all = next.sent.map(([{ type, name }]) => name ?? type);
    assert.deepEqual(all, ['map', 'other', 'palette', 'start']);
    assert.deepEqual(next.sent[0][1], [map.replaced.offscreen], 'a canvas is handed over once');
    next.say({ type: 'ready', info });
    assert.deepEqual(next.runs, [[2, 'b']]);
    client.give('third', new HandedCanvas());
    client.start();
    assert.deepEqual(next.types.slice(-2), ['surface', 'start']);
  });

  test('owes nobody tensors: the next one answers', async () => {
    const { client, worker } = ready();
    client.request({});
    worker.say(frame(1));
    const lost = assert.rejects(client.tensors(), /it broke/);
    worker.die('it broke');
    await lost;
    const nothing = /nothing was computed/;
    await assert.rejects(within(client.tensors()), nothing, 'while there is none');
    assert.equal(PuppetWorker.all.length, 1, 'no worker starts by itself');
    client.start();
    await assert.rejects(within(client.tensors()), nothing, 'before the first frame of the next');
    latest().say({ type: 'ready', info });
    client.request({});
    latest().say(frame(2));
    const asked = client.tensors();
    latest().say({ type: 'tensors', tensors: 'of the next' });
    assert.equal(await within(asked), 'of the next');
  });
});

describe('labs: workers of single panels', () => {
  const heard = [];
  const note = (message) => heard.push(message);
  const newLab = () => new Lab('learn', { onMessage: note, onFailure: note });
  const takeHeard = () => heard.splice(0);

  test('start with the first message, which comes after the name of the panel', () => {
    const lab = newLab();
    assert.deepEqual([lab.isRunning, PuppetWorker.all.length], [false, 0]);
    const buffer = new ArrayBuffer(4);
    lab.send('train', [buffer]);
    lab.send('stop');
    assert.deepEqual(latest().sent, [['learn', undefined], ['train', [buffer]], ['stop', []]]); // prettier-ignore
    assert.match(String(latest().url), /panel_worker/);
    assert.deepEqual([lab.isRunning, PuppetWorker.all.length], [true, 1]);
  });

  test('say what they find, and what went wrong', () => {
    const lab = newLab();
    lab.send('train');
    latest().say({ type: 'step', loss: 1 });
    latest().say({ type: 'failed', failure });
    assert.deepEqual([takeHeard(), lab.isRunning], [[{ type: 'step', loss: 1 }, failure], false]);
    for (const [message, said] of [
      ['it broke', 'it broke'],
      ['', 'the worker script did not load'],
    ]) {
      lab.send('train');
      latest().die(message);
      assert.deepEqual(takeHeard(), [{ code: 'load_failed', message: said }]);
      assert.deepEqual([lab.isRunning, latest().ended], [false, 1]);
    }
  });

  test('that were stopped are ended, and what was under way is not heard', () => {
    const lab = newLab();
    lab.stop();
    lab.send('train');
    const first = latest();
    lab.stop();
    assert.deepEqual([first.ended, lab.isRunning], [1, false]);
    lab.send('train');
    first.say({ type: 'step' });
    first.die('too late');
    latest().say({ type: 'step', of: 'the second' });
    assert.deepEqual(takeHeard(), [{ type: 'step', of: 'the second' }]);
    assert.deepEqual([lab.isRunning, latest().ended], [true, 0]);
  });
});
