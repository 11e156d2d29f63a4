// @about web/src/ui/matrix/
// The matrix view, in Node, with a window that the test lays out: what stands on the page after each thing that a pointer, a
// key or another model does to it, what it says of that and to whom, and what it does not draw again.
import assert from 'node:assert/strict';
import { afterEach, describe, test } from 'node:test';
import { notesOf } from '../support/notes.js';
import { linesOf, requireWritten } from '../support/operate.js';
import { openWindow, SIZE } from '../support/window.js';

const { rest, delays, layOut, leave } = openWindow();
const { modules } = await import('../support/engine.js');
const { brushing, cellEdges, MatrixView } = await modules(
  ...['ui/matrix/view', 'ui/matrix/brush', 'domain/cell_edges'],
);

afterEach(() => {
  leave();
  globalThis.devicePixelRatio = 1;
  globalThis.innerHeight = 900;
});

const words = (count, of = 'w') => Array.from({ length: count }, (_, i) => `${of}${i}`);
const modelOf = (rows, cols, more = {}) => ({
  ...{ rows, cols, rowLabels: words(rows, 'row'), colLabels: words(cols, 'c') },
  ...{ rowHeight: 'square', name: `${rows} by ${cols}`, look: 1, home: { row: 0, col: 0 } },
  ...{
    bracket: null,
    describe: ({ row, col, pinned }) => `${row},${col}${pinned ? ' pinned' : ''}`,
  },
  ...more,
});

/** A view on the page whose cells begin at 100, 50 and fill 200 x 100 pixels, and what is written down of it. */
function put() {
  const view = document.createElement('qkv-matrix');
  document.body.append(view);
  view.canvas.getBoundingClientRect = () => ({ left: 100, top: 50, width: 200, height: 100 });
  const { lines, note } = notesOf(view, () => {
    const { shown, pinned, size, model } = view;
    return { shown, pinned, size, model: model?.name ?? null };
  });
  const plot = view.querySelector('.matrix-plot');
  /** An event at a place of the cells, in cells of 20 x 10 pixels; whether it is kept from what browsers do with it. */
  const say = (type, Kind, more) => {
    const event = new Kind(type, { bubbles: true, cancelable: true, ...more });
    plot.dispatchEvent(event);
    return event.defaultPrevented;
  };
  const at = (x, y) => ({ clientX: 100 + 20 * x, clientY: 50 + 10 * y });
  const move = (x, y, pointerType = 'mouse') =>
    say('pointermove', PointerEvent, { ...at(x, y), pointerType });
  const click = (x, y) => say('click', MouseEvent, at(x, y));
  const key = (name, more) => say('keydown', KeyboardEvent, { key: name, ...more });
  const become = (model) => {
    view.model = model;
  };
  return { view, plot, lines, note, become, move, click, key, say, at };
}

test('matrix view: a place that is none has a middle all the same', async () => {
  const { view, become } = put();
  assert.equal(view.querySelector('[role=gridcell]').id, 'matrix-cell-1', 'the first on the page');
  layOut({ width: 333, height: 9 });
  become(modelOf(9, 9));
  await rest();
  const { width } = view.size;
  assert.equal(width % 2, 1);
  assert.deepEqual(view.cellCentre({ row: 9, col: 9 }), { x: width >> 1, y: width >> 1 });
  assert.deepEqual(view.cellCentre({ row: 99, col: -1 }), { x: 0, y: 0 });
  become(null);
  assert.deepEqual(view.cellCentre({ row: 0, col: 0 }), { x: width >> 1, y: width >> 1 });
});

