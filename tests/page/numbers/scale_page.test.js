// What the panel about the division by sqrt(d) works out, in an engine of the test's, and what it shows of it: widths, samples,
// guesses and what is said aloud.
import assert from 'node:assert/strict';
import { afterEach, test } from 'node:test';
import { pointsOf, wordsOf } from '../support/svg_marks.js';
import { openWindow } from '../support/window.js';

const { rest, layOut, leave } = openWindow();
afterEach(() => {
  leave();
  web.setLanguage('en');
});
const { modules } = await import('../support/engine.js');
const web = await modules(
  'features/scale/worker/frame_feature',
  'features/scale/page/plots',
  'features/scale/{panel,state}',
  'ui/{plot,numbers}',
  'state/state',
);
const [KEYS, ROWS] = [64, 64];
const WIDTHS = [4, 8, 16, 32, 64, 128, 256, 512, 1024];
const sum = (values) => values.reduce((a, b) => a + b, 0);

// ---- numbers ----

/** The entropy of a softmax, with the largest power 1. */
function entropyOf(scores) {
  const most = scores.reduce((a, b) => Math.max(a, b));
  const powers = scores.map((score) => Math.exp(score - most));
  const all = sum(powers);
  return powers.reduce((h, e) => (e > 0 ? h - (e / all) * Math.log(e / all) : h), 0);
}

/** An engine in float64; `wrong(call)` is added to a score and to the entropy of a call. */
function engine(wrong = () => ({})) {
  let calls = 0;
  const attention = (q, k, _v, { scale }) => {
    const width = q.data.length;
    const scores = Float64Array.from({ length: KEYS }, (_, j) => {
      let dot = 0;
      for (let c = 0; c < width; c++) dot += q.data[c] * k.data[j * width + c];
      return dot * scale;
    });
    const { score = 0, at = 0, entropy = 0 } = wrong(calls++);
    const told = entropyOf(scores) + entropy;
    scores[at] += score;
    return { logits: { data: scores }, entropy: { data: [told] } };
  };
  return { attention };
}

const close = (got, wanted, name) =>
  assert.ok(Math.abs(got - wanted) <= 1e-9 * Math.abs(wanted), `${name}: ${got}, not ${wanted}`);

test('scale: the largest errors, of a score as a share of sqrt(d)', () => {
  const errorOf = (wrong, rows = 2 * ROWS) => {
    const study = web.widthStudy(engine(wrong), 1);
    let news;
    for (let turn = 0; turn <= rows && !news; turn++) news = study.next().value;
    return news.error;
  };
  // Of the first width, 4: calls are plain and divided in turn.
  for (const [call, score, at, share] of [
    [0, 0.5, 0, 0.25],
    [0, -0.5, 63, 0.25],
    [126, 0.5, 5, 0.25],
    [1, 0.5, 0, 0.5],
    [127, -0.25, 7, 0.25],
  ]) {
    const found = errorOf((now) => (now === call ? { score, at } : {}));
    close(found.scores, share, `call ${call}`);
    assert.equal(found.entropy, 0);
  }
  for (const entropy of [0.125, -0.25]) {
    const found = errorOf((now) => (now === 77 ? { entropy } : {}));
    close(found.entropy, Math.abs(entropy), 'entropy');
    assert.equal(found.scores, 0);
  }
  assert.ok(Number.isNaN(errorOf((now) => (now === 4 ? { entropy: NaN } : {})).entropy));
  for (const answer of [{ logits: { data: [] } }, { entropy: { data: [0] } }]) {
    assert.throws(
      () => web.widthStudy({ attention: () => answer }, 1).next(),
      /left out logits or entropy/,
    );
  }
});

// ---- the panel ----

