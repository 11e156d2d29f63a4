// What is made of a pass of a trained model, in Node: the tokens that are read, the heads with what each of them reads, and
// surprise, each against its formula; and the log of a run.
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { text } from '../../support/js/files.js';
import { close } from '../support/close.js';
import { modules } from '../support/engine.js';

const web = await modules(
  'features/model/worker/{token_ids,forward_pass}',
  'features/model/page/training_log',
  '../build/log_columns',
);

describe('model: the tokens of a text', () => {
  const BEGIN = 9;
  const read = (text, length, { begin = null, maxLength = 1000 } = {}) => {
    const encode = (of) => ({ ids: Array.from(of, Number), unknown: [`?${of}`] });
    return web.idsOf({ encode, begin, info: { maxLength } }, { text, length });
  };

  test('are cut or repeated to the length that is asked for, behind the one that every text begins with', () => {
    for (const [text, length, begin, ids, total] of [
      ['123', null, null, [1, 2, 3], 3],
      ['123', 2, null, [1, 2], 3],
      ['123', 7, null, [1, 2, 3, 1, 2, 3, 1], 3],
      ['123', null, BEGIN, [9, 1, 2, 3], 4],
      ['123', 2, BEGIN, [9, 1], 4],
      ['123', 6, BEGIN, [9, 1, 2, 3, 1, 2], 4],
      ['123', 1, BEGIN, [9], 4],
      ['912', null, BEGIN, [9, 1, 2], 3],
      ['192', null, BEGIN, [9, 1, 9, 2], 4],
      ['', null, null, [], 0],
      ['', 5, null, [], 0],
      ['', null, BEGIN, [9], 1],
      ['', 5, BEGIN, [9], 1],
    ]) {
      assert.deepEqual(
        read(text, length, { begin }),
        { ids, total, unknown: [`?${text}`] },
        `${text} of ${length} behind ${begin}`,
      );
    }
  });

  test('are 256 at most, and no more than the model takes', () => {
    const text = '12'.repeat(200);
    assert.equal(read(text, null).ids.length, 256);
    assert.equal(read(text, 300).ids.length, 256);
    assert.equal(read(text, null).total, 400);
    assert.equal(read(text, 100, { maxLength: 6 }).ids.length, 6);
    assert.deepEqual(read(text, null, { maxLength: 3, begin: BEGIN }).ids, [9, 1, 2]);
  });
});

