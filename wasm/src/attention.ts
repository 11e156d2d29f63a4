import {
  checkArray,
  checkInteger,
  checkKeys,
  checkMask,
  checkOption,
  describe,
  type Input,
  shapeText,
  sizeOf,
} from './check.js';
import type { CallWords } from './descriptor.js';
import type { Engine } from './engine.js';
import { QkvError } from './error.js';
import { WasmTensor } from './tensor.js';
import { Transfer } from './transfer.js';
import type {
  ArrayInput,
  AttentionExtras,
  AttentionOptions,
  AttentionResult,
  NdArray,
} from './types.js';

const optionNames = [
  ...['numHeads', 'numKvHeads', 'scale', 'temperature', 'causal', 'causalOffset', 'mask'],
  ...['returnWeights', 'returnLse', 'returnEntropy', 'rows', 'out'],
];
export const layerOptionNames = [...optionNames.slice(2), 'context'];

/** An input as [batch, heads, tokens, width of a head]; `split` when heads stand side by side. */
interface HeadsShape {
  batch: number;
  heads: number;
  tokens: number;
  width: number;
  split: boolean;
}

const mostInt = 2 ** 31 - 1;

function headsShape(
  fn: string,
  name: string,
  shape: readonly number[],
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
      `${fn}: ${headsName} is missing, expected a number because ${name} is ${shapeText(shape)}`,
    );
  }
  const [batch = 0, tokens = 0, columns = 0] = shape.length === 3 ? shape : [1, ...shape];
  if (columns % heads !== 0) {
    throw new QkvError(
      'shape_mismatch',
      `${fn}: ${name} is ${shapeText(shape)}, expected a last extent that ${headsName} = ${heads} divides`,
    );
  }
  return { batch, heads, tokens, width: columns / heads, split: true };
}

/** Options common to attention() and a layer's forward(), but for the shapes they must fit. */
export function checkOptions(fn: string, options: AttentionOptions, tq: number, tk: number): void {
  checkOption(fn, 'scale', options.scale, 'number');
  checkOption(fn, 'temperature', options.temperature, 'number');
  checkOption(fn, 'causal', options.causal, 'boolean');
  checkOption(fn, 'returnWeights', options.returnWeights, 'boolean');
  checkOption(fn, 'returnLse', options.returnLse, 'boolean');
  checkOption(fn, 'returnEntropy', options.returnEntropy, 'boolean');
  const { causal, causalOffset, rows } = options;
  if (causalOffset !== undefined) {
    checkInteger(fn, 'causalOffset', causalOffset, -mostInt, mostInt);
    if (!causal) {
      throw new QkvError(
        'invalid_argument',
        `${fn}: causalOffset is ${causalOffset} without causal, expected causal: true too`,
      );
    }
  } else if (causal && tq !== tk) {
    throw new QkvError(
      'invalid_argument',
      `${fn}: causal with ${tq} queries and ${tk} keys, expected a causalOffset (0 aligns the first ` +
        `query with the first key, ${tk - tq} the last with the last)`,
    );
  }
  if (rows !== undefined) {
    const isPair = Array.isArray(rows) && rows.length === 2 && rows.every(Number.isSafeInteger);
    if (!isPair || rows[0] < 0 || rows[0] > rows[1] || rows[1] > tq) {
      const was = Array.isArray(rows) ? shapeText(rows) : describe(rows);
      throw new QkvError(
        isPair ? 'out_of_range' : 'invalid_argument',
        `${fn}: rows is ${was}, expected [start, end) within [0, ${tq}]`,
      );
    }
  }
}

/** The caller's tensor for the output, of exactly this shape, and none of the inputs. */
export function checkOut(
  fn: string,
  out: unknown,
  shape: readonly number[],
  inputs: Record<string, unknown>,
): WasmTensor | undefined {
  if (out === undefined) return undefined;
  if (!(out instanceof WasmTensor)) {
    throw new QkvError('invalid_argument', `${fn}: out is ${describe(out)}, expected a Tensor`);
  }
  if (out.shape.length !== shape.length || out.shape.some((extent, i) => extent !== shape[i])) {
    throw new QkvError(
      'shape_mismatch',
      `${fn}: out is ${shapeText(out.shape)}, expected ${shapeText(shape)}`,
    );
  }
  for (const [name, input] of Object.entries(inputs)) {
    if (input === out) {
      throw new QkvError(
        'invalid_argument',
        `${fn}: out is the tensor that is ${name} too, expected one that is no input`,
      );
    }
  }
  return out;
}

