// The arguments of a call, named as in wasm/bindings/descriptor.def and wasm/bindings/operators.def. The module says its
// own order when it is loaded and the loader compares the two, so they cannot drift apart unseen.

// prettier-ignore
export const arrayNames = [
  'q', 'k', 'v', 'out', 'mask', 'additiveMask', 'bias', 'alibiSlopes', 'sinks', 'keyLengths',
  'causalOffsets', 'contextKeyLengths', 'weights', 'logits', 'lse', 'entropy',
  'wq', 'wk', 'wv', 'wqkv', 'wo', 'bq', 'bk', 'bv', 'bqkv', 'bo',
  'crossWq', 'crossWk', 'crossWv', 'crossWqkv', 'crossWo',
  'crossBq', 'crossBk', 'crossBv', 'crossBqkv', 'crossBo',
  'gamma1', 'beta1', 'gammaCross', 'betaCross', 'gamma2', 'beta2',
  'w1', 'b1', 'w2', 'b2', 'wGate', 'bGate',
  'x', 'table', 'ids', 'positions', 'cos', 'sin', 'gamma', 'beta',
] as const;

// prettier-ignore
export const numberNames = [
  'handle', 'cache', 'batch', 'capacity',
  'numHeads', 'numKvHeads', 'dModel', 'dK', 'dV', 'dContext', 'dFeedForward', 'outIn',
  'postNorm', 'rmsNorm', 'activation', 'crossAttention',
  'hasScale', 'scale', 'softcap', 'temperature', 'causal', 'hasCausalOffset', 'causalOffset',
  'windowLeft', 'windowRight', 'dropoutRate', 'dropoutSeedHigh', 'dropoutSeedLow', 'logitStage',
  'rowBegin', 'rowEnd',
  'hasRotary', 'rotaryDim', 'interleaved', 'scaling', 'factor', 'originalLength', 'betaFast',
  'betaSlow', 'hasAttentionFactor', 'attentionFactor',
  'offset', 'base', 'concatenated', 'axis', 'epsilon', 'clamp', 'bidirectional', 'maxDistance',
  'length',
] as const;

// prettier-ignore
export const operatorNames = [
  'attention', 'createLayer', 'forwardLayer', 'destroyLayer',
  'createCache', 'appendCache', 'truncateCache', 'readCache', 'destroyCache',
  'sinusoidalEncoding', 'sinusoidalShift', 'rotaryEmbedding', 'alibiSlopes', 't5RelativeBias',
  'transformerXlBias',
  'learnedEncoding', 'layerNorm', 'rmsNorm', 'gelu', 'softmax', 'embedding', 'entropy',
  'headStatistics', 'createBlock', 'forwardBlock', 'destroyBlock',
] as const;

export type ArrayName = (typeof arrayNames)[number];
export type NumberName = (typeof numberNames)[number];
export type Operator = (typeof operatorNames)[number];
export type Numbers = Partial<Record<NumberName, number>>;

const joined = (names: readonly string[]): string => names.map((name) => `${name},`).join('');

/** What RawModule._fields() and _operators() must say. */
export const fieldNames = `${joined(arrayNames)};${joined(numberNames)}`;
export const operatorList = joined(operatorNames);

const indexOf = <Name extends string>(names: readonly Name[]): Record<Name, number> =>
  Object.fromEntries(names.map((name, index) => [name, index])) as Record<Name, number>;

export const operatorIndex = indexOf(operatorNames);

/** 32-bit words of an array: its address, its rank and four extents. */
const arrayWords = 6;
const arrayIndex = indexOf(arrayNames);
const numberIndex = indexOf(numberNames);
const arraysEnd = arrayNames.length * arrayWords;

/** Where and what shape an array is. */
export interface Placed {
  readonly name: ArrayName;
  readonly address: number;
  readonly shape: readonly number[];
}

/** Writes the arguments of one call; arrays that are not given have rank 0, numbers are 0. */
export function writeDescriptor(
  memory: ArrayBufferLike,
  descriptor: number,
  arrays: Iterable<Placed>,
  numbers: Numbers,
): void {
  const words = new Int32Array(memory, descriptor, arraysEnd);
  words.fill(0);
  for (const { name, address, shape } of arrays) {
    const start = arrayIndex[name] * arrayWords;
    words[start] = address;
    words[start + 1] = shape.length;
    for (let axis = 0; axis < shape.length; axis += 1) words[start + 2 + axis] = shape[axis] ?? 0;
  }
  const values = new Float64Array(memory, descriptor + arraysEnd * 4, numberNames.length);
  values.fill(0);
  for (const name in numbers) {
    values[numberIndex[name as NumberName]] = numbers[name as NumberName] ?? 0;
  }
}

/** Reads a number back, where a call left its result. */
export function readNumber(memory: ArrayBufferLike, descriptor: number, name: NumberName): number {
  const values = new Float64Array(memory, descriptor + arraysEnd * 4, numberNames.length);
  return values[numberIndex[name]] ?? 0;
}
