// @about tools/mutants/ tools/mutants.js
// The tool behind `npm run test:mutation -- --random`: what it takes for a site, in which order it tries them, and
// which survivors it knows.
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, test } from 'node:test';
import { build } from 'esbuild';
import {
  equivalents,
  inOrderOf,
  isEquivalent,
  mutationsOf,
  staleEquivalents,
} from '../../tools/mutants/candidates.js';
import { withReach } from '../../tools/mutants/reach.js';
import { run } from '../../tools/run.js';
import { root } from '../support/js/files.js';

/** The mutations of a source as "from -> to", in the order of the text. */
const changes = (file, source) =>
  mutationsOf(file, source).map(({ from, to }) => `${from} -> ${to}`);

/** That a source has exactly these mutations, in any order. */
const expectChanges = (file, source, expected) =>
  assert.deepEqual(changes(file, source).sort(), [...expected].sort());

describe('mutator: C++', () => {
  test('operators, constants, conditions, results, actions', () => {
    expectChanges('a.cpp', 'int f(int a) {\n  if (a < 3) g(a);\n  b[a] = -a;\n  return a * 2;\n}', [
      ...['a < 3 -> !(a < 3)', 'a < 3 -> false && (a < 3)', 'a < 3 -> true || (a < 3)'],
      ...['< -> <=', '< -> >', '3 -> 4', '3 -> 2'],
      ...['b[a] = -a -> ', '- -> '],
      ...['* -> /', '2 -> 3', '2 -> 1', 'a * 2 -> {}', 'a * 2 -> (a * 2) + 1'],
    ]);
  });

  test('calls and assignments as whole statements are left out', () => {
    const source = 'void f() {\n  g<T>(x);\n  y.z->w = v;\n  T made(x);\n  return;\n}';
    expectChanges('a.cpp', source, ['g<T>(x) -> ', 'y.z->w = v -> ']);
  });

  test('floats lose a digit or double, integers keep their suffix', () => {
    const source = 'const float a = 0.5F;\nconst auto b = 1ULL;\n';
    const expected = ['0.5F -> 1.0F', '0.5F -> 0.501953125F', '1ULL -> 2ULL', '1ULL -> 0ULL'];
    expectChanges('a.cpp', source, expected);
  });

  for (const [what, source] of Object.entries({
    'a comment': '// if (a < 3) return 1;\n/* b = 2 + 3; */\n',
    'a string': 'const char* a = "x < 3 + \\"4\\"";\nconst char b = \'1\';\n',
    'a raw string': 'const char* a = R"x(1 + ")" * "2)x";\n',
    'a preprocessor line': '#if A > 3 && \\\n    B < 4\n#define C (1 + 2)\n#endif\n',
    'template brackets':
      'template <class T, int N = 4>\nvoid f(std::array<T, N>& a, Foo<Bar<T>>&& b);\n',
    'pointers and references': 'void f(const float* a, T&& b, int& c);\n',
    'a static_assert': 'static_assert(sizeof(int) * 2 == 8, "x");\n',
    noexcept: 'void f() noexcept(1 < 2);\n',
    'a using line': 'using A = B<3 + 4>;\n',
  })) {
    test(`nothing of ${what}`, () => expectChanges('a.hpp', source, []));
  }
});

describe('mutator: TypeScript', () => {
  test('operators, constants, conditions, results, actions', () => {
    expectChanges('a.ts', 'function f(a: number) {\n  if (a < 3) g(a);\n  return -a * 2;\n}', [
      ...['a < 3 -> !(a < 3)', 'a < 3 -> false', 'a < 3 -> true', '< -> <=', '< -> >'],
      ...['3 -> 4', '3 -> 2', 'g(a); -> ;', '- -> ', '* -> /', '2 -> 3', '2 -> 1'],
      ...['-a * 2 -> undefined', '-a * 2 -> (-a * 2) + 1'],
    ]);
  });

  test('what an arrow returns, and what stands in for what is missing', () => {
    expectChanges('a.ts', 'const f = (a) => a ?? b();\n', [
      'a ?? b() -> undefined',
      'a ?? b() -> a',
    ]);
  });

  for (const [what, source] of Object.entries({
    'a comment': '// if (a < 3) return 1;\n/** b = 2 + 3; */\n',
    'a string': 'const a = "1 < 2", b = `x 3 + 4 ${c} 5`;\n',
    'a type': 'type A = 1 | 2;\ninterface B {\n  c: true & D[0];\n}\nlet e: Array<3>;\n',
    'an assertion': 'const a = b as 1 | 2;\n',
    'an import': "import { a as b } from '../1.js';\nexport { c } from '2';\n",
    'a declaration': 'declare const a: number;\ndeclare function f(b: 1): 2;\n',
    'a name': 'const a = { 1: b };\n',
  })) {
    test(`nothing of ${what}`, () => expectChanges('a.ts', source, []));
  }
});

