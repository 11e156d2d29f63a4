// Examples in Markdown: programs made of the code blocks of a file, and what it says they print.
import { text } from '../js/support/files.js';

/** Files whose code is run. */
export const documents = [
  'README.md',
  'wasm/docs/worked-example.md',
  'wasm/docs/encoder-decoder.md',
  'wasm/docs/conventions.md',
];

/** The fenced blocks of a file: { language, content }. */
const blocksOf = (path) =>
  [...text(path).matchAll(/^```(\w*)\n(.*?)^```$/gms)].map(([, language, content]) => ({
    language,
    content,
  }));

/**
 * The programs of a file in one language. A block that begins with an import or an #include begins a
 * program, the others go on with it. Each is a list of { code, prints }, where `prints` is the block of
 * text right after the code, if there is one.
 */
export function programsOf(path, language) {
  const programs = [];
  const blocks = blocksOf(path);
  blocks.forEach((block, i) => {
    if (block.language !== language) return;
    if (/^(import|#include)/.test(block.content)) programs.push([]);
    const next = blocks[i + 1];
    const prints = next?.language === 'text' ? next.content : undefined;
    programs.at(-1).push({ code: block.content, prints });
  });
  return programs;
}
