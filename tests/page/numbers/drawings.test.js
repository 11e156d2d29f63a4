// Drawings in Node at every width and over ranges of what they show: at which of them a drawing has other words or marks, and
// where everything stands on both sides of that, is what tests/page/operated/drawings.txt says. QKV_REFRESH=1 writes it down.
import { test } from 'node:test';
import { requireWritten, rounded } from '../support/operate.js';
import { hashed, openWindow } from '../support/window.js';

openWindow();
const { modules } = await import('../support/engine.js');
/** Of each feature by itself: names of drawings are alike. */
const of = (feature, ...files) =>
  modules(...files.map((file) => `features/${feature}/page/${file}`));
const plot = await modules('ui/plot');
const [temperature, recurrence, scale, block, cost, model, learn, positions, matrix] =
  await Promise.all([
    of('temperature', 'plots', 'histogram'),
    of('recurrence', 'plots'),
    of('scale', 'plots'),
    of('block', 'plots'),
    of('cost', 'plots'),
    of('model', 'plots'),
    of('learn', 'curves', 'noise_chart', 'run_record'),
    of('positions', 'drift_part'),
    modules('ui/matrix/labels', 'ui/matrix/layout'),
  ]);

const range = (count, from = 0) => Array.from({ length: count }, (_, i) => from + i);
/** Widths of drawings, in pixels: too narrow for anything, and of the narrowest phone to a wide window. */
const WIDTHS = [0, 60, 100, 140, 180, ...range(621, 200)];
/** `count` numbers from `low` to `high`, each the same multiple of the one before. */
const geometric = (low, high, count) =>
  Array.from({ length: count }, (_, i) =>
    Number((low * (high / low) ** (i / (count - 1))).toPrecision(4)),
  );

/** A drawing without numbers of places and lengths, and without those that a label gives, not an axis. */
const structure = (drawing) =>
  drawing
    .replace(/ ([\w-]+)="([^"]*)"/g, (_, name, value) =>
      /^(class|text-anchor)$/.test(name) ? ` ${name}=${value}` : ` ${name}`,
    )
    .replace(/ = [\d.]+/g, ' =');
