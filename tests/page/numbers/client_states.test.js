// The page's side of its workers, in Node, where it is not the usual way: canvases that the worker paints, workers that died or
// never came, what is at rest, and the workers of single panels.
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
}

/** A canvas that notes what is done to it. */
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
  cloneNode = () => new Canvas();
  replaceWith(fresh) {
    this.replaced = fresh;
  }
  getContext = (kind) =>
    this.bare ? null : { putImageData: (...args) => this.done.push([kind, ...args]) };
}
class HandedCanvas extends Canvas {
  cloneNode = () => new HandedCanvas();
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
const { EngineClient, Lab, describeFailure } = await modules(
  ...['worker/client', 'worker/panel_worker_client', 'domain/describe_failure'],
);

const info = { variant: 'simd' };
const pixelsOf = (width, height) => ({ width, height, data: new Uint8ClampedArray(4) });
let told;
const newClient = () =>
  new EngineClient({
    onStatus: ({ kind, during, failure }) =>
      told.push([kind, during, failure?.message].filter(Boolean).join(' ')),
    onFrame: ({ id }) => told.push(`frame ${id}`),
    onReport: ({ id }) => told.push(`report ${id}`),
    onStudies: (news) => told.push(news),
    onModel: (message) => told.push(message),
  });
const frame = (id, pixels = {}) => ({ type: 'frame', news: { id, info }, pixels });
const latest = () => PuppetWorker.all.at(-1);

beforeEach(() => {
  PuppetWorker.all = [];
  told = [];
  globalThis.HTMLCanvasElement = Canvas;
});

describe('client: canvases', () => {
  test('that can be handed over are, under their names', () => {
    globalThis.HTMLCanvasElement = HandedCanvas;
    const client = newClient();
    assert.equal(client.paintsInWorker, true);
    const canvas = new HandedCanvas();
    client.give('map', canvas);
    const { offscreen } = canvas;
    assert.deepEqual(latest().sent, [
      [{ type: 'surface', name: 'map', canvas: offscreen }, [offscreen]],
    ]);
  });

  test('that cannot are told of by their names', () => {
    const client = newClient();
    assert.equal(client.paintsInWorker, false);
    client.give('map', new Canvas());
    assert.deepEqual(latest().sent, [[{ type: 'surface', name: 'map', canvas: null }, []]]);
  });

  test('get their size only when it is another', () => {
    const client = newClient();
    const canvas = new Canvas();
    client.give('map', canvas);
    const put = (pixels) => {
      latest().say({ type: 'report', report: { id: 1 }, pixels: { map: pixels } });
      return canvas.done
        .splice(0)
        .map(([kind, image, ...at]) => [kind, image.width ?? image, ...at]);
    };
    assert.deepEqual(put(pixelsOf(3, 2)), [['2d', 3, 0, 0]]);
    assert.deepEqual(put(pixelsOf(4, 2)), [
      ['width', 4],
      ['2d', 4, 0, 0],
    ]);
    assert.deepEqual(put(pixelsOf(4, 3)), [
      ['height', 3],
      ['2d', 4, 0, 0],
    ]);
    canvas.bare = true;
    assert.deepEqual(put(pixelsOf(4, 3)), []);
  });

  test('that nobody has given are passed over', () => {
    const client = newClient();
    const canvas = new Canvas();
    client.give('map', canvas);
    client.start();
    latest().say({ type: 'ready', info });
    client.request({});
    latest().say(frame(1, { other: pixelsOf(9, 9), map: pixelsOf(3, 2) }));
    assert.equal(canvas.done.length, 1);
    assert.deepEqual(told, ['loading', 'ready', 'ready', 'frame 1']);
  });
});

describe('client: what it is told', () => {
  test('is passed on: of the load, of frames, of studies, of the trained model', () => {
    const client = newClient();
    client.start();
    assert.deepEqual(latest().sent, [[{ type: 'start' }, []]]);
    for (const message of [
      { type: 'load-failed', failure: { code: 'load', message: 'no wasm' } },
      { type: 'ready', info },
      { type: 'studies', news: 'studies' },
      { type: 'model', message: 'from the model' },
      { type: 'tensors', tensors: 'for nobody' },
    ]) {
      latest().say(message);
    }
    assert.deepEqual(told, [
      'loading',
      'failed load no wasm',
      'ready',
      'studies',
      'from the model',
    ]);
    client.tell('to the model');
    assert.deepEqual(latest().sent.at(-1), [{ type: 'model', message: 'to the model' }, []]);
  });

  test('is the end of a request that failed: the next one is sent', () => {
    const client = newClient();
    client.start();
    latest().say({ type: 'ready', info });
    client.request('a');
    latest().say({ type: 'run-failed', id: 1, failure: { message: 'why' } });
    assert.equal(told.at(-1), 'failed run why');
    client.request('b');
    assert.deepEqual(latest().sent.at(-1), [{ type: 'run', id: 2, request: 'b' }, []]);
  });

  test('is at rest when the worker says so of the latest request, and nothing waits', () => {
    const client = newClient();
    client.start();
    assert.equal(client.atRest, false, 'nothing was asked');
    client.request('a');
    assert.equal(client.atRest, false, 'it waits');
    latest().say({ type: 'ready', info });
    assert.equal(client.atRest, false, 'it is computed');
    latest().say(frame(1));
    assert.equal(client.atRest, false, 'its report is not there');
    latest().say({ type: 'rest', id: 1 });
    assert.equal(client.atRest, true);
    client.request('b');
    assert.equal(client.atRest, false);
    client.request('c');
    latest().say({ type: 'rest', id: 2 });
    assert.equal(client.atRest, false, 'it runs, and another waits');
    latest().say(frame(2));
    assert.equal(client.atRest, false, 'of the one before');
    latest().say({ type: 'rest', id: 2 });
    latest().say(frame(3));
    assert.equal(client.atRest, false);
    latest().say({ type: 'rest', id: 3 });
    assert.equal(client.atRest, true);
  });
});

describe('client: a worker that died', () => {
  test('is told with what it said, or else that it did not load', () => {
    const client = newClient();
    client.start();
    latest().die('');
    assert.equal(latest().ended, 1);
    assert.equal(told.at(-1), 'failed load the worker script did not load');
    client.start();
    latest().die('it broke');
    assert.equal(told.at(-1), 'failed load it broke');
    assert.equal(PuppetWorker.all.length, 2);
  });

  test('is not spoken to before the page starts another; that one gets what it missed', () => {
    globalThis.HTMLCanvasElement = HandedCanvas;
    const client = newClient();
    const [map, other] = [new HandedCanvas(), new HandedCanvas()];
    client.give('map', map);
    client.start();
    const first = latest();
    first.say({ type: 'ready', info });
    client.request('a');
    first.die('it broke');
    const sent = first.sent.length;
    client.give('other', other);
    client.palette = { hatch: 1 };
    client.request('b');
    assert.deepEqual([PuppetWorker.all.length, first.sent.length], [1, sent]);
    client.start();
    const next = latest();
    assert.deepEqual(next.types, ['surface', 'surface', 'palette', 'start']);
    assert.deepEqual(
      next.sent.map(([{ name, canvas, palette }]) => name ?? canvas ?? palette?.hatch),
      ['map', 'other', 1, undefined],
    );
    assert.deepEqual(next.sent[0][1], [map.replaced.offscreen]);
    assert.notEqual(map.replaced, map);
    next.say({ type: 'ready', info });
    assert.deepEqual(next.sent.at(-1)[0], { type: 'run', id: 2, request: 'b' });
    client.give('third', new HandedCanvas());
    client.palette = { hatch: 2 };
    assert.deepEqual(
      next.types.slice(-2),
      ['surface', 'palette'],
      'it is spoken to as the first was',
    );
    client.start();
    assert.equal(next.types.at(-1), 'start');
    assert.equal(
      next.types.filter((type) => type === 'surface').length,
      3,
      'canvases are given once',
    );
  });

  test('before there were canvases and colours is followed by one that only starts', () => {
    const client = newClient();
    client.start();
    latest().die('it broke');
    client.start();
    assert.deepEqual(latest().types, ['start']);
    assert.equal(PuppetWorker.all.length, 2);
  });

  test('owes its tensors as errors', async () => {
    const client = newClient();
    client.start();
    latest().say({ type: 'ready', info });
    await assert.rejects(client.tensors(), /^Error: nothing was computed yet$/);
    client.request('a');
    latest().say(frame(1));
    const asked = client.tensors();
    latest().die('');
    await assert.rejects(asked, /^Error: the worker script did not load$/);
  });
});

describe('labs: workers of single panels', () => {
  const newLab = () =>
    new Lab('learn', {
      onMessage: (message) => told.push(message),
      onFailure: (failure) => told.push(failure),
    });

  test('start with the first message, which comes after the name of the panel', () => {
    const lab = newLab();
    assert.deepEqual([lab.isRunning, PuppetWorker.all.length], [false, 0]);
    const buffer = new ArrayBuffer(4);
    lab.send('train', [buffer]);
    lab.send('stop');
    assert.equal(lab.isRunning, true);
    assert.deepEqual(latest().sent, [
      ['learn', undefined],
      ['train', [buffer]],
      ['stop', []],
    ]);
    assert.match(String(latest().url), /panel_worker/);
    assert.equal(PuppetWorker.all.length, 1);
  });

  test('say what they find, and what went wrong', () => {
    const lab = newLab();
    lab.send('train');
    latest().say({ type: 'step', loss: 1 });
    latest().say({ type: 'failed', failure: { code: 'bad', message: 'why' } });
    assert.deepEqual(told, [
      { type: 'step', loss: 1 },
      { code: 'bad', message: 'why' },
    ]);
    assert.equal(lab.isRunning, false);
  });

  test('that were stopped are ended, and what was under way is not heard', () => {
    const lab = newLab();
    lab.stop();
    lab.send('train');
    const first = latest();
    lab.stop();
    assert.deepEqual([first.ended, lab.isRunning], [1, false]);
    first.say({ type: 'step' });
    lab.send('train');
    first.say({ type: 'step' });
    assert.deepEqual(told, []);
    assert.equal(PuppetWorker.all.length, 2);
    latest().say({ type: 'step', of: 'the second' });
    assert.deepEqual(told, [{ type: 'step', of: 'the second' }]);
    first.die('too late');
    assert.deepEqual([lab.isRunning, latest().ended], [true, 0], 'the second works on');
  });

  test('that died are told, and the next message starts another', () => {
    const lab = newLab();
    for (const [message, wanted] of [
      ...[
        ['it broke', 'it broke'],
        ['', 'the worker script did not load'],
      ],
    ]) {
      lab.send('train');
      latest().die(message);
      assert.deepEqual(told.splice(0), [{ code: 'load_failed', message: wanted }]);
      assert.deepEqual([lab.isRunning, latest().ended], [false, 1]);
    }
    assert.equal(PuppetWorker.all.length, 2);
  });
});

test('failures: an error has the code and the sentence that it brings', () => {
  const of = (error) => Object.values(describeFailure(error)).join(': ');
  assert.equal(of(Object.assign(new Error('why'), { code: 'shape' })), 'shape: why');
  assert.equal(of(new TypeError('why')), 'unexpected: why');
  assert.equal(of({ code: 3, message: 4 }), 'unexpected: [object Object]');
  assert.deepEqual([undefined, null, 'a word'].map(of), ['undefined', 'null', 'a word'].map((text) => `unexpected: ${text}`)); // prettier-ignore
});
