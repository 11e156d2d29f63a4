// @about web/src/features/row/
// The panel that follows one row, in Node, from steps that the test makes: what it shows in states that a page is seldom in,
// what each control asks for, what a drag does, and what it keeps of what is typed.
import assert from 'node:assert/strict';
import { afterEach, describe, test } from 'node:test';
import { notesOf } from '../support/notes.js';
import { fire, requireWritten } from '../support/operate.js';
import { openWindow } from '../support/window.js';

const { rest, leave } = openWindow();
const { modules } = await import('../support/engine.js');
const web = await modules(
  ...[
    'panel',
    'page/drag_numbers',
    'page/number_cells',
    'page/figure',
    'worker/trained_row',
    'page/trained_row_part',
    'state',
  ].map((name) => `features/row/${name}`),
  ...['state/state', 'domain/number_sets'],
);

const initial = { ...web.initialState('en'), text: '' };
afterEach(() => {
  leave();
  web.setLanguage('en');
});

const numbersOf = (count) => ({
  q: Array.from({ length: 2 * count }, (_, i) => i / 4 - 0.5),
  k: Array.from({ length: 2 * count }, (_, i) => 1 - i / 2),
  v: Array.from({ length: 2 * count }, (_, i) => (i % 3) / 8),
});

/** What is computed for a state, in float32; some of it is replaced by `more`. */
function stepsOf(state, more = {}) {
  const { numbers, rowQuery, rowMasked, rowScale, rowMax } = state;
  const count = numbers.k.length / 2;
  const at = 2 * Math.min(rowQuery, count - 1);
  const scale = rowScale ?? Math.SQRT1_2;
  const of = (make) => Float32Array.from({ length: count }, (_, j) => make(j));
  const products = of(
    (j) => numbers.q[at] * numbers.k[2 * j] + numbers.q[at + 1] * numbers.k[2 * j + 1],
  );
  const scaled = products.map((p) => p * scale);
  const masked = scaled.map((s, j) => ((rowMasked >> j) & 1 ? -Infinity : s));
  const max = Math.max(...masked);
  const exps = masked.map((s) => Math.exp(s - (rowMax ? max : 0)));
  const sum = exps.reduce((a, b) => a + b, 0);
  const naive = exps.map((e) => e / sum);
  const weights = naive.map((p) => (Number.isFinite(p) ? p : 0));
  const outputOf = (p) =>
    Float32Array.from([0, 1], (d) => p.reduce((o, w, j) => o + w * numbers.v[2 * j + d], 0));
  return {
    request: web.rowRequest(state),
    ...{ scale, products, scaled, masked, lse: Math.log(sum) + max, max, exps, sum, naive },
    ...{ naiveOutput: outputOf(naive), weights, output: outputOf(weights), error: 3.14159e-8 },
    learned: null,
    ...more,
  };
}

const learnedOf = (more) => ({
  ...{ head: 5, query: 2, width: 3, scale: 0.5, temperature: 0.5, allowed: 3, keys: [0, 2] },
  terms: [Float32Array.of(1, -0.5, 0), Float32Array.of(-0.25, 2, 0.3333)],
  ...{ products: Float32Array.of(0.5, 2.0833), scaled: Float32Array.of(-0.313, 1.04165) },
  ...{ tempered: Float32Array.of(-0.626, 2.0833), exps: Float32Array.of(0.23293, 1) },
  ...{ weights: Float32Array.of(0.16, 0.7), core: Float32Array.of(0.16, 0.75) },
  ...{ max: 2.0833, sum: 1.43219, error: 3.14e-8 },
  ...more,
});

/** Numbers with many digits, to four of them. */
const rounded = (text) =>
  text.replace(/-?\d+\.\d{5,}(e-?\d+)?/g, (number) =>
    String(Number(Number(number).toPrecision(4))),
  );

