// The page in dist/web, made by Vite from the package as built, and the site, which has the documentation beside the page.
import { cpSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { root } from '../environment.js';
import { must } from '../run.js';
import { LIMIT } from './cmake.js';
import { forget } from './fingerprint.js';

const vite = (options, env = {}) =>
  must(
    join(root, 'node_modules/.bin/vite'),
    ['build', '--config', 'web/vite.config.ts', '--logLevel', 'warn', ...options],
    { timeout: LIMIT, env },
  );

/** The page of a server in `folder`, from the package in the folder `from`; lint checks its types. */
export async function bundleSite({ from = 'dist', folder = 'dist/web' } = {}) {
  rmSync(join(root, folder), { recursive: true, force: true });
  await vite(['--outDir', join(root, folder)], { QKV_PACKAGE: from });
}

/**
 * The page of a server, and the same page as one file. They are bundled side by side, because little of the one could be taken
 * from the other: the file has other modules in it, and its workers are scripts of their own.
 */
export async function bundlePage() {
  forget();
  await Promise.all([bundleSite(), vite(['--mode', 'single'])]);
}

/** What a server of files serves: the page, and below docs/ the documentation, as they are built. */
export function assembleSite(site = join(root, 'build/site')) {
  rmSync(site, { recursive: true, force: true });
  cpSync(join(root, 'dist/web'), site, { recursive: true });
  // The page alone has a page there that says what is missing.
  rmSync(join(site, 'docs'), { recursive: true, force: true });
  cpSync(join(root, 'build/docs'), join(site, 'docs'), { recursive: true });
}