const words = (drawing) =>
  Array.from(drawing.matchAll(/>([^<>]+)<\//g), ([, text]) => text).join(' | ');

/** A line for every range of values of which drawings have the same words and marks: these, the first, the last, and all of them. */
function sweep(values, draw) {
  const ranges = [];
  for (const value of values) {
    const drawing = draw(value);
    const marks = structure(drawing);
    const last = ranges.at(-1);
    const place = rounded(drawing);
    if (last?.marks === marks) Object.assign(last, { to: value }).places.push(place);
    else ranges.push({ marks, from: value, to: value, begin: drawing, places: [place] });
  }
  return ranges.map(({ marks, from, to, begin, places }) => {
    const told = [marks, places[0], places.at(-1), places.join('\n')].map(hashed);
    return `${from === to ? from : `${from} to ${to}`}: ${told.join(' ')} ${words(begin)}`;
  });
}

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
const speeds = (count) =>
  range(count, 4).map((power) => ({
    length: 2 ** power,
    cached: 1 + 0.01 * 2 ** power,
    whole: 0.2 * 2 ** power,
  }));

/** A run of so many steps, with births of heads at these. */
function run(id, steps, births = []) {
  const record = new learn.RunRecord(id, {});
  const numbers = Float32Array.from({ length: steps + 1 }, (_, i) => Math.exp(-i / 60));
  const every = Math.max(1, Math.round(steps / 12));
  const judged = range(Math.floor(steps / every) + 1).map((i) => {
    const step = every * i;
    return { step, loss: 1.5 * Math.exp(-step / 60), accuracy: 1 - Math.exp(-step / 60) };
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
const SWEEPS = {
  'temperature, width': [WIDTHS, (width) => drawTemperature(pagePen, width, 0.7)],
  'temperature, tau_c': [geometric(0.004, 90, 400), (at) => drawTemperature(filePen, 640, at)],
  'temperature, tau_c on a phone': [
    geometric(0.004, 90, 400),
    (at) => drawTemperature(pagePen, 300, at),
  ],
  'temperature, keys': [range(200, 1), (keys) => drawTemperature(pagePen, 500, 0.4, keys)],
  'temperature, without a theory': [[null, 0], (at) => drawTemperature(pagePen, 640, at)],
  'temperature here': [geometric(0.05, 20, 60), (at) => drawHere(640, at)],
  'temperature scores, width': [
    WIDTHS,
    (width) => temperature.drawScores(pagePen, width, study(), row(1)),
  ],
  'temperature scores, keys': [
    range(40, 1),
    (keys) => temperature.drawScores(filePen, 500, study(keys), row(1, keys)),
  ],
  'recurrence accuracy, width': [
    WIDTHS,
    (width) => recurrence.drawAccuracy('page', width, counted),
  ],
  'recurrence accuracy, papers': [
    ['page', 'file'],
    (paper) => recurrence.drawAccuracy(paper, 640, paper === 'file' ? counted : null),
  ],
  'recurrence reach, width': [
    WIDTHS,
    (width) => recurrence.drawReach('file', width, reached(1e-4)),
  ],
  'recurrence reach, least norm': [
    geometric(1e-14, 1e3, 171),
    (least) => recurrence.drawReach('page', 640, reached(least)),
  ],
  'recurrence reach, nothing': [['page'], (paper) => recurrence.drawReach(paper, 640, null)],
  'recurrence cost, width': [WIDTHS, (width) => recurrence.drawCost('page', width, timings())],
  'recurrence cost, factor': [
    geometric(1e-3, 1e4, 141),
    (factor) => recurrence.drawCost('file', 640, timings(factor)),
  ],
  'recurrence cost, lengths': [
    range(9),
    (count) => recurrence.drawCost('page', 640, timings(1, count)),
  ],
  'scale histogram, width': [
    WIDTHS,
    (width) => scale.drawHistogram(pagePen, width, widthResult(64), true),
  ],
  'scale histogram, d': [
    range(9, 2).map((power) => 2 ** power),
    (d) => scale.drawHistogram(filePen, 640, widthResult(d), false),
  ],
  'scale entropies, width': [
    WIDTHS,
    (width) => scale.drawEntropies(pagePen, width, widthResults, 64),
  ],
  'scale variances, width': [
    WIDTHS,
    (width) => scale.drawVariances(filePen, width, widthResults.slice(0, 5), 8),
  ],
  'block stream, width': [
    WIDTHS,
    (width) => block.drawStream(blockPens, width, depthResult(12, 1.1)),
  ],
  'block gradient, depth': [
    range(64, 1),
    (depth) =>
      block.drawGradient({ pen: filePen, area: block.fileArea }, 500, depthResult(depth, 1.15)),
  ],
  'block stream, growth': [
    geometric(0.2, 8, 121),
    (growth) => block.drawStream(blockPens, 500, depthResult(8, growth)),
  ],
  'cost times, width': [WIDTHS, (width) => cost.drawBench(pagePen, width, benchRows(), cost.TIMES)],
  'cost memory, lengths': [
    range(8),
    (count) => cost.drawBench(filePen, 640, benchRows(count), cost.MEMORY),
  ],
  'cost times, lengths': [
    range(8),
    (count) => cost.drawBench(pagePen, 640, benchRows(count), cost.TIMES),
  ],
  'model log, width': [WIDTHS, (width) => model.drawLog(pagePen, width, trainingLog(3000))],
  'model log, steps': [
    geometric(1, 1e5, 101).map(Math.round),
    (steps) => model.drawLog(filePen, 640, trainingLog(steps)),
  ],
  'model speed, width': [WIDTHS, (width) => model.drawSpeed(pagePen, width, speeds(4))],
  'model speed, lengths': [range(8, 1), (count) => model.drawSpeed(filePen, 640, speeds(count))],
  'learn loss, width': [
    WIDTHS,
    (width) => learn.drawCurves(pagePen, width, curvesOf('loss', { looked: 77 })),
  ],
  'learn accuracy, width': [
    WIDTHS,
    (width) => learn.drawCurves(filePen, width, curvesOf('accuracy')),
  ],
  'learn accuracy, first birth': [
    range(201),
    (step) => {
      const current = run(3, 200, [step, 150]);
      return learn.drawCurves(pagePen, 500, curvesOf('accuracy', { current }));
    },
  ],
  'learn loss, steps': [
    range(300, 0).map((i) => 7 * i),
    (steps) => learn.drawCurves(pagePen, 500, curvesOf('loss', { current: run(3, steps), steps })),
  ],
  'learn loss, kept': [
    range(5),
    (count) => {
      const kept = range(count).map((id) => run(id, 20 + 30 * id));
      return learn.drawCurves(
        pagePen,
        500,
        curvesOf('loss', { current: count > 3 ? null : run(9, 60), kept }),
      );
    },
  ],
  'learn noise, width': [WIDTHS, (width) => learn.drawNoise(pagePen, width, noise)],
  'positions drift, width': [
    WIDTHS,
    (width) => {
      const drift = { positions: geometric(1, 65536, 33), naive: geometric(1e-9, 1e-2, 33) };
      const path = positions.driftPath(drift, 'naive', width, 250);
      return `<path d="${path}"/>${JSON.stringify(positions.driftScale(width, 250)).length}`;
    },
  ],
};

// ---- the axes of a matrix ----

/** Both axes of a matrix of these labels: how it is laid out, and what is written on the canvas. */
function drawAxes(width, labels, { rowHeight = 'square', ...set } = {}) {
  const canvas = document.createElement('canvas');
  const count = labels.length;
  const flat = labels.map(matrix.flatLength);
  const layout = matrix.layoutMatrix({
    ...{ width, maxHeight: 600, rows: count, cols: count, rowHeight },
    ...{ rowLabels: flat, colLabels: flat, colUpright: labels.map(matrix.uprightLength) },
  });
  const stage = { width, height: layout.top + layout.height };
  const all = { rowLabels: labels, colLabels: labels, active: null, bracket: null, ...set };
  matrix.drawLabels(canvas, stage, layout, all);
  const { mode, rowStep, colStep, ...places } = layout;
  const calls = canvas.getContext('2d').drawn.map(([name, ...args]) => {
    const text = args.filter((part) => typeof part === 'string').join(' ');
    const at = args.filter((part) => typeof part === 'number').map((part) => part.toFixed(1));
    return `<text class="${name}" at="${at.join(' ')}">${name === 'fillText' ? text : ''}</text>`;
  });
  const numbers = JSON.stringify(places).replaceAll('"', '');
  return `<p class="${mode} ${rowStep} ${colStep}" at="${numbers}"/>${calls.join('')}`;
}
const named = (count, length, letter = 'a') =>
  range(count).map((i) => letter.repeat(1 + ((length + i) % Math.max(1, length))));

const AXES = {
  'axes of words, width': [WIDTHS, (width) => drawAxes(width, named(8, 9))],
  'axes of words, tokens': [range(64, 1), (count) => drawAxes(640, named(count, 6))],
  'axes of words, tokens on a phone': [range(64, 1), (count) => drawAxes(358, named(count, 6))],
  'axes of words, letters': [range(40, 1), (length) => drawAxes(500, named(9, length))],
  'axes of Chinese, letters': [range(24, 1), (length) => drawAxes(500, named(20, length, '字'))],
  'axes of Chinese, width': [WIDTHS, (width) => drawAxes(width, named(16, 12, '字'))],
  'axes of words, the active one': [
    range(40),
    (at) => drawAxes(400, named(40, 5), { active: { row: at, col: 39 - at } }),
  ],
  'axes of a strip, rows': [
    range(96, 1),
    (count) => {
      const bracket = [Math.floor(count / 3), count];
      return drawAxes(640, range(count).map(String), { rowHeight: 9, bracket });
    },
  ],
  'axes of a strip, width': [
    WIDTHS,
    (width) => drawAxes(width, range(64).map(String), { rowHeight: 4 }),
  ],
};

test('drawings: at every width, and whatever there is to show, as they are written down', () => {
  const lines = Object.entries({ ...SWEEPS, ...AXES }).flatMap(([name, [values, draw]]) =>
    sweep(values, draw).map((line) => `${name} ${line}`),
  );
  requireWritten('drawings', lines);
});