/** The panel in a state that its own requests change, and its notes. */
function put(first = {}) {
  const panel = document.createElement('qkv-panel-row');
  let state = { ...initial, ...first };
  document.body.append(panel);
  document.addEventListener('state-change', ({ detail }) => (state = { ...state, ...detail }));
  const { lines, note } = notesOf(panel);
  let look = 1;
  const view = (more) => ({
    ...{ state, look, list: { tokens: ['a', 'b', 'c'] }, frame: { row: stepsOf(state) } },
    heads: { source: state.source, trainedHeads: { layers: 2, perLayer: 4 } },
    ...more,
  });
  const show = (title, patch = {}, more = {}) =>
    note(title, () => {
      state = { ...state, ...patch };
      panel.update(view({ look: ++look, ...more }));
    });
  const find = (selector) => panel.querySelector(selector);
  return { panel, lines, note, show, view, find, state: () => state };
}

test('row: what it shows in each state', () => {
  const { panel, lines, note, show, view } = put();
  show('before a frame', {}, { frame: null });
  show('the worked example');
  const same = view({});
  note('once more', () => panel.update(same));
  note('and again', () => panel.update(same));
  show('the second query', { rowQuery: 1 });
  show('a query beyond the last', { rowQuery: 5 });
  show('one key', { numbers: numbersOf(1) });
  show('six keys', { numbers: numbersOf(6), rowMasked: 0b100101 });
  show('all left out', { rowMasked: 0b111111 });
  show('a scale', { rowMasked: 2, rowScale: -0.75, rowQuery: 0 });
  show('without the maximum', { rowMax: false });
  const overflown = stepsOf(view({}).state, {
    ...{ exps: Float32Array.of(Infinity, NaN, 0, 1, 2, -3), sum: Infinity, max: -Infinity },
    ...{ naive: Float32Array.of(NaN, 0, 0, 0, 0, 0), naiveOutput: Float32Array.of(1, NaN) },
  });
  show('overflown', {}, { frame: { row: overflown } });
  show('with it again', { rowMax: true }, { frame: { row: { ...overflown, error: 0.25 } } });
  web.setLanguage('zh');
  show('in Chinese', { language: 'zh', rowMax: false, rowScale: null });
  web.setLanguage('en');
  show('a trained head', { language: 'en', source: 'trained', rowMax: true });
  const learned = (more) => ({
    frame: { row: stepsOf(view({}).state, { learned: learnedOf(more) }) },
  });
  show('its row', {}, learned());
  show('at a temperature of 1', {}, learned({ temperature: 1, query: 1, head: 2 }));
  show('without products', {}, learned({ terms: [new Float32Array(3), new Float32Array(3)] }));
  show('keys beyond the tokens', {}, learned({ keys: [1, 7], query: 9 }));
  show('of our own heads', { source: 'random' }, learned());
  requireWritten('row-states', lines);
});

test('row: what each control asks for', () => {
  location.hash = '';
  const { lines, note, show, find } = put({ rowQuery: 1 });
  const press = (selector) => note(`press ${selector}`, () => find(selector).click());
  const enter = (selector, value) =>
    note(`${selector} becomes ${JSON.stringify(value)}`, () => {
      const box = find(selector);
      box.value = value;
      fire(box, 'change');
      return box.value;
    });
  press('.fewer');
  assert.equal(location.hash, '');
  press('.to-map');
  assert.equal(location.hash, '#map');
  show('a state');
  for (const selector of ['.more-keys', '.fewer', '.break', '.to-map', '.reset']) press(selector);
  show('masked', { rowMasked: 0b101, numbers: numbersOf(3) });
  press('.fewer');
  show('six', { numbers: numbersOf(6), rowMasked: 0b100001 });
  for (const selector of ['.more-keys', '.fewer', '.reset']) press(selector);
  show('one', { numbers: numbersOf(1), rowMasked: 1 });
  for (const selector of ['.fewer', '.more-keys']) press(selector);
  show('four', { numbers: numbersOf(4), rowMasked: 0b10, rowQuery: 2 });
  for (const key of [0, 1, 3]) press(`[data-key="${key}"]`);
  press('#row-max');
  press('#row-max');
  note('a query', () => {
    const radio = find('[name=row-query][value="3"]');
    radio.checked = true;
    fire(radio, 'change');
  });
  for (const value of ['0.25', '', '-7', '123456', '-0', '1e9']) enter('#row-scale', value);
  for (const [of, at] of [
    ['q', 4],
    ['q', 5],
    ['k', 6],
    ['v', 1],
  ]) {
    for (const value of ['0.12345678', '', '1e9']) enter(`[data-of=${of}][data-at="${at}"]`, value);
  }
  note('a box of nothing', () => {
    const box = Object.assign(document.createElement('input'), { type: 'number', value: '3' });
    box.dataset.of = 'x';
    find('.row-card').append(box);
    fire(box, 'change');
    box.remove();
  });
  requireWritten('row-controls', lines);
});

