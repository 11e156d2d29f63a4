// What is drawn around a matrix and in which colours, in Node: labels call by call on a canvas that measures seven pixels a
// letter, rules of layouts over sizes, and colours on a canvas that is as strict as a browser's.
import assert from 'node:assert/strict';
import { beforeEach, describe, test } from 'node:test';
import { openWindow } from '../support/window.js';

openWindow();
const THEME = {
  ...{ '--ink': '#010203', '--ink-soft': '#040506', '--p-mark': '#070809' },
  ...{ '--surface': '#f0e1d2', '--hatch': '#a1b2c3', '--neutral': '#808182' },
  ...{ '--negative-1': '#4080c0', '--negative-2': '#001020' },
  ...{ '--positive-1': '#ff8000', '--positive-2': '#301000' },
};
let theme = THEME;
globalThis.getComputedStyle = (element) => ({
  getPropertyValue: (name) => (element === document.documentElement ? ` ${theme[name]} ` : ''),
  fontFamily: element === document.body ? 'Paper' : 'Other',
});

const calls = [];
/** A canvas' context that draws nothing but the one pixel that somebody reads, and measures bold letters wider. */
class Context {
  filled = [];
  constructor(canvas, settings) {
    Object.assign(this, { canvas, settings });
  }
  measureText(text) {
    calls.push(`measure ${text}`);
    return { width: (this.font.startsWith('700') ? 8 : 7) * Array.from(text).length };
  }
  fillRect(...box) {
    this.filled.push([box, this.fillStyle]);
  }
  getImageData(x, y, width, height) {
    if (width === 0 || height === 0) throw new DOMException('no pixels', 'IndexSizeError');
    const { canvas, filled } = this;
    const data = new Uint8ClampedArray(4 * width * height);
    for (const [[left, top, wide, high], colour] of filled) {
      const covers = (at, from, size, all) => at >= from && at < from + size && at < all;
      if (!covers(x, left, wide, canvas.width) || !covers(y, top, high, canvas.height)) continue;
      data.set(Buffer.from(`${colour.slice(1)}ff`, 'hex'));
    }
    reads.push([
      canvas.width,
      canvas.height,
      this.settings,
      data.length,
      filled.map(([box]) => box),
    ]);
    return { data };
  }
}
for (const name of ['font', 'fillStyle', 'strokeStyle', 'lineWidth', 'textAlign', 'textBaseline']) {
  Object.defineProperty(Context.prototype, name, {
    get() {
      return this[`own ${name}`];
    },
    set(value) {
      this[`own ${name}`] = value;
      calls.push(`${name} = ${value}`);
    },
  });
}
const MOVES = ['setTransform', 'clearRect', 'save', 'restore', 'translate', 'rotate'];
for (const name of [...MOVES, 'beginPath', 'moveTo', 'lineTo', 'stroke', 'fillText']) {
  Context.prototype[name] = (...args) => calls.push(`${name} ${args.map(short).join(' ')}`);
}
const short = (value) => (typeof value === 'number' ? Number(value.toFixed(3)) : value);
/** Each time a pixel was read: the size of the canvas, its settings, how many bytes, and what was filled. */
const reads = [];
HTMLCanvasElement.prototype.getContext = function (kind, settings) {
  assert.equal(kind, '2d');
  return (this.own ??= new Context(this, settings));
};

const { modules } = await import('../support/engine.js');
const web = await modules('ui/matrix/{labels,layout,palette,legend}', 'domain/cividis', 'ui/dom');

beforeEach(() => {
  theme = THEME;
  web.forgetPalette();
  web.palette();
  for (const list of [calls, reads]) list.length = 0;
  globalThis.devicePixelRatio = 1;
});

test('labels: are measured in bold, each once, until there are very many', () => {
  const measured = () => calls.splice(0).filter((call) => call.startsWith('measure')).length;
  for (let i = 0; i <= 4096; i++) web.flatLength(`L${i}`);
  assert.equal(measured(), 4097);
  for (const name of ['L0', 'L7', 'L4096']) web.flatLength(name);
  assert.equal(measured(), 0);
  web.flatLength('one more');
  web.flatLength('one more');
  web.flatLength('L0');
  assert.equal(measured(), 2);
  assert.equal(web.flatLength('four'), 32);
  assert.deepEqual(calls, ['font = 700 13px Paper', 'measure four']);
  assert.equal(web.flatLength(''), 0);
});

