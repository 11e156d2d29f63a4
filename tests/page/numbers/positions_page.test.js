// @about web/src/features/positions/
// What the parts of the panel about positions show and ask for: dials that are turned, a key that goes along with its query, numbers
// that are typed, maps and axes. tests/page/operated/positions-*.txt has it; QKV_REFRESH=1 writes it.
import assert from 'node:assert/strict';
import { mock, test } from 'node:test';
import { differences, enter, fire, linesOf, requireWritten } from '../support/operate.js';
import { openWindow } from '../support/window.js';

const { rest, layOut } = openWindow();
const { modules } = await import('../support/engine.js');
const web = await modules(
  ...[
    'page/drift_part',
    'page/dials_part',
    'page/encoding_part',
    'page/rotary_part',
    'page/rotation_part',
    'page/scheme_part',
    'page/shift_part',
  ].map((name) => `features/positions/${name}`),
  ...[
    'domain/schemes',
    'features/positions/shared/pair_table',
    'features/positions/state',
    'state/state',
  ],
);
const D = 64;
const SPAN = 48;

// ---- results ----

/** PE(p), from the formula. */
const encodingAt = (p, layout) => {
  const row = new Float32Array(D);
  for (let pair = 0; pair < D / 2; pair++) {
    const [a, b] = web.columnsOfPair(layout, pair);
    [row[a], row[b]] = [Math.sin(p * web.frequency(pair)), Math.cos(p * web.frequency(pair))];
  }
  return row;
};
const driftOf = (factor = 1) => {
  const positions = Int32Array.from({ length: 17 }, (_, i) => 2 ** i);
  const naive = Float64Array.from(positions, (p) => factor * 3e-8 * p);
  return { k: 5, positions, naive, core: naive.map(() => 6e-8) };
};
const schemeOf = (scheme, more = {}) => ({
  ...{ scheme, range: 31.5, alongDiagonals: 1.25e-7, drawn: {} },
  ...{ values: Float32Array.from({ length: SPAN ** 2 }, (_, at) => (at % 53) - 20), ...more },
});
const rotaryOf = (m, n, more = {}) => ({
  m,
  n,
  score: 0.6543217,
  apart: 0.6543219,
  exact: 0.65432176,
  ...more,
});

/** What a frame has of the panel in this state. */
function resultOf(
  { position: p, shift: k, layout, scheme, rotaryQ, rotaryK },
  { length = 64, ...more } = {},
) {
  const data = new Float32Array(length * D);
  for (let row = 0; row < length; row++) data.set(encodingAt(row, layout), row * D);
  const blocks = Float32Array.from({ length: 2 * D }, (_, i) => {
    const angle = k * web.frequency(i >> 2);
    return [Math.cos(angle), Math.sin(angle), -Math.sin(angle), Math.cos(angle)][i % 4];
  });
  return {
    encoding: { data, length, layout },
    shift: { k, blocks, residual: 1.19e-7 },
    place: {
      p,
      k,
      from: encodingAt(p, layout),
      to: encodingAt(p + k, layout),
      naive: 2.5e-6,
      core: 5.9e-8,
    },
    ...{ drift: driftOf(), scheme: schemeOf(scheme), rotary: rotaryOf(rotaryQ, rotaryK) },
    slopes: Float32Array.from({ length: 8 }, (_, i) => 2 ** -(i + 1)),
    ...more,
  };
}

const said = [];
for (const name of ['state-change', 'canvas-given', 'surface-resized']) {
  document.addEventListener(name, ({ detail }) => {
    const told = JSON.stringify(detail, (_, value) =>
      value instanceof HTMLElement ? value.localName : value,
    );
    said.push(`${name} ${told ?? ''}`);
  });
}
const folded = (element) => (element.matches('qkv-matrix, .dials') ? 'short' : 'open');

