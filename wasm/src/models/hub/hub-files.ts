// Which files of a model on a hub are read, where only the model is named.

import { isRecord } from '../../arguments/values.js';
import { refuse, unread } from '../errors.js';
import type { Opener } from '../sources/opener.js';
import { fileAddress, type HubAddress, listingAddress, parseHubAddress } from './hub-address.js';

/** Files beside the weights. */
export const besides = {
  ...{ config: 'config.json', generation: 'generation_config.json' },
  ...{ pooling: '1_Pooling/config.json', tokenizer: 'tokenizer.json' },
  tokenizerConfig: 'tokenizer_config.json',
};
export type Role = keyof typeof besides;

const all = { ...besides, chatTemplate: 'chat_template.jinja' };

/** What was found of a model. */
interface FoundFiles {
  readonly weights: readonly string[];
  readonly besides: Partial<Record<keyof typeof all, string>>;
}

/** What a hub says of a model: the commit of a revision, and its files with their SHA-256, where they are large. */
interface Listing {
  readonly commit: string;
  readonly files: ReadonlyMap<string, string | undefined>;
}

function listingIn(json: unknown): Listing | undefined {
  const { sha, siblings } = (isRecord(json) ? json : {}) as { sha?: unknown; siblings?: unknown };
  if (typeof sha !== 'string' || !/^[0-9a-f]{40,64}$/.test(sha) || !Array.isArray(siblings))
    return undefined;
  const files = new Map<string, string | undefined>();
  for (const each of siblings as unknown[]) {
    const { rfilename, lfs } = (each ?? {}) as {
      rfilename?: unknown;
      lfs?: { sha256?: unknown } | null;
    };
    const hash = lfs?.sha256;
    const isHash = typeof hash === 'string' && /^[0-9a-f]{64}$/.test(hash);
    if (typeof rfilename === 'string') files.set(rfilename, isHash ? hash : undefined);
  }
  return { commit: sha, files };
}

/** The listing of a hub; undefined where there is none, as of a server that has only the files. */
async function listingOf(
  opener: Opener,
  address: HubAddress,
  signal?: AbortSignal,
): Promise<Listing | undefined> {
  const at = listingAddress(opener.requests.host, address);
  const { status, json } = await opener.latest(at, signal);
  if (status === 401 || status === 403) {
    throw unread(
      `hub:${address.owner}/${address.name}: ${at} answered ${status}`,
      'a model that everybody may read, or hub.token of somebody who may',
    );
  }
  return listingIn(json);
}

/** The parts of a GGUF file that was split, of which one is named. */
function partsOf(file: string): string[] {
  const [, name, , count = ''] = /^(.*)-(\d{5})-of-(\d{5})\.gguf$/.exec(file) ?? [];
  if (name === undefined) return [file];
  const number = (i: number): string => String(i).padStart(5, '0');
  return Array.from(
    { length: Math.min(Number(count), 1000) },
    (_, i) => `${name}-${number(i + 1)}-of-${count}.gguf`,
  );
}

/** The weights of a model where no file is named. */
async function weightsOf(
  place: string,
  has: (file: string) => Promise<boolean>,
  listing: Listing | undefined,
): Promise<string> {
  const usual = ['model.safetensors', 'model.safetensors.index.json'];
  for (const file of usual) if (await has(file)) return file;
  const isFirst = (file: string): boolean =>
    /\.gguf$/i.test(file) && !/-(?!00001)\d{5}-of-\d{5}\.gguf$/.test(file);
  const ggufs = [...(listing?.files.keys() ?? [])].filter(isFirst);
  const [only, ...more] = ggufs;
  if (only !== undefined && more.length === 0) return only;
  const some = ggufs.slice(0, 20).join(', ');
  return ggufs.length > 0
    ? refuse(
        `${place} has ${ggufs.length} GGUF files (${some})`,
        `one of them: ${place.replace(/(?=@|$)/, () => `/${String(only)}`)}`,
      )
    : refuse(`${place} has no ${usual.join(', no ')} and no GGUF file`, 'a model with one of them');
}

/**
 * The files of a model on a hub, by their addresses there: the weights, and what else is read of those that are not `given`.
 *
 * @throws {@link QkvError} `invalid_argument` for a model without weights or config.json, `load_failed` where the hub does not answer
 */
export async function findOnHub(
  opener: Opener,
  place: string,
  given: ReadonlySet<string>,
  signal?: AbortSignal,
): Promise<FoundFiles> {
  const named = parseHubAddress('weights', place);
  const { host } = opener.requests;
  const listing = await listingOf(opener, named, signal);
  const address = { ...named, revision: listing?.commit ?? named.revision };
  const at = (file: string): string => fileAddress(host, address, file);
  const has = async (file: string): Promise<boolean> =>
    listing ? listing.files.has(file) : opener.has(at(file), signal);
  for (const [file, hash] of listing?.files ?? [])
    if (hash !== undefined) opener.hubHashes.set(at(file), hash);

  const file = named.file ?? (await weightsOf(place, has, listing));
  if (listing && !listing.files.has(file))
    refuse(`${place} has no ${file}`, 'the name of a file of it');
  const weights = partsOf(file).map(at);
  if (/\.gguf$/i.test(file)) return { weights, besides: {} };
  const folder = file.replace(/[^/]*$/, '');
  const found: Partial<Record<keyof typeof all, string>> = {};
  for (const role of Object.keys(all) as (keyof typeof all)[]) {
    const path = folder + all[role];
    if (!given.has(role) && (await has(path))) found[role] = at(path);
  }
  if (found.config === undefined && !given.has('config'))
    refuse(
      `${place} has no ${at(`${folder}config.json`)}`,
      'it: the config of a model in safetensors',
    );
  return { weights, besides: found };
}
