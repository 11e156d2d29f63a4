// Drawings and tables of the panel of a trained model, in Node: curves of training and of time with few and many points, what
// can be taken away of the panel, and what of it a link says.
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { modules } from '../support/engine.js';
import { pointsOf, wordsOf } from '../support/svg_marks.js';

const web = await modules(
  'features/model/page/{plots,figure,model_cards}',
  'features/model/state',
  'features/model/shared/model_view',
  'ui/plot',
  'state/state',
);
const float = (...values) => Float32Array.from(values);

test('model: the curves of training go from the first step to the last, higher for a larger loss', () => {
  const log = { steps: [100, 200, 300], loss: [3, 2.5, 2.25], heldOut: [3.25, 2.5, 2] };
  const svg = web.drawLog(web.pagePen, 640, {
    ...{ log, baselines: [['a', 1.8], ['b <c>', 2.2]] }, // prettier-ignore
  });
  const [loss, heldOut] = ['plain', 'scaled'].map((mark) => pointsOf(svg, `plot-${mark}`));
  // The axis of steps begins at 0: a third of it is before the first.
  const [left, right] = [46, 640 - 22];
  for (const curve of [loss, heldOut]) {
    curve.forEach(([x], i) => assert.ok(Math.abs(x - left - ((i + 1) / 3) * (right - left)) < 0.1));
  }
  const scale = (loss[2][1] - loss[0][1]) / (3 - 2.25);
  heldOut.forEach(([, y], i) => {
    const wanted = loss[0][1] + (3 - log.heldOut[i]) * scale;
    assert.ok(scale > 0 && Math.abs(y - wanted) < 0.2, `${y}, not ${wanted}`);
  });
  const words = wordsOf(svg);
  for (const word of ['loss, nats', 'step of training', '0', '300', 'a', 'b &lt;c&gt;']) {
    assert.ok(words.includes(word), word);
  } // prettier-ignore
  for (const few of [{ steps: [50], loss: [1.5], heldOut: [1.25] }, { steps: [], loss: [], heldOut: [] }]) {
    for (const width of [100, 300]) {
      const drawn = web.drawLog(web.pagePen, width, { log: few, baselines: [['a', 2]] });
      assert.doesNotMatch(drawn, /NaN|Infinity|undefined/);
    }
  } // prettier-ignore
});

test('model: the curves of time are straight where a token takes in proportion to those before it', () => {
  const points = [8, 16, 64, 256].map((length) => ({ length, cached: 2, whole: length / 8 }));
  const svg = web.drawSpeed(web.pagePen, 640, points);
  const [whole, cached] = ['plain', 'scaled'].map((mark) => pointsOf(svg, `plot-${mark}`));
  const slope = (from, to) => (to[1] - from[1]) / (to[0] - from[0]);
  for (const to of whole.slice(2)) assert.ok(Math.abs(slope(whole[0], to) - slope(whole[0], whole[1])) < 0.02);
  assert.deepEqual(new Set(cached.map(([, y]) => y)).size, 1);
  assert.ok(whole[1][1] === cached[1][1], '16 tokens take 2 ms both ways');
  // The last length is written, and powers of two unless the last is less than 1.4 times as far.
  for (const [lengths, written] of [[[64, 128, 180, 192, 256], [64, 128, 256]], [[64, 128, 179], [64, 179]], [[64, 128, 180], [64, 128, 180]], [[8], [8]]]) {
    const all = lengths.map((length) => ({ length, cached: 0.1, whole: 1 }));
    const words = wordsOf(web.drawSpeed(web.pagePen, 400, all));
    assert.deepEqual(lengths.filter((length) => words.includes(`${length}`)), written);
  }
}); // prettier-ignore

