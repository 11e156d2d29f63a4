// The embeddings of a trained model, in a window without a browser: what is drawn of a plane and listed of neighbours, and what
// a click on the plane, a token that is typed and a button ask for.
import assert from 'node:assert/strict';
import { afterEach, describe, test } from 'node:test';
import { float, partsOf } from '../support/model_parts.js';
import { fire } from '../support/operate.js';
import { openWindow, SIZE } from '../support/window.js';

const { layOut, leave, rest } = openWindow();
const { modules } = await import('../support/engine.js');
const web = await modules(
  'features/model/panel',
  'features/model/shared/model_view',
  'state/state',
);
const colours = ['--line-strong', '--surface', '--ink-soft', '--q', '--k'];
for (const name of colours) document.documentElement.style.setProperty(name, ` of${name}`);
afterEach(() => {
  leave();
  layOut(SIZE);
  web.setLanguage('en');
  globalThis.devicePixelRatio = 1;
});

const { put } = partsOf(web);

const plane = (points, more = {}) => ({
  ...{ points: float(...points.flat()), labels: points.map((_, id) => `t${id}`) },
  ...{ shares: [0.75, 0.05], width: 16, ...more },
});
const near = (id, ...tokens) => ({
  ...{ id, label: `t${id}` },
  tokens: tokens.map(([other, cosine]) => ({ id: other, label: `<${other}>`, cosine })),
});
const told = (points, by = near(1, [2, 0.75], [0, -0.25]), ids = [0, 3]) => ({
  answers: { plane: plane(points), near: by, reading: { ids } },
});
const square = [
  [-1, -2],
  [3, -2],
  [3, 1],
  [-1, 1],
  [1, 0],
];
const many = (count) => Array.from({ length: count }, (_, i) => [i % 11, Math.floor(i / 11)]);

