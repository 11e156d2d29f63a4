// The numbers of the panel about positions, in Node: rotations, what float32 does to angles, six schemes, q and k turned.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { startEngine } from '../support/engine.js';
import { dModel, positional } from '../support/oracle.js';
import * as exact from '../support/positions.js';

const { dot, exactPair, naivePair, PAIRS, residualOf, SCHEMES, SPAN, turned } = exact;
const { T5_SHARES, xlTerms } = exact;
const { ask, web } = await startEngine();

/** Every entry is rounded once: three roundings to half of 2^-24, two of them times at most sqrt 2. */
const RESIDUAL = 4 * 2 ** -24;
/** What an entry of the encoding may be off: sine and angle in float64, one rounding to float32. */
const ENTRY = 1.2e-7;

test('positions: one position, one distance: both places, and both residuals', () => {
  for (const [position, shift] of [
    [0, 0],
    [10, 37],
    [4096, 37],
    [65536, 128],
  ]) {
    const { place } = ask({ position, shift }).positions;
    assert.deepEqual([place.p, place.k], [position, shift]);
    for (let c = 0; c < dModel; c++) {
      assert.ok(Math.abs(place.from[c] - positional(position, c)) <= ENTRY);
      assert.ok(Math.abs(place.to[c] - positional(position + shift, c)) <= ENTRY);
    }
    // The blocks of the core are rounded once, too: two products with an error of half of 2^-24.
    const wanted = residualOf(naivePair, position, shift);
    assert.ok(Math.abs(place.naive - wanted) <= 2 ** -23, `${place.naive}, not ${wanted}`);
    assert.ok(place.core <= RESIDUAL, `${place.core}`);
  }
});

test('positions: angles in float32 drift with the position, those of the core do not', () => {
  const { drift } = ask({ shift: 37 }).positions;
  assert.equal(drift.k, 37);
  assert.ok(drift.positions.length > 40);
  drift.positions.forEach((p, i) => {
    const wanted = Math.max(...[0, 1, 2, 3].map((more) => residualOf(naivePair, p + more, 37)));
    assert.ok(Math.abs(drift.naive[i] - wanted) <= 2 ** -23, `at ${p}`);
    assert.ok(drift.core[i] <= RESIDUAL && drift.core[i] > 1e-8, `at ${p}: ${drift.core[i]}`);
  });
  const naive = (p) => drift.naive[drift.positions.indexOf(p)];
  assert.ok(naive(1) < 1e-5);
  assert.ok(naive(4096) > 1e-4 && naive(4096) < 1e-3);
  assert.ok(naive(65536) > 1e-3 && naive(65536) < 1e-2);
});

test('positions: the columns of a pair follow the layout', () => {
  for (const [layout, pair] of [
    ['interleaved', 3],
    ['concatenated', 3],
    ['concatenated', 31],
  ]) {
    const { positions } = ask({ layout, pair, position: 17, shift: 9 });
    const { encoding, shift } = positions;
    const columns = layout === 'interleaved' ? [2 * pair, 2 * pair + 1] : [pair, pair + PAIRS];
    const { from, to } = positions.place;
    columns.forEach((col, i) => {
      assert.ok(Math.abs(from[col] - exactPair(17, pair)[i]) <= ENTRY);
      assert.ok(Math.abs(to[col] - exactPair(26, pair)[i]) <= ENTRY);
      assert.equal(encoding.data[17 * dModel + col], from[col]);
    });
    assert.ok(shift.residual <= RESIDUAL, `${layout}: ${shift.residual}`);
  }
});

test('positions: PE(p+k) = M_k PE(p) for every row of the encoding, with its residual', () => {
  for (const k of [0, 1, 37, 128]) {
    const { encoding, shift } = ask({ shift: k }).positions;
    const { blocks, shifted, residual } = shift;
    assert.equal(encoding.length, 64);
    let most = 0;
    for (let p = 0; p < encoding.length; p++) {
      for (let pair = 0; pair < PAIRS; pair++) {
        const at = p * dModel + 2 * pair;
        const [a, b, c, d] = blocks.slice(4 * pair, 4 * pair + 4);
        const [sine, cosine] = encoding.data.slice(at, at + 2);
        assert.ok(Math.abs(shifted[at] - positional(p + k, 2 * pair)) <= ENTRY);
        assert.ok(Math.abs(shifted[at + 1] - positional(p + k, 2 * pair + 1)) <= ENTRY);
        most = Math.max(most, Math.abs(shifted[at] - a * sine - b * cosine));
        most = Math.max(most, Math.abs(shifted[at + 1] - c * sine - d * cosine));
      }
    }
    assert.ok(Math.abs(most - residual) < 1e-15);
    assert.ok(residual <= RESIDUAL, `residual ${residual}`);
  }
});

const map = (value) =>
  Array.from({ length: SPAN ** 2 }, (_, at) => value(Math.floor(at / SPAN), at % SPAN));

