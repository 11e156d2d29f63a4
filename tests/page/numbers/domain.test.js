// @build any
// What all of the page shares, in Node: the numbers that a reader edits, heads and their names, masks, scales, dice and words.
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { randomOf as randomOfRecipes } from '../../../models/recipes/random.js';
import { modules } from '../support/engine.js';

const web = await modules(
  ...['number_sets', 'sources', 'mask', 'row_groups', 'nan_max', 'colour_scale', 'random_ints'].map(
    (name) => `domain/${name}`,
  ),
  ...['animals', 'averages', 'power_fit', 'cividis', 'layer', 'temperatures'].map(
    (name) => `domain/${name}`,
  ),
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
    for (const [value, wanted] of [
      ...[
        [1.23456, 1.2346],
        [-1.23454, -1.2345],
        [10001, 10000],
        [-10001, -10000],
      ],
      ...[
        [9999.9999, 9999.9999],
        [1e9, 10000],
        [-1e9, -10000],
        [10000, 10000],
      ],
      ...[
        [0.00006, 0.0001],
        [0.00004, 0],
        [-0.00004, 0],
        [-0, 0],
        [3, 3],
      ],
    ]) {
      assert.ok(Object.is(web.clampNumber(value), wanted), `${value}: ${web.clampNumber(value)}`);
    }
  });

  test('are the same when all of them are', () => {
    assert.equal(web.sameNumbers(set, structuredClone(set)), true);
    for (const part of ['q', 'k', 'v']) {
      assert.equal(web.sameNumbers(set, { ...set, [part]: [1, 2, 3, 5] }), false, part);
    }
  });

  test('are written into a link and read again', () => {
    assert.equal(web.writeNumbers(set), '1,2,3,4;5,6,7,8;9,10,11,12');
    assert.deepEqual(web.readNumbers('1,2,3,4;5,6,7,8;9,10,11,12'), set);
    assert.deepEqual(web.readNumbers(' 0.00001,2 ; 1e5,-1e5 ; -0,1.00004 '), {
      ...{ q: [0, 2], k: [10000, -10000], v: [0, 1] },
    });
    const row = (count) => Array.from({ length: count }, (_, i) => i).join(',');
    assert.equal(web.readNumbers([12, 12, 12].map(row).join(';')).q.length, 12);
  });

  test('that a link says badly are none', () => {
    const bad = [
      '',
      '1,2',
      '1,2;1,2',
      '1,2;1,2;1,2;1,2',
      ';;',
      '1,2;1,2;',
      '1,;1,2;1,2',
      '1, ;1,2;1,2',
    ];
    bad.push(
      '1;1;1',
      '1,2,3;1,2,3;1,2,3',
      '1,2;1,2,3,4;1,2',
      '1,2,3,4;1,2;1,2,3,4',
      '1,2;1,2;1,2,3,4',
    );
    bad.push('a,2;1,2;1,2', '1,2;1,NaN;1,2', '1,2;1,2;1,Infinity', '1,2;1,2;1e999,2');
    const long = Array.from({ length: 14 }, () => 1).join(',');
    bad.push([long, long, long].join(';'));
    for (const raw of bad) assert.equal(web.readNumbers(raw), undefined, raw);
  });

  test('of one key more are a copy of the last, of one less without it, and never none or too many', () => {
    const grown = (count) => web.resize(set, count);
    assert.deepEqual(grown(3), {
      ...{ q: [1, 2, 3, 4, 3, 4], k: [5, 6, 7, 8, 7, 8], v: [9, 10, 11, 12, 11, 12] },
    });
    for (const count of [1, 0, -3]) {
      assert.deepEqual(grown(count), { q: [1, 2], k: [5, 6], v: [9, 10] }, `${count}`);
    }
    assert.deepEqual(grown(2), set);
    for (const count of [6, 7, 60]) assert.equal(grown(count).v.length, 12, `${count}`);
    const { q, v } = web.resize(web.WORKED_EXAMPLE, 4);
    assert.deepEqual(
      [q.slice(4), v.slice(4)],
      [
        [0.5, 0.6, 0.5, 0.6],
        [1.7, 1.8, 1.7, 1.8],
      ],
    );
    assert.deepEqual(grown(6).q, [1, 2, 3, 4, 3, 4, 3, 4, 3, 4, 3, 4]);
  });
});

