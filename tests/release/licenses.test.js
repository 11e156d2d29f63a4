// What the project stands on: nothing at run time, exact versions otherwise, and licenses that are listed.
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { dependenciesOf, folders, installed, withPackages } from '../../tools/licenses.js';
import { packageJson, text } from '../support/js/files.js';

/** Licenses that a tool may have: it is run, and neither shipped nor linked. OFL-1.1 is that of a font, whose notice LICENSES.md has. */
const known =
  /^(?:0BSD|Apache-2\.0|BSD-[23]-Clause|BlueOak-1\.0\.0|CC-BY-4\.0|CC0-1\.0|ISC|LGPL-3\.0-or-later|MIT|MIT-0|MPL-2\.0|OFL-1\.1|Python-2\.0|Zlib|AND|OR)$/;

test('package.json: it asks for nothing at run time', () => {
  for (const kind of ['dependencies', 'peerDependencies', 'optionalDependencies']) {
    assert.equal(packageJson[kind], undefined, kind);
  }
});

test('licenses: LICENSES.md lists the packages as they are (node tools/licenses.js)', () => {
  const markdown = text('LICENSES.md');
  assert.equal(withPackages(markdown), markdown);
});

for (const folder of Object.keys(folders)) {
  describe(`licenses: the lock file of ${folder}`, () => {
    test('asks for exact versions', () => {
      for (const [name, version] of Object.entries(dependenciesOf(folder))) {
        assert.match(version, /^(?:npm:[\w/@-]+@)?\d+\.\d+\.\d+$/, name);
      }
    });

    test('has the hash of every package', () => {
      const without = installed(folder).filter(({ integrity }) => !/^sha512-/.test(integrity));
      assert.deepEqual(without, []);
    });

    test('has no license that was not looked at', () => {
      for (const { path, license } of installed(folder)) {
        for (const word of license.replace(/[()]/g, '').split(' ')) assert.match(word, known, path);
      }
    });
  });
}
