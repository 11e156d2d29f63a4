// Makes the tarball that npm gets: the files of tools/shipped.js, with a package.json that has what a user needs of it, and
// links that work on npm. In the tarball README.md is read on a page of npm, which knows no other file: there every link and
// picture becomes an address of the repository at the tag of this version. Other documents keep links to what is in the
// tarball. Without addresses (tools/release/addresses.js) all links stay as they are.
//
//   node tools/release/pack.js                      writes build/release/qkv-1.2.3.tgz
//   node tools/release/pack.js --destination FOLDER
import { cpSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join, posix } from 'node:path';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { must } from '../run.js';
import { tarball } from '../shipped.js';
import { addressesIn } from './addresses.js';

const root = dirname(dirname(dirname(fileURLToPath(import.meta.url))));

/** What of package.json serves the checkout alone. */
const ofCheckout = ['scripts', 'devDependencies', 'overrides'];

/** The READMEs are shown by npm. */
const isShown = (path) => /^README/.test(path);
const isPicture = (path) => /\.(png|svg)$/.test(path);
const isFolder = (path) => path.endsWith('/') || !/\.\w+$/.test(path);

/** The address of a file of the repository at the tag of a version. */
function addressOf(path, { repository, version }) {
  const name = path.replace(/\/$/, '');
  if (isPicture(name)) {
    const raw = repository.replace('https://github.com/', 'https://raw.githubusercontent.com/');
    return `${raw}/v${version}/${name}`;
  }
  const kind = isFolder(path) && name !== 'LICENSE' ? 'tree' : 'blob';
  return `${repository}/${kind}/v${version}/${name}`;
}

/** A link of a file of the tarball, as it has to be there. */
function linkFrom(file, link, addresses) {
  if (/^([a-z]+:|#)/.test(link)) return link;
  const [path, ...anchor] = link.split('#');
  const target = posix.join(posix.dirname(file), path);
  if (!isShown(file) && tarball.includes(target)) return link;
  return [addressOf(target, addresses), ...anchor].join('#');
}

/** A Markdown file of the tarball with its links as they have to be there; code stays as it is. */
export function withLinks(file, markdown, addresses) {
  if (!addresses.isSet) return markdown;
  return markdown
    .split(/^(```.*?^```)$/ms)
    .map((part, i) =>
      i % 2 === 1
        ? part
        : part.replaceAll(/\]\(([^)\s]+)\)/g, (_, link) => `](${linkFrom(file, link, addresses)})`),
    )
    .join('');
}

/** The package.json of the tarball. */
const shippedJson = (packageJson) =>
  Object.fromEntries(Object.entries(packageJson).filter(([key]) => !ofCheckout.includes(key)));

/** Writes all files of the tarball into a folder, for the addresses of `packageJson`. */
export function stage(folder, packageJson = JSON.parse(readFileSync(join(root, 'package.json')))) {
  const addresses = addressesIn(packageJson);
  rmSync(folder, { recursive: true, force: true });
  for (const path of tarball) {
    const place = join(folder, path);
    mkdirSync(dirname(place), { recursive: true });
    if (path === 'package.json') {
      writeFileSync(place, `${JSON.stringify(shippedJson(packageJson), null, 2)}\n`);
    } else if (path.endsWith('.md')) {
      writeFileSync(place, withLinks(path, readFileSync(join(root, path), 'utf8'), addresses));
    } else {
      cpSync(join(root, path), place);
    }
  }
}

/** Packs the tree into a folder. Resolves to what npm says of the tarball, which is `filename` in that folder. */
export async function pack(destination, options) {
  const staged = join(destination, 'package');
  stage(staged);
  const line = ['pack', '--ignore-scripts', '--json', '--pack-destination', destination];
  const { stdout } = await must('npm', line, { ...options, cwd: staged });
  rmSync(staged, { recursive: true });
  return JSON.parse(stdout)[0];
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  const { values } = parseArgs({ options: { destination: { type: 'string' } } });
  const destination = values.destination ?? join(root, 'build/release');
  const { filename, size } = await pack(destination, { timeout: 120_000 });
  console.log(`${join(destination, filename)}: ${size} bytes`);
}
