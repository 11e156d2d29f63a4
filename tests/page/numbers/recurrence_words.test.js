// @about web/src/features/recurrence/
// What is said about recurrent and attending models, in both languages, what of it is taken away as a figure, and the small
// functions behind it, at the edges of what they are given.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { modules } from '../support/engine.js';
import { requireWritten, rounded } from '../support/operate.js';
import { hashed } from '../support/window.js';

const web = await modules(
  ...[
    ...[
      'shared/accuracy',
      'page/crossing',
      'page/plots',
      'page/figure',
      'page/latest_news',
      'page/attention_maps',
      'shared/model_configs',
      'page/plot_marks',
    ],
    ...['shared/timing_settings', 'state', 'shared/task', 'page/panel_html', 'page/sentences'],
  ].map((name) => `features/recurrence/${name}`),
  ...['domain/random_ints', 'domain/cividis'],
);

const byKind = (make) => Object.fromEntries(web.KINDS.map((kind, i) => [kind, make(i, kind)]));
/** In both languages. */
const bothOf = (say) =>
  ['en', 'zh'].flatMap((language) => {
    web.setLanguage(language);
    const said = [say()].flat();
    web.setLanguage('en');
    return said;
  });

// ---- what there is to say it of ----

/** Tallies with these numbers of sequences and this part right, by length. */
const tallies = (sequences, right) =>
  web.emptyTallies().map(({ length }) => ({
    ...{ length, sequences: sequences(length), whole: 0 },
    right: Math.round(sequences(length) * length * right(length)),
  }));
const upTo = (last) => (length) => (length <= last ? 8 : 0);
const counted = (sequences, right) => ({
  ...{ type: 'counted', steps: 300 },
  tallies: byKind((i) => tallies(sequences, (length) => right(length, i))),
});
const falling = (length, i) => (length > 20 ? 0.6 - i / 10 : 0.9 - i / 20);
const norms = (factors) => byKind((i) => Float64Array.from({ length: 40 }, (_, n) => 3 * factors[i] ** n)); // prettier-ignore
const reached = (first, now) => ({
  type: 'reached',
  steps: 3,
  first: norms(first),
  now: norms(now),
});
const spread = (median) => ({ median, low: median / 2, high: 2 * median });
const timings = (count, gru, attention) =>
  web.LENGTHS.slice(0, count).map((length) => ({
    length,
    gru: spread(gru(length)),
    attention: spread(attention(length)),
  }));
const linear = (length) => length / 100;
const square = (length) => length ** 2 / 20000;

const COUNTED = {
  'nothing yet': counted(upTo(0), falling),
  'the shortest length': counted(upTo(4), falling),
  'lengths up to 18': counted(upTo(18), falling),
  'lengths up to 20': counted(upTo(20), falling),
  'lengths up to 38': counted(upTo(38), falling),
  'all lengths': counted(upTo(40), falling),
  'some lengths more often': counted((length) => (length < 10 ? 16 : 8), falling),
  'one model that does not drop': counted(upTo(40), (length, i) =>
    i === 1 ? 0.5 : falling(length, i),
  ),
  'a drop of a twentieth': counted(
    () => 20,
    (length) => (length > 20 ? 0.45 : 0.5),
  ),
  'a drop of hardly more': counted(
    () => 10000,
    (length) => (length > 20 ? 0.5499 : 0.6),
  ),
};
const REACHED = {
  'a norm that falls': reached([0.5, 0.6, 0.99], [0.9, 0.95, 0.98]),
  'a norm that grows': reached([1.1, 1.2, 1.01], [1, 1, 1]),
};
const TIMINGS = {
  nothing: [],
  'one length': timings(1, linear, square),
  'all but one': timings(7, linear, square),
  'a crossing': timings(8, linear, square),
  'a crossing back': timings(8, square, linear),
  'the GRU always faster': timings(8, linear, (length) => 3 * linear(length)),
  'attention always faster': timings(8, (length) => 3 * linear(length), linear),
  'both alike': timings(8, linear, linear),
};

// ---- sentences ----

