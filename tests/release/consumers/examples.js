// Examples in Markdown: programs made of the code blocks of a file, and what it says they print.
import { text } from '../../support/js/files.js';

/** Files whose code is run. */
export const documents = [
  'README.md',
  'tools/docs/start.md',
  'tools/docs/functions.md',
  'wasm/docs/attention.md',
  'wasm/docs/package.md',
  'wasm/docs/worked-example.md',
  'wasm/docs/encoder-decoder.md',
  'wasm/docs/conventions.md',
  'wasm/docs/workers.md',
  'wasm/docs/spectra.md',
  'wasm/docs/training.md',
  'wasm/docs/models.md',
  'wasm/docs/model-files.md',
  'wasm/docs/constraints.md',
  'wasm/docs/microscope.md',
  'wasm/docs/circuit.md',
  'wasm/docs/versions.md',
];

/** Where a C++ user reads how to compile and link. */
export const guide = 'core/docs/using.md';

/** Files whose C++ is run. */
export const cppDocuments = [...documents, guide];

const blocksIn = (markdown) =>
  [...markdown.matchAll(/^```(\w*)\n(.*?)^```$/gms)].map(([, language, content]) => ({
    language,
    content,
  }));

/** The fenced blocks of a file: { language, content }. */
const blocksOf = (path) => blocksIn(text(path));

/** The blocks in one language that stand below a heading of a file. */
export function blocksUnder(path, heading, language) {
  const section = text(path)
    .split(/^(?=#+ )/m)
    .find((part) => part.startsWith(`## ${heading}\n`));
  if (section === undefined) throw new Error(`${path} has no section "${heading}"`);
  return blocksIn(section)
    .filter((block) => block.language === language)
    .map(({ content }) => content);
}

/** What to write for each tool; tests/release/consumers/matrix does so. */
const bundlers = 'wasm/docs/bundlers.md';

/** The blocks of the guide that have been asked for, so that a test can tell if one was forgotten. */
const asked = new Set();
export const forgotten = () => blocksOf(bundlers).filter(({ content }) => !asked.has(content));

/** The one block of the guide, or of another file, in this language and with this somewhere in it. */
export function advice(language, part = '', path = bundlers) {
  const found = blocksOf(path).filter(
    (block) => block.language === language && block.content.includes(part),
  );
  if (found.length !== 1) throw new Error(`${found.length} blocks of ${language} with ${part}`);
  asked.add(found[0].content);
  return found[0].content;
}

/**
 * The programs of a file in one language. A block that begins with an import, an export or an #include begins a
 * program, the others go on with it. Each is a list of { code, prints }, where `prints` is the block of
 * text right after the code, if there is one.
 */
export function programsOf(path, language) {
  const programs = [];
  const blocks = blocksOf(path);
  blocks.forEach((block, i) => {
    if (block.language !== language) return;
    if (/^(\/\/.*\n)?(import|export|module|#include)/.test(block.content)) programs.push([]);
    const next = blocks[i + 1];
    const prints = next?.language === 'text' ? next.content : undefined;
    programs.at(-1).push({ code: block.content, prints });
  });
  return programs;
}