test('row: a control asks for nothing while there is no state', () => {
  const { panel, find } = put();
  const asked = [];
  document.addEventListener('state-change', ({ detail }) => asked.push(detail));
  for (const selector of ['.fewer', '.more-keys', '.to-map']) find(selector).click();
  const scale = find('#row-scale');
  scale.value = '3';
  fire(scale, 'change');
  assert.deepEqual(asked, [{ source: 'yours', head: 0, query: 0 }]);
  assert.equal(panel.querySelector('[data-of]'), null);
});

test('row: one key has its boxes, also at first', () => {
  const { panel, show } = put({ numbers: numbersOf(1) });
  show('');
  assert.equal(panel.querySelectorAll('[data-of]').length, 6);
});

test('row: what is typed stays, and what is dragged is shown', async () => {
  const { panel, show, view, find, state } = put({ numbers: numbersOf(3) });
  show('');
  const box = find('[data-of=k][data-at="0"]');
  box.focus();
  box.value = '9';
  show('', { numbers: { ...numbersOf(3), k: [4, 5, 6, 7, 8, 9] } });
  assert.deepEqual([box.value, box.defaultValue], ['9', '4']);
  assert.equal(find('[data-of=k][data-at="1"]').value, '5');
  box.classList.add('scrubbing');
  panel.update(view({ look: 99 }));
  assert.equal(box.value, '4');
  box.blur();
  box.classList.remove('scrubbing');
  box.value = '9';
  panel.update(view({ look: 100 }));
  assert.equal(box.value, '4');
  const at = (clientX) => ({ clientX, button: 0, buttons: 1, pointerId: 3 });
  fire(box, 'pointerdown', PointerEvent, at(100));
  fire(box, 'pointermove', PointerEvent, at(130));
  assert.deepEqual(state().numbers.k, [4.5, 5, 6, 7, 8, 9]);
  fire(box, 'pointerup', PointerEvent, at(130));
  const scale = find('#row-scale');
  fire(scale, 'pointerdown', PointerEvent, at(100));
  fire(scale, 'pointermove', PointerEvent, at(88));
  assert.ok(Math.abs(state().rowScale - (0.7071 - 0.1)) < 1e-6, `${state().rowScale}`);
  await rest();
});

describe('row: a drag', () => {
  function boxOf(value, { step, type = 'number' } = {}) {
    const root = document.createElement('div');
    const box = Object.assign(document.createElement('input'), { type, value });
    if (step !== undefined) box.dataset.step = step;
    const captured = [];
    box.setPointerCapture = (id) => captured.push(id);
    root.append(box);
    document.body.append(root);
    const set = [];
    web.scrubbing(root, (_box, to) => set.push(Number(to.toFixed(6))));
    const say = (name, clientX, more) => {
      const event = new PointerEvent(name, {
        ...{ bubbles: true, cancelable: true, clientX, button: 0, buttons: 1, pointerId: 5 },
        ...more,
      });
      box.dispatchEvent(event);
      return event.defaultPrevented;
    };
    return { box, set, say, captured };
  }

  test('keeps the browser from selecting as soon as it is one, and not before', () => {
    const { box, set, say, captured } = boxOf('2', { step: '0.5' });
    assert.equal(say('pointermove', 150), false);
    assert.equal(say('pointerdown', 100), false);
    assert.equal(say('pointermove', 104), false);
    assert.equal(say('pointermove', 96), false);
    assert.deepEqual([set, captured, box.className], [[], [], '']);
    assert.equal(say('pointermove', 105), true);
    assert.equal(say('pointermove', 95), true);
    assert.equal(say('pointermove', 101), false);
    assert.equal(say('pointermove', 109), true);
    assert.equal(box.className, 'scrubbing');
    assert.deepEqual(
      [set, captured],
      [
        [2.5, 1.5, 3],
        [5, 5, 5],
      ],
    );
    say('pointerup', 109);
    assert.equal(box.className, '');
    assert.equal(say('pointermove', 150), false);
  });

  test('ends when the browser takes the pointer', () => {
    const { box, set, say } = boxOf('2', { step: '0.5' });
    say('pointerdown', 100);
    say('pointermove', 112);
    say('pointercancel', 112);
    assert.equal(box.className, '');
    say('pointermove', 130);
    assert.deepEqual(set, [3]);
    assert.equal(say('pointerup', 0), false);
  });

  test('has a step, a tenth without one, and none of other boxes, buttons or texts', () => {
    const drag = ({ say, set }, more) => {
      say('pointerdown', 100, more);
      say('pointermove', 112);
      say('pointerup', 112);
      return set;
    };
    assert.deepEqual(drag(boxOf('1', { step: '2' })), [5]);
    for (const step of [undefined, '0', '-1', 'x'])
      assert.deepEqual(drag(boxOf('1', { step })), [1.2]);
    assert.deepEqual(drag(boxOf('1'), { button: 1 }), []);
    assert.deepEqual(drag(boxOf('1', { type: 'text' })), []);
    assert.deepEqual(drag(boxOf('')), []);
  });
});

