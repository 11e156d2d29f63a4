// Copies of the package whose thread.js is something else.
import { cpSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { root } from './files.js';

/** Copies the package to a folder, with this text as its thread.js, or without one. The address of its index.js. */
export function copyWithThread(folder, text) {
  cpSync(join(root, 'dist'), folder, {
    recursive: true,
    filter: (file) => !/web$|thread\.js$/.test(file),
  });
  writeFileSync(join(folder, 'package.json'), '{ "type": "module" }');
  if (text !== undefined) writeFileSync(join(folder, 'thread.js'), text);
  return pathToFileURL(join(folder, 'index.js')).href;
}
