import { fileURLToPath } from 'node:url';
import { defineConfig } from 'vite';
import { firstView } from './build/first_view';
import { math } from './build/math';
import { catalogues, contentSecurityPolicy, paintOnce, panels } from './build/plugins';

const here = (path: string) => fileURLToPath(new URL(path, import.meta.url));

export default defineConfig({
  root: here('.'),
  base: './', // the page works from any folder of any static host
  resolve: { alias: { qkv: here('../dist/index.js') } },
  plugins: [math(), panels(), firstView(), catalogues(), contentSecurityPolicy(), paintOnce()],
  worker: { format: 'es' },
  build: {
    outDir: here('../dist/web'),
    emptyOutDir: true,
    target: 'es2022',
    modulePreload: { polyfill: false },
    // A data: URL would need a looser security policy than 'self'.
    assetsInlineLimit: 0,
  },
});
