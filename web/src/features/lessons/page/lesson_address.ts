// Which lesson an address asks for. In the main script: the rest of the lessons is fetched when one is requested.
import { LANGUAGES, type Language } from '../../../i18n/i18n';
import { clamp } from '../../../state/field';

/** The name of the list of lessons. */
export const INDEX = 'index';
const MOST_STEPS = 99;

export interface Address {
  /** The name of a lesson that the page has, or INDEX. */
  readonly name: string | null;
  /** A lesson that is in the link itself, see lesson_codec.ts. */
  readonly code: string | null;
  /** From 1. */
  readonly step: number;
  /** Null: that of the page. */
  readonly language: Language | null;
}

/** Null: a page without a lesson. `?lesson=masks` says the same as `#v=1&lesson=masks`, which counts when both are there. */
export function readAddress(search: string, fragment: string): Address | null {
  const hash = new URLSearchParams(fragment.replace(/^#/, ''));
  const query = new URLSearchParams(search);
  const versioned = hash.get('v') === '1';
  const get = (key: string) => (versioned ? hash.get(key) : null) ?? query.get(key);
  const code = versioned ? hash.get('L') : null;
  const name = get('lesson');
  if (!code && (!name || !/^\w{1,40}$/.test(name))) return null;
  const step = Number(get('step') ?? 1);
  const language = get('lang');
  return {
    name: code ? null : name,
    code: code || null,
    step: Number.isFinite(step) ? clamp(Math.round(step), [1, MOST_STEPS]) : 1,
    language: LANGUAGES.find((known) => known === language) ?? null,
  };
}

/** The fragment that leads to it again. */
export function writeAddress({ name, code, step }: Omit<Address, 'language'>, language: Language) {
  const to = new URLSearchParams({ v: '1', lang: language });
  if (code) to.set('L', code);
  else to.set('lesson', name ?? INDEX);
  if (step > 1) to.set('step', String(step));
  return `#${to.toString()}`;
}

/** What tells a lesson from others on this device: its name, or a number that another lesson of a link hardly has (FNV-1a). */
export function idOf({ name, code }: Pick<Address, 'name' | 'code'>): string {
  if (code === null) return name ?? INDEX;
  let hash = 0x811c9dc5;
  for (let i = 0; i < code.length; i++) hash = Math.imul(hash ^ code.charCodeAt(i), 0x01000193);
  return `own-${(hash >>> 0).toString(36)}`;
}
