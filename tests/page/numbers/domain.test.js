// @build any
// What all of the page shares, in Node: the numbers that a reader edits, heads and their names, masks, scales, dice and
// words, and which of these are animals.
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { randomOf as randomOfRecipes } from '../../../models/recipes/random.js';
import { modules } from '../support/engine.js';

const web = await modules(
  ...['number_sets', 'sources', 'mask', 'row_groups', 'nan_max'].map((name) => `domain/${name}`),
  ...['random_ints', 'animals', 'power_fit', 'softmax'].map((name) => `domain/${name}`),
);

describe('numbers of the reader:', () => {
  const set = { q: [1, 2, 3, 4], k: [5, 6, 7, 8], v: [9, 10, 11, 12] };

  test('the example of the tutorials, its width and how many keys there may be', () => {
    assert.deepEqual(web.WORKED_EXAMPLE, {
      q: [0.1, 0.2, 0.3, 0.4, 0.5, 0.6],
      k: [0.7, 0.8, 0.9, 1, 1.1, 1.2],
      v: [1.3, 1.4, 1.5, 1.6, 1.7, 1.8],
    });
    assert.deepEqual([web.WIDTH, web.MAX_KEYS], [2, 6]);
    assert.deepEqual([web.countOf(web.WORKED_EXAMPLE), web.countOf(set)], [3, 2]);
  });

  test('have four decimals and four digits before them, and no negative zero', () => {
    const values = [1.23456, -1.23454, 10001, -1e9, 9999.9999, 0.00006, -0.00004, -0, 3];
    const clean = [1.2346, -1.2345, 10000, -10000, 9999.9999, 0.0001, 0, 0, 3];
    values.forEach((value, i) =>
      assert.ok(Object.is(web.clampNumber(value), clean[i]), `${value}`),
    );
  });

  test('are the same when all of them are', () => {
    assert.equal(web.sameNumbers(set, structuredClone(set)), true);
    for (const part of ['q', 'k', 'v']) {
      assert.equal(web.sameNumbers(set, { ...set, [part]: [1, 2, 3, 5] }), false, part);
    }
  });

  test('are written into a link and read again; what a link says badly is none', () => {
    const written = '1,2,3,4;5,6,7,8;9,10,11,12';
    assert.deepEqual([web.writeNumbers(set), web.readNumbers(written)], [written, set]);
    const spaced = { q: [0, 2], k: [10000, -10000], v: [0, 1] };
    assert.deepEqual(web.readNumbers(' 0.00001,2 ; 1e5,-1e5 ; -0,1.00004 '), spaced);
    const rows = (count) => [0, 1, 2].map(() => Array(count).fill(1).join(',')).join(';');
    assert.equal(web.readNumbers(rows(12)).q.length, 12);
    for (const raw of [
      ...['', '1,2', '1,2;1,2', '1,2;1,2;1,2;1,2', ';;', '1,2;1,2;', '1,;1,2;1,2', '1, ;1,2;1,2'],
      ...['1;1;1', '1,2,3;1,2,3;1,2,3', '1,2;1,2,3,4;1,2', '1,2,3,4;1,2;1,2,3,4'],
      ...['a,2;1,2;1,2', '1,2;1,NaN;1,2', '1,2;1,2;1,Infinity', '1,2;1,2;1e999,2', rows(14)],
    ]) {
      assert.equal(web.readNumbers(raw), undefined, raw);
    }
  });

  test('of one key more are a copy of the last, of one less without it, and never none or too many', () => {
    const grown = (count) => web.resize(set, count);
    assert.deepEqual(grown(3), { q: [1, 2, 3, 4, 3, 4], k: [5, 6, 7, 8, 7, 8], v: [9, 10, 11, 12, 11, 12] });
    for (const count of [1, 0, -3]) assert.deepEqual(grown(count), { q: [1, 2], k: [5, 6], v: [9, 10] });
    assert.deepEqual(grown(2), set);
    for (const count of [6, 7, 60]) assert.equal(grown(count).v.length, 12, `${count}`);
  }); // prettier-ignore
});

test('sources: how many heads each has, and what those of a trained model are called', () => {
  const trainedHeads = { layers: 5, perLayer: 3 };
  const sources = ['constructed', 'random', 'trained', 'yours'];
  const counts = (heads) => sources.map((source) => web.headCount({ source, trainedHeads: heads }));
  assert.deepEqual([counts(null), counts(trainedHeads)], [[6, 4, 1, 1], [6, 4, 15, 1]]); // prettier-ignore
  const name = (heads) => (head) => web.trainedHeadName({ source: 'trained', trainedHeads: heads }, head); // prettier-ignore
  assert.deepEqual([0, 2, 3, 14].map(name(trainedHeads)), ['0.0', '0.2', '1.0', '4.2']);
  assert.deepEqual([0, 3].map(name(null)), ['0.0', '3.0']);
});

test('masks: the keys that a query may read, for the page and for the core', () => {
  const first = { none: () => 0, causal: () => 0, window: (row) => Math.max(0, row - 3) };
  for (const mask of ['none', 'causal', 'window']) {
    for (const row of [0, 2, 3, 4, 9]) {
      const end = mask === 'none' ? 10 : row + 1;
      assert.deepEqual(web.allowedKeys(mask, row, 10), [first[mask](row), end]);
    }
  }
  assert.deepEqual(web.maskOptions('none'), {});
  assert.deepEqual(web.maskOptions('causal'), { causal: true });
  assert.deepEqual(web.maskOptions('window'), { causal: true, window: [3, 0] });
});

