// What the panel about temperature shows of a row and does with guesses: rows that are the test's.
import assert from 'node:assert/strict';
import { afterEach, test } from 'node:test';
import { pointsOf, wordsOf } from '../support/svg_marks.js';
import { openWindow, SIZE } from '../support/window.js';

const { rest, layOut, leave } = openWindow();
const { modules } = await import('../support/engine.js');
const web = await modules(
  'features/temperature/page/{sentences,figure,histogram,plots}',
  'features/temperature/panel',
  'ui/{plot,numbers}',
  'state/state',
);

afterEach(leave);

// ---- rows ----

let ids = 0;
const rowOf = (more = {}) => ({
  ...{ id: ++ids, source: 'row', row: 2, scores: Float32Array.of(0.5, -1, 2, 0.25), mean: 0.4375 },
  ...{ cumulants: [NaN, NaN, 1.125, 0.4, -0.75, 0.1, 0.2], critical: 0.637, gap: 1.5, ...more },
});
const pointOf = (more = {}, of = rowOf()) => ({
  ...{ of, temperature: 1, entropy: 1.01234, largest: 0.65432, gradient: 0.34567, theory: 0.82345 },
  ...{ correction: 0.0123, verdict: 'holds', error: 1.25e-7 },
  ...{ jacobian: { keys: [0, 1], values: [0.2, -0.2, -0.2, 0.2] }, ...more },
});
const studyOf = (of, more = {}) => {
  const temperatures = Float64Array.from({ length: 9 }, (_, i) => 0.05 * 400 ** (i / 8));
  const curve = (make) => temperatures.map(make);
  return {
    ...{ id: of.id, temperatures, entropy: curve((x) => (1.38 * x) / (1 + x)) },
    ...{ largest: curve((x) => 0.25 + 0.7 / (1 + x)), gradient: curve((x) => 1 / (x + 1 / x)) },
    theory: curve((x) => 1.386 - 1.125 / (2 * x * x)),
    histogram: { from: -1, width: 0.6, counts: [1, 0, 2, 0, 1] },
    error: { entropy: 1e-7, largest: 2e-7, gradient: 3e-7 },
    ...more,
  };
};
const frameOf = (temperature, tokens = ['The', 'cat', 'sat', 'on']) => ({
  temperature,
  request: { layer: { tokens, source: 'constructed' }, view: { head: 1 } },
});

// ---- words ----

test('temperature: the theory has a number where it applies', () => {
  for (const [verdict, theory, applies] of [
    ['collapse', 0.5, false],
    ['close', 0, true],
    ['close', -0.01, false],
    ['holds', 0.5, true],
  ]) {
    const point = pointOf({ verdict, theory });
    const numbers = applies
      ? { theory: web.digits(theory, 4), difference: web.digits(theory - 1.01234, 3) }
      : { theory: 'does not apply', difference: '–' };
    assert.deepEqual(web.lawNumbers(point), numbers, `${verdict} ${theory}`);
    assert.match(web.spoken(point, true), applies ? /, theory 0/ : /the theory does not apply$/);
    assert.doesNotMatch(web.spoken(point, false), /theory/, 'before the curves are shown');
  }
});

