// Runs before the package is packed or published (npm's `prepack`), and refuses a tree that would ship something
// else than its version says: a dist/ of another version or of other files, a version without a changelog.
//
//   node tools/check_release.js --tag v1.2.3 --repository owner/name    also asks what a release needs
import { existsSync, readFileSync, readdirSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { problemsOfAddresses } from './release/addresses.js';
import { pending } from './release/changesets.js';
import { dist, programs } from './shipped.js';

/** Every version that a file of dist/ says it is of. */
function versionsIn(name, bytes) {
  const text = bytes.toString('latin1');
  const says = name.endsWith('.wasm')
    ? /qkv(?:-train|-spectra)? (\d[\w.-]*) (?:simd|relaxed) \w+ (?:shared|single)/g
    : /^\/\*! qkv (\d[\w.-]*),/g;
  return [...new Set(Array.from(text.matchAll(says), ([, version]) => version))];
}

function problemsOfDist(folder, version) {
  if (!existsSync(folder)) return ['dist/ is missing: run npm run build'];
  const files = readdirSync(folder, { withFileTypes: true }).filter((entry) => entry.isFile());
  const names = files.map((entry) => entry.name);
  const missing = dist.filter((name) => !names.includes(name));
  const surplus = names.filter((name) => !dist.includes(name));
  const problems = [
    ...missing.map((name) => `dist/${name} is missing: run npm run build`),
    ...surplus.map((name) => `dist/${name} is not in tools/shipped.js, and would be shipped`),
  ];
  for (const name of Object.keys(programs).filter((name) => names.includes(name))) {
    const found = versionsIn(name, readFileSync(join(folder, name)));
    if (String(found) !== version) {
      const says = found.length > 0 ? `of version ${found.join(' and ')}` : 'of no version';
      problems.push(`dist/${name} is ${says}, package.json says ${version}: run npm run build`);
    }
  }
  return problems;
}

/** What keeps the tree in this folder from being packed, in sentences. */
export function problemsOf(root) {
  const json = (path) => JSON.parse(readFileSync(join(root, path), 'utf8'));
  const { version } = json('package.json');
  const problems = problemsOfDist(join(root, 'dist'), version);
  const changelog = readFileSync(join(root, 'CHANGELOG.md'), 'utf8');
  if (!changelog.split('\n').includes(`## ${version}`)) {
    problems.push(`CHANGELOG.md has no section "## ${version}"`);
  }
  if (changelog.includes('<!-- sizes -->')) {
    problems.push('CHANGELOG.md has no sizes yet: run npm run sizes');
  }
  const lock = json('package-lock.json');
  if (lock.version !== version || lock.packages[''].version !== version) {
    problems.push(`package-lock.json is of ${lock.version}: run npm install --package-lock-only`);
  }
  return problems;
}

/** What keeps it from being published from there under that tag. */
export function problemsOfRelease(root, { tag, repository }) {
  const packageJson = JSON.parse(readFileSync(join(root, 'package.json')));
  const { version, repository: stated } = packageJson;
  const problems = [...problemsOf(root), ...problemsOfAddresses(packageJson)];
  if (tag !== `v${version}`) problems.push(`the tag is ${tag}, package.json says ${version}`);
  const address = `https://github.com/${repository}`;
  // npm refuses a provenance that names another repository than package.json does.
  if (![address, `${address}.git`].includes((stated?.url ?? '').replace(/^git\+/, ''))) {
    problems.push(`repository.url of package.json is ${stated?.url}, expected git+${address}.git`);
  }
  const waiting = Object.keys(pending(root)).map((name) => `${name}.md`);
  if (waiting.length > 0) {
    problems.push(`${waiting.join(', ')} not in CHANGELOG.md yet: run npm run release:version`);
  }
  return problems;
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  const options = { tag: { type: 'string' }, repository: { type: 'string' } };
  const { values } = parseArgs({ options });
  const root = dirname(dirname(fileURLToPath(import.meta.url)));
  const problems = values.tag ? problemsOfRelease(root, values) : problemsOf(root);
  for (const problem of problems) console.error(`cannot be shipped: ${problem}`);
  process.exitCode = problems.length === 0 ? 0 : 1;
}