test('matrix view: what stands there at first, and at other sizes', async () => {
  const { view, lines, note, become } = put();
  note('without a model');
  note('a place without a model', () => [
    view.cellCentre({ row: 0, col: 0 }),
    view.cellCentre({ row: 3, col: 2 }),
    view.cellAt({ clientX: 110, clientY: 55 }),
  ]);
  note('a model before there is a width', () => become(modelOf(4, 5)));
  await rest();
  note('with a width');
  lines.push('', ...linesOf(view));
  for (const [title, act] of [
    ['a width that rounds to the same', () => layOut({ width: 640.4, height: 9 })],
    ['a width that rounds to another', () => layOut({ width: 640.6, height: 9 })],
    ['a phone', () => layOut({ width: 320, height: 9 })],
    ['no width', () => layOut({ width: 0, height: 0 })],
    ['a laptop', () => layOut(SIZE)],
  ]) {
    act();
    await rest();
    note(title);
  }
  for (const ratio of [1, 1.5, 2]) {
    globalThis.devicePixelRatio = ratio;
    const cells = [
      [0, 0],
      [1, 3],
      [6, 4],
      [9, 9],
    ].map(([row, col]) => ({ row, col }));
    note(`device pixels: ${ratio}`, () => become(modelOf(7, 5, { look: ratio })));
    note('middles of cells', () =>
      cells.map((cell) => Object.values(view.cellCentre(cell)).join()),
    );
  }
  globalThis.devicePixelRatio = 1;
  for (const height of [200, 449, 451, 700, 789, 791, 2000]) {
    globalThis.innerHeight = height;
    const more = { rowHeight: 20, look: 10 + height };
    note(`of a window ${height} high`, () => become(modelOf(99, 5, more)));
  }
  note('without rows', () => become(modelOf(0, 0)));
  note('and moved over', () => view.dispatchEvent(new Event('nothing')));
  requireWritten('matrix-view-sizes', lines);
});

test('matrix view: is built once, and each has an id of its own', () => {
  const [a, b] = [put().view, put().view];
  const ids = [a, b].map((view) => view.querySelector('[role=gridcell]').id);
  assert.match(ids[0], /^matrix-cell-\d+$/);
  assert.equal(Number(ids[1].split('-').at(-1)), Number(ids[0].split('-').at(-1)) + 1);
  for (const [i, view] of [a, b].entries()) {
    const plot = view.querySelector('.matrix-plot');
    assert.equal(plot.getAttribute('aria-activedescendant'), ids[i]);
    document.body.append(view);
    assert.equal(view.querySelector('.matrix-plot'), plot);
  }
});

/** A view of 10 x 10 cells that is drawn. */
async function drawn(more) {
  const one = put();
  one.view.model = modelOf(10, 10, more);
  await rest();
  one.note('first');
  return one;
}

test('matrix view: what a pointer does', async () => {
  const { view, lines, note, move, click, say } = await drawn({ home: { row: 9, col: 1 } });
  note('moves over a cell', () => move(2.5, 3.5));
  note('moves within it', () => move(2.1, 3.9));
  note('to the next row', () => move(2.5, 4));
  note('to the next column', () => move(3, 4.99));
  note('a finger moves', () => move(7.5, 7.5, 'touch'));
  note('to the first cell', () => move(0, 0));
  note('out to the left', () => move(-0.1, 5));
  note('further out', () => move(-5, 5));
  note('in again', () => move(9.9, 9.9));
  note('out above', () => move(5, -0.1));
  note('in again', () => move(1, 1));
  note('out to the right', () => move(10, 5));
  note('in again', () => move(1, 1));
  note('out below', () => move(5, 10));
  note('in again', () => move(1, 2));
  note('leaves', () => say('pointerleave', PointerEvent));
  note('clicks', () => click(4.5, 5.5));
  note('moves elsewhere', () => move(1, 1));
  note('clicks elsewhere', () => click(4.5, 6.5));
  note('clicks outside', () => click(12, 5));
  note('clicks again', () => click(4.5, 6.5));
  note('moves to the next cell', () => move(2, 1));
  note('is unpinned, when nothing is', () => view.unpin());
  note('clicks', () => click(2, 1));
  note('is unpinned', () => view.unpin());
  note('leaves', () => say('pointerleave', PointerEvent));
  requireWritten('matrix-view-pointer', lines);
});

test('matrix view: what keys do', async () => {
  const { view, lines, note, move, click, key, say } = await drawn({ home: { row: 4, col: 4 } });
  const keys = ['ArrowUp', 'ArrowLeft', 'ArrowDown', 'ArrowRight', 'Home', 'End', 'PageUp'];
  for (const name of [...keys, 'PageDown', 'a', 'm', 'Tab', ' ', 'Escape']) {
    note(name, () => key(name));
  }
  note('Ctrl Home', () => key('Home', { ctrlKey: true }));
  note('Ctrl End', () => key('End', { ctrlKey: true }));
  note('Alt ArrowLeft', () => key('ArrowLeft', { altKey: true }));
  note('Meta ArrowLeft', () => key('ArrowLeft', { metaKey: true }));
  note('the pointer moves', () => move(1, 1));
  note('Enter', () => key('Enter'));
  note('ArrowUp', () => key('ArrowUp'));
  note('Enter elsewhere', () => key('Enter'));
  note('Enter again', () => key('Enter'));
  note('Enter once more', () => key('Enter'));
  note('ArrowUp', () => key('ArrowUp'));
  note('Escape', () => key('Escape'));
  note('Escape again', () => key('Escape'));
  note('the focus leaves', () => say('blur', Event));
  note('the focus leaves again', () => say('blur', Event));
  note('ArrowUp', () => key('ArrowUp'));
  note('a click takes the keyboard to it', () => click(7, 7));
  note('ArrowUp', () => key('ArrowUp'));
  view.paintable = true;
  note('a click that paints', () => click(2, 2));
  note('Enter that paints', () => key('Enter'));
  note('Escape', () => key('Escape'));
  requireWritten('matrix-view-keys', lines);
});

