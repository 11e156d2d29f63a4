// node-llama-cpp brings one program for each family of processors and takes the best that the machine can run: on an AMD Zen 4 or
// 5 that with AVX-512 and VNNI, on a Sapphire Rapids that with AMX. A copy with one of them alone shows what it does elsewhere.
import { cpSync, existsSync, readdirSync, renameSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { root } from '../../tools/environment.js';

const peers = join(root, 'build/peers');

/** The program that is left in a copy: AVX2 and FMA without AVX-512. */
const left = { avx2: 'libggml-cpu-haswell.so' };

/** Makes the copy of a build, { avx2 }, unless it is there; `programs` is the package of the programs. */
export function prepareBuild(build, programs) {
  const folder = join(peers, build);
  if (existsSync(folder)) return;
  const part = `${folder}.part`;
  rmSync(part, { recursive: true, force: true });
  // Other packages are found in the folder above.
  for (const name of ['node-llama-cpp', programs]) {
    cpSync(join(peers, 'node_modules', name), join(part, 'node_modules', name), {
      recursive: true,
      filter: (path) => !path.endsWith('gitRelease.bundle'),
    });
  }
  const bins = join(part, 'node_modules', programs, 'bins');
  for (const path of readdirSync(bins, { recursive: true })) {
    if (/libggml-cpu-.*\.so$/.test(path) && !path.endsWith(left[build])) rmSync(join(bins, path));
  }
  renameSync(part, folder);
}
