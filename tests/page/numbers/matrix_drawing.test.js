// @about web/src/ui/matrix/
// What is drawn around a matrix and in which colours, in Node: labels call by call on a canvas that measures seven pixels a
// letter, layouts over sizes, and colours on a canvas that is as strict as a browser's.
import assert from 'node:assert/strict';
import { beforeEach, describe, test } from 'node:test';
import { requireWritten } from '../support/operate.js';
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
const web = await modules(
  ...['ui/matrix/labels', 'ui/matrix/layout', 'ui/matrix/palette', 'ui/matrix/legend'],
  ...['domain/cividis', 'ui/dom'],
);

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
const CHINESE = ['我', '三个字', '四个汉字', '五个字以上的字'];
const set = (rowLabels, colLabels = rowLabels, more = {}) => ({
  ...{ rowLabels, colLabels, active: null, bracket: null },
  ...more,
});
const EIGHT = Array.from({ length: 8 }, (_, i) => `${i}`);

test('labels: what is drawn, call by call', () => {
  const lines = [];
  const draw = (title, more, labels, ratio = 1) => {
    globalThis.devicePixelRatio = ratio;
    calls.length = 0;
    const canvas = document.createElement('canvas');
    let sized = 0;
    for (const side of ['width', 'height']) {
      const own = Object.getOwnPropertyDescriptor(HTMLCanvasElement.prototype, side);
      Object.defineProperty(canvas, side, {
        get: () => own.get.call(canvas),
        set(value) {
          ++sized;
          own.set.call(canvas, value);
        },
      });
    }
    const drawn = () =>
      web.drawLabels(canvas, { width: 180.4, height: 121.3 }, { ...LAYOUT, ...more }, labels);
    drawn();
    const { width, height, style } = canvas;
    lines.push('', `== ${title}`, `${width} x ${height}, ${style.width} x ${style.height}`);
    lines.push(...calls);
    assert.equal(sized, 2);
    drawn();
    assert.equal(sized, 2, 'setting a size empties a canvas');
  };
  for (const mode of ['flat', 'slanted', 'upright']) {
    draw(mode, { mode }, set(FOUR));
    draw(`${mode}, Chinese`, { mode }, set(CHINESE));
  }
  const active = { row: 1, col: 2 };
  draw('two sorts', { mode: 'upright' }, set(FOUR, CHINESE, { active }));
  for (const step of [1, 2, 4]) {
    const steps = { rowStep: step, colStep: step };
    draw(`every ${step}`, steps, set(EIGHT));
    for (const [row, col] of [
      [0, 7],
      [3, 4],
      [6, 1],
    ]) {
      draw(`every ${step}, ${row} and ${col}`, steps, set(EIGHT, EIGHT, { active: { row, col } }));
    }
  }
  draw('a bracket', {}, set(EIGHT, EIGHT, { bracket: [2, 5] }));
  draw('a bracket at the edge', {}, set(FOUR, EIGHT, { bracket: [0, 4] }));
  for (const ratio of [1.25, 2]) draw(`at ${ratio}`, {}, set(FOUR), ratio);
  // Seven pixels a letter: what just fits, what just does not, and what hardly has room.
  for (const room of [0, 7, 13.9, 14, 20.9, 27.4, 27.499, 27.5, 28, 34.4, 34.5]) {
    const rooms = { rowRoom: room, colRoom: room, mode: 'upright' };
    draw(`room of ${room}`, rooms, set(['abcd', 'abcde', '', 'x'], ['四个汉字', '我', 'abcde']));
  }
  for (const room of [13.4, 13.499, 13.5, 27, 41, 55, 56]) {
    draw(`height of ${room}`, { colRoom: room, mode: 'upright' }, set(['a'], ['四个汉字']));
  }
  requireWritten('matrix-labels', lines);
});

