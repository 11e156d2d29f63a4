// @about web/src/features/model/
// Drawings and tables of the panel of a trained model, in Node: curves of training and of time with few and many points
// (tests/page/operated/model-drawn.txt), what can be taken away of the panel, and what of it a link says.
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { modules } from '../support/engine.js';
import { requireWritten } from '../support/operate.js';

const web = await modules(
  ...['page/plots', 'page/figure', 'state', 'page/model_cards', 'shared/model_view'].map(
    (name) => `features/model/${name}`,
  ),
  ...['ui/plot', 'state/state'],
);
const float = (...values) => Float32Array.from(values);
const elements = (svg) => svg.replaceAll('><', '>\n<').split('\n');

test('model: curves of training and of time, as drawn', () => {
  const log = { steps: [100, 200, 300], loss: [3, 2.5, 2.25], heldOut: [3.25, NaN, 2] };
  const few = { steps: [50], loss: [1.5], heldOut: [1.25] };
  const none = { steps: [], loss: [], heldOut: [] };
  const points = (...lengths) =>
    lengths.map((length) => ({ length, cached: 0.5 + length / 128, whole: length / 8 }));
  const drawings = {
    'a log': web.drawLog(web.pagePen, 400, { log, baselines: [] }),
    'beside other models': web.drawLog(web.filePen, 640, {
      log: { ...log, heldOut: [3.25, 2.5, 2] },
      baselines: [
        ['a', 1.8],
        ['b <c>', 2.2],
        ['d', 2.4],
      ],
    }),
    'of one entry': web.drawLog(web.pagePen, 300, { log: few, baselines: [['a', 1.5]] }),
    'of none': web.drawLog(web.pagePen, 300, { log: none, baselines: [['a', 2]] }),
    narrow: web.drawLog(web.pagePen, 100, { log: few, baselines: [] }),
    'the time of a token': web.drawSpeed(web.pagePen, 640, points(8, 16, 64, 256)),
    'behind lengths that are close': web.drawSpeed(
      web.pagePen,
      400,
      points(64, 128, 180, 192, 256),
    ),
    'at a ratio of 1.4': web.drawSpeed(web.pagePen, 400, points(100, 139, 140)),
    'just beyond it': web.drawSpeed(web.pagePen, 400, points(256, 359)),
    'behind one length': web.drawSpeed(web.filePen, 100, [{ length: 8, cached: 0.1, whole: 1 }]),
    'over many powers': web.drawSpeed(web.pagePen, 400, [
      { length: 16, cached: 0.02, whole: 0.5 },
      { length: 512, cached: 0.03, whole: 99.5 },
    ]),
  };
  const lines = Object.entries(drawings).flatMap(([what, svg]) => [
    `== ${what}`,
    ...elements(svg),
    '',
  ]);
  requireWritten('model-drawn', lines);
});

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
      assert.deepEqual([name, svg.width, svg.height], ['model', 624, 488]);
      const { austen, tang } = web.CARDS;
      const row = (of, log, i) => [of, log.steps[i], log.loss[i], log.heldOut[i]];
      assert.deepEqual(table[0], [
        ...['model', 'step of training', 'loss, nats per character', 'held-out loss'],
      ]);
      assert.deepEqual(table[1], row('austen', austen.log, 0));
      assert.deepEqual(table.at(-1), row('tang', tang.log, tang.log.steps.length - 1));
      assert.equal(table.length, 1 + austen.log.steps.length + tang.log.steps.length);
      assert.equal(data.cards, web.CARDS);
      const groups = svg.body.match(/<g transform="[^"]*">/g);
      const inner = '<g transform="translate(12 28)">';
      assert.deepEqual(groups, [
        ...['<g transform="translate(0 0)">', inner],
        ...['<g transform="translate(0 244)">', inner],
      ]);
      for (const [each, title] of [
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
    });
  });

  test('of a reader’s model has its file, and nothing that belongs to another text', () => {
    const info = { ...INFO, name: null };
    const of = (more) => figure({ info, ...more }).table;
    assert.deepEqual(of(), [['austen.safetensors', 'ab<c>']]);
    assert.deepEqual(of({ speed: { ...speed, points: [] } }), of());
    const rows = of({ answers: { scores }, changes: { ...changes, reading: 2 } });
    assert.deepEqual(
      rows.slice(2).map((row) => row[4]),
      ['', '', '', ''],
    );
    assert.equal(of({ answers: { scores } })[2][4], '');
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
    [
      '0.3,2.1',
      [
        [0, 3],
        [2, 1],
      ],
    ],
    ['1234.5678', [[1234, 5678]]],
    ['', undefined],
    ['0', undefined],
    ['0.3,', undefined],
    ['12345.1', undefined],
    ['0.3.1', undefined],
    ['-1.2', undefined],
  ]) {
    assert.deepEqual(read('modelOut', raw), heads, raw);
  }
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
  const lines = Object.entries(modelFields).map(([name, { key, initial, limits, options }]) => {
    const what = limits ?? options ?? 'heads';
    const values = [
      '-1',
      '0',
      '0.00123',
      '0.5678',
      '1',
      '2.999',
      '3.5',
      '255',
      '256',
      '1e9',
      'x',
      '',
    ];
    const found = values.map((raw) => `${raw}: ${JSON.stringify(read(name, raw))}`).join(' ');
    return `${name} ${key} ${JSON.stringify(initial)} of ${JSON.stringify(what)} | ${found}`;
  });
  requireWritten(
    'model-fields',
    lines.flatMap((line) => line.split(' | ')),
  );
});

test('model: what the panel asks in a state', () => {
  const state = {
    ...web.initialState('en'),
    ...{ text: 'a', length: 3, modelAt: 2, modelTemperature: 0.5, modelTopK: 7, modelTopP: 0.25 },
    ...{ modelOut: [[1, 2]], modelNear: 9 },
  };
  assert.deepEqual(web.modelAsk(state), {
    ...{ text: 'a', length: 3, at: 2, ablated: [[1, 2]], near: 9 },
    sampling: { temperature: 0.5, topK: 7, topP: 0.25 },
  });
  const of = (model, language) => web.modelOf({ model }, language);
  assert.deepEqual(
    [of(null, 'en'), of(null, 'zh'), of('tang', 'en'), of('austen', 'zh')],
    ['austen', 'tang', 'tang', 'austen'],
  );
});