test('labels: are as high as they are long when they are turned, and stacked where they are Chinese', () => {
  for (const [label, height] of [
    ['four', 32],
    ['四个汉字', 56],
    ['ひらがな', 56],
    ['한국', 28],
    ['Ａ，', 28],
    ['汉a', 16],
    ['a汉', 16],
    ['', 0],
  ]) {
    assert.equal(web.uprightLength(label), height, label);
  }
});

const LAYOUT = {
  ...{ left: 50, top: 40, width: 120, height: 80, rowRoom: 35, colRoom: 35 },
  ...{ mode: 'flat', rowStep: 1, colStep: 1 },
};
const FOUR = ['a', 'three', 'longer', 'incomprehensible'];
const EIGHT = Array.from({ length: 8 }, (_, i) => `${i}`);

/** What is drawn of these labels: [text, x, y, bold, turned] of each, from the corner of the canvas. */
function labelsOf(more, rowLabels, colLabels = rowLabels, { active = null, bracket = null } = {}) {
  calls.length = 0;
  const canvas = document.createElement('canvas');
  const set = { rowLabels, colLabels, active, bracket };
  web.drawLabels(canvas, { width: 180.4, height: 121.3 }, { ...LAYOUT, ...more }, set);
  let [x, y, turned, bold] = [0, 0, 0, false];
  const drawn = [];
  for (const call of calls) {
    const [name, ...args] = call.split(' ');
    if (name === 'save') [x, y, turned] = [0, 0, 0];
    if (name === 'restore') [x, y, turned] = [0, 0, 0];
    if (name === 'translate') [x, y] = args.map(Number);
    if (name === 'rotate') turned = Number(args[0]);
    if (name === 'font') bold = args[1] === '700';
    if (name !== 'fillText') continue;
    drawn.push([args.slice(0, -2).join(' '), x + Number(args.at(-2)), y + Number(args.at(-1)), bold, turned]);
  }
  return { canvas, drawn, rows: drawn.filter(([, at]) => at === 43), cols: drawn.filter(([, at]) => at !== 43) };
} // prettier-ignore
const texts = (drawn) => drawn.map(([text]) => text);

test('labels: stand beside the middle of their row and above that of their column', () => {
  const { rows, cols } = labelsOf({}, ['a', 'b', 'c', 'd'], ['e', 'f', 'g']);
  assert.deepEqual(rows.map(([text, x, y]) => [text, x, y]), [['a', 43, 50], ['b', 43, 70], ['c', 43, 90], ['d', 43, 110]]);
  assert.deepEqual(cols.map(([text, x, y]) => [text, x, y]), [['e', 70, 33], ['f', 110, 33], ['g', 150, 33]]);
  for (const [mode, angle] of [['flat', 0], ['slanted', -Math.PI / 4], ['upright', -Math.PI / 2]]) {
    for (const [, , , , turned] of labelsOf({ mode }, FOUR).cols) {
      assert.ok(Math.abs(turned - angle) < 1e-3, mode);
    }
  }
}); // prettier-ignore

test('labels: every step-th is written, the active one in bold and in the place of its neighbours', () => {
  for (const [step, row, rows] of [
    [1, null, EIGHT],
    [2, null, ['0', '2', '4', '6']],
    [4, null, ['0', '4']],
    [1, 3, EIGHT],
    [2, 3, ['0', '6', '3']],
    [2, 4, ['0', '2', '6', '4']],
    [4, 6, ['0', '6']],
    [4, 7, ['0', '7']],
  ]) {
    const active = row === null ? null : { row, col: row };
    const drawn = labelsOf({ rowStep: step, colStep: step }, EIGHT, EIGHT, { active });
    for (const axis of [drawn.rows, drawn.cols]) {
      assert.deepEqual(texts(axis).sort(), [...rows].sort(), `step ${step}, active ${row}`);
      const bold = axis.filter(([, , , isBold]) => isBold);
      assert.deepEqual(texts(bold), row === null ? [] : [`${row}`]);
    }
  }
});