const spread = (variance, entropy) => ({
  ...{ variance, entropy, entropyError: 0.01 },
  counts: Array.from({ length: 32 }, (_, i) =>
    Math.round(500 * Math.exp(-(((i - 15.5) / 6) ** 2))),
  ),
});
const resultOf = (width, to = 0.9) => ({
  width,
  plain: spread(0.98 * width, width === 1024 ? to : 3.6 - 0.3 * Math.log2(width)),
  scaled: spread(1.02, 3.67 - width / 1e5),
});
const studyOf = (sample, count = 9, to) => ({
  ...{
    sample,
    results: WIDTHS.slice(0, count).map((width) => resultOf(width, to)),
    complete: count === 9,
  },
  error: { scores: 1.25e-7, entropy: 2.5e-7 },
});
async function put() {
  const panel = document.createElement('qkv-panel-scale');
  document.body.replaceChildren(panel);
  const asked = [];
  document.addEventListener('state-change', ({ detail }) => asked.push(detail));
  await rest();
  const viewOf = (patch, study, more) => {
    const state = { ...web.initialState('en'), ...patch };
    return { state, studies: { scale: study }, engine: { kind: 'ready' }, look: 1, ...more };
  };
  const show = async (patch = {}, study = studyOf(patch.sample ?? 1), more = {}) => {
    panel.update(viewOf(patch, study, more));
    await rest();
  };
  const find = (selector) => panel.querySelector(selector);
  return { panel, asked, show, viewOf, find, text: (selector) => find(selector).textContent };
}

test('scale: what is shown of a width, from the first one on', async () => {
  const { show, find, text } = await put();
  const numbers = () => ['variance', 'before', 'after', 'law', 'difference'].map((name) => text(`[data-number=${name}]`));
  for (const [patch, study, more, why] of [
    [{}, null, {}, 'plots.loading'],
    [{}, null, { engine: { kind: 'failed' } }, 'map.failed'],
    [{ width: 64 }, studyOf(1, 4), {}, 'plots.loading'],
  ]) {
    await show(patch, study, more);
    assert.deepEqual([find('.lab'), text('.placeholder')], [null, web.textOf(why)]);
  }
  const law = Math.log(KEYS) - 0.5;
  for (const width of [4, 8, 16, 1024]) {
    for (const divided of [false, true]) {
      await show({ width, divided });
      assert.deepEqual([find('.lab').hidden, find('.placeholder').hidden], [false, true]);
      const { plain, scaled } = resultOf(width);
      const wanted = [(divided ? scaled : plain).variance, plain.entropy, scaled.entropy, law].map((value) => web.digits(value, 4));
      assert.deepEqual(numbers(), [...wanted, web.digits(law - scaled.entropy, 2)]);
      // Scores of deviation sqrt(d) collapse beyond sqrt(2 ln 64), which is sqrt(8.3).
      assert.match(text('.verdict'), width > 8 ? /collapse onto the largest few\. Dividing/ : /This is still below/);
      assert.ok(text('.tails').includes(web.digits(6 / width, 2)));
      assert.deepEqual([text('[for=width]:not(label)'), find('#divided').checked], [`d = ${width}`, divided]);
    }
  }
  const before = numbers();
  await show({ sample: 2, width: 8 }, studyOf(1));
  assert.deepEqual(numbers(), before, 'the sample before stays until another is there');
  assert.match(text('.check-note'), /Widths done: 9 of 9\..*by at most 1\.2×10⁻⁷ standard deviations and 2\.5×10⁻⁷/);
}); // prettier-ignore

test('scale: its file has the numbers of all widths, once they are complete', async () => {
  const { panel, viewOf } = await put();
  const study = studyOf(7);
  const { svg, table } = await panel.figure(viewOf({ width: 16, divided: true, sample: 7 }, study));
  const row = ({ width, plain, scaled }) => [
    width,
    ...[plain, scaled].flatMap((of) => [of.variance, of.entropy, of.entropyError]),
    Math.log(KEYS) - 0.5,
  ];
  assert.deepEqual(table.slice(1), study.results.map(row));
  assert.ok(wordsOf(svg.body).includes('d = 16, sample 7'));
  assert.equal(await panel.figure(viewOf({}, studyOf(1, 8))), null, 'not yet complete');
  assert.equal(await panel.figure(viewOf({ sample: 2 }, studyOf(1))), null, 'of another sample');
  assert.equal(await panel.figure(viewOf({}, null)), null);
});