/** Asks that the map of a scheme is its formula; what the engine has of it. */
function expectMap(scheme, patch = {}) {
  const { of, within, toeplitz } = SCHEMES[scheme];
  const { scheme: got } = ask({ scheme, ...patch }).positions;
  assert.equal(got.scheme, scheme);
  const wanted = map(of(got, patch.layout ?? 'interleaved'));
  wanted.forEach((value, at) => {
    assert.ok(Math.abs(got.values[at] - value) <= within, `${at}: ${got.values[at]}, not ${value}`);
  });
  assert.ok(new Set(wanted.map((value) => value.toFixed(4))).size > 10);
  assert.equal(got.alongDiagonals < 1e-4, toeplitz, `${got.alongDiagonals}`);
  return got;
}

for (const scheme of Object.keys(SCHEMES)) {
  test(`positions: the map of ${scheme} is its formula`, () => {
    const first = expectMap(scheme);
    const random = Object.keys(first.drawn).length > 0;
    assert.equal(random, ['learned', 'xl', 'rotary'].includes(scheme));
    if (random) assert.notDeepEqual(expectMap(scheme, { seed: 8 }).drawn, first.drawn);
    assert.deepEqual(expectMap(scheme, { seed: 7 }).drawn, first.drawn, 'same seed, same numbers');
  });
}

test('positions: the four terms of Transformer-XL are the parts of its score', () => {
  const { drawn, xl } = expectMap('xl');
  assert.equal(xl.term, 'position', 'what older links show');
  for (const [term, of] of Object.entries(xlTerms(drawn))) {
    const got = ask({ scheme: 'xl', xlTerm: term }).positions.scheme;
    assert.deepEqual(got.values, xl[term]);
    map(of).forEach((value, at) => assert.ok(Math.abs(got.values[at] - value) < 1e-5, term));
  }
});

test('positions: the trained table of T5 gives every head the weights of its task', () => {
  const { t5 } = ask({ scheme: 't5' }).positions.scheme;
  const tasks = T5_SHARES.map((share, head) => {
    const got = expectMap('t5', { t5Head: head });
    assert.deepEqual(got.t5.table, t5.table, 'one table has the biases of all heads');
    const i = 30;
    const row = Array.from({ length: SPAN }, (_, j) => j);
    const sum = (values) => values.reduce((a, b) => a + b);
    const shares = row.map((j) => share(i, j));
    const powers = row.map((j) => Math.exp(got.values[i * SPAN + j]));
    const off = row.map((j) => Math.abs(powers[j] / sum(powers) - shares[j] / sum(shares)));
    assert.ok(sum(off) < 0.15, `head ${head + 1}: ${sum(off)}`); // of a whole of 1, on both sides
    assert.ok(t5.after[head] < 0.02 * t5.before[head], `head ${head + 1}: ${t5.after[head]}`);
    return off;
  });
  assert.equal(tasks.length, t5.after.length);
  const unused = t5.table.slice(16 * 4, 17 * 4);
  assert.deepEqual(Array.from(unused), [0, 0, 0, 0], 'no key after the query is 0 away');
  assert.notDeepEqual(ask({ scheme: 't5', seed: 8 }).positions.scheme.t5.table, t5.table);
  assert.deepEqual(ask({ scheme: 't5', seed: 7 }).positions.scheme.t5.table, t5.table);
});

test('positions: the map of rotary follows the layout of the pairs', () => {
  const beside = expectMap('rotary', { layout: 'interleaved' });
  assert.notDeepEqual(expectMap('rotary', { layout: 'concatenated' }).values, beside.values);
});

test('positions: the slopes of ALiBi halve from head to head', () => {
  const { slopes } = ask().positions;
  assert.deepEqual(
    Array.from(slopes),
    [1, 2, 3, 4, 5, 6, 7, 8].map((k) => 2 ** -k),
  );
});

test('positions: q at m and k at n: the distance alone decides', () => {
  for (const layout of ['interleaved', 'concatenated']) {
    for (const [rotaryQ, rotaryK] of [
      [12, 5],
      [0, 300],
      [4096, 4089],
    ]) {
      const { rotary } = ask({ layout, rotaryQ, rotaryK }).positions;
      const wanted = dot(turned(rotary.q, rotaryQ, layout), turned(rotary.k, rotaryK, layout)) / 8;
      for (const name of ['score', 'apart', 'exact']) {
        const off = Math.abs(rotary[name] - wanted);
        assert.ok(off < 2e-6, `${name}: ${rotary[name]}, not ${wanted}`);
      }
      assert.ok(Math.abs(rotary.exact - wanted) < 1e-12, 'in float64');
    }
  }
});

test('positions: numbers of a link that are out of range come in', () => {
  const wild = web.parseFragment('#v=1&pp=-4&pi=99&pl=zz&ps=none&pm=1e9&pn=0.6', 'en');
  const { position, pair, layout, scheme, rotaryQ, rotaryK } = wild;
  assert.deepEqual(
    [position, pair, layout, scheme, rotaryQ, rotaryK],
    [0, 31, 'interleaved', 'sinusoidal', 4096, 1],
  );
});
