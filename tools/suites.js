// What `npm test` runs. A suite is { name, group, of, needs, parts }: `of` is what it tests, so that a test that several
// builds run is counted as one; `needs` are builds of tools/build.js; a part is what tools/runners.js makes. Suites
// marked `full` are left to `npm run test:full`; every other suite runs every time, whatever changed. Parts marked `alone`
// have the machine to themselves.
import { join } from 'node:path';
import { theChange } from './changed.js';
import { canCheckIsaObjects, checkIsaObjects } from './check_isa_objects.js';
import { root } from './environment.js';
import { canFuzz, fuzzTargets } from './fuzz_native.js';
import { lint } from './lint.js';
import { runMutants } from './mutants.js';
import { olderMachines } from './older_machines.js';
import {
  check,
  command,
  ctest,
  isOnPath,
  nativeIsas,
  newerIsas,
  nodeTest,
  relaxedFlags,
  skipped,
  tagsOf,
} from './runners.js';
import { fullSanitizers } from './sanitize.js';
import { files } from './tree.js';

/** Which knows more types for the same than newer ones do; those compile the contract in tests/release/types.test.js. */
const tsc5 = join(root, 'node_modules/typescript/bin/tsc');
const seed = () => `${Date.now() % 2 ** 31}`;

// ------------------------------------------------------------------------------------------ C++

const fingerprints = new Map();

/** Remembers `fingerprint <isa> <hash>` lines for the comparison at the end. */
function keepFingerprint(output) {
  for (const [, isa, hash] of output.matchAll(/^fingerprint (\S+) ([0-9a-f]{16})/gm)) {
    fingerprints.set(isa, hash);
  }
}

/** Builds of equal width whose arithmetic has two roundings must agree to the last bit. */
const sameBits = check('same bits: scalar, sse4, wasm-simd128', async () => {
  const names = ['scalar', 'sse4', 'wasm-simd128'].filter((name) => fingerprints.has(name));
  const hashes = new Set(names.map((name) => fingerprints.get(name)));
  const list = [...fingerprints].map(([isa, hash]) => `${isa} ${hash}`).join('\n');
  if (names.length < 2) return `only ${names.join()} printed its bits`;
  return { problem: hashes.size === 1 ? '' : list, note: [...hashes].join(' ') };
});

/** A run of CTest, with that of the cases that run no kernel. */
const catch2 = (preset, name) =>
  [name, `${name}.any_isa`].map((test) => ctest(preset, test, { onOutput: keepFingerprint }));

/** The suites of another compiler, and of another machine, which qemu is. */
const elsewhere = () =>
  [
    { name: 'g++', preset: 'native-gcc', isas: nativeIsas, newer: newerIsas, programs: [['g++']] },
    {
      ...{
        name: 'arm64 under qemu',
        preset: 'native-arm64',
        // No scalar: qemu takes minutes for what differs from scalar here in the compiler alone, which the suite of g++ has.
        isas: ['neon64'],
        newer: ['neon64mm', 'neon64dot'],
      },
      programs: [['aarch64-linux-gnu-g++'], ['qemu-aarch64-static', 'qemu-aarch64']],
    },
  ].map(({ name, preset, isas, newer, programs }) => {
    const missing = programs.filter((names) => !names.some(isOnPath)).map(([name]) => name);
    const tests = [
      ...isas.flatMap((isa) =>
        ['native', 'train'].map((suite) => ctest(preset, `${suite}.${isa}`)),
      ),
      ...newer.map((isa) => ctest(preset, `native.${isa}`)),
      ctest(preset, 'spectra'),
    ];
    return missing.length > 0
      ? { name, full: true, parts: [skipped(name, `there is no ${missing.join(' and no ')}`)] }
      : { name, full: true, needs: [preset], parts: tests };
  });

/**
 * The set on which an everyday run tests the core natively: nearly every machine has it. Width and arithmetic of sse4 are those of
 * simd128, bit for bit, which the tests of the package run, and one test of this suite compares the bits of scalar and sse4.
 */
const everydayIsa = ['avx2', 'neon64', 'scalar'].find((isa) => nativeIsas.includes(isa));

function native(full) {
  return [
    ...nativeIsas.map((isa) => ({
      name: `native ${isa}`,
      full: isa !== everydayIsa,
      needs: ['native'],
      parts: catch2('native', `native.${isa}`),
    })),
    ...newerIsas.map((isa) => ({
      name: `native ${isa}`,
      needs: ['native'],
      parts: [ctest('native', `native.${isa}`)],
    })),
    ...nativeIsas.map((isa) => ({
      name: `native ${isa}, training`,
      of: 'training',
      full: isa !== everydayIsa,
      needs: ['native'],
      parts: [ctest('native', `train.${isa}`)],
    })),
    { name: 'native, spectra', needs: ['native'], parts: [ctest('native', 'spectra')] },
    ...elsewhere(),
    {
      name: 'recipes',
      of: 'recipes',
      // Short runs train for a while; what a trainer computes is tested bit for bit by the package.
      parts: ['data', 'published', 'recipes', ...(full ? ['short_runs'] : [])].map((name) =>
        nodeTest(`tests/models/${name}.test.js`),
      ),
    },
    {
      name: 'native, unknown instruction set',
      needs: ['native'],
      parts: [ctest('native', 'native.unknown_isa')],
    },
    { name: 'native, older processors', needs: ['native'], parts: [olderMachines] },
    {
      name: 'objects of the instruction sets',
      parts: [
        canCheckIsaObjects()
          ? check('objects of the instruction sets', async () => {
              const { checked, problems } = await checkIsaObjects();
              return { problem: problems.join('\n'), note: checked.join(' ') };
            })
          : skipped('objects of the instruction sets', 'there is no llvm-nm with its llvm-objdump'),
      ],
    },
  ].map((suite) => ({ of: suite.name.includes('objects') ? suite.name : 'core', ...suite }));
}

