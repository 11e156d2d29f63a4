// @run full, or after changes in web/src/features/map web/src/features/row web/src/engine web/src/worker web/src/domain
// Frames of the map, in Node: the rows that are described, two heads compared, the scale of signed colours, the map that is
// dragged,
// and its pixels.
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { modules, startEngine } from '../support/engine.js';

globalThis.ImageData = class {
  constructor(width, height) {
    Object.assign(this, { width, height, data: new Uint8ClampedArray(4 * width * height) });
  }
};

const engine = await startEngine();
const { qkv } = engine;
const web = await modules(
  ...['worker/pipeline', 'worker/temperature_preview', 'engine/canvas', 'domain/colour_scale'],
  'domain/row_groups',
);

/** What the page asks for in this state, with other words about what is on the screen. */
function requestOf(patch, view = {}, more = {}) {
  engine.ask(patch);
  const request = engine.request();
  return { ...request, ...more, view: { ...request.view, ...view } };
}

/** The frame that a pipeline of its own answers with, and that pipeline. */
function run(request) {
  const pipeline = new web.Pipeline(qkv);
  return { pipeline, ...pipeline.run(1, request) };
}

const TEXT = 'one two three four five six';
const COUNT = 6;

describe('map: the rows of a frame', () => {
  test('are the query’s and the crosshair’s, of the shown head and of the other', () => {
    for (const mask of ['none', 'causal', 'window']) {
      for (const [query, described] of [
        [5, 2],
        [2, 5],
        [3, 3],
      ]) {
        const patch = { text: TEXT, source: 'random', head: 2, mask, temperature: 0.4 };
        const { frame, pipeline } = run(requestOf(patch, { query, described, other: 1 }));
        const heads = pipeline.heads(engine.request().layer);
        const layer = { mask, temperature: 0.4 };
        for (const [data, head, row] of [
          [frame.query, 2, query],
          [frame.described, 2, described],
          [frame.otherDescribed, 1, described],
        ]) {
          assert.equal(data.row, row);
          const all = pipeline.result(heads, head, layer, true);
          const near = (got, wanted, name) =>
            got.forEach((value, col) => {
              const exact = wanted[row * COUNT + col];
              const off = value === exact ? 0 : Math.abs(value - exact);
              assert.ok(off < 1e-6, `${name} of ${row}, ${col}: ${value}, not ${exact}`);
            });
          near(data.weights, all.weights, 'weight');
          near(data.scores, all.scores, 'score');
          assert.ok(Math.abs(data.entropy - all.entropy[row]) < 1e-6);
          const most = Math.max(...data.weights);
          assert.equal(data.weights[data.largest], most);
        }
      }
    }
  });
});

describe('map: the colours of signed values', () => {
  const sizes = (frame, mask) =>
    [...frame.matrix]
      .filter((_, at) => mask === 'none' || at % COUNT <= Math.floor(at / COUNT))
      .map(Math.abs);

  test('of two heads compared end at the largest difference', () => {
    const patch = { text: TEXT, source: 'random', head: 0, mask: 'causal' };
    const { frame, pipeline } = run(requestOf(patch, { other: 3 }));
    const heads = pipeline.heads(engine.request().layer);
    const layer = { mask: 'causal', temperature: 1 };
    const [a, b] = [0, 3].map((head) => pipeline.result(heads, head, layer, false).weights);
    frame.matrix.forEach((value, at) => assert.equal(value, Math.fround(a[at] - b[at])));
    const largest = Math.max(...sizes(frame, 'causal'));
    assert.ok(largest > 0.01 && largest < 1);
    assert.equal(frame.range, largest);
  });

  test('of scores end at the largest one that is not masked', () => {
    for (const mask of ['none', 'causal']) {
      for (const source of ['random', 'constructed']) {
        const { frame } = run(requestOf({ text: TEXT, source, mask, show: 'scores' }));
        assert.equal(frame.range, Math.max(...sizes(frame, mask)));
        assert.ok(Number.isFinite(frame.range) && frame.range > 0.1);
      }
    }
  });

  test('of weights have no range of their own', () => {
    assert.equal(run(requestOf({ text: TEXT, source: 'random' })).frame.range, 1);
  });
});

