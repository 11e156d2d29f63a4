// From what a caller gives to a source of bytes, by the options of a load: how servers are called, where their files are kept, and
// which SHA-256 files must have.

import {
  describe,
  fromOptions,
  isUint8Array,
  jsonIn,
  lengthOf,
  reading,
  tagOf,
} from '../../arguments/values.js';
import { throwIfAborted } from '../../arguments/signal.js';
import { some } from '../../arguments/name-list.js';
import { plainView } from '../../arguments/views.js';
import { isPath, wholeAddress } from '../../platform/addresses.js';
import { fileAddress, isHubAddress, parseHubAddress } from '../hub/hub-address.js';
import { brief, quoted, refuse } from '../errors.js';
import { readJson } from '../readers/read-text.js';
import { HashedSource } from './hashed-source.js';
import { blobSource, openFile, PieceSource } from './piece-source.js';
import { Requests } from './requests.js';
import type { ByteSource } from './source.js';
import { WebSource } from './web.js';

/** What kind of object it is; none where reading it throws. */
function kindOf(value: unknown): string {
  try {
    return tagOf(value);
  } catch {
    return '';
  }
}
const isBlob = (value: unknown): value is Blob => /^(Blob|File)$/.test(kindOf(value));

export const isAddress = (value: unknown): value is string | URL =>
  typeof value === 'string' || kindOf(value) === 'URL';

