// From what init() is given, or finds, to a compiled module, with a readable complaint when it is something
// else.

import { describe, isResponse, tagOf } from '../arguments/values.js';
import { QkvError } from '../api/errors.js';
import { isPath } from '../platform/addresses.js';
import { nodeModule } from '../platform/node.js';
import { relaxedProbe } from './probes.js';
import type { InitOptions, Variant } from '../api/types.js';
import type { Product } from './files.js';
import { hasOpcodes } from './variant.js';

const remedy = QKV_INLINE
  ? 'call init() without wasm: qkv/inline contains its own'
  : 'serve the .wasm files of the package in the folder of its index.js, pass the address of one to init({ wasm }), ' +
    'or import qkv/inline instead of qkv, which needs no file';

/** What a host wants that compiles WebAssembly only before it runs, as Cloudflare's Workers do. */
const asModule = "import wasm from 'qkv/qkv-simd.wasm' and call init({ wasm })";

export const fail = (message: string, cause?: unknown): QkvError =>
  new QkvError('load_failed', `init: ${message}`, { cause });

/** Not by a TextDecoder, which jsdom lacks. */
export const asciiOf = (bytes: Uint8Array): string =>
  Array.from(bytes, (byte) => String.fromCharCode(byte)).join('');

/** Node says "fetch failed" and keeps why in the cause; WebKit's sentences have line breaks. */
export const reason = (error: unknown): string => {
  if (!(error instanceof Error)) return describe(error);
  const { message, cause } = error;
  return cause instanceof Error ? `${message}: ${cause.message}` : message.replace(/\s+/g, ' ');
};

/** Whether a policy forbids WebAssembly: browsers say so in words alone, WebKit not before a module is instantiated. */
export const isForbidden = (error: unknown): boolean =>
  /unsafe-eval|Content.Security|\bCSP\b/i.test(reason(error));

export const allowInPolicy =
  "add 'wasm-unsafe-eval' to script-src in the Content-Security-Policy of the page";

/** For bytes that are no module, or that a policy or a host keeps from becoming one. */
const uncompiled = (from: string, error: unknown): QkvError => {
  const elsewhere = /code generation disallowed/i.test(reason(error));
  const advice = isForbidden(error)
    ? allowInPolicy
    : elsewhere
      ? `this host does not compile WebAssembly at run time: ${asModule}`
      : remedy;
  return fail(
    `${from} does not compile (${reason(error)}), expected a .wasm of this package; ${advice}`,
    error,
  );
};

interface FileReader {
  readFile(path: URL | string): Promise<Uint8Array<ArrayBuffer>>;
}

async function fetchBytes(url: URL | string): Promise<BufferSource | Response> {
  const location = String(url);
  // Node's fetch has no file: URLs.
  const isUrl = location.startsWith('file:');
  const files =
    isUrl || isPath(location)
      ? (nodeModule('node:fs/promises') as FileReader | undefined)
      : undefined;
  try {
    if (!files) return await fetch(url);
    return await files.readFile(isUrl ? new URL(location) : location);
  } catch (error) {
    throw fail(
      `${location} could not be read (${reason(error)}), expected a .wasm; ${remedy}`,
      error,
    );
  }
}

/** A sound file that does not compile for want of relaxed SIMD says in its bytes which build it is. */
function refuseRelaxed(bytes: Uint8Array, from: string): void {
  if (hasOpcodes(relaxedProbe) || !asciiOf(bytes).includes(` ${QKV_VERSION} relaxed`)) return;
  throw new QkvError(
    'unsupported',
    `init: ${from} is the relaxed build and this engine has no relaxed SIMD, expected the simd build`,
  );
}