describe('model: the heads of a pass', () => {
  const ids = [5, 6, 7];
  const [dK, heads, kvHeads] = [2, 4, 2];
  /** Numbers that say where they are: head, token and column. */
  const array = (from, count) => ({
    data: Float32Array.from({ length: count * ids.length * dK }, (_, i) => from + i),
  });
  const readings = (from) => ({
    ...{ q: array(from, heads), k: array(from + 100, kvHeads), v: array(from + 200, kvHeads) },
    weights: { data: Float32Array.from({ length: heads * 9 }, (_, i) => from + 300 + i) },
  });
  /** A pass over the tokens by a model whose layers read this. */
  function passOf({ attentionScale = null, layers = [readings(0), readings(1000)], logits } = {}) {
    const asked = [];
    const engine = { attention: (...args) => (asked.push(args), { weights: args.length }) };
    const config = { numLayers: 2, numHeads: heads, numKvHeads: kvHeads, dK, attentionScale };
    const forward = (read, options) => {
      assert.deepEqual([read, options], [ids, { inspect: { weights: true, projections: true } }]);
      return { logits, layers: layers && new Map(layers.map((of, n) => [n, of])) };
    };
    return { asked, pass: () => web.passOver(engine, { config, forward }, ids) };
  }

  test('have each its own queries and weights; two read the same keys and values', () => {
    const pass = passOf({ logits: { data: Float32Array.of(1) } }).pass();
    assert.deepEqual([pass.ids, [...pass.logits], pass.heads.length], [ids, [1], 8]);
    pass.heads.forEach((head, at) => {
      const from = 1000 * (at >> 2);
      const { q, k, v, ...rest } = head.projections();
      const own = (start) => Array.from({ length: 6 }, (_, i) => from + start + i);
      assert.deepEqual([...q], own(6 * (at & 3)), `q of ${at}`);
      assert.deepEqual([...k], own(100 + 6 * ((at & 3) >> 1)), `k of ${at}`);
      assert.deepEqual([...v], own(200 + 6 * ((at & 3) >> 1)), `v of ${at}`);
      assert.deepEqual(rest, { width: 2, scale: 1 / Math.sqrt(2) });
      const weights = Array.from({ length: 9 }, (_, i) => from + 300 + 9 * (at & 3) + i);
      assert.deepEqual([...pass.weights[at]], weights, `weights of ${at}`);
      const { q: exactQ, k: exactK, ...same } = head.exact;
      assert.ok(exactQ instanceof Float64Array && exactK instanceof Float64Array);
      assert.deepEqual([[...exactQ], [...exactK], same], [[...q], [...k], rest]);
      assert.equal(head.dispose(), undefined);
    });
  });

  test('have the scale of their model, and no logits of an encoder', () => {
    const pass = passOf({ attentionScale: 0.125 }).pass();
    assert.equal(pass.heads[0].projections().scale, 0.125);
    assert.equal(pass.logits, null);
  });

  test('are none without what they read', () => {
    for (const missing of ['q', 'k', 'v', 'weights']) {
      const rest = { ...readings(0), [missing]: undefined };
      assert.throws(
        passOf({ layers: [readings(0), rest] }).pass,
        /the pass left out q or k/,
        missing,
      );
    }
    for (const layers of [undefined, []])
      assert.throws(passOf({ layers: layers ?? null }).pass, /left out/);
  });

  test('differ from the pass by the largest difference of a weight', () => {
    const pass = (weights, found) => ({
      weights: weights.map((of) => Float32Array.from(of)),
      heads: found.map((of) => ({ all: () => ({ weights: { data: Float32Array.from(of) } }) })),
    });
    const difference = (...of) => web.differenceOf(pass(...of), {});
    const same = [
      [1, 0, 0.5, 0.5],
      [1, 0, 0.25, 0.75],
    ];
    assert.deepEqual(difference(same, same), {
      difference: 0,
      ours: same.map((of) => Float32Array.from(of)),
    });
    assert.equal(
      difference(same, [
        [1, 0, 0.5, 0.5],
        [1, 0, 0.75, 0.25],
      ]).difference,
      0.5,
    );
    assert.equal(
      difference(same, [
        [0.75, 0, 0.5, 0.5],
        [1, 0, 0.25, 0.625],
      ]).difference,
      0.25,
    );
    assert.equal(difference(same, [[NaN, 0, 0.5, 0.5], same[1]]).difference, NaN);
  });
});

test('model: surprise is -ln of the softmax, also of logits that are too large for exp', () => {
  const [vocabulary, ids] = [3, [2, 0, 1]];
  for (const shift of [0, 1000, -1000]) {
    const logits = Float32Array.from([0.5, -1, 2, 1, 1.5, 0, 9, 9, 9], (x) => x + shift);
    const found = web.surprisalOf(logits, ids);
    assert.equal(found.length, 3);
    assert.ok(Number.isNaN(found[0]), 'nothing stands before the first');
    for (const t of [1, 2]) {
      const row = Array.from(
        logits.subarray((t - 1) * vocabulary, t * vocabulary),
        (x) => x - shift,
      );
      const sum = row.reduce((a, x) => a + Math.exp(x), 0);
      close(found[t], Math.log(sum) - row[ids[t]], 1e-4, `token ${t} and ${shift}`);
    }
  }
});

test('model: a log is read by its columns, whatever ends its lines', () => {
  const csv = '# recipe\r\n\r\nheldOutLoss,step,loss\r\n2.5,10,3\r\n# a note\r\n2.25,20,2\r\n';
  assert.deepEqual(web.readLog(csv), { steps: [10, 20], loss: [3, 2], heldOut: [2.5, 2.25] });
  assert.deepEqual(web.readLog(''), { steps: [], loss: [], heldOut: [] });
  assert.deepEqual(web.readLog('step\n7').loss, [NaN]);
});

test('model: of a log the page carries the columns that it draws, with the same numbers', () => {
  for (const name of ['names', 'novels', 'austen', 'tang']) {
    const csv = text(`models/${name}/${name}.csv`);
    const carried = web.columnsOf(csv);
    assert.deepEqual(web.readLog(carried), web.readLog(csv), name);
    assert.ok(
      carried.startsWith('step,loss,heldOutLoss\n') && carried.length < csv.length / 2,
      name,
    );
  }
});