/** The everyday run tests the modules that ship, through the package. */
const wasm = () =>
  ['simd', 'relaxed'].flatMap((variant) =>
    [
      ...(variant === 'simd'
        ? [{ name: 'wasm simd, spectra', of: 'core', parts: [ctest('wasm', 'spectra.simd')] }]
        : []),
      {
        name: `wasm ${variant}, Node`,
        of: 'core',
        parts: catch2('wasm', `wasm.${variant}`),
      },
      {
        name: `wasm ${variant}, Chromium`,
        of: 'core',
        parts: catch2('wasm', `wasm.${variant}.chromium`),
      },
      {
        name: `wasm ${variant}, training`,
        of: 'training',
        parts: [ctest('wasm', `train.${variant}`)],
      },
    ].map((suite) => ({ ...suite, full: true })),
  );

const fuzz = (name, need, targets) => ({
  name,
  needs: [need],
  parts: canFuzz() ? targets : [skipped('libFuzzer', 'libFuzzer needs clang')],
});

/** All of it takes a minute of compiling and more, so it is for the full run. */
const sanitize = (full) =>
  full
    ? [
        {
          name: 'ASan, UBSan: training',
          of: 'training',
          needs: ['sanitized'],
          parts: [ctest('native', 'sanitized.train')],
        },
        {
          name: 'ASan, UBSan: spectra',
          of: 'core',
          needs: ['sanitized'],
          parts: [ctest('native', 'sanitized.spectra')],
        },
        fuzz('fuzz targets, 300 s', 'fuzz', fuzzTargets(300)),
        ...fullSanitizers(),
      ]
    : [];

// ------------------------------------------------------------------------------- package and page

const variantEnv = (variant) => ({ env: { QKV_EXPECT_VARIANT: variant } });

async function packageSuites(full) {
  const node = await files(
    'tests/package/node/*.test.js',
    'tests/package/threads/*.test.js',
    'tests/package/worker/*.test.js',
    'tests/package/train/*.test.js',
    'tests/package/spectra/*.test.js',
    'tests/package/models/*.test.js',
    'tests/package/constraints/*.test.js',
  );
  const reference = await files('tests/reference/**/*.test.js');
  const relaxed = { flags: relaxedFlags };
  // From Node 22 on the engine has relaxed SIMD without a flag, and init() chooses no other build by itself.
  const hasBoth = relaxedFlags.length > 0;
  const perBuild = (list) => (hasBoth ? list.filter((file) => !tagsOf(file).anyBuild) : list);
  return [
    {
      name: 'types: contract',
      full: true, // the oldest and the newest TypeScript compile it in every run (tests/release/types.test.js)
      parts: [command('types: contract', tsc5, '-p', 'tests/package/types', '--noEmit')],
    },
    ...(hasBoth
      ? [
          {
            name: 'package, Node, simd',
            of: 'package',
            parts: node.map((file) => nodeTest(file, variantEnv('simd'))),
          },
          {
            name: 'ONNX and PyTorch, simd',
            of: 'reference',
            parts: reference.map((file) => nodeTest(file)),
          },
        ]
      : []),
    {
      name: 'package, Node, relaxed',
      of: 'package',
      // Chromium's tests run the relaxed build, and with a single build there is nothing to leave out.
      full: hasBoth,
      parts: perBuild(node).map((file) => nodeTest(file, { ...relaxed, ...variantEnv('relaxed') })),
    },
    {
      name: 'ONNX and PyTorch, relaxed',
      of: 'reference',
      parts: perBuild(reference).map((file) => nodeTest(file, relaxed)),
    },
    {
      name: 'ONNX and PyTorch, two threads',
      of: 'reference',
      full: true, // that threads change no bit is tested below
      parts: reference
        .filter((file) => !tagsOf(file).anyBuild)
        .map((file) => nodeTest(file, { env: { QKV_THREADS: '2' } })),
    },
    {
      name: 'same bits: engines and threads',
      parts: (await files('tests/package/determinism/*.test.js')).map((file) => nodeTest(file)),
    },
    {
      name: 'any arguments and options',
      parts: (await files('tests/package/fuzz/*.test.js')).map((file) =>
        nodeTest(file, full ? { env: { QKV_FUZZ_SEED: seed(), QKV_FUZZ_TIMES: '10' } } : {}),
      ),
    },
    {
      name: 'soak, 5 minutes',
      full: true,
      // It measures growth by cycles, which other processes only make fewer.
      parts: [command('soak', process.execPath, 'tests/package/soak.js', '5')],
    },
  ];
}

