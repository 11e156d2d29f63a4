// @run full, or after changes in tools/release tools/check_release.js package.json CHANGELOG.md
// What stands between a tree and a release: the check before packing, and the tool that raises the version.
import assert from 'node:assert/strict';
import { cpSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, test } from 'node:test';
import { problemsOf, problemsOfRelease } from '../../tools/check_release.js';
import { withAddresses } from '../../tools/release/addresses.js';
import { must, run } from '../../tools/run.js';
import { dist } from '../../tools/shipped.js';
import { packageJson, root, withVersion } from '../support/js/files.js';
import { inFullRun } from '../support/js/full.js';
import { PATIENCE } from '../support/js/patience.js';
import { tool } from './tools.js';

const { version } = packageJson;
/** Another version of the same length. */
const other = version.replace(/^\d/, (digit) => (Number(digit) + 1) % 10);

let tree;
beforeEach(() => {
  tree = mkdtempSync(join(tmpdir(), 'qkv-release-'));
  for (const path of [
    ...['package.json', 'package-lock.json', 'CHANGELOG.md', 'README.md', 'LICENSE', '.changeset'],
    ...['tools/check_release.js', 'tools/shipped.js'],
    ...['tools/release/addresses.js', 'tools/release/changesets.js'],
    ...dist.map((name) => `dist/${name}`),
  ]) {
    cpSync(join(root, path), join(tree, path), { recursive: true });
  }
  // Between releases there are changes that are not in the changelog yet.
  for (const name of readdirSync(join(tree, '.changeset'))) {
    if (name.endsWith('.md') && name !== 'README.md') rmSync(join(tree, '.changeset', name));
  }
});
afterEach(() => rmSync(tree, { recursive: true, force: true }));

const read = (path) => readFileSync(join(tree, path), 'utf8');
const write = (path, content) => writeFileSync(join(tree, path), content);
const edit = (path, change) => {
  const data = JSON.parse(read(path));
  change(data);
  write(path, JSON.stringify(data, null, 2));
};

describe('release: the check before packing', () => {
  test('has nothing to say of the tree as built', () => assert.deepEqual(problemsOf(tree), []));

  /** What is done to the tree, and how the only complaint begins. */
  const faults = {
    'JavaScript of another version': [
      () =>
        write('dist/index.js', read('dist/index.js').replace(`qkv ${version},`, `qkv ${other},`)),
      `dist/index.js is of version ${other}`,
    ],
    'JavaScript without a version': [
      () => write('dist/index.js', read('dist/index.js').replace(`qkv ${version},`, 'qkv')),
      'dist/index.js is of no version',
    ],
    'a .wasm of another version': [
      () => {
        const file = 'dist/qkv-relaxed.wasm';
        write(file, withVersion(other, readFileSync(join(tree, file))));
      },
      `dist/qkv-relaxed.wasm is of version ${other}`,
    ],
    'a file that was not built': [
      () => rmSync(join(tree, 'dist/types.d.ts')),
      'dist/types.d.ts is missing',
    ],
    'a file that nobody knows': [
      () => write('dist/notes.js', ''),
      'dist/notes.js is not in tools/shipped.js',
    ],
    'no dist at all': [() => rmSync(join(tree, 'dist'), { recursive: true }), 'dist/ is missing'],
    'a version without a changelog': [
      () => write('CHANGELOG.md', '# qkv\n\n## 0.0.1\n'),
      'CHANGELOG.md has no section',
    ],
    'a changelog without sizes': [
      () => write('CHANGELOG.md', `${read('CHANGELOG.md')}\n<!-- sizes -->\n`),
      'CHANGELOG.md has no sizes yet',
    ],
    'a lock file of another version': [
      () => edit('package-lock.json', (lock) => (lock.version = other)),
      `package-lock.json is of ${other}`,
    ],
  };
  for (const [name, [plant, complaint]] of Object.entries(faults)) {
    test(`tells of ${name}`, () => {
      plant();
      const problems = problemsOf(tree);
      assert.equal(problems.length, 1, String(problems));
      assert.ok(problems[0].startsWith(complaint), problems[0]);
    });
  }

  test('keeps npm from packing what another version built', async () => {
    const pack = () => run('npm', ['pack', '--dry-run'], { cwd: tree, timeout: PATIENCE.test });
    assert.equal((await pack()).code, 0);
    edit('package.json', (data) => (data.version = other));
    const { code, output } = await pack();
    assert.ok(code > 0);
    assert.match(output, /cannot be shipped: dist\/index\.js is of version/);
  });
});

describe('release: a tag', () => {
  const release = { tag: `v${version}`, repository: 'owner/name' };
  const ofRelease = { repository: 'https://github.com/owner/name', page: 'https://example.org/' };
  const setAddresses = () =>
    edit('package.json', (data) => Object.assign(data, withAddresses(data, ofRelease)));

  test('of a tree as built, from the repository that package.json states', () => {
    setAddresses();
    assert.deepEqual(problemsOfRelease(tree, release), []);
  });

  test('needs addresses', () => {
    edit('package.json', (data) => (data.homepage = 'https://OWNER.github.io/qkv/'));
    const problems = problemsOfRelease(tree, release);
    assert.match(String(problems), /package\.json has OWNER in its addresses/);
  });

  test('needs the tag, the repository, and a changelog of every change', () => {
    setAddresses();
    write('.changeset/new-thing.md', '---\nqkv: minor\n---\n\nA new thing.\n');
    const given = { tag: `v${other}`, repository: 'somebody/else' };
    const problems = problemsOfRelease(tree, given);
    assert.equal(problems.length, 3, String(problems));
    assert.match(problems[0], /the tag is/);
    assert.match(problems[1], /repository\.url .* expected git\+https:\/\/github\.com\/somebody/);
    assert.match(problems[2], /new-thing\.md not in CHANGELOG/);
  });

  inFullRun('raising the version', () => {
    test('raises the version and writes the changelog from the changesets', async () => {
      write('.changeset/new-thing.md', '---\nqkv: minor\n---\n\nA new thing.\n');
      const line = [tool('@changesets/cli/bin.js'), 'version'];
      await must(process.execPath, line, { cwd: tree, timeout: PATIENCE.test });
      const [major, minor] = version.split('.').map(Number);
      const next = `${major}.${minor + 1}.0`;
      assert.equal(JSON.parse(read('package.json')).version, next);
      const log = read('CHANGELOG.md');
      const places = [`## ${next}`, 'A new thing.', `## ${version}`].map((part) =>
        log.indexOf(part),
      );
      assert.ok(places[0] > 0 && places[0] < places[1] && places[1] < places[2], log.slice(0, 300));
      assert.match(String(problemsOf(tree)), /run npm run build/);
    });
  });
});
