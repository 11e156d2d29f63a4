// Drawings in Node at every width and over ranges of what they show: all of them stay within their place, their words and numbers
// can be read, and what is larger stands higher or further to the right.
import { test } from 'node:test';
import { requireReadable } from '../support/drawing.js';
import { openWindow } from '../support/window.js';

openWindow();
const { modules } = await import('../support/engine.js');
/** Of each feature by itself: names of drawings are alike. */
const of = (feature, ...files) =>
  modules(...files.map((file) => `features/${feature}/page/${file}`));
const plot = await modules('ui/plot');
const [temperature, recurrence, scale, block, cost, model, learn, positions] = await Promise.all([
  of('temperature', 'plots', 'histogram'),
  of('recurrence', 'plots'),
  of('scale', 'plots'),
  of('block', 'plots'),
  of('cost', 'plots'),
  of('model', 'plots'),
  of('learn', 'curves', 'noise_chart', 'run_record', 'score_curves'),
  of('positions', 'drift_part'),
]);

const range = (count, from = 0) => Array.from({ length: count }, (_, i) => from + i);
/** Widths of drawings in pixels, from the narrowest phone to a wide window. */
const WIDTHS = [280, 300, 320, 358, 419, 420, 473, 640, 820];
/** `count` numbers from `low` to `high`, each the same multiple of the one before. */
const geometric = (low, high, count) =>
  Array.from({ length: count }, (_, i) =>
    Number((low * (high / low) ** (i / (count - 1))).toPrecision(4)),
  );

// ---- what is drawn ----

const spread = (median) => ({ median, low: 0.8 * median, high: 1.5 * median });
/** Times of both layers, the second one growing with the square. */
const timings = (factor = 1, count = 8) =>
  range(count, 4).map((power) => {
    const length = 2 ** power;
    const [gru, attention] = [0.002 * length, factor * 1e-5 * length ** 2 + 0.01].map(spread);
    return { length, gru, attention };
  });
const tallies = (right) =>
  range(19).map((i) => {
    const length = 4 + 2 * i;
    return { length, sequences: i % 7 === 6 ? 0 : 10, right: Math.round(right * length), whole: 1 };
  });
const byKind = (make) => ({ gru: make(0), gru_attention: make(1), transformer: make(2) });
const counted = byKind((kind) => tallies(9 - 3 * kind));
const norms = (least) =>
  byKind((kind) => Float64Array.from({ length: 40 }, (_, i) => least ** (i / 39) / (1 + kind)));
const reached = (least) => ({ first: norms(least), now: norms(Math.sqrt(least)) });

const COUNTS = range(32).map((i) => Math.round(500 * Math.exp(-(((i - 15.5) / 6) ** 2))));
const widthResult = (width) => {
  const spreadOf = (variance, entropy) => ({
    variance,
    entropy,
    entropyError: 0.01,
    counts: COUNTS,
  });
  return { width, plain: spreadOf(width, 8 / Math.sqrt(width)), scaled: spreadOf(1.02, 3.67) };
};
const widthResults = range(9, 2).map((power) => widthResult(2 ** power));

const band = (depth, growth) => {
  const middle = range(depth + 1).map((l) => growth ** l);
  return { middle, low: middle.map((x) => 0.9 * x), high: middle.map((x) => 1.2 * x) };
};
const depthResult = (depth, growth) => {
  const curves = (a) => ({ stream: band(depth, a), gradient: band(depth, 1 / a) });
  return { curves: { pre: curves(growth), post: curves(1) } };
};

const benchRows = (count = 7) =>
  range(7, 6).map((power, i) => {
    const tokens = 2 ** power;
    const known = i < count;
    return {
      ...{ tokens, storedMs: known ? 3e-6 * tokens ** 2 : NaN },
      ...{ streamingMs: known ? 1e-6 * tokens ** 2 : NaN, decodeMs: known ? 1e-5 * tokens : NaN },
      ...{ storedBytes: known ? 8 * tokens ** 2 : NaN, streamingBytes: known ? 65536 : NaN },
    };
  });

