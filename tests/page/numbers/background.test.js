// What is worked out behind a frame, in Node: the numbers of every head, their small pictures, the check and the time, in the
// order in which they are told; and the tensors that a reader takes away.
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { init } from '../../../dist/index.js';
import { init as initSpectra } from '../../../dist/spectra.js';
import { modules } from '../support/engine.js';

const web = await modules(
  ...['worker/pipeline', 'worker/background', 'domain/number_sets', 'features/computed'],
  ...['engine/layer_weights', 'domain/mask'],
);
const qkv = await init();
const spectra = await initSpectra();

const tokensOf = (count) => Array.from({ length: count }, (_, i) => `t${i}`);
const LAYER = {
  ...{ source: 'random', seed: 7, tokens: tokensOf(5), positions: 'sinusoidal', mask: 'causal' },
  ...{ temperature: 0.7, numbers: web.WORKED_EXAMPLE, trained: null, trainedHeads: null },
};
const VIEW = { head: 1, other: null, show: 'weights', query: 4, described: 4, matrix: true };
const NOTHING = Object.fromEntries(web.COMPUTED_IDS.map((id) => [id, null]));
const requestOf = (layer = {}, view = {}, more = {}) => ({
  ...{ layer: { ...LAYER, ...layer }, view: { ...VIEW, ...view }, ...NOTHING },
  ...{ surfaces: {}, ratio: 1, ...more },
});
const newWork = () => {
  const pipeline = new web.Pipeline(qkv);
  const background = new web.Background(pipeline);
  background.spectra = spectra;
  return { pipeline, background };
};
/** What is told, and after how many steps. */
const told = (background, request) =>
  [...background.work(request)].flatMap((progress, step) =>
    progress ? [{ step, ...progress }] : [],
  );

describe('background: of a layer', () => {
  test('tells the numbers of every head first, then the check and the time', () => {
    const { pipeline, background } = newWork();
    const request = requestOf({}, { ranks: true });
    const [first, last, ...more] = told(background, request);
    assert.deepEqual([more.length, first.step], [0, 4], 'a step for each head');
    assert.ok(last.step >= 4 + 1 + 20, 'and one for each of their rows');
    const { heads, check, timing, memory } = first.report;
    assert.deepEqual([check, timing, heads.length], [null, null, 4]);
    assert.ok(memory.heapBytes > 0 && memory.usedBytes > 0);
    const made = pipeline.heads(request.layer);
    heads.forEach((numbers, head) => {
      const { weights } = pipeline.result(made, head, request.layer, false);
      const found = qkv.headStatistics({ data: weights, shape: [1, 1, 5, 5] });
      const of = (name) => ({ data: web.columnsOf(made.model[name], 64, head), shape: [64, 16] });
      const rank = spectra.effectiveRank(of('wq'), of('wk'), { transposed: true }).data[0];
      assert.deepEqual(numbers, {
        ...{ entropy: found.entropy.data[0], distance: found.distance.data[0] },
        ...{ first: found.firstKey.data[0], largest: found.maxWeight.data[0], rank },
      });
    });
    assert.deepEqual([last.report.heads, last.report.check.heads, last.pixels], [heads, 4, {}]);
    for (const name of ['weights', 'entropy', 'rowSum']) {
      assert.ok(last.report.check[name] > 0 && last.report.check[name] < 1e-5, name);
    }
    assert.ok(last.report.timing.samples >= 3 && last.report.memory.heapBytes > 0);
  });

  test('has effective ranks where they are asked for and what finds them is there', () => {
    const { background } = newWork();
    const ranksOf = (view) =>
      told(background, requestOf({}, view))[0].report.heads.map(({ rank }) => rank);
    assert.ok(ranksOf({ ranks: true }).every((rank) => rank > 1 && rank <= 16));
    assert.ok(ranksOf({ ranks: false }).every(Number.isNaN));
    background.spectra = null;
    assert.ok(ranksOf({ ranks: true }).every(Number.isNaN));
    const key = (view) => web.Background.key(requestOf({}, view), 0);
    assert.notEqual(key({ ranks: true }), key({ ranks: false }));
  });

  test('of many tokens is checked at the shown head alone, of one token at all of them', () => {
    const last = (count) => told(newWork().background, requestOf({ tokens: tokensOf(count) })).at(-1).report;
    assert.deepEqual([1, 256, 257].map((count) => last(count).check.heads), [4, 4, 1]);
    assert.ok(last(1).timing.samples > 0);
  }); // prettier-ignore

  test('paints the small pictures that there are, of weights or of scores', () => {
    const { pipeline, background } = newWork();
    const asked = [];
    pipeline.pictures.head = (name, ...of) => {
      asked.push([name, ...of]);
      return name === 'head-3' ? null : 'pixels';
    };
    const size = { width: 9, height: 9 };
    const surfaces = { 'head-0': size, 'head-3': size };
    const layer = { mask: 'none' };
    const [first, last] = told(background, requestOf(layer, {}, { surfaces, ratio: 2 }));
    assert.deepEqual([first.pixels, last.pixels], [{ 'head-0': 'pixels' }, {}]);
    const sizes = asked.map(([name, of, , ratio]) => [name, of, ratio]);
    assert.deepEqual(sizes, [['head-0', size, 2], ['head-3', size, 2]]); // prettier-ignore
    const heads = pipeline.heads(requestOf(layer).layer);
    const { weights, scores } = pipeline.result(heads, 0, { ...LAYER, mask: 'none' }, true);
    const [, , picture] = asked[0];
    const { values, show, mask, range } = picture;
    assert.deepEqual([values, show, mask, range], [weights, 'weights', 'none', 1]);
    asked.length = 0;
    told(background, requestOf(layer, { show: 'scores' }, { surfaces }));
    assert.deepEqual([asked[0][2].values, asked[0][2].show], [scores, 'scores']);
    assert.equal(asked[0][2].range, Math.max(...scores.map(Math.abs)));
  });
});

