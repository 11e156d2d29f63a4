// How the workers of two panels take turns: blocks in slices of 30 ms, of which a new request ends the others, and recurrence between
// two messages. What they compute is not asked here: engines and studies in its place say what they are told to.
import assert from 'node:assert/strict';
import { join } from 'node:path';
import { afterEach, mock, test } from 'node:test';
import { root } from '../../support/js/files.js';
import { bundled, modules, packageModule } from '../support/engine.js';

/** What the workers compute with here: `globalThis.theatre` has it. */
const theatre = (globalThis.theatre = {});
const stand = (name, contents) => ({
  name,
  setup({ onResolve, onLoad }) {
    onResolve({ filter: new RegExp(`/${name}$`) }, () => ({ path: name, namespace: name }));
    onLoad({ filter: /./, namespace: name }, () => ({ contents }));
  },
});
const serving = async (id, ...plugins) => {
  const engine = stand('train_engine', 'export const trainEngine = () => theatre.engine();');
  const stdin = {
    contents: `export { serve } from './features/${id}/worker/serve';`,
    ...{ resolveDir: join(root, 'web/src'), loader: 'ts' },
  };
  return import(await bundled(`serving-${id}`, { stdin, plugins: [engine, ...plugins] }));
};
const block = await serving(
  'block',
  stand('depth_study', 'export const depthStudy = (...of) => theatre.study(...of);'),
);
const recurrence = await serving(
  'recurrence',
  stand(
    'training_loop',
    'export const Desk = class { constructor(qkv) { return theatre.desk(qkv); } };',
  ),
);

const said = [];
globalThis.postMessage = (message) => said.push(message);
globalThis.self = globalThis;
afterEach(() => {
  mock.restoreAll();
  said.length = 0;
});
/** Until everything that is under way has been told. */
async function rest(turns = 30) {
  for (let turn = 0; turn < turns; ++turn) await new Promise((next) => setImmediate(next));
}

/** Timers that go off by hand, and a clock that goes on by `step` ms at each look. */
function byHand(step) {
  let time = 0;
  const waiting = [];
  mock.method(performance, 'now', () => (time += step));
  mock.method(globalThis, 'setTimeout', (act, delay, ...args) =>
    waiting.push({ act, delay, args }),
  );
  return { waiting, next: () => waiting.splice(0).map(({ act, args }) => act(...args)) };
}

test('block: a worker takes slices of 30 ms, and tells how much is done after each', async () => {
  const { waiting, next } = byHand(10);
  const asked = [];
  theatre.engine = () => Promise.resolve('an engine');
  theatre.study = function* (...of) {
    asked.push(of);
    for (let n = 1; n <= 9; ++n) yield n / 10;
    return 'the curves';
  };
  const take = block.serve();
  take({ type: 'run', request: 'a request' });
  await rest();
  assert.deepEqual(asked, [['an engine', 'a request']]);
  // Looks at 10, 20 and 30 are before the end at 40, and that at 40 is not: a first step and two more.
  assert.deepEqual(said, [{ type: 'progress', done: 0.3 }]);
  assert.deepEqual(waiting.map(({ delay }) => delay), [0]); // prettier-ignore
  next();
  next();
  next();
  assert.deepEqual(
    said.map(({ done, type }) => done ?? type),
    [0.3, 0.6, 0.9, 'result'],
  );
  assert.deepEqual(said.at(-1), { type: 'result', result: 'the curves' });
  assert.equal(waiting.length, 0, 'nothing more to do');
  // A study that is over at once.
  theatre.study = function* () {};
  take({ type: 'run', request: 'another' });
  await rest();
  assert.deepEqual(said.at(-1), { type: 'result', result: undefined });
});

test('block: a new request ends that of before, also while the engine is on its way', async () => {
  const { waiting, next } = byHand(10);
  let come;
  const begun = [];
  theatre.engine = () => new Promise((resolve) => (come = resolve));
  theatre.study = function* (_, request) {
    begun.push(request);
    for (let n = 0; ; ++n) yield `${request} ${n}`;
  };
  const take = block.serve();
  for (const request of ['a', 'b']) take({ type: 'run', request });
  come('an engine');
  await rest();
  assert.deepEqual(begun, ['b'], 'nobody waits for the first');
  take({ type: 'run', request: 'c' });
  await rest();
  assert.deepEqual(begun, ['b', 'c']);
  said.length = 0;
  next();
  assert.deepEqual(said.map(({ done }) => done), ['c 5']); // prettier-ignore
  assert.equal(waiting.length, 1, 'only one of them goes on');
});

