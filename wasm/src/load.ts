// From init() options to a running module: which variant, which bytes, are they ours.

import createModule from 'qkv-glue';
import { describe } from './check.js';
import { fieldNames, operatorList } from './descriptor.js';
import { QkvError } from './error.js';
import { relaxedProbe, simdProbe } from './probes.js';
import type { RawModule } from './raw.js';
import type { InitOptions, Variant } from './types.js';

const isaOf: Record<Variant, string> = { relaxed: 'wasm-relaxed-simd', simd: 'wasm-simd128' };

const hasOpcodes = (probe: string): boolean => {
  const bytes = probe.match(/../g) ?? [];
  return WebAssembly.validate(Uint8Array.from(bytes, (byte) => parseInt(byte, 16)));
};

/** The variant to load when no file was given: the best one this engine validates. */
function chooseVariant(options: InitOptions): Variant {
  const { variant = 'auto', deterministic = false } = options;
  if (typeof WebAssembly !== 'object' || !hasOpcodes(simdProbe)) {
    throw new QkvError(
      'unsupported',
      'init: this engine has no WebAssembly SIMD (Chrome 91, Firefox 89, Safari 16.4 and Node 16.4 ' +
        'have it), expected an engine that does',
    );
  }
  if (variant === 'relaxed') {
    if (!hasOpcodes(relaxedProbe)) {
      throw new QkvError(
        'unsupported',
        "init: variant is 'relaxed' and this engine has no relaxed SIMD, expected 'auto' or 'simd'",
      );
    }
    return 'relaxed';
  }
  return variant === 'simd' || deterministic || !hasOpcodes(relaxedProbe) ? 'simd' : 'relaxed';
}

/** The .wasm beside this file. Literal URLs, so that bundlers see them and carry the files along. */
function defaultUrl(variant: Variant): URL {
  return variant === 'relaxed'
    ? new URL('./qkv-relaxed.wasm', import.meta.url)
    : new URL('./qkv-simd.wasm', import.meta.url);
}

const remedy =
  'serve the .wasm files of the package beside its index.js, or tell init({ wasm }) where they are';

const fail = (message: string, cause?: unknown): QkvError =>
  new QkvError('load_failed', `init: ${message}`, { cause });

const reason = (error: unknown): string => (error instanceof Error ? error.message : String(error));

interface FileReader {
  readFile(path: URL): Promise<Uint8Array<ArrayBuffer>>;
}

/** Node reads files by itself because its fetch has no file: URLs. Asked of the process, not imported, so that no bundler ever meets a Node module. */
function nodeFiles(): FileReader | undefined {
  const { process } = globalThis as {
    process?: { getBuiltinModule?: (name: string) => FileReader };
  };
  return process?.getBuiltinModule?.('node:fs/promises');
}

async function fetchBytes(url: URL | string): Promise<BufferSource | Response> {
  const location = String(url);
  const files = location.startsWith('file:') ? nodeFiles() : undefined;
  try {
    return files ? await files.readFile(new URL(location)) : await fetch(url);
  } catch (error) {
    throw fail(
      `${location} could not be read (${reason(error)}), expected a .wasm; ${remedy}`,
      error,
    );
  }
}

/** A sound file that does not compile for want of relaxed SIMD says in its bytes which build it is. */
function refuseRelaxed(bytes: Uint8Array, from: string): void {
  const mark = `qkv ${QKV_VERSION} ${isaOf.relaxed}`;
  if (hasOpcodes(relaxedProbe) || !new TextDecoder('latin1').decode(bytes).includes(mark)) return;
  throw new QkvError(
    'unsupported',
    `init: ${from} is the relaxed build and this engine has no relaxed SIMD, expected qkv-simd.wasm`,
  );
}

/** A compiled module from bytes, with a readable complaint when they are something else. */
async function compileBytes(bytes: BufferSource, from: string): Promise<WebAssembly.Module> {
  const view = ArrayBuffer.isView(bytes)
    ? new Uint8Array(bytes.buffer, bytes.byteOffset, bytes.byteLength)
    : new Uint8Array(bytes);
  if (view[0] !== 0 || view[1] !== 0x61 || view[2] !== 0x73 || view[3] !== 0x6d) {
    const start = String.fromCharCode(...view.subarray(0, 15)).replace(/[^ -~]/g, '.');
    throw fail(
      `${from} starts with ${JSON.stringify(start)}, expected WebAssembly ("\\0asm"); a server that ` +
        `answers with a page instead of the file does this; ${remedy}`,
    );
  }
  try {
    // The view, because V8 takes no DataView.
    return await WebAssembly.compile(view);
  } catch (error) {
    refuseRelaxed(view, from);
    throw fail(
      `${from} does not compile (${reason(error)}), expected a .wasm of this package`,
      error,
    );
  }
}

