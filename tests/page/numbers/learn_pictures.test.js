// @about web/src/features/learn/
// What the panel "Watch it learn" draws of its runs, in Node: curves and bars on the page, and all of it in the file that can be
// taken away.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { requireWritten } from '../support/operate.js';
import { runsOf } from '../support/learn_runs.js';
import { hashed, openWindow } from '../support/window.js';

openWindow(); // maps of the file are painted on canvases
const { modules } = await import('../support/engine.js');
const web = await modules(
  ...['ui/plot', 'state/state'],
  ...[
    'page/curves',
    'page/noise_chart',
    'page/run_record',
    'page/figure',
    'page/head_maps',
    'page/settings_of_state',
    'page/panel_view',
  ].map((name) => `features/learn/${name}`),
);

const { settingsFor, momentOf } = runsOf(web);

/** A run that has made so many steps; its loss falls from `from`. */
function runOf(id, steps, { from = 3, every = 5, births = [], ...more } = {}) {
  const record = new web.RunRecord(id, settingsFor('induction', { heads: 2, ...more }));
  const loss = Float32Array.from({ length: steps }, (_, i) => from / (1 + i / 8));
  const judged = [];
  for (let step = 0; step <= steps; step += every) {
    judged.push({ step, loss: (1.1 * from) / (1 + step / 9), accuracy: step / (steps + 1) });
  }
  const accuracy = loss.map((value) => Math.max(0, 1 - value / 3));
  record.add(
    {
      ...{ step: steps, loss, accuracy, judged, births, snapshot: null, writing: null },
      ...{ rate: 25, parameters: 999 },
    },
    2,
  );
  return record;
}

const split = (drawn) => drawn.replaceAll('><', '>\n<').split('\n');
const birth = (score, step) => ({ score, layer: 0, head: 1, step });

test('learn: curves of few steps and many, and the means of what is left out', () => {
  const lines = [];
  for (const [count, most] of [
    ...[0, 1, 3, 4, 5, 8, 9, 11].map((length) => [length, 4]),
    ...[239, 240, 241, 481].map((length) => [length]),
  ]) {
    const values = Float32Array.from({ length: count }, (_, i) => (i * i) % 7);
    const { xs, ys } = web.thinned(values, most);
    const round = (each) => Array.from(each.slice(0, 12), (value) => Number(value.toFixed(3)));
    lines.push(`${count} ${most}: ${xs.length} ${round(xs)} | ${ys.length} ${round(ys)}`);
  }
  requireWritten('learn-thinned', lines);
});

test('learn: curves, their axes and the marks of runs', () => {
  const lines = [];
  const run = runOf(1, 40);
  const kept = [2, 3, 4, 5].map((id) => runOf(id, 8 + id, { from: id }));
  const base = { measure: 'loss', current: run, kept: [], steps: 40, looked: null };
  const draw = (what, input, { width = 500, pen = web.pagePen } = {}) => {
    lines.push(`--- ${what}`, ...split(web.drawCurves(pen, width, { ...base, ...input })));
  };
  for (const measure of ['loss', 'accuracy']) {
    draw(`${measure}`, { measure });
    draw(`${measure}, nothing`, { measure, current: null, steps: 0 });
    draw(`${measure}, kept alone`, { measure, current: null, kept: kept.slice(0, 1), steps: 1 });
    draw(`${measure} in a file`, { measure, kept }, { pen: web.filePen });
  }
  for (let count = 1; count <= 4; ++count) draw(`${count} kept`, { kept: kept.slice(0, count) });
  for (const width of [419, 420]) draw(`${width} wide`, {}, { width });
  draw('looked at', { looked: 0 });
  draw('looked at', { looked: 13 });
  draw('before the first step', { current: runOf(1, 0), steps: 400 });
  draw('small losses', { current: runOf(1, 10, { from: 0.5 }) });
  const empty = new web.RunRecord(9, settingsFor('copy'));
  draw('no news yet', { current: empty });
  const first = runOf(1, 10, { from: 1 });
  first.loss[0] = 7;
  draw('a first loss above all', { current: first });
  draw('few judged', { current: runOf(1, 300, { every: 1.25 }), steps: 300 });
  draw('many judged', { current: runOf(1, 300, { every: 0.5 }), steps: 300 });
  // A step is a pixel: at 100 there is no room before the line, at 101 there is.
  for (const step of [100, 101, 0, 444]) {
    const births = [birth('previous', step), birth('induction', step), birth('same', step)];
    const current = runOf(1, 40, { births });
    draw(`born at ${step}`, { measure: 'accuracy', current, steps: 444 });
  }
  draw('born, of the loss', { current: runOf(1, 40, { births: [birth('same', 5)] }) });
  draw('born before', {
    measure: 'accuracy',
    current: null,
    kept: [runOf(1, 9, { births: [birth('same', 5)] })],
  });
  requireWritten('learn-curves', lines);
});

