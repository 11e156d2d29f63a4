// Of `qkv/inline`: the same files as text in this module, for where a second file cannot be had.

import type { DefaultPlaces, StartThreads } from './files.js';
import { nodeModule } from '../platform/node.js';
import { singleOf } from './variant.js';

interface Zlib {
  inflateRawSync(bytes: Uint8Array): Uint8Array<ArrayBuffer>;
}

/**
 * No fetch of a data: URL, which strict policies forbid. The files are deflated before they become base64
 * because not every server compresses: 230 kB of text for both instead of 600 kB.
 */
async function inflate(text: string): Promise<BufferSource> {
  const bytes = Uint8Array.from(atob(text), (character) => character.charCodeAt(0));
  // jsdom, which test runners put around Node, has none of the classes below.
  if (typeof DecompressionStream !== 'function') {
    const zlib = nodeModule('node:zlib') as Zlib | undefined;
    if (zlib) return zlib.inflateRawSync(bytes);
  }
  const { body } = new Response(bytes);
  return new Response(body?.pipeThrough(new DecompressionStream('deflate-raw'))).arrayBuffer();
}

export const defaultPlaces: DefaultPlaces = (variant) => [
  () => inflate(QKV_EMBEDDED[singleOf(variant)]),
];

export const startThreads: StartThreads = undefined;
