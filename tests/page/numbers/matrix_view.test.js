// The matrix view, in Node, with a window that the test lays out: what stands on the page after each thing that a pointer, a
// key or another model does to it, what it says of that and to whom, and what it does not draw again.
import assert from 'node:assert/strict';
import { afterEach, describe, test } from 'node:test';
import { openWindow } from '../support/window.js';

const { rest, delays, leave } = openWindow();
const { modules } = await import('../support/engine.js');
const { cellEdges, MatrixView } = await modules('ui/matrix/{view,brush}', 'domain/cell_edges');

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

/** A view on the page whose cells begin at 100, 50 and fill 200 x 100 pixels, and the events that it sends. */
function put() {
  const view = document.createElement('qkv-matrix');
  document.body.append(view);
  view.canvas.getBoundingClientRect = () => ({ left: 100, top: 50, width: 200, height: 100 });
  const heard = [];
  for (const name of ['cell-shown', 'cell-pinned', 'surface-resized']) {
    view.addEventListener(name, ({ detail }) => heard.push([name, detail]));
  }
  /** The cell that is shown, in a word, and what its crosshair surrounds. */
  const shown = () => {
    const { row, col, pinned } = view.shown;
    const { left, top } = view.querySelector('.cross-cell').style;
    const plot = view.querySelector('.matrix-plot').style;
    const size = (side, count) => parseFloat(plot[side]) / count;
    const across = parseFloat(left) / size('width', view.model.cols);
    const down = parseFloat(top) / size('height', view.model.rows);
    assert.deepEqual([Math.round(down), Math.round(across)], [row, col], 'the crosshair');
    return `${row},${col}${pinned ? ' pinned' : ''}`;
  };
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
  return { view, plot, heard, shown, become, move, click, key, say, at };
}

/** A view of 10 x 10 cells that is drawn. */
async function drawn(more) {
  const one = put();
  one.view.model = modelOf(10, 10, more);
  await rest();
  one.heard.length = 0;
  return one;
}

test('matrix view: a pointer shows the cell that it is over, and a click pins it until the next', async () => {
  const { view, heard, shown, move, click, say } = await drawn({ home: { row: 9, col: 1 } });
  const home = '9,1';
  for (const [act, cell, events = [['cell-shown', cell]]] of [
    [() => move(2.5, 3.5), '3,2'],
    [() => move(2.1, 3.9), '3,2', []],
    [() => move(2.5, 4), '4,2'],
    [() => move(3, 4.99), '4,3'],
    [() => move(7.5, 7.5, 'touch'), '4,3', []],
    [() => move(0, 0), '0,0'],
    [() => move(-0.1, 5), home],
    [() => move(-5, 5), home, []],
    [() => move(9.9, 9.9), '9,9'],
    [() => move(5, -0.1), home],
    [() => move(1, 1), '1,1'],
    [() => move(10, 5), home],
    [() => move(1, 1), '1,1'],
    [() => move(5, 10), home],
    [() => move(1, 2), '2,1'],
    [() => say('pointerleave', PointerEvent), home],
    [() => click(4.5, 5.5), '5,4 pinned', [['cell-shown', '5,4 pinned'], ['cell-pinned', '5,4']]],
    [() => move(1, 1), '5,4 pinned'],
    [() => click(4.5, 6.5), '6,4 pinned', [['cell-shown', '6,4 pinned'], ['cell-pinned', '6,4']]],
    [() => click(12, 5), '6,4 pinned', []],
    [() => click(4.5, 6.5), '1,1', [['cell-shown', '1,1'], ['cell-pinned', null]]],
    [() => view.unpin(), '1,1', []],
    [() => click(2, 1), '1,2 pinned', [['cell-shown', '1,2 pinned'], ['cell-pinned', '1,2']]],
    [() => view.unpin(), '1,1', [['cell-shown', '1,1'], ['cell-pinned', null]]],
  ]) {
    act();
    assert.equal(shown(), cell, String(act));
    const word = (of) => of && `${of.row},${of.col}${of.pinned ? ' pinned' : ''}`;
    assert.deepEqual(heard.splice(0).map(([name, of]) => [name, word(of)]), events, String(act));
  } // prettier-ignore
});

