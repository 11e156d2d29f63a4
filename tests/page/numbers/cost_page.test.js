// What the panel about cost shows and draws: a measurement from the press of the button to its end, whatever that is, the counts
// of a shape, and the file that can be taken away.
import assert from 'node:assert/strict';
import { afterEach, test } from 'node:test';
import { enter } from '../support/operate.js';
import { putPart } from '../support/part.js';
import { openWindow } from '../support/window.js';

const { told, workers, rest, leave } = openWindow();
const { modules } = await import('../support/engine.js');
const web = await modules(
  ...['shared/shape', 'page/plots', 'page/figure', 'page/operation_count'].map((name) => `features/cost/${name}`), // prettier-ignore
  ...['bench_part', 'shape_part', 'counts_part'].map((name) => `features/cost/page/${name}`),
  ...['ui/plot', 'ui/numbers'],
);
afterEach(leave);

// ---- measuring: times grow with the powers 2, 2 and 0.9 of T ----

const rowsOf = (count) =>
  Array.from({ length: count }, (_, i) => {
    const tokens = 2 ** (6 + i);
    return {
      ...{ tokens, storedMs: 3e-6 * tokens ** 2, streamingMs: 1e-6 * tokens ** 2 },
      ...{
        storedBytes: 4000 * tokens,
        streamingBytes: 500 * tokens,
        decodeMs: 2e-4 * tokens ** 0.9,
      },
    };
  });
const resultOf = (rows) => ({ variant: 'relaxed', threads: 1, cores: 8, rows });

function putBench(costResult = null) {
  const put = putPart('qkv-cost-bench', 'state-change');
  let look = 0;
  const show = (result) => put.part.update({ state: { costResult: result }, look: ++look });
  show(costResult);
  const say = (message) => workers.at(-1).say(message);
  const news = (rows, done, difference = NaN) =>
    say({ type: 'news', news: { result: resultOf(rows), difference, done, all: 21 } });
  const pressed = () => ['run', 'stop'].map((name) => !put.one(`.bench-${name}`).hidden);
  return { ...put, show, say, news, pressed, press: (name) => put.one(`.bench-${name}`).click() };
}

test('cost: a measurement that comes to nothing', () => {
  const { part, text, take, say, news, pressed, press } = putBench(resultOf(rowsOf(3)));
  press('run');
  assert.equal(part.result, null, 'what the link has is not what is measured');
  news(rowsOf(3), 3);
  const first = workers.at(-1);
  press('stop');
  assert.deepEqual([told.at(-1), pressed(), part.result.rows.length], ['ended', [true, false], 3]);
  first.say({ type: 'done' });
  assert.deepEqual(take(), [], 'after it was stopped nothing comes of it');
  press('run');
  document.body.append(document.createElement('button'));
  document.body.lastChild.focus();
  say({ type: 'failed', failure: { code: 'unexpected', message: 'it broke' } });
  assert.equal(document.activeElement, document.body.lastChild, 'the focus is elsewhere');
  assert.match(text('.bench-status'), /^The measurement stopped early\. .*it broke/);
  press('run');
  assert.equal(text('.bench-status'), '0 of … measurements');
  say({ type: 'done' });
  assert.deepEqual(take(), [{ costResult: null }], 'nothing was measured');
});

test('cost: powers of T are fitted from 256 tokens on, with an error from three lengths on', () => {
  const { texts, show } = putBench();
  const rows = rowsOf(7);
  const power = 'streaming: grows like T to the power 2.00';
  for (const [picked, fitted] of [
    [rows.slice(0, 3), 'streaming'],
    [rows.slice(2, 4), power],
    [rows.slice(2, 5), `${power} ± 0.00`],
    [rows.slice(2, 5).map((row) => ({ ...row, streamingMs: NaN })), 'streaming'],
  ]) {
    show(resultOf(picked));
    assert.equal(texts('[data-fit=streamingMs]')[0], fitted);
  }
});

