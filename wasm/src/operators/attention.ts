import { WasmKvCache } from './cache.js';
import { Call } from '../memory/call.js';
import { checkArray } from '../arguments/check.js';
import type { Engine } from '../engine.js';
import { takeOptions } from '../arguments/values.js';
import { checkHeads, coreShape } from '../arguments/heads.js';
import { CheckedOptions, optionNames } from '../arguments/attention-options.js';
import { checkOut } from '../arguments/out.js';
import { alibiSlopes } from './relative-bias.js';
import type { ArrayInput, AttentionOptions, AttentionResult } from '../api/types.js';

/** The cache of a call, checked to be of this engine and alive before anything else is done with it. */
export function cacheOf(
  engine: Engine,
  fn: string,
  { cache }: AttentionOptions,
): WasmKvCache | undefined {
  if (!WasmKvCache.is(cache)) return undefined;
  cache.check(engine, fn);
  return cache;
}

export function attention(
  engine: Engine,
  arrays: readonly [ArrayInput, ArrayInput, ArrayInput],
  givenOptions: AttentionOptions,
): AttentionResult {
  const fn = 'attention';
  engine.raw(fn);
  const options = takeOptions(fn, 'options', givenOptions, optionNames);
  const q = checkArray(fn, 'q', arrays[0]);
  const k = checkArray(fn, 'k', arrays[1]);
  const v = checkArray(fn, 'v', arrays[2]);
  const [qs, ks, vs] = checkHeads(fn, [q, k, v], options);
  const cache = cacheOf(engine, fn, options);
  const dimensions = {
    batch: qs.batch,
    heads: qs.heads,
    tq: qs.tokens,
    tk: ks.tokens + (cache?.length ?? 0),
  };
  const checked = new CheckedOptions(fn, options, dimensions, (n) => alibiSlopes(engine, n, fn));
  const outShape = { ...qs, width: vs.width };
  const shape = qs.split ? [...q.shape.slice(0, -1), qs.heads * vs.width] : coreShape(outShape);
  const out = checkOut(fn, options.out, shape);

  const call = new Call(engine, fn);
  call.input('q', q, coreShape(qs));
  call.input('k', k, coreShape(ks));
  call.input('v', v, coreShape(vs));
  call.output('out', coreShape(outShape), out);
  checked.announce(call);
  call.run('attention', { ...checked.numbers(), numHeads: qs.heads, numKvHeads: ks.heads });
  cache?.grow(ks.tokens);
  const extras = checked.read(call);
  // With `out` there is no `output`; the overloads of Qkv.attention say so to the caller.
  return out
    ? (extras as AttentionResult)
    : { output: { data: call.read('out'), shape }, ...extras };
}
