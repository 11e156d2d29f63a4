// What is said of a cell and where a key leads from it, in Node: ranks, counts, and numbers in words.
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { modules } from '../support/engine.js';

const web = await modules(
  'ui/matrix/keys',
  'ui/{numbers,temperature_slider}',
  'domain/rows',
  'features/row/page/track',
);

describe('keys: from the cell in the middle of 30 x 20', () => {
  const from = { row: 15, col: 9 };
  const extent = { rows: 30, cols: 20, nextLargest: ({ row, col }) => (row + col) % 20 };
  const cases = [
    ['ArrowUp', {}, [14, 9]],
    ['ArrowDown', {}, [16, 9]],
    ['ArrowLeft', {}, [15, 8]],
    ['ArrowRight', {}, [15, 10]],
    ['PageUp', {}, [5, 9]],
    ['PageDown', {}, [25, 9]],
    ['Home', {}, [15, 0]],
    ['End', {}, [15, 19]],
    ['Home', { ctrlKey: true }, [0, 0]],
    ['End', { ctrlKey: true }, [29, 19]],
    ['m', {}, [15, 4]],
  ];
  for (const [key, more, [row, col]] of cases) {
    test(`${more.ctrlKey ? 'Ctrl ' : ''}${key} leads to row ${row}, column ${col}`, () => {
      assert.deepEqual(web.keyTarget({ key, ...more }, from, extent), { row, col });
    });
  }

  test('no key leads out of it, and other keys are none of its', () => {
    const corners = [
      [{ row: 0, col: 0 }, ['ArrowUp', 'ArrowLeft', 'PageUp', 'Home']],
      [{ row: 29, col: 19 }, ['ArrowDown', 'ArrowRight', 'PageDown', 'End']],
    ];
    for (const [corner, keys] of corners) {
      for (const key of keys) assert.deepEqual(web.keyTarget({ key }, corner, extent), corner);
    }
    for (const key of ['Tab', 'a', ' ', 'Enter', 'Escape']) {
      assert.equal(web.keyTarget({ key }, from, extent), null);
    }
    assert.equal(web.keyTarget({ key: 'm' }, from, { rows: 30, cols: 20 }), null);
  });
});

describe('readout: a cell among the others of its row', () => {
  const row = { weights: Float32Array.of(0.25, 0.5, 0, 0.25) };

  test('has a rank, which equal weights share, and the row a sum', () => {
    assert.deepEqual(
      [0, 1, 2, 3].map((col) => web.rankInRow(row, col)),
      [2, 1, 4, 2],
    );
    assert.equal(web.rowSum(row), 1);
  });

  test('is followed by the next smaller one, equal ones from left to right, and the smallest by the largest', () => {
    const order = ({ weights, scores = weights }, from) => {
      const cols = [from];
      for (let i = 1; i < 5; i++) cols.push(web.nextLargest({ weights, scores }, cols.at(-1)));
      return cols;
    };
    assert.deepEqual(order(row, 1), [1, 0, 3, 2, 1]);
    assert.deepEqual(order({ weights: Float32Array.of(0.25, 0.25, 0.25, 0.25) }, 2), [2, 3, 0, 1, 2]); // prettier-ignore
    const masked = {
      weights: Float32Array.of(0.25, 0.75, 0, 0),
      scores: Float32Array.of(0, 1, -Infinity, -Infinity),
    };
    assert.deepEqual(order(masked, 1), [1, 0, 1, 0, 1]);
    assert.equal(web.nextLargest(masked, 3), 1, 'from a masked key to the largest');
  });

  test('is among as many keys as its mask allows', () => {
    const allowed = (mask) => [0, 1, 5, 9].map((at) => web.allowedCount(mask, at, 10));
    assert.deepEqual(allowed('none'), [10, 10, 10, 10]);
    assert.deepEqual(allowed('causal'), [1, 2, 6, 10]);
    assert.deepEqual(allowed('window'), [1, 2, 4, 4]);
    for (const mask of ['none', 'causal', 'window']) {
      for (let at = 0; at < 10; at++) {
        const keys = Array.from({ length: 10 }, (_, col) => web.isAllowed(mask, at, col, 10));
        assert.equal(keys.filter(Boolean).length, web.allowedCount(mask, at, 10));
        assert.equal(keys[at], true);
      }
    }
    const most = (mask) => web.largestEntropy(mask, 2);
    assert.deepEqual([most('none'), most('causal')], [Math.log(2), Math.log(2) / 2]);
  });
});