test('rows in groups: the last of each stands for all, and of the last group the last there is', () => {
  assert.deepEqual(
    [0, 1, 2, 3].map((group) => web.rowOf(group, 3, 10)),
    [2, 5, 8, 9],
  );
  assert.deepEqual(
    [0, 4].map((group) => web.rowOf(group, 1, 5)),
    [0, 4],
  );
});

test('errors: the larger one is worse, and NaN is worse than all', () => {
  const of = [[1, 2], [2, 1], [3, 3], [NaN, 1], [1, NaN], [0, -1]].map((pair) => web.worse(...pair)); // prettier-ignore
  assert.deepEqual(of, [2, 2, 3, NaN, NaN, 0]);
});

test('the logarithm of a sum of exponentials: of scores that are all masked it is -Infinity, as of none', () => {
  const near = (scores, wanted) => assert.ok(Math.abs(web.logSumExp(scores) - wanted) < 1e-12);
  near([0, Math.log(3)], Math.log(4));
  near([1000, 1000, -Infinity], 1000 + Math.log(2));
  assert.equal(web.logSumExp([-Infinity, -Infinity]), -Infinity);
  assert.equal(web.logSumExp([]), -Infinity);
  assert.ok(Number.isNaN(web.logSumExp([NaN, 1])));
});

describe('dice:', () => {
  test('draw what the recipes of models draw from the same seed', () => {
    for (const seed of [0, 1, 77, 2 ** 31 - 1, -5]) {
      const [page, recipes] = [web.randomOf(seed), randomOfRecipes(seed)];
      const rolled = (random) => [
        ...Array.from({ length: 50 }, (_, i) => random.below(2 + 97 * i)),
        ...[[5, 9], [1, 3], [4, 4], [0, 2]].map((of) => random.different(...of)), // prettier-ignore
      ];
      assert.deepEqual(rolled(page), rolled(recipes), `${seed}`);
    }
  });

  test('of seeds beside each other begin far from each other', () => {
    for (const seed of [0, 1, 2, 123456, -7]) {
      const begun = Number(BigInt.asIntN(32, BigInt((seed ^ (seed >>> 15)) | 0) * 0x2c1b3c6dn));
      const [got, wanted] = [web.dice(seed), randomOfRecipes(begun)].map((random) =>
        random.below(1e6),
      );
      assert.equal(got, wanted, `${seed}`);
    }
  });
});

test('slope: two points have a line and nothing to judge it by, however they round', () => {
  for (const x of [3, 7, 10, 11, 13]) {
    const { slope, spread, factor } = web.fitPower([x, x * x + 1], [0.1, 0.7]);
    assert.ok(Number.isFinite(slope) && Number.isFinite(factor) && Number.isNaN(spread), `${x}`);
  }
  assert.deepEqual(web.fitPower([5], [2]), { slope: NaN, spread: NaN, factor: NaN });
  for (const x of [4, 6, 17]) {
    const all = { slope: NaN, spread: NaN, factor: NaN };
    assert.deepEqual(web.fitPower([x, x, x], [1, 2, 3]), all, `${x}`); // the mean of ln 6 three times is not ln 6
  }
  const none = web.fitPower([4, 8, 16], [1, 2]);
  assert.ok(Math.abs(none.slope - 1) < 1e-12 && Number.isNaN(none.spread), 'a point without its y');
});

describe('words:', () => {
  test('the token that is told until the reader chooses one', () => {
    const wanted = {
      ...{ 'it': 0, 'It was': 0, 'it saw it again': 2, 'bit its': 1, 'a IT b': 1 },
      ...{ 'the cat .': 1, 'the 3 . !': 1, '. , !': 2, '猫 。': 0, '狗 它 猫': 1 },
    }; // prettier-ignore
    for (const [words, token] of Object.entries(wanted)) {
      assert.equal(web.homeOf(words.split(' ')), token, words);
    }
    assert.equal(web.homeOf([]), -1);
  });
});

test('animals: a word of the list, in the plural, at the start of a sentence, and nothing else', () => {
  const known = 'cat Cats foxes elephants wolves mice FISH OXEN 宠物 宠物猫 大象 小猫 长颈鹿 狐狸';
  for (const word of known.split(' ')) assert.ok(web.isAnimal(word), word);
  const others = 'the mat tree because . it was 垫子 因为 它 。 catss cates2 es dogses 猫的';
  for (const word of ['', ...others.split(' ')]) assert.ok(!web.isAnimal(word), word);
  for (const word of web.ENGLISH_ANIMALS) assert.ok(web.isAnimal(word), word);
  assert.ok(web.ENGLISH_ANIMALS.length > 90);
});

test('animals: “it” asks for one, and an animal does not', () => {
  for (const word of ['it', 'It', 'tired', '它', '累']) assert.ok(web.asksForAnimal(word), word);
  for (const word of ['cat', 'the', '猫']) assert.ok(!web.asksForAnimal(word), word);
});
