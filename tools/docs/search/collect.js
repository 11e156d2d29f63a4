// What can be found: every section of the pages made of Markdown, every function, type and option of the package, and everything
// in the public headers.
import { ReflectionKind } from 'typedoc';

const entities = { lt: '<', gt: '>', amp: '&', quot: '"', '#39': "'", nbsp: ' ' };
const plainText = (html) =>
  html
    // A program of examples/ is found by what its recipe says of it.
    .replace(/<p class="program">.*?<\/pre>/gs, ' ')
    .replace(/<(?:svg|button|script|style)\b.*?<\/(?:svg|button|script|style)>/gs, ' ')
    .replace(/<\/?(?:p|div|li|ul|td|th|tr|pre|h\d|dd|dt|br|wbr)\b[^>]*>/g, ' ')
    .replace(/<[^>]*>/g, '')
    .replace(/&(lt|gt|amp|quot|#39|nbsp);/g, (_all, name) => entities[name])
    .replace(/\s+/g, ' ')
    .trim();

/** The beginning of a text, up to the end of a word. */
const excerptOf = (text) =>
  text.length > 140 ? `${text.slice(0, 140).replace(/\s+\S*$/, '')} …` : text;

/** What a piece of a page says, and the programs in it, which say it once more. */
function proseOf(html) {
  const programs = [];
  const prose = html.replace(/<pre\b.*?<\/pre>/gs, (program) => {
    programs.push(plainText(program));
    return ' ';
  });
  return { text: plainText(prose), code: programs.join(' ') };
}

/** The sections of a page: what stands above its first heading, and below each. `share` is the weight of the latter. */
export function sectionsOf(html, { title, url, part, chinese, weight = 1, share = 1 }) {
  const [, main] = /<main\b[^>]*>(.*)<\/main>/s.exec(html);
  const pieces = main.split(/(?=<h[1-4]\b[^>]*\bid=")/);
  return pieces.flatMap((piece) => {
    const [all = '', level = '1', id, inner] =
      /^<h([1-4])\b[^>]*\bid="([^"]*)"[^>]*>(.*?)<\/h\1>/s.exec(piece) ?? [];
    const said = proseOf(piece.slice(all.length));
    const heading = level === '1' ? '' : plainText(inner);
    if (!said.text && !heading) return [];
    const place = heading ? `${url}#${id}` : url;
    const page = { title, part, chinese, weight: heading ? weight * share : weight };
    return [{ ...page, heading, ...said, excerpt: excerptOf(said.text), url: place }];
  });
}

/** A text of TypeDoc without its marks of Markdown. */
const textOf = (parts) =>
  parts
    .map(({ text }) => text)
    .join('')
    .replace(/`/g, '')
    .replace(/\s+/g, ' ')
    .trim();

/** What the comments of a function or a type say: { text, excerpt }. */
function saidOf(reflection) {
  const comments = [reflection, ...(reflection.signatures ?? [])].flatMap(
    ({ comment }) => comment ?? [],
  );
  const parts = comments.flatMap(({ summary, blockTags }) => [
    textOf(summary),
    ...blockTags.map(({ content }) => textOf(content)),
  ]);
  return { text: parts.join(' '), excerpt: excerptOf(parts[0] ?? '') };
}

const {
  SomeModule,
  Module,
  Method,
  Property,
  Accessor,
  Function: Functions,
  SomeExport,
} = ReflectionKind;

/** Functions before types, and those before their keys; what runs in a worker is the same once more. */
function weightOf(target, module) {
  const own = target.kindOf(Functions | Method)
    ? 1.3
    : target.kindOf(Property | Accessor)
      ? 0.7
      : 1;
  return module.name === 'qkv/worker' ? own / 2 : own;
}

/** The functions, types and keys of types of the package; what is inherited only where it is declared. */
export function referenceOf(router) {
  const seen = new Set();
  return router.getLinkTargets().flatMap((target) => {
    if (!target.kindOf?.(SomeExport | Method | Property | Accessor) || target.kindOf(SomeModule))
      return [];
    if (target.inheritedFrom || target.isReference?.() || /^[_[]/.test(target.name)) return [];
    const url = router.getFullUrl(target);
    if (seen.has(url)) return [];
    seen.add(url);
    const isMember = !target.parent.kindOf(Module);
    const module = isMember ? target.parent.parent : target.parent;
    if (!module.kindOf(Module)) return [];
    const { name } = target;
    const label = isMember ? `${target.parent.name}.${name}` : name;
    const title = isMember ? `${module.name} ${target.parent.name}` : module.name;
    const weight = weightOf(target, module);
    return [{ name, label, title, ...saidOf(target), url, part: 'js', weight }];
  });
}

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
