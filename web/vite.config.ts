import { fileURLToPath } from 'node:url';
import { defineConfig, type UserConfig } from 'vite';
import { math } from './build/math';
import { MATH_FONT, mathFont } from './build/math_font';
import { offline } from './build/offline';
import { packageFile } from './build/package';
import { chapters, contentSecurityPolicy, firstView, paintOnce } from './build/plugins';
import { inlineFiles, inlineModules, inlineWorkers, single } from './build/single';
import { texts } from './build/texts';
import { trainingLogs } from './build/training_logs';
import { workerStarts } from './build/worker_starts';

const here = (path: string) => fileURLToPath(new URL(path, import.meta.url));

/** The package by the names that the page imports, where `index` is the entry that is `qkv`; and the font of its formulas. */
const packageAs = (index: string) => [
  { find: /^qkv$/, replacement: fileURLToPath(packageFile(index)) },
  { find: 'qkv/models', replacement: fileURLToPath(packageFile('models.js')) },
  { find: 'qkv/train', replacement: fileURLToPath(packageFile('train.js')) },
  { find: 'qkv/spectra', replacement: fileURLToPath(packageFile('spectra.js')) },
  { find: 'math.woff2', replacement: MATH_FONT },
];

/**
 * Files of a panel are called after its folder: row-….js, row.en-….js, recurrence.worker-….js. The first view has the names of all, so
 * their hashes are as short as Rollup allows.
 */
function chunkFileNames({ facadeModuleId }: { facadeModuleId: string | null }): string {
  const [, id, file = ''] =
    /features\/(\w+)\/(?:\w+\/)?(\w+)\.\w+$/.exec(facadeModuleId ?? '') ?? [];
  if (!id) return 'assets/[name]-[hash:7].js';
  if (file === 'serve') return `assets/${id}.worker-[hash:7].js`;
  return `assets/${file === 'panel' ? id : `${id}.${file}`}-[hash:7].js`;
}

/** The library of templates is one file: each file more is one more name in the list of what panels fetch, which is in the first view. */
const manualChunks = (id: string) => (/node_modules\/lit-html/.test(id) ? 'lit' : undefined);

/** Files of trained models have a folder of their own: the service worker keeps them only when somebody has asked for them. */
const assetFileNames = ({ names }: { names: readonly string[] }) =>
  `${names.some((name) => name.endsWith('.safetensors')) ? 'models' : 'assets'}/[name]-[hash:7][extname]`;

/** The page of a server: a file for every part that is fetched by itself. */
const site: UserConfig = {
  resolve: {
    alias: packageAs('index.js'),
  },
  plugins: [
    ...[math(), mathFont(), trainingLogs(), chapters(), firstView(), texts()],
    ...[contentSecurityPolicy(), paintOnce(), offline()],
  ],
  worker: {
    format: 'es',
    plugins: () => [workerStarts()],
    rollupOptions: { output: { chunkFileNames, assetFileNames } },
  },
  build: {
    rollupOptions: {
      output: { chunkFileNames, assetFileNames, manualChunks, onlyExplicitManualChunks: true },
    },
  },
};

/** The same page as one file beside it, for a disk. */
const file: UserConfig = {
  resolve: {
    alias: [
      ...packageAs('inline.js'),
      { find: /^.*\/features\/load$/, replacement: here('src/features/load_inside.ts') },
      {
        find: /^.*\/shipped_files$/,
        replacement: here('src/features/model/page/shipped_files_inside.ts'),
      },
      { find: /^.*\/train_engine$/, replacement: here('src/engine/train_engine_inside.ts') },
      { find: /^.*\/spectra_engine$/, replacement: here('src/engine/spectra_engine_inside.ts') },
      {
        find: /^.*\/trained_files$/,
        replacement: here('src/features/recurrence/page/trained_files_inside.ts'),
      },
      {
        find: /^.*\/word_files$/,
        replacement: here('src/features/words/page/word_files_inside.ts'),
      },
    ],
  },
  plugins: [
    ...[math(), mathFont(), trainingLogs(), chapters(), firstView(), texts()],
    ...[inlineWorkers(), inlineModules(), inlineFiles(), single('qkv.html')],
  ],
  worker: {
    format: 'iife',
    plugins: () => [inlineModules()],
    rollupOptions: { output: { inlineDynamicImports: true } },
  },
  publicDir: false,
  build: {
    cssCodeSplit: false,
    assetsInlineLimit: (path) => path.endsWith('.woff2'),
    rollupOptions: { output: { inlineDynamicImports: true } },
  },
};

export default defineConfig(({ mode }) => {
  const { build, ...rest } = mode === 'single' ? file : site;
  return {
    root: here('.'),
    base: './', // the page works from any folder of any static host
    ...rest,
    build: {
      // A data: URL would need a looser security policy than 'self'.
      assetsInlineLimit: 0,
      ...build,
      outDir: here('../dist/web'),
      // The page and the file are built into it at the same time.
      emptyOutDir: false,
      target: 'es2022',
      modulePreload: { polyfill: false },
    },
  };
});
