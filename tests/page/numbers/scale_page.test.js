// @about web/src/features/scale/
// What the panel about the division by sqrt(d) works out, in an engine of the test's, and what it shows of it: widths, samples, guesses
// and what is said aloud. tests/page/operated/scale-*.txt has it; QKV_REFRESH=1 writes it.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { differences, fire, linesOf, requireWritten, rounded } from '../support/operate.js';
import { openWindow, SIZE } from '../support/window.js';

const { rest, layOut } = openWindow();
const { modules } = await import('../support/engine.js');
const web = await modules(
  ...['worker/frame_feature', 'page/plots', 'page/figure', 'panel', 'state'].map(
    (name) => `features/scale/${name}`,
  ),
  ...['engine/random', 'ui/plot', 'state/state'],
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

/** An engine in float64 that keeps what it answered; `wrong(call)` is added to a score and to the entropy of a call. */
function engine(wrong = () => ({})) {
  const calls = [];
  const attention = (q, k, v, options) => {
    const { scale, ...more } = options;
    const width = q.data.length;
    assert.deepEqual(
      [q.shape, k.shape, v.shape, v.data.length, more],
      [
        [1, 1, 1, width],
        [1, 1, KEYS, width],
        [1, 1, KEYS, 1],
        KEYS,
        { returnLogits: 'raw', returnEntropy: true },
      ],
    );
    const scores = Float64Array.from({ length: KEYS }, (_, j) => {
      let dot = 0;
      for (let c = 0; c < width; c++) dot += q.data[c] * k.data[j * width + c];
      return dot * scale;
    });
    const { score = 0, at = 0, entropy = 0 } = wrong(calls.length);
    const told = entropyOf(scores) + entropy;
    scores[at] += score;
    calls.push({ scale, width, scores, entropy: told, first: [q.data[0], k.data[0]] });
    return { logits: { data: scores }, entropy: { data: [told] } };
  };
  return { calls, attention };
}

/** What scores and entropies of these calls come to, one after the other. */
function spreadOf(calls, deviation) {
  let [all, squares] = [0, 0];
  const counts = new Array(32).fill(0);
  for (const score of calls.flatMap(({ scores }) => [...scores])) {
    all += score;
    squares += score * score;
    const bin = Math.floor(4 * (score / deviation + 4));
    if (bin >= 0 && bin < 32) counts[bin]++;
  }
  const entropies = calls.map(({ entropy }) => entropy);
  const entropy = sum(entropies) / ROWS;
  const off = sum(entropies.map((h) => (h - entropy) ** 2));
  const mean = all / ROWS / KEYS;
  return {
    variance: squares / ROWS / KEYS - mean * mean,
    entropy,
    entropyError: Math.sqrt(off / (ROWS - 1) / ROWS),
    counts,
  };
}
const close = (got, wanted, name) =>
  assert.ok(Math.abs(got - wanted) <= 1e-9 * Math.abs(wanted), `${name}: ${got}, not ${wanted}`);

test('scale: spreads of every width, plain and divided, told after each', () => {
  const qkv = engine();
  const news = [...web.widthStudy(qkv, 3)];
  assert.equal(news.length, 9 * (ROWS + 1));
  const told = news.filter((one, i) => {
    assert.equal(one === undefined, i % (ROWS + 1) !== ROWS, 'it pauses after each row');
    return one;
  });
  told.forEach(({ sample, results, complete, error }, i) => {
    assert.deepEqual([sample, results.length, complete], [3, i + 1, i === 8]);
    assert.deepEqual(error, { scores: 0, entropy: 0 }, 'an engine in float64 makes none');
  });
  told.at(-1).results.forEach(({ width, plain, scaled }, i) => {
    assert.equal(width, WIDTHS[i]);
    const calls = qkv.calls.filter((call) => call.width === width);
    assert.equal(calls.length, 2 * ROWS);
    const root = Math.sqrt(width);
    for (const [spread, scale, deviation] of [
      [plain, 1, root],
      [scaled, Math.fround(1 / root), 1],
    ]) {
      const own = calls.filter(
        (call, n) => call.scale === scale && n % 2 === (spread === plain ? 0 : 1),
      );
      assert.equal(own.length, ROWS);
      const wanted = spreadOf(own, deviation);
      for (const name of ['variance', 'entropy', 'entropyError'])
        close(spread[name], wanted[name], name);
      assert.deepEqual(spread.counts, wanted.counts);
    }
    const fill = web.normals(web.hashText(`width ${width}`, 3));
    const [q, k] = [new Float32Array(width), new Float32Array(KEYS * width)];
    fill(q);
    fill(k);
    assert.deepEqual(
      [calls[0].first, calls[1].first],
      [
        [q[0], k[0]],
        [q[0], k[0]],
      ],
    );
  });
});

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
      /left out what it was asked for/,
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
const drawn = (body) => body.replaceAll('><', '>\n<').split('\n').map(rounded);

const said = [];
document.addEventListener('state-change', ({ detail }) =>
  said.push(`asks for ${JSON.stringify(detail)}`),
);
const fold = ({ localName, className }) =>
  localName === 'svg' && className.baseVal !== '' ? 'short' : 'open';

async function put() {
  const panel = document.createElement('qkv-panel-scale');
  document.body.replaceChildren(panel);
  await rest();
  const lines = [];
  let before = [];
  const note = (title) => {
    const now = linesOf(panel, { fold });
    lines.push('', `=== ${title}`, ...said.splice(0), ...differences(before, now));
    before = now;
  };
  const viewOf = (patch, study, more) => {
    const state = { ...web.initialState('en'), ...patch };
    return { state, studies: { scale: study }, engine: { kind: 'ready' }, look: 1, ...more };
  };
  const show = async (title, patch = {}, study = studyOf(patch.sample ?? 1), more = {}) => {
    panel.update(viewOf(patch, study, more));
    await rest();
    note(title);
  };
  const act = async (title, work) => {
    work();
    await rest();
    note(title);
  };
  return { panel, lines, show, act, viewOf, find: (selector) => panel.querySelector(selector) };
}

test('scale: what is shown of a width, from the first one on', async () => {
  const { panel, lines, show, viewOf } = await put();
  await show('before anything', {}, null);
  await show('after the engine failed', {}, null, { engine: { kind: 'failed' } });
  await show('a width that is not there yet', { width: 64 }, studyOf(1, 4));
  await show('a width that is', { width: 8 }, studyOf(1, 4));
  for (const width of [4, 8, 16, 1024]) {
    for (const divided of [false, true])
      await show(`d = ${width}${divided ? ', divided' : ''}`, { width, divided });
  }
  await show('another sample, before it is there', { sample: 2, width: 1024 }, studyOf(1));
  await show('another sample', { sample: 2, width: 1024 });
  const taken = [
    [{ width: 16 }, studyOf(1)],
    [{ width: 16, divided: true, sample: 7 }, studyOf(7)],
  ];
  for (const [patch, study] of taken) {
    const { name, svg, table, data } = await panel.figure(viewOf(patch, study));
    lines.push('', `=== taken away: ${name}, ${svg.width} x ${svg.height}`, ...drawn(svg.body));
    lines.push(...table.map((row) => rounded(JSON.stringify(row))), Object.keys(data).join());
  }
  assert.equal(await panel.figure(viewOf({}, studyOf(1, 8))), null, 'not yet complete');
  assert.equal(await panel.figure(viewOf({ sample: 2 }, studyOf(1))), null, 'of another sample');
  assert.equal(await panel.figure(viewOf({}, null)), null);
  const partly = web.scaleFigure(studyOf(1, 2), { width: 64, divided: false, sample: 1 });
  const places = drawn(partly.svg.body).filter((line) => line.startsWith('<g'));
  lines.push('', `=== without the width: ${partly.svg.height}`, ...places);
  requireWritten('scale-shown', lines);
});

test('scale: its controls, up to the last sample', async () => {
  const { lines, show, act, find } = await put();
  await act('drawn before there is a state', () => find('.draw').click());
  for (const sample of [1, 2, 9998, 9999]) {
    await show(`sample ${sample}`, { sample });
    await act('the next one is drawn', () => find('.draw').click());
  }
  for (const value of ['2', '7', '10']) {
    find('#width').value = value;
    await act(`width ${value}`, () => fire(find('#width'), 'input'));
  }
  for (const checked of [true, false]) {
    find('#divided').checked = checked;
    await act(`divided: ${checked}`, () => fire(find('#divided'), 'change'));
  }
  assert.equal(web.scaleRequest({ sample: 5, width: 4 }), 5);
  for (const [name, { key, initial, limits, read }] of Object.entries(web.scaleFields)) {
    const values = ['0', '1', '2', '5', '6', '1023', '9999', '10000', '1.5', 'x'].map(read);
    lines.push(`${name}: ${JSON.stringify({ key, initial, limits, values })}`);
  }
  requireWritten('scale-controls', lines);
});

test('scale: what is said aloud is said of a sample and of a division, not of a width', async () => {
  const { lines, show } = await put();
  const aloud = document.querySelector('[data-said]');
  for (const [title, patch, more] of [
    ['first', {}],
    ['another width', { width: 8 }],
    ['divided', { width: 8, divided: true }],
    ['another width, divided', { width: 16, divided: true }],
    ['another sample', { width: 16, divided: true, sample: 2 }],
    ['in another language', { width: 16, divided: true, sample: 2, language: 'zh' }, { look: 2 }],
    ['not divided, in that language', { width: 16, sample: 2, language: 'zh' }, { look: 2 }],
    ['in the first language', { width: 16, sample: 2 }, { look: 3 }],
  ]) {
    await show(title, patch, undefined, more);
    lines.push(`says: ${aloud.textContent}`);
  }
  requireWritten('scale-said', lines);
});

test('scale: a guess about the entropies, and which of three ways they go', async () => {
  layOut({ width: 0, height: 0 }); // drawings are written down above
  const { lines, show, act, find } = await put();
  const from = 3.6 - 0.3 * 2;
  const told = () => lines.push(`told: ${find('.guess-answer').textContent}`);
  for (const [title, to, way] of [
    ['falls by more than a tenth', 0.89 * from, 'falls'],
    ['falls by less', 0.91 * from, 'stays'],
    ['rises by less', 1.09 * from, 'stays'],
    ['rises by more', 1.11 * from, 'rises'],
  ]) {
    const wrong = way === 'rises' ? 'stays' : 'rises';
    for (const guess of [way, wrong, 'show']) {
      const study = studyOf(1, 9, to);
      await show(`${title}, to be told ${guess}`, { scaleAsk: true }, study);
      await act(guess, () => find(`[data-guess=${guess}]`).click());
      await show('told', {}, study);
      told();
      const right = find('.guess-answer').textContent.startsWith('Right');
      assert.equal(right, guess === way, `${title}: ${guess}`);
    }
  }
  const study = studyOf(1);
  await show('asked', { scaleAsk: true }, study);
  await act('guessed', () => find('[data-guess=falls]').click());
  await show('while widths are worked out', {}, studyOf(1, 7));
  told();
  await show('when they are', {}, study);
  told();
  await show('another sample', { sample: 2 });
  told();
  await show('the first sample again', {}, study);
  told();
  await act('another turn', () => find('.guess-again').click());
  lines.push(`focus on ${document.activeElement.textContent}`);
  await show('asked again', { scaleAsk: true }, study);
  await show('not asked any more', {}, study);
  told();
  layOut(SIZE);
  requireWritten('scale-guesses', lines);
});

test('scale: exactly a tenth is no change', async () => {
  layOut({ width: 0, height: 0 }); // drawings are written down above
  const { show, act, find } = await put();
  for (const [to, way] of [
    [9, 'stays'],
    [11, 'stays'],
    [8.99, 'falls'],
    [11.01, 'rises'],
  ]) {
    const study = studyOf(1);
    const [first, last] = [study.results[0], study.results.at(-1)];
    Object.assign(first.plain, { entropy: 10 });
    Object.assign(last.plain, { entropy: to });
    await show('asked', { scaleAsk: true }, study);
    await act(way, () => find(`[data-guess=${way}]`).click());
    await show('told', {}, { ...study });
    assert.match(find('.guess-answer').textContent, /^Right/, `from 10 to ${to}`);
  }
  layOut(SIZE);
});

test('scale: figures are as wide as their columns, and without a width they stay', async () => {
  const { lines, show, act, find } = await put();
  await show('at first');
  const widthOf = () => find('[data-figure=histogram] svg')?.getAttribute('width');
  assert.equal(widthOf(), '640');
  for (const width of [419, 420, 360, 0]) {
    await act(`${width} wide`, () => layOut({ width, height: 300 }));
    assert.equal(widthOf(), String(width || 360));
  }
  layOut(SIZE);
  await rest();
  for (const width of [340, 398]) {
    lines.push(
      '',
      `=== drawn ${width} wide`,
      ...drawn(web.drawVariances(web.pagePen, width, studyOf(1).results, 16)),
    );
    lines.push(...drawn(web.drawEntropies(web.pagePen, width, studyOf(1, 3).results, 8)));
  }
  lines.push(...drawn(web.drawHistogram(web.pagePen, 420, resultOf(16), false)));
  lines.push(...drawn(web.drawHistogram(web.pagePen, 419, resultOf(16), true)));
  requireWritten('scale-drawn', lines);
});