async function compileResponse(response: Response): Promise<WebAssembly.Module> {
  const mime = response.headers.get('content-type') ?? 'no content type';
  const from = response.url || 'the response';
  if (!response.ok) {
    throw fail(`${from} answered ${response.status} (${mime}), expected a .wasm; ${remedy}`);
  }
  // Streaming needs the exact MIME type; servers without it get a copy of the bytes instead.
  if (mime === 'application/wasm') {
    // To look into if it does not compile, which on other engines is no question of the build.
    const copy = hasOpcodes(relaxedProbe) || response.bodyUsed ? undefined : response.clone();
    try {
      return await WebAssembly.compileStreaming(response);
    } catch (error) {
      if (copy) refuseRelaxed(new Uint8Array(await copy.arrayBuffer()), from);
      throw fail(
        `${from} does not compile (${reason(error)}), expected a .wasm of this package`,
        error,
      );
    }
  }
  let bytes: ArrayBuffer;
  try {
    bytes = await response.arrayBuffer();
  } catch (error) {
    throw fail(`${from} (${mime}) could not be read (${reason(error)}), expected a .wasm`, error);
  }
  return compileBytes(bytes, `${from} (${mime})`);
}

const isResponse = (value: unknown): value is Response =>
  typeof Response === 'function' && value instanceof Response;

async function compile(wasm: NonNullable<InitOptions['wasm']>): Promise<WebAssembly.Module> {
  let source: Awaited<typeof wasm>;
  try {
    source = await wasm;
  } catch (error) {
    throw fail(`the promised wasm could not be had (${reason(error)}), expected a Response`, error);
  }
  if (source instanceof WebAssembly.Module) return source;
  if (isResponse(source)) return compileResponse(source);
  if (typeof source === 'string' || source instanceof URL) {
    const got = await fetchBytes(source);
    return isResponse(got) ? compileResponse(got) : compileBytes(got, String(source));
  }
  if (ArrayBuffer.isView(source) || isArrayBuffer(source)) {
    return compileBytes(source, 'the given buffer');
  }
  throw notWasm(source);
}

/** Of any realm. */
const isArrayBuffer = (value: unknown): value is ArrayBuffer =>
  Object.prototype.toString.call(value) === '[object ArrayBuffer]';

const notWasm = (value: unknown): QkvError =>
  new QkvError(
    'invalid_argument',
    `init: wasm is ${describe(value)}, expected a URL, bytes, a WebAssembly.Module or a Response`,
  );

/** Refuses what could not even be a key of the engines. */
export function checkSource(wasm: unknown): void {
  const isObject = typeof wasm === 'object' && wasm !== null;
  if (wasm !== undefined && typeof wasm !== 'string' && !isObject) throw notWasm(wasm);
}

/** Variant and version, as the file itself states them, before any of its code runs. */
function identify(module: WebAssembly.Module): Variant {
  const [section] = WebAssembly.Module.customSections(module, 'qkv');
  const [, version, isa] = section ? new TextDecoder().decode(section).split(' ') : [];
  if (version === undefined) {
    throw fail('the .wasm is not of this package, expected qkv-simd.wasm or qkv-relaxed.wasm');
  }
  if (version !== QKV_VERSION) {
    throw fail(
      `the .wasm is version ${version} and the JavaScript is ${QKV_VERSION}, expected the same; one of ` +
        'the two comes from an old copy or cache',
    );
  }
  return isa === isaOf.relaxed ? 'relaxed' : 'simd';
}

/** A file may be given explicitly and still be the wrong one for what was asked. */
function checkGiven(found: Variant, options: InitOptions): void {
  const { variant = 'auto', deterministic = false } = options;
  if (variant !== 'auto' && variant !== found) {
    throw fail(`the .wasm is the ${found} build, expected variant '${variant}'`);
  }
  if (deterministic && found === 'relaxed') {
    throw fail('the .wasm is the relaxed build, expected the simd build for deterministic: true');
  }
}

function instantiate(module: WebAssembly.Module): Promise<RawModule> {
  return new Promise((resolve, reject) => {
    const refuse = (error: unknown): void =>
      reject(fail(`the .wasm cannot be started (${reason(error)}), expected a sound file`, error));
    createModule({
      instantiateWasm(imports, receive) {
        WebAssembly.instantiate(module, imports).then(receive, refuse);
        return {};
      },
    }).then(resolve, refuse);
  });
}

export interface Loaded {
  readonly raw: RawModule;
  readonly variant: Variant;
  readonly isa: string;
}

export async function load(options: InitOptions): Promise<Loaded> {
  const wanted = chooseVariant(options);
  const module = await compile(options.wasm ?? defaultUrl(wanted));
  const variant = identify(module);
  checkGiven(variant, options);
  const raw = await instantiate(module);
  const isa = raw._isa();
  const same = raw._fields() === fieldNames && raw._operators() === operatorList;
  if (isa !== isaOf[variant] || !same) {
    throw fail(
      `the .wasm runs ${isa} with other operators or arguments, expected ${isaOf[variant]}`,
    );
  }
  return { raw, variant, isa };
}
