// What starts an engine, and what an engine says of itself.

/**
 * `relaxed` may fuse a multiplication and an addition; `simd` gives the same bits on every engine. With
 * `-threads` the work of a call may be shared by several threads, which changes no bit.
 */
export type Variant = 'relaxed' | 'simd' | 'relaxed-threads' | 'simd-threads';

// Types of the web that not every program has: without the DOM library and the types of Node, the options leave
// these types out, and the declarations still compile.
type Web = typeof globalThis;
type WebUrl = Web extends { URL: { prototype: infer T } } ? T : never;
type WebResponse = Web extends { Response: { prototype: infer T } } ? T : never;
type WebModule = Web extends { WebAssembly: { Module: { prototype: infer T } } } ? T : never;
type WebBytes = Web extends { WebAssembly: { validate(bytes: infer T): boolean } }
  ? T
  : ArrayBufferView | ArrayBuffer;

/** Options of {@link init}. */
export interface InitOptions {
  /** Default `'auto'`: the fastest build this engine can run, with threads if `threads` asks for them. */
  variant?: 'auto' | Variant | undefined;
  /**
   * How many threads work on a call, the caller's included: 1 to 64, or `'auto'` for as many as there are
   * cores. Default 1. More than one thread needs shared memory: in a browser only pages that are isolated
   * from other origins have it (the headers `Cross-Origin-Opener-Policy: same-origin` and
   * `Cross-Origin-Embedder-Policy: require-corp`), in Node every program. Without shared memory or
   * workers the engine runs on one thread; `info.threads` is the number of threads.
   */
  threads?: number | 'auto' | undefined;
  /** Selects a build with the same bits on every engine, never a relaxed one. Default false. */
  deterministic?: boolean | undefined;
  /**
   * The .wasm file, if it is not beside this module: an address, bytes, a compiled module or a response.
   * With `variant: 'auto'` the file determines the variant.
   */
  wasm?: string | WebUrl | WebBytes | WebModule | WebResponse | Promise<WebResponse> | undefined;
  /**
   * Whether calls with the same options use one WebAssembly instance, its memory and its threads. Addresses are
   * the same when their text is; bytes, modules and responses when they are one object. Default true.
   */
  shared?: boolean | undefined;
}

/** Build information. */
export interface EngineInfo {
  /** Version of the package and of the .wasm; `init` checks that they are the same. */
  readonly version: string;
  /** The build that was loaded. */
  readonly variant: Variant;
  /** Threads that work on a call now, the caller's included: a worker that has ended is not counted. */
  readonly threads: number;
  /** The instruction set that the core reports: `'wasm-simd128'` or `'wasm-relaxed-simd'`. */
  readonly isa: string;
}