/** A part alone on its page; `show` has it shown a state, and writes down what is otherwise than before. */
async function put(name) {
  document.body.innerHTML = '<button id="elsewhere"></button>';
  const part = document.createElement(name);
  document.body.append(part);
  await rest();
  const lines = [];
  let before = [];
  const note = (title) => {
    const now = linesOf(part, { fold: folded });
    lines.push('', `=== ${title}`, ...said.splice(0), ...differences(before, now));
    before = now;
  };
  const show = async (
    title,
    patch = {},
    { result, tokens = ['The', 'cat', 'sat'], ...more } = {},
  ) => {
    const state = { ...web.initialState('en'), ...patch };
    const positions = result === undefined ? resultOf(state) : result;
    const frame = positions && { positions, request: { layer: { tokens } } };
    part.update({ state, frame, list: { tokens }, engine: { kind: 'ready' }, look: 1, ...more });
    await rest();
    note(title);
  };
  const act = async (title, work) => {
    work();
    await rest();
    note(title);
  };
  return { part, lines, show, act, find: (selector) => part.querySelector(selector) };
}

// ---- dials ----

test('positions: the hands of a dial, their names and the angle between them', async () => {
  const { part, lines, show } = await put('qkv-dials');
  await show('before a frame', {}, { result: null });
  for (const [position, shift, pair, layout] of [
    [10, 5, 4, 'interleaved'],
    [10, 5, 4, 'concatenated'],
    [10, 0, 0, 'interleaved'],
    [3, 128, 31, 'interleaved'],
    [7, 4, 0, 'concatenated'],
    [2, 3, 0, 'concatenated'],
    [0, 6, 0, 'interleaved'],
    [65536, 1, 5, 'interleaved'],
    [4, 1, 12, 'interleaved'],
  ]) {
    await show(`p ${position}, k ${shift}, pair ${pair}, ${layout}`, {
      position,
      shift,
      pair,
      layout,
    });
    // A dial is some 2 wide: a tenth is much.
    for (const dial of part.querySelectorAll('.dial-large, .dial:nth-of-type(7n + 1)')) {
      for (const { attributes } of dial.querySelectorAll('line, .turned, .tip, .name')) {
        lines.push(Array.from(attributes, ({ name, value }) => `${name}=${value}`).join(' '));
      }
    }
  }
  await show('another pair alone', { position: 4, shift: 1, pair: 11 });
  requireWritten('positions-dials', lines);
});

test('positions: a hand is turned by the pointer, the nearer one, and stops at its limits', async () => {
  const { part, lines, show, act, find } = await put('qkv-dials');
  const svg = find('.dial-large svg');
  const captured = [];
  svg.setPointerCapture = (id) => captured.push(id);
  /** An angle clockwise from the top, about the middle of the drawing. */
  const at = (angle, more = {}) => {
    const [x, y] = [320 + 90 * Math.sin(angle), 160 - 90 * Math.cos(angle)];
    return { clientX: x, clientY: y, pointerId: 3, button: 0, ...more };
  };
  const down = (angle, more) => {
    const event = new PointerEvent('pointerdown', {
      bubbles: true,
      cancelable: true,
      ...at(angle, more),
    });
    svg.dispatchEvent(event);
    said.push(`held ${captured.splice(0)}${event.defaultPrevented ? ', taken' : ''}`);
  };
  const move = (angle) => fire(svg, 'pointermove', PointerEvent, at(angle));
  await act('before there is anything', () => down(1));
  await show('p = 10, k = 5, pair 8', { position: 10, shift: 5, pair: 8 });
  const [from, to] = [1, 1.5]; // 10 and 15 steps of 0.1
  for (const [name, angle] of [
    ['near p', from + 0.2],
    ['near p + k', to - 0.2],
    ['before p', from - 2],
    ['beyond p + k', to + 2],
  ]) {
    await act(`grabbed ${name}`, () => down(angle));
    await act('turned on and back', () =>
      [0.3, 0.62, 0.1, -0.4].forEach((more) => move(angle + more)),
    );
    await act('across the top', () => [2, 3.5, 5, 7, 8].forEach((more) => move(angle + more)));
    await act('far back, and on again', () =>
      [6, 4, 2, 0, -2, -4, -3.5].forEach((more) => move(angle + more)),
    );
    await act('let go', () =>
      fire(svg, name === 'near p' ? 'pointercancel' : 'pointerup', PointerEvent, at(0)),
    );
    await act('moved after that', () => move(2));
  }
  await act('another button', () => {
    down(from, { button: 2 });
    move(from + 1);
  });
  await show('k at its end', { position: 0, shift: 128, pair: 0 });
  await act('k beyond its end', () => {
    down(128 - 2 * Math.PI * 20);
    [1, 2, 3, 2].forEach((more) => move(128 + more));
  });
  const radios = part.querySelectorAll('[name=pair]');
  for (const pair of [0, 13, 31]) {
    await act(`pair ${pair} is chosen`, () => {
      radios[pair].checked = true;
      fire(radios[pair], 'change');
    });
  }
  requireWritten('positions-turned', lines);
});

