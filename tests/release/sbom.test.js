// @build any
// The bill of materials: what is compiled in, as LICENSES.md lists it, in versions that are known.
import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, test } from 'node:test';
import { sbom } from '../../tools/release/sbom.js';
import { packageJson, text } from '../support/js/files.js';

const folder = mkdtempSync(join(tmpdir(), 'qkv-sbom-'));
after(() => rmSync(folder, { recursive: true }));
const tarball = join(folder, 'qkv.tgz');
writeFileSync(tarball, 'a tarball');
const bill = sbom(tarball);

/** The rows of LICENSES.md on what is in the package, less those of the page alone: { name, license, where }. */
const rows = text('LICENSES.md')
  .split('## In the npm package and the page')[1]
  .split('\n\n')[1]
  .split('\n')
  .slice(2)
  .map((row) => row.slice(2, -2).split(' | '))
  .filter(([, , where]) => !where.startsWith('of the page alone'))
  .map(([part, license]) => ({ name: /^\[?(\w+)/.exec(part)[1], license }));

test('sbom: it is a CycloneDX bill of this package and this tarball', () => {
  assert.deepEqual([bill.bomFormat, bill.specVersion], ['CycloneDX', '1.5']);
  const { name, version, purl, hashes } = bill.metadata.component;
  assert.deepEqual({ name, version }, { name: packageJson.name, version: packageJson.version });
  assert.equal(purl, `pkg:npm/${packageJson.name}@${packageJson.version}`);
  const content = createHash('sha512').update('a tarball').digest('hex');
  assert.deepEqual(hashes, [{ alg: 'SHA-512', content }]);
});

test('sbom: it has every part that LICENSES.md says is compiled in, with its license', () => {
  assert.ok(rows.length >= 7);
  assert.deepEqual(
    bill.components.map(({ name }) => name),
    rows.map(({ name }) => name),
  );
  for (const [i, { licenses }] of bill.components.entries()) {
    const said = licenses[0].license?.id ?? licenses[0].expression;
    assert.ok(rows[i].license.includes(said.split(' ')[0]), `${rows[i].name}: ${said}`);
  }
});

test('sbom: every part has a version and an address of its own, and the package stands on all', () => {
  for (const { version, purl } of bill.components) {
    assert.match(version, /^\d+(\.\d+){1,2}$/, purl);
    assert.ok(purl.startsWith('pkg:') && purl.endsWith(`@${version}`), purl);
  }
  const refs = bill.components.map((one) => one['bom-ref']);
  assert.equal(new Set(refs).size, refs.length);
  const own = bill.metadata.component['bom-ref'];
  assert.deepEqual(bill.dependencies, [{ ref: own, dependsOn: refs }]);
});