test('block: what cannot be computed is said, and the next request is taken', async () => {
  const { waiting } = byHand(10);
  theatre.engine = () => Promise.resolve('an engine');
  theatre.study = function* (_, request) {
    if (request === 'bad') throw Object.assign(new Error('no room'), { code: 'out_of_memory' });
    yield 0.5;
    return request;
  };
  const take = block.serve();
  take({ type: 'run', request: 'bad' });
  await rest();
  const failure = { code: 'out_of_memory', message: 'no room' };
  assert.deepEqual(said, [{ type: 'failed', failure }]);
  assert.equal(waiting.length, 0);
  take({ type: 'run', request: 'good' });
  await rest();
  assert.deepEqual(said.at(-1), { type: 'result', result: 'good' });
  theatre.engine = () => Promise.reject(new Error('no engine'));
  block.serve()({ type: 'run', request: 'good' });
  await rest();
  const none = { code: 'unexpected', message: 'no engine' };
  assert.deepEqual(said.at(-1), { type: 'failed', failure: none });
});

/** A desk that has `turns` turns to do after each order. */
function newDesk(turns) {
  const heard = [];
  let left = 0;
  return {
    heard,
    get busy() {
      return left > 0;
    },
    take(order) {
      heard.push(order);
      if (order === 'bad') throw new Error('no such order');
      left = turns;
      return [`${order} a`, `${order} b`];
    },
    turn() {
      heard.push('turn');
      left--;
      if (left === 7) throw new Error('it broke');
      return [`turn ${left}`];
    },
  };
}

test('recurrence: a worker hears an order, tells what came of it, and turns until nothing is to be done', async () => {
  const desk = newDesk(3);
  const engines = [];
  theatre.engine = () => Promise.resolve('an engine');
  theatre.desk = (qkv) => (engines.push(qkv), desk);
  const timers = byHand(1);
  const take = recurrence.serve();
  take('begin');
  await rest();
  assert.deepEqual(engines, ['an engine']);
  assert.deepEqual(said, ['begin a', 'begin b', 'turn 2']);
  assert.deepEqual(timers.waiting.map(({ delay }) => delay), [undefined]); // prettier-ignore
  // An order between two turns is heard, and does not make them two at a time.
  take('source');
  await rest();
  assert.deepEqual(said.slice(3), ['source a', 'source b']);
  assert.equal(timers.waiting.length, 1);
  for (let n = 0; n < 3; ++n) {
    timers.next();
    await rest();
  }
  assert.deepEqual(said.slice(5), ['turn 2', 'turn 1', 'turn 0']);
  timers.next();
  await rest();
  assert.equal(timers.waiting.length, 0);
  take('begin');
  await rest();
  assert.equal(said.at(-1), 'turn 2', 'it turns again');
  for (let n = 0; n < 4; ++n) {
    timers.next();
    await rest();
  }
  assert.equal(said.at(-1), 'turn 0');
});

test('recurrence: a worker tells what went wrong, and turns again after it', async () => {
  const timers = byHand(1);
  theatre.engine = () => Promise.resolve('an engine');
  theatre.desk = () => newDesk(8);
  const take = recurrence.serve();
  take('bad');
  await rest();
  const failed = (message) => ({ type: 'failed', failure: { code: 'unexpected', message } });
  assert.deepEqual(said, [failed('no such order')]);
  take('begin');
  await rest();
  assert.deepEqual(said.at(-1), failed('it broke'));
  assert.equal(timers.waiting.length, 0);
  theatre.desk = () => newDesk(2);
  const again = recurrence.serve();
  again('begin');
  await rest();
  assert.equal(said.at(-1), 'turn 1');
  timers.next();
  await rest();
  theatre.engine = () => Promise.reject(new Error('no engine'));
  recurrence.serve()('begin');
  await rest();
  assert.deepEqual(said.at(-1), failed('no engine'));
});

