// The texts of the page in Node: those of both languages, of the page and of every panel.
import { readdirSync, readFileSync } from 'node:fs';
import { root } from '../../support/js/files.js';
import { join } from 'node:path';

const folder = join(root, 'web/src/features');
const panels = readdirSync(folder, { withFileTypes: true })
  .filter((entry) => entry.isDirectory())
  .map(({ name }) => join(folder, name));

/** All texts of a language, by their keys. */
export function textsOf(language) {
  const files = [join(root, 'web/src/i18n'), ...panels].map((of) => join(of, `${language}.json`));
  return Object.assign({}, ...files.map((file) => JSON.parse(readFileSync(file, 'utf8'))));
}

/** The example of a language as a link says it, which every link does. */
export const exampleSaid = (language = 'en') => {
  const text = textsOf(language)['sentence.default'];
  return new URLSearchParams({ x: text }).toString();
};
