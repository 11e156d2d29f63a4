const SUPERSCRIPTS = '⁰¹²³⁴⁵⁶⁷⁸⁹';

/** A whole number as an exponent: ⁻⁷. */
export const raised = (exponent: number): string =>
  String(exponent)
    .replace('-', '⁻')
    .replace(/\d/g, (digit) => SUPERSCRIPTS.charAt(Number(digit)));

/** Significant digits as a person writes them: 0.0312500, 4.12×10⁻⁷. */
export function digits(value: number, significant = 6): string {
  if (value === 0) return '0';
  if (!Number.isFinite(value)) return String(value).replace('Infinity', '∞').replace('-', '−');
  const size = Math.abs(value);
  const written =
    size < 1e-3 || size >= 10 ** significant
      ? value.toExponential(significant - 1)
      : value.toPrecision(significant);
  const [mantissa = '', exponent] = written.split('e');
  const base = mantissa.replace('-', '−');
  if (exponent === undefined) return base;
  return `${base}×10${raised(Number(exponent))}`;
}

/** A share of one, of which the small ones have two digits: 12.3%, 4.5%, 1.0×10⁻²⁸%, without a space in both languages. */
export const percent = (share: number) =>
  `${share >= 0.1 ? (100 * share).toFixed(1) : digits(100 * share, 2)}%`;

/** Four decimals as long as they fit; NaN and infinities by name. */
export function four(value: number): string {
  if (Number.isNaN(value)) return 'NaN';
  if (!Number.isFinite(value)) return value > 0 ? '∞' : '−∞';
  const written = Math.abs(value) < 1e5 ? value.toFixed(4) : value.toExponential(2);
  return written.replace('-', '−');
}

/** Three digits in the unit that they are readable in: 12.3 µs, 1.00 ms, 123 ms, 2.35 s. */
export function duration(milliseconds: number): string {
  const rounded = Number(milliseconds.toPrecision(3)); // 999.6 ms are 1.00 s
  if (rounded < 1) return `${Number((milliseconds * 1000).toPrecision(3))} µs`;
  if (rounded < 1000) return `${milliseconds.toPrecision(3)} ms`;
  const seconds = milliseconds / 1000;
  return `${rounded < 1e6 ? seconds.toPrecision(3) : Math.round(seconds)} s`;
}

const PREFIXES = ['', 'k', 'M', 'G', 'T', 'P', 'E', 'Z', 'Y'] as const;

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

/** Of memory and of files: 875 kB, 1.13 MB, a kilobyte being 1000. */
export const bytes = (count: number): string => withUnit(count, 'B');

/** 1,234,567: in both languages of the page. */
export const whole = (count: number): string => count.toLocaleString('en-US');
