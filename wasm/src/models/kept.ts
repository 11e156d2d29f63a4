// How numbers of files are kept in memory, where nobody says it.

import type { WeightFormat } from '../api/model-types.js';
import { isPacked, type Parameter } from './config.js';
import { sizeOf } from '../arguments/shapes.js';
import type { LoadStep } from './plan.js';

/** Bytes that a number takes: blocks of 32 have one or two numbers of two bytes besides. */
const bytesPerNumber: Readonly<Record<WeightFormat, number>> = {
  ...{ f32: 4, f16: 2, bf16: 2, int8: 34 / 32, int4: 20 / 32 },
};

/** The formats, in the order of the core. */
export const formats = ['f32', 'bf16', 'int8', 'f16', 'int4'] as const satisfies WeightFormat[];

/** What keeps numbers of a type of files as they are, or else what comes nearest. */
const ofFloats: Readonly<Record<string, WeightFormat>> = { F32: 'f32', F16: 'f16', BF16: 'bf16' };
const formatOf = (type: string): WeightFormat =>
  ofFloats[type] ?? (/^Q4_[01K]$/.test(type) ? 'int4' : 'int8');

/** A format for all matrices, or for each by its name where they differ. */
export interface Kept {
  /** What most numbers have. */
  readonly format: WeightFormat;
  readonly byName: ReadonlyMap<string, WeightFormat>;
}

/**
 * What most numbers in matrices have in the files. Where that is blocks, matrices with blocks of 4 bits keep these, and all others
 * are int8.
 */
export function keptOf(steps: readonly LoadStep[]): Kept {
  const counts = new Map<WeightFormat, number>([['f32', 0]]);
  const byName = new Map<string, WeightFormat>();
  for (const { tensor, parts } of steps) {
    if (tensor.shape.length !== 2) continue;
    const format = formatOf(tensor.type);
    counts.set(format, (counts.get(format) ?? 0) + sizeOf(tensor.shape));
    for (const { parameter } of parts)
      byName.set(parameter.name, format === 'int4' ? format : 'int8');
  }
  const [[format] = ['f32' as const]] = [...counts].sort(([, a], [, b]) => b - a);
  return { format, byName: format.startsWith('int') ? byName : new Map() };
}

/** The format of an array. */
export const formatIn = ({ format, byName }: Kept, { name }: { name: string }): WeightFormat =>
  byName.get(name) ?? format;

/** About as many bytes as the weights take; rows and columns that are rounded up add a little. */
export const bytesIn = (kept: Kept, parameters: readonly Parameter[]): number =>
  parameters.reduce((sum, each) => {
    const bytes = isPacked(each) ? bytesPerNumber[formatIn(kept, each)] : 4;
    return sum + Math.ceil(sizeOf(each.shape) * bytes);
  }, 0);
