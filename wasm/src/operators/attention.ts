import type {
  ArrayInput,
  AttentionExtras,
  AttentionOptions,
  AttentionResult,
  KvCache,
  OwnedArray,
  Tensor,
} from '../api/types.js';
import { checkArray, type Input } from '../arguments/arrays.js';
import {
  checkAttentionOptions,
  type CheckedOptions,
  optionNames,
} from '../arguments/attention-options.js';
import { checkHeads, coreShape, type HeadsShape } from '../arguments/heads.js';
import { mostInt } from '../arguments/numbers.js';
import { checkOut } from '../arguments/out.js';
import { isUint8Array, takeOptions } from '../arguments/values.js';
import type { Group } from '../memory/abi.js';
import { Call, type Slot } from '../memory/call.js';
import type { Instance } from '../memory/instance.js';
import { appending, cacheAddress, cacheOf } from './cache.js';
import { paperSlopes } from './relative-bias.js';

/** The options as the core takes them. */
export function optionFields(
  call: Call,
  { options, arrays }: CheckedOptions,
): Group<'attentionOptions'> {
  const { causal, causalOffset, dropout, scale, softcap = 0, temperature = 1, window } = options;
  const mask = call.input(arrays.mask);
  return {
    ...{ scale, softcap, temperature, causal },
    causalOffset: typeof causalOffset === 'number' ? causalOffset : undefined,
    causalOffsets: call.input(arrays.causalOffsets),
    windowLeft: Math.min(window?.[0] ?? -1, mostInt),
    windowRight: Math.min(window?.[1] ?? -1, mostInt),
    keyLengths: call.input(arrays.keyLengths),
    ...(isUint8Array(arrays.mask?.source) ? { mask } : { additiveMask: mask }),
    bias: call.input(arrays.bias),
    alibiSlopes: call.input(arrays.alibiSlopes),
    sinks: call.input(arrays.sinks),
    dropoutRate: dropout?.rate ?? 0,
    dropoutSeed: dropout?.seed ?? 0,
  };
}

type Extras = Partial<Record<keyof AttentionExtras, Slot>>;

/** Room for what is returned besides the output. */
export function extraFields(
  call: Call,
  { options, rows, wanted }: CheckedOptions,
): Group<'extras'> & Extras {
  const slots: Extras = {};
  for (const { name, shape } of wanted) slots[name] = call.output(name, shape);
  const [rowBegin, rowEnd] = rows;
  return { ...slots, logitStage: options.returnLogits ?? 'raw', rowBegin, rowEnd };
}

export function readExtras(call: Call, { wanted }: CheckedOptions, slots: Extras): AttentionExtras {
  const result: Partial<Record<keyof AttentionExtras, OwnedArray>> = {};
  for (const { name, shape } of wanted) {
    const slot = slots[name];
    if (slot) result[name] = { data: call.read(slot), shape };
  }
  // Each has as many axes as its name has: CheckedOptions.wanted.
  return result as AttentionExtras;
}

/** q, k, v and the options of a call, checked, with the form of each array. */
interface CheckedCall {
  readonly inputs: readonly [q: Input, k: Input, v: Input];
  readonly forms: readonly [q: HeadsShape, k: HeadsShape, v: HeadsShape, out: HeadsShape];
  readonly cache: KvCache | undefined;
  readonly checked: CheckedOptions;
  /** What callers have as the shape of the output. */
  readonly shape: readonly number[];
  readonly out: Tensor | undefined;
}

export function checkCall(
  instance: Instance,
  fn: string,
  [givenQ, givenK, givenV]: readonly [ArrayInput, ArrayInput, ArrayInput],
  options: AttentionOptions,
): CheckedCall {
  const q = checkArray(fn, 'q', givenQ);
  const k = checkArray(fn, 'k', givenK);
  const v = checkArray(fn, 'v', givenV);
  const [qs, ks, vs] = checkHeads(fn, [q, k, v], options);
  const cache = cacheOf(instance, fn, options);
  const dimensions = {
    batch: qs.batch,
    heads: qs.heads,
    tq: qs.tokens,
    tk: ks.tokens + (cache?.length ?? 0),
  };
  const slopes = (numHeads: number): Float32Array => paperSlopes(instance, fn, numHeads);
  const checked = checkAttentionOptions(fn, options, dimensions, slopes);
  const outs = { ...qs, width: vs.width };
  const shape = qs.split ? [...q.shape.slice(0, -1), qs.heads * vs.width] : coreShape(outs);
  const out = checkOut(fn, options.out, shape);
  return { inputs: [q, k, v], forms: [qs, ks, vs, outs], cache, checked, shape, out };
}

export function attention(
  instance: Instance,
  givenQ: ArrayInput,
  givenK: ArrayInput,
  givenV: ArrayInput,
  givenOptions: AttentionOptions = {},
): AttentionResult {
  const fn = 'attention';
  const options = takeOptions(fn, 'options', givenOptions, optionNames);
  const of = checkCall(instance, fn, [givenQ, givenK, givenV], options);
  const { cache, checked, shape, out } = of;
  const [q, k, v] = of.inputs;
  const [qs, ks, vs, outs] = of.forms;

  const call = new Call(instance, fn);
  const given = {
    q: call.input(q, coreShape(qs)),
    k: call.input(k, coreShape(ks)),
    v: call.input(v, coreShape(vs)),
    out: call.output('out', coreShape(outs), out),
    numHeads: qs.heads,
    numKvHeads: ks.heads,
    options: optionFields(call, checked),
    extras: extraFields(call, checked),
    cache: cache && cacheAddress(fn, cache),
  };
  appending(fn, cache, ks.tokens, () => call.run('attention', given));
  const extras = readExtras(call, checked, given.extras);
  // With `out` there is no `output`; the overloads of Qkv.attention say so to the caller.
  return out
    ? (extras as AttentionResult)
    : { output: { data: call.read(given.out), shape }, ...extras };
}
