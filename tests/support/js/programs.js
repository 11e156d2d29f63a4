// Where the browsers are: as the environment says, else as tools/bootstrap found them, else where Debian puts them.
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { root } from './files.js';

/** KEY=VALUE lines of .toolchain/env, which a checkout without tools/bootstrap does not have. */
function found() {
  const file = join(root, '.toolchain/env');
  const lines = existsSync(file) ? readFileSync(file, 'utf8').split('\n') : [];
  return Object.fromEntries(lines.filter(Boolean).map((line) => line.split(/=(.*)/s).slice(0, 2)));
}

const toolchain = found();
export const program = (key, usual) => process.env[key] ?? toolchain[key] ?? usual;

export const chromium = program('CHROMIUM', '/usr/bin/chromium');

/** One that has windows, or could: without any, no page is ever hidden. */
export const chromiumWindowed = program('CHROMIUM_WINDOWED', '') || chromium;

/** An empty FIREFOX in the environment says that there is none. */
export const firefox = program('FIREFOX', '/usr/bin/firefox-esr');

/** The first of these files that is there, or nothing. */
const firstOf = (paths) => paths.find((path) => existsSync(path)) ?? '';

/** The driver of WebKitGTK and its browser: Debian's package webkit2gtk-driver. Empty where there is none. */
export const webKitDriver = program('WEBKITDRIVER', firstOf(['/usr/bin/WebKitWebDriver']));
export const miniBrowser = firstOf(
  ['x86_64', 'aarch64'].map((cpu) => `/usr/lib/${cpu}-linux-gnu/webkit2gtk-4.1/MiniBrowser`),
);
