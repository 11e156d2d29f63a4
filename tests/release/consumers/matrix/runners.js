// Test runners, which load modules in ways of their own and into realms of their own.
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { advice } from '../examples.js';
import { tool, versionOf } from '../../tools.js';
import { filesFrom, withAusten } from './sources.js';
import { newProject, runIn } from './workshop.js';

const both = ['qkv', 'qkv/inline'];

/** A test that leaves its report in a file, because runners print as they like. */
const testOf = (entry, imports = '') => `${imports}import { writeFileSync } from 'node:fs';
${filesFrom(entry)}import { compute } from './example.js';
test('attention', async () => {
  const report = await compute(init);
  writeFileSync('report.json', JSON.stringify(report));
  expect(report.threads).toBeGreaterThan(0);
});
`;

async function reported(where, folder, file, args, env) {
  await runIn(folder, process.execPath, [tool(file), ...args], { env });
  const report = JSON.parse(readFileSync(join(folder, 'report.json'), 'utf8'));
  return [{ where, engine: `Node ${process.versions.node}`, report }];
}

const vitest = (environment) => (entry) => {
  const imports = "import { expect, test } from 'vitest';\n";
  const folder = withAusten(newProject({ 'app.test.js': testOf(entry, imports) }));
  const args = ['run', '--environment', environment];
  return reported(`Vitest ${versionOf('vitest')}`, folder, 'vitest/vitest.mjs', args);
};

const jest = (environment, files, flags) => (entry) => {
  const args = ['--env', environment, '--no-cache', '--no-watchman'];
  const where = `Jest ${versionOf('jest')}`;
  const folder = withAusten(newProject(files(entry)));
  return reported(where, folder, 'jest/bin/jest.js', args, flags?.());
};

/** As modules: the package as it is. */
const asModules = (entry) => ({
  'jest.config.js': advice('js', 'jest.config.js'),
  'app.test.js': testOf(entry),
});
const modules = () => {
  const [, NODE_OPTIONS] = /^NODE_OPTIONS=(\S+) jest\n$/.exec(advice('sh', 'jest'));
  return { NODE_OPTIONS };
};

/** As CommonJS, into which Babel translates the package too when it is told to. */
const asCommonJs = (entry) => ({
  'package.json': '{ "private": true }\n',
  'babel.config.cjs':
    "module.exports = { plugins: ['@babel/plugin-transform-modules-commonjs'] };\n",
  'jest.config.cjs': advice('js', 'jest.config.cjs'),
  'app.test.js': testOf(entry),
});

export const runners = [
  { name: 'Vitest', entries: both, run: vitest('node') },
  { name: 'Vitest, jsdom', entries: [...both, 'qkv/models'], run: vitest('jsdom') },
  { name: 'Vitest, happy-dom', entries: [...both, 'qkv/models'], run: vitest('happy-dom') },
  { name: 'Jest, modules', entries: both, run: jest('node', asModules, modules) },
  { name: 'Jest, modules, jsdom', entries: both, run: jest('jsdom', asModules, modules) },
  { name: 'Jest, CommonJS', entries: ['qkv/inline'], run: jest('node', asCommonJs) },
  { name: 'Jest, CommonJS, jsdom', entries: ['qkv/inline'], run: jest('jsdom', asCommonJs) },
];
