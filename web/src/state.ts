import { defaultText, LANGUAGES, type Language } from './i18n';
import { MAX_TEXT, MAX_TOKENS } from './tokenizer';
import { NUM_HEADS } from './engine/model';

export const SCALES = ['linear', 'sqrt', 'log'] as const;
export type Scale = (typeof SCALES)[number];

/** Everything the page shows follows from this one object, and a link carries all of it. */
export interface State {
  readonly language: Language;
  readonly text: string;
  readonly positions: boolean;
  readonly causal: boolean;
  readonly temperature: number;
  readonly head: number;
  readonly seed: number;
  /** The token whose row is told; null: the page chooses. */
  readonly query: number | null;
  readonly scale: Scale;
  /** k of PE(p + k) = M_k PE(p). */
  readonly shift: number;
}

export const LIMITS = {
  temperature: [0.05, 20],
  head: [0, NUM_HEADS - 1],
  seed: [0, 999999],
  query: [0, MAX_TOKENS - 1],
  shift: [0, 128],
} as const;

const VERSION = '1';

export function initialState(language: Language): State {
  return {
    language,
    text: defaultText(language),
    positions: true,
    causal: true,
    temperature: 1,
    head: 0,
    seed: 7,
    query: null,
    scale: 'linear',
    shift: 5,
  };
}

/** One way of writing and reading a field; `read` answers undefined to what it cannot understand. */
interface Field<T> {
  readonly key: string;
  readonly write: (value: T) => string;
  readonly read: (raw: string) => T | undefined;
}

function clamp(value: number, [low, high]: readonly [number, number]): number {
  return Math.min(high, Math.max(low, value));
}

/** Three significant digits: what the slider, the box and the link all show. */
export function clampTemperature(value: number): number {
  return clamp(Number(value.toPrecision(3)), LIMITS.temperature);
}

function readNumber(raw: string): number | undefined {
  const value = Number(raw);
  return raw.trim() !== '' && Number.isFinite(value) ? value : undefined;
}

function integer(key: string, limits: readonly [number, number]): Field<number> {
  const read = (raw: string) => {
    const value = readNumber(raw);
    return value === undefined ? undefined : clamp(Math.round(value), limits);
  };
  return { key, write: String, read };
}

function choice<T extends string>(key: string, options: readonly T[]): Field<T> {
  return { key, write: String, read: (raw) => options.find((option) => option === raw) };
}

function flag(key: string): Field<boolean> {
  const read = (raw: string) => (raw === '1' ? true : raw === '0' ? false : undefined);
  return { key, write: (value) => (value ? '1' : '0'), read };
}

const text: Field<string> = {
  key: 'x',
  // A link stays short enough to send, and half a surrogate pair would not survive the journey.
  write: (value) => value.slice(0, MAX_TEXT).replace(/\p{Surrogate}/gu, '\uFFFD'),
  read: (raw) => raw.slice(0, MAX_TEXT),
};

const temperature: Field<number> = {
  key: 'tau',
  write: String,
  read(raw) {
    const value = readNumber(raw);
    return value === undefined ? undefined : clampTemperature(value);
  },
};

const queryNumber = integer('q', LIMITS.query);
const query: Field<number | null> = {
  ...queryNumber,
  write: (value) => (value === null ? '' : String(value)),
};

/** The order is the order of the link. `language` comes first: the default text depends on it. */
const FIELDS: { readonly [K in keyof State]: Field<State[K]> } = {
  language: choice('lang', LANGUAGES),
  text,
  positions: flag('pe'),
  causal: flag('causal'),
  temperature,
  head: integer('h', LIMITS.head),
  seed: integer('seed', LIMITS.seed),
  query,
  scale: choice('scale', SCALES),
  shift: integer('k', LIMITS.shift),
};

function readField<K extends keyof State>(name: K, from: URLSearchParams, fallback: State) {
  const raw = from.get(FIELDS[name].key);
  return (raw === null ? undefined : FIELDS[name].read(raw)) ?? fallback[name];
}

/** The state a link describes, or null when the fragment is not a link of this page. Never throws. */
export function parseFragment(fragment: string, language: Language): State | null {
  const from = new URLSearchParams(fragment.replace(/^#/, ''));
  if (from.get('v') !== VERSION) return null;
  const base = initialState(readField('language', from, initialState(language)));
  return {
    language: base.language,
    text: readField('text', from, base),
    positions: readField('positions', from, base),
    causal: readField('causal', from, base),
    temperature: readField('temperature', from, base),
    head: readField('head', from, base),
    seed: readField('seed', from, base),
    query: readField('query', from, base),
    scale: readField('scale', from, base),
    shift: readField('shift', from, base),
  };
}

function writeField<K extends keyof State>(
  name: K,
  state: Pick<State, K>,
  base: Pick<State, K>,
  to: URLSearchParams,
) {
  if (state[name] !== base[name]) to.set(FIELDS[name].key, FIELDS[name].write(state[name]));
}

/** A link to exactly this state; what has its default value is left out. */
export function formatFragment(state: State): string {
  const to = new URLSearchParams({ v: VERSION, lang: state.language });
  const base = initialState(state.language);
  for (const name of Object.keys(FIELDS) as (keyof State)[]) writeField(name, state, base, to);
  return `#${to.toString()}`;
}
