// The module that wasm/bindings.cpp describes: numbers in, numbers out.

/** An address in WebAssembly memory, in bytes. 0 stands for none. */
export type Address = number;

export interface RawModule {
  readonly wasmMemory: WebAssembly.Memory;
  _fields(): string;
  _operators(): string;
  _descriptor(): Address;
  _isa(): string;
  _version(): string;
  _statusCount(): number;
  /** Address of a text that ends with 0. */
  _statusName(code: number): Address;
  _lastCode(): number;
  /** Address of a text that ends with 0. */
  _lastMessage(): Address;
  _allocatedBytes(): number;
  _allocationCount(): number;
  _stage(floats: number): Address;
  _createBuffer(floats: number): Address;
  _bufferData(handle: Address): Address;
  _destroyBuffer(handle: Address): void;
  /** Runs operator number `index` of wasm/operators.def on the descriptor. A status code. */
  _run(index: number): number;
}
