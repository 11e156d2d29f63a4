/** Thousands as both languages of the page write them: 13,404. */
const GROUPED = /^[-+]?[1-9]\d{0,2}(,\d{3})+(\.\d+)?$/;

/**
 * An answer as people write numbers: 0.25, 0,25, .25, 25 %, 1e-3, −2, 1/4. Of 1,234 there are two readings, as others write a
 * comma before decimals; where there is none it is no number.
 */
export function readAnswer(raw: string): readonly number[] {
  const text = raw
    .trim()
    .replace(/[\uFF10-\uFF19\uFF0E\uFF0C\uFF05\uFF0F\uFF0D]/g, (wide) =>
      String.fromCharCode(wide.charCodeAt(0) - 0xfee0),
    )
    .replace(/[−–]/g, '-')
    .replace(/\s+/g, '');
  const [, number, below, percent] =
    /^([-+]?[\d.,]+(?:e[-+]?\d+)?)(?:\/([\d.,]+))?(%?)$/i.exec(text) ?? [];
  if (number === undefined) return [];
  const decimal = (part: string) => Number(part.replace(',', '.'));
  const whole = GROUPED.test(number) ? [Number(number.replaceAll(',', ''))] : [];
  const share = (percent ? 0.01 : 1) / (below ? decimal(below) : 1);
  return [decimal(number), ...whole].map((value) => value * share).filter(Number.isFinite);
}

/** Of the readings of an answer the one that is nearest to a number. */
export const nearest = (readings: readonly number[], to: number): number =>
  readings.reduce((best, one) => (Math.abs(one - to) < Math.abs(best - to) ? one : best));

/** As a share of the number, where an exercise says nothing else; and what rounding to three decimals takes. */
const WITHIN = 0.02;
const ROUNDING = 0.0006;

export function isRight(answer: number, expected: number, within = WITHIN): boolean {
  return Math.abs(answer - expected) <= Math.max(within * Math.abs(expected), ROUNDING);
}

/** 0.42 is no farther from 0.41 than 0.01, whatever float64 makes of them. */
const FLOAT = 1e-9;

/** Whether an answer is no farther from the author's number than the author allows. */
export const isNear = (answer: number, value: number, off: number): boolean =>
  Math.abs(answer - value) <= off + FLOAT * Math.max(1, Math.abs(value));

/** Capitals, width, the kind of an apostrophe, spaces, and punctuation at both ends are not compared. */
function plain(text: string): string {
  const one = text
    .normalize('NFKC')
    .toLowerCase()
    .replace(/[‘’]/g, "'")
    .replace(/\s+/g, ' ')
    .trim();
  return one.replace(/^[\p{P}\s]+|[\p{P}\s]+$/gu, '') || one;
}

export const isSameText = (answer: string, texts: readonly string[]): boolean =>
  texts.some((text) => plain(text) === plain(answer));
