// Whether the oldest engines that are promised (tools/shipped.js) can read and run the JavaScript that ships,
// as far as tools can tell: syntax by acorn and esbuild, what the language brings along by es-check, and what
// the host brings along by a list.
import assert from 'node:assert/strict';
import { join } from 'node:path';
import { describe, test } from 'node:test';
import { parse } from 'acorn';
import { transform } from 'esbuild';
import { run } from '../../tools/run.js';
import { edition, engines, newerMethods, programs } from '../../tools/shipped.js';
import { packageJson, root, text } from '../support/js/files.js';
import { PATIENCE } from '../support/js/patience.js';
import { tool } from './tools.js';

/** What scripts may name of their host. All of it is as old as the engines that are promised, or asked for first. */
const hostNames = [
  ...['URL', 'Response', 'TextDecoder', 'TextEncoder', 'WebAssembly', 'fetch', 'navigator', 'self'],
  // Threads, where there are any.
  ...[
    'Atomics',
    'SharedArrayBuffer',
    'Worker',
    'clearInterval',
    'clearTimeout',
    'setInterval',
    'setTimeout',
  ],
  ...['addEventListener', 'process', 'removeEventListener'],
];

/** And what these may name besides: the README promises them for somewhat newer browsers. */
const furtherNames = {
  'inline.js': ['DecompressionStream', 'atob'],
  'worker.js': ['AbortController', 'Headers', 'MessageChannel', 'performance', 'structuredClone'],
  'worker-host.js': ['AbortController', 'Headers', 'MessageChannel', 'performance'],
  'models.js': [
    ...['AbortController', 'atob', 'Blob', 'DOMException', 'MessageChannel', 'performance'],
  ],
  // regjsparser asks for it, as it also runs without modules.
  'constraints.js': ['window'],
  'models-host.js': ['AbortController', 'Headers', 'MessageChannel', 'performance'],
  'train-host.js': ['AbortController', 'Headers', 'MessageChannel', 'performance'],
};

const targets = Object.entries(engines).map((engine) => engine.join(''));
const browsers = Object.entries(engines).map((engine) => engine.join(' '));

/** The engines for which esbuild would have to rewrite this. */
async function tooNewFor(code) {
  const write = async (target) => (await transform(code, { target, format: 'esm' })).code;
  const asIs = await write('esnext');
  const rewritten = await Promise.all(targets.map(write));
  return targets.filter((_, i) => rewritten[i] !== asIs);
}

/** What es-check finds in these files that one of the engines lacks. */
async function missingFeatures(files) {
  const line = [
    ...['checkBrowser', '--browserslistQuery', browsers.join(', '), '--module', '--checkFeatures'],
    // es-check wants all of ES2022 for these, which Chrome 91 has not; esbuild looks after them by engine, above.
    ...['--ignore', 'PrivateClassFields,ErgonomicBrandChecks', '--noCache', ...files],
  ];
  const script = tool('es-check/lib/cli/index.js');
  const options = { timeout: PATIENCE.test };
  const { code, output } = await run(process.execPath, [script, ...line], options);
  return code === 0 ? '' : output;
}

/** Names that are neither the script's own, nor the language's, nor on the list. */
async function unknownNames(file, further = []) {
  const config = join(root, 'tests/release/names.oxlintrc.json');
  const line = ['-c', config, '--no-ignore', '-f', 'json', join(root, 'dist', file)];
  const { stdout } = await run(join(root, 'node_modules/.bin/oxlint'), line);
  const messages = JSON.parse(stdout).diagnostics.map(({ message }) => message);
  const names = messages.map((message) => /^'(\w+)' is not defined/.exec(message)?.[1] ?? message);
  return [...new Set(names)].filter((name) => ![...hostNames, ...further].includes(name));
}

const newMethods = new RegExp(`[\\w)\\]]\\??\\.(${newerMethods.join('|')})\\(`, 'g');
const newCalls = (code) => Array.from(code.matchAll(newMethods), ([, name]) => name);

const scripts = Object.keys(programs).filter((name) => name.endsWith('.js'));

test('engines: scripts use what these bring along', async () =>
  assert.equal(await missingFeatures(scripts.map((name) => join(root, 'dist', name))), ''));

for (const name of scripts) {
  describe(`engines: ${name}`, () => {
    const code = text(`dist/${name}`);

    test(`is ES${edition}`, () => void parse(code, { ecmaVersion: edition, sourceType: 'module' }));

    test(`has the syntax of ${targets.join(', ')}`, async () =>
      assert.deepEqual(await tooNewFor(code), []));

    test('calls no method that is newer', () => assert.deepEqual(newCalls(code), []));

    test('names nothing else of its host', async () =>
      assert.deepEqual(await unknownNames(name, furtherNames[name]), []));
  });
}

test('engines: the READMEs and package.json say which engines these are', () => {
  const { chrome, firefox, safari, node } = engines;
  assert.equal(packageJson.engines.node, `>=${node}`);
  for (const name of ['README.md', 'README.zh-CN.md']) {
    for (const engine of [
      `Chrome ${chrome}`,
      `Firefox ${firefox}`,
      `Safari ${safari}`,
      `Node ${node}`,
    ]) {
      assert.ok(text(name).includes(engine), `${name}: ${engine}`);
    }
  }
});

test('engines: the READMEs, tools/bootstrap and Vite agree on the Node that builds', () => {
  const [, least] = /^node_min=([\d.]+)/m.exec(text('tools/bootstrap'));
  const vite = JSON.parse(text('node_modules/vite/package.json')).engines.node;
  assert.ok(vite.startsWith(`^${least}.`), `Vite takes ${vite}, bootstrap ${least}`);
  assert.match(text('README.md'), new RegExp(`git and Node ${least} or newer`));
  assert.match(text('README.zh-CN.md'), new RegExp(`git 和 Node ${least} 或更新版本`));
});