/** The slots of what a call returns besides its output, and how to read them. */
export class Extras {
  readonly #transfer: Transfer;
  readonly #weights: { slot: number; shape: readonly number[] } | undefined;
  readonly #lse: { slot: number; shape: readonly number[] } | undefined;
  readonly #entropy: { slot: number; shape: readonly number[] } | undefined;
  readonly #rows: readonly [number, number];

  constructor(
    transfer: Transfer,
    options: AttentionOptions,
    shape: { batch: number; heads: number; tq: number; tk: number },
  ) {
    this.#transfer = transfer;
    const { batch, heads, tq, tk } = shape;
    this.#rows = options.rows ?? [0, tq];
    const slot = (wanted: boolean | undefined, extents: readonly number[]) =>
      wanted ? { slot: transfer.output(sizeOf(extents)), shape: extents } : undefined;
    const rows = this.#rows[1] - this.#rows[0];
    this.#weights = slot(options.returnWeights, [batch, heads, rows, tk]);
    this.#lse = slot(options.returnLse, [batch, heads, tq]);
    this.#entropy = slot(options.returnEntropy, [batch, heads, tq]);
  }

  words(): CallWords {
    return {
      weights: this.#transfer.address(this.#weights?.slot),
      lse: this.#transfer.address(this.#lse?.slot),
      entropy: this.#transfer.address(this.#entropy?.slot),
      rowBegin: this.#rows[0],
      rowEnd: this.#rows[1],
    };
  }

