// What can be found in the pages of TypeDoc: every section of those made of Markdown, and every function, type and option of the
// package.
import { ReflectionKind } from 'typedoc';
import { entities, excerptOf } from './text.js';

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
