// The lens at every token, and what a token reads in every head: what the worker of a trained model answers, against formulas and one pass
// of the whole text; and what the parts of the panel show and ask for, in a window without a browser.
import assert from 'node:assert/strict';
import { afterEach, before, describe, test } from 'node:test';
import { close } from '../support/close.js';
import { float, partsOf } from '../support/model_parts.js';
import { fire } from '../support/operate.js';
import { openFamily } from '../support/own_model.js';
import { openWindow } from '../support/window.js';

const { leave } = openWindow();
const { modules, packageModule } = await import('../support/engine.js');
const web = await modules(
  'features/model/worker/{lens_grid,open_model,token_reads,forward_pass}',
  'features/model/{panel,shared/model_view}',
  'state/state',
  'i18n/i18n',
);
afterEach(leave);

/** All that a generator gives, and how many turns it took. */
function finished(steps) {
  for (let turns = 0; ; turns++) {
    const { done, value } = steps.next();
    if (done) return { value, turns };
  }
}

const opened = (qkv, family, changed) => openFamily(web.open, qkv, family, changed);

describe('model: the worker', () => {
  let qkv;
  before(async () => (qkv = await (await packageModule('index')).init()));
  const ids = [3, 1, 4, 1, 5, 9, 2, 6];

  test('tells the likeliest token after every layer at every token: softmax of the stream through the last norm and the head', async () => {
    const of = await opened(qkv, 'llama');
    const { value: grid } = finished(web.lensGrid(of, ids));
    const { layers } = of.model.forward(ids, { inspect: { logitLens: true } });
    assert.equal(grid.layers.length, 2);
    for (const [layer, { logits }] of layers) {
      assert.equal(grid.layers[layer].length, ids.length);
      grid.layers[layer].forEach(({ id, label, p }, at) => {
        const row = Array.from(logits.data.slice(at * 11, at * 11 + 11), Math.exp);
        assert.equal(id, row.indexOf(Math.max(...row)));
        assert.equal(label, String(id));
        close(p, row[id] / row.reduce((a, b) => a + b), 1e-5, `layer ${layer}, token ${at}`);
      });
    }
  });

  test('a long text goes through in pieces of sixteen tokens, and its numbers are those of one pass', () => {
    const asked = [];
    let closed = 0;
    const session = { dispose: () => closed++ };
    const model = {
      session: (options) => (asked.push(options), session),
      lens(piece, options) {
        assert.equal(options.session, session);
        asked.push([piece.length, options.top]);
        return [0, 1].map((l) => piece.map((id) => [{ id: id + l, text: '', probability: 0.5 }]));
      },
    };
    const of = { model, label: (id) => `<${id}>`, info: { numLayers: 2, speaks: true } };
    const long = Array.from({ length: 40 }, (_, i) => i);
    const { value, turns } = finished(web.lensGrid(of, long));
    assert.deepEqual(asked, [{ capacity: 40 }, [16, 1], [16, 1], [8, 1]]);
    assert.deepEqual([turns, closed], [3, 1]);
    assert.deepEqual(
      value.layers.map((row) => row.map(({ id }) => id)),
      [long, long.map((id) => id + 1)],
    );
    assert.equal(value.layers[1][39].label, '<40>');
    const failing = { ...model, lens: () => assert.fail('no room') };
    assert.throws(() => finished(web.lensGrid({ ...of, model: failing }, long)), /no room/);
    assert.equal(closed, 2, 'its memory is given back after a failure, too');
    for (const [speaks, none] of [
      [false, long],
      [true, []],
    ]) {
      assert.equal(finished(web.lensGrid({ ...of, info: { speaks } }, none)).value, null);
    }
  });

  for (const family of ['llama', 'gpt2', 'bert']) {
    test(`what weights bring is the length of α v W_O, in ${family}`, async () => {
      const of = await opened(qkv, family);
      const { numLayers, numHeads, dModel } = of.model.config;
      const { value: maps, turns } = finished(web.broughtOver(of, ids));
      assert.deepEqual([maps.length, turns], [numLayers * numHeads, numLayers]);
      // Alone on its key a head gives v W_O: weights are replaced by those of one key.
      const T = ids.length;
      const { activations } = of.model.forward(ids, { read: [{ site: 'weights' }] });
      for (let layer = 0; layer < numLayers; layer++) {
        const weights = activations.get('weights', layer).data;
        for (const key of [0, 3]) {
          const one = float(...ids.map((_, i) => Number(i === key)));
          const { activations: alone } = of.model.forward(ids, {
            edit: [{ site: 'weights', layer, value: one }],
            read: [{ site: 'heads', layers: [layer] }],
          });
          const given = alone.get('heads', layer).data;
          for (let head = 0; head < numHeads; head++) {
            for (let row = key; row < T; row++) {
              const from = (head * T + row) * dModel;
              const length = Math.hypot(...given.subarray(from, from + dModel));
              const wanted = weights[(head * T + row) * T + key] * length;
              const found = maps[layer * numHeads + head][row * T + key];
              close(found, wanted, 1e-5, `head ${layer}.${head}, ${row} on ${key}`);
            }
          }
        }
      }
    });
  }

  test('rows are those of the query in every head, of the keys that it may read', () => {
    const info = { numLayers: 2, numHeads: 2, causal: true };
    const label = (id) => `<${id}>`;
    const maps = [0, 1, 2, 3].map((head) => Float32Array.from({ length: 9 }, (_, i) => head + i / 16));
    const read = (asked, more) =>
      web.tokenReads({ info: { ...info, ...more }, label }, { ids: [7, 8, 9] }, maps, asked);
    const asked = { at: 1, head: [1, 0], brought: false };
    const reads = read(asked);
    assert.deepEqual([...reads.rows], [0, 1, 2, 3].flatMap((head) => [head + 3 / 16, head + 4 / 16]));
    assert.deepEqual([reads.keys, reads.most, reads.mapMost], [2, 1, 1]);
    assert.equal(reads.map, maps[2]);
    assert.deepEqual(reads.labels, ['<7>', '<8>', '<9>']);
    const brought = read({ ...asked, brought: true });
    assert.deepEqual([brought.most, brought.mapMost], [3.25, 2.5]);
    assert.equal(read(asked, { causal: false }).keys, 3);
    for (const head of [null, [2, 0], [0, 2]]) {
      assert.deepEqual(read({ ...asked, head }).head, [0, 0]);
    }
  });
}); // prettier-ignore

