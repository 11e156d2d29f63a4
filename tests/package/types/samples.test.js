// @build any
// The programs of the README and of the guides, as somebody has them who turned on `strict`.
import assert from 'node:assert/strict';
import { join } from 'node:path';
import { test } from 'node:test';
import { documents, programsOf } from '../../release/consumers/examples.js';
import { root } from '../../support/js/files.js';
import { complaints, serviceOf } from './service.js';

const programs = Object.fromEntries(
  ['README.zh-CN.md', ...documents].flatMap((path) =>
    ['js', 'javascript', 'ts', 'typescript'].flatMap((language) =>
      programsOf(path, language).map((blocks, i) => {
        const name = `${path.replaceAll('/', '-')}-${i}.${language.startsWith('j') ? 'mjs' : 'mts'}`;
        return [name, blocks.map(({ code }) => code).join('')];
      }),
    ),
  ),
);

const options = {
  ...{ noUncheckedIndexedAccess: false, exactOptionalPropertyTypes: false },
  ...{ allowJs: true, checkJs: true, noEmit: true },
  ...{ types: ['node'], typeRoots: [join(root, 'node_modules/@types')] },
};

test('types: there are programs in the README and in every guide that tells how to do something', () => {
  const names = Object.keys(programs);
  assert.ok(names.length > 10, names.join());
  for (const path of ['README.md', 'wasm-docs-models.md', 'wasm-docs-training.md']) {
    assert.ok(
      names.some((name) => name.startsWith(path)),
      path,
    );
  }
});

/** Guides are in JavaScript, whose functions say no types of their parameters and whose errors have any. */
const untyped = { noImplicitAny: false, useUnknownInCatchVariables: false };

/** No type says how deep rows in rows are: nested arrays are read with that in mind. */
const isOfDepth = /on type 'Nested'|index type 'Nested'/;

const strict = serviceOf(programs, options);
const loose = serviceOf(programs, { ...options, ...untyped });
for (const name of Object.keys(programs)) {
  const isFirst = name.startsWith('README');
  test(`types: ${name} compiles under strict`, () => {
    const said = complaints(isFirst ? strict : loose, name)
      .filter(({ words }) => isFirst || !isOfDepth.test(words))
      .map(({ line, words }) => `${programs[name].split('\n')[line - 1].trim()}\n  ${words}`);
    assert.deepEqual(said, []);
  });
}