test('cost: what can be taken away has the counts, and what was measured below them', () => {
  const shape = web.PRESETS.page;
  const take = (result) => web.costFigure(shape, result);
  const counts = take(null);
  const [pass, one, bytes] = [web.passFlops(shape), web.tokenFlops(shape), web.bytesOf(shape)];
  const flops = ['projections', 'scores', 'values', 'feedForward', 'logits', 'total'];
  assert.deepEqual(
    counts.table.slice(1).map(([, ...numbers]) => numbers),
    [
      ...flops.map((name) => [pass[name], one[name]]),
      ...['weights', 'cache', 'square', 'streaming'].map((name) => [bytes[name]]),
    ],
  );
  assert.deepEqual([counts.name, counts.data.shape, counts.data.fits], ['cost', shape, null]);
  const rows = rowsOf(4);
  const both = take(resultOf(rows));
  assert.ok(both.svg.height > counts.svg.height + 2 * 300, 'room for both drawings');
  const measured = both.table.slice(counts.table.length);
  assert.deepEqual(measured[0], ['relaxed', '1 / 8']);
  assert.equal(measured.length, 2 + rows.length);
  measured.slice(2).forEach((numbers, i) => {
    const { tokens, storedMs, storedBytes, decodeMs } = rows[i];
    assert.deepEqual([numbers[0], numbers[1], numbers[3], numbers[7]], [tokens, storedMs, storedBytes, decodeMs]); // prettier-ignore
    assert.ok(Math.abs(numbers[2] - (4 * tokens ** 2 * 64) / storedMs / 1e6) < 1e-9);
  });
  assert.ok(Math.abs(both.data.fits.storedMs.slope - 2) < 1e-9);
});

// ---- shapes ----

test('cost: shapes are known again, with their counts', async () => {
  const { part, one, text, take } = putPart('qkv-cost-shape', 'state-change');
  const counts = putPart('qkv-cost-counts');
  await rest();
  const { page, gpt2, llama70 } = web.PRESETS;
  for (const [costShape, tokens, known] of [
    [{ ...page, tokens: 5 }, 5, 'page'],
    [{ ...page, tokens: 5 }, 6, 'own'],
    [page, 0, 'page'],
    [{ ...gpt2, bytes: 1 }, 3, 'own'],
    [gpt2, 3, 'gpt2'],
    [{ ...llama70, causal: false }, 3, 'own'],
  ]) {
    const list = { tokens: new Array(tokens).fill('a') };
    for (const each of [part, counts.part]) each.update({ state: { costShape }, list, look: 1 });
    assert.equal(one('#cost-preset').value, known);
    assert.equal(one('#cost-tokens').value, String(costShape.tokens));
    assert.equal(one('#cost-causal').checked, costShape.causal);
    const pass = web.passFlops(costShape);
    assert.equal(counts.text('[data-pass=total]'), web.withUnit(pass.total, 'FLOP'));
    const shares = counts.all('[data-share]').map(({ style }) => Number.parseFloat(style.width));
    assert.ok(Math.abs(shares.reduce((a, b) => a + b) - 100) < 0.1, 'bars are parts of the whole');
    const shared = costShape.numHeads !== costShape.numKvHeads;
    assert.match(counts.text('.cost-cache'), shared ? /^64 heads share 8 key heads/ : /^Each of the (6|12) heads has its own/); // prettier-ignore
  }
  assert.match(text('.cost-source'), /^Your own numbers/);
  part.update({ state: { costShape: gpt2 }, list: { tokens: ['a', 'b'] }, look: 1 });
  for (const [id, value, patch] of [
    ['preset', 'page', { ...page, tokens: 2 }],
    ['preset', 'llama8', web.PRESETS.llama8],
    ['tokens', '-4', { ...gpt2, tokens: 1 }],
    ['numKvHeads', '5', { ...gpt2, numKvHeads: 4 }],
    ['bytes', '0.5', { ...gpt2, bytes: 0.5 }],
  ]) {
    const field = one(`#cost-${id}`);
    field.value = value;
    field.dispatchEvent(new Event('change', { bubbles: true }));
    assert.deepEqual(take(), [{ costShape: patch }]);
  }
  enter(one('#cost-preset'), 'own');
  assert.deepEqual(take(), []);
  enter(one('#cost-tokens'), '');
  assert.deepEqual(
    [take(), one('#cost-tokens').value],
    [[], '1024'],
    'what is no number changes nothing',
  );
});
