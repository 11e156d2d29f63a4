// The C++ of the documentation, compiled as a stranger would and run on the library as built.
import assert from 'node:assert/strict';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, test } from 'node:test';
import { toolchain } from '../../../tools/environment.js';
import { must, run } from '../../../tools/run.js';
import { root } from '../../support/js/files.js';
import { PATIENCE } from '../../support/js/patience.js';
import { cppDocuments, programsOf } from './examples.js';

const temporary = mkdtempSync(join(tmpdir(), 'qkv-cplusplus-'));
after(() => rmSync(temporary, { recursive: true, force: true }));

/** For an example that is a function: two heads of width 8, four tokens. */
const callIt = `
#include <cmath>
#include <cstdio>
int main() {
  std::vector<float> x(4 * 2 * 8), out(x.size());
  for (std::size_t i = 0; i < x.size(); ++i) x[i] = std::sin(static_cast<float>(i));
  const qkv::Status status = causal_self_attention(x, out);
  // The first token may read itself alone.
  for (int d = 0; d < 16; ++d) if (out[d] != x[d]) return 2;
  return status.ok() ? 0 : 1;
}
`;

const programs = cppDocuments.flatMap((path) =>
  programsOf(path, 'cpp').map((program) => ({ path, program })),
);

test('examples: there are some in C++', () => assert.ok(programs.length >= 2));

test('examples: a compiler of C++17 is told first that C++20 is needed', async () => {
  for (const header of ['qkv', 'status', 'threads', 'train/attention', 'train/optimizer']) {
    const source = join(temporary, 'old.cpp');
    writeFileSync(source, `#include "qkv/${header}.hpp"\n`);
    const { code, output } = await run(
      toolchain.CXX,
      ['-std=c++17', '-fsyntax-only', `-I${join(root, 'core/include')}`, source],
      { timeout: PATIENCE.test },
    );
    assert.notEqual(code, 0);
    const [first] = output.match(/error: .*/) ?? [];
    assert.match(first ?? '', /qkv needs C\+\+20: compile with -std=c\+\+20/, header);
  }
});

/** Only a program that asks for Eigen gets it, as a system's header. */
const eigenFor = (code) =>
  /Eigen|eigen/.test(code) ? ['-isystem', toolchain.EIGEN_INCLUDE_DIR] : [];

for (const [i, { path, program }] of programs.entries()) {
  test(`examples: ${path}: the C++ compiles without a warning and runs`, async () => {
    const code = program.map((block) => block.code).join('');
    const [source, binary] = [join(temporary, `${i}.cpp`), join(temporary, `program-${i}`)];
    writeFileSync(source, code.includes('int main(') ? code : code + callIt);
    const compile = [
      ...['-std=c++20', '-Wall', '-Wextra', '-Werror', `-I${join(root, 'core/include')}`],
      ...eigenFor(code),
      source,
      ...['libqkv_spectra.a', 'libqkv_train.a', 'libqkv.a'].map((name) =>
        join(root, 'build/native/core', name),
      ),
      ...['-o', binary],
    ];
    await must(toolchain.CXX, compile, { timeout: PATIENCE.test });
    const { output } = await must(binary, [], { timeout: PATIENCE.test });
    const expected = program.map(({ prints = '' }) => prints).join('');
    assert.equal(output, expected);
  });
}