test('matrix view: m goes where the model says, and no key does anything without one', async () => {
  const asked = [];
  const nextLargest = (cell) => (asked.push(cell), cell.col + 3);
  const { view, key } = await drawn({ nextLargest });
  assert.equal(key('m'), true);
  assert.deepEqual(asked, [{ row: 0, col: 0, pinned: false }]);
  assert.deepEqual(view.shown, { row: 0, col: 3, pinned: false });
  view.model = null;
  assert.equal(key('ArrowUp'), false);
  assert.equal(key('Enter'), false);
});

test('matrix view: what another model does', async () => {
  const { view, lines, note, become, move, click, key } = await drawn();
  const first = view.model;
  const change = (title, more) => note(title, () => become({ ...view.model, ...more }));
  change('the same', {});
  change('the same shape with other words', { describe: ({ row }) => `row ${row}` });
  change('another home', { home: { row: 3, col: 2 } });
  change('other labels of rows', { rowLabels: words(10, 'r') });
  change('other labels of columns', { colLabels: words(10, 'd') });
  change('another name', { name: 'other' });
  change('another look', { look: 2 });
  change('a bracket', { bracket: [2, 4] });
  change('a bracket that begins elsewhere', { bracket: [1, 4] });
  change('a bracket that ends elsewhere', { bracket: [1, 5] });
  change('no bracket', { bracket: null });
  change('a partner', { partner: ({ row }) => row + 5 });
  change('the last as a partner', { partner: () => 9 });
  change('a partner below', { partner: () => 10 });
  change('a partner far below', { partner: () => 11 });
  change('no partner', { partner: undefined });
  note('nothing', () => become(null));
  note('a click on nothing', () => click(1, 1));
  note('the first again', () => become(first));
  note('hovered', () => move(9, 8));
  note('fewer rows, and the hovered one is there', () => become(modelOf(9, 10)));
  note('fewer columns', () => become(modelOf(9, 9)));
  note('pinned', () => click(6, 8));
  note('fewer rows, and the pinned one is gone', () => become(modelOf(7, 9)));
  note('pinned', () => click(5, 7));
  note('moved to the last', () => key('End', { ctrlKey: true }));
  note('fewer columns, and the cursor is gone', () => become(modelOf(7, 8)));
  note('none, and the pin is gone', () => become(null));
  note('one cell', () => become(modelOf(1, 1)));
  requireWritten('matrix-view-models', lines);
});