describe('readout: numbers', () => {
  test('are written with the digits that were asked for', () => {
    const cases = [
      [0, '0'],
      [1, '1.00000'],
      [0.03125, '0.0312500'],
      [-0.5, '−0.500000'],
      [1e-3, '0.00100000'],
      [9.99e-4, '9.99000×10⁻⁴'],
      [0.099999, '0.0999990'],
      [99999, '99999.0'],
      [999999.4, '999999'],
      [999999.6, '1.00000×10⁶'],
      [123456, '123456'],
      [1e6, '1.00000×10⁶'],
      [-4.125e-10, '−4.12500×10⁻¹⁰'],
      [NaN, 'NaN'],
      [Infinity, '∞'],
      [-Infinity, '−∞'],
    ];
    for (const [value, written] of cases) assert.equal(web.digits(value), written);
    assert.equal(web.digits(0.123456, 2), '0.12');
    assert.equal(web.digits(150, 2), '1.5×10²');
  });

  test('of time and memory have their units', () => {
    assert.deepEqual([12.345, 1, 0.5, 0.01234, 0.005, 0].map(web.duration), [
      ...['12.3 ms', '1.00 ms', '500 µs', '12.3 µs', '5 µs', '0 µs'],
    ]);
    assert.deepEqual([123.4, 999.4, 1020, 2345, 59_950, 123_456, 7_200_000].map(web.duration), [
      ...['123 ms', '999 ms', '1.02 s', '2.35 s', '60.0 s', '123 s', '7200 s'],
    ]);
    // What is rounded to 1000 of a unit is one of the next.
    assert.deepEqual([0.9994, 0.9996, 999.6, 999_600].map(web.duration), [
      ...['999 µs', '1.00 ms', '1.00 s', '1000 s'],
    ]);
    assert.deepEqual([0, 999, 1000, 875_000, 999_600, 12_345_678].map(web.bytes), [
      ...['0 B', '999 B', '1.00 kB', '875 kB', '1.00 MB', '12.3 MB'],
    ]);
  });

  test('that are whole have commas between groups of three', () => {
    assert.deepEqual([0, 999, 1024, 1_234_567].map(web.whole), ['0', '999', '1,024', '1,234,567']);
  });

  test('of one row have four decimals as long as they fit', () => {
    const cases = [
      [0.25, '0.2500'],
      [-1.5, '−1.5000'],
      [99999, '99999.0000'],
      [1e5, '1.00e+5'],
      [NaN, 'NaN'],
      [Infinity, '∞'],
      [-Infinity, '−∞'],
    ];
    for (const [value, written] of cases) assert.equal(web.four(value), written);
  });

  test('of the temperature come back from the slider as they went', () => {
    for (const tau of [0.05, 0.1, 1, 2, 10, 20]) {
      assert.ok(Math.abs(web.fromSlider(web.toSlider(tau)) / tau - 1) < 0.006, `${tau}`);
    }
    assert.equal(web.toSlider(1), 0);
    assert.equal(web.fromSlider(100), 10);
  });
});

test('numbers: a share in percent, however small', () => {
  for (const [share, said] of [
    [1, '100.0%'],
    [0.1234, '12.3%'],
    [0.0456, '4.6%'],
    [0.0002, '0.020%'],
    [2.34e-10, '2.3×10⁻⁸%'],
    [1e-30, '1.0×10⁻²⁸%'],
    [0, '0%'],
  ])
    assert.equal(web.percent(share), said);
});
