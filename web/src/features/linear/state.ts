import {
  integer,
  optionalNumber,
  powerOfTwo,
  rounded,
  type Limits,
  type StateOf,
} from '../../state/field';
import { SHARPNESS, TOKENS } from './shared/constants';

const SHARP: Limits = [SHARPNESS[0] ?? 0.25, SHARPNESS.at(-1) ?? 8];

/** Until the reader chooses. */
const FIRST = { sharpness: 1, window: 8, seed: 1, length: 4096, width: 64 } as const;

/** Null, as in links that are older than the panel: FIRST. */
export const linearFields = {
  /** What the scores are multiplied by. */
  linearSharpness: optionalNumber(rounded('lic', 1, SHARP, 2)),
  /** The keys that the window leaves to a query, itself included. */
  linearWindow: optionalNumber(integer('liw', FIRST.window, [1, TOKENS])),
  linearSeed: optionalNumber(integer('lid', 1, [1, 9999])),
  /** The length and the width for which operations and memory are counted. */
  linearLength: optionalNumber(powerOfTwo('lit', FIRST.length, [16, 2 ** 20])),
  linearWidth: optionalNumber(powerOfTwo('lik', FIRST.width, [16, 256])),
};
export type LinearState = StateOf<typeof linearFields>;

/** What is requested of the frame worker. */
export interface LinearRequest {
  readonly sharpness: number;
  readonly window: number;
  readonly seed: number;
}

export const linearRequest = (state: LinearState): LinearRequest => ({
  sharpness: state.linearSharpness ?? FIRST.sharpness,
  window: state.linearWindow ?? FIRST.window,
  seed: state.linearSeed ?? FIRST.seed,
});

/** What operations and memory are counted for. */
export const linearSizes = (state: LinearState) => ({
  tokens: state.linearLength ?? FIRST.length,
  width: state.linearWidth ?? FIRST.width,
  window: state.linearWindow ?? FIRST.window,
});