describe('matrix view: the live region', () => {
  /** A drawn view, and all that its region was made to say. */
  async function listened() {
    const one = await drawn();
    const said = [];
    Object.defineProperty(one.view.querySelector('[role=status]'), 'textContent', {
      set(text) {
        said.push(text);
      },
    });
    return { ...one, said };
  }

  test('waits until the keys rest', async () => {
    const { key, said } = await listened();
    const { clearTimeout } = globalThis;
    const ended = [];
    globalThis.clearTimeout = (timer) => ended.push(timer);
    key('ArrowDown');
    key('ArrowUp');
    globalThis.clearTimeout = clearTimeout;
    assert.equal(ended[0], 0, 'a timer of nobody');
    assert.notEqual(ended[1], 0);
    await rest();
    said.length = 0;
    for (const name of ['ArrowDown', 'ArrowDown', 'ArrowRight']) key(name);
    assert.deepEqual(said, []);
    delays.clear();
    key('ArrowRight');
    assert.deepEqual([...delays], [150]);
    await rest();
    assert.deepEqual(said, ['2,2']);
  });

  test('says the rest of a cell when a model knows it', async () => {
    const { key, become, said } = await listened();
    const unknown = { describe: () => '', knows: ({ row }) => row === 0 };
    const known = { describe: ({ row, col }) => `all of ${row},${col}` };
    become(modelOf(10, 10, unknown));
    key('ArrowRight');
    await rest();
    become(modelOf(10, 10, known));
    assert.deepEqual(said, [''], 'of a cell that was known nothing is left to say');
    become(modelOf(10, 10, unknown));
    key('ArrowDown');
    become(modelOf(10, 10, known));
    assert.equal(said.length, 1, 'before the keys rest nothing is said');
    become(modelOf(10, 10, unknown));
    await rest();
    become(modelOf(10, 10, unknown));
    assert.deepEqual(said, ['', '']);
    become(modelOf(10, 10, known));
    become(modelOf(10, 10, known));
    assert.deepEqual(said, ['', '', 'all of 1,1'], 'once');
    become(modelOf(10, 10, unknown));
    key('ArrowDown');
    await rest();
    key('ArrowDown');
    become(modelOf(10, 10, known));
    assert.equal(said.length, 4, 'a cell that was left is not told');
    await rest();
    assert.deepEqual(said.slice(4), ['all of 3,1']);
  });

  test('says no more of a cell when the focus has left', async () => {
    const { plot, key, become, said } = await listened();
    become(modelOf(10, 10, { describe: () => 'a part', knows: () => false }));
    key('ArrowDown');
    await rest();
    plot.dispatchEvent(new Event('blur'));
    become(modelOf(10, 10));
    key('ArrowDown');
    assert.deepEqual(said, ['a part']);
  });

  test('says what was pinned, and nothing of what is only pointed at', async () => {
    const { view, move, click, key, said } = await listened();
    move(3, 3);
    await rest();
    assert.deepEqual(said, []);
    click(4, 5);
    await rest();
    key('Enter');
    await rest();
    assert.deepEqual(said, ['5,4 pinned', '3,3']);
    view.speak();
    view.model = null;
    await rest();
    assert.equal(said.length, 2, 'of a matrix that is gone it says nothing');
  });
});

test('matrix view: a stroke of the brush is told in cells, and only of the first button', async () => {
  const { view, plot, say, at } = await drawn();
  const painted = [];
  brushing(view, ({ row, col }, begins) => painted.push(`${row},${col}${begins ? '!' : ''}`));
  const captured = [];
  plot.setPointerCapture = (id) => captured.push(id);
  const pointer = (type, x, y, more) =>
    say(type, PointerEvent, { ...at(x, y), pointerId: 7, pointerType: 'mouse', ...more });
  assert.equal(view.paintable, true);
  pointer('pointermove', 2, 2);
  pointer('pointerdown', 1, 1, { button: 1 });
  pointer('pointermove', 2, 2);
  pointer('pointerup', 2, 2);
  pointer('pointerdown', 11, 1);
  pointer('pointerup', 11, 1);
  assert.deepEqual([painted, captured], [[], []]);
  pointer('pointerdown', 1, 1);
  assert.deepEqual(captured, [7]);
  pointer('pointermove', 1, 1);
  pointer('pointermove', 1, 2);
  pointer('pointermove', 2, 2);
  pointer('pointermove', 8, 4);
  pointer('pointermove', 5, 9);
  pointer('pointermove', 11, 9);
  pointer('pointermove', 3, 1);
  pointer('pointercancel', 3, 1);
  pointer('pointermove', 0, 0);
  pointer('pointerup', 0, 0);
  const cells = [
    ...['1,1!', '2,1', '2,2', '2,3', '3,4', '3,5', '3,6', '4,7', '4,8'],
    ...['5,7', '6,7', '7,6', '8,6', '9,5', '8,5', '7,5', '6,4', '5,4', '4,4', '3,4', '2,3', '1,3'],
  ];
  assert.deepEqual(painted, cells);
  painted.length = 0;
  view.model = null;
  for (const key of [' ', 'Enter']) assert.equal(say('keydown', KeyboardEvent, { key }), false);
  assert.deepEqual(painted, []);
});

test('matrix view: edges of cells', () => {
  assert.ok(new MatrixView() instanceof HTMLElement);
  assert.deepEqual([...cellEdges(10, 3)], [0, 3, 7, 10]);
  assert.deepEqual([...cellEdges(0, 1)], [0, 0]);
});
