// Every operator of `qkv/spectra`, as a function of an instance and the arguments of the method of this name.

import { QkvError } from '../api/errors.js';
import type {
  Eigenvalues,
  PcaOptions,
  PrincipalComponents,
  ProductOptions,
  ProjectedComponents,
  SingularValueOptions,
  SingularVectors,
} from '../api/spectra-types.js';
import type { ArrayInput, OwnedArray } from '../api/types.js';
import { checkArray, type Input } from '../arguments/arrays.js';
import { checkBoolean, checkInteger } from '../arguments/numbers.js';
import { isSameShape, shapeText, sizeOf } from '../arguments/shapes.js';
import { takeOptions } from '../arguments/values.js';
import { Call, type Slot } from '../memory/call.js';
import type { Instance } from '../memory/instance.js';

const refusal = (fn: string, { name, shape }: Input, expected: string): QkvError =>
  new QkvError('shape_mismatch', `${fn}: ${name} is ${shapeText(shape)}, expected ${expected}`);

/** Stacks of factors: their axes before the last two, and the extents of a product. */
interface Factors {
  readonly left: Input;
  readonly right: Input;
  readonly transposed: boolean | undefined;
  readonly front: readonly number[];
  readonly count: number;
  readonly m: number;
  readonly k: number;
  readonly n: number;
}

/** `n` is what messages call the columns of the product, or their number if it follows. */
function checkFactors(
  fn: string,
  [givenLeft, givenRight]: readonly [ArrayInput, ArrayInput],
  { transposed }: ProductOptions,
  isSquare: boolean,
): Factors {
  const left = checkArray(fn, 'left', givenLeft);
  const right = checkArray(fn, 'right', givenRight);
  checkBoolean(fn, 'transposed', transposed);
  const axes = left.shape.length - 2;
  if (axes < 0) throw refusal(fn, left, '[...,m,k]');
  const front = left.shape.slice(0, axes);
  const [m = 0, k = 0] = left.shape.slice(axes);
  const [rows = 0, columns = 0] = right.shape.slice(axes);
  const n = isSquare ? m : transposed ? rows : columns;
  const expected = (last: number | 'n') => [...front, ...(transposed ? [last, k] : [k, last])];
  if (!isSameShape(right.shape, expected(n))) {
    throw refusal(fn, right, shapeText(expected(isSquare ? m : 'n')));
  }
  return { left, right, transposed, front, count: sizeOf(front), m, k, n };
}

/** The arguments of a call that these are. */
const inputs = (call: Call, { left, right, transposed, count, m, k }: Factors) => ({
  left: call.input(left, [count, m, k]),
  right: call.input(right, [count, ...right.shape.slice(-2)]),
  transposed,
});

export function singularValues(
  instance: Instance,
  givenLeft: ArrayInput,
  givenRight: ArrayInput,
  given: SingularValueOptions = {},
): OwnedArray | SingularVectors {
  const fn = 'singularValues';
  const options = takeOptions(fn, 'options', given, ['transposed', 'vectors']);
  const factors = checkFactors(fn, [givenLeft, givenRight], options, false);
  checkBoolean(fn, 'vectors', options.vectors);
  const { front, count, m, k, n } = factors;
  const r = Math.min(m, k, n);
  const call = new Call(instance, fn);
  const values = call.output('values', [count, r]);
  const vectors = options.vectors && {
    leftVectors: call.output('left', [count, m, r]),
    rightVectors: call.output('right', [count, n, r]),
  };
  call.run(fn, { ...inputs(call, factors), values, ...vectors });
  const read = (slot: Slot, ...shape: number[]): OwnedArray => ({
    data: call.read(slot),
    shape: [...front, ...shape],
  });
  if (!vectors) return read(values, r);
  return {
    values: read(values, r),
    left: read(vectors.leftVectors, m, r),
    right: read(vectors.rightVectors, n, r),
  };
}

export function effectiveRank(
  instance: Instance,
  givenLeft: ArrayInput,
  givenRight: ArrayInput,
  given: ProductOptions = {},
): OwnedArray {
  const fn = 'effectiveRank';
  const options = takeOptions(fn, 'options', given, ['transposed']);
  const factors = checkFactors(fn, [givenLeft, givenRight], options, false);
  const call = new Call(instance, fn);
  return call.result(fn, [factors.count], inputs(call, factors), { as: factors.front });
}

export function eigenvalues(
  instance: Instance,
  givenLeft: ArrayInput,
  givenRight: ArrayInput,
  given: ProductOptions = {},
): Eigenvalues {
  const fn = 'eigenvalues';
  const options = takeOptions(fn, 'options', given, ['transposed']);
  const factors = checkFactors(fn, [givenLeft, givenRight], options, true);
  const { front, count, m, k } = factors;
  const r = Math.min(m, k);
  const call = new Call(instance, fn);
  const slots = {
    real: call.output('real', [count, r]),
    imaginary: call.output('imaginary', [count, r]),
    copying: call.output('copying', [count]),
  };
  call.run(fn, { ...inputs(call, factors), ...slots });
  return {
    real: { data: call.read(slots.real), shape: [...front, r] },
    imaginary: { data: call.read(slots.imaginary), shape: [...front, r] },
    copying: { data: call.read(slots.copying), shape: [...front] },
  };
}

export function pca(
  instance: Instance,
  givenX: ArrayInput,
  given: PcaOptions = {},
): PrincipalComponents | ProjectedComponents {
  const fn = 'pca';
  const x = checkArray(fn, 'x', givenX);
  const options = takeOptions(fn, 'options', given, ['count', 'projections']);
  const [n = 0, d = 0] = x.shape;
  if (x.shape.length !== 2) throw refusal(fn, x, '[n,d]');
  const most = Math.min(n, d);
  const { count = Math.min(2, most), projections = true } = options;
  checkInteger(fn, 'count', count, 0, most);
  checkBoolean(fn, 'projections', projections);
  const call = new Call(instance, fn);
  const slots = {
    mean: call.output('mean', [d]),
    components: call.output('components', [count, d]),
    variances: call.output('variances', [count]),
    shares: call.output('shares', [count]),
  };
  const places = projections ? call.output('projections', [n, count]) : undefined;
  call.run(fn, { x: call.input(x), count, ...slots, projections: places });
  const read = (slot: Slot, ...shape: number[]): OwnedArray => ({ data: call.read(slot), shape });
  return {
    mean: read(slots.mean, d),
    components: read(slots.components, count, d),
    variances: read(slots.variances, count),
    shares: read(slots.shares, count),
    ...(places && { projections: read(places, n, count) }),
  };
}