test('scale: what is said aloud is said of a sample and of a division, not of a width', async () => {
  const { show, find, text } = await put();
  for (const [patch, said, more] of [
    [{}, ''],
    [{ width: 8 }, ''],
    [{ width: 8, divided: true }, /^d = 8: variance 1\.02/],
    [{ width: 16, divided: true }, /^d = 8/],
    [{ width: 16, divided: true, sample: 2 }, /^d = 16: variance 1\.02/],
    [{ width: 16, sample: 2 }, /^d = 16: variance 15\.7/],
    [{ width: 16, sample: 2, language: 'zh' }, '', { look: 2 }],
  ]) {
    await show(patch, undefined, more);
    if (said === '') assert.equal(text('[data-said]'), '');
    else assert.match(text('[data-said]'), said);
    const { width, divided, sample = 1 } = { ...web.initialState('en'), ...patch };
    const { plain, scaled } = resultOf(width);
    const variance = web.digits((divided ? scaled : plain).variance, 3);
    assert.ok(find('#width').getAttribute('aria-valuetext').includes(variance), `sample ${sample}`);
  }
});

test('scale: a guess is right by the way of the entropy, of which a tenth is no change', async () => {
  const { show, find, text, asked } = await put();
  layOut({ width: 0, height: 0 }); // nothing is drawn
  const studyTo = (to, from = 10, count = 9) => {
    const study = studyOf(1, count);
    study.results[0].plain.entropy = from;
    study.results.at(-1).plain.entropy = to;
    return study;
  };
  for (const [to, way] of [
    [8.99, 'falls'],
    [9, 'stays'],
    [11, 'stays'],
    [11.01, 'rises'],
  ]) {
    for (const guess of ['falls', 'stays', 'rises', 'show']) {
      await show({ scaleAsk: true }, studyTo(to));
      assert.deepEqual(
        ['.lab-pair', '.lab-side'].map((part) => find(part).hidden),
        [true, true],
      );
      asked.length = 0;
      find(`[data-guess=${guess}]`).click();
      assert.deepEqual(asked, [{ scaleAsk: false }]);
      await show({}, studyTo(to));
      const verdict = guess === 'show' ? /^$/ : guess === way ? /^Right/ : /^Not quite/;
      assert.match(text('.guess-answer'), verdict, `from 10 to ${to}: ${guess}`);
    }
  }
  await show({ scaleAsk: true }, studyTo(9));
  find('[data-guess=stays]').click();
  await show({}, studyTo(9, 10, 7));
  assert.equal(text('.guess-answer'), '', 'while widths are computed');
  await show({}, studyTo(9));
  assert.match(
    text('.guess-answer'),
    /^Right\. From d = 4 to 1024, the mean entropy of q·k goes from 10\.0 to 9\.00 nats/,
  );
  await show({ sample: 2 });
  await show({}, studyTo(9));
  assert.equal(text('.guess-answer'), '', 'of another sample nothing was guessed');
  find('.guess-again').click();
  assert.deepEqual(asked.at(-1), { scaleAsk: true });
  await show({ scaleAsk: true }, studyTo(9));
  assert.ok(document.activeElement === find('[data-guess=falls]'));
});

test('scale: curves over widths that double stand at even distances, and variances are lines of slope 1 and 0', () => {
  const { results } = studyOf(1);
  for (const width of [340, 398]) {
    const svg = web.drawVariances(web.pagePen, width, results, 16);
    const curves = ['plain', 'scaled'].map((kind) => pointsOf(svg, `plot-${kind}`));
    for (const curve of curves) {
      const steps = curve.slice(1).map(([x], i) => x - curve[i][0]);
      assert.equal(curve.length, WIDTHS.length);
      assert.ok(Math.max(...steps) - Math.min(...steps) < 0.11, `${steps}`);
    }
    const rises = curves.map((curve) => curve.slice(1).map(([, y], i) => curve[i][1] - y));
    assert.ok(Math.max(...rises[0]) - Math.min(...rises[0]) < 0.21 && Math.min(...rises[0]) > 0);
    assert.ok(rises[1].every((rise) => Math.abs(rise) < 0.11));
    // On less than 330 pixels every other width is written.
    const written = WIDTHS.filter((d) => wordsOf(web.drawEntropies(web.pagePen, width, results, 8)).includes(`${d}`));
    assert.deepEqual(written.filter((d) => d > 4), WIDTHS.filter((d, i) => d > 4 && (width > 388 || i % 2 === 0)));
  }
  // Of 64 x 64 scores, 32 bins over four deviations: the bars stand below the density of N(0, d).
  const [narrow, wide] = [419, 420].map((width) => wordsOf(web.drawHistogram(web.pagePen, width, resultOf(16), false)).length);
  assert.ok(narrow < wide, 'fewer numbers on a narrow axis');
}); // prettier-ignore
