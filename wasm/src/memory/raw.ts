// The module that wasm/bindings/module.cpp describes: numbers in, numbers out.

/** An address in WebAssembly memory, in bytes. 0 stands for none. */
export type Address = number;

export interface RawModule {
  readonly wasmMemory: WebAssembly.Memory;
  /** Addresses of texts that end with 0, as all texts here. */
  /** Where the arguments of a call are written. */
  _arguments(): Address;
  /** Where the object that the last operator made is. */
  _made(): Address;
  _isa(): Address;
  _statusCount(): number;
  _statusName(code: number): Address;
  _lastCode(): number;
  /** What the last failure was, without the function: that is for the package to name. */
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
  /** A pool of so many threads, the caller's included; false where memory is not shared. */
  _createThreads(threads: number, maySleep: boolean): boolean;
  /** Where the function that a worker enters is in the module's table. */
  _threadEntry(): number;
  _threadStack(worker: number): Address;
  _threadStackBytes(): number;
  _abandonThread(worker: number): void;
  _abandonEntry(): number;
  _stopThreads(): void;
}

/** The text at an address. */
export function textAt({ wasmMemory }: RawModule, address: Address): string {
  const bytes = new Uint8Array(wasmMemory.buffer, address >>> 0);
  return String.fromCharCode(...bytes.subarray(0, bytes.indexOf(0)));
}
