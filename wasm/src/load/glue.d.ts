// The factory that Emscripten writes; tools/build.js resolves this name to it.
declare module 'qkv-glue' {
  interface Incoming {
    wasmMemory: WebAssembly.Memory;
    instantiateWasm(
      imports: WebAssembly.Imports,
      receive: (instance: WebAssembly.Instance) => void,
    ): object;
  }
  const createModule: (incoming: Incoming) => Promise<import('../memory/raw.js').RawModule>;
  export default createModule;
}

/** The version in package.json. */
declare const QKV_VERSION: string;

/** The layout of the arguments of every operator, by tools/abi.js. */
declare const QKV_ABI: {
  readonly hash: string;
  readonly groups: Readonly<Record<string, Readonly<Record<string, string | readonly string[]>>>>;
  readonly operators: Readonly<
    Record<string, Readonly<Record<string, string | readonly string[]>>>
  >;
};

/** The parameters of every method that qkv/worker has, by tools/abi.js. */
declare const QKV_METHODS: Readonly<Record<string, readonly string[]>>;

/** Both .wasm files, deflated, in base64. In the bundle of `qkv/inline` only. */
declare const QKV_EMBEDDED: Record<'relaxed' | 'simd', string>;