/** The last part of an address or path. */
export const fileName = (place: string): string =>
  /^data:/i.test(place)
    ? 'weights'
    : (/([^/\\]+)[/\\]*$/.exec(place.replace(/[?#].*$/s, ''))?.[1] ?? place);

/** A file of a server that a cache keeps as it is read. */
export interface CachedSource extends ByteSource {
  /** The SHA-256 that the whole file was once found to have. */
  readonly checked: string | undefined;
  /** Whether all of it is there. */
  readonly isWhole: boolean;
  /** Says that it has this SHA-256. */
  markChecked(sha256: string): Promise<void>;
  /** Removes all of it from the cache. */
  forget(): Promise<void>;
}

/** Where files of servers are kept. */
export interface FileCache {
  /** Why the latest file was not kept. */
  readonly problem: string | undefined;
  /** The file, of which `web` asks for what is missing; undefined where nothing can be kept. */
  source(address: string, web: WebSource, signal?: AbortSignal): Promise<CachedSource | undefined>;
  /** Keeps a small text in place of the one that was kept of this address. */
  remember(address: string, text: string): Promise<void>;
  /** The text that was kept of this address. */
  recall(address: string): Promise<string | undefined>;
}

/** The SHA-256 that files of weights must have: of the only one, or by name. */
type Hashes = string | ReadonlyMap<string, string> | undefined;

const isHash = (value: unknown): value is string =>
  typeof value === 'string' && /^[0-9a-f]{64}$/i.test(value);

/** The option `sha256`. */
export function checkHashes(given: unknown): Hashes {
  if (given === undefined || isHash(given)) return given;
  const expected = '64 hexadecimal digits, or an object of them by the names of files';
  const all = fromOptions('load', 'sha256', given, (object) => Object.entries(object));
  if (!all) refuse(`sha256 is ${describe(given)}`, expected);
  for (const [name, hash] of all)
    if (!isHash(hash))
      refuse(`sha256[${quoted(name)}] is ${describe(hash)}`, '64 hexadecimal digits');
  return new Map(all as [string, string][]);
}

export class Opener {
  readonly requests: Requests;
  readonly cache: FileCache | undefined;
  /** SHA-256 of files by their addresses, as a hub lists them. */
  readonly hubHashes = new Map<string, string>();
  readonly #hashes: Hashes;
  /** The names of `hashes` that were met. */
  readonly #met = new Set<string>();

  constructor(requests = new Requests(), cache?: FileCache, hashes?: Hashes) {
    [this.requests, this.cache, this.#hashes] = [requests, cache, hashes];
  }

  /** The bytes of `place`, which messages call `role` where it has no name of its own. `isWeights`: the caller may know its SHA-256. */
  async open(
    role: string,
    place: unknown,
    signal?: AbortSignal,
    isWeights = false,
  ): Promise<ByteSource> {
    const address = isAddress(place) ? this.resolved(role, String(place)) : undefined;
    const local = address === undefined ? this.#openBytes(role, place) : await openFile(address);
    const own = isWeights ? this.#hashOf(role, fileName(local?.name ?? String(place))) : undefined;
    if (local) return own === undefined ? local : new HashedSource(local, own);
    return this.#openWeb(address ?? '', own, signal);
  }

  /** An address of a hub as that of a file; others as they are. */
  resolved(role: string, place: string): string {
    if (!isHubAddress(place)) return place;
    const address = parseHubAddress(role, place);
    const { file } = address;
    if (file === undefined)
      refuse(`${role} is ${describe(place)}`, 'hub:owner/name/file: the address of a file');
    return fileAddress(this.requests.host, address, file);
  }

  /** Whether a server has a file; an answer other than 404 that brings none is thrown. */
  async has(address: string, signal?: AbortSignal): Promise<boolean> {
    const web = new WebSource(address, this.requests);
    try {
      await web.start(0, signal);
      return true;
    } catch (error) {
      if (web.status === 404) return false;
      throw error;
    } finally {
      web.close();
    }
  }

  /**
   * A small JSON file as a server has it now or, where it does not answer, as it was kept the last time; undefined where it has none.
   * With the status of the answer.
   */
  async latest(address: string, signal?: AbortSignal): Promise<{ status: number; json: unknown }> {
    const web = new WebSource(address, this.requests);
    try {
      const json = await readJson(web, signal);
      await this.cache?.remember(address, JSON.stringify(json));
      return { status: web.status, json };
    } catch (error) {
      throwIfAborted(signal);
      const { status } = web;
      const isAway = status === 0 || status === 429 || status >= 500;
      // One that is damaged counts as none.
      const kept = isAway ? jsonIn(await this.cache?.recall(address)) : undefined;
      if (kept !== undefined) return { status: 200, json: kept };
      if (status === 0) throw error;
      return { status, json: undefined };
    } finally {
      web.close();
    }
  }

  /** Refuses a SHA-256 that is of no file. */
  checkHashes(): void {
    const hashes = this.#hashes;
    const names = typeof hashes === 'string' ? ['the SHA-256'] : [...(hashes?.keys() ?? [])];
    const unmet = names.filter((name) => !this.#met.has(name));
    if (unmet.length === 0) return;
    if (typeof hashes === 'string')
      refuse(
        'sha256 is one, and weights are several files',
        'an object of them by the names of the files',
      );
    refuse(`sha256 has ${some(unmet, quoted)}`, 'the names of files of the weights');
  }

  #hashOf(role: string, name: string): string | undefined {
    const hashes = this.#hashes;
    const key = typeof hashes === 'string' ? 'the SHA-256' : name;
    const hash =
      typeof hashes !== 'string' ? hashes?.get(name) : role === 'weights' ? hashes : undefined;
    if (hash !== undefined) this.#met.add(key);
    return hash;
  }

  async #openWeb(
    address: string,
    own: string | undefined,
    signal?: AbortSignal,
  ): Promise<ByteSource> {
    const web = new WebSource(address, this.requests);
    const whole = wholeAddress(address);
    const kept = /^https?:/i.test(whole) ? await this.cache?.source(whole, web, signal) : undefined;
    let hash = own ?? this.hubHashes.get(address);
    if (hash === undefined && !kept?.isWhole && this.requests.isHub(address)) {
      // The answer says which it has.
      try {
        await web.start(0, signal);
      } catch (error) {
        (kept ?? web).close();
        throw error;
      }
      hash = web.sha256;
    }
    const source = kept ?? web;
    if (hash === undefined || kept?.checked === hash.toLowerCase()) return source;
    const right = hash.toLowerCase();
    return new HashedSource(source, right, async (isRight) => {
      if (isRight) await kept?.markChecked(right);
      else await kept?.forget();
    });
  }

  #openBytes(role: string, place: unknown): ByteSource {
    if (isBlob(place)) {
      const { name = role } = place as Partial<File>;
      return blobSource(brief(name), place);
    }
    const isBuffer = kindOf(place) === 'ArrayBuffer';
    if (!isBuffer && !isUint8Array(place)) {
      refuse(`${role} is ${describe(place)}`, 'a URL, a Blob or an ArrayBuffer');
    }
    // What was handed to somebody else has no bytes any more.
    const bytes = reading('load', role, () =>
      isBuffer ? new Uint8Array(place as ArrayBuffer) : plainView(place as Uint8Array),
    ) as Uint8Array;
    return new PieceSource(role, lengthOf(bytes), (begin, end) => bytes.subarray(begin, end));
  }
}

/** Where a file is that another one names, as relative to it. */
export function beside(place: string | URL, name: string): string {
  const address = String(place);
  // In a path these are letters like others.
  const bare = isPath(address) ? address : address.replace(/[?#].*$/s, '');
  return bare.replace(/[^/\\]*$/, '') + name;
}