const trainingLog = (steps) => {
  const at = range(11).map((i) => (steps * i) / 10);
  const loss = at.map((_, i) => 5 - 0.3 * i);
  return {
    log: { steps: at, loss, heldOut: loss.map((x) => x + 0.1) },
    baselines: [
      ['bigram', 3.1],
      ['trigram', 2.4],
      ['four', 2.2],
      ['five', 2.1],
    ],
  };
};
const speeds = (last) =>
  [8, 16, 32, 64, 128, 192, 256, 384, 512]
    .filter((length) => length < last)
    .concat(last)
    .map((length) => ({ length, cached: 1 + 0.01 * length, whole: 0.2 * length }));

/** A run of so many steps, with births of heads at these. */
function run(id, steps, births = []) {
  const record = new learn.RunRecord(id, {});
  const numbers = Float32Array.from({ length: steps + 1 }, (_, i) => Math.exp(-i / 60));
  const every = Math.max(1, Math.round(steps / 12));
  const judged = range(Math.floor(steps / every) + 1).map((i) => {
    const step = every * i;
    return {
      step,
      loss: 1.5 * Math.exp(-step / 60),
      accuracy: 1 - Math.exp(-step / 60),
      best: [step / 999, 0],
    };
  });
  const born = births.map((step, head) => ({
    score: head ? 'induction' : 'previous',
    layer: 1,
    head,
    step,
  }));
  record.add(
    {
      step: steps,
      loss: numbers,
      accuracy: numbers.map((x) => 1 - x),
      judged,
      births: born,
      tuned: [],
      snapshot: null,
      writing: null,
      rate: 1,
      parameters: 9,
    },
    null,
  );
  return record;
}
const curvesOf = (measure, more = {}) => ({
  ...{ measure, current: run(3, 200, [40, 120]), kept: [run(1, 90), run(2, 150)] },
  ...{ steps: 200, looked: null, ...more },
});
const noise = { learned: [0.75, 0.19, 0.05, 0.01], optimal: [0.753, 0.188, 0.047, 0.012] };

const row = (critical, keys = 9) => {
  const scores = Float32Array.from({ length: keys }, (_, i) => i - (keys - 1) / 2);
  const variance = scores.reduce((sum, x) => sum + x * x, 0) / keys;
  return { id: 1, scores, critical, mean: 0, cumulants: [0, 0, variance, 0, 0, 0, 0] };
};
const study = (keys = 9) => {
  const temperatures = Float64Array.from(geometric(0.05, 20, 121));
  const curve = (make) => temperatures.map(make);
  return {
    ...{ id: 1, temperatures, entropy: curve((x) => (x / (1 + x)) * Math.log(keys)) },
    ...{ largest: curve((x) => 1 / (1 + x)), gradient: curve((x) => 1 / (x + 1 / x)) },
    theory: curve((x) => Math.log(keys) - 1 / (2 * x * x)),
    histogram: { from: -4.5, width: 0.75, counts: [1, 2, 0, 5, 9, 9, 4, 2, 1, 0, 1, 1] },
  };
};
const drawTemperature = (pen, width, critical, keys = 9) =>
  temperature.drawCurves(pen, temperature.placesOf(width), row(critical, keys), study(keys));
const drawHere = (width, at) => {
  const point = { of: row(1), temperature: at, entropy: 1.5, largest: 0.4, gradient: 0.3 };
  return temperature.drawHere(plot.pagePen, temperature.placesOf(width), study(), point);
};

