import type { Scheme } from '../domain/schemes';
import type { Qkv } from 'qkv';
import { driftOver, residualsAt, type Drift } from './drift';
import type { PairLayout } from './pairs';
import {
  ALIBI_HEADS,
  rotaryScore,
  schemeMap,
  type RotaryScore,
  type SchemeChoice,
  type SchemeMap,
} from './schemes';
import { D_MODEL } from './sources';
import { stage, type StageLog } from './stage';

export interface PositionsRequest {
  /** p of PE(p + k) = M_k PE(p); k is the shift of the frame. */
  readonly position: number;
  readonly scheme: Scheme;
  readonly rotaryQ: number;
  readonly rotaryK: number;
  readonly seed: number;
}

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

/** What the panel about positions shows beside the encoding itself. */
export interface PositionsResult {
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

/** In stages: a step of one slider computes what it moves, and no more. */
export function positionStages(qkv: Qkv, log: StageLog) {
  const place = stage('place', log, (p: number, k: number, layout: PairLayout) =>
    placeOf(qkv, p, k, layout),
  );
  const drift = stage('drift', log, (k: number) => driftOver(qkv, k));
  const scheme = stage(
    'scheme',
    log,
    (_key: string, choice: SchemeChoice) => schemeMap(qkv, choice),
    [1],
  );
  const slopes = stage('slopes', log, (heads: number) => qkv.alibiSlopes(heads));
  const rotary = stage('rotary', log, (m: number, n: number, layout: PairLayout, seed: number) =>
    rotaryScore(qkv, [m, n], { layout, seed }),
  );
  const all = stage(
    'positions',
    [], // the parts say themselves that they ran
    (a: Place, b: Drift, c: SchemeMap, d: Float32Array, e: RotaryScore): PositionsResult => ({
      place: a,
      drift: b,
      scheme: c,
      slopes: d,
      rotary: e,
    }),
  );
  return (request: PositionsRequest, k: number, layout: PairLayout): PositionsResult => {
    const choice = { scheme: request.scheme, layout, seed: request.seed };
    return all(
      place(request.position, k, layout),
      drift(k),
      scheme(JSON.stringify(choice), choice),
      slopes(ALIBI_HEADS),
      rotary(request.rotaryQ, request.rotaryK, layout, request.seed),
    );
  };
}
