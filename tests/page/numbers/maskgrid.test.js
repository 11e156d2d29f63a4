// Masks that can be painted, in Node: each kind cell by cell, and the digits by which a link carries a mask.
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { modules } from '../support/engine.js';

const { GRID, gridMask, OPEN_PAINT, paintCell, readPaint } = await modules(
  'features/masks/shared/mask_grid',
);

/** The mask as lines of . and #. */
const drawn = (choice, count) => {
  const mask = gridMask({ maskSize: 1, maskPaint: OPEN_PAINT, ...choice }, count);
  assert.equal(mask.length, count * count);
  return Array.from({ length: count }, (_, row) =>
    Array.from({ length: count }, (_, col) => (mask[row * count + col] ? '#' : '.')).join(''),
  );
};
const painted = (paint, count) => drawn({ maskKind: 'painted', maskPaint: paint }, count);

describe('masks: of five tokens', () => {
  for (const [maskKind, maskSize, ...lines] of [
    ['none', 1, '#####', '#####', '#####', '#####', '#####'],
    ['causal', 1, '#....', '##...', '###..', '####.', '#####'],
    ['window', 1, '#....', '.#...', '..#..', '...#.', '....#'],
    ['window', 3, '#....', '##...', '###..', '.###.', '..###'],
    ['padding', 2, '###..', '###..', '###..', '###..', '###..'],
    ['padding', 5, '.....', '.....', '.....', '.....', '.....'],
    ['prefix', 3, '###..', '###..', '###..', '####.', '#####'],
  ]) {
    test(`${maskKind} ${maskSize}`, () =>
      assert.deepEqual(drawn({ maskKind, maskSize }, 5), lines));
  }
});

describe('masks: painted', () => {
  test('are read as they are written: the first key is the highest bit of the first digit', () => {
    const paint = '8001'.padEnd(64, '0');
    const [first, ...others] = painted(paint, GRID);
    assert.equal(first, '#..............#');
    assert.ok(others.every((line) => line === '.'.repeat(GRID)));
    assert.equal(painted('1240'.padEnd(64, 'f'), GRID)[0], '...#..#..#......');
    const fourth = '0'.repeat(12) + 'a'.padEnd(52, '0');
    assert.deepEqual(painted(fourth, 4), ['....', '....', '....', '#.#.']);
  });

  test('change one cell at a time, and keep what is beyond the tokens', () => {
    let choice = { maskKind: 'causal', maskSize: 1, maskPaint: OPEN_PAINT };
    const cells = [
      [{ row: 0, col: 3 }, true],
      [{ row: 3, col: 0 }, false],
      [{ row: 2, col: 2 }, false],
    ];
    for (const [cell, allowed] of cells) {
      choice = { ...choice, maskKind: 'painted', maskPaint: paintCell(choice, 4, cell, allowed) };
      assert.match(choice.maskPaint, /^[0-9a-f]{64}$/);
    }
    assert.deepEqual(painted(choice.maskPaint, 4), ['#..#', '##..', '##..', '.###']);
    const whole = painted(choice.maskPaint, GRID);
    assert.equal(whole[15], '#'.repeat(GRID));
    assert.equal(whole[4], '#####...........', 'beyond the four it is still causal');
  });

  test('begin with the padding that is shown, which depends on how many tokens there are', () => {
    const choice = { maskKind: 'padding', maskSize: 1, maskPaint: OPEN_PAINT };
    const paint = paintCell(choice, 3, { row: 1, col: 2 }, true);
    assert.deepEqual(painted(paint, 3), ['##.', '###', '##.']);
  });

  test('come from a link: digits that are missing allow, and others than digits are no mask', () => {
    assert.equal(readPaint('0F'), `0f${'f'.repeat(62)}`);
    assert.equal(readPaint('0'.repeat(99)), '0'.repeat(64));
    for (const raw of ['', 'xyz', '12 34', '0x10']) assert.equal(readPaint(raw), undefined);
  });
});
