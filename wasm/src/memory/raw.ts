// The module that wasm/bindings/module.cpp describes: numbers in, numbers out.

/** An address in WebAssembly memory, in bytes, unsigned. 0 stands for none. */
export type Address = number;

export interface RawModule {
  readonly wasmMemory: WebAssembly.Memory;
  /** Where the arguments of a call are written. */
  _arguments(): Address;
  /** Where the object that the last operator made is. */
  _made(): Address;
  /** A text that ends with 0, as all texts here. */
  _isa(): Address;
  _statusCount(): number;
  /** A text. */
  _statusName(code: number): Address;
  _lastCode(): number;
  /** A text: what the last failure was, without the function, which is for the package to name. */
  _lastDetail(): Address;
  _allocatedBytes(): number;
  _allocationCount(): number;
  _stage(floats: number): Address;
  /** Gives back what stage() made, if it is too large to keep for the next call. */
  _unstage(): void;
  _createBuffer(floats: number): Address;
  _bufferData(handle: Address): Address;
  _destroyBuffer(handle: Address): void;
  /** Runs operator number `index` of wasm/bindings/schema.js on the arguments. A status code. */
  _run(index: number): number;
  /** A pool of so many threads, the caller's included, where memory is shared; 0 if there is no room for their stacks. */
  _createThreads(threads: number, maySleep: boolean): number;
  /** Where the function that a worker enters is in the module's table. */
  _threadEntry(): number;
  _threadStack(worker: number): Address;
  _threadStackBytes(): number;
  _abandonThread(worker: number): void;
  _abandonEntry(): number;
  _stopThreads(): void;
}

/** The text at an address. */
export function textAt({ wasmMemory }: Pick<RawModule, 'wasmMemory'>, address: Address): string {
  const bytes = new Uint8Array(wasmMemory.buffer, address);
  return String.fromCharCode(...bytes.subarray(0, bytes.indexOf(0)));
}
