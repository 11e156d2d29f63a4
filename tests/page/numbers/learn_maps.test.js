// @about web/src/features/learn/
// The maps of the panel "Watch it learn", in Node, in a window without a browser: their pixels, the grid of all heads, and the large
// one.
import assert from 'node:assert/strict';
import { afterEach, test } from 'node:test';
import { fire, linesOf, requireWritten } from '../support/operate.js';
import { runsOf } from '../support/learn_runs.js';
import { openWindow, SIZE } from '../support/window.js';

const { leave, layOut, rest } = openWindow();
const { modules } = await import('../support/engine.js');
const web = await modules(
  ...['ui/matrix/view', 'ui/matrix/painted_matrix', 'domain/cividis', 'state/state'],
  ...['page/paint_map', 'page/head_maps', 'page/settings_of_state'].map(
    (name) => `features/learn/${name}`,
  ),
);
afterEach(leave);

const { settingsFor, momentOf } = runsOf(web);

/** The picture that was put onto a canvas last. */
const pictureOn = (canvas) => canvas.drawnWith.drawn.findLast(([name]) => name === 'putImageData');

test('learn: a map has a pixel for each weight, in the colours of the page', () => {
  const canvas = document.createElement('canvas');
  const weights = Float32Array.of(
    9,
    9,
    0,
    1,
    0.5,
    0.25,
    0.001953,
    0.001961,
    0.9999,
    1 / 3,
    0.75,
    9,
  );
  web.paintMap(canvas, weights, 2, 3);
  assert.deepEqual([canvas.width, canvas.height], [3, 3]);
  const [, image, x, y] = pictureOn(canvas);
  assert.deepEqual([x, y, image.width, image.height], [0, 0, 3, 3]);
  const colours = Array.from(weights.subarray(2, 11), (weight) => {
    const at = 4 * Math.round(weight * 255);
    return [...web.cividis.slice(at, at + 4)];
  });
  assert.deepEqual(
    Array.from({ length: 9 }, (_, i) => [...image.data.slice(4 * i, 4 * i + 4)]),
    colours,
  );
  let set = 0;
  for (const side of ['width', 'height']) {
    Object.defineProperty(canvas, side, {
      get: () => 3,
      set: () => {
        set += 1;
      },
    });
  }
  web.paintMap(canvas, weights, 0, 3);
  assert.equal(set, 0, 'a canvas that is set a size is emptied');
  const to = document.createElement('canvas');
  web.enlarge(canvas, to, 30, 20);
  assert.deepEqual([to.width, to.height], [30, 20]);
  const drawn = to.drawnWith.drawn.map((call) =>
    call.map((part) => (part === canvas ? 'map' : part)),
  );
  assert.deepEqual(drawn, [
    ['imageSmoothingEnabled', false],
    ['drawImage', 'map', 0, 0, 30, 20],
  ]);
  for (const side of ['width', 'height']) {
    const value = to[side];
    Object.defineProperty(to, side, {
      get: () => value,
      set: () => {
        set += 1;
      },
    });
  }
  web.enlarge(canvas, to, 30, 20);
  assert.equal(set, 0);
});