test('recurrence: sentences about every state of what is known', () => {
  const lines = [];
  const note = (title, say) => lines.push('', `== ${title}`, ...bothOf(say));
  for (const [title, of] of Object.entries(COUNTED)) {
    note(`accuracy, ${title}`, () => web.accuracyWords(of, false));
    note(`accuracy of files, ${title}`, () => web.accuracyWords(of, true).at(-1) ?? []);
    note(`the plot, ${title}`, () => web.accuracyLabel(of.tallies));
  }
  note('the plot, before anything', () => web.accuracyLabel(null));
  for (const [title, of] of Object.entries(REACHED)) {
    note(`reach, ${title}`, () => [...web.reachWords(of), web.reachLabel(of)]);
    const factors = web.KINDS.map((kind) => web.factorOf(of.first[kind]).toFixed(6));
    lines.push(`factors ${factors.join(' ')}`);
  }
  for (const [title, of] of Object.entries(TIMINGS)) {
    note(`times, ${title}`, () => [...web.costWords(of), web.costLabel(of)]);
  }
  const source = [3, 1, 4];
  for (const ids of [[], [4], [4, 1, 3], [4, 1, 3, 0], [4, 2, 3, 0, 0], [1, 4, 1, 3]]) {
    note(`said ${ids.join('')}`, () => web.saidWords('a model', source, { ids }));
  }
  note('names', () => web.KINDS.map(web.nameOf));
  note('texts that never change', () => Object.entries(web.fixedTexts()).flat());
  requireWritten('recurrence-words', lines);
});

test('recurrence: a norm over distances 1 to 39 is that of 38 equal steps', () => {
  const of = (factor) =>
    web.factorOf(Float64Array.from({ length: 40 }, (_, n) => (n === 0 ? 9 : factor ** n)));
  for (const factor of [0.5, 0.9, 1, 1.3]) assert.ok(Math.abs(of(factor) - factor) < 1e-12);
});

test('recurrence: the row of a model in the table', () => {
  const learner = { parameters: 1234567, steps: 12, loss: 1.23456, accuracy: 0.4567 };
  const rowOf = (origin, more) =>
    web.tableRows({ origin, learners: { gru: { ...learner, milliseconds: 4, ...more } } }, 'gru');
  assert.deepEqual(rowOf('here'), ['1,234,567', '12', '250', '1.23', '46%']);
  assert.deepEqual(rowOf('before'), ['1,234,567', '12', '–', '1.23', '46%']);
  const unknown = { loss: NaN, accuracy: NaN, milliseconds: NaN };
  assert.deepEqual(rowOf('here', unknown), ['1,234,567', '12', '–', '–', '–']);
  assert.deepEqual(rowOf('here', { loss: Infinity, accuracy: 1 }).slice(3), ['–', '100%']);
});

// ---- numbers ----

test('recurrence: a crossing is the last one, and between points of a line on logarithmic axes', () => {
  const near = (found, wanted) => assert.ok(Math.abs(found / wanted - 1) < 1e-12, `${found}`);
  near(web.crossing([1, 4], [1, 1], [0.5, 2]), 2);
  near(web.crossing([1, 16], [1, 1], [0.5, 8]), 2);
  near(web.crossing([1, 16], [1, 1], [2, 0.125]), 2);
  near(web.crossing([1, 4, 16], [1, 1, 1], [0.5, 2, 0.5]), 8);
  near(web.crossing([1, 4, 16], [1, 1, 1], [0.5, 2, 3]), 2);
  assert.equal(web.crossing([1, 2], [1, 1], [2, 1]), null, 'to touch is not to cross');
  near(web.crossing([1, 4], [1, 1], [0.5, 1]), 4);
  near(web.crossing([1, 4, 9], [1, 1, 1], [0.5, 1, 2]), 4);
  for (const few of [[], [1]]) assert.equal(web.crossing(few, few, few), null);
  assert.equal(web.crossing([1, 2], [1, NaN], [2, 2]), null);
});