  read(): AttentionExtras {
    const result: { weights?: NdArray; lse?: NdArray; entropy?: NdArray } = {};
    const read = ({ slot, shape }: { slot: number; shape: readonly number[] }): NdArray => ({
      data: this.#transfer.read(slot),
      shape,
    });
    if (this.#weights) result.weights = read(this.#weights);
    if (this.#lse) result.lse = read(this.#lse);
    if (this.#entropy) result.entropy = read(this.#entropy);
    return result;
  }
}

/** The words that say how scores become weights. `mask` has its slot already. */
export function optionWords(
  options: AttentionOptions,
  mask: Input | undefined,
  maskAddress: number,
): CallWords {
  const [mask0 = 0, mask1 = 0, mask2 = 0, mask3 = 0] = mask?.shape ?? [];
  return {
    hasScale: options.scale === undefined ? 0 : 1,
    scale: options.scale ?? 0,
    temperature: options.temperature ?? 1,
    causal: options.causal ? 1 : 0,
    hasCausalOffset: options.causalOffset === undefined ? 0 : 1,
    causalOffset: options.causalOffset ?? 0,
    mask: maskAddress,
    maskIsBoolean:
      mask?.source instanceof WasmTensor || mask?.source.BYTES_PER_ELEMENT === 4 ? 0 : 1,
    maskRank: mask?.shape.length ?? 0,
    ...{ mask0, mask1, mask2, mask3 },
  };
}

/** Shapes of q, k and v, checked against each other. */
function checkHeads(
  fn: string,
  [q, k, v]: readonly [Input, Input, Input],
  options: AttentionOptions,
): readonly [HeadsShape, HeadsShape, HeadsShape] {
  const { numHeads, numKvHeads } = options;
  if (numHeads !== undefined) checkInteger(fn, 'numHeads', numHeads, 1, mostInt);
  if (numKvHeads !== undefined) checkInteger(fn, 'numKvHeads', numKvHeads, 1, mostInt);
  const qs = headsShape(fn, 'q', q.shape, numHeads, 'numHeads');
  const given = numKvHeads ?? (k.shape.length === 4 ? undefined : qs.heads);
  const ks = headsShape(fn, 'k', k.shape, given, 'numKvHeads');
  const vs = headsShape(
    fn,
    'v',
    v.shape,
    v.shape.length === 4 ? numKvHeads : ks.heads,
    'numKvHeads',
  );
  if (qs.batch !== ks.batch || qs.width !== ks.width) {
    const expected = ks.split
      ? [...(k.shape.length === 3 ? [qs.batch] : []), '*', ks.heads * qs.width]
      : [qs.batch, '*', '*', qs.width];
    throw new QkvError(
      'shape_mismatch',
      `${fn}: k is ${shapeText(k.shape)}, expected ${shapeText(expected)} to match q ${shapeText(q.shape)}`,
    );
  }
  if (ks.heads === 0 ? qs.heads !== 0 : qs.heads % ks.heads !== 0) {
    throw new QkvError(
      'shape_mismatch',
      `${fn}: q has ${qs.heads} heads and k has ${ks.heads}, expected a multiple`,
    );
  }
  if (vs.batch !== ks.batch || vs.heads !== ks.heads || vs.tokens !== ks.tokens) {
    const expected = vs.split
      ? [...(v.shape.length === 3 ? [ks.batch] : []), ks.tokens, `${ks.heads}*d`]
      : [ks.batch, ks.heads, ks.tokens, '*'];
    throw new QkvError(
      'shape_mismatch',
      `${fn}: v is ${shapeText(v.shape)}, expected ${shapeText(expected)} to match k ${shapeText(k.shape)}`,
    );
  }
  return [qs, ks, vs];
}

export function attention(
  engine: Engine,
  arrays: readonly [ArrayInput, ArrayInput, ArrayInput],
  options: AttentionOptions,
): AttentionResult {
  const fn = 'attention';
  const raw = engine.raw(fn);
  checkKeys(fn, 'options', options, optionNames);
  const q = checkArray(fn, 'q', arrays[0]);
  const k = checkArray(fn, 'k', arrays[1]);
  const v = checkArray(fn, 'v', arrays[2]);
  const [qs, ks, vs] = checkHeads(fn, [q, k, v], options);
  checkOptions(fn, options, qs.tokens, ks.tokens);
  const scores = [qs.batch, qs.heads, qs.tokens, ks.tokens];
  const mask = options.mask === undefined ? undefined : checkMask(fn, options.mask, scores);
  const shape = qs.split
    ? [...q.shape.slice(0, -1), qs.heads * vs.width]
    : [qs.batch, qs.heads, qs.tokens, vs.width];
  const inputs = { q: arrays[0], k: arrays[1], v: arrays[2], mask: options.mask };
  const out = checkOut(fn, options.out, shape, inputs);

  const transfer = new Transfer(engine, fn);
  const slots = {
    q: transfer.input('q', q),
    k: transfer.input('k', k),
    v: transfer.input('v', v),
    out: out ? transfer.tensor('out', out) : transfer.output(sizeOf(shape)),
    mask: mask && transfer.input('mask', mask),
  };
  const dims = { batch: qs.batch, heads: qs.heads, tq: qs.tokens, tk: ks.tokens };
  const extras = new Extras(transfer, options, dims);
  transfer.begin();
  engine.describe(fn, {
    ...optionWords(options, mask, transfer.address(slots.mask)),
    ...extras.words(),
    ...{ q: transfer.address(slots.q), k: transfer.address(slots.k), v: transfer.address(slots.v) },
    ...{ out: transfer.address(slots.out), batch: qs.batch, numHeads: qs.heads },
    ...{ numKvHeads: ks.heads, tq: qs.tokens, tk: ks.tokens, dK: qs.width, dV: vs.width },
    ...{ qSplit: Number(qs.split), kSplit: Number(ks.split), vSplit: Number(vs.split) },
  });
  engine.succeed(fn, raw._attention());
  const result = extras.read();
  // With `out` there is no `output`; the overloads of Qkv.attention say so to the caller.
  return out
    ? (result as AttentionResult)
    : { output: { data: transfer.read(slots.out), shape }, ...result };
}
