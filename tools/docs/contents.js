// What the site of the documentation has besides the two references: pages made of the Markdown files of the project, in
// the order of the navigation. A link to one of these files leads to its page, wherever it stands.
import { basename, dirname } from 'node:path';
import { toolchain } from '../environment.js';

/** A page of each file, with its title in the navigation. */
const tables = [
  {
    title: 'Guides',
    folder: 'guides',
    files: {
      'README.md': 'The library on one page',
      'wasm/docs/attention.md': 'Attention',
      'wasm/docs/package.md': 'The package',
      'wasm/docs/worked-example.md': 'Attention by hand',
      'wasm/docs/conventions.md': 'Conventions',
      'wasm/docs/encoder-decoder.md': 'An encoder-decoder',
      'wasm/docs/training.md': 'Training',
      'wasm/docs/spectra.md': 'Spectra',
      'wasm/docs/models.md': 'Language models',
      'wasm/docs/constraints.md': 'Constraints',
      'wasm/docs/microscope.md': 'A microscope for models',
      'wasm/docs/circuit.md': 'A circuit, step by step',
      'wasm/docs/model-files.md': 'Model files',
      'wasm/docs/workers.md': 'Workers',
      'wasm/docs/bundlers.md': 'Bundlers and pages',
      'wasm/docs/comparison.md': 'How it compares',
      'README.zh-CN.md': '简体中文',
      'wasm/docs/comparison.zh-CN.md': '与其他库的比较',
    },
  },
  {
    title: 'Cookbook',
    folder: 'cookbook',
    files: {
      'wasm/docs/cookbook/README.md': 'All recipes',
      'wasm/docs/cookbook/chat.md': 'Chat',
      'wasm/docs/cookbook/search.md': 'Search by meaning',
      'wasm/docs/cookbook/caching.md': 'Keep models',
      'wasm/docs/cookbook/fine-tuning.md': 'Fine-tuning with LoRA',
      'wasm/docs/cookbook/training.md': 'Train in a page',
      'wasm/docs/cookbook/circuits.md': 'Circuits',
      'wasm/docs/cookbook/bundlers.md': 'Bundlers',
      'wasm/docs/cookbook/edge-workers.md': 'Edge workers (Cloudflare)',
      'wasm/docs/cookbook/cpp.md': 'C++',
      'wasm/docs/cookbook/README.zh-CN.md': '实用手册',
    },
  },
  {
    title: 'Benchmarks',
    folder: 'benchmarks',
    files: {
      'bench/results/peers.md': 'Compared with others',
      'bench/results/models.md': 'Models compared with others',
      'bench/README.md': 'How it is measured',
    },
  },
  {
    title: 'Project',
    folder: 'project',
    files: {
      'examples/README.md': 'Examples',
      'CHANGELOG.md': 'Changelog',
      'wasm/docs/versions.md': 'Versions',
      'SECURITY.md': 'Security',
      'CONTRIBUTING.md': 'Contributing',
      'core/README.md': 'Inside the core',
      'wasm/README.md': 'Inside the package',
      'web/README.md': 'Inside the page',
      'tests/README.md': 'Tests',
      'tools/README.md': 'Tools and releases',
      'models/README.md': 'Trained models',
      'LICENSES.md': 'Licenses',
    },
  },
];

/** A page is called like its file, or like the folder of a README, but for these. */
const names = { 'README.md': 'overview', 'bench/README.md': 'method' };
function pageName(file) {
  const own = basename(file, '.md').toLowerCase();
  return names[file] ?? (own === 'readme' ? basename(dirname(file)) : own);
}

/** The groups of the navigation: { title, pages }, a page being { file, title, group, url }. */
export const groups = tables.map(({ title: group, folder, files }) => ({
  title: group,
  pages: Object.entries(files).map(([file, title]) => ({
    ...{ file, title, group },
    url: `${folder}/${pageName(file)}.html`,
  })),
}));

export const pages = groups.flatMap((group) => group.pages);

/** What comes later in a search than other pages with the same words: it speaks of everything, or of what others say in full. */
export const searchWeights = {
  'README.md': 0.6,
  'README.zh-CN.md': 0.6,
  'wasm/docs/package.md': 0.8,
  'wasm/docs/comparison.md': 0.6,
  'wasm/docs/comparison.zh-CN.md': 0.6,
  'wasm/docs/model-files.md': 0.8,
  'CHANGELOG.md': 0.5,
};

/** Whether there is a reference of the C++ headers, which takes Doxygen. */
export const hasCore = Boolean(toolchain.DOXYGEN);

/** Files and folders of the project that are not pages of their own, and where the site has what they stand for. */
export const elsewhere = {
  'tools/docs/start.md': 'index.html',
  'web/index.html': '../',
  'wasm/src/entries': 'package/modules/qkv.html',
  'bench/results': 'benchmarks/peers.html',
  ...(hasCore
    ? { 'core/docs/using.md': 'core/using.html', 'core/include/qkv': 'core/index.html' }
    : {}),
};

/** What the bar over every page leads to, with the addresses that belong to it. */
export const bar = [
  { title: 'qkv', url: 'index.html', of: /^index\.html$/ },
  { title: 'Guides', url: 'guides/attention.html', of: /^guides\// },
  { title: 'Cookbook', url: 'cookbook/cookbook.html', of: /^cookbook\// },
  { title: 'JavaScript', url: 'package/modules/qkv.html', of: /^(modules\.html|package\/)/ },
  ...(hasCore ? [{ title: 'C++', url: 'core/index.html', of: /^core\// }] : []),
  { title: 'Benchmarks', url: 'benchmarks/peers.html', of: /^benchmarks\// },
  { title: 'Examples', url: 'project/examples.html', of: /^project\/examples\.html$/ },
  { title: 'Live page', url: '../', of: /^$/ },
];