test('mutator: of a line that ran in part, the part that ran is reached', async (t) => {
  const folder = mkdtempSync(join(tmpdir(), 'qkv-reach-test-'));
  t.after(() => rmSync(folder, { recursive: true, force: true }));
  const lines = [
    'export const twice = (a: number) => 2 * a, half = (a: number) => a / 2;',
    'if (twice(1) > 3) console.log(half(4));',
    'export function never() {',
    '  return half(2);',
    '}',
  ];
  mkdirSync(join(folder, 'web/src'), { recursive: true });
  writeFileSync(join(folder, 'web/src/a.ts'), lines.join('\n'));
  const bundle = join(folder, 'a.mjs');
  const entryPoints = [join(folder, 'web/src/a.ts')];
  await build({ entryPoints, bundle: true, format: 'esm', sourcemap: 'inline', outfile: bundle });
  const { code, reached } = await withReach((env) => run(process.execPath, [bundle], { env }));
  assert.equal(code, 0);
  const isReached = (line, text) =>
    reached.has({ file: 'web/src/a.ts', line, column: lines[line - 1].indexOf(text) });
  const asked = [
    [1, '2 * a'],
    [1, 'a / 2'],
    [2, 'twice'],
    [2, 'console'],
    [4, 'half'],
  ];
  const said = asked.map(([line, text]) => isReached(line, text));
  assert.deepEqual(said, [true, false, true, false, false]);
});

describe('mutator: order and survivors', () => {
  const mutations = mutationsOf(
    'a.cpp',
    'const int a = 1 + 2 * 3 - 4 / 5;\nconst bool b = a < 6;\n',
  );

  test('a seed always gives the same order, another seed another', () => {
    const [once, again, other] = [7, 7, 8].map((seed) => inOrderOf(seed, mutations));
    assert.deepEqual(once, again);
    assert.notDeepEqual(once, other);
  });

  test('each site comes once', () => {
    const sites = inOrderOf(1, mutations).map(({ site }) => site);
    assert.equal(new Set(sites).size, sites.length);
    assert.equal(sites.length, new Set(mutations.map(({ site }) => site)).size);
  });

  test('a reviewed mutation is known by its lines, wherever they stand', () => {
    const [less] = mutationsOf('a.cpp', '\n\n  if (a < 3) g();\n').filter(({ to }) => to === '<=');
    const known = { file: 'a.cpp', before: 'if (a < 3) g();', after: 'if (a <= 3) g();' };
    assert.equal(less.line, 3);
    assert.ok(isEquivalent(less, [known]));
    assert.ok(!isEquivalent(less, [{ ...known, file: 'b.cpp' }]));
    assert.ok(!isEquivalent(less, [{ ...known, after: 'if (a > 3) g();' }]));
  });

  test('every reviewed mutation is one of its file, and says why no test can see it', () => {
    assert.deepEqual(staleEquivalents(), []);
    for (const { before, why } of equivalents) assert.ok(why?.length > 20, before);
  });

  test('a reviewed mutation whose line is gone is told', () => {
    const gone = { file: 'core/src/base/status.cpp', before: 'no such line', after: 'nor this' };
    assert.deepEqual(staleEquivalents([gone]), [gone]);
  });
});

test('planted faults: a word that no fault has is a complaint, and nothing is built', () => {
  const line = [join(root, 'tools/mutants.js'), 'gemm', 'a-word-that-no-fault-has'];
  const { status, stdout, stderr } = spawnSync(process.execPath, line, { encoding: 'utf8' });
  assert.equal(status, 1, stderr);
  assert.match(stdout, /^no planted fault matches a-word-that-no-fault-has\b[^\n]*\n$/);
});
