// Word vectors: what the card says of the file is true, which words are chosen, and that int8 keeps them.
import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { test } from 'node:test';
import { isPresent } from '../../models/data/fetch.js';
import { archive, gloveBytes, gloveOf, WIDTH } from '../../models/data/glove.js';
import { chosenWords, neededWords } from '../../models/data/word_list.js';
import { formats } from '../../models/trainer/file.js';
import { wordsFile } from '../../models/vectors/publish.js';
import { read, text } from '../support/js/files.js';

const MOST_BYTES = 600_000;
const card = JSON.parse(text('models/words/card.json'));
const bytes = read('models/words/words.safetensors');

/** { words, rowOf }: what is in a file, numbers as they were before int8. */
async function contents(file) {
  const { readSafetensors } = await formats();
  const { metadata, arrays } = readSafetensors('words', file);
  const { bytes: stored } = arrays.get('scales');
  const scales = new Float32Array(stored.slice().buffer);
  const numbers = new Int8Array(arrays.get('vectors').bytes);
  const rowOf = (i) =>
    Array.from(numbers.subarray(i * WIDTH, (i + 1) * WIDTH), (x) => x * scales[i]);
  return { words: metadata.get('words').split(' '), rowOf, scales };
}

test('words: the file is the one of the card, and small', async () => {
  const sha256 = createHash('sha256').update(bytes).digest('hex');
  assert.deepEqual(card.file, { name: 'words.safetensors', bytes: bytes.length, sha256 });
  assert.ok(bytes.length <= MOST_BYTES, `${bytes.length}`);
  assert.deepEqual(card.data, [archive]);
  const { words, scales } = await contents(bytes);
  assert.deepEqual([words.length, scales.length, new Set(words).size], Array(3).fill(card.words));
  assert.deepEqual(
    neededWords.filter((word) => !words.includes(word)),
    [],
  );
});

test('words: needed ones and the commonest others are chosen, in their order', () => {
  const common = ['the', ',', 'qqa', "n't", 'qqb', '3rd', 'qqc', 'qqd'];
  const list = [...common, ...neededWords.filter((word) => word !== 'the')];
  const chosen = chosenWords(list, neededWords.length + 2);
  assert.deepEqual(chosen.slice(0, 3), ['the', 'qqa', 'qqb']);
  assert.equal(chosen.length, neededWords.length + 2);
  assert.throws(() => chosenWords(common, 9), /^Error: GloVe does not know cat, /);
});

test('words: numbers are found in the bytes of the archive, and int8 is within half a step', async () => {
  const row = (seed) => Array.from({ length: WIDTH }, (_, i) => Math.sin(seed + i) * seed);
  const rows = { a: row(1), ']': row(2), b: Array(WIDTH).fill(0) };
  const vectors = Object.fromEntries(
    Object.entries(rows).map(([word, list]) => [word, [...list, 9, 0]]),
  );
  const archived = Buffer.from(JSON.stringify({ size: 3, words: Object.keys(rows), vectors }));
  const { words, vectorOf } = gloveOf(archived);
  assert.deepEqual(words, Object.keys(rows));
  for (const word of words) assert.deepEqual(vectorOf(word), rows[word]);
  assert.equal(vectorOf('c'), undefined);
  const kept = await contents(await wordsFile(words, words.map(vectorOf)));
  words.forEach((word, i) =>
    kept.rowOf(i).forEach((x, c) => {
      const bound = (kept.scales[i] / 2) * (1 + 1e-6);
      assert.ok(Math.abs(x - rows[word][c]) <= bound, `${word} ${c}`);
    }),
  );
});

test('words: the file has the numbers of the archive', async (t) => {
  if (!isPresent(archive)) return t.skip(`${archive.name} has not been fetched`);
  const { vectorOf } = gloveOf(await gloveBytes());
  const { words, rowOf, scales } = await contents(bytes);
  for (const word of ['king', 'queen', 'tokyo', 'kittens']) {
    const i = words.indexOf(word);
    const original = vectorOf(word);
    rowOf(i).forEach((x, c) => assert.ok(Math.abs(x - original[c]) <= scales[i] * 0.51, word));
  }
});
