import { worse } from '../../../domain/nan_max';
import type { Qkv } from 'qkv';
import { BASE, columnsOfPair, PAIRS, type PairLayout } from '../../../domain/pair_table';
import { D_MODEL } from '../../../domain/sources';

/** PE(p + k) against M_k PE(p), along the positions. */
export interface Drift {
  readonly k: number;
  /** The first position of each of the runs that were looked at. */
  readonly positions: Int32Array;
  /** The largest difference in a run, with the angles formed in float32 and in float64. */
  readonly naive: Float64Array;
  readonly core: Float64Array;
}

/** So many positions in a row share a point of the curve: single ones jump about too much to be read. */
const RUN = 4;
const OCTAVE = 4;
const OCTAVES = 16;

const POSITIONS = Int32Array.from(
  new Set(Array.from({ length: OCTAVES * OCTAVE + 1 }, (_, i) => Math.round(2 ** (i / OCTAVE)))),
);

/**
 * The encoding as it is often written, every step rounded to float32: the angle p w_i is then off by up
 * to half a unit in its last place, which grows with p, and no sine can repair that. Sines first.
 */
function naiveEncoding(p: number, length: number): Float32Array {
  const encoding = new Float32Array(length * D_MODEL);
  for (let pair = 0; pair < PAIRS; pair++) {
    const w = Math.fround(BASE ** Math.fround((-2 * pair) / D_MODEL));
    for (let row = 0; row < length; row++) {
      const angle = Math.fround(Math.fround(p + row) * w);
      encoding[row * D_MODEL + pair] = Math.sin(angle);
      encoding[row * D_MODEL + pair + PAIRS] = Math.cos(angle);
    }
  }
  return encoding;
}

/** The largest |to - M from|, with the product taken in float64. */
export function residual(
  from: Float32Array,
  to: Float32Array,
  blocks: Float32Array,
  layout: PairLayout,
): number {
  let most = 0;
  for (let row = 0; row < from.length; row += D_MODEL) {
    for (let pair = 0; pair < PAIRS; pair++) {
      const [a, b, c, d] = blocks.subarray(4 * pair, 4 * pair + 4);
      const [first, second] = columnsOfPair(layout, pair);
      const [sine, cosine] = [from[row + first]!, from[row + second]!];
      most = worse(most, Math.abs(to[row + first]! - (a! * sine + b! * cosine)));
      most = worse(most, Math.abs(to[row + second]! - (c! * sine + d! * cosine)));
    }
  }
  return most;
}

const SINES_FIRST = 'concatenated';

/** Both ways at the positions p, p + 1, ...; M_k is the core's each time. */
export function residualsAt(qkv: Qkv, p: number, k: number, length = 1) {
  const blocks = qkv.sinusoidalShift(k, D_MODEL).data;
  const core = (offset: number) =>
    qkv.sinusoidalEncoding(length, D_MODEL, { offset, layout: SINES_FIRST }).data;
  return {
    naive: residual(naiveEncoding(p, length), naiveEncoding(p + k, length), blocks, SINES_FIRST),
    core: residual(core(p), core(p + k), blocks, SINES_FIRST),
  };
}

export function driftOver(qkv: Qkv, k: number): Drift {
  const found = Array.from(POSITIONS, (p) => residualsAt(qkv, p, k, RUN));
  return {
    k,
    positions: POSITIONS,
    naive: Float64Array.from(found, ({ naive }) => naive),
    core: Float64Array.from(found, ({ core }) => core),
  };
}
