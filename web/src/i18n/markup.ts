/** Roles that keep one colour through the whole page. */
export type Role = 'q' | 'k' | 'v' | 'o' | 'p';
export interface RichPart {
  readonly kind: 'text' | 'code' | 'em' | 'sub' | Role;
  readonly text: string;
}

const MARK = /`([^`]+)`|\*([^*]+)\*|~([^~]+)~|\[([qkvop])\|([^\]]+)\]/g;
const ELEMENTS = ['code', 'em', 'sub'];

/**
 * The little markup of the catalogues: `code`, *emphasis*, a~subscript~ and [q|a word in
 * the query's colour].
 */
export function parseRich(source: string): RichPart[] {
  const parts: RichPart[] = [];
  let end = 0;
  for (const match of source.matchAll(MARK)) {
    if (match.index > end) parts.push({ kind: 'text', text: source.slice(end, match.index) });
    const [all, code, em, sub, role, word] = match;
    if (code !== undefined) parts.push({ kind: 'code', text: code });
    else if (em !== undefined) parts.push({ kind: 'em', text: em });
    else if (sub !== undefined) parts.push({ kind: 'sub', text: sub });
    else parts.push({ kind: role as Role, text: word ?? '' });
    end = match.index + all.length;
  }
  if (end < source.length) parts.push({ kind: 'text', text: source.slice(end) });
  return parts;
}

export const richNodes = (source: string): Node[] => nodesOf(parseRich(source));

export function nodesOf(parts: readonly RichPart[]): Node[] {
  return parts.map(({ kind, text }) => {
    if (kind === 'text') return document.createTextNode(text);
    const element = document.createElement(ELEMENTS.includes(kind) ? kind : 'span');
    if (element.localName === 'span') element.className = `role role-${kind}`;
    element.textContent = text;
    return element;
  });
}
