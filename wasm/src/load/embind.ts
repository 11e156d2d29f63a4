// What embind asks of JavaScript to bind functions of numbers. Emscripten's own can bind classes, texts and objects as well, and
// would be a third of core.js. tools/build/modules.js requires of every .wasm it makes that this binds all of its functions.

import { type Address, type RawModule, textAt } from '../memory/raw.js';

type Callee = (...args: readonly (number | boolean)[]) => number;

/** A function of C++, called by `invoker` with `own` before its arguments. `type` is the id of what it returns. */
interface Bound {
  readonly name: string;
  readonly type: number;
  readonly invoker: number;
  readonly own: number;
}

/** Of types whose values need nothing, as they are numbers in both languages, and of those that no function here has. */
const nothing = (): void => undefined;

/**
 * Runs the module on this memory.
 *
 * @throws WebAssembly.LinkError for a module that imports something else
 */
export async function start(
  module: WebAssembly.Module,
  wasmMemory: WebAssembly.Memory,
): Promise<RawModule> {
  const bound: Bound[] = [];
  const unsigned = new Set<number>();
  const types = WebAssembly.Module.imports(module)
    .filter(({ name }) => name.startsWith('_embind_register_'))
    .map(({ name }): [string, () => void] => [name, nothing]);
  const env: Record<string, WebAssembly.ImportValue> = {
    ...Object.fromEntries(types),
    memory: wasmMemory,
    _embind_register_integer: (type: number, _name: Address, _bytes: number, least: number) => {
      if (least === 0) unsigned.add(type);
    },
    _embind_register_function: (
      ...given: readonly [Address, number, Address, Address, number, number]
    ) => {
      const [name, , returned, , invoker, own] = given;
      const [type = 0] = new Uint32Array(wasmMemory.buffer, returned);
      bound.push({ name: textAt({ wasmMemory }, name), type, invoker, own });
    },
  };
  const { exports } = await WebAssembly.instantiate(module, { env });
  const { __wasm_call_ctors: construct, __indirect_function_table: table } = exports as {
    __wasm_call_ctors: Callee;
    __indirect_function_table: WebAssembly.Table;
  };
  construct();
  const functions = bound.map(({ name, type, invoker, own }): [string, Callee] => {
    const call = table.get(invoker) as Callee;
    const signed: Callee = (...args) => call(own, ...args);
    return [name, unsigned.has(type) ? (...args) => call(own, ...args) >>> 0 : signed];
  });
  return { wasmMemory, ...Object.fromEntries(functions) } as unknown as RawModule;
}
