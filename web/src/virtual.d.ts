/// <reference types="vite/client" />

/** The titles and introductions of all panels, which stand on the page before their code is there. */
declare module 'virtual:headings' {
  const headings: Readonly<Record<'en' | 'zh', Readonly<Record<string, string>>>>;
  export default headings;
}

/** qkv-train-simd.wasm, deflated, in base64, in the single file. */
declare module 'virtual:train-wasm' {
  const wasm: string;
  export default wasm;
}

/** qkv-spectra-simd.wasm, likewise. */
declare module 'virtual:spectra-wasm' {
  const wasm: string;
  export default wasm;
}

/** The bytes of a file in base64, in the single file. */
declare module '*?base64' {
  const bytes: string;
  export default bytes;
}
