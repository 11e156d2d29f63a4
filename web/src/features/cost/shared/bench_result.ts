import type { Variant } from 'qkv';
import { significant } from '../../../state/field';

/** The lengths that are measured. */
export const LENGTHS = [64, 128, 256, 512, 1024, 2048, 4096] as const;
/** Of the shorter ones what a call costs in itself is a good part: slopes are fitted from here on. */
export const FIT_FROM = 256;
/** Width of a head; the attention that is measured has one, decoding has DECODE_HEADS. */
export const WIDTH = 64;
export const DECODE_HEADS = 8;

/** Measured at one length: times in milliseconds, the fastest of several, and bytes. NaN: not yet measured. */
export interface BenchRow {
  readonly tokens: number;
  /** softmax(Q K^T) V in three steps, which keep T x T weights in memory. */
  readonly storedMs: number;
  /** The same without them. */
  readonly streamingMs: number;
  /** WebAssembly memory that the call took besides q, k, v and the output. */
  readonly storedBytes: number;
  readonly streamingBytes: number;
  /** One token, with T - 1 before it in a cache. */
  readonly decodeMs: number;
}

/** What was measured, and on what. */
export interface BenchResult {
  readonly variant: Variant;
  readonly threads: number;
  readonly cores: number;
  readonly rows: readonly BenchRow[];
}

/** Operations of attention over T tokens, 4 T^2 WIDTH, in 10^9 a second. */
export const gigaflops = (tokens: number, ms: number) => (4 * tokens ** 2 * WIDTH) / ms / 1e6;
/** Bytes of keys and values that one token reads, 8 T DECODE_HEADS WIDTH in float32, in 10^9 a second. */
export const gigabytes = (tokens: number, ms: number) =>
  (2 * tokens * DECODE_HEADS * WIDTH * 4) / ms / 1e6;

// In a link: whole numbers with dots between them, one group for the engine and one for each length.

const VARIANTS: readonly Variant[] = ['relaxed', 'simd', 'relaxed-threads', 'simd-threads'];
/** A time in a link is a whole number of these. */
const UNITS_PER_MS = 1e5;
const MOST = 1e12;

/** A time in UNITS_PER_MS with four digits, which are more than two runs agree on. */
const units = (ms: number) => significant(Math.max(1, Math.round(ms * UNITS_PER_MS)), 4);

export function writeResult(result: BenchResult | null): string {
  if (!result) return '';
  const { variant, threads, cores, rows } = result;
  const groups = rows.map((row) => [
    ...[row.tokens, units(row.storedMs), units(row.streamingMs)],
    ...[row.storedBytes, row.streamingBytes, units(row.decodeMs)],
  ]);
  return [[VARIANTS.indexOf(variant), threads, cores], ...groups]
    .map((group) => group.join('.'))
    .join('_');
}

function rowOf(group: readonly number[]): BenchRow | undefined {
  const [tokens, stored, streaming, storedBytes, streamingBytes, decode] = group;
  if (group.length !== 6 || !LENGTHS.some((length) => length === tokens)) return;
  const ms = (value = NaN) => value / UNITS_PER_MS;
  return {
    tokens: tokens ?? NaN,
    ...{ storedMs: ms(stored), streamingMs: ms(streaming), decodeMs: ms(decode) },
    ...{ storedBytes: storedBytes ?? NaN, streamingBytes: streamingBytes ?? NaN },
  };
}

/** Undefined for what no benchmark wrote: each length of LENGTHS at most once and in order, whole numbers up to MOST, and times above 0. */
export function readResult(raw: string): BenchResult | undefined {
  const groups = raw.split('_').map((group) => group.split('.').map(Number));
  const sound = groups.flat().every((n) => Number.isInteger(n) && n >= 0 && n <= MOST);
  const [[index = NaN, threads = 0, cores = 0] = [], ...rest] = groups;
  const variant = VARIANTS[index];
  const rows = rest.map(rowOf);
  const known = rows.filter((row) => row !== undefined);
  const times = rest.flatMap(([, stored, streaming, , , decode]) => [stored, streaming, decode]);
  if (!sound || !variant || known.length !== rows.length || times.includes(0)) return;
  if (known.length === 0 || known.some((row, i) => row.tokens <= (known[i - 1]?.tokens ?? 0)))
    return;
  return { variant, threads, cores, rows: known };
}
