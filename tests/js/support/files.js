// Where the built package is, and .wasm files that are not quite right.
import { readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

/** The folder of the project, without a slash at its end. */
export const root = dirname(dirname(dirname(dirname(fileURLToPath(import.meta.url)))));

export const read = (path) => readFileSync(join(root, path));
export const text = (path) => read(path).toString('utf8');
export const packageJson = JSON.parse(text('package.json'));
export const wasmFile = (variant) => read(`dist/qkv-${variant}.wasm`);

/** The bytes of the probes, out of the TypeScript that ships. */
export const probes = Object.fromEntries(
  Array.from(
    text('wasm/src/probes.ts').matchAll(/(\w+)Probe =\s*'([0-9a-f]+)'/g),
    ([, name, hex]) => [name, Buffer.from(hex, 'hex')],
  ),
);

/** The variant that `init()` should choose here: as the runner says, or as the probes do. */
export const expectedVariant =
  process.env.QKV_EXPECT_VARIANT ?? (WebAssembly.validate(probes.relaxed) ? 'relaxed' : 'simd');

const memorySection = 5;

/** The sections of a module: { id, begin, end } of their contents. */
function* sections(bytes) {
  let at = 8;
  const number = () => {
    for (let value = 0, shift = 0; ; shift += 7) {
      const byte = bytes[at++];
      value |= (byte & 127) << shift;
      if (byte < 128) return value >>> 0;
    }
  };
  while (at < bytes.length) {
    const id = bytes[at++];
    const length = number();
    yield { id, begin: at, end: at + length };
    at += length;
  }
}

/** A copy whose memory may not grow beyond `pages` of 64 KiB, so that running out of it is cheap. */
export function withMemoryOf(pages, wasm) {
  const bytes = Buffer.from(wasm);
  const { end } = [...sections(bytes)].find(({ id }) => id === memorySection);
  // The maximum is the last number of the section: 65536, three bytes of LEB128.
  if (bytes.subarray(end - 3, end).toString('hex') !== '808004')
    throw new Error('no maximum of 4 GB');
  bytes.set([(pages & 127) | 128, ((pages >> 7) & 127) | 128, pages >> 14], end - 3);
  return bytes;
}

/** A copy that says it is of another version, of the same length. */
export function withVersion(version, wasm) {
  const bytes = Buffer.from(wasm);
  const mark = `qkv ${packageJson.version} `;
  const at = bytes.indexOf(mark);
  if (at < 0 || mark.length !== `qkv ${version} `.length)
    throw new Error(`no place for ${version}`);
  bytes.write(`qkv ${version} `, at, 'latin1');
  return bytes;
}

/** The smallest module there is: valid, and of somebody else. */
export const foreignWasm = Buffer.from('0061736d01000000', 'hex');
