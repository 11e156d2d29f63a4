// The module that wasm/bindings.cpp describes: numbers in, numbers out.

/** An address in WebAssembly memory, in bytes. 0 stands for none. */
export type Address = number;

export interface RawModule {
  readonly wasmMemory: WebAssembly.Memory;
  _fields(): string;
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
  _attention(): number;
  _createLayer(): Address;
  _forwardLayer(handle: Address): number;
  _destroyLayer(handle: Address): void;
  _sinusoid(
    table: Address,
    length: number,
    dModel: number,
    offset: number,
    base: number,
    concatenated: boolean,
  ): number;
  _shiftBlocks(blocks: Address, k: number, dModel: number, base: number): number;
  _shiftMatrix(
    matrix: Address,
    k: number,
    dModel: number,
    base: number,
    concatenated: boolean,
  ): number;
}
