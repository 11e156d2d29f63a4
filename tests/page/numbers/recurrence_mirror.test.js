// What is said of the weights with which a head reads its source backwards: those of the mirrored place, and of the place right of it,
// which the first row does not have.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { modules } from '../support/engine.js';

const web = await modules('features/recurrence/page/sentences', 'i18n/i18n');

test('recurrence: the mean weights of the mirrored place and of the place right of it', () => {
  // Three heads, four rows, three digits: head h, row r, column c has the weight 100 h + 10 r + c.
  const weights = Float32Array.from({ length: 36 }, (_, i) => 100 * Math.floor(i / 12) + 10 * (Math.floor(i / 3) % 4) + (i % 3)); // prettier-ignore
  const said = { rows: 4, weights };
  for (const head of [0, 1, 2]) {
    // Rows 0, 1, 2 read columns 2, 1, 0; right of the last column there is none.
    const own = 100 * head + (2 + 11 + 20) / 3;
    const right = 100 * head + (12 + 21) / 2;
    assert.deepEqual(web.mirrored([7, 8, 9], said, head), [own, right]);
  }
  assert.deepEqual(web.mirrored([7, 8, 9], { ...said, rows: 2 }, 0), [6.5, 12]);
  assert.deepEqual(web.mirrored([7, 8, 9], { ...said, rows: 1 }, 0), [2, NaN]);
  assert.ok(
    web.mirrored([7, 8, 9], { rows: 0, weights: new Float32Array() }, 0).every(Number.isNaN),
  );
  assert.ok(Number.isNaN(web.mirrored([7, 8, 9], said, 3)[0]), 'there is no such head');
});

test('recurrence: nothing is said of a place right of the last digit', () => {
  const ways = [];
  for (const source of [Array(15).fill(3), [3]]) {
    const columns = source.length;
    // Each row reads its mirrored place and nothing else; the row after the last digit reads the first place.
    const weights = Float32Array.from({ length: (columns + 1) * columns }, (_, i) => {
      const row = Math.floor(i / columns);
      return Number(i % columns === Math.max(0, columns - 1 - row));
    });
    for (const language of ['en', 'zh']) {
      web.setLanguage(language);
      for (const kind of ['gru_attention', 'transformer']) {
        ways.push(web.mirrorWords(kind, source, { rows: columns + 1, weights }, 0));
      }
    }
  }
  web.setLanguage('en');
  const rest =
    ' A state of a GRU also holds the digits before its own, so a digit can be read one position further right.';
  const none = '(the first row, which has none, is not counted).';
  assert.deepEqual(ways, [
    `On average a row puts 1.00 of its weight on the position of its digit and 0 on the position to its right ${none}${rest}`,
    `On average a row of this head puts 1.00 of its weight on the position of its digit and 0 on the position to its right ${none}`,
    '平均来看，每一行把 1.00 的权重放在自己那个数字的位置，把 0 放在它右边一位（第一行右边没有位置，不算在内）。GRU 的一个状态里也存着前面的数字，所以从右边一格也能读到这个数字。',
    '平均来看，这个头的每一行把 1.00 的权重放在自己那个数字的位置，把 0 放在它右边一位（第一行右边没有位置，不算在内）。',
    'On average a row puts 1.00 of its weight on the position of its digit.',
    'On average a row of this head puts 1.00 of its weight on the position of its digit.',
    '平均来看，每一行把 1.00 的权重放在自己那个数字的位置。',
    '平均来看，这个头的每一行把 1.00 的权重放在自己那个数字的位置。',
  ]);
});
