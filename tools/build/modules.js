// The .wasm files of the package. CMake links one module for each instruction set, whose memory is shared; an engine without
// threads needs the same module with a memory that is not.
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import * as esbuild from 'esbuild';
import { root } from '../environment.js';

const folder = join(root, 'build/wasm/wasm');

export const variants = ['simd', 'relaxed', 'simd-threads', 'relaxed-threads'];

/**
 * Those of `qkv`, those of `qkv/train`, which have the same operators and more, and that of `qkv/spectra`, which has no kernels, so that
 * there is one of it.
 */
export const moduleNames = [
  ...['qkv', 'qkv-train'].flatMap((module) => variants.map((variant) => `${module}-${variant}`)),
  'qkv-spectra-simd',
];

/** Those that the page loads first: browsers choose one of them, and the build of the page computes its first view. */
export const firstModules = ['qkv-simd', 'qkv-relaxed'];

/** What CMake links. */
export const linkedNames = moduleNames.filter((name) => !name.endsWith('-threads'));

const [CUSTOM, IMPORT] = [0, 2];
/** The kinds of imports, by number. */
const [FUNCTION, MEMORY] = [0, 2];
/** The flags of a memory: its maximum is given, and it is shared. */
const [HAS_MAXIMUM, SHARED] = [1, 2];

/** Reads numbers and texts of a module from `at` on. */
class Reader {
  constructor(bytes, at) {
    Object.assign(this, { bytes, at });
  }

  number() {
    let value = 0;
    for (let shift = 0; ; shift += 7) {
      const byte = this.bytes[this.at++];
      value += (byte & 127) * 2 ** shift;
      if (byte < 128) return value;
    }
  }

  text() {
    const length = this.number();
    this.at += length;
    return this.bytes.toString('latin1', this.at - length, this.at);
  }
}

/** Where the flags of the imported memory are. */
function memoryFlags(bytes, at) {
  const reader = new Reader(bytes, at);
  for (let left = reader.number(); left > 0; left -= 1) {
    reader.text();
    reader.text();
    const kind = bytes[reader.at++];
    if (kind === MEMORY) return reader.at;
    if (kind !== FUNCTION) throw new Error(`the module imports something of kind ${kind}`);
    reader.number();
  }
  throw new Error('the module imports no memory');
}

/** The module of shared memory with a memory that is not: another flag, and another word about it (wasm/bindings/identity.cpp). */
export function singleThreaded(shared) {
  const bytes = Buffer.from(shared);
  const reader = new Reader(bytes, 8);
  let changed = 0;
  while (reader.at < bytes.length) {
    const id = bytes[reader.at++];
    const length = reader.number();
    const end = reader.at + length;
    if (id === IMPORT) {
      const at = memoryFlags(bytes, reader.at);
      if (bytes[at] !== HAS_MAXIMUM + SHARED) throw new Error(`the memory has flags ${bytes[at]}`);
      bytes[at] = HAS_MAXIMUM;
      changed += 1;
    }
    if (id === CUSTOM && reader.text() === 'qkv') {
      changed += bytes.write('single', end - 'shared'.length) === 6 ? 1 : 0;
    }
    reader.at = end;
  }
  if (changed !== 2) throw new Error('the module has no memory, or does not say what it is');
  return bytes;
}

/** The bytes of a .wasm of the package. */
export function moduleFile(name) {
  const shared = readFileSync(join(folder, `${name.replace('-threads', '')}.wasm`));
  return name.endsWith('-threads') ? shared : singleThreaded(shared);
}

/**
 * Runs a module with the package's own JavaScript for embind, which knows how Emscripten 3.1.69 to 6.0.5 registers functions: no
 * document says that others do so.
 */
export async function checkBinding() {
  const { outputFiles } = await esbuild.build({
    entryPoints: [join(root, 'wasm/src/load/embind.ts')],
    ...{ bundle: true, format: 'esm', write: false },
  });
  const { start } = await import(`data:text/javascript,${encodeURIComponent(outputFiles[0].text)}`);
  try {
    const module = new WebAssembly.Module(moduleFile('qkv-simd'));
    const memory = new WebAssembly.Memory({ initial: 32, maximum: 65536 });
    const raw = await start(module, memory);
    const isa = Buffer.from(memory.buffer, raw._isa(), 12).toString();
    if (isa !== 'wasm-simd128') throw new Error(`it says that its instruction set is ${isa}`);
  } catch (error) {
    throw new Error(
      'this Emscripten binds functions in a way that wasm/src/load/embind.ts does not know, expected 3.1.69 to 6.0.5: ' +
        error.message,
      { cause: error },
    );
  }
}