test('labels: what has no room is cut short, and Chinese stacked as far as it fits', () => {
  // Seven pixels a letter, fourteen a line.
  for (const [room, four, five] of [
    [34.5, 'abcd', 'abcde'],
    [34.4, 'abcd', 'abc…'],
    [27.5, 'abcd', 'ab…'],
    [27.4, 'ab…', 'ab…'],
    [20.9, 'a…', 'a…'],
    [0, 'a…', 'a…'],
  ]) {
    assert.deepEqual(texts(labelsOf({ rowRoom: room }, ['abcd', 'abcde'], []).rows), [four, five], `${room}`);
    const { cols } = labelsOf({ colRoom: room, mode: 'upright' }, [], ['abcd']);
    assert.deepEqual(texts(cols), [four]);
  }
  for (const [room, stacked] of [[56, '四个汉字'], [55.5, '四个汉字'], [55, '四个⋮'], [27.5, '四⋮'], [27, '⋮'], [0, '⋮']]) {
    const { cols } = labelsOf({ colRoom: room, mode: 'upright' }, [], ['四个汉字']);
    assert.equal(texts(cols).join(''), stacked, `${room}`);
    assert.deepEqual(cols.map(([, , y]) => y), cols.map((_, i) => 33 + 14 * (i - cols.length + 1)));
  }
}); // prettier-ignore

test('labels: a bracket holds its rows, and the canvas has the pixels of the screen', () => {
  labelsOf({}, EIGHT, EIGHT, { bracket: [2, 5] });
  // Rows of ten pixels from 40 on.
  const path = calls.filter((call) => /^(moveTo|lineTo)/.test(call));
  assert.deepEqual(path, ['moveTo 8 61', 'lineTo 3 61', 'lineTo 3 89', 'lineTo 8 89']);
  for (const [ratio, width, height] of [[1, 180, 121], [1.25, 226, 152], [2, 361, 243]]) {
    globalThis.devicePixelRatio = ratio;
    const { canvas } = labelsOf({}, FOUR);
    assert.deepEqual([canvas.width, canvas.height], [width, height]);
    assert.equal(canvas.style.width, `${width / ratio}px`);
  } // prettier-ignore
});

describe('layout', () => {
  /** Layouts over widths, counts and lengths of labels. */
  const layouts = (rowHeight) =>
    [60, 200, 479, 480, 640, 1200].flatMap((width) =>
      [1, 5, 9, 13, 20, 40, 300].flatMap((count) =>
        [7, 21, 62, 128, 200].map((length) => {
          const size = { width, maxHeight: 500, rows: count, cols: count, rowHeight };
          const labels = { rowLabels: [length], colLabels: [length], colUpright: [length] };
          return {
            input: { ...size, ...labels },
            placed: web.layoutMatrix({ ...size, ...labels }),
          };
        }),
      ),
    );

  test('of square cells: the plot fits, and its labels are flat, slanted or upright as there is room', () => {
    for (const { input, placed } of layouts('square')) {
      const { width, rows, cols, colLabels: [length] } = input;
      const { left, top, mode, rowRoom, colRoom, rowStep, colStep } = placed;
      const what = JSON.stringify([input, placed]);
      const cell = placed.width / cols;
      assert.equal(placed.width, placed.height, what);
      assert.ok(cell <= 72 || placed.width === 40, what);
      assert.ok(placed.width === 40 || (left + placed.width <= width && top + placed.height <= 500), what);
      const most = width < 480 ? 76 : 128;
      assert.equal(rowRoom, Math.min(most, length), what);
      assert.equal(left, rowRoom + 10);
      assert.equal(rowStep, Math.ceil(15 / (placed.height / rows)), 'as many as have a line of 15 pixels');
      if (mode === 'flat') assert.ok(length + 8 <= cell && colStep === 1, what);
      if (mode === 'slanted') assert.ok(width >= 480 && cell >= 26 && length + 8 > cell, what);
      if (mode === 'upright') assert.equal(colStep, rowStep, what);
      if (mode !== 'flat') assert.equal(colRoom, Math.min(most, length), what);
    }
    const modes = new Set(layouts('square').map(({ placed }) => placed.mode));
    assert.deepEqual([...modes].sort(), ['flat', 'slanted', 'upright']);
  }); // prettier-ignore

  test('of rows of a height: the plot is as wide as there is room, and its steps are powers of two', () => {
    for (const { input, placed } of layouts(14)) {
      const {
        width,
        rows,
        cols,
        colLabels: [length],
      } = input;
      const { left, mode, height, rowStep, colStep } = placed;
      const what = JSON.stringify([input, placed]);
      assert.deepEqual([mode, left, height], ['flat', length + 22, Math.min(500, 14 * rows)], what);
      assert.equal(placed.width, Math.max(40, width - left - 4), what);
      for (const [step, least, cell] of [
        [rowStep, 15, height / rows],
        [colStep, length + 8, placed.width / cols],
      ]) {
        assert.equal(Math.log2(step) % 1, 0, what);
        assert.ok(step * cell >= least && (step === 1 || (step / 2) * cell < least), what);
      }
    }
  });
});

