// Words as vectors, in Node: counts, TF-IDF, cosines, analogies, pieces of words and the plane, each by its formula.
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { read } from '../../support/js/files.js';
import { modules, packageModule } from '../support/engine.js';

const web = await modules(
  'features/words/shared/{word_table,similarity,counts,ngrams,examples}',
  'features/words/page/plane_of_words',
  'engine/principal_plane',
);
const spectra = await (await packageModule('spectra')).init();
const close = (found, wanted, bound = 1e-12) =>
  assert.ok(Math.abs(found - wanted) <= bound, `${found}, expected ${wanted}`);

describe('words: counting', () => {
  const bags = web.bagsOf('A b, a!\n\nb c\n…\nb d e f');
  test('each line with words is a document, in small letters and without signs', () => {
    assert.deepEqual(bags.documents, ['A b, a!', 'b c', 'b d e f']);
    assert.deepEqual(bags.vocabulary, ['a', 'b', 'c', 'd', 'e', 'f']);
    assert.deepEqual(bags.counts.slice(0, 3), [
      [2, 0, 0],
      [1, 1, 1],
      [0, 1, 0],
    ]);
    assert.deepEqual(
      [bags.lengths, bags.documentFrequency],
      [
        [3, 2, 4],
        [1, 3, 1, 1, 1, 1],
      ],
    );
    assert.equal(web.bagsOf('1\n2\n3\n4\n5\n6').documents.length, web.MOST_DOCUMENTS);
  });

  test('TF-IDF is n / |d| ln(N / N_t)', () => {
    close(web.cellOf(bags, 'counts', 0, 0), 2);
    close(web.cellOf(bags, 'tf', 0, 0), 2 / 3);
    close(web.cellOf(bags, 'tfidf', 0, 0), (2 / 3) * Math.log(3));
    close(web.cellOf(bags, 'tfidf', 1, 2), 0); // every document has it
    close(web.cellOf(bags, 'tfidf', 5, 2), 0.25 * Math.log(3));
  });

  test('documents are as like as their columns, and the likest pair is found', () => {
    const counts = web.likeness(bags, 'counts');
    close(counts[0][1], 1 / Math.sqrt(5 * 2));
    close(counts[1][2], 1 / Math.sqrt(2 * 4));
    close(counts[2][2], 1);
    assert.deepEqual(web.closestPair(counts).pair, [1, 2]);
    // The one word that they share is everywhere, and counts for nothing.
    const weighed = web.likeness(bags, 'tfidf');
    close(weighed[1][2], 0);
    assert.equal(web.closestPair([[1]]), null);
  });
});

const table = web.readWords(new Uint8Array(read('models/words/words.safetensors')));
const { words, width, numbers } = table;
/** The row of a word in float64, and cosines as they are defined. */
const rowOf = (word) => {
  const at = words.indexOf(word) * width;
  return Array.from(numbers.subarray(at, at + width));
};
const dot = (a, b) => a.reduce((sum, x, i) => sum + x * b[i], 0);
const cosine = (a, b) => dot(a, b) / Math.sqrt(dot(a, a) * dot(b, b));
const unit = (row) => row.map((x) => x / Math.sqrt(dot(row, row)));
const ranked = (vector, without = []) =>
  words
    .filter((word) => !without.includes(word))
    .map((word) => ({ word, cosine: cosine(vector, rowOf(word)) }))
    .sort((a, b) => b.cosine - a.cosine);

function expectSame(found, wanted) {
  assert.deepEqual(
    found.map(({ word }) => word),
    wanted.map(({ word }) => word),
  );
  found.forEach((each, i) => close(each.cosine, wanted[i].cosine, 1e-6));
}