test('sources: how many heads each has, and what those of a trained model are called', () => {
  const count = (source, trainedHeads = null) => web.headCount({ source, trainedHeads });
  assert.deepEqual(
    ['constructed', 'random', 'trained', 'yours'].map((of) => count(of)),
    [6, 4, 1, 1],
  );
  const heads = { layers: 5, perLayer: 3 };
  assert.equal(count('trained', heads), 15);
  assert.deepEqual([count('random', heads), count('constructed', heads)], [4, 6]);
  const name = (trainedHeads, head) =>
    web.trainedHeadName({ source: 'trained', trainedHeads }, head);
  assert.deepEqual(
    [0, 2, 3, 14].map((head) => name(heads, head)),
    ['0.0', '0.2', '1.0', '4.2'],
  );
  assert.deepEqual(
    [0, 3].map((head) => name(null, head)),
    ['0.0', '3.0'],
  );
  assert.deepEqual(
    [web.D_MODEL, web.D_K, web.RANDOM_HEADS, web.MAX_HEADS, web.WINDOW],
    [64, 16, 4, 4096, 4],
  );
  assert.deepEqual([web.MAX_MATRIX, web.TEMPERATURES], [64, [0.05, 20]]);
});

test('masks: the keys that a query may read, for the page and for the core', () => {
  const rows = (mask) => [0, 2, 3, 4, 9].map((row) => web.allowedKeys(mask, row, 10));
  assert.deepEqual(
    rows('none'),
    [0, 2, 3, 4, 9].map(() => [0, 10]),
  );
  assert.deepEqual(rows('causal'), [
    [0, 1],
    [0, 3],
    [0, 4],
    [0, 5],
    [0, 10],
  ]);
  assert.deepEqual(rows('window'), [
    [0, 1],
    [0, 3],
    [0, 4],
    [1, 5],
    [6, 10],
  ]);
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
  for (const [a, b, wanted] of [
    ...[
      [1, 2, 2],
      [2, 1, 2],
      [3, 3, 3],
      [NaN, 1, NaN],
      [1, NaN, NaN],
      [0, -1, 0],
      [-1, 0, 0],
    ],
  ]) {
    assert.ok(Object.is(web.worse(a, b), wanted), `${a}, ${b}`);
  }
});

describe('scales of colours:', () => {
  test('where a value stands', () => {
    const at = (value, show, range = 1) => Number(web.position(value, show, range).toPrecision(6));
    assert.deepEqual(
      [0, 0.3, 1].map((value) => at(value, 'weights')),
      [0, 0.3, 1],
    );
    assert.deepEqual(
      [0, 0.09, 1].map((value) => at(value, 'sqrt')),
      [0, 0.3, 1],
    );
    assert.deepEqual(
      [0, 1e-7, 1e-6].map((value) => at(value, 'log')),
      [0, 0, 0],
    );
    assert.deepEqual(
      [1.1e-6, 1e-4, 0.1, 1].map((value) => at(value, 'log')),
      [0.00689878, 0.333333, 0.833333, 1],
    );
    for (const show of ['scores', 'difference']) {
      assert.deepEqual(
        [-4, -1, 0, 2, 4].map((value) => at(value, show, 4)),
        [0, 0.375, 0.5, 0.75, 1],
      );
      assert.deepEqual(
        [-4, 0, 3].map((value) => at(value, show, 0)),
        [0.5, 0.5, 0.5],
        'all are 0',
      );
      assert.ok(Number.isNaN(web.position(NaN, show, 0)));
      assert.equal(web.position(-0.5, show, 0.5), 0);
    }
  });

  test('which of the 256 colours that is', () => {
    const places = (show, range, values) => values.map(web.colourIndex(show, range));
    assert.deepEqual(
      places('weights', 1, [0, 0.00195, 0.00197, 10.499 / 255, 0.5, 1]),
      [0, 0, 1, 10, 128, 255],
    );
    assert.deepEqual(
      places('sqrt', 1, [0, 0.0001, (10.499 / 255) ** 2, 0.25, 0.251, 1]),
      [0, 3, 10, 128, 128, 255],
    );
    assert.deepEqual(places('log', 1, [0, 1e-6, 1.01e-5, 1e-3, 1]), [0, 0, 43, 128, 255]);
    assert.deepEqual(
      places('scores', 2, [-3, -2, -1, 0, 0.0078, 0.0079, 1, 2, 3]),
      [1, 1, 65, 128, 128, 129, 192, 255, 255],
    );
    assert.deepEqual(places('difference', 0, [-1, 0, 5]), [128, 128, 128]);
  });

  test('which of them have a sign, and the numbers below them', () => {
    const shows = ['weights', 'sqrt', 'log', 'scores', 'difference'];
    assert.deepEqual(shows.map(web.isSigned), [false, false, false, true, true]);
    assert.deepEqual(
      shows.map((show) => web.ticks(show, 3)),
      [
        ...[
          [0, 0.25, 0.5, 0.75, 1],
          [0, 0.01, 0.1, 0.25, 0.5, 1],
          [1e-6, 1e-4, 1e-2, 1],
        ],
        ...[
          [-3, 0, 3],
          [-3, 0, 3],
        ],
      ],
    );
    assert.deepEqual([web.ticks('scores', 0), web.ticks('difference', 0)], [[0], [0]]);
    assert.deepEqual(web.ticks('scores', 0.5), [-0.5, 0, 0.5]);
  });

  test('go evenly through the colours that they are made of', () => {
    const bytes = web.ramp([
      [0, 100, 255],
      [255, 100, 0],
      [0, 0, 0],
    ]);
    assert.equal(bytes.length, 1024);
    for (const [i, wanted] of [
      ...[
        [0, [0, 100, 255, 255]],
        [51, [102, 100, 153, 255]],
        [102, [204, 100, 51, 255]],
      ],
      ...[
        [153, [204, 80, 0, 255]],
        [204, [102, 40, 0, 255]],
        [255, [0, 0, 0, 255]],
      ],
    ]) {
      assert.deepEqual([...bytes.slice(4 * i, 4 * i + 4)], wanted, `${i}`);
    }
    const [first, last] = [web.cividisPixels[0], web.cividisPixels[255]];
    assert.deepEqual([first, last], [0xff4e2200, 0xff38e8fe]);
  });
});