async function compileBytes(bytes: BufferSource, from: string): Promise<WebAssembly.Module> {
  const view = ArrayBuffer.isView(bytes)
    ? new Uint8Array(bytes.buffer, bytes.byteOffset, bytes.byteLength)
    : new Uint8Array(bytes);
  const start = asciiOf(view.subarray(0, 15));
  if (!start.startsWith('\0asm')) {
    throw fail(
      `${from} starts with ${JSON.stringify(start.replace(/[^ -~]/g, '.'))}, expected WebAssembly ("\\0asm"); a server that ` +
        `answers with a page instead of the file causes this; ${remedy}`,
    );
  }
  try {
    // The view, because V8 takes no DataView.
    return await WebAssembly.compile(view);
  } catch (error) {
    refuseRelaxed(view, from);
    throw uncompiled(from, error);
  }
}

/** `named` by the caller, and thus perhaps not the build that this engine wants. */
async function compileResponse(response: Response, named: boolean): Promise<WebAssembly.Module> {
  const mime = response.headers.get('content-type') ?? 'no content type';
  const from = response.url || 'the response';
  if (!response.ok) {
    throw fail(`${from} answered ${response.status} (${mime}), expected a .wasm; ${remedy}`);
  }
  // Streaming needs the exact MIME type; servers without it get a copy of the bytes instead.
  if (mime === 'application/wasm') {
    // To look into if it does not compile: without relaxed SIMD it may be the relaxed build.
    const mayBeRelaxed = named && !hasOpcodes(relaxedProbe) && !response.bodyUsed;
    const copy = mayBeRelaxed ? response.clone() : undefined;
    try {
      return await WebAssembly.compileStreaming(response);
    } catch (error) {
      if (copy) refuseRelaxed(new Uint8Array(await copy.arrayBuffer()), from);
      throw uncompiled(from, error);
    }
  }
  let bytes: ArrayBuffer;
  try {
    bytes = await response.arrayBuffer();
  } catch (error) {
    throw fail(`${from} (${mime}) could not be read (${reason(error)}), expected a .wasm`, error);
  }
  return compileBytes(bytes, `${from} (${response.status}, ${mime})`);
}

// Of any realm: test runners put one around the code they test.
const isArrayBuffer = (value: unknown): value is ArrayBuffer => tagOf(value) === 'ArrayBuffer';
const isModule = (value: unknown): value is WebAssembly.Module =>
  tagOf(value) === 'WebAssembly.Module';
export const isAddress = (value: unknown): value is URL | string =>
  typeof value === 'string' || tagOf(value) === 'URL';

/** `own` if the package chose it and not the caller, who would call bytes "the given buffer". */
async function compile(
  wasm: NonNullable<InitOptions['wasm']>,
  own: boolean,
): Promise<WebAssembly.Module> {
  let source: Awaited<typeof wasm>;
  try {
    source = await wasm;
  } catch (error) {
    throw fail(`the promise for wasm was rejected (${reason(error)}), expected a Response`, error);
  }
  if (isModule(source)) return source;
  if (isResponse(source)) return compileResponse(source, !own);
  if (isAddress(source)) {
    const got = await fetchBytes(source);
    return isResponse(got) ? compileResponse(got, !own) : compileBytes(got, String(source));
  }
  if (ArrayBuffer.isView(source) || isArrayBuffer(source)) {
    return compileBytes(source, own ? 'the .wasm in the module itself' : 'the given buffer');
  }
  throw notWasm(source);
}

/** What the caller gave. */
export const compileGiven = (wasm: NonNullable<InitOptions['wasm']>): Promise<WebAssembly.Module> =>
  compile(wasm, false);

/** Where the package cannot tell its own address: in a bundle that is no module, or that a host loads from nowhere. */
const nowhere = (error: unknown): QkvError =>
  fail(
    `this script has no address (${reason(error)}) from which to find the .wasm, expected an ES module (bundles of ` +
      `CommonJS or iife have none); ${remedy}; where the host compiles nothing at run time, ${asModule}`,
    error,
  );

/** From the first place that has a sound file. */
export async function compileDefault(
  { files }: Product,
  variant: Variant,
): Promise<WebAssembly.Module> {
  let complaint: unknown;
  for (const place of files.defaultPlaces(variant)) {
    try {
      const source = await place();
      if (source !== undefined) return await compile(source, true);
    } catch (error) {
      complaint ??= error instanceof QkvError ? error : nowhere(error);
    }
  }
  throw complaint;
}

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