test('recurrence: in the single file the weights are strings', async () => {
  const texts = { gru: 'abc\xff', gru_attention: 'd\0e', transformer: '' };
  const files = {
    name: 'files',
    setup({ onResolve, onLoad }) {
      onResolve({ filter: /\?base64$/ }, ({ path }) => ({ path, namespace: 'base64' }));
      onLoad({ filter: /./, namespace: 'base64' }, ({ path }) => {
        const [, name] = /(\w+)\.safetensors/.exec(path);
        return { contents: `export default ${JSON.stringify(btoa(texts[name]))};` };
      });
    },
  };
  const stdin = {
    contents: "export { trainedFiles } from './features/recurrence/page/trained_files_inside';",
    ...{ resolveDir: join(root, 'web/src'), loader: 'ts' },
  };
  const { trainedFiles } = await import(await bundled('files-inside', { stdin, plugins: [files] }));
  assert.deepEqual(await trainedFiles(), {
    gru: Uint8Array.of(97, 98, 99, 255),
    gru_attention: Uint8Array.of(100, 0, 101),
    transformer: new Uint8Array(),
  });
});

/** Steps that tell in `held` what they hold. */
function* holding(held, name, steps = 9) {
  held.push(`${name} holds`);
  try {
    for (let step = 1; step <= steps; step++) yield step;
    return 'all';
  } finally {
    held.push(`${name} gives back`);
  }
}

test('slices: work that is ended gives back what it holds, also from within and before it began', async () => {
  const { Slices } = await modules('engine/slices');
  const { next } = byHand(10);
  const held = [];
  const nothing = { onError: () => assert.fail() };
  const one = new Slices(holding(held, 'one'), 30, nothing).start();
  next();
  one.end();
  assert.deepEqual(held.splice(0), ['one holds', 'one gives back']);
  next();
  assert.deepEqual(held, [], 'it does not go on');
  const two = new Slices(holding(held, 'two'), 30, { ...nothing, onStep: () => two.end() });
  two.run();
  assert.deepEqual(held.splice(0), ['two holds', 'two gives back']);
  function* within() {
    three.end();
    yield* holding(held, 'three');
  }
  const three = new Slices(within(), 30, nothing);
  three.run();
  next();
  assert.deepEqual(held.splice(0), ['three holds', 'three gives back']);
  const four = new Slices(holding(held, 'four'), 30, nothing).start();
  four.end();
  next();
  assert.deepEqual(held, [], 'what never began holds nothing');
});

test('slices: each is as long as was said, and the end or the error is told once', async () => {
  const { Slices } = await modules('engine/slices');
  const { next, waiting } = byHand(10);
  const told = [];
  const listener = {
    onStep: (step) => told.push(step),
    onSlice: (step) => told.push(`slice ${step}`),
    onDone: (result) => told.push(result),
    onError: ({ message }) => told.push(message),
  };
  new Slices(holding([], 'one', 4), 30, listener).start(120);
  assert.deepEqual(
    waiting.map(({ delay }) => delay),
    [120],
  );
  next();
  assert.deepEqual(told.splice(0), [1, 2, 3, 'slice 3'], '30 ms are three looks at this clock');
  next();
  assert.deepEqual(told.splice(0), [4, 'all']);
  assert.deepEqual(waiting, []);
  function* failing() {
    yield 1;
    throw new Error('it broke');
  }
  new Slices(failing(), 30, listener).run();
  assert.deepEqual(told, [1, 'it broke']);
  assert.deepEqual(waiting, []);
});

test('recurrence: another measurement gives back what the one before it held', async () => {
  const { Desk } = await modules('features/recurrence/worker/training_loop');
  const qkv = await (await packageModule('train')).init({ deterministic: true });
  const desk = new Desk(qkv);
  const used = [0, 1, 2].map(() => {
    desk.take({ type: 'measure' });
    desk.turn();
    return qkv.memory().usedBytes;
  });
  assert.deepEqual(used, [used[0], used[0], used[0]], 'one measurement is held at a time');
});
