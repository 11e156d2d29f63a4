// What the tools do on machines that this one is not (tools/runners.js, check_isa_objects.js): a process takes itself for one.
// And what they say to a compiler that is too old, and to a name that tools/bootstrap does not know.
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { must, run } from '../../tools/run.js';
import { packageJson, root } from '../support/js/files.js';

const asked = `
  const { faultIsa, nativeIsas, newerIsas } = await import('./tools/runners.js');
  const { units } = await import('./tools/check_isa_objects.js');
  const texts = (unit) =>
    Object.fromEntries(Object.entries(units[unit]).map(([key, value]) => [key, value.source ?? value]));
  const expected = Object.fromEntries([...nativeIsas, ...newerIsas].map((unit) => [unit, texts(unit)]));
  console.log(JSON.stringify({ faultIsa, nativeIsas, newerIsas, expected }));`;

async function on(arch) {
  const become = `Object.defineProperty(process, 'arch', { value: ${JSON.stringify(arch)} })`;
  const line = ['--import', `data:text/javascript,${encodeURIComponent(become)}`];
  const options = { cwd: root };
  const { stdout } = await must(
    process.execPath,
    [...line, '--input-type=module', '-e', asked],
    options,
  );
  return JSON.parse(stdout);
}

/** A line of each unit's code, as llvm-objdump writes it. */
const lines = {
  x64: {
    scalar: ['mulss\t%xmm1, %xmm0'],
    sse4: ['mulps\t%xmm1, %xmm0'],
    avx2: ['vfmadd231ps\t%ymm2, %ymm1, %ymm0'],
    avx512: ['vfmadd231ps\t%zmm2, %zmm1, %zmm0'],
    avxvnni: ['vpdpbusd\t%ymm2, %ymm1, %ymm0'],
    avx512vnni: ['vpdpbusd\t%zmm2, %zmm1, %zmm0'],
  },
  // The second of two is that for a Mac.
  arm64: {
    scalar: ['fmul\ts0, s0, s1', 'fmul.4s\tv0, v0, v1'],
    neon64: ['fmla\tv2.4s, v1.4s, v0.4s', 'fmla.4s\tv2, v1, v0'],
    neon64mm: ['smmla\tv2.4s, v1.16b, v0.16b', 'smmla.4s\tv2, v1, v0'],
    neon64dot: ['sdot\tv2.4s, v1.16b, v0.16b', 'sdot.4s\tv2, v1, v0'],
  },
};
const faultIsas = { x64: 'sse4', arm64: 'scalar' };

for (const arch of ['x64', 'arm64']) {
  describe(`machines: ${arch}`, async () => {
    const { faultIsa, nativeIsas, newerIsas, expected } = await on(arch);

    test('faults are planted on an instruction set that it has', () => {
      assert.ok(nativeIsas.includes(faultIsa));
      assert.equal(faultIsa, faultIsas[arch]);
    });

    test('units are known by instructions of its own', () => {
      assert.deepEqual(Object.keys(lines[arch]).sort(), [...nativeIsas, ...newerIsas].sort());
      for (const [unit, { uses, never }] of Object.entries(expected)) {
        for (const line of lines[arch][unit]) {
          assert.match(`      10:      \t${line}\n`, new RegExp(uses), unit);
          if (never) assert.doesNotMatch(`      10:      \t${line}\n`, new RegExp(never), unit);
        }
      }
    });
  });
}

test('machines: in the portable unit of AArch64 nothing is fused', async () => {
  const { scalar } = (await on('arm64')).expected;
  for (const line of [...lines.arm64.neon64, 'fmadd\ts0, s0, s1, s2', 'fnmsub\td0, d0, d1, d2']) {
    assert.match(`      10:      \t${line}\n`, new RegExp(scalar.never));
  }
});

const compilers = [
  { id: 'GNU', version: '11.4.0', refused: /GNU 11\.4\.0 is too old.*g\+\+ >= 12/s },
  { id: 'GNU', version: '12.2.0' },
  { id: 'Clang', version: '15.0.7', refused: /Clang 15\.0\.7 is too old.*clang >= 16/s },
  { id: 'Clang', version: '16.0.6' },
  { id: 'AppleClang', version: '14.0.3', refused: /AppleClang 14\.0\.3 is too old/ },
  {
    id: 'Clang',
    version: '20.0.0',
    emscripten: '3.1.68',
    refused: /Emscripten 3\.1\.68 is too old.*3\.1\.69/s,
  },
  { id: 'Clang', version: '20.0.0', emscripten: '3.1.69' },
];
for (const { id, version, emscripten, refused } of compilers) {
  const name = emscripten ? `Emscripten ${emscripten}` : `${id} ${version}`;
  test(`machines: CMake ${refused ? 'refuses' : 'takes'} ${name}`, async () => {
    const compiler = [`-DCMAKE_CXX_COMPILER_ID=${id}`, `-DCMAKE_CXX_COMPILER_VERSION=${version}`];
    const em = emscripten ? ['-DEMSCRIPTEN=1', `-DEMSCRIPTEN_VERSION=${emscripten}`] : [];
    const { code, output } = await run('cmake', [
      ...compiler,
      ...em,
      '-P',
      'tools/compilers.cmake',
    ]);
    if (refused) assert.match(output, refused);
    assert.equal(code, refused ? 1 : 0, output);
  });
}

test('machines: every npm script prepares for what tools/bootstrap knows', async () => {
  const { code, output } = await run('tools/bootstrap', ['nothing']);
  assert.equal(code, 1);
  const [, list] = /there is no nothing to prepare for, only ([a-z ]+)\./.exec(output);
  const known = list.split(' ');
  assert.ok(known.includes('start'));
  for (const [name, script] of Object.entries(packageJson.scripts)) {
    const [, profiles] = /^tools\/bootstrap ([a-z ]*)&&/.exec(script) ?? [];
    for (const profile of profiles?.trim().split(' ') ?? []) {
      assert.ok(known.includes(profile), `npm run ${name}: ${profile}`);
    }
  }
});
