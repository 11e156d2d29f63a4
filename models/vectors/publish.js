// node models/vectors/publish.js: fetches GloVe once (118 MB, to build/models) and writes models/words from it: the vectors of 5,000
// words in int8, and their card. Nothing is trained, so the same files come of it everywhere.
import { createHash } from 'node:crypto';
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { format } from 'oxfmt';
import { root } from '../../tools/environment.js';
import { archive, gloveBytes, gloveOf, WIDTH } from '../data/glove.js';
import { chosenWords, neededWords } from '../data/word_list.js';
import { formats } from '../trainer/file.js';

export const COUNT = 5000;
const MOST = 127;

/** Rows in int8 with one scale each, largest magnitude / 127, as safetensors; the words are in the metadata, with a space between. */
export async function wordsFile(words, rows) {
  const { writeSafetensors } = await formats();
  const scales = Float32Array.from(
    rows,
    (row) => Math.max(...row.map((x) => Math.abs(x))) / MOST || 1,
  );
  const numbers = Int8Array.from(
    rows.flatMap((row, i) => row.map((x) => Math.round(x / scales[i]))),
  );
  const bytesOf = ({ buffer }) => new Uint8Array(buffer);
  return writeSafetensors({
    metadata: new Map([
      ['format', 'qkv'],
      ['kind', 'word_vectors'],
      ['words', words.join(' ')],
    ]),
    arrays: new Map([
      // First: after the header every array begins at a multiple of 8, and 4 bytes are a float.
      ['scales', { dtype: 'F32', shape: [rows.length], bytes: bytesOf(scales) }],
      ['vectors', { dtype: 'I8', shape: [rows.length, WIDTH], bytes: bytesOf(numbers) }],
    ]),
  });
}

async function main() {
  const { words, vectorOf } = gloveOf(await gloveBytes());
  const chosen = chosenWords(words, COUNT);
  const bytes = await wordsFile(chosen, chosen.map(vectorOf));
  const folder = join(root, 'models/words');
  mkdirSync(folder, { recursive: true });
  writeFileSync(join(folder, 'words.safetensors'), bytes);
  const card = {
    ...{ name: 'words', about: 'English words as vectors: GloVe 6B, the commonest 5,000 or so' },
    license: 'PDDL-1.0',
    data: [archive],
    ...{ words: chosen.length, width: WIDTH, needed: neededWords.length, of: words.length },
    file: {
      ...{ name: 'words.safetensors', bytes: bytes.length },
      sha256: createHash('sha256').update(bytes).digest('hex'),
    },
  };
  const { code } = await format('card.json', JSON.stringify(card), { printWidth: 100 });
  writeFileSync(join(folder, 'card.json'), code);
  console.log(`${chosen.length} words, ${bytes.length} bytes`);
}

if (process.argv[1] === import.meta.filename) await main();
