// What files of tests keep for each other in build/: they run beside each other, so what is there is whole.
import { mkdirSync, renameSync, writeFileSync } from 'node:fs';
import { dirname } from 'node:path';

export function writeWhole(file, contents) {
  const own = `${file}.${process.pid}`;
  mkdirSync(dirname(file), { recursive: true });
  writeFileSync(own, contents);
  renameSync(own, file);
}