describe('map: while the temperature is dragged', () => {
  const LONG = { text: 'a b c d e f g', length: 600, source: 'random', head: 1 };

  test('no more rows than a screen shows are computed, and each is that of the map', () => {
    for (const [mask, temperature, length] of [
      ['causal', 0.5, 600],
      ['none', 3, 513],
      ['window', 1, 257],
    ]) {
      const patch = { ...LONG, mask, temperature, length };
      const request = requestOf(patch, { dragging: true, matrix: false });
      const pipeline = new web.Pipeline(qkv);
      const heads = pipeline.heads(request.layer);
      const dragged = new web.TemperaturePreview(pipeline, []).values(heads, request);
      const { step, count, values, range } = dragged;
      const rows = values.length / count;
      assert.deepEqual([count, range], [length, 1]);
      assert.ok(rows <= 256 && rows > 128 && rows * step >= length, `${rows} rows of ${step}`);
      const { weights } = pipeline.result(heads, 1, { mask, temperature }, false);
      for (let group = 0; group < rows; group++) {
        const row = web.rowOf(group, step, count);
        assert.equal(row, Math.min((group + 1) * step, count) - 1, 'the last of its group');
        for (let col = 0; col < count; col++) {
          const off = Math.abs(values[group * count + col] - weights[row * count + col]);
          assert.ok(off < 1e-5, `row ${row}, ${col} is off by ${off}`);
        }
      }
    }
  });

  test('it is computed as ever where that gains nothing, or where scores or two heads are shown', () => {
    const values = (patch, view) => {
      const request = requestOf(patch, { dragging: true, matrix: false, ...view });
      const pipeline = new web.Pipeline(qkv);
      return new web.TemperaturePreview(pipeline, []).values(
        pipeline.heads(request.layer),
        request,
      );
    };
    assert.equal(values({ ...LONG, length: 256 }, {}), null);
    assert.equal(values(LONG, { dragging: false }), null);
    assert.equal(values(LONG, { show: 'scores' }), null);
    assert.equal(values(LONG, { other: 0 }), null);
    assert.notEqual(values(LONG, {}), null);
  });
});

describe('map: the pixels', () => {
  const palette = {
    ...{ background: 0xff000001, hatch: 0xff000002, notANumber: 0xff000003 },
    diverging: Uint32Array.from({ length: 256 }, (_, i) => 0xff000000 + 16 * i),
  };
  const size = { width: COUNT, height: COUNT };

  /** The pixels of the map, one for each cell. */
  function paint(patch, view) {
    const pipeline = new web.Pipeline(qkv);
    pipeline.pictures.palette = palette;
    pipeline.pictures.surfaces.set('map', new web.Surface(null));
    const request = requestOf(patch, view, { surfaces: { map: size } });
    const { frame, pixels } = pipeline.run(1, request);
    const { width, height, data } = pixels.map;
    assert.deepEqual({ width, height }, size);
    const again = pipeline.run(2, request);
    assert.deepEqual(again.pixels, {}, 'what did not change is not painted again');
    return { frame, colours: new Uint32Array(data.buffer) };
  }

  test('of a difference are places on the ramp, hatched where it is masked', () => {
    const patch = { text: TEXT, source: 'random', mask: 'causal' };
    const { frame, colours } = paint(patch, { other: 2 });
    const place = web.colourIndex('difference', frame.range);
    frame.matrix.forEach((value, at) => {
      const masked = at % COUNT > Math.floor(at / COUNT);
      if (masked) assert.ok([palette.background, palette.hatch].includes(colours[at]));
      else assert.equal(colours[at], palette.diverging[place(value)], `cell ${at}`);
    });
  });

  test('of weights are of another ramp, and more where the weight is more', () => {
    const { frame, colours } = paint({ text: TEXT, source: 'random', mask: 'none' }, {});
    const brightness = (pixel) => (pixel & 255) + ((pixel >> 8) & 255);
    const order = [...frame.matrix.keys()].sort((a, b) => frame.matrix[a] - frame.matrix[b]);
    for (let i = 1; i < order.length; i++) {
      assert.ok(brightness(colours[order[i]]) >= brightness(colours[order[i - 1]]));
    }
  });
});