test('temperature: verdicts name the ratio to tau_c and the shape of the scores', () => {
  const deviation = Math.sqrt(1.125);
  const values = {
    ...{ temperature: 1.5, most: web.digits(Math.log(4), 3), ratio: web.digits(1.5 / 0.637, 3) },
    ...{ sharing: web.digits(Math.exp(1.01234), 3), correction: '0.012' },
    skewness: web.digits(0.4 / deviation ** 3, 2),
    kurtosis: web.digits(-0.75 / deviation ** 4, 2),
  };
  for (const [verdict, ...names] of [
    ['single'],
    ['equal', 'most'],
    ['collapse', 'temperature', 'sharing'],
    ['close', 'ratio'],
    ['shape', 'ratio', 'skewness', 'kurtosis', 'correction'],
    ['holds', 'ratio', 'skewness', 'kurtosis', 'correction'],
  ]) {
    const said = web.textOf(...web.verdictWords(pointOf({ verdict, temperature: 1.5 })));
    for (const name of names)
      assert.ok(said.includes(values[name]), `${verdict}: ${name} in ${said}`);
    assert.doesNotMatch(said, /\{|NaN|undefined/);
  }
});

test('temperature: the gradient falls left of the gap, which may be none or outside of the axis', () => {
  const [tie, outside] = ['gradient.tie', 'gradient.outside'].map((key) => web.textOf(key));
  const said = (gap) => web.gradientStory(pointOf({}, rowOf({ gap })));
  assert.equal(said(null), web.textOf('gradient.single'));
  for (const [gap, words] of [[0, tie], [0.1, outside], [0.1499, outside], [0.1501, ''], [2, '']]) {
    assert.ok(said(gap).endsWith(words), `${gap}`);
    for (const other of [tie, outside]) if (other !== words) assert.ok(!said(gap).includes(other));
  } // prettier-ignore
});

test('temperature: a guess is asked about the farther end, where the entropy rises or falls', () => {
  for (const [temperature, end, rises] of [[0.05, 20, true], [1, 20, true], [1.01, 0.05, false], [20, 0.05, false]]) {
    const point = pointOf({ temperature });
    assert.ok(web.question(point).includes(`from ${temperature} to ${end}`));
    const study = studyOf(point.of);
    const after = web.digits(study.entropy.at(rises ? -1 : 0), 3);
    for (const guess of ['up', 'down']) {
      const said = web.answer({ study, point }, guess);
      assert.match(said, (guess === 'up') === rises ? /^Right\./ : /^It is the other way round\./);
      assert.ok(said.includes(`H goes ${rises ? 'up' : 'down'} from 1.01 to ${after} nats`), said);
    }
  }
}); // prettier-ignore

test('temperature: the picture is described by its ends, and the row by what it is', () => {
  for (const critical of [0.637, 0, null]) {
    const point = pointOf({}, rowOf({ critical }));
    const study = studyOf(point.of);
    const said = web.describe({ study, point });
    const [cold, hot] = [0, -1].map((at) => web.digits(study.entropy.at(at), 3));
    assert.ok(said.includes(`the entropy goes from ${cold} to ${hot} nats`), said);
    assert.equal(said.includes('critical temperature is 0.637'), critical === 0.637);
  }
  const name = (of) => web.textOf(...web.rowWords(frameOf(null), pointOf({}, rowOf(of))));
  assert.match(name({ source: 'random', row: 77 }), /^4 random scores, seed 77:/);
  assert.match(name({}), /2 “sat” in the head “previous token”\. .*: 4\.$/);
});

// ---- drawings ----

test('temperature: a histogram has bars as high as its counts, and a density where there is a spread', () => {
  const of = rowOf();
  const study = studyOf(of);
  for (const width of [360, 359]) {
    const svg = web.drawScores(web.pagePen, width, study, of);
    const bars = [...svg.matchAll(/<rect[^>]*height="([\d.]+)"/g)].map(([, height]) => Number(height));
    const tallest = Math.max(...bars);
    const heights = study.histogram.counts.filter(Boolean).map((count) => (tallest * count) / 2);
    assert.ok(bars.filter(Boolean).every((height, i) => Math.abs(height - heights[i]) < 0.2), `${bars}`);
    const density = pointsOf(svg, 'plot-density');
    const top = density.reduce((best, point) => (point[1] < best[1] ? point : best));
    const axis = [0.08, 0.92].map(() => density[0][0] + (density.at(-1)[0] - density[0][0]) / 2);
    // The axis has 3 and 0.08 of it on both sides: from -1.24 to 2.24; the mean is 0.4375.
    const mean = density[0][0] + ((0.4375 + 1.24) / 3.48) * (density.at(-1)[0] - density[0][0]);
    assert.ok(Math.abs(top[0] - mean) < 4, `the density is highest at the mean: ${top[0]}, ${mean}, ${axis[0]}`);
  }
  const alike = rowOf({ cumulants: [NaN, NaN, 0], mean: 3 });
  const histogram = { from: 2.5, width: 1, counts: [4] };
  const svg = web.drawScores(web.pagePen, 400, studyOf(alike, { histogram }), alike);
  assert.doesNotMatch(svg, /NaN|Infinity/);
}); // prettier-ignore

test('temperature: curves stand on a logarithmic axis, and the theory is drawn where it holds', () => {
  for (const [width, keys, critical] of [[200, 2, 0.4], [640, 5, 0.05], [640, 5, 0.4], [640, 5, 20 / 3]]) {
    const of = rowOf({ critical, scores: new Float32Array(keys) });
    const places = web.placesOf(width);
    const study = studyOf(of);
    const svg = web.drawCurves(web.pagePen, places, of, study);
    const y = web.entropyScale(places, keys);
    pointsOf(svg, 'plot-measured').forEach(([x, at], i) => {
      assert.ok(Math.abs(x - places.x(study.temperatures[i])) < 0.1, `${x}`);
      assert.ok(Math.abs(at - y(study.entropy[i])) < 0.1);
    });
    const right = (mark) => (svg.includes(`plot-${mark}"`) ? pointsOf(svg, `plot-${mark}`).map(([x]) => x) : []);
    const start = places.x(3 * critical);
    assert.ok(right('theory').every((x) => !(x < start - 0.1)));
    assert.ok(right('theory-outside').every((x) => !(x > places.x(3 * critical * 1.05) + 0.1)));
  }
  const of = rowOf();
  const places = web.placesOf(640);
  const blind = web.drawCurves(web.pagePen, places, of, null) + web.drawHere(web.pagePen, places, null, pointOf({}, of));
  for (const mark of ['measured', 'theory', 'weight', 'gradient', 'critical']) assert.ok(!blind.includes(`plot-${mark}"`), mark);
  const one = rowOf({ critical: null, scores: new Float32Array(1) });
  const flat = { gradient: new Float64Array(9), entropy: new Float64Array(9), theory: new Float64Array(9) };
  assert.doesNotMatch(web.drawCurves(web.pagePen, places, one, studyOf(one, flat)), /NaN|ln n/);
  for (const tau of [0.05, 0.3, 1, 20]) {
    assert.ok(Math.abs(places.temperatureAt(places.x(tau)) / tau - 1) < 1e-9, 'there and back');
  }
}); // prettier-ignore

test('temperature: tau_c has its label on the side where there is room, and an arrow where it is outside', () => {
  const places = web.placesOf(640);
  const label = (critical) => {
    const of = rowOf({ critical });
    const svg = web.drawCurves(web.pagePen, places, of, studyOf(of));
    const [, anchor, words] = /<text[^>]*text-anchor="(\w+)"[^>]*>([^<]*τ)/.exec(svg);
    return [words, anchor, svg.includes('plot-region'), svg.includes('plot-critical')];
  };
  const at = (px) => places.temperatureAt(42 + px);
  for (const [critical, ...expected] of [
    [0.01, '← τ', 'start', false, false],
    [at(50), 'τ', 'start', false, true],
    [at(95), 'τ', 'start', true, true],
    [at(105), 'τ', 'end', true, true],
    [at(500), 'τ', 'end', true, true],
    [30, 'τ', 'end', true, false],
  ]) {
    assert.deepEqual(label(critical), expected, `${critical}`);
  }
});

test('temperature: its file has the curves in a table', () => {
  const point = pointOf();
  const study = studyOf(point.of);
  const { svg, table, data } = web.temperatureFigure({ frame: frameOf(point), point, study });
  assert.deepEqual(Object.keys(data), ['layer', 'view', 'point', 'study']);
  const { temperatures, entropy, theory, largest, gradient } = study;
  const rows = Array.from(temperatures, (tau, i) => [tau, entropy[i], theory[i], largest[i], gradient[i]]);
  assert.deepEqual(table.slice(1), rows);
  assert.ok(wordsOf(svg.body)[0].endsWith('τ = 1'));
}); // prettier-ignore

// ---- the panel ----

/** The panel on a page of its own, and a way to show it a point. */
async function put() {
  const panel = document.createElement('qkv-panel-temperature');
  const asked = [];
  for (const name of ['state-change', 'temperature-held']) {
    document.addEventListener(name, ({ detail }) => asked.push(detail));
  }
  document.body.replaceChildren(panel);
  await rest();
  const state = { ...web.initialState('en'), scores: 'row' };
  const show = async (point, { study, patch, ...more } = {}) => {
    panel.update({
      ...{ state: { ...state, ...patch }, list: { tokens: ['The', 'cat', 'sat', 'on'] } },
      ...{ engine: { kind: 'ready' }, frame: point && frameOf(point), look: 1 },
      studies: { temperature: study ?? (point && studyOf(point.of)) },
      ...more,
    });
    await rest();
  };
  const find = (selector) => panel.querySelector(selector);
  return { panel, asked, show, find, text: (selector) => find(selector).textContent };
}

test('temperature: the panel before there is a row, without one, and after the engine failed', async () => {
  const { panel, show, find, text } = await put();
  assert.equal(await panel.figure(), null);
  const point = pointOf();
  const [none, other] = [{ tokens: [] }, { tokens: ['x'] }];
  for (const [of, more, why] of [
    [null, {}, 'plots.loading'],
    [null, { engine: { kind: 'failed' } }, 'map.failed'],
    [null, { patch: { scores: 'random' }, list: none }, 'plots.loading'],
    [null, { list: none }, 'plots.empty'],
    [point, { study: studyOf(rowOf()) }, 'plots.loading'], // curves of another row
    [point, { list: other }, 'plots.loading'],
    [point, {}, null],
    [point, { list: none }, 'plots.empty'],
    [point, { engine: { kind: 'failed' } }, 'map.failed'],
    [point, { list: other }, null], // what was shown stays for a moment
  ]) {
    await show(of, more);
    assert.equal(find('.lab').hidden, why !== null, JSON.stringify(more));
    assert.equal(text('.placeholder'), why ? web.textOf(why) : '');
  }
  assert.deepEqual(['entropy', 'largest', 'gradient'].map((name) => text(`[data-number=${name}]`)), ['1.012', '0.6543', '0.3457']);
  assert.match(text('.check-note'), /at 9 temperatures.*H 1\.0×10⁻⁷ nats/);
  assert.equal((await panel.figure()).name, 'temperature');
}); // prettier-ignore

test('temperature: what is to be guessed is hidden, but not of rows that leave nothing to guess', async () => {
  layOut({ width: 0, height: 0 }); // nothing is drawn
  const { show, find } = await put();
  for (const verdict of ['holds', 'single', 'equal', 'collapse', 'close', 'shape']) {
    const dull = ['single', 'equal'].includes(verdict);
    const of = verdict === 'single' ? rowOf({ critical: null, gap: null, scores: Float32Array.of(2) }) : rowOf();
    for (const curves of [true, false]) {
      await show(pointOf({ verdict }, of), { patch: { curves } });
      const asked = !curves && !dull;
      const hidden = ['.plot-key', '.verdict', '.gradient-story'].map((part) => find(part).hidden);
      assert.deepEqual([...hidden, find('.guess').hidden], [asked, asked, asked, !asked], verdict);
      assert.equal(find('.again').hidden, asked || dull);
      assert.equal(find('.verdict').dataset.verdict, verdict);
    }
  }
  layOut(SIZE);
}); // prettier-ignore

test('temperature: a guess is answered until another row is shown', async () => {
  const { show, find, text, asked } = await put();
  const point = pointOf();
  const study = studyOf(point.of);
  for (const [guess, answer] of [
    ['down', /^It is the other way round/],
    ['show', /^$/],
    ['up', /^Right/],
  ]) {
    await show(point, { patch: { curves: false }, study });
    assert.equal(find('.drawing .plot-measured'), null);
    asked.length = 0;
    find(`[data-guess=${guess}]`).click();
    await rest();
    assert.deepEqual(asked, [{ curves: true }]);
    assert.ok(document.activeElement === find('.plot-handle'), 'the focus is on the dot');
    await show(point, { study });
    assert.match(text('.guess-answer'), answer);
    await show(pointOf({ temperature: 3 }, point.of), { study });
    assert.match(text('.guess-answer'), answer, 'at another temperature, too');
  }
  await show(pointOf());
  assert.equal(text('.guess-answer'), '');
  find('.again').click();
  assert.deepEqual(asked.at(-1), { curves: false });
});

test('temperature: the dot moves over curves that stay', async () => {
  const { show, find } = await put();
  const point = pointOf();
  const study = studyOf(point.of);
  const seen = async (temperature) => {
    await show(pointOf({ temperature }, point.of), { study });
    return ['.curves .plot-measured', '.scores .plot-bar', '.here circle'].map(find);
  };
  const [first, later] = [await seen(1), await seen(3)];
  const stayed = first.map((element, i) => element !== null && element === later[i]);
  assert.deepEqual(stayed, [true, true, false]);
  assert.equal(find('.plot-handle').getAttribute('aria-valuenow'), '3');
});