const noise = {
  ...{ step: 12, done: false, learned: [0.75, 0.19, 0.05, 0.01] },
  ...{ optimal: [0.753, 0.188, 0.047, 0.012], errors: { learned: 0.04, optimal: 0.03, mean: 0.3 } },
};

test('learn: the bars of the levels of noise', () => {
  const lines = [];
  for (const width of [200, 640, 700])
    lines.push(...split(web.drawNoise(web.pagePen, width, noise)));
  const nothing = { ...noise, learned: [], optimal: [] };
  lines.push(...split(web.drawNoise(web.filePen, 300, nothing)));
  requireWritten('learn-noise-chart', lines);
});

test('learn: what can be taken away', () => {
  // In the place of a picture stands a hash of the pixels that were painted last.
  HTMLCanvasElement.prototype.toDataURL = function () {
    const [, painted] = this.drawnWith.drawn.at(-1);
    return hashed(painted.drawnWith.drawn.at(-1)[1].data.join());
  };
  const lines = [];
  const settings = settingsFor('induction', { layers: 2, heads: 2 });
  const wide = settingsFor('copy', { layers: 1, heads: 8 });
  const take = (what, training, of = settings) => {
    const { name, svg, table, data } = web.learnFigure(
      { current: null, kept: [], noise: null, looked: null, ...training },
      of,
    );
    lines.push(`--- ${what}: ${name}, ${svg.width} x ${svg.height}`);
    const parts = split(svg.body).filter((line) => !/^<(path|text [^>]*fill|image)/.test(line));
    lines.push(hashed(svg.body), ...parts, ...(svg.body.match(/<image [^>]*preserve/g) ?? []));
    lines.push(...table.slice(0, 9).map((row) => row.join(';')), `${table.length} rows`);
    const { runs, snapshot, noise: told, settings: said } = data;
    lines.push(JSON.stringify({ runs: runs.map((run) => [Object.keys(run), run.loss.length]) }));
    lines.push(`${snapshot?.step} ${told?.step} ${JSON.stringify(said)}`);
  };
  take('nothing', {});
  take('what was estimated', { noise });
  take('little that was estimated', { noise: { ...noise, learned: [0.5], optimal: [] } });
  const current = runOf(1, 7, { layers: 2, births: [birth('previous', 5)] });
  take('a run without maps', { current });
  take('a run before its first step', { current: runOf(1, 0) });
  current.latest = momentOf(settings, 7);
  take('a run', { current });
  take('a run and those before', { current, kept: [runOf(2, 3), runOf(3, 2)], noise, looked: 4 });
  current.shown = momentOf(settings, 4);
  take('a step that is looked at', { current, looked: 4 });
  take('runs before alone', { kept: [runOf(2, 3), runOf(3, 2)] });
  const other = new web.RunRecord(4, wide);
  other.latest = momentOf(wide);
  take('eight heads', { current: other });
  requireWritten('learn-figure', lines);
});

test('learn: the axis holds what a run of its task takes', () => {
  const of = (task, step) => ({ settings: settingsFor(task), step });
  const steps = (current, kept, task = 'copy') => web.stepsOf({ current, kept }, settingsFor(task));
  assert.equal(steps(null, []), 400);
  assert.equal(steps(null, [], 'addition'), 600);
  assert.equal(steps(of('copy', 3), [], 'addition'), 400, 'of what is on the curves');
  assert.equal(steps(of('copy', 401), []), 401);
  assert.equal(steps(of('copy', 3), [of('copy', 900), of('addition', 1)]), 900);
  assert.equal(steps(of('copy', 3), [of('addition', 1)]), 600);
  assert.equal(steps(null, [of('copy', 700)]), 700);
  const record = { latest: 'latest', shown: 'shown' };
  assert.equal(web.shownOf(record, null), 'latest');
  assert.equal(web.shownOf(record, 0), 'shown');
  assert.equal(web.shownOf({ ...record, shown: null }, 3), 'latest');
});
