// Arrays of heads in their three forms, and what they must have in common.

import { type Input } from './arrays.js';
import { checkInteger, mostInt } from './numbers.js';
import { shapeText } from './shapes.js';
import { QkvError } from '../api/errors.js';
import type { AttentionOptions } from '../api/types.js';

/** An input as [batch, heads, tokens, width of a head]; `split` when heads stand side by side. */
export interface HeadsShape {
  readonly batch: number;
  readonly heads: number;
  readonly tokens: number;
  readonly width: number;
  readonly split: boolean;
}

/** The form in which the core takes it: rank 4 as it is, or [B, T, H*d]. */
export const coreShape = ({ batch, heads, tokens, width, split }: HeadsShape): readonly number[] =>
  split ? [batch, tokens, heads * width] : [batch, heads, tokens, width];

export function headsShape(
  fn: string,
  { name, shape }: Input,
  heads: number | undefined,
  headsName: string,
): HeadsShape {
  if (shape.length === 4) {
    const [batch = 0, own = 0, tokens = 0, width = 0] = shape;
    if (heads !== undefined && heads !== own) {
      throw new QkvError(
        'shape_mismatch',
        `${fn}: ${name} is ${shapeText(shape)}, expected [*,${heads},*,*] for ${headsName} = ${heads}`,
      );
    }
    return { batch, heads: own, tokens, width, split: false };
  }
  if (shape.length !== 2 && shape.length !== 3) {
    throw new QkvError(
      'shape_mismatch',
      `${fn}: ${name} is ${shapeText(shape)}, expected [B,H,T,d], [B,T,H*d] or [T,H*d]`,
    );
  }
  if (heads === undefined) {
    throw new QkvError(
      'invalid_argument',
      `${fn}: ${headsName} is missing, expected a number because ${name} is ${shapeText(shape)}; pass ` +
        `${headsName}: 1 for a single head`,
    );
  }
  const [batch = 0, tokens = 0, columns = 0] = shape.length === 3 ? shape : [1, ...shape];
  if (columns % heads !== 0) {
    throw new QkvError(
      'shape_mismatch',
      `${fn}: ${name} is ${shapeText(shape)}, expected a last extent that is a multiple of ${headsName} = ${heads}`,
    );
  }
  return { batch, heads, tokens, width: columns / heads, split: true };
}

/** What an array of this form should have been, for a message. */
export function expectedText(
  own: Input,
  form: HeadsShape,
  { batch, heads, tokens, width }: { batch: number; heads: string; tokens: string; width: string },
): string {
  return form.split
    ? shapeText([...(own.shape.length === 3 ? [batch] : []), tokens, width])
    : shapeText([batch, heads, tokens, width]);
}

/** Shapes of q, k and v, checked against each other. */
export function checkHeads(
  fn: string,
  [q, k, v]: readonly [Input, Input, Input],
  { numHeads, numKvHeads }: AttentionOptions,
): readonly [HeadsShape, HeadsShape, HeadsShape] {
  if (numHeads !== undefined) checkInteger(fn, 'numHeads', numHeads, 1, mostInt);
  if (numKvHeads !== undefined) checkInteger(fn, 'numKvHeads', numKvHeads, 1, mostInt);
  const qs = headsShape(fn, q, numHeads, 'numHeads');
  const given = numKvHeads ?? (k.shape.length === 4 ? undefined : qs.heads);
  const ks = headsShape(fn, k, given, 'numKvHeads');
  const vs = headsShape(fn, v, v.shape.length === 4 ? numKvHeads : ks.heads, 'numKvHeads');
  if (qs.batch !== ks.batch || qs.width !== ks.width) {
    const width = String(ks.split ? ks.heads * qs.width : qs.width);
    const expected = expectedText(k, ks, { batch: qs.batch, heads: '*', tokens: '*', width });
    throw new QkvError(
      'shape_mismatch',
      `${fn}: k is ${shapeText(k.shape)}, expected ${expected} to match q ${shapeText(q.shape)}`,
    );
  }
  if (ks.heads === 0 ? qs.heads !== 0 : qs.heads % ks.heads !== 0) {
    throw new QkvError(
      'shape_mismatch',
      `${fn}: q has ${qs.heads} heads and k has ${ks.heads}, expected a multiple`,
    );
  }
  checkValues(fn, k, ks, v, vs);
  for (const [input, { width }] of [
    [q, qs],
    [v, vs],
  ] as const) {
    if (width === 0) {
      throw new QkvError(
        'shape_mismatch',
        `${fn}: ${input.name} is ${shapeText(input.shape)}, expected heads of at least 1 column`,
      );
    }
  }
  return [qs, ks, vs];
}

/** v has the batch rows, heads and tokens of k. */
export function checkValues(fn: string, k: Input, ks: HeadsShape, v: Input, vs: HeadsShape): void {
  if (vs.batch === ks.batch && vs.heads === ks.heads && vs.tokens === ks.tokens) return;
  const expected = expectedText(v, vs, {
    batch: ks.batch,
    heads: String(ks.heads),
    tokens: String(ks.tokens),
    width: vs.split ? `${ks.heads}*d` : '*',
  });
  throw new QkvError(
    'shape_mismatch',
    `${fn}: ${v.name} is ${shapeText(v.shape)}, expected ${expected} to match ${k.name} ${shapeText(k.shape)}`,
  );
}
