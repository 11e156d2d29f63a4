import type { Principal } from '../../../domain/principal_plane';

/** Rows of numbers of which the plane is wanted. */
export interface ToWordsLab {
  readonly type: 'plane';
  /** What they are of: the answer says it again. */
  readonly key: string;
  /** [rows, width] */
  readonly data: Float32Array;
  readonly width: number;
}

export interface FromWordsLab {
  readonly type: 'plane';
  readonly key: string;
  readonly principal: Principal;
}
