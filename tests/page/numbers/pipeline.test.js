// The pipeline of frames, in Node: which stages run when what changes, what is given back to the core, what is painted when, and
// what is worked out behind a frame.
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { init } from '../../../dist/index.js';
import { modules } from '../support/engine.js';

const web = await modules(
  'worker/{pipeline,painter,background,temperature_preview}',
  'domain/{cividis,number_sets}',
  'features/computed',
  'engine/canvas',
);
const core = await init();
globalThis.ImageData = class {
  constructor(width, height) {
    Object.assign(this, { width, height, data: new Uint8ClampedArray(4 * width * height) });
  }
};

const tokensOf = (count) => Array.from({ length: count }, (_, i) => `t${i}`);
const LAYER = {
  ...{ source: 'random', seed: 7, tokens: tokensOf(5), positions: 'sinusoidal', mask: 'causal' },
  ...{ temperature: 1, numbers: web.WORKED_EXAMPLE, trained: null, trainedHeads: null },
};
const VIEW = {
  ...{
    head: 1,
    other: null,
    show: 'weights',
    query: 4,
    described: 4,
    matrix: true,
    dragging: false,
  },
};
const NOTHING = Object.fromEntries(web.COMPUTED_IDS.map((id) => [id, null]));
/** Copies, as requests arrive. */
const requestOf = (layer = {}, view = {}, more = {}) =>
  structuredClone({
    ...{ layer: { ...LAYER, ...layer }, view: { ...VIEW, ...view } },
    ...{ ...NOTHING, surfaces: {}, ratio: 1, ...more },
  });

describe('pipeline: stages', () => {
  test('run again when something before them changed, and only then', () => {
    const pipeline = new web.Pipeline(core);
    const ran = (...request) => pipeline.run(1, requestOf(...request)).frame.ran;
    const all = ['model', 'x', 'heads', 'head', 'values', 'query row'];
    assert.deepEqual(ran(), all);
    assert.deepEqual(ran(), []);
    assert.deepEqual(ran({ seed: 8 }), all);
    assert.deepEqual(ran({ seed: 8, positions: 'none' }), all.slice(1));
    assert.deepEqual(ran({ tokens: tokensOf(6) }), all);
    assert.deepEqual(ran(), all.slice(1));
    assert.deepEqual(ran({ temperature: 2 }), ['head', 'values', 'query row']);
    assert.deepEqual(ran({ mask: 'none' }), ['head', 'values', 'query row']);
    assert.deepEqual(ran({ mask: 'none' }, { head: 0 }), ['head', 'values', 'query row']);
    assert.deepEqual(ran({ mask: 'none' }, { head: 0, show: 'log' }), ['values']);
    assert.deepEqual(ran({ mask: 'none' }, { head: 0, show: 'scores' }), ['head', 'values']);
    assert.deepEqual(ran(), ['head', 'values', 'query row']);
    assert.deepEqual(ran({}, { query: 2 }), ['query row', 'described row']);
    assert.deepEqual(ran({}, { query: 2, described: 3 }), ['described row']);
    assert.deepEqual(ran({}, { query: 2, described: 3, other: 0 }), [
      'other head',
      'values',
      'other row',
    ]);
    assert.deepEqual(ran({}, { query: 2, described: 1, other: 0 }), ['described row', 'other row']);
    assert.deepEqual(ran({}, { query: 3, described: 3, matrix: false }), ['query row']);
    assert.deepEqual(ran({ source: 'yours' }, { head: 0 }), [
      'given',
      'head',
      'values',
      'query row',
    ]);
    assert.deepEqual(ran({ source: 'yours' }, { head: 0 }), []);
    const numbers = { q: [1, 2], k: [3, 4], v: [5, 6] };
    assert.deepEqual(ran({ source: 'yours', numbers }, { head: 0 }), [
      'given',
      'head',
      'values',
      'query row',
    ]);
  });

  test('of a trained model follow the model and the text, and are nothing without one', () => {
    const pipeline = new web.Pipeline(core);
    const trained = { model: 1, ids: [4, 2] };
    const empty = pipeline.run(1, requestOf({ source: 'trained', trained })).frame;
    assert.deepEqual(
      [empty.numHeads, empty.query, empty.matrix, empty.range, empty.step],
      [0, null, null, 0, 1],
    );
    const asked = [];
    const heads = { ...pipeline.heads(LAYER), count: 2 };
    pipeline.model = { heads: (of) => (asked.push(of), of.ids.length > 3 ? null : heads) };
    const of = (to) => pipeline.heads({ ...LAYER, source: 'trained', trained: to });
    assert.equal(of({ model: 2, ids: [4, 2] }), heads);
    assert.equal(of({ model: 2, ids: [4, 2] }), heads);
    assert.deepEqual(asked, [{ model: 2, ids: [4, 2] }]);
    assert.equal(of({ model: 2, ids: [4, 2, 1, 1] }).count, 0);
    assert.deepEqual(of(null), {
      model: null,
      x: new Float32Array(),
      list: [],
      inputs: null,
      count: 0,
    });
    assert.equal(asked.length, 2);
  });
});

