// The panel that follows one row, in Node, from steps that the test makes: what it shows in states that a page is seldom in,
// what each control asks for, what a drag does, and what it keeps of what is typed.
import assert from 'node:assert/strict';
import { afterEach, test } from 'node:test';
import { fire } from '../support/operate.js';
import { rowSteps } from '../support/row_steps.js';
import { openWindow } from '../support/window.js';

const { rest, leave } = openWindow();
const { modules } = await import('../support/engine.js');
const web = await modules(
  'features/row/{panel,state}',
  'features/row/page/{drag_numbers,number_cells,track,figure,trained_row_part}',
  'state/state',
  'domain/number_sets',
  'ui/numbers',
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

/** What is computed for a state; some of it is replaced by `more`. */
function stepsOf(state, more = {}) {
  const request = web.rowRequest(state);
  return { request, ...rowSteps(request), error: 3.14159e-8, learned: null, ...more };
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

/** The panel in a state that its own requests change. */
function put(first = {}) {
  const panel = document.createElement('qkv-panel-row');
  let state = { ...initial, ...first };
  document.body.append(panel);
  const asked = [];
  document.addEventListener('state-change', ({ detail }) => {
    asked.push(detail);
    state = { ...state, ...detail };
  });
  let look = 1;
  const view = (more) => ({
    ...{ state, look, list: { tokens: ['a', 'b', 'c'] }, frame: { row: stepsOf(state) } },
    heads: { source: state.source, trainedHeads: { layers: 2, perLayer: 4 } },
    ...more,
  });
  const show = (patch = {}, more = {}) => {
    state = { ...state, ...patch };
    panel.update(view({ look: ++look, ...more }));
  };
  const all = (selector) => [...panel.querySelectorAll(selector)];
  return {
    ...{ panel, show, view, asked, all, state: () => state },
    find: (selector) => panel.querySelector(selector),
    texts: (selector) => all(selector).map(({ textContent }) => textContent),
  };
}

const CELLS = [
  ['product', 'products'],
  ['scaled', 'scaled'],
  ['exp', 'exps'],
  ['weight', 'weights'],
  ['core', 'weights'],
];

test('row: each step has its numbers, with bars from zero', () => {
  const { show, state, all, find, texts } = put();
  for (const patch of [
    {},
    { rowQuery: 1 },
    { numbers: numbersOf(1) },
    { numbers: numbersOf(6), rowMasked: 0b100101, rowScale: -0.75 },
    { rowMasked: 0b111111 },
    { rowMasked: 0, rowQuery: 5 },
  ]) {
    show(patch);
    const steps = stepsOf(state());
    for (const [name, of] of CELLS) {
      const values = [...steps[of]];
      assert.deepEqual(texts(`[data-cell=${name}] b`), values.map(web.four), `${name} ${JSON.stringify(patch)}`);
      const [low, high] = web.trackOf(name, steps[of]);
      all(`[data-cell=${name}] i`).forEach(({ style }, j) => {
        const [left, width] = [style.left, style.width].map(parseFloat);
        assert.ok(Math.abs(left - (100 * (Math.min(0, values[j]) - low)) / (high - low || 1)) < 1e-3);
        assert.ok(Math.abs(width - (100 * Math.abs(values[j])) / (high - low || 1)) < 1e-3);
      });
    }
    assert.equal(find('.cell.output').textContent, `(${Array.from(steps.output, web.four).join(', ')})`);
  }
}); // prettier-ignore

test('row: what is chosen and left out is marked, and counted', () => {
  const { show, find, texts, all } = put({ numbers: numbersOf(6), rowMasked: 0b100101 });
  show({ rowQuery: 9 });
  assert.equal(find('[name=row-query]:checked').value, '5', 'a query beyond the last is the last');
  assert.deepEqual(texts('[data-mask]'), ['−∞', '+0', '−∞', '+0', '+0', '−∞']);
  const out = all('[data-cell=weight]').map(({ classList }) => classList.contains('left-out'));
  assert.deepEqual(out, [true, false, true, false, false, true]);
  assert.deepEqual(new Set(texts('[data-live=mask]')), new Set(['3 keys']));
  const buttons = () => [find('.fewer').disabled, find('.more-keys').disabled];
  assert.deepEqual([texts('.key-count'), buttons()], [['6'], [false, true]]);
  show({ numbers: numbersOf(1) });
  assert.deepEqual([texts('.key-count'), buttons()], [['1'], [true, false]]);
});

test('row: without the maximum exp overflows, and what is no number is marked', () => {
  const { panel, show, find, all, texts } = put();
  show();
  const classes = () => ['no-max', 'own-scale'].map((name) => panel.classList.contains(name));
  assert.deepEqual([classes(), find('.row-note').textContent.slice(0, 45)], [[false, false], 'These are the numbers of the worked example. ']);
  show({ rowScale: 400, rowMax: false, numbers: numbersOf(3) });
  assert.deepEqual(classes(), [true, true]);
  assert.match(find('.row-note').textContent, /^These are your numbers\..*by at most 3\.1×10⁻⁸\..*infinity divided by infinity/);
  const marked = (of) => all(of).map(({ classList }) => classList.contains('not-a-number'));
  const { exps, naive } = stepsOf({ ...initial, numbers: numbersOf(3), rowScale: 400, rowMax: false });
  assert.ok(exps.includes(Infinity));
  assert.deepEqual(marked('[data-cell=exp]'), Array.from(exps, (value) => !Number.isFinite(value)));
  assert.deepEqual(texts('[data-cell=weight] b'), Array.from(naive, web.four));
  assert.deepEqual([find('.cell.output').textContent, marked('.cell.output')], ['(NaN, NaN)', [true]]);
}); // prettier-ignore

test('row: the steps of a trained head, with its products as bars', () => {
  const { show, find, texts, all, view } = put({ source: 'trained' });
  const learned = (more) => ({ frame: { row: stepsOf(view({}).state, { learned: learnedOf(more) }) } });
  show({}, learned());
  assert.equal(find('.row-learned h3').textContent, 'The same steps in head 1.1 of the trained model');
  assert.match(find('.row-learned-intro').textContent, /^The query is c at position 2\. It may attend to 3 keys; these 2 have/);
  assert.match(find('.row-learned-note').textContent, /^Here max s\/τ = 2\.083, and the exponentials add up to 1\.432\..*at most 3\.1×10⁻⁸\.$/);
  assert.deepEqual(texts('.row-token'), ['a 0', 'c 2']);
  // The largest product, 2, is 20 high, up where it is positive.
  const bars = all('.row-terms rect').map((bar) => ['class', 'y', 'height'].map((name) => bar.getAttribute(name)).join(' '));
  assert.deepEqual(bars, ['up 10.00 10.00', 'down 20.00 5.00', 'down 20.00 0.00', 'down 20.00 2.50', 'up 0.00 20.00', 'up 16.67 3.33']);
  assert.deepEqual(texts('.row-learned [data-cell=tempered] b'), ['−0.6260', '2.0833']);
  show({}, learned({ temperature: 1 }));
  assert.equal(find('.row-learned [data-step=tempered]'), null, 'a temperature of 1 divides nothing');
  show({ numbers: numbersOf(2) }, learned());
  assert.deepEqual([texts('.key-count'), texts('.row-token').length], [['2'], 2], 'one key less');
  show({ source: 'random' }, learned());
  assert.equal(find('.row-learned'), null);
}); // prettier-ignore

test('row: what each control asks for', () => {
  const whole = { rowScale: null, rowMax: true, rowMasked: 0 };
  const two = { q: [-0.5, -0.25, 0, 0.25], k: [1, 0.5, 0, -0.5], v: [0, 0.125, 0.25, 0] };
  const four = numbersOf(4);
  for (const [first, selector, change] of [
    [{}, '.break', { rowScale: 400, rowMax: false }],
    [{ rowQuery: 1 }, '.to-map', { source: 'yours', head: 0, query: 1 }],
    [{}, '.reset', { ...whole, numbers: web.WORKED_EXAMPLE, rowQuery: 0 }],
    [{ numbers: numbersOf(3), rowMasked: 0b101 }, '.fewer', { numbers: two, rowMasked: 1 }],
    [{ numbers: numbersOf(6) }, '.more-keys', undefined],
    [{ numbers: numbersOf(1) }, '.fewer', undefined],
    [{ rowMasked: 0b10 }, '[data-key="0"]', { rowMasked: 0b11 }],
    [{ rowMasked: 0b10 }, '[data-key="1"]', { rowMasked: 0 }],
    [{}, '#row-max', { rowMax: false }],
    [{}, '[name=row-query][value="2"]', { rowQuery: 2 }],
  ]) {
    const { asked, show, find } = put(first);
    show();
    find(selector).click();
    if (change === undefined || selector.startsWith('.'))
      assert.deepEqual(asked, change ? [change] : []);
    else assert.deepEqual(asked.at(-1), change);
    leave();
  }
  const { asked, show, find } = put({ numbers: four, rowQuery: 2 });
  show();
  const enter = (selector, value) => {
    fire(Object.assign(find(selector), { value }), 'change');
    return asked.splice(0)[0];
  };
  const scales = { 0.25: 0.25, '': null, '-7': -7, 123456: 1e4, '-0': 0, '1e9': 1e4 };
  for (const [value, rowScale] of Object.entries(scales))
    assert.deepEqual(enter('#row-scale', value), { rowScale });
  for (const [of, at] of [
    ['q', 4],
    ['q', 5],
    ['k', 6],
    ['v', 1],
  ]) {
    const box = `[data-of=${of}][data-at="${at}"]`;
    const with_ = (value) => ({ numbers: { ...four, [of]: four[of].with(at, value) } });
    assert.equal(enter(box, ''), undefined);
    assert.equal(find(box).value, `${four[of][at]}`, 'what is no number is taken back');
    for (const [value, kept] of [
      ['0.12345678', 0.1235],
      ['1e9', 1e4],
    ]) {
      assert.deepEqual(enter(box, value), with_(kept));
      show({ numbers: four });
    }
  }
});

test('row: what is typed stays, and what is dragged is shown', async () => {
  const { panel, show, view, find, state } = put({ numbers: numbersOf(3) });
  show();
  const box = find('[data-of=k][data-at="0"]');
  box.focus();
  box.value = '9';
  show({ numbers: { ...numbersOf(3), k: [4, 5, 6, 7, 8, 9] } });
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

test('row: numbers of its own keep to limits', () => {
  const scales = [1e9, -1e9, 1e4, -1e4, -0, 0, 1.23456, 1e-9].map(web.clampScale);
  assert.deepEqual(scales, [1e4, -1e4, 1e4, -1e4, 0, 0, 1.235, 1e-9]);
  const { rowQuery, rowMasked, rowScale, rowMax } = web.rowFields;
  assert.deepEqual([rowQuery, rowMasked, rowScale, rowMax].map(({ key }) => key), ['rq', 'rm', 'rs', 'rmax']);
  const read = (field, ...raw) => raw.map((one) => field.read(one));
  assert.deepEqual(read(rowQuery, '-1', '0', '5', '6', 'x'), [0, 0, 5, 5, undefined]);
  assert.deepEqual(read(rowMasked, '63', '64'), [63, 63]);
  assert.deepEqual(read(rowScale, '0.5', '10001', '-10001', 'x'), [0.5, 1e4, -1e4, undefined]);
  assert.deepEqual(read(rowMax, '0', '1'), [false, true]);
}); // prettier-ignore

test('row: bars reach over their own numbers, and those of shares over 1', () => {
  const track = (step, ...values) => [...web.trackOf(step, Float32Array.from(values))];
  assert.deepEqual(track('weight', 5), [0, 1]);
  assert.deepEqual(track('core', -5), [0, 1]);
  assert.deepEqual(track('product', 1, 2), [0, 2]);
  assert.deepEqual(track('scaled', -1, -2), [-2, 0]);
  assert.deepEqual(track('exp', NaN, Infinity), [0, 0]);
});

test('row: its file has every step in a table, and bars as long as their numbers', () => {
  const rowOf = (patch, more) => {
    const steps = stepsOf({ ...initial, ...patch }, more);
    return { steps, ...web.rowFigure(steps) };
  };
  const { steps, svg, table } = rowOf({ rowQuery: 9, numbers: numbersOf(4), rowMasked: 5 });
  const { products, scaled, masked, exps, weights, output } = steps;
  assert.deepEqual(table, [
    ['step', 'key 1', 'key 2', 'key 3', 'key 4'],
    ['k', '1 0.5', '0 -0.5', '-1 -1.5', '-2 -2.5'],
    ...[
      ['q·k', products],
      ['× scale', scaled],
      ['+ mask', masked],
      ['exp', exps],
      ['weight', weights],
    ].map(([name, values]) => [name, ...values]),
    ['v', '0 0.125', '0.25 0', '0.125 0.25', '0 0.125'],
    ['output', ...output],
  ]);
  assert.ok(svg.body.includes('q = (1, 1.25)'), 'the last query');
  const widths = [...svg.body.matchAll(/ width="([\d.]+)" height="8" fill="(#\w+)"/g)];
  const most = Math.max(...products.map(Math.abs));
  products.forEach((value, j) => {
    assert.ok(Math.abs(widths[j][1] - (86 * Math.abs(value)) / most) < 1e-3);
    assert.equal(widths[j][2], value < 0 ? '#d55e00' : '#0072b2');
  });
  const broken = rowOf({ rowMax: false }, { exps: Float32Array.of(NaN, Infinity, -Infinity) });
  assert.equal(broken.svg.body.split('#ff00ff').length - 1, 3, 'what is no number is magenta');
});
