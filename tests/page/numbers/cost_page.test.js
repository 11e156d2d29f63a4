// @about web/src/features/cost/
// What the panel about cost shows and draws: a measurement from the press of the button to
// its end, whatever that is, and the file that can be taken away. tests/page/operated/cost-*.txt has it; QKV_REFRESH=1 writes it.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { differences, fire, linesOf, requireWritten, rounded } from '../support/operate.js';
import { openWindow, SIZE } from '../support/window.js';

const { told, workers, rest, layOut } = openWindow();
const { modules } = await import('../support/engine.js');
const web = await modules(
  ...['shared/shape', 'page/plots', 'page/figure'].map((name) => `features/cost/${name}`),
  ...[
    'features/cost/page/bench_part',
    'features/cost/page/shape_part',
    'features/cost/page/counts_part',
    'ui/plot',
  ],
);

// ---- measuring ----

const rowsOf = (count, more = {}) =>
  Array.from({ length: count }, (_, i) => {
    const tokens = 2 ** (6 + i);
    return {
      ...{
        tokens,
        storedMs: 3e-6 * tokens ** 2 * (1 + (i % 3) / 9),
        streamingMs: 1.1e-6 * tokens ** 2,
      },
      ...{ storedBytes: 4 * tokens ** 2 + 512 * tokens, streamingBytes: 40000 + 500 * tokens },
      ...{ decodeMs: 2e-4 * tokens ** 0.9, ...more },
    };
  });
const resultOf = (count, more) => ({
  variant: 'relaxed',
  threads: 1,
  cores: 8,
  rows: rowsOf(count, more),
});
const none = { storedMs: NaN, streamingMs: NaN, storedBytes: NaN, streamingBytes: NaN };

const said = [];
document.addEventListener('state-change', ({ detail }) =>
  said.push(`asks for ${JSON.stringify(detail)}`),
);

/** A part on a page of its own, and what of it is written down. */
async function put(name) {
  document.body.innerHTML = '<button id="elsewhere"></button>';
  const part = document.createElement(name);
  document.body.append(part);
  await rest();
  const lines = [];
  let before = [];
  /** What is asked for and what is otherwise than before. */
  const note = async (title) => {
    await rest();
    const focus = document.activeElement;
    lines.push(
      '',
      `=== ${title}`,
      ...said.splice(0),
      ...told.splice(0).map((one) => `worker: ${JSON.stringify(one)}`),
    );
    const now = linesOf(part);
    lines.push(`focus on ${focus.id || focus.className || focus.localName}`);
    lines.push(...differences(before, now));
    before = now;
  };
  return { part, lines, note, find: (selector) => part.querySelector(selector) };
}

const view = (costResult = null, look = 1) => ({ state: { costResult }, look });
const say = (message) => workers.at(-1).say(message);
const news = (result, done, difference = NaN) =>
  say({ type: 'news', news: { result, difference, done, all: 21 } });

test('cost: a measurement from the press of the button to its result in the link', async () => {
  const { part, lines, note, find } = await put('qkv-cost-bench');
  part.update(view());
  await note('before');
  find('.bench-run').click();
  await note('begun');
  news({ ...resultOf(2, { ...none, decodeMs: 0.5 }) }, 2);
  await note('one token alone');
  const half = rowsOf(4).map((row, i) => (i < 3 ? row : { ...row, ...none }));
  news({ ...resultOf(0), rows: half }, 11, 0.0000012);
  await note('half of it');
  assert.deepEqual(part.result.rows, half);
  news(resultOf(7), 21, 0.0000034);
  say({ type: 'done' });
  await note('done');
  part.update(view(resultOf(7)));
  await note('with its result in the link');
  part.update(view(resultOf(6)));
  await note('with the result of somebody else');
  part.update(view(null));
  assert.equal(part.result, null);
  await note('without a result');
  requireWritten('cost-measured', lines);
});

test('cost: a measurement that comes to nothing', async () => {
  const { part, lines, note, find } = await put('qkv-cost-bench');
  part.update(view(resultOf(3)));
  find('.bench-run').click();
  assert.equal(part.result, null, 'what the link has is not what is measured');
  await note('begun where there was a result');
  news(resultOf(3), 3);
  const first = workers.at(-1);
  find('.bench-stop').click();
  await note('stopped');
  first.say({ type: 'done' });
  await note('done after it was stopped');
  find('.bench-run').click();
  document.querySelector('#elsewhere').focus();
  say({ type: 'failed', failure: { code: 'out_of_memory', message: 'there is no room' } });
  await note('failed, with the focus elsewhere');
  find('.bench-run').click();
  await note('begun after it had failed');
  say({ type: 'failed', failure: { code: 'unexpected', message: 'something else' } });
  await note('failed');
  find('.bench-run').click();
  find('.bench-stop').click();
  await note('stopped after it had failed');
  find('.bench-run').click();
  say({ type: 'done' });
  await note('done before anything was measured');
  requireWritten('cost-stopped', lines);
});

