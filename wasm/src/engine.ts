// The object that callers have: every operator, bound to one instance.

import type { EngineInfo, Qkv } from './api/types.js';
import { disposeSymbol } from './memory/handle.js';
import type { Instance } from './memory/instance.js';
import { tensor } from './memory/tensor.js';
import { attention } from './operators/attention.js';
import { transformerBlock } from './operators/block.js';
import { kvCache } from './operators/cache.js';
import { multiHeadAttention } from './operators/layer.js';
import { linear, linearLayer } from './operators/linear.js';
import * as norms from './operators/norms.js';
import * as positions from './operators/positions.js';
import * as relativeBias from './operators/relative-bias.js';
import { rotaryEmbedding } from './operators/rotary.js';
import * as statistics from './operators/statistics.js';
import * as tables from './operators/tables.js';

const { alibiSlopes, t5RelativeBias, transformerXlBias } = relativeBias;

/** Every operator as a function of an instance and the arguments of the method of this name. */
const operators = {
  ...{ tensor, attention, kvCache, multiHeadAttention, transformerBlock, rotaryEmbedding },
  ...{ alibiSlopes, t5RelativeBias, transformerXlBias, linear, linearLayer },
  ...positions,
  ...norms,
  ...tables,
  ...statistics,
};

type Methods = Omit<Qkv, 'info' | 'memory' | 'dispose' | symbol>;
type Method = (instance: Instance, ...args: unknown[]) => unknown;

/** Operators that an entry has besides. Each has arguments of its own, which nobody asks for by this type. */
export type MoreOperators = Readonly<
  Record<string, (instance: Instance, ...args: never) => unknown>
>;

/** The operators for callers: functions that need no `this`, and refuse once the instance has ended. */
function bind(instance: Instance, all: MoreOperators): Methods {
  const bound: Partial<Record<string, object>> = {};
  for (const [name, operator] of Object.entries(all))
    bound[name] = bindOne(instance, name, operator);
  return bound as unknown as Methods;
}

/** One of them, with the operators that are its properties. */
function bindOne(instance: Instance, name: string, operator: MoreOperators[string]): object {
  const bound = (...args: unknown[]): unknown => {
    instance.raw(name);
    return (operator as Method)(instance, ...args);
  };
  for (const [part, other] of Object.entries(operator) as [string, MoreOperators[string]][]) {
    Object.defineProperty(bound, part, { value: bindOne(instance, `${name}.${part}`, other) });
  }
  return bound;
}

/** With `more` operators than those of `Qkv`, or these alone. `onDispose` is called once, by the first dispose(). */
export function createEngine(
  instance: Instance,
  info: EngineInfo,
  { more, isAlone = false }: { readonly more: MoreOperators; readonly isAlone?: boolean },
  onDispose: () => void,
): Qkv {
  // It knows the module, for the threads' sake, and would keep the memory as long as the engine is kept.
  let release: (() => void) | undefined = onDispose;
  const dispose = (): void => {
    const once = release;
    release = undefined;
    instance.end();
    once?.();
  };
  return {
    info: Object.freeze(info),
    ...bind(instance, isAlone ? more : { ...operators, ...more }),
    memory: () => ({
      heapBytes: instance.buffer('memory').byteLength,
      usedBytes: instance.raw('memory')._allocatedBytes(),
      handles: instance.handles.size,
    }),
    dispose,
    [disposeSymbol]: dispose,
  };
}
