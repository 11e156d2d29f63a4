/** An answer as people write numbers: 0.25, 0,25, .25, 25 %, 1e-3, −2, 1/4; null: no number. */
export function readAnswer(raw: string): number | null {
  const text = raw
    .trim()
    .replace(/[\uFF10-\uFF19\uFF0E\uFF0C\uFF05\uFF0F\uFF0D]/g, (wide) =>
      String.fromCharCode(wide.charCodeAt(0) - 0xfee0),
    )
    .replace(/[−–]/g, '-')
    .replace(/\s+/g, '');
  const [, number, below, percent] =
    /^([-+]?[\d.,]+(?:e[-+]?\d+)?)(?:\/([\d.,]+))?(%?)$/i.exec(text) ?? [];
  if (number === undefined) return null;
  const plain = (part: string) => Number(part.replace(',', '.'));
  const value = (plain(number) / (below ? plain(below) : 1)) * (percent ? 0.01 : 1);
  return Number.isFinite(value) ? value : null;
}

/** As a share of the number, where an exercise says nothing else; and what rounding to three decimals takes. */
const WITHIN = 0.02;
const ROUNDING = 0.0006;

export function isRight(answer: number, expected: number, within = WITHIN): boolean {
  return Math.abs(answer - expected) <= Math.max(within * Math.abs(expected), ROUNDING);
}
