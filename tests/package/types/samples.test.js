// @build any
// The programs of the README and of the guides, as somebody has them who turned on `strict`.
import assert from 'node:assert/strict';
import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { documents, programsOf } from '../../release/consumers/examples.js';
import { root, text } from '../../support/js/files.js';
import { complaints, serviceOf } from './service.js';

const languages = { js: 'mjs', javascript: 'mjs', ts: 'mts', typescript: 'mts' };
const block = new RegExp(`^\`\`\`(${Object.keys(languages).join('|')})\\n`, 'm');

/** Every guide of the package with code in it. */
const guides = readdirSync(join(root, 'wasm/docs'), { recursive: true })
  .filter((name) => name.endsWith('.md'))
  .map((name) => `wasm/docs/${name}`)
  .filter((path) => block.test(text(path)));

/** What has programs beside those that are run. */
const others = [
  ...['README.zh-CN.md', 'wasm/docs/bundlers.md'],
  ...guides.filter((path) => path.includes('/cookbook/')),
];

const programs = Object.fromEntries(
  [...documents, ...others].flatMap((path) =>
    Object.entries(languages).flatMap(([language, ending]) =>
      programsOf(path, language).map((blocks, i) => {
        const name = `${path.replaceAll('/', '-')}-${language}-${i}.${ending}`;
        return [name, blocks.map(({ code }) => code).join('')];
      }),
    ),
  ),
);

/** What tools say of files that are no modules: a .wasm is an address for some, and a module for others. */
const files = {
  'files.d.ts': `declare module '*.wasm' {
  const file: string & WebAssembly.Module;
  export default file;
}
declare module '@rollup/plugin-node-resolve';
declare module '@web/rollup-plugin-import-meta-assets';
`,
};

const options = {
  ...{ noUncheckedIndexedAccess: false, exactOptionalPropertyTypes: false },
  ...{ allowJs: true, checkJs: true, noEmit: true },
  ...{ types: ['node'], typeRoots: [join(root, 'node_modules/@types')] },
};

test('types: there are programs in the README and in every guide with code', () => {
  const names = Object.keys(programs);
  for (const path of ['README.md', ...guides]) {
    const begin = `${path.replaceAll('/', '-')}-`;
    assert.ok(
      names.some((name) => name.startsWith(begin)),
      path,
    );
  }
});

/** Guides are in JavaScript, whose functions say no types of their parameters. */
const untyped = { noImplicitAny: false };

const strict = serviceOf({ ...programs, ...files }, options);
const loose = serviceOf({ ...programs, ...files }, { ...options, ...untyped });
for (const name of Object.keys(programs)) {
  test(`types: ${name} compiles under strict`, () => {
    const service = name.startsWith('README') ? strict : loose;
    const said = complaints(service, name).map(
      ({ line, words }) => `${programs[name].split('\n')[line - 1].trim()}\n  ${words}`,
    );
    assert.deepEqual(said, []);
  });
}
