const PREFIXES = ['', 'k', 'M', 'G', 'T', 'P', 'E'] as const;

/** Three significant digits with a prefix for powers of 1000: 2.91 TFLOP, 15.1 MB. */
export function withUnit(value: number, unit: string): string {
  if (!Number.isFinite(value)) return '';
  let scaled = value;
  let power = 0;
  while (scaled >= 999.5 && power < PREFIXES.length - 1) {
    scaled /= 1000;
    power++;
  }
  const written = power === 0 ? String(Math.round(scaled)) : scaled.toPrecision(3);
  return `${written} ${PREFIXES[power] ?? ''}${unit}`;
}

/** Whole numbers with thin spaces between groups of three. */
export const grouped = (value: number) => String(value).replace(/\B(?=(\d{3})+$)/g, '\u202F');
