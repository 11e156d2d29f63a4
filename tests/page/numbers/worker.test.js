// The script of the frame worker, in Node: what it answers, when it works in between, and when it says that nothing is left. What
// computes is a puppet, and so are clock and timers.
import assert from 'node:assert/strict';
import { beforeEach, describe, test } from 'node:test';
import { join } from 'node:path';
import { root } from '../../support/js/files.js';
import { bundled } from '../support/engine.js';

/** What the script imports, as the test says. */
const puppets = {
  name: 'puppets',
  setup({ onResolve, onLoad }) {
    const filter =
      /^(qkv|\.\/pipeline|\.\/background|\.\/study_scheduler|\.\.\/engine\/(?:canvas|spectra_engine)|.*model\/worker\/model_host)$/;
    onResolve({ filter }, ({ path }) => ({ path, namespace: 'puppets' }));
    onLoad({ filter: /./, namespace: 'puppets' }, () => ({
      contents: `export const { Pipeline, Background, StudyDesk, Surface, ModelHost } = worked;
        export const FEW_TOKENS = 256; export const init = () => worked.init();
        export const spectraEngine = () => worked.spectraEngine();`,
    }));
  },
};
const script = await bundled('worker-with-puppets', {
  entryPoints: [join(root, 'web/src/worker/worker.ts')],
  plugins: [puppets],
  banner: { js: 'const { worked } = globalThis; const { self } = worked;' },
  define: {
    ...{ setTimeout: 'worked.setTimeout', clearTimeout: 'worked.clearTimeout' },
    'performance.now': 'worked.now',
  },
});

const turn = () => new Promise((resolve) => setImmediate(resolve));
let worked;
let opened = 0;
const posted = () => worked.posted.splice(0);
const types = () => posted().map(([{ type, id }]) => (id === undefined ? type : `${type} ${id}`));
const say = (data) => worked.hear({ data });
const pixelsOf = (...sizes) => ({
  data: new Uint8ClampedArray(4),
  width: sizes[0] ?? 1,
  height: 1,
});
const requestOf = (name, count = 1, ranks = false) => ({
  ...{ name, layer: { tokens: Array(count).fill('x') }, view: { ranks } },
});
const failure = (message) => ({ code: 'unexpected', message });

/** Lets the timer go off that waits, and says how long it was to wait. */
function goOff() {
  assert.equal(worked.timers.size, 1, 'one timer waits');
  const [[id, { act, delay, args }]] = worked.timers;
  worked.timers.delete(id);
  act(...args);
  return delay;
}

beforeEach(async () => {
  worked = globalThis.worked = {
    ...{ posted: [], timers: new Map(), clock: 0, asked: [], begun: [], hosts: [], keys: [] },
    ...{
      steps: [],
      study: { busy: false, news: [], dropped: 0 },
      frame: () => ({ frame: {}, pixels: {} }),
    },
    init: async () => ({ info: 'the engine' }),
    now: () => worked.clock,
    setTimeout: (act, delay, ...args) => {
      const id = ++opened;
      worked.timers.set(id, { act, delay, args });
      return id;
    },
    clearTimeout: (id) => worked.timers.delete(id),
    self: {
      addEventListener: (type, hear) => type === 'message' && (worked.hear = hear),
      postMessage: (message, { transfer }) => worked.posted.push([message, transfer]),
    },
    Pipeline: class {
      features = 'the features';
      pictures = { surfaces: new Map(), palette: undefined };
      constructor(qkv) {
        this.qkv = qkv;
        worked.pipeline = this;
      }
      run = (id, request) => worked.frame(id, request);
    },
    Background: class {
      static key(request, look) {
        worked.keys.push(look);
        return `${request.name} ${look}`;
      }
      constructor(pipeline) {
        assert.equal(pipeline, worked.pipeline);
      }
      *work(request) {
        worked.begun.push(request.name);
        for (const step of worked.steps) {
          worked.clock += step.takes ?? 0;
          if (step.throws) throw new Error(step.throws);
          yield step.tells;
        }
      }
      tensors(request, wanted) {
        if (worked.noRoom) throw Object.assign(new Error('no room'), { code: 'out_of_memory' });
        worked.arrays = Array.from({ length: 3 }, () => new Float32Array(2));
        const [weights, scores, entropy] = worked.arrays;
        return { of: `${wanted} of ${request.name}`, heads: [{ weights, scores, entropy }] };
      }
    },
    StudyDesk: class {
      constructor(features) {
        assert.equal(features, 'the features');
      }
      ask = (...args) => worked.asked.push(args);
      get busy() {
        return worked.study.busy;
      }
      step() {
        worked.clock += 3;
        const [news] = worked.study.news.splice(0, 1);
        if (news === 'throws') throw new Error('no study');
        worked.study.busy = worked.study.news.length > 0;
        return news;
      }
      drop() {
        worked.study.dropped++;
        worked.study.busy = false;
      }
    },
    Surface: class {
      constructor(canvas) {
        this.canvas = canvas;
      }
    },
    ModelHost: class {
      constructor(qkv, tell) {
        if (worked.noHost) throw new Error('no network');
        Object.assign(this, { qkv, tell, heard: [] });
        worked.hosts.push(this);
      }
      receive(message) {
        if (message.isBad) throw Object.assign(new Error('bad message'), { code: 'bad' });
        this.heard.push(message);
      }
    },
  };
  await import(`${script}?${++opened}`);
});