// ---- one pair, and the shift ----

test('positions: a rotation with its numbers', async () => {
  const { part, lines, show } = await put('qkv-rotation');
  await show('before a frame', {}, { result: null });
  assert.ok(part.hidden);
  await show('pair 0', { position: 12, shift: 3, pair: 0 });
  await show('pair 31, sines first', {
    position: 1203,
    shift: 128,
    pair: 31,
    layout: 'concatenated',
  });
  await show('pair 7', { position: 5, shift: 10, pair: 7 });
  await show('nothing is computed', {}, { result: null });
  requireWritten('positions-rotation', lines);
});

test('positions: sliders of p and k, and a number that is typed', async () => {
  const { lines, show, act, find } = await put('qkv-shift');
  const [slider, box, shift] = ['#position', '#position-number', '#shift'].map(find);
  slider.value = '2';
  await act('before there is a p', () => fire(slider, 'input'));
  await show('before a frame', {}, { result: null });
  for (const position of [0, 1, 2, 10, 300, 65535, 65536]) {
    await show(`p = ${position}`, { position, shift: position % 129 });
    const now = Number(slider.value);
    for (const value of [now - 1, now, now + 1, 0, 40, 641]) {
      slider.value = String(value);
      fire(slider, 'input');
    }
    slider.value = String(now);
    await act('the slider is moved', () => undefined);
  }
  for (const typed of ['12', '12.6', '-3', '65537', '1e9', '', 'x', '0']) {
    await act(`typed "${typed}"`, () => enter(box, typed));
  }
  box.focus();
  box.value = '77';
  await show('p = 5 while something is typed', { position: 5 });
  assert.equal(box.value, '77');
  document.querySelector('#elsewhere').focus();
  await show('p = 6', { position: 6 });
  assert.equal(box.value, '6');
  for (const k of [0, 64, 128]) await act(`k is set to ${k}`, () => enter(shift, String(k)));
  for (const layout of ['concatenated', 'interleaved']) {
    await act(layout, () => fire(find(`[value=${layout}]`), 'change'));
    await show(layout, { layout });
  }
  requireWritten('positions-shift', lines);
});

test('positions: the box of p shows what was taken while it keeps the focus', async () => {
  const { show, find } = await put('qkv-shift');
  const box = find('#position-number');
  box.focus();
  for (const [typed, position] of [['12.6', 13], ['1e9', 65536], ['', 65536]]) {
    enter(box, typed);
    await show(typed, { position });
    assert.equal(box.value, String(position), typed);
  } // prettier-ignore
});

// ---- the drift ----

test('positions: the axes of the drift have 16 octaves and the powers of ten from -8 to -2', () => {
  const lines = [];
  for (const [width, height] of [
    [640, 250],
    [300, 100],
  ]) {
    const { x, y, ...edges } = web.driftScale(width, height);
    const at = (scale, values) => values.map((value) => scale(value).toFixed(2)).join(' ');
    lines.push(`${width} x ${height}: ${JSON.stringify(edges)}`);
    lines.push(
      at(x, [0, 0.5, 1, 2, 16, 65536]),
      at(y, [0, 1e-40, 1e-9, 5e-9, 6e-9, 1e-8, 1e-5, 0.01, 0.02, 1]),
    );
  }
  const drift = { positions: [1, 16, 65536], naive: [1e-7, 0, 0.01], core: [1e-8, 1e-8, 1e-8] };
  lines.push(web.driftPath(drift, 'naive', 640, 250), web.driftPath(drift, 'core', 640, 250));
  requireWritten('positions-axes', lines);
});

test('positions: the drift at several widths and places', async () => {
  const { lines, show } = await put('qkv-drift');
  await show('before a frame', {}, { result: null });
  for (const position of [0, 1, 300, 65536]) await show(`p = ${position}`, { position });
  const state = { ...web.initialState('en'), position: 9 };
  const short = { ...driftOf(), positions: Int32Array.of(1, 2, 4, 8, 16) };
  await show(
    'no positions beyond 16',
    { position: 9 },
    { result: resultOf(state, { drift: short }) },
  );
  layOut({ width: 300.6, height: 100 });
  await rest();
  await show('narrow', { position: 9 });
  layOut({ width: 640, height: 320 });
  await rest();
  requireWritten('positions-drift', lines);
});

