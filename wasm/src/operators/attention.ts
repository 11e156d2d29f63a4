import type {
  ArrayInput,
  AttentionExtras,
  AttentionOptions,
  AttentionResult,
  OwnedArray,
} from '../api/types.js';
import { checkArray } from '../arguments/arrays.js';
import {
  checkAttentionOptions,
  type CheckedOptions,
  logitStages,
  optionNames,
} from '../arguments/attention-options.js';
import { checkHeads, coreShape } from '../arguments/heads.js';
import { mostInt } from '../arguments/numbers.js';
import { checkOut } from '../arguments/out.js';
import { isUint8Array, takeOptions } from '../arguments/values.js';
import type { Numbers } from '../memory/abi.js';
import { Call } from '../memory/call.js';
import type { Instance } from '../memory/instance.js';
import { cacheAddress, cacheOf, grow } from './cache.js';
import { paperSlopes } from './relative-bias.js';

/** Announces the arrays of the options, and those that are returned besides the output. */
export function announceOptions(call: Call, { arrays, wanted }: CheckedOptions): void {
  const { mask, ...others } = arrays;
  const boolean = isUint8Array(mask?.source);
  call.input(boolean ? 'mask' : 'additiveMask', mask);
  for (const name of ['bias', 'alibiSlopes', 'keyLengths', 'causalOffsets', 'sinks'] as const) {
    call.input(name, others[name]);
  }
  for (const { name, shape } of wanted) call.output(name, shape);
}

export function optionNumbers(fn: string, { options, rows }: CheckedOptions): Numbers {
  const { scale, causalOffset, window, dropout, returnLogits, cache } = options;
  return {
    hasScale: scale === undefined ? 0 : 1,
    scale: scale ?? 0,
    softcap: options.softcap ?? 0,
    temperature: options.temperature ?? 1,
    causal: options.causal ? 1 : 0,
    hasCausalOffset: typeof causalOffset === 'number' ? 1 : 0,
    causalOffset: typeof causalOffset === 'number' ? causalOffset : 0,
    windowLeft: Math.min(window?.[0] ?? -1, mostInt),
    windowRight: Math.min(window?.[1] ?? -1, mostInt),
    dropoutRate: dropout?.rate ?? 0,
    dropoutSeedHigh: Math.floor((dropout?.seed ?? 0) / 2 ** 32),
    dropoutSeedLow: (dropout?.seed ?? 0) % 2 ** 32,
    logitStage: returnLogits ? logitStages.indexOf(returnLogits) : 0,
    rowBegin: rows[0],
    rowEnd: rows[1],
    cache: cache === undefined ? 0 : cacheAddress(fn, cache),
  };
}

export function readExtras(call: Call, { wanted }: CheckedOptions): AttentionExtras {
  const result: Partial<Record<keyof AttentionExtras, OwnedArray>> = {};
  for (const { name, shape } of wanted) result[name] = { data: call.read(name), shape };
  return result;
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
  const outShape = { ...qs, width: vs.width };
  const shape = qs.split ? [...q.shape.slice(0, -1), qs.heads * vs.width] : coreShape(outShape);
  const out = checkOut(fn, options.out, shape);

  const call = new Call(instance, fn);
  call.input('q', q, coreShape(qs));
  call.input('k', k, coreShape(ks));
  call.input('v', v, coreShape(vs));
  call.output('out', coreShape(outShape), out);
  announceOptions(call, checked);
  const numbers = { ...optionNumbers(fn, checked), numHeads: qs.heads, numKvHeads: ks.heads };
  call.run('attention', numbers);
  if (cache) grow(cache, ks.tokens);
  const extras = readExtras(call, checked);
  // With `out` there is no `output`; the overloads of Qkv.attention say so to the caller.
  return out
    ? (extras as AttentionResult)
    : { output: { data: call.read('out'), shape }, ...extras };
}
