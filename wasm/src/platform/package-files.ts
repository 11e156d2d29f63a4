// Where the files beside this module are, when that has to be known by other means than a literal
// `new URL('./file', import.meta.url)`, which bundlers follow and carry the file along.

/** The address of this module; bundles that are none (CommonJS, iife) have no address. */
export function ownAddress(): string {
  const address: string | undefined = import.meta.url;
  return address ?? 'no module';
}

/** A file of Node's, where there is no bundler: a literal would be carried along a second time. */
export const beside = (name: string): string => ownAddress().replace(/[^/]*$/, name);

// The development server of Vite up to version 7 copies modules of the package to
// node_modules/.vite/deps/qkv.js?v=<hash> and leaves the files beside them behind; for one beside the copy it
// answers 200 with the app's index.html. But one request finds out where it has a file: for the module that
// `import address from 'qkv/qkv-simd.wasm?url'` stands for, which is `export default "<address>"`. That is right
// for packages that are hoisted or linked and for any cacheDir, where a path such as ../../qkv/dist is not.
// Seen with 7.3.8; Vite 8 corrects literal URLs itself.

/** The root of the server, if it has copied this module. */
const movedBy = (): string | undefined =>
  /^(.*?\/)(?:node_modules|@fs)\/.*\?v=[0-9a-f]+$/.exec(import.meta.url)?.[1];

/** Where the server has what the package exports by this name; undefined if it has not moved anything. */
export async function whereViteHas(name: string): Promise<URL | undefined> {
  const base = movedBy();
  if (base === undefined) return undefined;
  const response = await fetch(`${base}@id/${name}?url&import`);
  const [, address] = /^export default "(.+?)"/.exec(await response.text()) ?? [];
  return address === undefined ? undefined : new URL(address, base);
}
