// @about web/src/features/model/
// The embeddings of a trained model, in a window without a browser: what is drawn of a plane and listed of neighbours, in every size
// (tests/page/operated/model-embeddings.txt), and what a click on the plane, a token that is typed and a button ask for.
import assert from 'node:assert/strict';
import { afterEach, describe, test } from 'node:test';
import { float, partsOf } from '../support/model_parts.js';
import { fire, requireWritten } from '../support/operate.js';
import { openWindow, SIZE } from '../support/window.js';

const { layOut, leave, rest } = openWindow();
const { modules } = await import('../support/engine.js');
const web = await modules(
  ...['panel', 'page/embeddings_part', 'shared/model_view'].map((name) => `features/model/${name}`),
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

const { put, shown, lookAgain } = partsOf(web, rest);

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
  /** What is drawn of a plane in this width, a call each. */
  async function drawn(answers, width = 640) {
    layOut({ width, height: 100 });
    const { one, show } = put('embeddings');
    await rest();
    show(answers);
    const canvas = one('canvas');
    const short = (value) => (typeof value === 'number' ? Math.round(100 * value) / 100 : value);
    const calls = (canvas.drawnWith?.drawn ?? []).map((call) => call.map(short).join(' '));
    const { width: wide, height, style, ariaLabel } = canvas;
    leave();
    return [`${wide} x ${height}, ${style.width} x ${style.height}, ${ariaLabel}`, ...calls];
  }

  test('are listed and drawn, in every size', async () => {
    const lines = await shown('embeddings', {
      'nothing is known': {},
      'a plane': told(square),
      'another token': told(square, near(4, [3, 1])),
      'a plane alone': { answers: { plane: plane(square) } },
      'no plane': { answers: { plane: null, near: null, reading: { ids: [] } } },
      'in Chinese': { ...told(square), state: { language: 'zh' } },
    });
    leave();
    for (const [what, ratio, ...rest] of [
      ['five tokens', 1, told(square)],
      ['sharp and narrow', 1.5, told(square), 201.7],
      ['without a width', 1, told(square), 0],
      [
        'one beside the other',
        1,
        told(
          [
            [1, 5],
            [4, 5],
          ],
          near(0, [1, 1]),
          [],
        ),
      ],
      [
        'all in one place',
        1,
        told(
          [
            [2, 3],
            [2, 3],
          ],
          near(0, [1, 1]),
          [],
        ),
      ],
    ]) {
      globalThis.devicePixelRatio = ratio;
      lines.push(`=== drawn: ${what}`, ...(await drawn(...rest)), '');
    }
    globalThis.devicePixelRatio = 1;
    for (const count of [120, 121]) {
      const calls = await drawn(told(many(count), near(7, [9, 1], [3, 0.5]), [3, 4, 4]));
      const kinds = ['fillRect', 'strokeText', 'fillText'];
      const counts = kinds.map(
        (kind) => `${kind} ${calls.filter((of) => of.startsWith(kind)).length}`,
      );
      lines.push(`=== drawn: ${count} tokens`, ...counts, ...calls.slice(-28), '');
    }
    requireWritten('model-embeddings', lines);
  });

  test('the card is there with a plane alone', () => {
    const card = document.createElement('div');
    card.className = 'model-card';
    document.body.append(card);
    const { show } = put('embeddings', card);
    show({ answers: { plane: null } });
    assert.equal(card.hidden, true);
    show(told(square));
    assert.equal(card.hidden, false);
    show({});
    assert.equal(card.hidden, false, 'as long as nothing is known');
  });

  test('a click chooses the token that is nearest, within 32 pixels', async () => {
    const { one, asked, show } = put('embeddings');
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
    const box = one('#model-near');
    const type = (value, ...event) => {
      box.value = value;
      fire(box, ...event);
      return asked.splice(0).map(({ modelNear }) => modelNear);
    };
    assert.deepEqual(type('a', 'input', Event), [], 'there is no plane');
    const labels = ['e', 'a', 'b', '😀', 'the', '␣', '∅'];
    show({ answers: { ...told(square).answers, plane: plane(square, { labels }) } });
    for (const [text, ids] of [
      ...[
        ['a', [1]],
        ['ab', [2]],
        ['b😀', [3]],
        ['th', []],
        ['the', [4]],
        ['he', [0]],
        [' ', [5]],
        ['x', []],
        ['', []],
      ],
    ]) {
      assert.deepEqual(type(text, 'input', Event), ids, text);
    }
    const composing = (isComposing) => type('b', 'input', InputEvent, { isComposing });
    assert.deepEqual([composing(true), composing(false)], [[], [2]]);
    assert.deepEqual(type('a', 'compositionend', Event), [1]);
  });

  test('a neighbour is chosen by its button', () => {
    const { one, asked, show } = put('embeddings');
    show(told(square));
    one('.model-near .bar').click();
    one('.model-near').click();
    one('.model-near bdi').click();
    assert.deepEqual(asked, [{ modelNear: 2 }]);
  });

  test('are drawn again when they are another size, and only when something has changed', async () => {
    const { one, show } = put('embeddings');
    await rest();
    const answers = told(square);
    show(answers);
    const draws = () => one('canvas').drawnWith.drawn.filter(([name]) => name === 'scale').length;
    assert.equal(draws(), 1);
    show(answers);
    assert.equal(draws(), 1);
    layOut({ width: 300, height: 100 });
    await rest();
    assert.equal(draws(), 2);
    assert.equal(one('canvas').style.width, '300px');
    lookAgain();
    show(answers);
    assert.equal(draws(), 3);
  });
});
