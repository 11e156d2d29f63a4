// Where the built package is, and .wasm files that are not quite right.
import { readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';

/** The folder of the project, without a slash at its end. */
export const root = dirname(dirname(dirname(dirname(fileURLToPath(import.meta.url)))));

export const read = (path) => readFileSync(join(root, path));
export const text = (path) => read(path).toString('utf8');
export const packageJson = JSON.parse(text('package.json'));
export const wasmFile = (variant) => read(`dist/qkv-${variant}.wasm`);

/** The same file as everything that init({ wasm }) takes; each call makes one anew. */
export const wasmSources = (variant) => {
  const [url, file] = [pathToFileURL(join(root, `dist/qkv-${variant}.wasm`)), wasmFile(variant)];
  return {
    'a URL': () => url,
    'the text of a URL': () => url.href,
    'a Uint8Array': () => new Uint8Array(file),
    'an ArrayBuffer': () => new Uint8Array(file).buffer,
    'a WebAssembly.Module': () => new WebAssembly.Module(file),
    'a Response': () => new Response(file, { headers: { 'content-type': 'application/wasm' } }),
    'a promise of a Response without a type': () => Promise.resolve(new Response(file)),
  };
};

/** A folder of data outside the repository (tests/README.md): the variable names it, or it is in `shared` beside the checkout. */
export const extraFolder = (variable, folder) =>
  process.env[variable] ?? join(root, '../shared', folder);

/** The bytes of the probes, out of the TypeScript that ships. */
export const probes = Object.fromEntries(
  Array.from(
    text('wasm/src/load/probes.ts').matchAll(/(\w+)Probe =\s*'([0-9a-f]+)'/g),
    ([, name, hex]) => [name, Buffer.from(hex, 'hex')],
  ),
);

/** The variant that `init()` should choose here: as the runner says, or as the probes do. */
export const expectedVariant =
  process.env.QKV_EXPECT_VARIANT ?? (WebAssembly.validate(probes.relaxed) ? 'relaxed' : 'simd');

/** init(), with as many threads as the runner says. */
export async function initAsTold(init) {
  const threads = Number(process.env.QKV_THREADS ?? 1);
  const engine = await init({ threads });
  if (engine.info.threads !== threads)
    throw new Error(`${engine.info.threads} of ${threads} threads`);
  return engine;
}

/** A copy that says `to` where the file says `from`, of the same length. */
export function withText(from, to, wasm) {
  const bytes = Buffer.from(wasm);
  const at = bytes.indexOf(from);
  if (at < 0 || from.length !== to.length) throw new Error(`no place for ${to}`);
  bytes.write(to, at, 'latin1');
  return bytes;
}

/** A copy that says it is of another version. */
export const withVersion = (version, wasm) =>
  withText(`qkv ${packageJson.version} `, `qkv ${version} `, wasm);

/** The smallest module there is: valid, and of somebody else. */
export const foreignWasm = Buffer.from('0061736d01000000', 'hex');
