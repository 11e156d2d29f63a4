// What hands do, in Node, with events that the test makes: numbers that are dragged sideways, cells that are painted
// by a stroke, and the theme that a reader chose.
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';

/** Of the page's elements as much as these modules touch. */
class Element extends EventTarget {
  dataset = {};
  classes = new Set();
  classList = {
    add: (name) => this.classes.add(name),
    remove: (name) => this.classes.delete(name),
  };
  captured = [];
  setPointerCapture(id) {
    this.captured.push(id);
  }
}
globalThis.HTMLElement = Element;
globalThis.HTMLInputElement = class extends Element {
  type = 'number';
};
globalThis.customElements = { define() {} };
globalThis.ResizeObserver = class {};
const context = { measureText: () => ({ width: 1 }) };
globalThis.document = {
  documentElement: new Element(),
  createElement: () => ({ getContext: () => context }),
};

const { modules } = await import('../support/engine.js');
const { scrubbing, brushing, MatrixView } = await modules(
  ...['features/row/page/drag_numbers', 'ui/matrix/brush', 'ui/matrix/view'],
);

const event = (type, more = {}) =>
  Object.assign(new Event(type, { cancelable: true }), {
    button: 0,
    buttons: 1,
    pointerId: 5,
    ...more,
  });

describe('hands: a number that is dragged', () => {
  /** A box with this value inside of a panel, and what it was set to. */
  function boxOf(value, step) {
    const root = new Element();
    const box = new globalThis.HTMLInputElement();
    box.valueAsNumber = value;
    if (step) box.dataset.step = String(step);
    const heard = [];
    box.dispatchEvent = ({ type }) => heard.push([type, Number(box.value)]);
    scrubbing(root);
    const say = (type, clientX, { target = box, ...more } = {}) => {
      const made = event(type, { clientX, ...more });
      Object.defineProperty(made, 'target', { value: target });
      root.dispatchEvent(made);
      return made;
    };
    return { box, heard, say };
  }

  test('changes by one step for six pixels, up to the right and down to the left', () => {
    const { box, heard, say } = boxOf(2, 0.5);
    say('pointerdown', 100);
    say('pointermove', 112);
    say('pointermove', 88);
    assert.deepEqual(heard, [['change', 3], ['change', 1]]); // prettier-ignore
    assert.deepEqual(box.captured, [5, 5]);
    assert.ok(box.classes.has('scrubbing'));
    say('pointerup', 88);
    assert.ok(!box.classes.has('scrubbing'));
    say('pointermove', 200);
    assert.equal(heard.length, 2);
  });

  test('is a click as long as the hand hardly moves, and nothing with another button or box', () => {
    const { heard, say } = boxOf(2, 0.5);
    say('pointerdown', 100);
    say('pointermove', 104);
    say('pointermove', 96);
    say('pointerup', 100);
    say('pointerdown', 100, { button: 2 });
    say('pointermove', 150);
    say('pointerdown', 100, { target: new Element() });
    say('pointermove', 150);
    assert.deepEqual(heard, []);
  });

  test('is let go where the button went up elsewhere, before or after it was dragged', () => {
    for (const moves of [[], [112]]) {
      const { box, heard, say } = boxOf(2, 0.5);
      say('pointerdown', 100);
      for (const x of moves) say('pointermove', x);
      const hover = say('pointermove', 150, { buttons: 0 });
      say('pointermove', 200);
      assert.equal(heard.length, moves.length);
      assert.ok(!hover.defaultPrevented && !box.classes.has('scrubbing'));
    }
  });

  test('has a step of a tenth where it names none, and is left alone where it holds none', () => {
    const { heard, say } = boxOf(1);
    say('pointerdown', 0);
    say('pointermove', 60);
    assert.equal(heard[0][1], 2);
    const empty = boxOf(NaN, 1);
    empty.say('pointerdown', 0);
    empty.say('pointermove', 60);
    assert.deepEqual(empty.heard, []);
  });
});

describe('hands: a mask that is painted', () => {
  /** A matrix whose cells are ten pixels wide, and the cells that were painted. */
  function matrixOf() {
    const plot = new Element();
    const matrix = Object.create(MatrixView.prototype);
    const shown = { row: 2, col: 3, pinned: false };
    Object.defineProperties(matrix, {
      querySelector: { value: () => plot },
      paintable: { value: false, writable: true },
      shown: { value: shown },
      cellAt: {
        value: ({ x, y }) => (x < 0 ? null : { row: Math.floor(y / 10), col: Math.floor(x / 10) }),
      },
    });
    const painted = [];
    brushing(matrix, ({ row, col }, begins) => painted.push(`${row},${col}${begins ? '!' : ''}`));
    const say = (type, x, y, more = {}) => {
      const made = event(type, { x, y, pointerType: 'mouse', ...more });
      plot.dispatchEvent(made);
      return made;
    };
    return { matrix, painted, say };
  }

  test('begins where the pointer goes down, and goes on over every cell on the way', () => {
    const { matrix, painted, say } = matrixOf();
    assert.equal(matrix.paintable, true);
    say('pointerdown', 5, 5);
    assert.deepEqual(painted, ['0,0!']);
    say('pointermove', 8, 8); // the same cell
    say('pointermove', 35, 15); // a quick hand
    say('pointermove', -1, 0);
    say('pointermove', 35, 25);
    assert.deepEqual(painted, ['0,0!', '0,1', '1,2', '1,3', '2,3']);
    say('pointerup', 35, 25);
    say('pointermove', 55, 25);
    assert.equal(painted.length, 5);
  });

  test('is painted by a tap of a finger, and not by one that scrolls', () => {
    const touch = { pointerType: 'touch' };
    const tapped = matrixOf();
    tapped.say('pointerdown', 15, 5, touch);
    assert.deepEqual(tapped.painted, []);
    tapped.say('pointerup', 15, 5, touch);
    assert.deepEqual(tapped.painted, ['0,1!']);
    const scrolled = matrixOf();
    scrolled.say('pointerdown', 15, 5, touch);
    scrolled.say('pointercancel', 15, 25, touch);
    scrolled.say('pointerup', 15, 25, touch);
    assert.deepEqual(scrolled.painted, []);
    const sideways = matrixOf();
    sideways.say('pointerdown', 15, 5, touch);
    sideways.say('pointermove', 25, 5, touch);
    assert.deepEqual(sideways.painted, ['0,1!', '0,2']);
  });

  test('is painted by Space and Enter where the keyboard is, which then do not scroll', () => {
    const { painted, say } = matrixOf();
    for (const key of [' ', 'Enter']) assert.ok(say('keydown', 0, 0, { key }).defaultPrevented);
    assert.ok(!say('keydown', 0, 0, { key: 'a' }).defaultPrevented);
    assert.deepEqual(painted, ['2,3!', '2,3!']);
    say('pointerdown', 5, 5, { button: 2 });
    assert.equal(painted.length, 2);
  });
});
