import { CHAPTER_IDS, CHAPTER_PLACES, type ChapterId } from '../chapters/index';
import { FEATURES, PANEL_IDS } from '../features/index';
import { defaultText, LANGUAGES, type Language } from '../i18n/i18n';
import { choice, optional, type Field, type Limits, type NumberField, type StateOf } from './field';
import { DEFAULTS_V1, TEXT_V1 } from './defaults_v1';
import { PAGE_FIELDS } from './page';

type Together<Union> = (Union extends unknown ? (of: Union) => void : never) extends (
  of: infer All,
) => void
  ? All
  : never;
type FeatureFields = Together<(typeof FEATURES)[keyof typeof FEATURES]['fields']>;

/** Where a link can lead: to a panel, or to a chapter. */
export const PLACES = [...PANEL_IDS, ...CHAPTER_PLACES] as const;
export type Place = (typeof PLACES)[number];

/** Chapters by their names, in the order of the page. */
const chapters: Field<readonly ChapterId[]> = {
  ...{ key: 'o', initial: [] },
  write: (ids) => ids.join('.'),
  read(raw) {
    const named = new Set(raw.split('.'));
    const known = CHAPTER_IDS.filter((id) => named.has(id));
    return known.length > 0 ? known : undefined;
  },
};

/** The order is the order of the link. */
export const FIELDS = {
  language: choice<Language>('lang', 'en', LANGUAGES),
  /** Where the link leads. */
  panel: optional(choice<Place>('p', 'map', PLACES)),
  ...PAGE_FIELDS,
  ...(Object.assign({}, ...Object.values(FEATURES).map(({ fields }) => fields)) as FeatureFields),
  /** The chapters whose laboratories are open; null: none. */
  opened: optional(chapters),
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

/** Links of a version that this page can read. */
interface Version {
  /** What it means where it says nothing, as a link would say it. */
  readonly defaults: (language: Language) => URLSearchParams;
  /** Says the same in the words of the newest version. */
  readonly renew: (said: URLSearchParams) => URLSearchParams;
}

const NEWEST = '1';
/**
 * Every version there ever was. A key that is to mean something else makes another one, and `renew` of those before it says in the
 * new words what their links meant. A key that is only added needs none, if it is null where a link does not have it.
 */
const VERSIONS: ReadonlyMap<string, Version> = new Map<string, Version>([
  [
    NEWEST,
    {
      defaults(language) {
        const meant = new URLSearchParams(DEFAULTS_V1);
        meant.set('x', TEXT_V1[language]);
        return meant;
      },
      renew: (said) => said,
    },
  ],
]);

/** Of a link that the page does not understand, or not all of it. */
export type LinkProblem =
  /** It is of another version; '' of none. */
  | { readonly kind: 'version'; readonly version: string }
  /** These parts of it mean nothing here. */
  | { readonly kind: 'unread'; readonly parts: readonly string[] };

/** What an address says besides the state. */
const ELSEWHERE: readonly string[] = ['v', 'lesson', 'step', 'L'];
const KEYS: ReadonlySet<string> = new Set([
  ...ELSEWHERE,
  ...Object.values(FIELDS).map(({ key }) => key),
]);

export function initialState(language: Language): State {
  const fields = NAMES.map((name) => [name, fieldOf(name).initial]);
  return { ...(Object.fromEntries(fields) as State), language, text: defaultText(language) };
}

/** A state whose fields are being read: each by its own rule, which the compiler cannot follow by name. */
type Unfinished = Record<keyof State, unknown>;

/** Whether it means something, or says nothing. */
function readField(name: keyof State, from: URLSearchParams, into: Unfinished): boolean {
  const field = fieldOf(name);
  const raw = from.get(field.key);
  const value = raw === null ? undefined : field.read(raw);
  if (value !== undefined) into[name] = value;
  return raw === null || raw === '' || value !== undefined;
}

/**
 * The state a fragment describes. What it leaves out means what it meant in the version of the link; what it says in a way that
 * means nothing does, too, and all of it when it is of another version: then `problem` says so. A fragment that is only the
 * name of a panel or a chapter leads there. Never throws.
 */
export function readFragment(
  fragment: string,
  language: Language,
): { readonly state: State; readonly problem: LinkProblem | null } {
  const bare = fragment.replace(/^#/, '');
  const panel = PLACES.find((id) => id === bare);
  if (panel) return { state: { ...initialState(language), panel }, problem: null };
  const said = new URLSearchParams(bare);
  const version = VERSIONS.get(said.get('v') ?? '');
  if (!version) {
    const isLink = bare.includes('=');
    const problem = { kind: 'version', version: said.get('v') ?? '' } as const;
    return { state: initialState(language), problem: isLink ? problem : null };
  }
  // First: the default text depends on it.
  const own = FIELDS.language.read(said.get('lang') ?? '') ?? language;
  const [meant, renewed] = [version.renew(version.defaults(own)), version.renew(said)];
  const state: Unfinished = { ...initialState(own) };
  for (const name of NAMES) readField(name, meant, state);
  const unread = NAMES.filter((name) => !readField(name, renewed, state)).map(
    (name) => fieldOf(name).key,
  );
  const unknown = [...renewed.keys()].filter((key) => !KEYS.has(key));
  const parts = [...new Set([...unread, ...unknown])].map(
    (key) => `${key}=${renewed.get(key) ?? ''}`,
  );
  return {
    state: state as unknown as State,
    problem: parts.length > 0 ? { kind: 'unread', parts } : null,
  };
}

export const parseFragment = (fragment: string, language: Language): State =>
  readFragment(fragment, language).state;

const LEFT_OUT = new URLSearchParams(DEFAULTS_V1);

/** A link to exactly this state; what a link means that says nothing of it is left out, but for the text. */
export function formatFragment(state: State): string {
  const to = new URLSearchParams({ v: NEWEST, lang: state.language });
  for (const name of NAMES) {
    const field = fieldOf(name);
    const written = field.write(state[name]);
    if (name === 'text' || written !== (LEFT_OUT.get(field.key) ?? '')) to.set(field.key, written);
  }
  return `#${to.toString()}`;
}
