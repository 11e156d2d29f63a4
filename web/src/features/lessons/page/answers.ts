// What readers answer, kept on their device until they clear it, and as a table to take away.
import { t } from '../texts';
import { readList, writeList } from './stored_list';

const KEY = 'qkv-lesson-answers';
/** The oldest go when there are more. */
const MOST = 800;
const LONGEST = 2000;

/** '': it was not checked. */
export type Result = 'right' | 'wrong';

/** What an exercise passes on. */
export interface Given {
  readonly given: string;
  /** Of several choices, from 0. */
  readonly choice?: number;
  /** Null: nothing was checked now. */
  readonly result: Result | null;
  /** Whether the solution was shown now. */
  readonly shown: boolean;
}

/** Where a question stands. */
export interface Place {
  /** The name of a lesson of the page, or what tells the lesson of a link from others. */
  readonly lesson: string;
  /** From 0. */
  readonly step: number;
  readonly exercise: number;
}

/** Its words at that time, without marks. */
export interface Question extends Place {
  readonly title: string;
  readonly question: string;
}

export interface Kept extends Question {
  readonly given: string;
  readonly choice?: number;
  readonly result: Result | '';
  /** How often it was checked. */
  readonly checks: number;
  readonly shown: boolean;
  /** ISO 8601. */
  readonly time: string;
}

const isText = (value: unknown): value is string => typeof value === 'string';
const isCount = (value: unknown): value is number =>
  typeof value === 'number' && Number.isInteger(value) && value >= 0;

function readKept(raw: unknown): Kept[] {
  if (typeof raw !== 'object' || raw === null) return [];
  const one = raw as Readonly<Record<keyof Kept, unknown>>;
  const { lesson, step, exercise, title, question, given, choice, result, checks, shown, time } =
    one;
  const texts = [lesson, title, question, given, time];
  if (!texts.every(isText) || ![step, exercise, checks].every(isCount)) return [];
  const isResult = result === 'right' || result === 'wrong' || result === '';
  const isChoice = choice === undefined || isCount(choice);
  return isResult && isChoice && typeof shown === 'boolean' ? [raw as Kept] : [];
}

/** The oldest first. */
const readAll = (): readonly Kept[] => readList(KEY, readKept);

const write = (all: readonly Kept[]): boolean => writeList(KEY, all.slice(-MOST));

/** Null: those of all lessons. */
export const readAnswers = (lesson: string | null): readonly Kept[] =>
  readAll().filter((one) => lesson === null || one.lesson === lesson);

const isAt = (place: Place) => (one: Place) =>
  one.lesson === place.lesson && one.step === place.step && one.exercise === place.exercise;

export const answerAt = (place: Place): Kept | null => readAll().find(isAt(place)) ?? null;

/** An answer that is empty again is none. */
export function keepAnswer(question: Question, { given, choice, result, shown }: Given): boolean {
  const all = readAll();
  const before = all.find(isAt(question));
  const others = all.filter((one) => one !== before);
  if (given === '' && choice === undefined && !before?.checks) return write(others);
  const isSame = before?.given === given && before.choice === choice;
  const kept: Kept = {
    ...question,
    given: given.slice(0, LONGEST),
    ...(choice === undefined ? {} : { choice }),
    // Another answer has not been checked yet.
    result: result ?? (isSame ? before.result : ''),
    checks: (before?.checks ?? 0) + (result === null ? 0 : 1),
    shown: shown || (before?.shown ?? false),
    time: new Date().toISOString(),
  };
  return write([...others, kept]);
}

/** What was cleared, to be brought back. */
export function clearAnswers(lesson: string | null): readonly Kept[] {
  const gone = readAnswers(lesson);
  write(lesson === null ? [] : readAll().filter((one) => one.lesson !== lesson));
  return gone;
}

/** Answers given since stay. */
export function bringBack(gone: readonly Kept[]): void {
  const since = readAll();
  write([...gone.filter((one) => !since.some(isAt(one))), ...since]);
}

const COLUMNS = [
  'lesson',
  'step',
  'number',
  'question',
  'answer',
  'result',
  'checks',
  'shown',
  'time',
] as const;

/** A table with its heading, in the order of the lessons' questions. */
export function answersTable(all: readonly Kept[]): readonly (readonly (string | number)[])[] {
  const sorted = [...all].sort(
    (a, b) => a.title.localeCompare(b.title) || a.step - b.step || a.exercise - b.exercise,
  );
  const rows = sorted.map(
    ({ title, step, exercise, question, given, result, checks, shown, time }) => [
      ...[title, step + 1, exercise + 1, question, given],
      ...[t(`lessons.result.${result === '' ? 'none' : result}`), checks],
      ...[t(shown ? 'lessons.yes' : 'lessons.no'), time],
    ],
  );
  return [COLUMNS.map((name) => t(`lessons.column.${name}`)), ...rows];
}