describe('background: of numbers and heads that are given', () => {
  const yours = { source: 'yours' };

  test('checks the reader’s own numbers, which have no projections', () => {
    for (const mask of ['none', 'causal']) {
      const { report } = told(newWork().background, requestOf({ ...yours, mask }, { head: 0 })).at(-1); // prettier-ignore
      assert.ok(Number.isNaN(report.heads[0].rank));
      assert.equal(report.check.heads, 1);
      assert.ok(report.check.weights < 1e-6 && report.check.entropy < 1e-6);
    }
  });

  test('checks a head by what it says itself, where it does', () => {
    const { pipeline, background } = newWork();
    const asked = [];
    const { heads } = pipeline;
    const wrong = {
      q: Float64Array.of(9, 0, 0, 9, 3, 3),
      k: new Float64Array(6).fill(2),
      width: 2,
    };
    const exact = (head) => (asked.push(head), wrong);
    pipeline.heads = (layer) => ({ ...heads.call(pipeline, layer), exact });
    const { report } = told(background, requestOf({ ...yours, mask: 'none' }, { head: 0 })).at(-1);
    assert.deepEqual(asked, [0]);
    assert.ok(report.check.weights > 1e-3, 'it was compared with those');
  }); // prettier-ignore
});

describe('background: beside the frames', () => {
  const short = requestOf({ tokens: tokensOf(5) }); // prettier-ignore

  test('is the worst of all heads, and NaN is the worst of all', () => {
    const { pipeline, background } = newWork();
    const result = pipeline.result.bind(pipeline);
    /** The check where one head is wrong. */
    const checkOf = (wrong, change) => {
      pipeline.result = (heads, head, ...rest) => {
        const right = result(heads, head, ...rest);
        return head === wrong ? { ...right, ...change(right) } : right;
      };
      return told(background, short).at(-1).report.check;
    };
    const off = checkOf(0, ({ weights }) => ({ weights: weights.map((w) => w + 0.125) }));
    assert.equal(off.heads, 4);
    assert.ok(Math.abs(off.weights - 0.125) < 1e-5 && Math.abs(off.rowSum - 0.125 * 5) < 1e-4);
    const broken = checkOf(2, ({ entropy }) => ({ entropy: entropy.map(() => NaN) }));
    assert.ok(Number.isNaN(broken.entropy) && broken.weights < 1e-5);
  });
});

describe('background: tensors', () => {
  test('are everything that the pictures are made of', () => {
    const { pipeline, background } = newWork();
    const request = requestOf({ mask: 'window' });
    const { heads, output, ...rest } = background.tensors(request, 'all');
    const { model, x } = pipeline.heads(request.layer);
    assert.deepEqual(rest, { request, x, wq: model.wq, wk: model.wk, bq: model.bq });
    const options = { ...web.maskOptions('window'), temperature: 0.7 };
    assert.deepEqual(
      output,
      pipeline.whole.of(model).forward({ data: x, shape: [5, 64] }, options).output.data,
    );
    heads.forEach((head, i) => {
      const again = pipeline.result(pipeline.heads(request.layer), i, request.layer, true);
      assert.deepEqual(head, { head: i, ...again });
    });
    assert.equal(heads.length, 4);
  });

  test('of a trained model that is gone are none', () => {
    const { background } = newWork();
    assert.deepEqual(background.tensors(requestOf({ source: 'trained' }), 'shown').heads, []);
  });

  test('of the reader’s own numbers have no layer', () => {
    const { background } = newWork();
    const { x, wq, wk, bq, output, heads } = background.tensors(
      requestOf({ source: 'yours' }),
      'all',
    );
    for (const empty of [x, wq, wk, bq, output]) assert.deepEqual(empty, new Float32Array());
    assert.deepEqual(
      heads.map(({ weights, scores }) => [weights.length, scores.length]),
      [[9, 9]],
    );
  });
});