describe('model: embeddings', () => {
  /** What is drawn of a plane: [text, x, y, font] of each label, in their order, and how many dots. */
  async function drawn(answers, width = 640) {
    layOut({ width, height: 100 });
    const { one, show } = put('embeddings');
    show(answers);
    await rest();
    const canvas = one('canvas');
    const [labels, dots, fonts] = [[], [], []];
    for (const [name, ...args] of canvas.drawnWith?.drawn ?? []) {
      if (name === 'font') fonts.push(args[0]);
      if (name === 'fillText') labels.push([...args, fonts.at(-1)]);
      if (name === 'fillRect') dots.push(args);
    }
    leave();
    return { canvas, labels, dots: dots.length };
  }

  test('neighbours are listed by their cosine, with a bar for what is above zero', () => {
    const { show, text, texts, all } = put('embeddings');
    show(told(square));
    assert.match(text('.model-embeddings-intro'), /^Each of the 5 tokens .* of 16 numbers\..* hold 75\.0% and 5\.0% of it/);
    assert.equal(text('.model-near-title'), 'Nearest to t1, by the cosine of all 16 numbers:');
    assert.deepEqual(texts('.model-near bdi'), ['<2>', '<0>']);
    assert.deepEqual(texts('.model-near .value'), ['0.750', '-0.250']);
    assert.deepEqual(all('.bar i').map(({ style }) => style.width), ['75%', '0%']);
  }); // prettier-ignore

  test('tokens stand at their places on the plane, the chosen one last and bold', async () => {
    const { labels, dots } = await drawn(told(square));
    // Room is 592 x 372 for 4 x 3: 124 pixels for a unit, about the middle.
    const at = ([x, y]) => [320 + 124 * (x - 1), 210 - 124 * (y + 0.5)];
    for (const [text, ...place] of labels) assert.deepEqual(place.slice(0, 2), at(square[text[1]]));
    assert.deepEqual([labels.length, dots], [5, 0]);
    const [last, font] = [labels.at(-1)[0], labels.at(-1)[3]];
    assert.equal(last, 't1');
    assert.match(font, /^700 18px/);
    for (const flat of [[[1, 5], [4, 5]], [[2, 3], [2, 3]]]) {
      const { labels: in2 } = await drawn(told(flat, near(0, [1, 1]), []));
      for (const [, x, y] of in2) assert.ok(x >= 24 && x <= 616 && y === 210, `${x} ${y}`);
    }
    assert.deepEqual((await drawn(told(square), 0)).labels, [], 'without a width');
    globalThis.devicePixelRatio = 1.5;
    const { canvas } = await drawn(told(square), 201.7);
    assert.deepEqual([canvas.width, canvas.height, canvas.style.width], [302, 630, '201px']);
  }); // prettier-ignore

  test('of more than 120 tokens those of the text, the chosen one and its neighbours have names, others dots', async () => {
    const answers = (count) => told(many(count), near(7, [9, 1], [3, 0.5]), [3, 4, 4]);
    const few = await drawn(answers(120));
    assert.deepEqual([few.labels.length, few.dots], [120, 0]);
    const { labels, dots } = await drawn(answers(121));
    assert.deepEqual([labels.map(([text]) => text), dots], [['t4', 't3', 't9', 't7'], 117]);
  });

  test('a click chooses the token that is nearest, within 32 pixels', async () => {
    const { one, asked, show } = put('embeddings');
    show();
    await rest();
    const click = (x, y) => fire(one('canvas'), 'click', MouseEvent, { clientX: x, clientY: y });
    const at = (x, y) => {
      const event = new MouseEvent('click', { bubbles: true });
      Object.defineProperties(event, { offsetX: { value: x }, offsetY: { value: y } });
      one('canvas').dispatchEvent(event);
      return asked.splice(0).map(({ modelNear }) => modelNear);
    };
    click(1, 1);
    assert.deepEqual(asked, [], 'there is no plane');
    // Room is 592 x 372 for 4 x 3: 124 pixels for a unit, about the middle.
    show(told(square));
    const [x, y] = [320 + 2 * 124, 210 - 1.5 * 124];
    assert.deepEqual(at(x, y), [2]);
    assert.deepEqual(at(x, 420 - y), [1]);
    assert.deepEqual(at(640 - x, y), [3]);
    assert.deepEqual(at(640 - x, 420 - y), [0]);
    assert.deepEqual(at(x - 31.9, y), [2]);
    assert.deepEqual(at(x - 32, y), []);
    assert.deepEqual(at(x, y + 31.9), [2]);
    assert.deepEqual(at(x + 22.7, y + 22.7), []);
    show(
      told(
        [
          [0, 0],
          [4, 0],
          [4, 0],
        ],
        near(0),
      ),
    );
    assert.deepEqual(at(616, 210), [1], 'of two in one place the first');
  });

  test('a token that is typed is chosen, by its label or its last letter', () => {
    const { one, asked, show } = put('embeddings');
    show();
    const box = one('#model-near');
    const type = (value, ...event) => {
      box.value = value;
      fire(box, ...event);
      return asked.splice(0).map(({ modelNear }) => modelNear);
    };
    assert.deepEqual(type('a', 'input', Event), [], 'there is no plane');
    const labels = ['e', 'a', 'b', '😀', 'the', '␣', '∅'];
    show({ answers: { ...told(square).answers, plane: plane(square, { labels }) } });
    const chosen = {
      a: [1],
      ab: [2],
      'b😀': [3],
      th: [],
      the: [4],
      he: [0],
      ' ': [5],
      x: [],
      '': [],
    };
    for (const [text, ids] of Object.entries(chosen)) {
      assert.deepEqual(type(text, 'input', Event), ids, text);
    }
    const composing = (isComposing) => type('b', 'input', InputEvent, { isComposing });
    assert.deepEqual([composing(true), composing(false)], [[], [2]]);
    assert.deepEqual(type('a', 'compositionend', Event), [1]);
  });
});