/** The worker with its engine. */
async function ready() {
  say({ type: 'start' });
  await turn();
  assert.deepEqual(posted(), [[{ type: 'ready', info: 'the engine' }, []]]);
}
const run = (id, request) => say({ type: 'run', id, request });

describe('worker: effective ranks', () => {
  const told = { tells: { report: { check: 'right' }, pixels: {} } };

  test('are worked out again when what finds them has come, and nothing rests before', async () => {
    await ready();
    let come;
    worked.spectraEngine = () => new Promise((resolve) => (come = resolve));
    worked.steps = [told];
    run(1, requestOf('a', 1, true));
    assert.deepEqual(types(), ['frame']);
    goOff();
    assert.deepEqual([worked.begun, types()], [['a'], ['report']]);
    run(2, requestOf('a', 1, true));
    assert.deepEqual(types(), ['frame', 'report']);
    await turn();
    come('spectra');
    await turn();
    assert.deepEqual(types(), []);
    goOff();
    assert.deepEqual(
      [worked.begun, types()],
      [
        ['a', 'a'],
        ['report', 'rest 2'],
      ],
    );
  });

  test('are told not to have come, and asked for again with the next request', async () => {
    await ready();
    let asked = 0;
    worked.spectraEngine = () => {
      asked += 1;
      return Promise.reject(Object.assign(new Error('no network'), { code: 'load_failed' }));
    };
    run(1, requestOf('a', 1, true));
    await turn();
    await turn();
    const failed = posted().filter(([{ type }]) => type === 'run-failed');
    assert.deepEqual(failed.map(([{ id, failure: why }]) => [id, why.code]), [[1, 'load_failed']]); // prettier-ignore
    run(2, requestOf('a', 1, true));
    await turn();
    run(3, requestOf('a'));
    await turn();
    assert.equal(asked, 2);
  });
});

describe('worker: the engine', () => {
  test('is told of when it is there; what came before it is done first, in its order', async () => {
    const palette = { hatch: 1 };
    say({ type: 'surface', name: 'map', canvas: 'a canvas' });
    say({ type: 'palette', palette });
    say({ type: 'start' });
    run(1, requestOf('early'));
    assert.deepEqual(posted(), []);
    await turn();
    assert.deepEqual(types(), ['frame', 'ready']);
    const { surfaces, palette: own } = worked.pipeline.pictures;
    assert.deepEqual(
      [...surfaces].map(([name, { canvas }]) => [name, canvas]),
      [['map', 'a canvas']],
    );
    assert.equal(own, palette);
    assert.deepEqual(worked.keys, [2], 'both changed how pictures look');
  });

  test('that does not load is told with the reason, and may be tried again', async () => {
    const { init } = worked;
    worked.init = () => Promise.reject(Object.assign(new Error('no wasm'), { code: 'load' }));
    say({ type: 'start' });
    run(4, requestOf('early'));
    await turn();
    assert.deepEqual(posted(), [
      [{ type: 'load-failed', failure: { code: 'load', message: 'no wasm' } }, []],
    ]);
    worked.init = init;
    say({ type: 'start' });
    await turn();
    assert.deepEqual(types(), ['frame', 'ready']);
  });
});