describe('model: on the page', () => {
  const INFO = { id: 1, name: null, file: 'a', numLayers: 2, numHeads: 2, speaks: true };
  const { put } = partsOf(web, INFO);
  const reading = { id: 1, ids: [4, 5, 6], labels: ['a', 'b', '<c>'] };
  const guess = (id, p) => ({ id, label: `t${id}`, p });
  const grid = {
    layers: [
      [guess(5, 0.25), guess(2, 0.5), guess(3, 0.125)],
      [guess(5, 0.5), guess(1, 0.75), guess(3, 1)],
    ],
  };

  test('the grid has a row for each layer and a column for each token; bold is what the last layer guesses', () => {
    const { show, texts, all, text, one, asked } = put('grid');
    show({ answers: { reading, grid }, state: { modelAt: 1 } });
    assert.deepEqual(texts('thead bdi'), ['a', 'b', '<c>']);
    assert.deepEqual(texts('tbody bdi'), ['t5', 't2', 't3', 't5', 't1', 't3']);
    assert.deepEqual(texts('tbody th'), ['after 1', 'after 2']);
    const bold = all('tbody td').map((cell) => cell.hasAttribute('data-final'));
    assert.deepEqual(bold, [true, false, true, true, true, true]);
    assert.equal(all('tbody td')[1].getAttribute('style'), '--share: 50%;');
    assert.deepEqual(all('.chosen').map(({ dataset }) => dataset.at), ['1', '1']);
    assert.deepEqual(all('input').map(({ checked }) => checked), [false, true, false]);
    assert.equal(
      text('.model-settled'),
      'Tokens at which each layer already guesses what the last one does: 2 → 3 of 3. The last guess is the token that follows at 1 of 2.',
    );
    one('tbody tr:last-child td:last-child bdi').click();
    all('input')[0].checked = true;
    fire(all('input')[0], 'change');
    one('tbody th').click();
    assert.deepEqual(asked, [{ modelAt: 2 }, { modelAt: 0 }]);
    show({ answers: { grid, reading: { ...reading, ids: [1], labels: ['x'] } } });
    assert.deepEqual(texts('bdi'), [], 'a grid of the text before stands under no other');
  });

  const reads = (more = {}) => ({
    ...{ at: 1, head: [1, 0], brought: false, numHeads: 2, keys: 2, labels: reading.labels },
    rows: float(1, 0, 0.5, 0.5, 0.25, 0.75, 0.125, 0.875),
    map: float(1, 0, 0, 0.25, 0.75, 0, 0.5, 0.25, 0.25),
    ...{ most: 1, mapMost: 1, ...more },
  });

  test('strips and the map say what the cell is, and the switch and the head are asked for', () => {
    const { show, texts, text, one, all, asked, part } = put('reads');
    show();
    assert.equal(one('.model-reads').hidden, true);
    show({ answers: { reads: reads() } });
    assert.equal(one('.model-reads').hidden, false);
    assert.equal(text('h4'), 'Query 1, b, through all heads');
    assert.deepEqual(texts('option'), ['0.0', '0.1', '1.0', '1.1']);
    assert.equal(one('select').value, '1.0');
    assert.deepEqual(texts('.described'), [
      'Head 0.0: query 1 b reads key 0 a with weight 1.000.',
      'Head 1.0: query 1 b reads key 0 a with weight 0.2500.',
    ]);
    assert.equal(text('.model-settled'), 'The largest weight is 1.00: head 0.0 on a at position 0.');
    const [strips, map] = all('qkv-matrix').map(({ model }) => model);
    assert.deepEqual([strips.rows, strips.cols, map.rows, map.cols], [4, 2, 3, 3]);
    assert.deepEqual(strips.rowLabels, ['0.0', '0.1', '1.0', '1.1']);
    assert.equal(strips.describe({ row: 3, col: 1 }), 'Head 1.1: query 1 b reads key 1 b with weight 0.8750.');
    one('[data-map=rows]').dispatchEvent(
      new CustomEvent('cell-pinned', { detail: { row: 3, col: 0 }, bubbles: true }),
    );
    one('select').value = '0.1';
    fire(one('select'), 'change');
    for (const radio of all('input').reverse()) {
      radio.checked = true;
      fire(radio, 'change');
    }
    assert.deepEqual(asked, [
      ...[{ modelHead: [1, 1] }, { modelHead: [0, 1] }],
      ...[{ modelReads: 'brought' }, { modelReads: null }],
    ]);
    const brought = reads({ brought: true, rows: float(1, 2, 3, 4, 5, 6, 8, 7), most: 8, mapMost: 2 });
    show({ answers: { reads: brought }, state: { modelReads: 'brought' } });
    assert.equal(text('.model-settled'), 'Most is brought by head 1.1, from a at position 0: a vector of length 8.00.');
    assert.equal(texts('.described')[0], 'Head 1.1: what query 1 b gets from key 0 a has length 8.000.');
    assert.deepEqual(all('input').map(({ checked }) => checked), [false, true]);
    assert.deepEqual([...part.querySelectorAll('.ticks')].map(({ textContent }) => textContent), ['04.008.00', '01.002.00']);
    show({ answers: { reads: null } });
    assert.deepEqual(all('qkv-matrix').map(({ model }) => model), [null, null]);
  });
}); // prettier-ignore