describe('model: what can be taken away', () => {
  const INFO = { id: 1, name: 'austen', file: 'austen.safetensors', numLayers: 2, numHeads: 2 };
  const reading = { id: 3, labels: ['a', 'b', '<c>'] };
  const bars = [
    { id: 1, label: 'x', temperature: 0.123456, topK: 0.5, topP: 1 },
    { id: 2, label: 'y', temperature: 0.1, topK: 0.25, topP: null },
    { id: 3, label: 'z', temperature: 0.05, topK: null, topP: null },
  ];
  const scores = {
    ...{ numHeads: 2, previous: float(0.25, 0.5, 0.75, 1), first: float(0, 0.125, 0.25, 0.5) },
    induction: float(1, 0.5, 0.25, 0.125),
  };
  const speed = { points: [{ length: 8, cached: 1, whole: 2 }], difference: 0, running: false };
  const changes = { reading: 3, changes: float(0.5, NaN, -0.25), running: false };
  const figure = ({ answers = {}, ...model } = {}) =>
    web.modelFigure({
      model: { ...web.NO_MODEL, info: INFO, answers: { reading, ...answers }, ...model },
    });

  test('without a model are the logs of those of the page', () => {
    for (const found of [figure({ info: null }), figure({ answers: { reading: undefined } })]) {
      const { name, svg, table, data } = found;
      assert.deepEqual([name, svg.width, svg.height], ['model', 624, 976]);
      const { names, novels, austen, tang } = web.CARDS;
      const row = (of, log, i) => [of, log.steps[i], log.loss[i], log.heldOut[i]];
      assert.deepEqual(table[0], [...['model', 'step of training', 'loss, nats', 'held-out loss']]);
      assert.deepEqual(table[1], row('names', names.log, 0));
      assert.deepEqual(table.at(-1), row('tang', tang.log, tang.log.steps.length - 1));
      const rows = [names, novels, austen, tang].map(({ log }) => log.steps.length);
      assert.equal(table.length, 1 + rows.reduce((sum, count) => sum + count));
      assert.equal(data.cards, web.CARDS);
      const groups = svg.body.match(/<g transform="[^"]*">/g);
      const inner = '<g transform="translate(12 28)">';
      assert.deepEqual(groups, [
        ...['<g transform="translate(0 0)">', inner],
        ...['<g transform="translate(0 244)">', inner],
        ...['<g transform="translate(0 488)">', inner],
        ...['<g transform="translate(0 732)">', inner],
      ]);
      for (const [each, title] of [
        ['names', 'Names (English and Chinese)'],
        ['novels', 'Novels (English)'],
        ['austen', 'Austen (English)'],
        ['tang', 'Tang poems (Chinese)'],
      ]) {
        assert.ok(svg.body.includes(`<text x="12" y="20" font-weight="700">${title}</text>`));
        const { log, baselines } = web.CARDS[each];
        assert.ok(svg.body.includes(web.drawLog(web.filePen, 600, { log, baselines })));
      }
    }
  });

  test('with one is all that is known of it, a table below the other', () => {
    const next = { bars };
    const all = { losses: { whole: 1 }, lens: { at: 1 }, rollout: { at: 2 }, near: { id: 4 } };
    const generated = { text: 'd' };
    const { name, table, data } = figure({
      answers: { next, scores, ...all },
      ...{ speed, changes, generated },
    });
    assert.equal(name, 'model');
    assert.deepEqual(table, [
      ['austen', 'ab<c>'],
      ['Token', 'after temperature', 'after top-k', 'after top-p'],
      ['x', 0.123456, 0.5, 1],
      ['y', 0.1, 0.25, ''],
      ['z', 0.05, '', ''],
      ['head', 'previous', 'first', 'induction', 'change of the loss'],
      ['0.0', 0.25, 0, 1, 0.5],
      ['0.1', 0.5, 0.125, 0.5, ''],
      ['1.0', 0.75, 0.25, 0.25, -0.25],
      ['1.1', 1, 0.5, 0.125, ''],
      ['tokens before it', 'with the cache, ms', 'without the cache, ms'],
      [8, 1, 2],
    ]);
    assert.deepEqual(data, {
      ...{ info: INFO, reading, next, scores, ...all, speed, generated, changes },
      ...{ grid: undefined, reads: undefined },
    });
  });

  test('is drawn with four digits, and with sixty letters of a text', () => {
    const labels = Array.from({ length: 61 }, (_, i) => String(i % 10));
    const found = figure({ answers: { reading: { id: 1, labels }, next: { bars } } });
    const { body } = found.svg;
    assert.ok(body.includes(`>${labels.slice(0, 60).join('')}</text>`));
    assert.ok(body.includes('>0.1235</text>'));
    assert.equal(found.table[0][1].length, 61);
  });
});

test('model: what a link says of it', () => {
  const { modelFields } = web;
  const read = (name, raw) => modelFields[name].read(raw);
  for (const [raw, heads] of [
    ['0.3', [[0, 3]]],
    ['0.3,2.1', [[0, 3], [2, 1]]],
    ['1234.5678', [[1234, 5678]]],
    ...['', '0', '0.3,', '12345.1', '0.3.1', '-1.2'].map((none) => [none, undefined]),
  ]) {
    assert.deepEqual(read('modelOut', raw), heads, raw);
  } // prettier-ignore
  const many = (count) => Array.from({ length: count }, (_, i) => `0.${i}`).join();
  assert.equal(read('modelOut', many(64)).length, 64);
  assert.equal(read('modelOut', many(65)).length, 64);
  assert.equal(
    modelFields.modelOut.write([
      [0, 3],
      [2, 1],
    ]),
    '0.3,2.1',
  );
  for (const [name, raw, value] of [
    ['modelTemperature', '0.5678', 0.568], ['modelTemperature', '3.5', 3], ['modelTemperature', '-1', 0],
    ['modelTopP', '0', 0.01], ['modelTopP', '0.00123', 0.01], ['modelTopP', '2.999', 1],
    ['modelTopK', '1e9', 9999], ['modelTopK', '2.999', 3], ['modelAt', '256', 255], ['modelAt', '-1', 0],
    ['modelSeed', '1e9', 999_999], ['modelSeed', 'x', undefined], ['modelOrder', 'x', undefined],
    ['modelOrder', 'change', 'change'], ['model', 'tang', 'tang'], ['model', 'x', undefined],
  ]) {
    assert.deepEqual(read(name, raw), value, `${name} ${raw}`);
  } // prettier-ignore
});

test('model: what the panel asks in a state', () => {
  const state = {
    ...web.initialState('en'),
    ...{ text: 'a', length: 3, modelAt: 2, modelTemperature: 0.5, modelTopK: 7, modelTopP: 0.25 },
    ...{ modelOut: [[1, 2]], modelNear: 9, modelHead: [0, 1], modelReads: 'brought' },
  };
  assert.deepEqual(web.modelAsk(state), {
    ...{ text: 'a', length: 3, at: 2, ablated: [[1, 2]], near: 9, head: [0, 1], brought: true },
    sampling: { temperature: 0.5, topK: 7, topP: 0.25 },
  });
  const of = (model, language) => web.modelOf({ model }, language);
  assert.deepEqual(
    [of(null, 'en'), of(null, 'zh'), of('tang', 'en'), of('austen', 'zh')],
    ['austen', 'tang', 'tang', 'austen'],
  );
});
