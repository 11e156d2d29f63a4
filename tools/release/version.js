// npm run release:version: raises the version and writes what everybody reads of it. changesets decides the number and takes the files
// of .changeset away; the section of CHANGELOG.md is made of tools/release/notes.md, which a person edits, and of the changesets
// that it does not cover. `npm run sizes` writes its table of sizes, after a build.
import { readFileSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { must } from '../run.js';
import { pending } from './changesets.js';

const root = dirname(dirname(dirname(fileURLToPath(import.meta.url))));
const read = (path) => readFileSync(join(root, path), 'utf8');
const write = (path, content) => writeFileSync(join(root, path), content);

export const NOTES = 'tools/release/notes.md';

/** Files with the version that they ask for, besides package.json and its lock. */
const asking = {
  cmake: [
    ...['README.md', 'README.zh-CN.md', 'core/docs/using.md'],
    ...['attention', 'generate', 'train'].map((name) => `examples/${name}-cpp/CMakeLists.txt`),
  ],
  npm: ['chat-vite', 'cloudflare-worker', 'train-react', 'vite-page'].map(
    (name) => `examples/${name}/package.json`,
  ),
};

/** The head of the notes, which says how they are made. */
const headOf = (covers) => `<!--
The notes of the next release, edited by a person from the files of .changeset. \`npm run release:version\` puts them into CHANGELOG.md under the
new version, adds every changeset that is not named here under "Also", and empties this file. \`npm run sizes\` puts a table in place of its mark.
covers:${covers.map((name) => ` ${name}`).join('')}
-->
`;

/** Notes as a person wrote them: { covers, body }. */
export function readNotes(markdown) {
  const [, head = '', body = ''] = /^<!--\n(.*?)-->\n(.*)$/s.exec(markdown) ?? [];
  const [, names = ''] = /^covers:(.*)/ms.exec(head) ?? [];
  return { covers: names.split(/\s+/).filter(Boolean), body: body.trim() };
}

/** A paragraph as an item of a list. */
const item = (text) => `- ${text.replaceAll('\n', '\n  ').replaceAll(/^ +$/gm, '')}`;

/** The section of a version in the changelog. */
export function sectionOf(version, notes, changesets) {
  const others = Object.entries(changesets).filter(([name]) => !notes.covers.includes(name));
  const also = others.map(([, text]) => item(text)).join('\n');
  return [
    `## ${version}`,
    ...(notes.body === '' ? [] : [notes.body]),
    ...(also === '' ? [] : [notes.body === '' ? also : `### Also\n\n${also}`]),
  ].join('\n\n');
}

/** The changelog with its newest section replaced. */
export function withSection(changelog, section) {
  const [head, newest, ...older] = changelog.split(/^(?=## \d)/m);
  if (newest === undefined) throw new Error('CHANGELOG.md has no section of a version');
  return [head, `${section}\n\n`, ...older].join('');
}

/** The text of a file that asks for a version, asking for another. */
const cmakeAsks = (text, { from, to }) =>
  text.replaceAll(`find_package(qkv ${from.minor} `, () => `find_package(qkv ${to.minor} `);
const npmAsks = (text, { from, to }) =>
  text.replace(`"qkv": "^${from.full}"`, `"qkv": "^${to.full}"`);

const partsOf = (full) => ({ full, minor: full.split('.').slice(0, 2).join('.') });

function raiseTexts(versions) {
  const isSame = versions.from.minor === versions.to.minor;
  for (const path of isSame ? [] : asking.cmake) write(path, cmakeAsks(read(path), versions));
  for (const path of asking.npm) write(path, npmAsks(read(path), versions));
  const lock = JSON.parse(read('package-lock.json'));
  lock.version = versions.to.full;
  lock.packages[''].version = versions.to.full;
  write('package-lock.json', `${JSON.stringify(lock, null, 2)}\n`);
}

async function main() {
  const [notes, changesets] = [readNotes(read(NOTES)), pending(root)];
  if (Object.keys(changesets).length === 0) throw new Error('.changeset has nothing to release');
  const versionOf = () => JSON.parse(read('package.json')).version;
  const from = versionOf();
  await must(process.execPath, ['tests/release/tools.js', '@changesets/cli/bin.js', 'version']);
  const to = versionOf();
  write('CHANGELOG.md', withSection(read('CHANGELOG.md'), sectionOf(to, notes, changesets)));
  write(NOTES, headOf([]));
  raiseTexts({ from: partsOf(from), to: partsOf(to) });
  await must(process.execPath, ['tools/release/addresses.js']);
  await must(process.execPath, ['node_modules/oxfmt/bin/oxfmt', 'package.json', 'CHANGELOG.md']);
  const also = Object.keys(changesets).filter((name) => !notes.covers.includes(name));
  console.log(`${from} is ${to} now; CHANGELOG.md has its notes`);
  if (also.length > 0) console.log(`not in the notes, under "Also": ${also.join(', ')}`);
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  try {
    await main();
  } catch (error) {
    console.error(error.message);
    process.exitCode = 1;
  }
}