// ---- the picture of the encoding ----

test('positions: the picture of the encoding, its rows and the cell that is followed', async () => {
  const { part, lines, show, act, find } = await put('qkv-encoding');
  const model = () => {
    const { describe, partner, rowLabels, colLabels, ...rest } = part.matrix.model;
    const cells = [
      { row: 0, col: 0 },
      { row: 2, col: 1 },
      { row: 3, col: 63 },
    ];
    return JSON.stringify({
      ...rest,
      rows: rowLabels.length,
      last: [rowLabels.at(-1), colLabels.at(-1)],
      partner: cells.map(partner),
      cells: cells.map(describe),
    })
      .replace(/-?\d+\.\d{5,}/g, (value) => Number(value).toFixed(4))
      .match(/.{1,150}/g);
  };
  await show('before a frame', {}, { result: null });
  assert.deepEqual(part.matrix.model, null);
  await show('after the engine failed', {}, { result: null, engine: { kind: 'failed' } });
  for (const [title, patch, length] of [
    ['sixty-four positions', { position: 10, pair: 4 }, 64],
    ['beyond them', { position: 64, pair: 4 }, 64],
    ['the last of them', { position: 63, layout: 'concatenated', pair: 31 }, 64],
    ['as many as fit', { position: 100 }, 128],
    ['more than fit', { position: 128, shift: 2 }, 129],
    ['twice as many', { position: 1 }, 256],
  ]) {
    await show(title, patch, {
      result: resultOf({ ...web.initialState('en'), ...patch }, { length }),
    });
    lines.push(...model(), JSON.stringify(part.surfaces()));
  }
  const same = find('.legend-now').style.left;
  assert.match(same, /%$/);
  for (const layout of web.LAYOUTS) {
    await show(layout, { layout, position: 3 });
    await act('a cell is pinned', () =>
      part.dispatchEvent(new CustomEvent('cell-pinned', { detail: { row: 20, col: 37 } })),
    );
    await act('none is', () =>
      part.dispatchEvent(new CustomEvent('cell-pinned', { detail: null })),
    );
  }
  await show('one token', { position: 3 }, { tokens: ['The'] });
  lines.push(...model());
  await show('without tokens', { position: 3 }, { tokens: [] });
  lines.push(...model());
  await show('out of sight', { position: 4, pair: 5 }, { result: null });
  lines.push(...model());
  part.matrix.hidden = true;
  assert.deepEqual(part.surfaces(), {});
  requireWritten('positions-encoding', lines);
});

// ---- schemes ----

test('positions: what is drawn anew is the scheme alone, not the numbers of the page', async () => {
  const { show, find } = await put('qkv-scheme');
  const asked = [];
  document.addEventListener('state-change', ({ detail }) => asked.push(detail));
  await show('with a seed of the page', { scheme: 'learned', seed: 11 });
  assert.equal(find('.drawn .hint').textContent, 'Random, seed 11.');
  find('.drawn button').click();
  assert.deepEqual(Object.keys(asked[0]), ['positionsSeed']);
  await show('with one of its own', { scheme: 'learned', seed: 11, positionsSeed: 5 });
  assert.equal(find('.drawn .hint').textContent, 'Random, seed 5.');
  const { positionsRequest } = web;
  const state = { ...web.initialState('en'), seed: 11 };
  assert.equal(positionsRequest(state).seed, 11, 'links of before mean what they meant');
  assert.equal(positionsRequest({ ...state, positionsSeed: 5 }).seed, 5);
});