const browserSuites = async () => [
  {
    name: 'package, Chromium',
    parts: (await files('tests/package/browser/*.test.js')).map((file) => nodeTest(file)),
  },
];

const releaseSuites = async () => [
  {
    name: 'release: types, engines, sizes',
    needs: ['release-tools'],
    parts: (await files('tests/release/*.test.js')).map((file) => nodeTest(file)),
  },
  {
    name: 'release: tarball and consumers',
    needs: ['release-tools'],
    parts: (await files('tests/release/consumers/*.test.js')).map((file) => nodeTest(file)),
  },
  {
    name: 'benchmarks run',
    full: true,
    parts: [command('benchmarks run', process.execPath, 'bench/bench.js', '--smoke')],
  },
  {
    name: 'no kernel is slower than in the last release',
    full: true,
    parts: [{ ...command('speed', process.execPath, 'bench/bench.js', '--gate'), alone: true }],
  },
];

async function pageSuites() {
  const lighthouse = 'tests/page/lighthouse.test.js';
  const pictures = 'tests/page/screenshots.test.js';
  const looks = 'tests/site/looks.test.js';
  const all = await files('tests/page/*.test.js', 'tests/page/numbers/*.test.js');
  return [
    {
      name: 'page',
      // A document in Node is made of many small objects: with more room for the young ones a test took a tenth less.
      parts: all
        .filter((file) => ![lighthouse, pictures].includes(file))
        .map((file) => nodeTest(file, { flags: ['--max-semi-space-size=64'] })),
    },
    {
      name: 'site',
      needs: ['docs'],
      parts: (await files('tests/site/*.test.js'))
        .filter((file) => file !== looks)
        .map((file) => nodeTest(file)),
    },
    { name: 'page: pictures', full: true, parts: [nodeTest(pictures)] },
    { name: 'site: looks', full: true, needs: ['docs'], parts: [nodeTest(looks)] },
    {
      name: 'page: Lighthouse',
      full: true,
      needs: ['release-tools'],
      parts: [nodeTest(lighthouse)],
    },
  ];
}

/** Most planted faults of an everyday run and of a full one, each of some seconds. `npm run test:mutation` has all, in 40 minutes. */
const MOST_FAULTS = { everyday: 6, full: 30 };

/** Those of changed files in TypeScript, which take seconds, and whether all have their places; in the full run some of all, for which the core is built once more. */
async function faults(full) {
  const suite = (title, options) => [
    { name: title, needs: ['package'], parts: [{ title, run: () => runMutants(options) }] },
  ];
  if (full) return suite('planted faults', { most: MOST_FAULTS.full, seed: Number(seed()) });
  const files = await theChange();
  const changed = files.filter((file) => /^(wasm\/src|web)\/.*\.ts$/.test(file));
  const most = changed.length > 0 ? MOST_FAULTS.everyday : 0;
  return suite('planted faults of changed files', { words: changed, most });
}

/** What each group is about, which builds its suites need (`tools` is what tools/test.js has installed meanwhile), and the suites. */
const table = {
  lint: { needs: [], suites: lint },
  native: { needs: ['tools', 'native-libraries'], suites: native },
  wasm: { needs: ['tools', 'wasm-tests'], suites: wasm },
  package: { needs: ['tools', 'package'], suites: packageSuites },
  browser: { needs: ['tools', 'package'], suites: browserSuites },
  page: { needs: ['tools', 'page'], suites: pageSuites },
  release: { needs: ['tools', 'package', 'page', 'native-libraries'], suites: releaseSuites },
  sanitize: { needs: ['tools'], suites: sanitize },
  faults: { needs: ['tools'], suites: faults },
};

/** The suites of these groups, in the order in which they begin. */
export async function suitesOf(groups, { full }) {
  const found = [];
  for (const group of groups) {
    const { needs, suites } = table[group];
    for (const suite of await suites(full)) {
      found.push({ ...suite, group, needs: [...new Set([...needs, ...(suite.needs ?? [])])] });
    }
  }
  const chosen = found.filter(({ full: late }) => full || !late);
  const core = chosen.filter(({ group }) => ['native', 'wasm'].includes(group));
  const asks = (wanted) => core.some(({ group }) => group === wanted);
  // It takes two that print their bits: those of x86 do so natively. An everyday run compares scalar and sse4 in one test of the core.
  if (!full || !asks('native') || !(asks('wasm') || nativeIsas.includes('sse4'))) return chosen;
  const same = { name: 'same bits: scalar, sse4, wasm-simd128', group: 'wasm', parts: [sameBits] };
  return [...chosen, { ...same, needs: core.map(({ name }) => name) }];
}
