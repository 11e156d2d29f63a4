import { FEATURES, PANEL_IDS } from '../features/index';
import { defaultText, LANGUAGES, type Language } from '../i18n/i18n';
import { choice, optional, type Field, type Limits, type NumberField, type StateOf } from './field';
import { PAGE_FIELDS } from './page';

type Together<Union> = (Union extends unknown ? (of: Union) => void : never) extends (
  of: infer All,
) => void
  ? All
  : never;
type FeatureFields = Together<(typeof FEATURES)[keyof typeof FEATURES]['fields']>;

/** The order is the order of the link. */
export const FIELDS = {
  language: choice<Language>('lang', 'en', LANGUAGES),
  /** The panel the link leads to. */
  panel: optional(choice('p', 'map', PANEL_IDS)),
  ...PAGE_FIELDS,
  ...(Object.assign({}, ...Object.values(FEATURES).map(({ fields }) => fields)) as FeatureFields),
};
type Fields = typeof FIELDS;

/** Everything the page shows follows from this one object, and a link carries all of it. */
export type State = StateOf<Fields>;

const NAMES = Object.keys(FIELDS) as (keyof State)[];
const fieldOf = (name: keyof State) => FIELDS[name] as Field<unknown>;

type Limited = { [Name in keyof Fields]: Fields[Name] extends { limits: Limits } ? Name : never };

/** Of the fields that are numbers between limits. */
export const LIMITS = Object.fromEntries(
  Object.entries(FIELDS).flatMap(([name, field]) =>
    'limits' in field ? [[name, (field as NumberField).limits]] : [],
  ),
) as Readonly<Record<Limited[keyof Fields], Limits>>;

const VERSION = '1';

export function initialState(language: Language): State {
  const fields = NAMES.map((name) => [name, fieldOf(name).initial]);
  return { ...(Object.fromEntries(fields) as State), language, text: defaultText(language) };
}

/** A state whose fields are being read: each by its own rule, which the compiler cannot follow by name. */
type Unfinished = Record<keyof State, unknown>;

function readField(name: keyof State, from: URLSearchParams, into: Unfinished): void {
  const field = fieldOf(name);
  const raw = from.get(field.key);
  const value = raw === null ? undefined : field.read(raw);
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

/** A link to exactly this state; what has its default value is left out. */
export function formatFragment(state: State): string {
  const to = new URLSearchParams({ v: VERSION, lang: state.language });
  const base = initialState(state.language);
  for (const name of NAMES) {
    const field = fieldOf(name);
    const written = field.write(state[name]);
    if (written !== field.write(base[name])) to.set(field.key, written);
  }
  return `#${to.toString()}`;
}
