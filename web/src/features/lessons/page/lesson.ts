import { parseFragment, type State } from '../../../state/state';
import { asksOf, PANEL_IDS, type PanelId } from '../../index';
import type { Language } from '../../../i18n/i18n';
import { isQuantity } from './quantities';

/** What a step can show: a panel, the sentence with its chips, or the settings of the layer. */
export const SHOWABLE: readonly Showable[] = ['settings', 'sentence', ...PANEL_IDS];
export type Showable = PanelId | 'settings' | 'sentence';

/** A question: with a number that the page computes, with the author's own number or texts, with choices, or open, for a discussion. */
export interface Exercise {
  readonly text: string;
  /** What the answer is compared with, see quantities.ts; with choices it is the number of the right one, from 0. */
  readonly number?: string;
  /** How far an answer may be off, as a share of the number. */
  readonly within?: number;
  readonly choices?: readonly string[];
  /** The right one of the choices, where no computed number says it. */
  readonly right?: number;
  /** The author's own number. */
  readonly value?: number;
  /** How far an answer may be off from it, in its own unit; nothing: as far as from a number of the page. */
  readonly off?: number;
  /** The author's own texts, of which each is right; parse_answer.ts says how they are compared. */
  readonly answers?: readonly string[];
}

export interface Step {
  readonly title: string;
  /** Paragraphs, with an empty line between them. */
  readonly text: string;
  readonly show: readonly Showable[];
  /** The state as a link has it, without version and language. */
  readonly state: string;
  /** Controls that are locked: names of fields of the state, or all. */
  readonly lock: readonly string[] | true;
  /** Whether panels that can ask ask the reader to guess first. */
  readonly guess: boolean;
  readonly exercises: readonly Exercise[];
  /** For teachers, who ask for it: paragraphs, as in the text. */
  readonly notes?: string;
}

export interface Lesson {
  readonly title: string;
  /** How long it takes; 0: nobody said. */
  readonly minutes: number;
  readonly goals: readonly string[];
  readonly steps: readonly Step[];
}

export const LESSON_LIMITS = {
  ...{ title: 120, text: 4000, state: 3000, goals: 8, steps: 20, exercises: 12, choices: 8 },
  ...{ minutes: 600, locks: 40, choice: 300, show: 12, answers: 8 },
} as const;

type Unknown = Readonly<Record<string, unknown>>;

const isObject = (value: unknown): value is Unknown =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

const string = (value: unknown, most: number): string =>
  typeof value === 'string' ? value.slice(0, most).replace(/\p{Surrogate}/gu, '\uFFFD') : '';

const list = (value: unknown, most: number): readonly unknown[] =>
  Array.isArray(value) ? (value as unknown[]).slice(0, most) : [];

const integer = (value: unknown, most: number): number =>
  typeof value === 'number' && value >= 0 ? Math.min(most, Math.round(value)) : 0;

const lines = (value: unknown, most: number): readonly string[] =>
  list(value, most)
    .map((line) => string(line, LESSON_LIMITS.choice))
    .filter((line) => line.trim() !== '');

/** What the author wrote as the answer; nothing where that was no answer. */
function readOwn({ value, off, answers }: Unknown): Partial<Exercise> {
  if (typeof value === 'number' && Number.isFinite(value)) {
    return { value, ...(typeof off === 'number' && off >= 0 && off < Infinity ? { off } : {}) };
  }
  const texts = lines(answers, LESSON_LIMITS.answers);
  return texts.length > 0 ? { answers: texts } : {};
}

function readExercise(raw: unknown): Exercise | null {
  if (!isObject(raw)) return null;
  const text = string(raw['text'], LESSON_LIMITS.text);
  if (text.trim() === '') return null;
  const choices = lines(raw['choices'], LESSON_LIMITS.choices);
  const number = string(raw['number'], 60);
  const { within, right } = raw;
  const known = isQuantity(number);
  return {
    text,
    ...(known || choices.length > 1 ? {} : readOwn(raw)),
    ...(known ? { number } : {}),
    ...(known && typeof within === 'number' && within > 0 && within <= 1 ? { within } : {}),
    ...(choices.length > 1 ? { choices } : {}),
    ...(typeof right === 'number' && choices[right] !== undefined && choices.length > 1 && !known
      ? { right }
      : {}),
  };
}

function readLock(raw: unknown): Step['lock'] {
  if (raw === true) return true;
  const names = list(raw, LESSON_LIMITS.locks).map((name) => string(name, 40));
  return [...new Set(names.filter((name) => /^\w+$/.test(name)))];
}

/** Null: a step without anything to read or to see. */
function readStep(raw: unknown): Step | null {
  if (!isObject(raw)) return null;
  const wanted = list(raw['show'], LESSON_LIMITS.show);
  // Panels that this page does not have are left out, and so is a step that has no other.
  const show = [...new Set(wanted)].filter((id): id is Showable =>
    SHOWABLE.some((name) => name === id),
  );
  const title = string(raw['title'], LESSON_LIMITS.title);
  const text = string(raw['text'], LESSON_LIMITS.text);
  const exercises = list(raw['exercises'], LESSON_LIMITS.exercises)
    .map(readExercise)
    .filter((exercise) => exercise !== null);
  if (wanted.length > 0 && !show.some(isPanel) && wanted.some(isNoPart)) return null;
  if (title + text === '' && exercises.length === 0 && show.length === 0) return null;
  const notes = string(raw['notes'], LESSON_LIMITS.text);
  return {
    ...{ title, text, show, exercises },
    state: string(raw['state'], LESSON_LIMITS.state),
    lock: readLock(raw['lock']),
    guess: raw['guess'] === true,
    ...(notes.trim() === '' ? {} : { notes }),
  };
}

const isPanel = (id: Showable): id is PanelId => id !== 'settings' && id !== 'sentence';
const isNoPart = (id: unknown) => id !== 'settings' && id !== 'sentence';

/** The panels of a step, without the parts of the page that stand above them. */
export const panelsOf = ({ show }: Step): readonly PanelId[] => show.filter(isPanel);

/** A lesson out of anything at all: what cannot be understood is left out, and what is too much is cut. Never throws. */
export function readLesson(raw: unknown): Lesson | null {
  if (!isObject(raw)) return null;
  const steps = list(raw['steps'], LESSON_LIMITS.steps)
    .map(readStep)
    .filter((step) => step !== null);
  if (steps.length === 0) return null;
  const goals = lines(raw['goals'], LESSON_LIMITS.goals);
  const minutes = integer(raw['minutes'], LESSON_LIMITS.minutes);
  return { title: string(raw['title'], LESSON_LIMITS.title), minutes, goals, steps };
}

/** The state that a step begins with. */
export function stateOf(step: Step, language: Language): State {
  const state = parseFragment(`#v=1&lang=${language}&${step.state}`, language);
  const asks = panelsOf(step).map(asksOf);
  const guesses = step.guess ? (Object.assign({}, ...asks) as Partial<State>) : {};
  // The language is that of the reader, whatever else the link says.
  return { ...state, language, controls: true, panel: null, ...guesses };
}