test('layout: where a matrix stands, over widths, counts and lengths of labels', () => {
  const lines = [];
  const lay = (input) => {
    const { rowLabels, colLabels, colUpright, ...rest } = input;
    lines.push(`${JSON.stringify([rest, rowLabels, colLabels, colUpright])}`);
    const placed = Object.values(web.layoutMatrix(input)).map(short);
    lines.push(`  ${placed.join(' ')}`);
  };
  for (const rowHeight of ['square', 14, 22.4]) {
    for (const width of [0, 60, 200, 479, 480, 481, 640, 1200]) {
      for (const [rows, cols] of [
        [1, 1],
        [9, 9],
        [40, 40],
        [300, 256],
      ]) {
        const size = { width, maxHeight: 500, rows, cols, rowHeight };
        lay({ ...size, rowLabels: [9.2, 30], colLabels: [20.5, 7], colUpright: [14, 28] });
        lay({ ...size, rowLabels: [200], colLabels: [150.5], colUpright: [142] });
      }
    }
  }
  const near = { width: 640, maxHeight: 400, rows: 10, rowHeight: 'square' };
  for (let cols = 8; cols <= 24; cols++) {
    lay({ ...near, cols, rowLabels: [40], colLabels: [29], colUpright: [50.5] });
  }
  for (const flat of [60, 61, 61.5, 62, 63, 64, 75, 76, 77, 127, 128, 129]) {
    for (const width of [400, 700]) {
      lay({ ...near, width, cols: 5, rowLabels: [flat], colLabels: [flat], colUpright: [flat] });
    }
  }
  for (const flat of [20, 21, 22]) {
    lay({ ...near, cols: 13, rowLabels: [40], colLabels: [flat], colUpright: [flat] });
  }
  lay({ ...near, width: 301.5, cols: 9, rowLabels: [40], colLabels: [5], colUpright: [5] });
  lay({ ...near, cols: 3, rows: 3, rowLabels: [], colLabels: [], colUpright: [] });
  lay({ ...near, cols: 3, rows: 3, rowLabels: [-1], colLabels: [-1], colUpright: [-1] });
  for (const height of [0, 30, 63, 64, 100]) {
    lay({
      ...{ width: 500, maxHeight: height, rows: 4, cols: 4, rowHeight: 'square' },
      ...{ rowLabels: [9], colLabels: [9], colUpright: [9] },
    });
  }
  requireWritten('matrix-layout', lines);
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

  test('reads each colour of one pixel, which it says it reads back', () => {
    web.forgetPalette();
    web.palette();
    assert.equal(reads.length, 8);
    for (const read of reads)
      assert.deepEqual(read, [1, 1, { willReadFrequently: true }, 4, [[0, 0, 1, 1]]]);
  });

  test('is read once for a theme', () => {
    const first = web.palette();
    assert.equal(web.palette(), first);
    theme = { ...THEME, '--ink': '#ffffff' };
    assert.equal(web.palette(), first);
    web.forgetPalette();
    assert.equal(web.palette().ink, '#ffffff');
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

describe('elements', () => {
  test('that are not there, or of another kind, are a mistake of ours', () => {
    const root = document.createElement('div');
    root.innerHTML = '<p class="a"></p>';
    assert.equal(web.find(root, '.a', HTMLElement), root.firstChild);
    assert.throws(() => web.find(root, '.b', HTMLElement), /nothing here is a HTMLElement \.b/);
    assert.throws(() => web.find(root, '.a', HTMLCanvasElement), /a HTMLCanvasElement \.a/);
    const { getContext } = HTMLCanvasElement.prototype;
    HTMLCanvasElement.prototype.getContext = () => null;
    const canvas = document.createElement('canvas');
    assert.throws(() => web.context2d(canvas), /this browser has no 2-D canvas/);
    HTMLCanvasElement.prototype.getContext = getContext;
  });

  test('of drawings have their namespace and their attributes', () => {
    const made = web.svgElement('rect', { x: 1.5, class: 'bar' });
    assert.equal(made.namespaceURI, 'http://www.w3.org/2000/svg');
    assert.equal(made.localName, 'rect');
    assert.deepEqual(
      Array.from(made.attributes, ({ name, value }) => `${name}=${value}`),
      ['x=1.5', 'class=bar'],
    );
  });
});
