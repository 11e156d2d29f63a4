import type { Qkv } from 'qkv';
import { driftOver, residual, residualsAt, type Drift } from './residuals';
import type { PairLayout } from '../../../domain/pair_table';
import {
  rotaryScore,
  schemeMap,
  type RotaryScore,
  type SchemeChoice,
  type SchemeMap,
} from './scheme_maps';
import { trainT5 } from './t5_biases';
import { ALIBI_HEADS } from '../shared/constants';
import { D_MODEL } from '../../../domain/sources';
import type { FrameFeature, Workbench } from '../../../engine/frame_feature';
import { stage } from '../../../engine/memo';
import { POSITION_PICTURES } from './position_pictures';
import type { PositionsRequest } from '../state';

/** One position and the one k further on. */
export interface Place {
  readonly p: number;
  readonly k: number;
  /** PE(p) and PE(p + k), [D_MODEL] each. */
  readonly from: Float32Array;
  readonly to: Float32Array;
  /** How far M_k PE(p) is from PE(p + k): angles in float32, and as the core forms them. */
  readonly naive: number;
  readonly core: number;
}

export interface Encoding {
  /** [length, D_MODEL] */
  readonly data: Float32Array;
  readonly length: number;
  readonly layout: PairLayout;
}

/** PE(p + k) against M_k PE(p), for every row of the encoding. */
export interface ShiftCheck {
  readonly k: number;
  /** M_k as D_MODEL/2 blocks of 2 x 2. */
  readonly blocks: Float32Array;
  /** PE(p + k), [encoding.length, D_MODEL]. */
  readonly shifted: Float32Array;
  readonly residual: number;
}

/** What the panel about positions shows. */
export interface PositionsResult {
  readonly encoding: Encoding;
  readonly shift: ShiftCheck;
  readonly place: Place;
  readonly drift: Drift;
  readonly scheme: SchemeMap;
  readonly slopes: Float32Array;
  readonly rotary: RotaryScore;
}

function placeOf(qkv: Qkv, p: number, k: number, layout: PairLayout): Place {
  const at = (offset: number) => qkv.sinusoidalEncoding(1, D_MODEL, { offset, layout }).data;
  return { p, k, from: at(p), to: at(p + k), ...residualsAt(qkv, p, k) };
}

/** The picture of the encoding shows at least this many positions. */
const MIN_ENCODING = 64;

function encodingOf(qkv: Qkv, tokens: number, layout: PairLayout): Encoding {
  const length = Math.max(MIN_ENCODING, tokens);
  const { data } = qkv.sinusoidalEncoding(length, D_MODEL, { layout });
  return { data, length, layout };
}

function shiftOf(qkv: Qkv, { data, length, layout }: Encoding, k: number): ShiftCheck {
  const blocks = qkv.sinusoidalShift(k, D_MODEL).data;
  const shifted = qkv.sinusoidalEncoding(length, D_MODEL, { offset: k, layout }).data;
  return { k, blocks, shifted, residual: residual(data, shifted, blocks, layout) };
}

/** In stages: a step of one slider computes what it moves, and no more. */
export function positionsFrames({
  qkv,
  log,
}: Workbench): FrameFeature<PositionsRequest, PositionsResult> {
  const encoding = stage('encoding', log, (tokens: number, layout: PairLayout) =>
    encodingOf(qkv, tokens, layout),
  );
  const shift = stage('shift', log, (of: Encoding, k: number) => shiftOf(qkv, of, k));
  const place = stage('place', log, (p: number, k: number, layout: PairLayout) =>
    placeOf(qkv, p, k, layout),
  );
  const drift = stage('drift', log, (k: number) => driftOver(qkv, k));
  const biases = stage('biases', log, (seed: number) => trainT5(qkv, seed));
  const scheme = stage(
    'scheme',
    log,
    (_key: string, choice: SchemeChoice) => schemeMap(qkv, choice, () => biases(choice.seed)),
    [1],
  );
  const slopes = stage('slopes', log, (heads: number) => qkv.alibiSlopes(heads));
  const rotary = stage('rotary', log, (m: number, n: number, layout: PairLayout, seed: number) =>
    rotaryScore(qkv, [m, n], { layout, seed }),
  );
  // The parts say themselves that they ran.
  const all = stage('positions', [], (...parts: Parts): PositionsResult => {
    const [of, check, at, along, map, steps, turned] = parts;
    return {
      ...{ encoding: of, shift: check, place: at, drift: along },
      ...{ scheme: map, slopes: steps, rotary: turned },
    };
  });
  return {
    compute: (request, { heads }) => {
      const { shift: k, position, layout, rotaryQ, rotaryK, seed } = request;
      const { scheme: name, t5Head, xlTerm } = request;
      const choice = { scheme: name, layout, seed, t5Head, xlTerm };
      const table = encoding(heads.count, layout);
      return all(
        table,
        shift(table, k),
        place(position, k, layout),
        drift(k),
        scheme(JSON.stringify(choice), choice),
        slopes(ALIBI_HEADS),
        rotary(rotaryQ, rotaryK, layout, seed),
      );
    },
    pictures: POSITION_PICTURES,
  };
}

type Parts = [Encoding, ShiftCheck, Place, Drift, SchemeMap, Float32Array, RotaryScore];
