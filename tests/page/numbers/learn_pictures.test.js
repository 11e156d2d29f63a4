// What the panel "Watch it learn" draws of its runs, in Node: curves and bars on the page, maps of its heads, and all of it in the
// file that can be taken away.
import assert from 'node:assert/strict';
import { afterEach, test } from 'node:test';
import { runsOf } from '../support/learn_runs.js';
import { numbersOf } from '../support/drawing.js';
import { openWindow } from '../support/window.js';

const { leave } = openWindow();
const { modules } = await import('../support/engine.js');
const parts = ['curves', 'noise_chart', 'run_record', 'figure', 'head_maps', 'settings_of_state', 'panel_view', 'paint_map']; // prettier-ignore
const web = await modules(
  ...['ui/plot', 'state/state', 'ui/matrix/painted_matrix', 'domain/cividis'],
  ...parts.map((name) => `features/learn/page/${name}`),
);
afterEach(leave);

const { settingsFor, momentOf } = runsOf(web);

/** A run that has made so many steps; its loss falls from `from`. */
function runOf(id, steps, { from = 3, every = 5, births = [], ...more } = {}) {
  const record = new web.RunRecord(id, settingsFor('induction', { heads: 2, ...more }));
  const loss = Float32Array.from({ length: steps }, (_, i) => from / (1 + i / 8));
  const judged = [];
  for (let step = 0; step <= steps; step += every) {
    judged.push({
      step,
      loss: (1.1 * from) / (1 + step / 9),
      accuracy: step / (steps + 1),
      best: [0.1, 0.2],
    });
  }
  const accuracy = loss.map((value) => Math.max(0, 1 - value / 3));
  const nothing = { snapshot: null, writing: null, rate: 25, parameters: 999 };
  record.add({ step: steps, loss, accuracy, judged, births, tuned: [], ...nothing }, 2);
  return record;
}
const birth = (score, step) => ({ score, layer: 0, head: 1, step });

// ---- curves ----

test('learn: curves have at most so many points, each the mean of as many steps', () => {
  for (const [count, most, points] of [
    [0, 4, 0],
    [4, 4, 4],
    [5, 4, 3],
    [11, 4, 4],
    [240, undefined, 240],
    [241, undefined, 121],
  ]) {
    const values = Float32Array.from({ length: count }, (_, i) => (i * i) % 7);
    const { xs, ys } = web.thinned(values, most);
    assert.deepEqual([xs.length, ys.length], [points, points]);
    const width = Math.ceil(count / points);
    xs.forEach((x, i) => {
      const part = values.subarray(i * width, (i + 1) * width);
      assert.equal(x, i * width + (part.length - 1) / 2, 'the middle of its steps');
      assert.ok(Math.abs(ys[i] - part.reduce((a, b) => a + b) / part.length) < 1e-5);
    });
  }
});

const base = { measure: 'loss', current: null, kept: [], steps: 40, looked: null };
const draw = (input, width = 500) => web.drawCurves(web.pagePen, width, { ...base, ...input });
const labelsOf = (drawn) => Array.from(drawn.matchAll(/>([^<>]+)<\/text>/g), ([, text]) => text);
/** The numbers of an axis of a drawing with these labels. */
const ticksOf = (drawn) => labelsOf(drawn).map(Number).filter((value) => !Number.isNaN(value)); // prettier-ignore

test('learn: axes of curves end at what is on them', () => {
  assert.deepEqual(ticksOf(draw({ measure: 'accuracy' })), [0, 0.5, 1, 0, 5, 10, 15, 20, 25, 30, 35, 40]); // prettier-ignore
  assert.ok(
    ticksOf(draw({ measure: 'accuracy' }, 419)).length < 11,
    'fewer where there is no room',
  );
  const highest = (from, first = from) => {
    const current = runOf(1, 10, { from });
    current.loss[0] = first;
    const ticks = ticksOf(draw({ current }));
    return Math.max(...ticks.slice(0, ticks.indexOf(0, 1)));
  };
  assert.deepEqual([highest(0.5), highest(3), highest(1, 7)], [1, 3, 6], 'up to the largest loss');
});

test('learn: each run has its mark: that of now is solid, A dashed, and then B and C', () => {
  const current = runOf(1, 40);
  const kept = [2, 3, 4].map((id) => runOf(id, 8 + id, { from: id }));
  const marks = (input) => new Set(Array.from(draw(input).matchAll(/class="plot-(scaled|plain|gradient|density)"/g), ([, mark]) => mark)); // prettier-ignore
  for (let count = 0; count <= 3; ++count) {
    const wanted = ['scaled', 'plain', 'gradient', 'density'].slice(0, count + 1);
    assert.deepEqual(marks({ current, kept: kept.slice(0, count) }), new Set(wanted));
  }
  assert.deepEqual(marks({ kept: kept.slice(0, 1) }), new Set(['plain']), 'A alone is A');
  assert.deepEqual(marks({}), new Set());
});

