import {
  integer,
  optionalNumber,
  powerOfTwo,
  rounded,
  type Limits,
  type StateOf,
} from '../../state/field';
import { ROWS, type Norms } from './shared/stability';

const NORMS: Limits = [0.25, 4];
const FACTORS: Limits = [0.05, 4];
const COUNTS: Limits = [ROWS[0] ?? 2, ROWS.at(-1) ?? 256];

const between = (key: string, limits: Limits) => optionalNumber(rounded(key, 1, limits, 2));

/** Null, as in links that are older than the panel: 3 heads, all norms 1, 16 rows. */
export const boundsFields = {
  boundsHeads: optionalNumber(integer('bdh', 3, [1, 8])),
  /** Which heads, rows and labelings are drawn. */
  boundsSeed: optionalNumber(integer('bds', 1, [1, 9999])),
  boundsRadius: between('bdr', NORMS),
  boundsOutput: between('bdo', NORMS),
  boundsValue: between('bdv', NORMS),
  boundsQuery: between('bdq', NORMS),
  boundsKey: between('bdk', NORMS),
  boundsFactor: between('bdt', FACTORS),
  boundsRows: optionalNumber(powerOfTwo('bdn', 16, COUNTS)),
};
export type BoundsState = StateOf<typeof boundsFields>;

/** What is requested of the frame worker. */
export interface BoundsRequest {
  readonly heads: number;
  readonly seed: number;
  readonly norms: Norms;
}

export const boundsRequest = (state: BoundsState): BoundsRequest => ({
  heads: state.boundsHeads ?? 3,
  seed: state.boundsSeed ?? 1,
  norms: {
    radius: state.boundsRadius ?? 1,
    output: state.boundsOutput ?? 1,
    value: state.boundsValue ?? 1,
    query: state.boundsQuery ?? 1,
    key: state.boundsKey ?? 1,
    factor: state.boundsFactor ?? 1,
  },
});

export const boundsRowsOf = ({ boundsRows }: BoundsState): number => boundsRows ?? 16;