test('positions: the map of each scheme, its legend and its words', async () => {
  const { part, lines, show, act, find } = await put('qkv-scheme');
  assert.deepEqual(part.surfaces(), {});
  await show('before a frame', {}, { result: null });
  lines.push(JSON.stringify(part.surfaces()));
  const state = web.initialState('en');
  for (const scheme of web.SCHEMES) {
    await show(scheme, { scheme, seed: 11 });
    const { describe, rowLabels, colLabels, ...rest } = part.matrix.model;
    lines.push(JSON.stringify({ ...rest, last: [rowLabels.at(-1), colLabels.at(-1)] }));
    for (const [row, col] of [
      [0, 0],
      [3, 9],
      [30, 20],
      [47, 0],
    ])
      lines.push(describe({ row, col }));
  }
  const bare = resultOf(state, { slopes: undefined, scheme: schemeOf('alibi') });
  await show('before the slopes are there', { scheme: 'alibi' }, { result: bare });
  const odd = Float32Array.of(0.1, 1.5, 10, 100, 0.25, 0.5, 1, 2);
  await show('other slopes', { scheme: 'alibi' }, { result: { ...bare, slopes: odd } });
  await show('out of sight', { scheme: 'alibi', seed: 12 }, { result: null });
  await show('after the engine failed', { scheme: 'alibi' }, { engine: { kind: 'failed' } });
  await show('again', { scheme: 'rotary' });
  for (const [value, limit] of [
    [0, 'lowest'],
    [0.999999, 'highest'],
    [0.5, 'middle'],
  ]) {
    mock.method(Math, 'random', () => value);
    await act(`the ${limit} seed is drawn`, () => find('.drawn button').click());
    mock.restoreAll();
  }
  for (const scheme of ['t5', 'learned'])
    await act(`${scheme} is chosen`, () => fire(find(`[value=${scheme}]`), 'change'));
  find('[value=xl]').value = 'unknown';
  await act('something unknown', () => fire(find('[value=unknown]'), 'change'));
  requireWritten('positions-maps', lines);
});

// ---- rotary ----

test('positions: q and k go where they are put, or along with each other, and stop where one must', async () => {
  const { lines, show, act, find } = await put('qkv-rotary');
  const [q, k, hold] = ['#rotaryQ', '#rotaryK', '#hold'].map(find);
  hold.checked = true;
  await act('held before there is anything', () => enter(q, '3'));
  await act('k, before there is anything', () => enter(k, '9'));
  hold.checked = false;
  await show('before a frame', {}, { result: null });
  await show('12 and 5', { rotaryQ: 12, rotaryK: 5 });
  await act('q alone', () => enter(q, '40'));
  await act('k alone', () => enter(k, '41'));
  hold.checked = true;
  for (const [m, n] of [
    [12, 5],
    [5, 12],
    [0, 4096],
    [4096, 4090],
    [7, 7],
  ]) {
    await show(`${m} and ${n}`, { rotaryQ: m, rotaryK: n });
    for (const [slider, name] of [
      [q, 'q'],
      [k, 'k'],
    ]) {
      for (const to of [0, 3, 20, 4096]) {
        await show('as before', { rotaryQ: m, rotaryK: n });
        await act(`${name} to ${to}`, () => {
          slider.value = String(to);
          fire(slider, 'input');
        });
      }
    }
  }
  await show('held twice', { rotaryQ: 12, rotaryK: 5 });
  await act('q twice before it is shown', () =>
    ['14', '16'].forEach((to) => ((q.value = to), fire(q, 'input'))),
  );
  requireWritten('positions-held', lines);
});

test('positions: a guess about the score of q and k', async () => {
  const { lines, show, act, find } = await put('qkv-rotary');
  const at = (m, n, positionsAsk, more) => [
    { rotaryQ: m, rotaryK: n, positionsAsk },
    { result: resultOf(web.initialState('en'), { rotary: rotaryOf(m, n, more) }) },
  ];
  const show12 = (title, asked) =>
    show(title, ...at(12, 5, asked, { score: -0.5, exact: -0.5 - 1e-9, apart: -0.25 }));
  for (const guess of ['stays', 'grows', 'falls', 'show']) {
    await show12(`asked, to be told ${guess}`, true);
    await act(guess, () => find(`[data-guess=${guess}]`).click());
    await show12('told', false);
    await show('at the same distance', ...at(22, 15, false));
    await show('at another', ...at(5, 12, false));
    await show12('back', false);
  }
  await act('another turn', () => find('.guess-again').click());
  lines.push(`focus on ${document.activeElement.textContent}`);
  await show12('asked', true);
  await act('guessed', () => find('[data-guess=stays]').click());
  await show12('told', false);
  await act('another turn', () => find('.guess-again').click());
  await show12('asked again', true);
  await show12('what was guessed before is no answer', false);
  requireWritten('positions-guesses', lines);
});