test('recurrence: accuracies are parts of all digits', () => {
  const tally = (length, sequences, right) => ({ length, sequences, right, whole: 0 });
  const some = [tally(4, 2, 6), tally(10, 1, 1), tally(20, 1, 20)];
  assert.equal(web.accuracyOf(some[1]), 0.1);
  const short = (length) => length < 20;
  assert.equal(web.accuracyWhere(some, short), 7 / 18);
  assert.ok(Number.isNaN(web.accuracyWhere(some, () => false)));
  assert.deepEqual(
    web.emptyTallies().map(({ length }) => length),
    [4, 6, 8, 10, 12, 14, 16, 18, 20, 22, 24, 26, 28, 30, 32, 34, 36, 38, 40],
  );
  const [own] = web.emptyTallies();
  web.count(own, [[1, 2, 3, 4], [5, 5, 5, 5]], [Int32Array.of(4, 3, 2, 1)]); // prettier-ignore
  assert.deepEqual(own, { length: 4, sequences: 2, right: 4, whole: 1 });
  web.count(own, [[1, 2, 3, 4]], [[4, 3, 2, 9]]);
  assert.deepEqual(own, { length: 4, sequences: 3, right: 7, whole: 1 });
});

test('recurrence: what is known is the latest of each kind', () => {
  assert.deepEqual(web.NOTHING, {
    ...{ progress: null, counted: null, spoken: null, reached: null, timed: null, timings: [] },
  });
  let known = web.NOTHING;
  for (const type of ['progress', 'counted', 'spoken', 'reached']) {
    const news = { type };
    const next = web.recall(known, news);
    assert.deepEqual(next, { ...known, [type]: news });
    known = next;
  }
  const [some, more] = [timings(1, linear, square), timings(2, linear, square)];
  assert.equal(web.isMeasuring(known), false);
  const begun = web.recall(known, { type: 'timed', part: 0.5, timings: some });
  assert.equal(web.isMeasuring(begun), true);
  assert.equal(begun.timings, some);
  const later = web.recall(begun, { type: 'timed', part: 0.9, timings: more });
  const done = web.recall(later, { type: 'timed', part: 1, timings: null });
  assert.equal(web.isMeasuring(done), false);
  assert.equal(done.timings, more, 'what was known stays');
  assert.equal(done.timed.part, 1);
});

test('recurrence: what a link and a field may say', () => {
  const { recurrenceSource, recurrenceSeed, recurrenceHead } = web.recurrenceFields;
  assert.deepEqual(
    [recurrenceSource, recurrenceSeed, recurrenceHead].map(({ key, initial }) => [key, initial]),
    [['rcx', '314159265358979'], ['rcs', 1], ['rch', 1]], // prettier-ignore
  );
  assert.deepEqual(['12a3', '', 'x', '0'].map(recurrenceSource.read), ['123', undefined, undefined, '0']); // prettier-ignore
  assert.equal(recurrenceSource.write('12'), '12');
  assert.deepEqual(['0', '1', '9999', '10000'].map(recurrenceSeed.read), [1, 1, 9999, 9999]); // prettier-ignore
  assert.deepEqual(['-1', '0', '1', '2'].map(recurrenceHead.read), [0, 0, 1, 1]);
  assert.deepEqual(web.readSource('9'.repeat(41)).length, 40);
  assert.deepEqual(web.readSource('a1-2 ３4'), [1, 2, 4]);
});

test('recurrence: rows to train on are padded, and say what comes after each token', () => {
  const rows = web.nextRows(web.randomOf(3));
  assert.equal(rows.batch, 32);
  const lengths = new Set(rows.sourceLengths);
  assert.deepEqual([Math.min(...lengths), Math.max(...lengths)], [4, 20]);
  rows.sourceLengths.forEach((length, b) => {
    const source = Array.from(rows.source.subarray(20 * b, 20 * b + 20));
    const [ids, targets] = [rows.ids, rows.targets].map((of) => Array.from(of.subarray(21 * b, 21 * b + 21))); // prettier-ignore
    const said = source.slice(0, length).reverse();
    assert.ok(said.every((digit) => digit >= 0 && digit < 10));
    assert.deepEqual(source.slice(length), Array(20 - length).fill(11));
    assert.deepEqual(ids, [10, ...said, ...Array(20 - length).fill(11)]);
    assert.deepEqual(targets, [...said, 11, ...Array(20 - length).fill(-1)]);
  });
});

