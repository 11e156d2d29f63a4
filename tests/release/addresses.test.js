// @build any
// The addresses of the package: one home, documents that say what stands there, and links that work on npm.
import assert from 'node:assert/strict';
import { existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { after, before, describe, test } from 'node:test';
import {
  addressesIn,
  documents,
  problemsOfAddresses,
  withAddresses,
  withTexts,
} from '../../tools/release/addresses.js';
import { stage, withLinks } from '../../tools/release/pack.js';
import { tarball } from '../../tools/shipped.js';
import { packageJson, root, text } from '../support/js/files.js';

const { version } = packageJson;
const repository = 'https://github.com/somebody/qkv';
const page = 'https://somebody.github.io/qkv/';
/** package.json after a release has set its addresses. */
const released = withAddresses(packageJson, { repository, page });

describe('addresses', () => {
  test('are those of package.json in every document (node tools/release/addresses.js)', () => {
    for (const path of documents) {
      assert.equal(withTexts(path, text(path), addressesIn(packageJson)), text(path), path);
    }
  });

  test('of the repository, its issues and the page are in one file', () => {
    assert.deepEqual(addressesIn(released), {
      name: 'qkv',
      version,
      repository,
      page,
      isSet: true,
    });
    assert.equal(released.bugs.url, `${repository}/issues`);
    assert.equal(released.repository.url, `git+${repository}.git`);
    assert.deepEqual(problemsOfAddresses(released), []);
  });

  test('that are set say how to install it, and where the page is', () => {
    for (const path of ['README.md', 'README.zh-CN.md']) {
      const said = withTexts(path, text(path), addressesIn(released));
      assert.ok(said.includes('```sh\nnpm install qkv\n```'), said.slice(0, 900));
      assert.ok(said.includes(`](${page})`) && said.includes(`](${page}docs/)`));
      assert.ok(!said.includes('npm pack'));
      // It is written over and over.
      assert.equal(withTexts(path, said, addressesIn(released)), said);
    }
    const start = withTexts(
      'tools/docs/start.md',
      text('tools/docs/start.md'),
      addressesIn(released),
    );
    assert.match(start, /<!-- addresses[^]*`npm install qkv`[^]*<!-- \/addresses/);
    const security = withTexts('SECURITY.md', text('SECURITY.md'), addressesIn(released));
    assert.ok(security.includes(`](${repository}/security/advisories/new)`));
  });

  test('of a package with another name keep the imports of all documents', () => {
    const scoped = withAddresses(packageJson, { name: '@somebody/attention', repository, page });
    const said = withTexts('README.md', text('README.md'), addressesIn(scoped));
    assert.ok(said.includes('npm install qkv@npm:@somebody/attention\n'));
  });

  test('that nobody has set, or that npm cannot use, keep it from being released', () => {
    const told = (change) => problemsOfAddresses({ ...released, ...change })[0];
    assert.match(told({ homepage: 'https://OWNER.github.io/qkv/' }), /has OWNER in its addresses/);
    assert.match(told({ repository: { url: 'git+https://example.org/qkv.git' } }), /on github\.com/);
    assert.match(told({ homepage: 'http://example.org' }), /homepage of package\.json is http:/);
  }); // prettier-ignore
});

describe('addresses: the tarball', () => {
  let folder;
  before(() => {
    folder = mkdtempSync(join(tmpdir(), 'qkv-stage-'));
    stage(folder, released);
  });
  after(() => rmSync(folder, { recursive: true }));

  const fence = /^```.*?^```$/gms;
  const linksOf = (path) =>
    [
      ...readFileSync(join(folder, path), 'utf8')
        .replaceAll(fence, '')
        .matchAll(/\]\(([^)]*)\)/g),
    ]
      .map(([, link]) => link)
      .filter((link) => !link.startsWith('#'));

  /** The path in the repository that an address of it leads to; undefined for others. */
  const pathIn = (address) =>
    [
      `${repository}/blob/v${version}/`,
      `${repository}/tree/v${version}/`,
      `https://raw.githubusercontent.com/somebody/qkv/v${version}/`,
    ]
      .filter((begin) => address.startsWith(begin))
      .map((begin) => address.slice(begin.length).replace(/#.*/, ''))[0];

  const markdown = tarball.filter((path) => path.endsWith('.md'));

  for (const path of ['README.md', 'README.zh-CN.md']) {
    test(`${path} has addresses alone, each of a file of this version`, () => {
      const links = linksOf(path);
      const pictures = links.filter((link) => link.endsWith('.png'));
      assert.ok(links.length > 30 && pictures.length === 3);
      for (const link of links) assert.match(link, /^https:/);
      const others = links.filter((link) => pathIn(link) === undefined);
      assert.deepEqual(others.filter((link) => !text(path).includes(`](${link})`)), []);
      const places = links.map(pathIn).filter(Boolean);
      assert.ok(places.length > 30);
      for (const place of places) assert.ok(existsSync(join(root, place)), place);
      for (const picture of pictures) assert.match(picture, /^https:\/\/raw\.githubusercontent\.com\//);
    }); // prettier-ignore
  }

  test('every other link of a document leads to a file in it, or to one of the repository', () => {
    for (const path of markdown) {
      for (const link of linksOf(path)) {
        const place = pathIn(link);
        if (place !== undefined) assert.ok(existsSync(join(root, place)), `${path}: ${link}`);
        if (/^https?:/.test(link)) continue;
        const target = join(dirname(path), link.replace(/#.*/, ''));
        assert.ok(tarball.includes(target), `${path}: ${link}`);
      }
    }
  });

  test('code stays as it is, and without addresses every link', () => {
    const code = '```md\n[a](b.md)\n```\n[SECURITY](SECURITY.md#one)\n[page](https://example.org)\n';
    const said = withLinks('README.md', code, addressesIn(released));
    assert.ok(said.startsWith('```md\n[a](b.md)\n```\n'));
    assert.ok(said.includes(`(${repository}/blob/v${version}/SECURITY.md#one)`));
    assert.ok(said.endsWith('[page](https://example.org)\n'));
    assert.equal(withLinks('README.md', code, { isSet: false }), code);
  }); // prettier-ignore

  test('package.json has what a user needs, and nothing of the checkout', () => {
    const shipped = JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8'));
    const { scripts, devDependencies, overrides, ...rest } = released;
    assert.ok(scripts && devDependencies && overrides);
    assert.deepEqual(shipped, rest);
  });
});
