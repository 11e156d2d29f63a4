// What is said about recurrent and attending models, in both languages, what of it is taken away as a figure, and the small
// functions behind it, at the edges of what they are given.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { modules } from '../support/engine.js';

const web = await modules(
  'features/recurrence/shared/{accuracy,model_configs,timing_settings,task}',
  'features/recurrence/page/{crossing,plots,figure,latest_news,attention_maps,plot_marks}',
  'features/recurrence/page/sentences',
  'features/recurrence/state',
  'domain/{random_ints,cividis}',
  'ui/{numbers,matrix/paint_weights}',
);

const byKind = (make) => Object.fromEntries(web.KINDS.map((kind, i) => [kind, make(i, kind)]));
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

const FALLING = reached([0.5, 0.6, 0.99], [0.9, 0.95, 0.98]);

// ---- sentences ----

const ofAll = (...values) =>
  ['GRU with one fixed vector', 'GRU with attention', 'transformer']
    .map((name, i) => `${name} ${values[i] ?? values[0]}`)
    .join(', ');

test('recurrence: what was counted is said of the lengths that are there, and a drop where all have one', () => {
  const [trained, longer] = ['Lengths 4 to 20, which were trained on', 'Lengths 22 to 40, which were not'];
  const inside = `${trained}: ${ofAll('90%', '85%', '80%')}.`;
  const outside = `${longer}: ${ofAll('60%', '50%', '40%')}.`;
  const allDrop = 'All three are worse on the longer lengths: none has learned to reverse in general.';
  const after = (count) => `Counted after 300 steps: ${count} random sequences of each even length, for each model.`;
  const alike = (long, short, text) => (of) => [`${trained}: ${ofAll(short)}.`, `${longer}: ${ofAll(long)}.`, ...text, after(of)];
  for (const [of, words] of [
    [counted(upTo(0), falling), []],
    [counted(upTo(18), falling), [after(8)]],
    [counted(upTo(20), falling), [inside, after(8)]],
    [counted(upTo(38), falling), [inside, after(8)]],
    [counted(upTo(40), falling), [inside, outside, allDrop, after(8)]],
    [counted((length) => (length < 10 ? 16 : 8), falling), [inside, outside, allDrop, after('8–16')]],
    [counted(upTo(40), (length, i) => (i === 1 ? 0.5 : falling(length, i))), [`${trained}: ${ofAll('90%', '50%', '80%')}.`, outside, after(8)]],
    [counted(() => 20, (length) => (length > 20 ? 0.45 : 0.5)), alike('45%', '50%', [])(20)], // a twentieth is no drop
    [counted(() => 10000, (length) => (length > 20 ? 0.5499 : 0.6)), alike('55%', '60%', [allDrop])(10000)],
  ]) {
    assert.deepEqual(web.accuracyWords(of, false), words);
    assert.equal(web.accuracyWords(of, true).at(-1), words.at(-1)?.replace('after 300 steps', 'with the loaded weights'));
  }
  const label = web.accuracyLabel(counted(upTo(18), falling).tallies);
  assert.ok(label.endsWith(`Length 12: ${ofAll('90%', '85%', '80%')}. Length 20: ${ofAll('–%')}. Length 32: ${ofAll('–%')}`), label);
  assert.ok(web.accuracyLabel(null).includes(`Length 12: ${ofAll('–%')}`));
}); // prettier-ignore

test('recurrence: how far a gradient reaches is said by the factor of a step back', () => {
  const [first, now] = web.reachWords(FALLING);
  assert.match(first, /multiplies the norm on average by 0\.50 in the GRU and by 0\.60 in the GRU with attention\. In the transformer the norm at distance 39 is 0\.68 times/); // 0.99 ** 38
  const part = (factor) => web.digits(factor ** 18, 2);
  assert.ok(now.endsWith(`: ${ofAll(part(0.9), part(0.95), part(0.98))}.`), now);
  const label = web.reachLabel(FALLING);
  assert.ok(label.includes(`GRU with one fixed vector 1.5 to ${web.digits(3 * 0.5 ** 39, 2)}`), label);
}); // prettier-ignore

test('recurrence: times are said when all lengths are there, with who is faster from where on', () => {
  const fits = (gru, attention) => `Slopes on these axes, fitted to T = 256 to 2048, with their standard errors: GRU ${gru} ± 0.00, attention ${attention} ± 0.00.`;
  for (const [of, ...words] of [
    [[]],
    [timings(7, linear, square)],
    [timings(8, linear, square), fits('1.00', '2.00'), 'From about T = 200 on, the GRU is faster.'],
    [timings(8, square, linear), fits('2.00', '1.00'), 'From about T = 200 on, attention is faster.'],
    [timings(8, linear, (length) => 3 * linear(length)), fits('1.00', '1.00'), 'The GRU is faster at every length that was measured.'],
    [timings(8, (length) => 3 * linear(length), linear), fits('1.00', '1.00'), 'Attention is faster at every length that was measured.'],
  ]) {
    assert.deepEqual(web.costWords(of), words);
  }
  assert.equal(web.costLabel(timings(7, linear, square)), 'Milliseconds for one pass, from T = 16 to 1024: GRU 0.16 to 10, attention 0.013 to 52');
}); // prettier-ignore

test('recurrence: what a model said has its wrong positions named', () => {
  for (const [ids, words] of [
    [[], 'a model: . 0 of 3 right; wrong at positions 1, 2, 3'],
    [[4], 'a model: 4. 1 of 3 right; wrong at positions 2, 3'],
    [[4, 1, 3], 'a model: 4 1 3. All 3 right'],
    [[4, 1, 3, 0], 'a model: 4 1 3 0. 3 of 3 right; wrong at positions 4'],
    [[4, 2, 3, 0, 0], 'a model: 4 2 3 0 0. 2 of 3 right; wrong at positions 2, 4, 5'],
  ]) {
    assert.equal(web.saidWords('a model', [3, 1, 4], { ids }), words);
  }
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

test('recurrence: what a link and a field may say', () => {
  const { recurrenceSource, recurrenceSeed, recurrenceHead } = web.recurrenceFields;
  assert.deepEqual(
    [recurrenceSource, recurrenceSeed, recurrenceHead].map(({ key, initial }) => [key, initial]),
    [['rcx', '314159265358979'], ['rcs', 1], ['rch', 1]], // prettier-ignore
  );
  assert.deepEqual(['12a3', '', 'x', '0'].map(recurrenceSource.read), ['123', '', undefined, '0']); // prettier-ignore
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
  const pixels = web.pixelsOf(values);
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
