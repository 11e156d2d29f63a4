// What the parts of the panel about positions show and ask for: dials that are turned, a key that goes along with its query, numbers
// that are typed, maps and axes.
import assert from 'node:assert/strict';
import { afterEach, test } from 'node:test';
import { fire } from '../support/operate.js';
import { bucketOf } from '../support/positions.js';
import { openWindow } from '../support/window.js';

const { rest, layOut, leave } = openWindow();
afterEach(leave);
const { modules } = await import('../support/engine.js');
const web = await modules(
  'features/positions/page/{drift_part,dials_part,encoding_part,rotary_part,rotation_part}',
  'features/positions/page/{scheme_part,shift_part}',
  'domain/schemes',
  'domain/pair_table',
  'features/positions/state',
  'state/state',
  'ui/numbers',
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
/** Of T5 the second head of a table of bucket.head, of Transformer-XL terms that are their numbers; of others that they drew. */
function detailsOf(scheme) {
  const random = ['learned', 'xl', 'rotary'].includes(scheme);
  const table = Float32Array.from({ length: 128 }, (_, at) => (at >> 2) + (at % 4) / 10);
  const buckets = Uint8Array.from({ length: 191 }, (_, at) => bucketOf(at - 95));
  const part = (value) => new Float32Array(SPAN ** 2).fill(value);
  const terms = { a: part(1), b: part(2), c: part(4), d: part(8), position: part(10) };
  return {
    drawn: random ? { q: new Float32Array(1) } : {},
    t5:
      scheme === 't5'
        ? { table, buckets, head: 1, before: [1, 2, 3, 4], after: [0.1, 0.2, 0.3, 0.4] }
        : null,
    xl: scheme === 'xl' ? { ...terms, score: part(15), term: 'position' } : null,
  };
}
const schemeOf = (scheme, more = {}) => ({
  ...{ scheme, range: 31.5, alongDiagonals: 1.25e-7, ...detailsOf(scheme) },
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

/** A part alone on its page: `show` has it shown a state, and `asked` is what it asks for. */
async function put(name) {
  const part = document.createElement(name);
  document.body.innerHTML = '<button id="elsewhere"></button>';
  document.body.append(part);
  const asked = [];
  document.addEventListener('state-change', ({ detail }) => asked.push(detail));
  await rest();
  const show = async (patch = {}, { result, tokens = ['The', 'cat', 'sat'], ...more } = {}) => {
    const state = { ...web.initialState('en'), ...patch };
    const positions = result === undefined ? resultOf(state) : result;
    const frame = positions && { positions, request: { layer: { tokens } } };
    part.update({ state, frame, list: { tokens }, engine: { kind: 'ready' }, look: 1, ...more });
    await rest();
  };
  const find = (selector) => part.querySelector(selector);
  const all = (selector) => [...part.querySelectorAll(selector)];
  return {
    ...{ part, asked, show, find, all },
    text: (selector) => find(selector).textContent,
    texts: (selector) => all(selector).map(({ textContent }) => textContent),
    /** What is asked for by entering a value. */
    entered(selector, value, event = 'input') {
      fire(Object.assign(find(selector), { value: String(value) }), event);
      return asked.splice(0)[0];
    },
  };
}
const numbersOf = (element, ...names) => names.map((name) => Number(element.getAttribute(name)));
const near = (got, wanted, within = 1e-3) =>
  got.forEach((value, i) =>
    assert.ok(Math.abs(value - wanted[i]) < within, `${got}, not ${wanted}`),
  );

// ---- dials ----

test('positions: the hands of every dial are the sine and the cosine of their pair at p and p + k', async () => {
  const { all, show, find, text } = await put('qkv-dials');
  for (const [position, shift, pair, layout] of [
    [10, 5, 4, 'interleaved'],
    [10, 5, 4, 'concatenated'],
    [10, 0, 0, 'interleaved'],
    [3, 128, 31, 'interleaved'],
    [0, 6, 0, 'interleaved'],
    [65536, 1, 5, 'interleaved'],
  ]) {
    await show({ position, shift, pair, layout });
    const w = web.frequency(pair);
    const tips = [position, position + shift].map((p) => [Math.sin(p * w), -Math.cos(p * w)]);
    const large = find('.dial-large');
    ['from', 'to'].forEach((name, i) => {
      near(numbersOf(large.querySelector(`.hand-${name}`), 'x2', 'y2'), tips[i]);
      near(numbersOf(large.querySelector(`.tip-${name}`), 'cx', 'cy'), tips[i]);
    });
    const angle = (shift * w) % (2 * Math.PI);
    const arc = large.querySelector('.turned').getAttribute('d');
    if (angle === 0) assert.equal(arc, '');
    else assert.ok(arc.includes(` 0 ${angle > Math.PI ? 1 : 0} 1 `), arc);
    all('.dial').forEach((dial, of) => {
      const at = (position + shift) * web.frequency(of);
      near(numbersOf(dial.querySelector('.hand-to'), 'x2', 'y2'), [Math.sin(at), -Math.cos(at)]);
    });
    assert.equal(find('[name=pair]:checked').value, `${pair}`);
    const values = { pair, p: position, k: shift, frequency: web.digits(w, 4), period: web.digits((2 * Math.PI) / w, 4) };
    const turned = { angle: web.digits(shift * w, 4), degrees: web.digits((shift * w * 180) / Math.PI, 4) };
    assert.equal(text('.dial-text'), web.t('dials.text', { ...values, ...turned }));
  }
  await show({ position: 10, shift: 1, pair: 12 });
  const [from, to] = ['from', 'to'].map((name) => numbersOf(find(`.name-${name}`), 'x', 'y'));
  assert.ok(Math.hypot(from[0] - to[0], from[1] - to[1]) > 0.4, 'names of hands that nearly meet stand aside');
}); // prettier-ignore

// ---- one pair, and the shift ----

test('positions: a rotation with its numbers', async () => {
  const { part, show, texts, text } = await put('qkv-rotation');
  await show({}, { result: null });
  assert.ok(part.hidden);
  for (const [position, shift, pair, layout] of [
    [12, 3, 0, 'interleaved'],
    [1203, 128, 31, 'concatenated'],
    [5, 10, 7, 'interleaved'],
  ]) {
    await show({ position, shift, pair, layout });
    const w = web.frequency(pair);
    const [s, c] = [Math.sin(shift * w), Math.cos(shift * w)];
    const at = (p) => [Math.sin(p * w), Math.cos(p * w)];
    for (const [name, values] of [
      ['block', [c, s, -s, c]],
      ['from', at(position)],
      ['product', at(position + shift)],
      ['to', at(position + shift)],
    ]) {
      near(
        texts(`[data-of=${name}] i`).map((cell) => Number(cell.replace('−', '-'))),
        values,
        2e-6,
      );
    }
    assert.equal(text('[data-under=to]'), `PE(${position + shift})`);
    const [first, second] = web.columnsOfPair(layout, pair);
    assert.equal(text('.caption'), web.t('shift.pair', { first, second, position }));
  }
  assert.equal(text('[data-under=block]'), 'M₁₀');
});

// ---- the drift ----

test('positions: the axes of the drift have 16 octaves and the powers of ten from -8 to -2', () => {
  for (const [width, height] of [[640, 250], [300, 100]]) {
    const { x, y, left, right, top, bottom } = web.driftScale(width, height);
    assert.deepEqual([left, right, top, bottom], [46, width - 14, 12, height - 34]);
    assert.deepEqual([0, 1, 65536].map(x), [left, left, right]);
    near([1, 4, 12].map((octave) => x(2 ** octave)), [1, 4, 12].map((octave) => left + (octave / 16) * (right - left)));
    near([y(10 ** -1.7), y(0), y(1e-40), y(1e-5)], [top, bottom, bottom, (top + bottom) / 2]);
    const decade = (bottom - top) / 6.6;
    near([y(1e-4) - y(1e-3), y(1e-8) - y(1e-7)], [decade, decade]);
    const drift = { positions: [1, 16, 65536], naive: [1e-7, 0, 0.01], core: [1e-8, 1e-8, 1e-8] };
    const points = web.driftPath(drift, 'naive', width, height).slice(1).split('L').map((point) => point.split(' ').map(Number));
    drift.positions.forEach((p, i) => near(points[i], [x(p), y(drift.naive[i])], 0.06));
  }
}); // prettier-ignore

test('positions: the drift has a mark at p, and is told at three positions', async () => {
  const { show, find, texts, all } = await put('qkv-drift');
  await show({}, { result: null });
  assert.equal(find('svg.drift, .drift-stage svg'), null);
  for (const position of [0, 300, 65536]) {
    await show({ position });
    const { x, y } = web.driftScale(640, 250);
    near(numbersOf(find('.dot-naive'), 'cx', 'cy'), [x(position), y(2.5e-6)], 0.01);
    near(numbersOf(find('.dot-core'), 'cx', 'cy'), [x(position), y(5.9e-8)], 0.01);
    assert.deepEqual(texts('.drift-now dd'), ['2.5×10⁻⁶', '5.9×10⁻⁸']);
    assert.ok(texts('.at-position')[0].includes(`p = ${position}, k = 5`));
  }
  const said = find('.drift-stage svg').getAttribute('aria-label');
  assert.match(
    said,
    /from p = 16: 4\.8×10⁻⁷ in float32, 6\.0×10⁻⁸ in float64; from p = 4096: 1\.2×10⁻⁴.*; from p = 65536: 0\.0020/,
  );
  assert.deepEqual(all('path.curve').length, 4, 'two curves, and two in the key');
  layOut({ width: 300.6, height: 100 });
  await rest();
  assert.equal(find('.drift-stage svg').getAttribute('viewBox'), '0 0 301 250');
});

test('positions: the map of each scheme, its legend and its words', async () => {
  const { part, show, find, text, texts, asked } = await put('qkv-scheme');
  assert.deepEqual(part.surfaces(), {});
  await show({}, { result: null });
  assert.deepEqual([Object.keys(part.surfaces()), part.matrix.model], [['scheme'], null]);
  for (const scheme of web.SCHEMES) {
    await show({ scheme });
    const { rows, cols, describe, name } = part.matrix.model;
    assert.deepEqual([rows, cols, find('[name=scheme]:checked').value], [SPAN, SPAN, scheme]);
    assert.ok(name.startsWith(web.textOf(`scheme.${scheme}`)));
    const isT5 = scheme === 't5';
    assert.deepEqual(texts('.ticks span'), ['−31.5', '0', '31.5']);
    const value = ((3 * SPAN + 9) % 53) - 20;
    const words = isT5 ? `bucket 22, bias ${web.digits(value)}` : web.digits(value);
    assert.equal(describe({ row: 3, col: 9 }), `i = 3, j = 9, i − j = −6: ${words}`);
    assert.equal(find('.drawn') !== null, ['learned', 't5', 'xl', 'rotary'].includes(scheme));
    assert.match(text('.diagonals'), /1\.2×10⁻⁷$/);
  }
  await show({ scheme: 'alibi' });
  assert.match(
    text('.how'),
    /head 3 of 8, m = 0\.125\. The slopes of all heads: 0\.5, 0\.25, 0\.125, 0\.0625, /,
  );
  await show({ scheme: 'alibi' }, { engine: { kind: 'failed' } });
  assert.deepEqual([part.matrix.model, text('.placeholder')], [null, web.textOf('map.failed')]);
  for (const scheme of ['t5', 'learned']) fire(find(`[value=${scheme}]`), 'change');
  assert.deepEqual(asked, [{ scheme: 't5' }, { scheme: 'learned' }]);
});

test('positions: the table of T5 has a row for each distance, and marks the head and the bucket that are shown', async () => {
  const { show, all, text, texts, find, asked } = await put('qkv-scheme');
  await show({ scheme: 't5' });
  const distances = [...'01234567', '8–11', '12–15', '16–22', '23–31', '32–45', '46–63', '64–90', '91+'];
  assert.deepEqual(texts('tbody th'), distances);
  const row = (at) => [...all('tbody tr')[at].querySelectorAll('td')].map((cell) => cell.textContent);
  assert.deepEqual(row(0), ['0.0', '0.1', '0.2', '0.3', '–', '–', '–', '–']);
  assert.deepEqual(row(9), ['9.0', '9.1', '9.2', '9.3', '25.0', '25.1', '25.2', '25.3']);
  assert.deepEqual(texts('.here'), ['8.0', '8.1', '8.2', '8.3'], 'of i = 30 and j = 20, the cell to begin with');
  assert.equal(all('.of-head').length, 32);
  assert.match(text('.t5-task'), /^Head 2 .* was 2\.0 before training and is 0\.20 now\.$/);
  fire(find('[name=t5Head][value="3"]'), 'change');
  assert.deepEqual(asked, [{ t5Head: 3 }]);
}); // prettier-ignore

test('positions: the parts of the score of Transformer-XL stand below its map', async () => {
  const { show, texts, find, asked } = await put('qkv-scheme');
  await show({ scheme: 'xl' });
  assert.deepEqual(texts('.numbers dd'), ['1.000', '2.000', '4.000', '8.000', '15.00']);
  assert.equal(find('[name=xlTerm]:checked').value, 'position');
  fire(find('[name=xlTerm][value=c]'), 'change');
  assert.deepEqual(asked, [{ xlTerm: 'c' }]);
});

// ---- rotary ----

test('positions: q and k go where they are put, or along with each other, and stop where one must', async () => {
  const { show, find, entered, asked } = await put('qkv-rotary');
  await show({ rotaryQ: 12, rotaryK: 5 });
  assert.deepEqual(entered('#rotaryQ', 40), { rotaryQ: 40 });
  assert.deepEqual(entered('#rotaryK', 41), { rotaryK: 41 });
  find('#hold').checked = true;
  for (const [m, n] of [[12, 5], [5, 12], [0, 4096], [4096, 4090], [7, 7]]) {
    for (const [slider, own, other] of [['#rotaryQ', m, n], ['#rotaryK', n, m]]) {
      for (const to of [0, 3, 20, 4096]) {
        await show({ rotaryQ: m, rotaryK: n });
        const got = entered(slider, to);
        const by = Math.min(4096 - other, Math.max(-other, to - own));
        assert.deepEqual(got, { rotaryQ: m + by, rotaryK: n + by }, `${m} ${n} ${slider} ${to}`);
      }
    }
  } // prettier-ignore
  await show({ rotaryQ: 12, rotaryK: 5 });
  for (const value of ['14', '16']) fire(Object.assign(find('#rotaryQ'), { value }), 'input');
  assert.deepEqual(asked.at(-1), { rotaryQ: 16, rotaryK: 9 }, 'twice before it is shown');
});

test('positions: the score of q and k is told in float32 and float64, with their differences', async () => {
  const { show, texts, find } = await put('qkv-rotary');
  await show({ rotaryQ: 12, rotaryK: 15 });
  assert.deepEqual(texts('[data-rotary]').slice(0, 3), ['0.6543217', '0.6543219', '0.6543218']);
  assert.deepEqual(texts('[data-rotary]').slice(3), ['2.0×10⁻⁷', '6.0×10⁻⁸']);
  assert.match(texts('[data-rotary-name=apart]')[0], /−3 and 0$/);
  assert.equal(find('#rotaryQ').getAttribute('aria-valuetext'), 'm = 12, m − n = −3');
});

test('positions: a guess about the score of q and k is right if it stays, and is about one distance', async () => {
  const { show, find, text, asked } = await put('qkv-rotary');
  const at = (m, n, positionsAsk = false) =>
    show({ rotaryQ: m, rotaryK: n, positionsAsk }, { result: resultOf(web.initialState('en'), { rotary: rotaryOf(m, n, { score: -0.5, apart: -0.25 }) }) });
  const answer = 'At m = 12, n = 5 the score is −0.50000. At 7 and 0 it is −0.25000: only m − n counts.';
  for (const [guess, verdict] of [['stays', 'Right.'], ['grows', 'Not quite.'], ['falls', 'Not quite.'], ['show', null]]) {
    await at(12, 5, true);
    assert.equal(find('.rotary-readings').hidden, true, 'no numbers before the guess');
    find(`[data-guess=${guess}]`).click();
    assert.deepEqual(asked.splice(0), [{ positionsAsk: false }]);
    await at(12, 5);
    assert.equal(text('.guess-answer'), verdict ? `${verdict} ${answer}` : '');
    await at(22, 15);
    assert.equal(text('.guess-answer') === '', verdict === null, 'at the same distance');
    await at(5, 12);
    await at(12, 5);
    assert.equal(text('.guess-answer'), '', 'another distance was a guess of nobody');
  }
  find('.guess-again').click();
  assert.deepEqual(asked, [{ positionsAsk: true }]);
  await at(12, 5, true);
  assert.ok(document.activeElement === find('[data-guess=grows]'), 'the focus is on the first answer');
}); // prettier-ignore
