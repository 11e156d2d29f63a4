// The factory that Emscripten writes; tools/build.js resolves this name to it.
declare module 'qkv-glue' {
  interface Incoming {
    instantiateWasm(
      imports: WebAssembly.Imports,
      receive: (instance: WebAssembly.Instance) => void,
    ): object;
  }
  const createModule: (incoming: Incoming) => Promise<import('./raw.js').RawModule>;
  export default createModule;
}

/** The version in package.json. */
declare const QKV_VERSION: string;