test('row: numbers of its own keep to limits', () => {
  const scales = [1e9, -1e9, 1e4, -1e4, -0, 0, 1.23456, 1e-9, NaN].map(web.clampScale);
  assert.deepEqual(scales.slice(0, 8), [1e4, -1e4, 1e4, -1e4, 0, 0, 1.235, 1e-9]);
  const fields = Object.entries(web.rowFields).map(([name, field]) => {
    const read = ['-1', '0', '1', '5', '6', '63', '64', '10000', '10001', '-10001', 'x', '0.5'];
    return `${name} ${field.key} ${field.initial}: ${read.map((raw) => field.read(raw)).join(' ')}`;
  });
  requireWritten('row-fields', fields);
});

test('row: bars reach over their own numbers, and those of shares over 1', () => {
  const track = (step, ...values) => [...web.trackOf(step, Float32Array.from(values))];
  assert.deepEqual(track('weight', 5), [0, 1]);
  assert.deepEqual(track('core', -5), [0, 1]);
  assert.deepEqual(track('product', 1, 2), [0, 2]);
  assert.deepEqual(track('scaled', -1, -2), [-2, 0]);
  assert.deepEqual(track('exp', NaN, Infinity), [0, 0]);
  assert.equal(web.cell('x'), '<div role="cell" class="cell">x</div>');
  assert.equal(
    web.cell('x', 'exp', 2),
    '<div role="cell" class="cell" data-cell="exp" data-index="2">x</div>',
  );
  assert.equal(web.cell('x', 'exp'), web.cell('x', 'exp', 0));
});

test('row: its drawing and its table', () => {
  const lines = [];
  for (const [title, patch, more] of [
    ['three keys', {}],
    ['the last query', { rowQuery: 9, numbers: numbersOf(4), rowMasked: 5 }],
    ['one key', { numbers: numbersOf(1), rowMax: false }],
    ['nothing finite', { rowMax: false }, { exps: Float32Array.of(NaN, Infinity, -Infinity) }],
  ]) {
    const { name, svg, table, data } = web.rowFigure(stepsOf({ ...initial, ...patch }, more));
    lines.push('', `== ${title}: ${name}, ${svg.width} x ${svg.height}, ${Object.keys(data)}`);
    lines.push(...svg.body.replaceAll('><', '>\n<').split('\n').map(rounded));
    lines.push(...table.map((row) => rounded(row.join(' | '))));
  }
  requireWritten('row-figures', lines);
});

test('row: a figure wants a frame with a row', async () => {
  const { panel, view } = put();
  assert.equal(await panel.figure(view({ frame: null })), null);
  assert.equal(await panel.figure(view({ frame: { row: null } })), null);
  assert.equal((await panel.figure(view({}))).name, 'row');
});