const { pagePen, filePen } = plot;
const blockPens = { pen: pagePen, area: block.pageArea };
/** What is drawn, each as the values of what it shows and a drawing of one of them at a width. */
const DRAWINGS = {
  temperature: [
    geometric(0.004, 90, 60),
    (width, critical) => drawTemperature(filePen, width, critical),
  ],
  'temperature, keys': [
    [1, 2, 9, 64, 200],
    (width, keys) => drawTemperature(pagePen, width, 0.4, keys),
  ],
  'temperature without a theory': [
    [null, 0],
    (width, critical) => drawTemperature(pagePen, width, critical),
  ],
  'temperature here': [geometric(0.05, 20, 9), drawHere],
  'temperature scores': [
    [1, 2, 9, 40],
    (width, keys) => temperature.drawScores(filePen, width, study(keys), row(1, keys)),
  ],
  'recurrence accuracy': [
    [null, counted],
    (width, tallied) => recurrence.drawAccuracy('page', width, tallied),
  ],
  'recurrence reach': [
    geometric(1e-14, 1e3, 35),
    (width, least) => recurrence.drawReach('file', width, reached(least)),
  ],
  'recurrence reach of nothing': [[null], (width) => recurrence.drawReach('page', width, null)],
  'recurrence cost': [
    geometric(1e-3, 1e4, 29),
    (width, factor) => recurrence.drawCost('file', width, timings(factor)),
  ],
  'recurrence cost, lengths': [
    range(9),
    (width, count) => recurrence.drawCost('page', width, timings(1, count)),
  ],
  'scale histogram': [
    range(9, 2),
    (width, power) => scale.drawHistogram(pagePen, width, widthResult(2 ** power), power % 2 > 0),
  ],
  'scale entropies': [
    [4, 64, 1024],
    (width, d) => scale.drawEntropies(pagePen, width, widthResults, d),
  ],
  'scale variances': [
    [4, 9],
    (width, count) => scale.drawVariances(filePen, width, widthResults.slice(0, count), 8),
  ],
  'block gradient, depth': [
    range(64, 1),
    (width, depth) => block.drawGradient(blockPens, width, depthResult(depth, 1.15)),
  ],
  'block stream, growth': [
    geometric(0.5, 4, 25),
    (width, growth) => block.drawStream(blockPens, width, depthResult(8, growth)),
  ],
  'cost times': [
    range(8),
    (width, count) => cost.drawBench(pagePen, width, benchRows(count), cost.TIMES),
  ],
  'cost memory': [
    range(8),
    (width, count) => cost.drawBench(filePen, width, benchRows(count), cost.MEMORY),
  ],
  'model log': [
    geometric(10, 1e5, 21).map(Math.round),
    (width, steps) => model.drawLog(filePen, width, trainingLog(steps)),
  ],
  'model speed': [
    [16, 64, 256, 512, 1024],
    (width, last) => model.drawSpeed(filePen, width, speeds(last)),
  ],
  'learn accuracy, first birth': [
    range(21).map((i) => 10 * i),
    (width, step) =>
      learn.drawCurves(pagePen, width, curvesOf('accuracy', { current: run(3, 200, [step, 150]) })),
  ],
  'learn accuracy, tuned': [
    range(21).map((i) => 10 * i),
    (width, step) => {
      const current = run(3, 200);
      const tunings = [[1, 32, 0], [10, 32, 0], [0.1, 128, 0.3]]; // oxfmt-ignore
      tunings.forEach(([rate, batch, dropout], i) => current.tuned.push({ rate, batch, dropout, step: i * step })); // oxfmt-ignore
      return learn.drawCurves(pagePen, width, curvesOf('accuracy', { current, steps: 400 }));
    },
  ],
  'learn loss, steps': [
    range(20).map((i) => 100 * i),
    (width, steps) =>
      learn.drawCurves(
        pagePen,
        width,
        curvesOf('loss', { current: run(3, steps), steps: Math.max(150, steps) }),
      ),
  ],
  'learn loss, kept': [
    range(5),
    (width, count) => {
      const kept = range(count).map((id) => run(id, 20 + 30 * id));
      const current = count > 3 ? null : run(9, 60);
      return learn.drawCurves(pagePen, width, curvesOf('loss', { current, kept, looked: 40 }));
    },
  ],
  'learn scores': [
    range(20).map((i) => 100 * i),
    (width, steps) => {
      const record = new learn.RunRecord(4, { task: 'induction' });
      record.judged.push(...run(3, steps).judged);
      // The axis holds what a run of its task takes.
      return learn.drawScores(pagePen, width, { record, steps: Math.max(400, steps), looked: 40 });
    },
  ],
  'learn noise': [[0], (width) => learn.drawNoise(pagePen, width, noise)],
  'positions drift': [
    geometric(1e-12, 1, 13),
    (width, most) => {
      const drift = {
        positions: geometric(1, 65536, 33),
        naive: geometric(most / 1e6, most, 33),
      };
      return `<path d="${positions.driftPath(drift, 'naive', width, 250)}"/>`;
    },
  ],
};

for (const [name, [values, draw]] of Object.entries(DRAWINGS)) {
  test(`drawings: ${name}: all of it stands in its place and can be read`, () => {
    for (const width of WIDTHS) for (const value of values) requireReadable(draw(width, value), width, `${name} ${value} at ${width}`);
  });
} // prettier-ignore
