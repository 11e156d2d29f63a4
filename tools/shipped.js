// What the npm package ships and what it promises of it, in one place: tests hold dist/ and the tarball to
// these lists, tools/sizes.js prints them, tools/check_release.js looks for the version in them.

import { execFileSync } from 'node:child_process';

/** What the program makes of it, which is 1 % less than zlib of Node at its best. */
export const gzipped = (bytes) =>
  execFileSync('gzip', ['-9', '-n'], { input: bytes, maxBuffer: 2 ** 26 }).length;

/** The most a file may weigh, in bytes of gzip -9. */
// The relaxed build has products with bytes twice: for processors with a dot product of bytes and for those without.
// Reading, changing and taking apart a pass of a model are 11 kB of each.
const [wasm, trainWasm] = [155_000, 210_000];

/** The files of dist/ that run, with what each may weigh. A new one is one line here. */
export const programs = {
  'errors.js': 1_000,
  // What qkv is made of; the entries below are made of the second file too. Together they weigh at most `together`.
  'index.js': 2_000,
  'core.js': 22_600,
  // What qkv/models and qkv/train have in common.
  'language.js': 8_100,
  'models.js': 98_000,
  // Both .wasm files are in it, deflated already.
  'inline.js': 329_000,
  'thread.js': 1_000,
  'train.js': 13_200,
  'spectra.js': 2_500,
  'constraints.js': 24_700,
  'worker.js': 19_700,
  'worker-host.js': 5_300,
  'models-host.js': 5_300,
  'train-host.js': 5_300,
  'qkv-simd.wasm': wasm,
  'qkv-relaxed.wasm': wasm,
  'qkv-simd-threads.wasm': wasm,
  'qkv-relaxed-threads.wasm': wasm,
  'qkv-spectra-simd.wasm': 52_000,
  'qkv-train-simd.wasm': trainWasm,
  'qkv-train-relaxed.wasm': trainWasm,
  'qkv-train-simd-threads.wasm': trainWasm,
  'qkv-train-relaxed-threads.wasm': trainWasm,
};

/** What a program that imports `qkv` loads as JavaScript, besides errors.js. */
export const together = { files: ['index.js', 'core.js'], budget: 23_000 };

/** The declarations in dist/. */
const declarations = [
  ...['errors.d.ts', 'index.d.ts', 'plain-arrays.d.ts', 'types.d.ts'],
  ...['array-types.d.ts', 'engine-types.d.ts', 'attention-types.d.ts'],
  ...['layer-types.d.ts', 'operator-types.d.ts', 'option-types.d.ts'],
  ...[
    'adapter-types.d.ts',
    'constraint-types.d.ts',
    'constraints.d.ts',
    'inspect-types.d.ts',
    'logit-types.d.ts',
    'load-types.d.ts',
    'model-config.d.ts',
    'models-host.d.ts',
    'chat-types.d.ts',
    'generation-types.d.ts',
    'model-types.d.ts',
    'sampling-types.d.ts',
    'models.d.ts',
    'spectra.d.ts',
    'spectra-types.d.ts',
    'train.d.ts',
    'train-types.d.ts',
    'trainer-types.d.ts',
    'trained-model-types.d.ts',
    'reading-types.d.ts',
    'inline.d.ts',
    'thread.d.ts',
    'worker.d.ts',
    'worker-types.d.ts',
    'worker-call-types.d.ts',
    'worker-train-types.d.ts',
    'worker-host.d.ts',
    'train-host.d.ts',
  ],
];

/** Every file of dist/, less the page, which does not ship. */
export const dist = [...Object.keys(programs), ...declarations].sort();

/** The guides, to which the README leads. */
const guides = [
  ...['attention', 'bundlers', 'circuit', 'comparison', 'comparison.zh-CN', 'constraints'],
  ...[
    'conventions',
    'encoder-decoder',
    'microscope',
    'model-files',
    'models',
    'package',
    'spectra',
  ],
  ...['training', 'versions', 'worked-example', 'workers'],
];

/** Every file of the tarball. */
export const tarball = [
  ...['CHANGELOG.md', 'LICENSE', 'LICENSES.md', 'README.md', 'README.zh-CN.md', 'package.json'],
  ...dist.map((name) => `dist/${name}`),
  ...guides.map((name) => `wasm/docs/${name}.md`),
].sort();

/** The most the tarball may weigh, in bytes: nine .wasm files are two thirds of it, and as base64 in inline.js a quarter. */
export const tarballBudget = 2_200_000;

/**
 * The oldest engines it runs on: they have WebAssembly SIMD, and Firefox 90 also private fields, which its
 * 89 lacks. As esbuild and es-check name them.
 */
export const engines = { chrome: '91', firefox: '90', safari: '16.4', node: '20.16' };

/** Methods of lists and texts that are newer than these. TypeScript's libraries have some, and es-check sees only those of literals. */
export const newerMethods = [
  ...['at', 'findLast', 'findLastIndex', 'toSorted', 'toReversed', 'toSpliced'],
  ...['isWellFormed', 'toWellFormed'],
];

/** The edition of the language that all shipped JavaScript is written in. */
export const edition = 2022;

/** The oldest TypeScript that reads the declarations: 5.2 brought Symbol.dispose. */
export const oldestTypeScript = '5.2';