describe('words: learned vectors', () => {
  test('a vector is its row times its scale, and a unit has length 1', () => {
    assert.deepEqual([words.length, width], [5000, 100]);
    const row = words.indexOf('tokyo');
    assert.deepEqual(
      web.vectorOf(table, 'tokyo'),
      rowOf('tokyo').map((x) => x * table.scales[row]),
    );
    close(dot(web.unitOf(table, 'tokyo'), web.unitOf(table, 'tokyo')), 1, 1e-6);
    assert.deepEqual([web.vectorOf(table, 'qqq'), web.unitOf(table, 'qqq')], [[], undefined]);
    assert.equal(web.plainWord(' Tokyo '), 'tokyo');
  });

  test('neighbours are the words with the largest cosines', () => {
    for (const word of ['cat', 'bank', 'monday']) {
      expectSame(web.neighboursOf(table, word, 8), ranked(rowOf(word), [word]).slice(0, 8));
    }
    close(web.cosine(rowOf('hot'), rowOf('cold')), cosine(rowOf('hot'), rowOf('cold')));
    assert.equal(web.cosine([0, 0], [1, 2]), 0);
    assert.deepEqual(web.neighboursOf(table, 'qqq', 3), []);
  });

  test('king - man + woman is queen, Paris - France + Japan is Tokyo, and runners-up are found', () => {
    for (const [analogy, first] of [
      [['king', 'man', 'woman'], 'queen'],
      [['paris', 'france', 'japan'], 'tokyo'],
    ]) {
      const [a, b, c] = analogy.map((word) => unit(rowOf(word)));
      const sum = a.map((x, i) => x - b[i] + c[i]);
      const { nearest, withInputs } = web.answerOf(table, analogy, 3);
      assert.equal(nearest[0].word, first);
      expectSame(nearest, ranked(sum, analogy).slice(0, 3));
      expectSame([withInputs], ranked(sum).slice(0, 1));
    }
    assert.equal(web.answerOf(table, ['king', 'qqq', 'woman'], 3), null);
  });

  test('the cosine of two steps between words is that of their differences', () => {
    const [hot, cold, big, small] = ['hot', 'cold', 'big', 'small'].map((word) =>
      unit(rowOf(word)),
    );
    const [first, second] = [hot.map((x, i) => x - cold[i]), big.map((x, i) => x - small[i])];
    const product = (a, b) => a.reduce((sum, x, i) => sum + x * b[i], 0);
    const wanted =
      product(first, second) / Math.sqrt(product(first, first) * product(second, second));
    const found = web.cosineOfSteps(table, ['hot', 'cold'], ['big', 'small']);
    assert.ok(Math.abs(found - wanted) < 1e-6 && Math.abs(found) < 0.1, `${found}, not ${wanted}`);
    assert.ok(Number.isNaN(web.cosineOfSteps(table, ['hot', 'qqq'], ['big', 'small'])));
  });

  test('of the examples those fail that have a reason why, and no others', () => {
    for (const { words: analogy, expected, why } of web.ANALOGIES) {
      const { nearest } = web.answerOf(table, analogy, 1);
      assert.equal(nearest[0].word === expected, why === undefined, analogy.join(' '));
    }
    const missing = Object.values(web.PLANES).flatMap((list) =>
      list.split(/[ >]/).filter((word) => !table.rowOf.has(word)),
    );
    assert.deepEqual(missing, []);
  });
});

test('words: pieces are all runs of 3 to 6 letters of <word>, and the word itself if it was met', () => {
  // The example of Bojanowski et al. (2017), section 3.2.
  const pieces = web.piecesOf('where');
  assert.deepEqual(pieces.slice(0, 5), ['<wh', 'whe', 'her', 'ere', 're>']);
  assert.equal(pieces.length, 5 + 4 + 3 + 2 + 1);
  assert.equal(pieces.at(-1), '<where>');
  assert.deepEqual(web.ngramsOf('where'), pieces.slice(0, -1));
  assert.deepEqual([web.ngramsOf('a'), web.piecesOf('a')], [['<a>'], ['<a>']]);
  assert.deepEqual(web.ngramsOf('cats').at(-1), '<cats>', 'as long as the longest run');
  const shareOf = (a, b) => {
    const [x, y] = [web.ngramsOf(a), web.ngramsOf(b)];
    return x.filter((piece) => y.includes(piece)).length / new Set([...x, ...y]).size;
  };
  const found = web.relativesOf('unfriendliness', words, 6);
  const wanted = words
    .map((word) => ({ word, share: shareOf('unfriendliness', word) }))
    .sort((a, b) => b.share - a.share)
    .slice(0, 6);
  assert.deepEqual(
    found.map(({ word, share }) => ({ word, share })),
    wanted,
  );
  assert.deepEqual(web.relativesOf('xqz', words, 6), []);
});

test('words: the plane keeps its shares of the variance, and pairs are compared in all dimensions', () => {
  const { chosen, unknown } = web.wordsOfPlane(table, 'Man>woman king>queen, qqq cat', 'zh');
  const plane = web.onPlane(chosen, web.principalPlane(spectra, chosen.data, width));
  assert.deepEqual(unknown, ['qqq']);
  assert.deepEqual(plane.words, ['man', 'woman', 'king', 'queen', 'cat']);
  assert.deepEqual(plane.names[0], 'man 男人');
  assert.deepEqual(plane.pairs, [
    [0, 1],
    [2, 3],
  ]);
  const rows = plane.words.map((word) => unit(rowOf(word)));
  const mean = rows[0].map((_, i) => rows.reduce((sum, row) => sum + row[i], 0) / rows.length);
  const total = rows.flat().reduce((sum, x, i) => sum + (x - mean[i % width]) ** 2, 0);
  for (const axis of [0, 1]) {
    const along = plane.points.reduce((sum, point) => sum + point[axis] ** 2, 0);
    close(plane.shares[axis], along / total, 1e-5);
  }
  const [first, second] = [
    [0, 1],
    [2, 3],
  ].map(([a, b]) => rows[a].map((x, i) => rows[b][i] - x));
  close(plane.parallel, cosine(first, second), 1e-6);
  assert.equal(web.wordsOfPlane(table, 'man qqq', 'en').chosen, null);
});