describe('worker: a frame', () => {
  test('is answered with its pixels, which are handed over, and with the time it took', async () => {
    await ready();
    const pixels = { map: pixelsOf(), masks: pixelsOf() };
    worked.clock = 10;
    worked.frame = (id, request) => {
      worked.clock += 3;
      return { frame: { id, name: request.name }, pixels };
    };
    run(7, requestOf('one'));
    assert.deepEqual(posted(), [
      [
        { type: 'frame', news: { id: 7, name: 'one', time: 3 }, pixels },
        [pixels.map.data.buffer, pixels.masks.data.buffer],
      ],
    ]);
  });

  test('that fails is told with its number and the reason, and another is answered', async () => {
    await ready();
    const { frame } = worked;
    worked.frame = () => {
      throw new Error('no frame');
    };
    run(2, requestOf('one'));
    assert.deepEqual(posted(), [[{ type: 'run-failed', id: 2, failure: failure('no frame') }, []]]);
    assert.equal(worked.timers.size, 0);
    worked.frame = frame;
    run(3, requestOf('two'));
    assert.deepEqual(types(), ['frame']);
  });

  test('has tensors for those who ask, of the latest request', async () => {
    await ready();
    say({ type: 'tensors', wanted: 'all' });
    assert.deepEqual(posted(), []);
    run(1, requestOf('one'));
    run(2, requestOf('two'));
    posted();
    say({ type: 'tensors', wanted: 'shown' });
    const [[message, transfer]] = posted();
    assert.deepEqual([message.type, message.tensors.of], ['tensors', 'shown of two']);
    assert.deepEqual(
      transfer,
      worked.arrays.map(({ buffer }) => buffer),
      'the arrays of the heads are handed over, not copied',
    );
  });

  test('says that there is no room for tensors, and goes on', async () => {
    await ready();
    run(1, requestOf('one'));
    posted();
    worked.noRoom = true;
    say({ type: 'tensors', wanted: 'all' });
    const failure = { code: 'out_of_memory', message: 'no room' };
    assert.deepEqual(posted(), [[{ type: 'tensors-failed', failure }, []]]);
    run(2, requestOf('two'));
    assert.equal(posted()[0][0].type, 'frame');
  });
});

describe('worker: the work behind a frame', () => {
  const report = (more) => ({ heads: [], check: null, ...more });

  test('begins at once, or with many tokens when nothing was asked for a while', async () => {
    await ready();
    run(1, requestOf('few', 256));
    assert.equal([...worked.timers.values()][0].delay, 0);
    run(2, requestOf('many', 257));
    assert.equal([...worked.timers.values()].at(-1).delay, 120);
    assert.equal(worked.timers.size, 1, 'the one before has been taken back');
  });

  test('goes on in slices of six milliseconds, tells what it finds, and says when none is left', async () => {
    await ready();
    const pixels = { 'head-0': pixelsOf(), 'head-1': pixelsOf() };
    const [first, last] = [report({ heads: [1] }), report({ check: 'checked' })];
    worked.steps = [
      ...[{ takes: 3 }, { takes: 2, tells: { report: first, pixels } }, { takes: 1 }, { takes: 5 }],
      ...[{ takes: 1 }, { tells: { report: last, pixels: {} } }],
    ];
    run(5, requestOf('one'));
    assert.deepEqual(types(), ['frame']);
    assert.equal(goOff(), 0);
    assert.deepEqual(posted(), [
      [
        { type: 'report', report: { ...first, id: 5 }, pixels },
        [pixels['head-0'].data.buffer, pixels['head-1'].data.buffer],
      ],
    ]);
    assert.equal(worked.clock, 6, 'six are over');
    assert.equal(goOff(), 0);
    assert.equal(worked.clock, 12);
    assert.deepEqual(posted(), []);
    goOff();
    assert.deepEqual(
      posted().map(([message]) => message),
      [
        { type: 'report', report: { ...last, id: 5 }, pixels: {} },
        { type: 'rest', id: 5 },
      ],
    );
    assert.equal(worked.timers.size, 0);
  });

  test('is not done again for the same: what is known is said again with the new number', async () => {
    await ready();
    const last = report({ check: 'checked' });
    worked.steps = [
      { tells: { report: report({}), pixels: {} } },
      { tells: { report: last, pixels: { a: pixelsOf() } } },
    ];
    run(1, requestOf('one'));
    goOff();
    posted();
    run(2, requestOf('one'));
    assert.deepEqual(
      posted()
        .slice(1)
        .map(([message]) => message),
      [
        { type: 'report', report: { ...last, id: 2 }, pixels: {} },
        { type: 'rest', id: 2 },
      ],
    );
    assert.deepEqual([worked.begun, worked.timers.size], [['one'], 0]);
    say({ type: 'palette', palette: {} });
    run(3, requestOf('one'));
    assert.deepEqual(types(), ['frame'], 'with other colours it is another');
    goOff();
    assert.deepEqual(worked.begun, ['one', 'one']);
  });

  test('that fails is told, and begins again when it is asked for again', async () => {
    await ready();
    worked.steps = [{ throws: 'no report' }];
    run(6, requestOf('one'));
    posted();
    goOff();
    assert.deepEqual(posted(), [
      [{ type: 'run-failed', id: 6, failure: failure('no report') }, []],
    ]);
    assert.equal(worked.timers.size, 0);
    worked.steps = [];
    run(7, requestOf('one'));
    goOff();
    assert.deepEqual(
      [types(), worked.begun],
      [
        ['frame', 'rest 7'],
        ['one', 'one'],
      ],
    );
  });
});