test('learn: the axis holds what a run of its task takes', () => {
  const of = (task, step) => ({ settings: settingsFor(task), step });
  const steps = (current, kept, task = 'copy') => web.stepsOf({ current, kept }, settingsFor(task));
  assert.equal(steps(null, []), 400);
  assert.equal(steps(null, [], 'addition'), 600);
  assert.equal(steps(of('copy', 3), [], 'addition'), 400, 'of what is on the curves');
  assert.equal(steps(of('copy', 3), [of('copy', 900), of('addition', 1)]), 900);
  assert.equal(steps(of('copy', 3), [of('addition', 1)]), 600);
  const record = { latest: 'latest', shown: 'shown' };
  assert.equal(web.shownOf(record, null), 'latest');
  assert.equal(web.shownOf(record, 0), 'shown');
  assert.equal(web.shownOf({ ...record, shown: null }, 3), 'latest');
});

const noise = {
  ...{ step: 12, done: false, learned: [0.75, 0.19, 0.05, 0.01] },
  ...{ optimal: [0.753, 0.188, 0.047, 0.012], errors: { learned: 0.04, optimal: 0.03, mean: 0.3 } },
};

test('learn: a bar for each level of noise, as high as its weight', () => {
  for (const [width, words] of [
    [640, '0.750 / 0.753'],
    [300, '0.750'],
  ]) {
    const drawn = web.drawNoise(web.pagePen, width, noise);
    const heights = numbersOf(drawn, 'rect', 'height');
    heights.forEach((height, i) => assert.ok(Math.abs(height / heights[0] - noise.learned[i] / 0.75) < 0.01)); // prettier-ignore
    assert.equal(heights.length, 4);
    assert.ok(labelsOf(drawn).includes('σ = 0.25') && labelsOf(drawn).includes(words));
  }
});

// ---- maps ----

/** The pixels that were put onto a canvas last, as lists of red, green, blue and alpha. */
function pixelsOn(canvas) {
  const [, { data }] = canvas.drawnWith.drawn.findLast(([name]) => name === 'putImageData');
  return Array.from({ length: data.length / 4 }, (_, i) => [...data.slice(4 * i, 4 * i + 4)]);
}
const colourOf = (weight) => [...web.cividis.subarray(4 * Math.round(255 * weight)).slice(0, 4)];

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
  assert.deepEqual(pixelsOn(canvas), Array.from(weights.subarray(2, 11), colourOf));
  const to = document.createElement('canvas');
  web.enlarge(canvas, to, 30, 20);
  assert.deepEqual([to.width, to.height, to.drawnWith.imageSmoothingEnabled], [30, 20, false]);
});

// ---- the file ----

test('learn: what can be taken away has every step of each run, or what there is without one', () => {
  HTMLCanvasElement.prototype.toDataURL = () => 'data:pixels';
  const settings = settingsFor('induction', { layers: 2, heads: 2 });
  const take = (training, of = settings) =>
    web.learnFigure({ current: null, kept: [], noise: null, looked: null, ...training }, of);
  const count = ({ svg }, what) => svg.body.split(what).length - 1;
  const nothing = take({});
  assert.deepEqual(nothing.table, [['setting', 'value'], ...Object.entries(settings).map(([name, value]) => [name, String(value)])]); // prettier-ignore
  assert.deepEqual(take({ noise }).table.slice(1).map(([sigma]) => sigma), [0.25, 0.5, 1, 2]); // prettier-ignore
  const current = runOf(1, 7, { layers: 2, births: [birth('previous', 5)] });
  current.latest = momentOf(settings, 7);
  const kept = [runOf(2, 3), runOf(3, 2)];
  const all = take({ current, kept, noise });
  assert.equal(count(all, '<image'), 4, 'a map for each head');
  assert.ok(all.svg.height > nothing.svg.height);
  const steps = [[0, 7], [1, 2], [2, 3]].flatMap(([run, made]) => Array.from({ length: made }, (_, step) => [run, step])); // prettier-ignore
  assert.deepEqual(all.table.slice(1).map(([run, step]) => [run, step]), steps, 'that of now, then A'); // prettier-ignore
  assert.deepEqual(all.table[6].slice(2), [current.loss[5], current.accuracy[5], current.judged[1].loss, current.judged[1].accuracy]); // prettier-ignore
  assert.equal(all.data.snapshot.step, 7);
  current.shown = momentOf(settings, 4);
  assert.equal(take({ current, looked: 4 }).data.snapshot.step, 4);
  assert.equal(count(take({ kept }), '<image'), 0);
  const wide = settingsFor('copy', { layers: 1, heads: 8 });
  const other = new web.RunRecord(4, wide);
  other.latest = momentOf(wide);
  const places = numbersOf(take({ current: other }).svg.body, 'image', 'x');
  assert.deepEqual(places, [0, 144, 288, 432, 0, 144, 288, 432], 'four in a row');
});
