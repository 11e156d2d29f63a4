// Says of every file of a tarball how large it is and why it is there: node tools/release/inspect.js FILE
import { execFileSync } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { tarball } from '../shipped.js';

/** Why a file ships: the first pattern that its name fits, with what it is for. */
const reasons = [
  [/^package\.json$/, 'names, entries and types of the package'],
  [/^README/, 'the first page'],
  [/^CHANGELOG\.md$/, 'what each version changed'],
  [/^LICENSES?(\.md)?$/, 'the licenses of this code and of what is compiled in'],
  [/^wasm\/docs\/.*\.md$/, 'a guide that the README leads to'],
  [/^dist\/.*\.d\.ts$/, 'types for editors and TypeScript'],
  [/^dist\/(index|core|errors)\.js$/, 'the entry qkv, of which every other has a part'],
  [/^dist\/inline\.js$/, 'the entry qkv/inline, with two .wasm files in it'],
  [/^dist\/(models|language)\.js$/, 'the entry qkv/models'],
  [/^dist\/(train|spectra|constraints|worker)\.js$/, 'an entry of its name'],
  [/^dist\/(worker|models|train)-host\.js$/, 'what runs in the workers of qkv/worker'],
  [/^dist\/thread\.js$/, 'what runs in the threads of an engine'],
  [/^dist\/qkv-spectra-simd\.wasm$/, 'the core of qkv/spectra'],
  [/^dist\/qkv-train-\w+(-threads)?\.wasm$/, 'the core of qkv/train, one of four that init() chooses'],
  [/^dist\/qkv-\w+(-threads)?\.wasm$/, 'the core, one of four that init() chooses'],
]; // prettier-ignore

export const reasonOf = (path) => reasons.find(([pattern]) => pattern.test(path))?.[1];

/** The files of a tarball: { path, size } in the order of their names. */
export function filesIn(file) {
  return execFileSync('tar', ['-tvzf', file], { encoding: 'utf8' })
    .trim()
    .split('\n')
    .map((line) => line.split(/\s+/))
    .map((cells) => ({ path: cells[5].replace(/^package\//, ''), size: Number(cells[2]) }))
    .sort((one, other) => (one.path < other.path ? -1 : 1));
}

/** What of a list of files does not belong into the tarball or is missing, in sentences. */
export function problemsOfFiles(files) {
  const paths = files.map(({ path }) => path);
  return [
    ...paths.filter((path) => !tarball.includes(path)).map((path) => `${path} does not ship`),
    ...tarball.filter((path) => !paths.includes(path)).map((path) => `${path} is missing`),
    ...paths.filter((path) => !reasonOf(path)).map((path) => `${path} ships without a reason`),
  ];
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  const files = filesIn(process.argv[2]);
  for (const { path, size } of files) {
    console.log(`${String(size).padStart(8)}  ${path.padEnd(38)} ${reasonOf(path) ?? '?'}`);
  }
  const problems = problemsOfFiles(files);
  for (const problem of problems) console.error(problem);
  process.exitCode = problems.length === 0 ? 0 : 1;
}
