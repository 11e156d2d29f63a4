// Addresses of a hub: hub:owner/name, with the file, and with the revision (a branch, a tag or a commit) after an @.

import { describe } from '../../arguments/values.js';
import { refuse } from '../errors.js';

export interface HubAddress {
  readonly owner: string;
  readonly name: string;
  /** Undefined: the model itself. */
  readonly file: string | undefined;
  readonly revision: string;
}

export const isHubAddress = (place: string): boolean => /^hub:/i.test(place);

export function parseHubAddress(role: string, place: string): HubAddress {
  const [, owner, name, file, revision = 'main'] =
    /^hub:([\w.-]+)\/([\w.-]+)(?:\/([^@]+))?(?:@(.+))?$/i.exec(place) ?? [];
  // A file named .. would be another model's.
  const parts = [owner, name, ...(file?.split('/') ?? []), ...revision.split('/')];
  const isRight = parts.every((part) => part !== undefined && !/^\.{0,2}$/.test(part));
  if (owner === undefined || name === undefined || !isRight) {
    return refuse(
      `${role} is ${describe(place)}`,
      'hub:owner/name or hub:owner/name/file, with @revision behind it or without',
    );
  }
  return { owner, name, file, revision };
}

/** Where a hub has a file of a model. */
export function fileAddress(
  host: string,
  { owner, name, revision }: HubAddress,
  file: string,
): string {
  const path = file.split('/').map(encodeURIComponent).join('/');
  return `${host}/${owner}/${name}/resolve/${encodeURIComponent(revision)}/${path}`;
}

/** Where a hub lists the files of a model, with the commit of the revision. */
export const listingAddress = (host: string, { owner, name, revision }: HubAddress): string =>
  `${host}/api/models/${owner}/${name}/revision/${encodeURIComponent(revision)}?blobs=true`;
