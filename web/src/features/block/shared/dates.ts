import type { Language } from '../../../i18n/i18n';
import type { Dice } from '../../../domain/random_ints';

/** A day of 1900 to 2099. */
export interface Day {
  readonly year: number;
  readonly month: number;
  readonly day: number;
}

export const PARTS_OF_DAY = ['year', 'month', 'day'] as const;
export type PartOfDay = (typeof PARTS_OF_DAY)[number];

const MONTHS =
  'January February March April May June July August September October November December'.split(
    ' ',
  );
const DAYS = [31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31];
const [FIRST_YEAR, YEARS] = [1900, 200];

/** Languages in which dates are written: those of the page. */
export type { Language };

/** How dates are written in a language, and read again. */
const FORMS: Readonly<
  Record<
    Language,
    { write(of: Day): string; read(text: string): readonly string[] | null; longest: number }
  >
> = {
  en: {
    write: ({ year, month, day }) => `${day} ${MONTHS[month - 1]} ${year}`,
    read: (text) => {
      const [, day = '', name = '', year = ''] = /^(\d+) (\w+) (\d+)$/.exec(text) ?? [];
      return [year, String(MONTHS.indexOf(name) + 1), day];
    },
    longest: 17,
  },
  zh: {
    write: ({ year, month, day }) => `${year}年${month}月${day}日`,
    read: (text) => /^(\d+)年(\d+)月(\d+)日$/.exec(text)?.slice(1) ?? null,
    longest: 11,
  },
};

export const written = (of: Day, language: Language): string => FORMS[language].write(of);

const two = (part: number) => String(part).padStart(2, '0');
/** As ISO 8601 has it. */
export const isoOf = ({ year, month, day }: Day): string => `${year}-${two(month)}-${two(day)}`;

function daysOf(year: number, month: number): number {
  const isLeap = year % 4 === 0 && (year % 100 !== 0 || year % 400 === 0);
  return month === 2 && isLeap ? 29 : (DAYS[month - 1] ?? 0);
}

/** The day that a text names; null where it names none, or another way. */
export function dayOf(text: string, language: Language): Day | null {
  const [year = 0, month = 0, day = 0] = (FORMS[language].read(text) ?? []).map(Number);
  const inRange = year >= FIRST_YEAR && year < FIRST_YEAR + YEARS;
  const found = { year, month, day };
  return inRange && day >= 1 && day <= daysOf(year, month) && written(found, language) === text
    ? found
    : null;
}

/** Where each part stands in the day as it is written, from its first character to the one after its last. */
export function placesOf(
  of: Day,
  language: Language,
): Readonly<Record<PartOfDay, readonly [from: number, to: number]>> {
  const text = written(of, language);
  const [year, day] = [String(of.year), String(of.day)];
  const month = language === 'zh' ? String(of.month) : (MONTHS[of.month - 1] ?? '');
  const order = language === 'zh' ? { year, month, day } : { day, month, year };
  let at = 0;
  const places = Object.entries(order).map(([part, written]) => {
    const from = text.indexOf(written, at);
    at = from + written.length;
    return [part, [from, at]];
  });
  return Object.fromEntries(places) as Record<PartOfDay, [number, number]>;
}

/** Every tenth day is for the test alone. */
export const isHeldOut = ({ year, month, day }: Day): boolean =>
  (372 * year + 31 * month + day) % 10 === 0;

export function drawDay(random: Dice, heldOut: boolean): Day {
  for (;;) {
    const [year, month] = [FIRST_YEAR + random.below(YEARS), 1 + random.below(12)];
    const of = { year, month, day: 1 + random.below(daysOf(year, month)) };
    if (isHeldOut(of) === heldOut) return of;
  }
}

/** All characters of dates in a language and of their ISO form; the place of each is its token. */
export const charactersOf = (language: Language): readonly string[] => [
  ...new Set(`0123456789-${language === 'zh' ? '年月日' : ` ${MONTHS.join('')}`}`),
];

export const longestOf = (language: Language): number => FORMS[language].longest;

/** The tokens of a text; null where it is empty or too long, or has a character that is in no date. */
export function tokensOf(text: string, language: Language): number[] | null {
  const characters = charactersOf(language);
  const tokens = Array.from(text, (character) => characters.indexOf(character));
  const fits = tokens.length > 0 && tokens.length <= longestOf(language);
  return fits && !tokens.includes(-1) ? tokens : null;
}
