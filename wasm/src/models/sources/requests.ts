// How files are requested from servers: by whose fetch(), with which headers, and to which servers these go. A header of the caller's, such as
// one with a token, is for the server that was named, and not for another one to which that one redirects.

import type { HubOptions, RequestHeaders } from '../../api/load-types.js';
import { checkInteger } from '../../arguments/numbers.js';
import { describe, fromOptions, takeOptions } from '../../arguments/values.js';
import { nodeModule } from '../../platform/node.js';
import { refuse } from '../errors.js';

const fn = 'load';

/** Where the hub is if nobody says so. */
const usualHub = 'https://huggingface.co';
/** As many redirects as browsers follow. */
const mostHops = 20;

type Fetch = (address: string, init: RequestInit) => Promise<Response>;

export interface RequestOptions {
  readonly headers?: RequestHeaders | undefined;
  readonly hub?: HubOptions | undefined;
  readonly fetch?: Fetch | undefined;
  readonly tries?: number | undefined;
  /** Files are kept by this package: the browser's own cache would have them a second time. */
  readonly isKept?: boolean;
}

/** An answer, and the SHA-256 that a hub has sent of its file on the way. */
interface Answer {
  readonly response: Response;
  readonly sha256: string | undefined;
}

type Headers = Readonly<Record<string, string>>;

/** A copy of headers. Their values are secrets, which no message has. */
function checkHeaders(name: string, given: unknown): Headers {
  const headers = fromOptions(fn, name, given, (all) => ({ ...all }));
  if (!headers) refuse(`${name} is ${describe(given)}`, 'an object of names and texts');
  for (const [key, value] of Object.entries(headers)) {
    const isName = /^[\w!#$%&'*+.^`|~-]+$/.test(key);
    if (!isName) refuse(`${name} has the name ${describe(key)}`, 'the name of a header');
    const isText = typeof value === 'string' && /^[\t\x20-\x7e\x80-\xff]*$/.test(value);
    if (!isText) refuse(`${name}['${key}'] is no text of one line`, 'the value of a header');
  }
  return headers as Headers;
}

/** The origin of an address; none where it has none. */
export function originOf(address: string): string | undefined {
  try {
    const { origin } = new URL(address, globalThis.location?.href);
    return origin === 'null' ? undefined : origin;
  } catch {
    return undefined;
  }
}

/** Where the hub is, and the headers for it. */
function checkHub(given: HubOptions | undefined): { host: string; headers: Headers } {
  const names = ['host', 'token', 'headers'] as const;
  const {
    host = usualHub,
    token,
    headers,
  } = takeOptions(fn, 'hub', given === undefined ? {} : given, names);
  const isHost = typeof host === 'string' && /^https?:\/\/[^?#]+$/.test(host);
  if (!isHost) refuse(`hub.host is ${describe(host)}`, 'an address, such as https://example.com');
  if (token !== undefined && !(typeof token === 'string' && /^[\x21-\x7e]+$/.test(token)))
    refuse('hub.token is no text without spaces', 'an access token');
  return {
    host: host.replace(/\/+$/, ''),
    headers: {
      ...(token !== undefined && { Authorization: `Bearer ${token}` }),
      ...(headers !== undefined && checkHeaders('hub.headers', headers)),
    },
  };
}

/** Whether it is seen where an answer redirects to: browsers keep that to themselves. */
const seesRedirects = (): boolean => nodeModule('node:fs') !== undefined;

export class Requests {
  /** Requests for the rest of a file that broke off, until bytes come. */
  readonly tries: number;
  /** The address of the hub, without a slash at its end. */
  readonly host: string;
  readonly #hubHeaders: Headers;
  readonly #headers: RequestHeaders | undefined;
  readonly #fetch: Fetch | undefined;
  readonly #isKept: boolean;

  constructor({ headers, hub, fetch, tries = 5, isKept = false }: RequestOptions = {}) {
    this.#isKept = isKept;
    checkInteger(fn, 'tries', tries, 0, 1000);
    if (fetch !== undefined && typeof fetch !== 'function')
      refuse(`fetch is ${describe(fetch)}`, 'a function such as fetch');
    const found = checkHub(hub);
    [this.tries, this.#fetch, this.host, this.#hubHeaders] = [
      tries,
      fetch,
      found.host,
      found.headers,
    ];
    this.#headers =
      typeof headers === 'function' || headers === undefined
        ? headers
        : checkHeaders('headers', headers);
  }

  /** Whether an address is the hub's own. */
  isHub(address: string): boolean {
    return address.startsWith(`${this.host}/`);
  }

  /**
   * Asks for a file. `own` are headers of this package, which every server of a redirect gets; those of the caller go to servers of
   * the origin of `address` alone.
   */
  async get(address: string, own: Headers, signal: AbortSignal): Promise<Answer> {
    let sha256: string | undefined;
    let at = address;
    for (let hop = 0; ; hop += 1) {
      const response = await this.#ask(at, own, await this.#headersFor(at, address), signal);
      if (this.isHub(at)) sha256 ??= linkedHash(response.headers);
      const to = response.headers.get('location');
      const isRedirect = [301, 302, 303, 307, 308].includes(response.status) && to !== null;
      if (!isRedirect) return { response, sha256 };
      await response.body?.cancel();
      if (hop === mostHops) throw new TypeError(`more than ${mostHops} redirects`);
      at = new URL(to, at).href;
      if (!/^https?:/.test(at)) throw new TypeError(`a redirect to ${at.slice(0, 100)}`);
    }
  }

  /** One request, which follows a redirect only where nobody sees it. */
  async #ask(at: string, own: Headers, theirs: Headers, signal: AbortSignal): Promise<Response> {
    const ask = this.#fetch ?? ((address: string, init: RequestInit) => fetch(address, init));
    const init: RequestInit = { headers: { ...own, ...theirs }, signal };
    // Authorization is dropped by browsers where the origin changes. Other headers they pass on, if the other server wants them.
    const passed = Object.keys(theirs).filter((name) => name.toLowerCase() !== 'authorization');
    const isWatched = /^https?:/i.test(at) && (seesRedirects() || passed.length > 0);
    if (isWatched) init.redirect = 'manual';
    if (this.#isKept) init.cache = 'no-store';
    const response = await ask(at, init);
    if (response.type !== 'opaqueredirect') return response;
    if (passed.length === 0) return ask(at, { ...init, redirect: 'follow' });
    throw new TypeError(
      `it redirects, and a browser would pass on ${passed.join(', ')} to wherever that is`,
    );
  }

  /** The caller's headers for a request, of those that began at `first`. */
  async #headersFor(at: string, first: string): Promise<Headers> {
    const origin = originOf(at);
    const isHubs = origin !== undefined && origin === originOf(this.host);
    const given = this.#headers;
    let own: Headers = {};
    if (typeof given === 'function') {
      const returned: unknown = await given(at);
      if (returned !== undefined) own = checkHeaders('what headers() returned', returned);
    } else if (given && origin !== undefined && origin === originOf(first)) own = given;
    return { ...(isHubs && this.#hubHeaders), ...own };
  }
}

/** The SHA-256 of a large file, which the hub of Hugging Face tells in the answer that redirects to it. */
function linkedHash(headers: { get(name: string): string | null }): string | undefined {
  return /^(?:W\/)?"([0-9a-f]{64})"$/.exec(headers.get('x-linked-etag') ?? '')?.[1];
}