test('learn: a grid has the map of each head, and says which was pressed', () => {
  const lines = [];
  const root = document.createElement('div');
  document.body.append(root);
  const chosen = [];
  const grid = new web.MapGrid(root, (layer, head) => chosen.push(`${layer},${head}`));
  let [first, seen] = [null, 0];
  const draw = (what, settings, snapshot, of = null, language = 'en', on = grid, at = root) => {
    on.draw(settings, snapshot, of, language);
    const again = at.firstChild === first ? 'as it was' : 'anew';
    first = at.firstChild;
    const pictures = [...at.querySelectorAll('canvas')].map((canvas) => {
      const picture = canvas.drawnWith && pictureOn(canvas);
      return picture ? picture[1].data.slice(0, 12).join() : 'empty';
    });
    lines.push(`--- ${what}: ${again}, ${++seen}`, ...linesOf(at), ...pictures);
  };
  const two = settingsFor('induction', { layers: 2, heads: 2 });
  draw('without weights', two, null);
  draw('with weights', two, momentOf(two), 9);
  draw(
    'other weights',
    two,
    { ...momentOf(two), scores: Float32Array.of(0.5, 0.501, 0, 1, 0.4, 0.6, 0.5, 0.51) },
    0,
  );
  draw('of another seed', { ...two, seed: 4 }, null, 1);
  draw('in Chinese', two, null, null, 'zh');
  draw('three heads', settingsFor('induction', { layers: 1, heads: 3 }), null, 2);
  draw(
    'another task',
    settingsFor('histogram', { layers: 1, heads: 3 }),
    momentOf(settingsFor('histogram', { layers: 1, heads: 3 })),
  );
  root.querySelectorAll('button')[1].querySelector('canvas').click();
  root.querySelector('.learn-layer-name').click();
  fire(root, 'click');
  root.append(document.createElement('button'));
  root.lastChild.click();
  draw('two layers', two, momentOf(two));
  root.querySelectorAll('button')[2].click();
  assert.deepEqual(chosen, ['0,1', '1,0']);
  const other = document.createElement('div');
  document.body.append(other);
  const still = new web.MapGrid(other, null);
  draw('to be looked at alone', two, momentOf(two), 1, 'en', still, other);
  other.querySelector('.learn-map').click();
  other.append(root.querySelector('button'));
  other.lastChild.click();
  requireWritten('learn-grid', lines);
});

test('learn: a large map has the weights of its head, and tells each in words', async () => {
  const matrix = document.createElement('qkv-matrix');
  document.body.append(matrix);
  let painted = 0;
  document.body.addEventListener('surface-resized', () => ++painted);
  const large = new web.LargeMap(matrix);
  await rest();
  const settings = settingsFor('induction', { layers: 2, heads: 2 });
  const moment = momentOf(settings);
  const drawn = () => matrix.canvas.drawnWith?.drawn.filter(([name]) => name === 'drawImage') ?? [];
  layOut({ width: 0, height: 0 });
  const hidden = document.createElement('qkv-matrix');
  document.body.append(hidden);
  new web.LargeMap(hidden).draw({ settings }, moment, 9, 1);
  assert.equal(hidden.canvas.drawnWith, undefined, 'without a size there is nothing to paint');
  hidden.remove();
  layOut(SIZE);
  await rest();
  large.draw({ settings }, moment, 9, 1);
  await rest();
  assert.equal(painted, 0, 'nobody else is to paint it');
  const { rows, cols, rowLabels, colLabels, rowHeight, look, name, bracket, home } = matrix.model;
  const lines = [JSON.stringify({ rows, cols, rowLabels, rowHeight, look, name, bracket, home })];
  assert.equal(rowLabels, colLabels);
  assert.equal(rowLabels, web.probeOf(settings).words, 'the same words every time');
  const { width, height } = matrix.size;
  assert.ok(width > 0);
  assert.deepEqual(drawn().at(-1).slice(2), [0, 0, width, height]);
  const source = drawn().at(-1)[1];
  const side = rows;
  const of = moment.weights.subarray(3 * side * side);
  const at = 4 * Math.round(of[5] * 255);
  assert.deepEqual(
    [...pictureOn(source)[1].data.slice(20, 24)],
    [...web.cividis.slice(at, at + 4)],
  );
  for (const cell of [
    { row: 0, col: 0 },
    { row: 2, col: 5 },
    { row: side, col: 0 },
    { row: 0, col: side * side },
  ]) {
    lines.push(matrix.model.describe(cell));
    const { row, col } = cell;
    if (row < side && col < side)
      assert.ok(lines.at(-1).includes(String(of[row * side + col].toPrecision(4))));
  }
  assert.ok(large.describe(rowLabels, 2, 5) === lines[2]);
  const before = drawn().length;
  large.draw({ settings }, moment, 0, 2);
  assert.equal(matrix.model.name, 'Layer 1, head 1');
  assert.ok(drawn().length > before);
  const then = drawn().length;
  layOut({ width: 400, height: 320 });
  await rest();
  assert.ok(drawn().length > then, 'in another size it is painted again');
  requireWritten('learn-large', lines);
});
