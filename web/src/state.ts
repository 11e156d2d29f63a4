import { SCHEMES, type Scheme } from './domain/schemes';
import {
  SHOWS,
  type Show,
  MASKS,
  type Mask,
  POSITIONS,
  type Positions,
  ORDERS,
  type Order,
  LOOKS,
  type Look,
} from './domain/choices';
import { defaultText, LANGUAGES, type Language } from './i18n';
import { MAX_TEXT, MAX_TOKENS, TOKENIZERS, type Tokenizer } from './tokenizer';
import { LAB_SCORES, TEMPERATURES, WIDTHS, type LabScores } from './engine/limits';
import { MAX_HEADS, SOURCES, type Source } from './engine/sources';
import {
  MAX_KEYS,
  readNumbers,
  sameNumbers,
  WORKED_EXAMPLE,
  writeNumbers,
  type NumberSet,
} from './numbersets';
import { GRID, MASK_KINDS, OPEN_PAINT, readPaint, type MaskKind } from './maskgrid';
import { LAYOUTS, PAIRS, type PairLayout } from './engine/pairs';
import { PANEL_IDS, type PanelId } from './panels/table';

/** Everything the page shows follows from this one object, and a link carries all of it. */
export interface State {
  readonly language: Language;
  /** The panel the link leads to. */
  readonly panel: PanelId | null;
  readonly text: string;
  readonly tokenizer: Tokenizer;
  /** Tokens the layer reads, the text repeated or cut to fit; null: as many as the text has. */
  readonly length: number | null;
  readonly source: Source;
  readonly positions: Positions;
  readonly mask: Mask;
  readonly temperature: number;
  readonly head: number;
  /** The head that is subtracted from the shown one. */
  readonly other: number | null;
  readonly seed: number;
  /** The token whose row is told; null: the page chooses. */
  readonly query: number | null;
  readonly show: Show;
  readonly look: Look;
  readonly order: Order;
  /** k of PE(p + k) = M_k PE(p). */
  readonly shift: number;
  /** The numbers of the panel that follows one row, and of the source `yours`. */
  readonly numbers: NumberSet;
  /** Which of its queries that panel follows. */
  readonly rowQuery: number;
  /** Keys it leaves out, a bit for each. */
  readonly rowMasked: number;
  /** Its factor on q.k; null: 1 / sqrt(d_k). */
  readonly rowScale: number | null;
  /** Whether it subtracts the maximum before exp. */
  readonly rowMax: boolean;
  /** Whether the curves of the temperature are shown, or the reader is asked to guess first. */
  readonly curves: boolean;
  /** Which scores are shown at all temperatures. */
  readonly scores: LabScores;
  /** Of the panel about the division by sqrt(d): d, whether it divides, and which sample it draws. */
  readonly width: number;
  readonly divided: boolean;
  readonly sample: number;
  /** The mask of the panel about masks, its size where it has one, and what was painted by hand. */
  readonly maskKind: MaskKind;
  readonly maskSize: number;
  readonly maskPaint: string;
  /** The order its tokens were shuffled into; 0: as they are written. */
  readonly maskShuffle: number;
  /** p of PE(p + k) = M_k PE(p), the pair of dimensions that is followed, and where its two stand. */
  readonly position: number;
  readonly pair: number;
  readonly layout: PairLayout;
  /** The way of saying where a token is whose map is shown. */
  readonly scheme: Scheme;
  /** Where a query and a key are turned to. */
  readonly rotaryQ: number;
  readonly rotaryK: number;
  /** Whether controls are shown; a teacher may hide them. */
  readonly controls: boolean;
}

export const LIMITS = {
  temperature: TEMPERATURES,
  head: [0, MAX_HEADS - 1],
  seed: [0, 999999],
  query: [0, MAX_TOKENS - 1],
  length: [1, MAX_TOKENS],
  shift: [0, 128],
  rowQuery: [0, MAX_KEYS - 1],
  rowMasked: [0, 2 ** MAX_KEYS - 1],
  rowScale: [-1e4, 1e4],
  width: [WIDTHS[0], WIDTHS[8]],
  sample: [1, 9999],
  maskSize: [1, GRID],
  maskShuffle: [0, 999999],
  position: [0, 65536],
  pair: [0, PAIRS - 1],
  rotaryQ: [0, 4096],
  rotaryK: [0, 4096],
} as const;

const VERSION = '1';

export function initialState(language: Language): State {
  return {
    language,
    panel: null,
    text: defaultText(language),
    tokenizer: 'word',
    length: null,
    source: 'constructed',
    positions: 'sinusoidal',
    mask: 'causal',
    temperature: 1,
    head: 0,
    other: null,
    seed: 7,
    query: null,
    show: 'weights',
    look: 'map',
    order: 'number',
    shift: 5,
    numbers: WORKED_EXAMPLE,
    rowQuery: 0,
    rowMasked: 0,
    rowScale: null,
    rowMax: true,
    curves: true,
    scores: 'random',
    width: 64,
    divided: false,
    sample: 1,
    maskKind: 'causal',
    maskSize: 3,
    maskPaint: OPEN_PAINT,
    maskShuffle: 0,
    position: 10,
    pair: 4,
    layout: 'interleaved',
    scheme: 'sinusoidal',
    rotaryQ: 12,
    rotaryK: 5,
    controls: true,
  };
}

/** One way of writing and reading a field; `read` answers undefined to what it cannot understand. */
interface Field<T> {
  readonly key: string;
  readonly write: (value: T) => string;
  readonly read: (raw: string) => T | undefined;
}

type Limits = readonly [low: number, high: number];

export function clamp(value: number, [low, high]: Limits): number {
  return Math.min(high, Math.max(low, value));
}