describe('palette', () => {
  const bytesOf = (pixel) => [...new Uint8Array(Uint32Array.of(pixel).buffer)];
  const bytes = (hex) => [...Buffer.from(hex.slice(1), 'hex')];

  test('has the colours of the theme, and pixels of them in the order of the machine', () => {
    const { ink, inkSoft, bracket, font, paint } = web.palette();
    const { '--ink': one, '--ink-soft': two, '--p-mark': three } = THEME;
    assert.deepEqual([ink, inkSoft, bracket, font], [one, two, three, 'Paper']);
    assert.deepEqual(bytesOf(paint.background), [...bytes(THEME['--surface']), 255]);
    assert.deepEqual(bytesOf(paint.hatch), [...bytes(THEME['--hatch']), 255]);
    assert.deepEqual(bytesOf(paint.notANumber), [255, 0, 255, 255]);
  });

  test('of signed values goes from the neutral colour to both ends in 127 steps', () => {
    const { diverging, paint } = web.palette();
    assert.equal(diverging.length, 1024);
    const at = (index) => [...diverging.subarray(4 * index, 4 * index + 4)];
    const end = (name) => [...bytes(THEME[name]), 255];
    assert.deepEqual(at(128), end('--neutral'));
    assert.deepEqual([at(1), at(255)], [end('--negative-2'), end('--positive-2')]);
    assert.deepEqual(at(0), at(1));
    for (const [sign, side] of [
      [-1, 'negative'],
      [1, 'positive'],
    ]) {
      const stops = ['--neutral', `--${side}-1`, `--${side}-2`].map((name) => bytes(THEME[name]));
      const whole = web.ramp(stops);
      for (let step = 1; step <= 127; step++) {
        const from = 4 * Math.round((step * 255) / 127);
        assert.deepEqual(at(128 + sign * step), [...whole.subarray(from, from + 4)], `${step}`);
      }
    }
    assert.deepEqual([...new Uint8Array(paint.diverging.buffer)], [...diverging]);
  });

  test('is in the legend, a pixel for each colour', () => {
    const root = document.createElement('div');
    root.innerHTML = '<canvas></canvas><div class="legend"><canvas></canvas></div>';
    const put = [];
    root.querySelector('.legend canvas').getContext('2d').putImageData = (...args) =>
      put.push(args);
    web.paintRamp(root, web.cividis);
    const [[image, x, y], ...more] = put;
    assert.deepEqual([image.width, image.height, x, y, more], [256, 1, 0, 0, []]);
    assert.deepEqual([...image.data], [...web.cividis]);
    assert.throws(() => web.paintRamp(document.createElement('div'), web.cividis), /legend canvas/);
  });
});