describe('worker: studies', () => {
  /** A request whose report is known: nothing but studies follows. */
  async function known() {
    await ready();
    const report = { heads: [], check: 'checked' };
    worked.steps = [{ tells: { report, pixels: {} } }];
    run(1, requestOf('one'));
    goOff();
    posted();
  }

  test('are asked what the request and the frame have of them', async () => {
    await ready();
    const request = requestOf('one');
    worked.frame = () => ({ frame: { scale: 3 }, pixels: {} });
    run(1, request);
    assert.deepEqual(worked.asked, [[{ ...request }, { scale: 3 }]]);
  });

  test('begin after a while, go on in slices, tell what they find, and then rest', async () => {
    await known();
    Object.assign(worked.study, { busy: true, news: [undefined, { scale: 1 }, { scale: 2 }] });
    run(2, requestOf('one'));
    assert.deepEqual(types(), ['frame', 'report'], 'no rest before they are done');
    assert.equal(goOff(), 40);
    assert.deepEqual(posted(), [[{ type: 'studies', news: { scale: 1 } }, []]]);
    assert.equal(goOff(), 0, 'after two steps of three milliseconds');
    assert.deepEqual(
      posted().map(([message]) => message),
      [
        { type: 'studies', news: { scale: 2 } },
        { type: 'rest', id: 2 },
      ],
    );
    assert.equal(worked.timers.size, 0);
  });

  test('wait for hands that ask again', async () => {
    await known();
    Object.assign(worked.study, { busy: true, news: [{ scale: 1 }] });
    run(2, requestOf('one'));
    run(3, requestOf('one'));
    assert.equal(worked.timers.size, 1);
    posted();
    goOff();
    assert.deepEqual(types(), ['studies', 'rest 3']);
  });

  test('that fail are dropped and told', async () => {
    await known();
    Object.assign(worked.study, { busy: true, news: ['throws', { scale: 1 }] });
    run(2, requestOf('one'));
    posted();
    goOff();
    assert.deepEqual(posted(), [[{ type: 'run-failed', id: 2, failure: failure('no study') }, []]]);
    assert.deepEqual([worked.study.dropped, worked.timers.size], [1, 0]);
  });
});

describe('worker: the trained model', () => {
  const toModel = async (message) => {
    say({ type: 'model', message });
    await turn();
    await turn();
  };

  test('is there with the first word to it, once, and what it says goes to the page', async () => {
    await ready();
    await toModel('load');
    await toModel('run');
    assert.equal(worked.hosts.length, 1);
    const [host] = worked.hosts;
    assert.deepEqual(host.heard, ['load', 'run']);
    assert.deepEqual([host.qkv, worked.pipeline.model], [{ info: 'the engine' }, host]);
    host.tell('loaded');
    assert.deepEqual(posted(), [[{ type: 'model', message: 'loaded' }, []]]);
  });

  test('that cannot be had is refused, and tried again', async () => {
    await ready();
    worked.noHost = true;
    await toModel({ kind: 'ask' });
    assert.deepEqual(posted(), [], 'what was asked before the load is told by the load');
    await toModel({ kind: 'load' });
    const notLoaded = { code: 'load_failed', message: 'no network' };
    assert.deepEqual(posted(), [
      [{ type: 'model', message: { kind: 'refused', failure: notLoaded } }, []],
    ]);
    worked.noHost = false;
    await toModel({ kind: 'load' });
    assert.deepEqual([worked.hosts.length, posted()], [1, []]);
    const why = { code: 'bad', message: 'bad message' };
    for (const [kind, told] of [
      ['ask', { kind: 'failed', of: 'answers', failure: why }],
      ['load', { kind: 'refused', failure: why }],
    ]) {
      await toModel({ kind, isBad: true });
      assert.deepEqual(posted()[0][0].message, told);
    }
    await toModel({ kind: 'ask' });
    assert.equal(worked.hosts.length, 1, 'the model that is there stays');
  });
});
