// The .wasm of init() on its way to a worker: addresses of the page become whole, and a response, which
// cannot be sent, becomes what it holds.

import { QkvError } from '../../api/errors.js';
import { isResponse } from '../../arguments/values.js';
import type { InitOptions } from '../../api/types.js';
import { wholeAddress } from '../../platform/addresses.js';
import { textOf } from './sent-errors.js';
import { isPlain, type SentResponse } from './messages.js';

const mark = 'qkv/response' satisfies keyof SentResponse;

async function contents(response: Response): Promise<SentResponse> {
  const { url, status } = response;
  const type = response.headers.get('content-type');
  try {
    return { [mark]: { url, status, type, body: await response.arrayBuffer() } };
  } catch (error) {
    const message = `init: ${url || 'the response'} could not be read (${textOf(error)}), expected a .wasm`;
    throw new QkvError('load_failed', message, { cause: error });
  }
}

/** `wasm` as it can be sent. */
export async function portable(options: InitOptions): Promise<InitOptions> {
  if (options.wasm === undefined) return options;
  let wasm: unknown;
  try {
    wasm = await options.wasm;
  } catch (error) {
    const message = `init: the promise for wasm was rejected (${textOf(error)}), expected a Response`;
    throw new QkvError('load_failed', message, { cause: error });
  }
  if (typeof wasm === 'string') wasm = wholeAddress(wasm);
  else if (wasm instanceof URL) wasm = wasm.href;
  else if (isResponse(wasm)) wasm = await contents(wasm);
  return { ...options, wasm } as InitOptions;
}

/** The same options, with a response where there was one. */
export function asResponse(options: InitOptions): InitOptions {
  const { wasm } = options as { wasm?: unknown };
  if (!isPlain(wasm) || !(mark in wasm)) return options;
  const { url, status, type, body } = (wasm as SentResponse)[mark];
  const headers = new Headers(type === null ? [] : [['content-type', type]]);
  const response = new Response(body, { status, headers });
  // For messages, which name it.
  return { ...options, wasm: Object.defineProperty(response, 'url', { value: url }) };
}
