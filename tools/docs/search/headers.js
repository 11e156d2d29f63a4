// What can be found in the public headers.
import { entities, excerptOf } from './text.js';

/** The texts of core/docs, which Doxygen knows by the names of their files. */
const texts = { index: 'The C++ library', using: 'C++: build and link' };

const weights = {
  function: 1.3,
  class: 1,
  struct: 1,
  enum: 1,
  typedef: 1,
  enumvalue: 0.6,
  variable: 0.6,
  file: 0.8,
};

/** What Doxygen collects for a search from elsewhere (EXTERNAL_SEARCH). */
export function headersOf(xml) {
  const decoded = (text) => text.replace(/&(lt|gt|amp|quot);/g, (_all, name) => entities[name]);
  return Array.from(xml.matchAll(/<doc>(.*?)<\/doc>/gs), ([, doc]) =>
    Object.fromEntries(
      Array.from(doc.matchAll(/<field name="(\w+)">(.*?)<\/field>/gs), ([, key, value]) => [
        key,
        decoded(value),
      ]),
    ),
  ).flatMap(({ type, name, url: address, text = '' }) => {
    const url = `core/${address}`;
    if (type === 'page') {
      // It begins with its heading.
      const rest = text.replace(/^(?:The C\+\+ library|Build and link)\s*/, '');
      return [
        { title: texts[name] ?? name, text: rest, excerpt: excerptOf(rest), url, part: 'guides' },
      ];
    }
    const excerpt = excerptOf(text);
    const label = name.replace(/^qkv::/, '');
    const names = label.split('::');
    const own = names.at(-1);
    // Constructors and assignments say nothing that their class does not.
    if (!(type in weights) || own === names.at(-2) || /^(?:~|operator\W)/.test(own)) return [];
    const title = ['qkv', ...names.slice(0, -1)].join('::');
    return [{ name: own, label, title, text, excerpt, url, part: 'cpp', weight: weights[type] }];
  });
}