describe('dice:', () => {
  test('draw what the recipes of models draw from the same seed', () => {
    for (const seed of [0, 1, 77, 2 ** 31 - 1, -5]) {
      const [page, recipes] = [web.randomOf(seed), randomOfRecipes(seed)];
      const rolled = (random) => [
        ...Array.from({ length: 50 }, (_, i) => random.below(2 + 97 * i)),
        ...[
          random.different(5, 9),
          random.different(1, 3),
          random.different(4, 4),
          random.different(0, 2),
        ],
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

test('averages: between two neighbours by proportion', () => {
  assert.equal(web.quantile([10, 20, 40], 0.75), 30);
  assert.equal(web.quantile([10, 20, 40], 0.125), 12.5);
  assert.ok(Number.isNaN(web.mean([1, undefined])));
});

test('slope: two points have a line and nothing to judge it by, however they round', () => {
  for (const x of [3, 7, 10, 11, 13]) {
    const { slope, spread, factor } = web.fitPower([x, x * x + 1], [0.1, 0.7]);
    assert.ok(Number.isFinite(slope) && Number.isFinite(factor) && Number.isNaN(spread), `${x}`);
  }
  assert.deepEqual(web.fitPower([5], [2]), { slope: NaN, spread: NaN, factor: NaN });
  assert.deepEqual(web.fitPower([4, 4, 4], [1, 2, 3]), { slope: NaN, spread: NaN, factor: NaN });
  const none = web.fitPower([4, 8, 16], [1, 2]);
  assert.ok(Math.abs(none.slope - 1) < 1e-12 && Number.isNaN(none.spread), 'a point without its y');
});

describe('words:', () => {
  test('the token that is told until the reader chooses one', () => {
    for (const [words, wanted] of [
      ...[
        ['it', 0],
        ['It was', 0],
        ['it saw it again', 2],
        ['bit its', 1],
        ['a IT b', 1],
      ],
      ...[
        ['the cat .', 1],
        ['the 3 . !', 1],
        ['. , !', 2],
        ['猫 。', 0],
        ['狗 它 猫', 1],
      ],
    ]) {
      assert.equal(web.homeOf(words.split(' ')), wanted, words);
    }
    assert.equal(web.homeOf([]), -1);
  });

  test('an animal in its plural, and nothing that only begins or ends like one', () => {
    for (const word of ['Wolves', 'foxes', 'dogs', 'OXEN', '宠物', '宠物猫'])
      assert.ok(web.isAnimal(word), word);
    for (const word of ['catss', 'cates2', 'es', 's', 'dogses', '猫的', '']) {
      assert.equal(web.isAnimal(word), false, word);
    }
  });
});
