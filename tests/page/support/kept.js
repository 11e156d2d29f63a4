// What files of tests keep for each other in build/: they run beside each other, so what is there is whole.
import { existsSync, mkdirSync, renameSync, writeFileSync } from 'node:fs';
import { dirname } from 'node:path';

export function writeWhole(file, contents) {
  const own = `${file}.${process.pid}`;
  mkdirSync(dirname(file), { recursive: true });
  writeFileSync(own, contents);
  renameSync(own, file);
}

/** The file, made if nobody has made it yet. */
export async function keptIn(file, make) {
  if (!existsSync(file)) writeWhole(file, await make());
  return file;
}