export const significant = (value: number, digits: number) => Number(value.toPrecision(digits));

/** Three significant digits: what the slider, the box and the link all show. */
export function clampTemperature(value: number): number {
  return clamp(significant(value, 3), LIMITS.temperature);
}

export function clampScale(value: number): number {
  const scale = clamp(significant(value, 4), LIMITS.rowScale);
  return scale === 0 ? 0 : scale;
}

/** The nearest power of two that is tried. */
export function clampWidth(value: number): number {
  return 2 ** Math.round(Math.log2(clamp(value, LIMITS.width)));
}

/** A field of numbers that `clean` brings into range. */
function number(key: string, clean: (value: number) => number): Field<number> {
  const read = (raw: string) => {
    const value = Number(raw);
    return raw.trim() !== '' && Number.isFinite(value) ? clean(value) : undefined;
  };
  return { key, write: String, read };
}

const integer = (key: string, limits: Limits) =>
  number(key, (value) => clamp(Math.round(value), limits) + 0);

/** The same for a field that may be null, which is its default and never written. */
function optional<T>(field: Field<T>): Field<T | null> {
  return { ...field, write: (value) => (value === null ? '' : field.write(value)) };
}

function choice<T extends string>(key: string, options: readonly T[]): Field<T> {
  return { key, write: String, read: (raw) => options.find((option) => option === raw) };
}

function flag(key: string): Field<boolean> {
  const read = (raw: string) => (raw === '1' ? true : raw === '0' ? false : undefined);
  return { key, write: (value) => (value ? '1' : '0'), read };
}

/** A link stays short enough to send, and half a surrogate pair would not survive the journey. */
const sendable = (value: string) => value.slice(0, MAX_TEXT).replace(/\p{Surrogate}/gu, '\uFFFD');

const text: Field<string> = { key: 'x', write: sendable, read: sendable };

/** The order is the order of the link. */
const FIELDS: { readonly [K in keyof State]: Field<State[K]> } = {
  language: choice('lang', LANGUAGES),
  panel: optional(choice('p', PANEL_IDS)),
  text,
  tokenizer: choice('tok', TOKENIZERS),
  length: optional(integer('T', LIMITS.length)),
  source: choice('src', SOURCES),
  positions: choice('pe', POSITIONS),
  mask: choice('mask', MASKS),
  temperature: number('tau', clampTemperature),
  head: integer('h', LIMITS.head),
  other: optional(integer('minus', LIMITS.head)),
  seed: integer('seed', LIMITS.seed),
  query: optional(integer('q', LIMITS.query)),
  show: choice('show', SHOWS),
  look: choice('look', LOOKS),
  order: choice('sort', ORDERS),
  shift: integer('k', LIMITS.shift),
  numbers: { key: 'n', write: writeNumbers, read: readNumbers },
  rowQuery: integer('rq', LIMITS.rowQuery),
  rowMasked: integer('rm', LIMITS.rowMasked),
  rowScale: optional(number('rs', clampScale)),
  rowMax: flag('rmax'),
  curves: flag('curves'),
  scores: choice('ts', LAB_SCORES),
  width: number('d', clampWidth),
  divided: flag('div'),
  sample: integer('draw', LIMITS.sample),
  maskKind: choice('mk', MASK_KINDS),
  maskSize: integer('ms', LIMITS.maskSize),
  maskPaint: { key: 'mp', write: String, read: readPaint },
  maskShuffle: integer('mo', LIMITS.maskShuffle),
  position: integer('pp', LIMITS.position),
  pair: integer('pi', LIMITS.pair),
  layout: choice('pl', LAYOUTS),
  scheme: choice('ps', SCHEMES),
  rotaryQ: integer('pm', LIMITS.rotaryQ),
  rotaryK: integer('pn', LIMITS.rotaryK),
  controls: flag('controls'),
};

const NAMES = Object.keys(FIELDS) as (keyof State)[];

/** A state whose fields are being read: each by its own rule, which the compiler cannot follow by name. */
type Unfinished = Record<keyof State, unknown>;

function readField(name: keyof State, from: URLSearchParams, into: Unfinished): void {
  const raw = from.get(FIELDS[name].key);
  const value = raw === null ? undefined : FIELDS[name].read(raw);
  if (value !== undefined) into[name] = value;
}

/**
 * The state a fragment describes; whatever it leaves out, or says in a way that means nothing, has its
 * default, and so has all of it when it is of another version. A fragment that is only the name of a
 * panel leads there. Never throws.
 */
export function parseFragment(fragment: string, language: Language): State {
  const bare = fragment.replace(/^#/, '');
  const panel = PANEL_IDS.find((id) => id === bare);
  if (panel) return { ...initialState(language), panel };
  const from = new URLSearchParams(bare);
  if (from.get('v') !== VERSION) return initialState(language);
  // First: the default text depends on it.
  const base = initialState(FIELDS.language.read(from.get('lang') ?? '') ?? language);
  const state: Unfinished = { ...base };
  for (const name of NAMES) readField(name, from, state);
  return state as unknown as State;
}

function isDefault(name: keyof State, state: State, base: State): boolean {
  if (name === 'numbers') return sameNumbers(state.numbers, base.numbers);
  return state[name] === base[name];
}

/** A link to exactly this state; what has its default value is left out. */
export function formatFragment(state: State): string {
  const to = new URLSearchParams({ v: VERSION, lang: state.language });
  const base = initialState(state.language);
  for (const name of NAMES) {
    if (isDefault(name, state, base)) continue;
    to.set(FIELDS[name].key, FIELDS[name].write(state[name] as never));
  }
  return `#${to.toString()}`;
}