test('matrix view: keys move from the shown cell, Enter pins it and Escape frees it', async () => {
  const { view, shown, move, click, key, say } = await drawn({ home: { row: 4, col: 4 } });
  for (const [act, cell, taken = true] of [
    [() => key('ArrowUp'), '3,4'],
    [() => key('ArrowRight'), '3,5'],
    [() => key('End', { ctrlKey: true }), '9,9'],
    [() => key('Home'), '9,0'],
    [() => key('a'), '9,0', false],
    [() => key('m'), '9,0', false],
    [() => key('Escape'), '9,0', false],
    [() => key('ArrowRight', { altKey: true }), '9,0', false],
    [() => key('ArrowRight', { metaKey: true }), '9,0', false],
    [() => move(1, 1), '9,0', false],
    [() => key('Enter'), '9,0 pinned'],
    [() => key('ArrowUp'), '8,0'],
    [() => key('Enter'), '8,0 pinned'],
    [() => key('Enter'), '8,0'],
    [() => key('Enter'), '8,0 pinned'],
    [() => key('Escape'), '8,0'],
    [() => say('blur', Event), '1,1', false],
    [() => click(7, 7), '7,7 pinned', false],
    [() => key('ArrowUp'), '6,7'],
  ]) {
    assert.equal(act(), taken, String(act));
    assert.equal(shown(), cell, String(act));
  }
  view.paintable = true;
  click(2, 2);
  assert.deepEqual(view.pinned, { row: 7, col: 7 }, 'a click that paints does not pin');
  assert.equal(key('Enter'), false);
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

test('matrix view: a cell that another model does not have is given up', async () => {
  const { view, shown, become, move, click, key } = await drawn();
  move(9, 8);
  become(modelOf(9, 10));
  assert.equal(shown(), '8,9');
  become(modelOf(9, 9));
  assert.equal(shown(), '0,0', 'the column is gone');
  click(6, 8);
  become(modelOf(7, 9));
  assert.deepEqual([shown(), view.pinned], ['0,0', null]);
  click(5, 7);
  become(modelOf(7, 9, { name: 'other' }));
  assert.deepEqual(view.pinned, { row: 4, col: 4 }, 'a cell that is there stays pinned');
  key('End', { ctrlKey: true });
  become(modelOf(7, 8));
  assert.equal(shown(), '4,4 pinned', 'the cursor is gone, the pin is not');
  become(null);
  assert.deepEqual([view.hidden, view.pinned, view.shown], [true, null, null]);
  click(1, 1);
  become(modelOf(1, 1));
  assert.deepEqual([view.hidden, shown()], [false, '0,0']);
});

test('matrix view: the row that belongs to the shown one has a line around it, if there is one', async () => {
  const { view, become } = await drawn();
  const partner = view.querySelector('.cross-partner');
  for (const [at, hidden] of [[5, false], [9, false], [10, true], [11, true]]) {
    become({ ...view.model, partner: () => at });
    assert.equal(partner.hidden, hidden, `${at}`);
    const cell = parseFloat(view.querySelector('.matrix-plot').style.height) / 10;
    if (!hidden) assert.equal(parseFloat(partner.style.top), at * cell);
  } // prettier-ignore
  become({ ...view.model, partner: undefined });
  assert.equal(partner.hidden, true);
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

test('matrix view: edges of cells', () => {
  assert.ok(new MatrixView() instanceof HTMLElement);
  assert.deepEqual([...cellEdges(10, 3)], [0, 3, 7, 10]);
  assert.deepEqual([...cellEdges(0, 1)], [0, 0]);
});
