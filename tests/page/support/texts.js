// The texts of the page in Node: those of both languages, of the page and of every panel.
import { readdirSync, readFileSync } from 'node:fs';
import { root } from '../../support/js/files.js';
import { join } from 'node:path';

const folder = join(root, 'web/src/features');
const panels = readdirSync(folder, { withFileTypes: true })
  .filter((entry) => entry.isDirectory())
  .map(({ name }) => join(folder, name));

const known = new Map();
/** All texts of a language, by their keys. */
export function textsOf(language) {
  if (!known.has(language)) {
    const files = [join(root, 'web/src/i18n'), join(root, 'web/src/chapters'), ...panels].map(
      (of) => join(of, `${language}.json`),
    );
    const texts = files.map((file) => JSON.parse(readFileSync(file, 'utf8')));
    known.set(language, Object.assign({}, ...texts));
  }
  return known.get(language);
}

/** The example of a language as a link says it, which every link does. */
export const exampleSaid = (language = 'en') => {
  const text = textsOf(language)['sentence.default'];
  return new URLSearchParams({ x: text }).toString();
};