describe('pipeline: a frame', () => {
  const frameOf = (...request) => new web.Pipeline(core).run(9, requestOf(...request)).frame;

  test('has a number, its heads, and rows that are there', () => {
    const frame = frameOf();
    assert.deepEqual(
      [frame.id, frame.numHeads, frame.range, frame.step, frame.otherDescribed],
      [9, 4, 1, 1, null],
    );
    assert.equal(frame.info, core.info);
    assert.equal(frame.described, frame.query);
    assert.deepEqual([frame.query.row, frame.query.weights.length], [4, 5]);
    for (const row of [-1, 5])
      assert.equal(frameOf({}, { query: row, described: row }).query, null, `${row}`);
    assert.equal(frameOf({}, { query: 0, described: 0 }).query.row, 0);
    for (const id of web.COMPUTED_IDS) assert.equal(frame[id], null, id);
  });

  test('has all weights of the head when they are asked for and few', () => {
    assert.equal(frameOf().matrix.length, 25);
    assert.equal(frameOf({ tokens: tokensOf(64) }).matrix.length, 4096);
    assert.equal(frameOf({ tokens: tokensOf(65) }).matrix, null);
    const hidden = frameOf({}, { matrix: false });
    assert.deepEqual([hidden.matrix, hidden.range], [null, 0]);
    assert.ok(!hidden.ran.includes('head'), 'nothing is computed for what is not on the screen');
    const onScreen = { surfaces: { map: { width: 5, height: 5 } } };
    const map = frameOf({}, { matrix: false }, onScreen);
    assert.deepEqual([map.matrix, map.range, map.ran.includes('head')], [null, 1, true]);
    const none = frameOf({ tokens: [] }, { query: -1, described: -1 }, onScreen);
    assert.deepEqual([none.numHeads, none.matrix, none.range, none.query], [4, null, 0, null]);
  });

  test('has of panels what they compute while they are on the screen', () => {
    const pipeline = new web.Pipeline(core);
    const puppet = (name) => ({
      compute: (asked, scene) =>
        asked === 'none' ? null : { name, asked, row: scene.query.row, own: [asked] },
      pictures: {
        [`${name}-canvas`]: {
          of: ({ asked }) => known[asked],
          picture: () => ({
            rows: 1,
            cols: 1,
            values: Float32Array.of(2),
            signed: false,
            allowed: () => [0, 1],
            place: (v) => v,
            ramp: new Uint32Array(256).fill(77),
          }),
        },
      },
    });
    const known = { a: {}, b: {} };
    pipeline.features.masks = puppet('masks');
    const name = 'masks-canvas';
    const surfaces = { [name]: { width: 1, height: 1 } };
    const run = (masks) => {
      const { frame, pixels } = pipeline.run(1, requestOf({}, {}, { masks, surfaces }));
      return [
        frame.masks?.asked ?? null,
        Object.keys(pixels),
        frame.ran.filter((ran) => ran.startsWith('paint')),
      ];
    };
    assert.deepEqual(run('a'), ['a', [], []], 'without colours');
    pipeline.pictures.palette = { background: 1, hatch: 2, notANumber: 3 };
    pipeline.pictures.surfaces.set(name, new web.Surface(null));
    assert.deepEqual(run('a'), ['a', [name], [`paint ${name}`]]);
    assert.deepEqual(run('a'), ['a', [], []]);
    assert.deepEqual(run('b'), ['b', [name], [`paint ${name}`]]);
    assert.deepEqual(run('none'), [null, [], []]);
    assert.deepEqual(run(null), [null, [], []]);
  });
});

describe('pictures: of a head', () => {
  const palette = { diverging: new Uint32Array(256) };
  const values = {
    values: new Float32Array(6),
    count: 3,
    step: 2,
    show: 'weights',
    range: 1,
    mask: 'causal',
  };
  const place = (width = 4, height = 5, ratio = 1) => ({
    surfaces: { map: { width, height } },
    ratio,
  });
  /** Pictures with a surface that notes what it is asked to paint. */
  function newPictures(answer = () => 'pixels') {
    const [log, painted] = [[], []];
    const pictures = new web.Pictures(log);
    const surface = { paint: (...args) => (painted.push(args), answer()) };
    pictures.surfaces.set('map', surface);
    return { pictures, log, painted };
  }

  test('are painted again when colours, size, ratio or numbers are others', () => {
    const { pictures, log, painted } = newPictures();
    const draw = (of, at) => {
      const pixels = {};
      pictures.map(pixels, of, at);
      return [Object.entries(pixels), painted.splice(0).length, log.splice(0).length];
    };
    const [done, nothing] = [
      [[['map', 'pixels']], 1, 1],
      [[], 0, 0],
    ];
    assert.deepEqual(draw(values, place()), nothing, 'without colours');
    pictures.palette = palette;
    assert.deepEqual(draw(null, place()), nothing);
    assert.deepEqual(draw(values, { surfaces: {}, ratio: 1 }), nothing);
    assert.deepEqual(draw(values, place()), done);
    assert.deepEqual(draw(values, place()), nothing);
    assert.deepEqual(draw({ ...values }, place()), done);
    for (const at of [place(5), place(5, 6), place(5, 6, 2)]) {
      assert.deepEqual(draw(values, at), done);
      assert.deepEqual(draw(values, at), nothing);
    }
    pictures.palette = { ...palette };
    assert.deepEqual(draw(values, place(5, 6, 2)), done);
    pictures.surfaces.clear();
    assert.deepEqual(draw(values, place(1, 1)), [[], 0, 1], 'a canvas that is not there');
  });
});