test('recurrence: a weight has its colour, from none to all', () => {
  const values = Float32Array.of(0, 0.25, 0.5, 1);
  const pixels = web.pixelsOf({ rows: 2, columns: 2, values });
  assert.equal(pixels.length, 16);
  const at = (i) => Array.from(pixels.subarray(4 * i, 4 * i + 4));
  const places = [0, 1, 2, 3].map((i) => {
    for (let n = 0; n < web.cividis.length / 4; ++n) {
      if (String(Array.from(web.cividis.subarray(4 * n, 4 * n + 4))) === String(at(i))) return n;
    }
    return NaN;
  });
  const count = web.cividis.length / 4;
  assert.ok(places[0] < places[1] && places[1] < places[2] && places[2] < places[3], `${places}`);
  assert.equal(places[3], count - 1);
  assert.deepEqual(
    web.weightsOf([1, 2], { rows: 2, weights: Float32Array.of(1, 2, 3, 4, 5, 6, 7, 8) }, 1),
    { rows: 2, columns: 2, values: Float32Array.of(5, 6, 7, 8) },
  );
});

// ---- figures ----

test('recurrence: what is taken away of every state of what is known', () => {
  const known = (more) => ({ ...web.NOTHING, ...more });
  const [some, far, times] = [counted(upTo(20), falling), REACHED['a norm that falls'], timings(3, linear, square)]; // prettier-ignore
  const lines = [];
  for (const [title, more] of Object.entries({
    nothing: {},
    'progress alone': { progress: { type: 'progress' } },
    'what was counted': { counted: some },
    reach: { reached: far, spoken: { type: 'spoken' } },
    times: { timings: times },
    all: { progress: { type: 'progress' }, counted: some, reached: far, timings: times },
  })) {
    const figure = web.recurrenceFigure(known(more));
    lines.push('', `== ${title}`);
    if (!figure) {
      lines.push('no figure');
      continue;
    }
    const { name, svg, table, data } = figure;
    lines.push(
      `${name}, ${svg.width} x ${svg.height}, ${Object.keys(data).filter((key) => data[key])}`,
    );
    const groups = rounded(svg.body).split(/(?=<g )/);
    lines.push(...groups.map((group) => `${group.slice(0, 110)} … ${hashed(group)}`));
    const cell = (value) => (typeof value === 'number' ? Number(value.toPrecision(6)) : value);
    const rows = table.map((row) => row.map(cell).join(','));
    lines.push(
      ...rows.slice(0, 4),
      `${rows.length} rows, the last ${rows.at(-1)}`,
      hashed(rows.join('\n')),
    );
  }
  requireWritten('recurrence-figures', lines);
});

test('recurrence: pens and points of every model, on the page and in a file', () => {
  const lines = ['page', 'file'].flatMap((paper) =>
    web.KINDS.flatMap((kind) => [
      JSON.stringify(web.lineOf(paper, kind)),
      JSON.stringify(web.lineOf(paper, kind, 'first')),
      web.pointOf(paper, kind, 10, 20),
    ]),
  );
  requireWritten('recurrence-pens', [...lines, ...web.KINDS.map(web.legendOf)]);
});

test('recurrence: a norm of nothing has no point, and the axis goes on as without it', () => {
  const of = REACHED['a norm that falls'];
  const without = (value) => ({ ...of, now: { ...of.now, gru: of.now.gru.map((norm, n) => (n === 30 ? value : norm)) } }); // prettier-ignore
  const axis = (reach) => web.drawReach('page', 600, reach).replace(/<path class="kind[^>]*>/g, '');
  for (const value of [0, NaN]) assert.equal(axis(without(value)), axis(of));
});

test('recurrence: names of curves keep out of each other’s way', () => {
  const ends = (gru, attention) => {
    const spreadOf = (median) => ({ median, low: median, high: median });
    return [{ length: 2048, gru: spreadOf(gru), attention: spreadOf(attention) }];
  };
  const places = (...medians) =>
    Array.from(web.drawCost('page', 600, ends(...medians)).matchAll(/y="(-?[\d.]+)"[^>]*>(GRU|attention)</g), ([, y]) => Number(y)); // prettier-ignore
  const [upper, lower] = places(2, 1);
  const [below, above] = places(1, 2);
  assert.ok(upper < lower && above < below);
  const [gru, attention] = places(1, 1);
  assert.equal(gru - attention, 27, 'at one place the GRU stands below');
});
