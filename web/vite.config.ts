import { fileURLToPath } from 'node:url';
import { defineConfig, type UserConfig } from 'vite';
import { firstView } from './build/first_view';
import { math } from './build/math';
import { offline } from './build/offline';
import { catalogues, contentSecurityPolicy, paintOnce, panels } from './build/plugins';
import { single } from './build/single';

const here = (path: string) => fileURLToPath(new URL(path, import.meta.url));

/** The page of a server: a file for every part that is fetched by itself. */
const site: UserConfig = {
  resolve: { alias: { qkv: here('../dist/index.js') } },
  plugins: [
    ...[math(), panels(), firstView(), catalogues(), contentSecurityPolicy(), paintOnce()],
    offline(),
  ],
  worker: { format: 'es' },
  build: { emptyOutDir: true },
};

/** The same page as one file beside it, for a disk. */
const file: UserConfig = {
  resolve: {
    alias: [
      { find: 'qkv', replacement: here('../dist/inline.js') },
      { find: './worker_beside', replacement: here('src/engine/worker_inside.ts') },
    ],
  },
  plugins: [math(), panels(), firstView(), catalogues(), single('qkv.html')],
  worker: { format: 'iife' },
  publicDir: false,
  build: { emptyOutDir: false, rollupOptions: { output: { inlineDynamicImports: true } } },
};

export default defineConfig(({ mode }) => {
  const { build, ...rest } = mode === 'single' ? file : site;
  return {
    root: here('.'),
    base: './', // the page works from any folder of any static host
    ...rest,
    build: {
      ...build,
      outDir: here('../dist/web'),
      target: 'es2022',
      modulePreload: { polyfill: false },
      // A data: URL would need a looser security policy than 'self'.
      assetsInlineLimit: 0,
    },
  };
});