test('cost: fits and factors of few rows, and of a page in Chinese without a width', async () => {
  const { part, lines, note } = await put('qkv-cost-bench');
  let look = 1;
  const show = async (title, result) => {
    part.update(view(result, ++look));
    await note(title);
  };
  const rows = rowsOf(7);
  for (const [title, picked] of [
    ['below the first length of the fit', rows.slice(0, 2)],
    ['one length of the fit', rows.slice(0, 3)],
    ['two lengths', rows.slice(2, 4)],
    ['three lengths', rows.slice(2, 5)],
    ['no stored way', rows.slice(2, 5).map((row) => ({ ...row, storedMs: NaN }))],
    [
      'no streaming at the last',
      rows.slice(2, 5).map((row, i) => (i < 2 ? row : { ...row, streamingMs: NaN })),
    ],
    ['no decoding', rows.slice(2, 5).map((row) => ({ ...row, decodeMs: NaN }))],
  ]) {
    await show(title, { ...resultOf(0), rows: picked });
  }
  layOut({ width: 0, height: 0 });
  web.setLanguage('zh');
  await show('without a width', resultOf(5));
  web.setLanguage('en');
  layOut(SIZE);
  requireWritten('cost-fits', lines);
});

// ---- drawings ----

test('cost: axes of a drawing, at its smallest and at powers of ten', () => {
  const lines = [];
  const draw = (title, width, rows, series) => {
    const drawn = web.drawBench(web.pagePen, width, rows, series);
    lines.push('', `=== ${title}`, ...drawn.replaceAll('><', '>\n<').split('\n').map(rounded));
  };
  const pair = [
    { ...rowsOf(1)[0], storedMs: 1.6, streamingMs: 62.5, decodeMs: NaN },
    { ...rowsOf(2)[1], storedMs: 16, streamingMs: NaN, decodeMs: 0 },
  ];
  draw('nothing', 600, [], web.TIMES);
  draw('nothing that was measured', 600, [{ ...rowsOf(1)[0], ...none }], web.MEMORY);
  draw('from one power of ten to another', 600, pair, web.TIMES);
  draw('between two', 600, [{ ...pair[0], storedMs: 2, streamingMs: 3, decodeMs: 4 }], web.TIMES);
  draw('narrow', 419, rowsOf(7), web.TIMES);
  draw('wide enough', 420, rowsOf(7), web.MEMORY);
  draw('no room at all', 100, rowsOf(7), web.MEMORY);
  requireWritten('cost-drawn', lines);
});

test('cost: what can be taken away has the counts, and what was measured below them', () => {
  const lines = [];
  const take = (title, shape, result) => {
    const { name, svg, table, data } = web.costFigure(shape, result);
    const drawn = svg.body.replaceAll('><', '>\n<').split('\n').map(rounded);
    lines.push('', `=== ${title}: ${name}, ${svg.width} x ${svg.height}`, ...drawn);
    lines.push(...[...table, data].map((row) => rounded(JSON.stringify(row))));
  };
  take('counts alone', web.PRESETS.llama8, null);
  take('with measurements', web.PRESETS.page, resultOf(4));
  take('with none of them done', web.PRESETS.page, resultOf(0));
  requireWritten('cost-taken', lines);
});

// ---- shapes ----

test('cost: shapes are known again, and their counts', async () => {
  const { part, lines, note } = await put('qkv-cost-shape');
  const counts = document.createElement('qkv-cost-counts');
  document.body.append(counts);
  let counted = [];
  const show = async (title, costShape, tokens) => {
    const list = { tokens: new Array(tokens).fill('a') };
    for (const one of [part, counts]) one.update({ state: { costShape }, list, look: 1 });
    await note(title);
    const now = linesOf(counts);
    lines.push(...differences(counted, now));
    counted = now;
  };
  const { page, gpt2, llama70 } = web.PRESETS;
  const preset = part.querySelector('#cost-preset');
  const heads = part.querySelector('#cost-numHeads');
  preset.value = 'page';
  heads.value = '24';
  for (const field of [preset, heads]) fire(field, 'change');
  await show('the layer of the page', { ...page, tokens: 5 }, 5);
  await show('the layer of the page, of another sentence', { ...page, tokens: 5 }, 6);
  await show('the layer of the page, without a sentence', page, 0);
  await show('one token', { ...page, tokens: 1, causal: false }, 1);
  await show('numbers of three bytes', { ...gpt2, bytes: 3 }, 3);
  await show('no mask', { ...llama70, causal: false }, 3);
  for (const tokens of [0, 7]) {
    await show('before a choice', gpt2, tokens);
    for (const value of ['page', 'own', 'llama8']) {
      preset.value = value;
      fire(preset, 'change');
    }
    lines.push(...said.splice(0));
  }
  requireWritten('cost-known', lines);
});
